//! Subdivision: the control points of a part of a piece or patch.
//!
//! # Source
//! De Casteljau's algorithm; Piegl & Tiller, *The NURBS Book*, §1.3.

use super::{BezierSpline, BezierSurface, H4, eval};
use crate::Rect;

/// Replaces `n + 1` control points (at `stride` distance) by those of the part `[0, s]`.
fn keep_left(c: &mut [H4], n: usize, stride: usize, s: f64) {
    for k in 1..=n {
        for i in (k..=n).rev() {
            c[i * stride] = c[(i - 1) * stride] * (1.0 - s) + c[i * stride] * s;
        }
    }
}

/// Replaces `n + 1` control points (at `stride` distance) by those of the part `[s, 1]`.
fn keep_right(c: &mut [H4], n: usize, stride: usize, s: f64) {
    for k in 1..=n {
        for i in 0..=n - k {
            c[i * stride] = c[i * stride] * (1.0 - s) + c[(i + 1) * stride] * s;
        }
    }
}

/// Replaces `n + 1` control points (at `stride` distance) by those of the part `[s0, s1]`, `s0 < s1`.
#[expect(clippy::float_cmp, reason = "the exact ends need no work; anything else is cut")]
pub(super) fn restrict(c: &mut [H4], n: usize, stride: usize, s0: f64, s1: f64) {
    // Cut the larger remainder off last: the second cut's ratio then never divides by a small number.
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

impl BezierSpline {
    /// Control points of the part `[t0, t1]` of piece `i` (`t0 < t1`; a part outside the piece extrapolates it).
    #[must_use]
    pub fn sub_control(&self, i: usize, t0: f64, t1: f64) -> Vec<H4> {
        let mut c = self.piece_control(i).to_vec();
        let (b0, b1) = (self.breaks[i], self.breaks[i + 1]);
        restrict(&mut c, self.degree as usize, 1, local(t0, b0, b1), local(t1, b0, b1));
        c
    }

    /// The spline over `[t0, t1]` cut at its breaks: `(piece, from, to)`, parameters within the piece's own break
    /// interval. Ranges beyond the ends extrapolate the end pieces, or wrap when periodic.
    #[must_use]
    pub fn parts(&self, t0: f64, t1: f64) -> Vec<(usize, f64, f64)> {
        parts(&self.breaks, self.periodic, t0, t1)
    }
}

impl BezierSurface {
    /// Control points of the part `rect` of patch `(i, j)` (with positive width and height).
    #[must_use]
    pub fn sub_control(&self, (i, j): (usize, usize), rect: &Rect) -> Vec<H4> {
        let mut c = self.patch_control((i, j)).to_vec();
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

    /// The grid over `rect` cut at its breaks: each patch with the part of `rect` inside it, in the patch's own
    /// parameters. Beyond the borders the border patches extrapolate, or wrap in periodic directions.
    #[must_use]
    pub fn parts(&self, rect: &Rect) -> Vec<((usize, usize), Rect)> {
        let us = parts(&self.u_breaks, self.u_periodic, rect.u0, rect.u1);
        let vs = parts(&self.v_breaks, self.v_periodic, rect.v0, rect.v1);
        let mut out = Vec::with_capacity(us.len() * vs.len());
        for &(i, u0, u1) in &us {
            for &(j, v0, v1) in &vs {
                out.push(((i, j), Rect { u0, u1, v0, v1 }));
            }
        }
        out
    }
}

/// Local parameter, exact at the ends.
#[expect(clippy::float_cmp, reason = "exactness at the ends is the point")]
fn local(t: f64, b0: f64, b1: f64) -> f64 {
    if t == b1 { 1.0 } else { (t - b0) / (b1 - b0) }
}

fn parts(breaks: &[f64], periodic: bool, t0: f64, t1: f64) -> Vec<(usize, f64, f64)> {
    let n = breaks.len() - 1;
    let (lo, hi) = (breaks[0], breaks[n]);
    let mut out = Vec::new();
    let mut push_range = |a: f64, b: f64| {
        let first = eval::locate(breaks, a);
        for i in first..n {
            let from = if i == first { a } else { breaks[i] };
            let to = if i + 1 == n { b } else { b.min(breaks[i + 1]) };
            if from < to {
                out.push((i, from, to));
            }
            if b <= breaks[i + 1] {
                break;
            }
        }
    };
    if !periodic || (lo <= t0 && t1 <= hi) {
        push_range(t0, t1);
    } else {
        let period = hi - lo;
        let a = eval::wrap_range(breaks, true, t0);
        let span = (t1 - t0).min(period);
        if a + span <= hi {
            push_range(a, a + span);
        } else {
            push_range(a, hi);
            push_range(lo, (a + span - period).min(a.max(lo)));
        }
    }
    if out.is_empty() {
        // A range without length: give it the smallest that subdivision can work with.
        let a = if periodic { eval::wrap_range(breaks, true, t0) } else { t0 };
        let i = eval::locate(breaks, a);
        let step = (breaks[i + 1] - breaks[i]) * 1e-15;
        let (from, to) = if a - step > breaks[i] { (a - step, a) } else { (a, a + step) };
        out.push((i, from, to.max(from.next_up())));
    }
    out
}
