//! Subdivision: control points of pieces and patches over smaller parameter ranges.
//!
//! # Source
//! De Casteljau's algorithm; Piegl & Tiller, *The NURBS Book*, §1.3.

use super::{BezierSpline, BezierSurface, H4, eval};
use crate::Rect;

/// Replaces `n + 1` control points (at index distance `stride`) by those of the curve over `[0, s]`.
fn keep_left(c: &mut [H4], n: usize, stride: usize, s: f64) {
    for k in 1..=n {
        for i in (k..=n).rev() {
            c[i * stride] = c[(i - 1) * stride] * (1.0 - s) + c[i * stride] * s;
        }
    }
}

/// Replaces `n + 1` control points (at index distance `stride`) by those of the curve over `[s, 1]`.
fn keep_right(c: &mut [H4], n: usize, stride: usize, s: f64) {
    for k in 1..=n {
        for i in 0..=n - k {
            c[i * stride] = c[i * stride] * (1.0 - s) + c[(i + 1) * stride] * s;
        }
    }
}

/// Replaces `n + 1` control points (at index distance `stride`) by those of the curve over `[s0, s1]`,
/// `s0 < s1`.
#[expect(clippy::float_cmp, reason = "exact ends need no subdivision")]
pub(super) fn restrict(c: &mut [H4], n: usize, stride: usize, s0: f64, s1: f64) {
    // This order of the two cuts never divides by a small number when the ratio of the second cut is
    // computed.
    if s1 >= 0.5 {
        if s1 != 1.0 {
            keep_left(c, n, stride, s1);
        }
        if s0 != 0.0 {
            keep_right(c, n, stride, s0 / s1);
        }
    } else {
        if s0 != 0.0 {
            keep_right(c, n, stride, s0);
        }
        keep_left(c, n, stride, (s1 - s0) / (1.0 - s0));
    }
}

/// The section of a parameter range that lies in one piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Index of the piece.
    pub piece: usize,
    /// Start of the section, in the parameter of the piece.
    pub t0: f64,
    /// End of the section, in the parameter of the piece.
    pub t1: f64,
    /// Difference between parameters of the range and parameters of the piece: a multiple of the period,
    /// 0 if not periodic.
    pub shift: f64,
}

impl BezierSpline {
    /// Control points of piece `i` over `[t0, t1]`, `t0 < t1`. Outside of its range the piece is
    /// extrapolated.
    #[must_use]
    pub fn sub_control(&self, i: usize, t0: f64, t1: f64) -> Vec<H4> {
        self.restrict(i, self.piece_control(i).to_vec(), t0, t1)
    }

    /// Like [`BezierSpline::sub_control`], for other control points `c` over the break interval of piece
    /// `i`.
    pub(super) fn restrict(&self, i: usize, mut c: Vec<H4>, t0: f64, t1: f64) -> Vec<H4> {
        let (b0, b1) = (self.breaks[i], self.breaks[i + 1]);
        restrict(&mut c, self.degree as usize, 1, local(t0, b0, b1), local(t1, b0, b1));
        c
    }

    /// Divides the range `[t0, t1]` at the breaks, in order. Beyond the ends the end pieces are
    /// extrapolated; a periodic spline wraps (at most one period).
    #[must_use]
    pub fn parts(&self, t0: f64, t1: f64) -> Vec<Part> {
        parts(&self.breaks, self.periodic, t0, t1)
    }
}

impl BezierSurface {
    /// Control points of patch `(i, j)` over `rect`, which has positive width and height.
    #[must_use]
    pub fn sub_control(&self, (i, j): (usize, usize), rect: &Rect) -> Vec<H4> {
        self.restrict((i, j), self.patch_control((i, j)).to_vec(), rect)
    }

    /// Like [`BezierSurface::sub_control`], for other control points `c` over the break rectangle of
    /// patch `(i, j)`.
    pub(super) fn restrict(&self, (i, j): (usize, usize), mut c: Vec<H4>, rect: &Rect) -> Vec<H4> {
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let (b0, b1) = (self.u_breaks[i], self.u_breaks[i + 1]);
        let (s0, s1) = (local(rect.u0, b0, b1), local(rect.u1, b0, b1));
        for b in 0..=nv {
            restrict(&mut c[b..], nu, nv + 1, s0, s1);
        }
        let (b0, b1) = (self.v_breaks[j], self.v_breaks[j + 1]);
        let (s0, s1) = (local(rect.v0, b0, b1), local(rect.v1, b0, b1));
        for row in c.chunks_exact_mut(nv + 1) {
            restrict(row, nv, 1, s0, s1);
        }
        c
    }

    /// Divides the ranges of the rectangle at the breaks, like [`BezierSpline::parts`]; returns the
    /// sections in u and in v.
    #[must_use]
    pub fn parts(&self, rect: &Rect) -> (Vec<Part>, Vec<Part>) {
        (
            parts(&self.u_breaks, self.u_periodic, rect.u0, rect.u1),
            parts(&self.v_breaks, self.v_periodic, rect.v0, rect.v1),
        )
    }

    /// Patches that overlap `rect`, each with the overlap in the parameters of the patch.
    pub(super) fn cells(&self, rect: &Rect) -> Vec<((usize, usize), Rect)> {
        let (us, vs) = self.parts(rect);
        let mut out = Vec::with_capacity(us.len() * vs.len());
        for u in &us {
            for v in &vs {
                out.push(((u.piece, v.piece), Rect { u0: u.t0, u1: u.t1, v0: v.t0, v1: v.t1 }));
            }
        }
        out
    }
}

/// Parameter `t` relative to the range from `b0` to `b1`: exactly 0 at `b0`, exactly 1 at `b1`, and
/// outside [0, 1] beyond them.
#[expect(clippy::float_cmp, reason = "the result must be exact at the ends")]
fn local(t: f64, b0: f64, b1: f64) -> f64 {
    if t == b1 { 1.0 } else { (t - b0) / (b1 - b0) }
}

fn parts(breaks: &[f64], periodic: bool, t0: f64, t1: f64) -> Vec<Part> {
    let n = breaks.len() - 1;
    let (lo, hi) = (breaks[0], breaks[n]);
    let mut out = Vec::new();
    let mut push_range = |a: f64, b: f64, shift: f64| {
        let first = eval::locate(breaks, a);
        for piece in first..n {
            let from = if piece == first { a } else { breaks[piece] };
            let to = if piece + 1 == n { b } else { b.min(breaks[piece + 1]) };
            if from < to {
                out.push(Part { piece, t0: from, t1: to, shift });
            }
            if b <= breaks[piece + 1] {
                break;
            }
        }
    };
    let start = eval::wrap_range(breaks, periodic, t0);
    let shift = t0 - start;
    if !periodic || (lo <= t0 && t1 <= hi) {
        push_range(t0, t1, 0.0);
    } else {
        let period = hi - lo;
        let end = start + (t1 - t0).min(period);
        push_range(start, end.min(hi), shift);
        if end > hi {
            push_range(lo, (end - period).min(start), shift + period);
        }
    }
    if out.is_empty() {
        // A range without length gets the smallest length that subdivision can handle.
        let piece = eval::locate(breaks, start);
        let step = (breaks[piece + 1] - breaks[piece]) * 1e-14;
        let (from, to) =
            if start - step > breaks[piece] { (start - step, start) } else { (start, start + step) };
        out.push(Part { piece, t0: from, t1: to.max(from.next_up()), shift });
    }
    out
}
