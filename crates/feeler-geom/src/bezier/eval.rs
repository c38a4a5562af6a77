//! Evaluation with Bernstein values on the stack.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §1.3–1.5: Bernstein polynomials (by powers and binomials, not by their recurrence, which takes
//! the square of the degree), hodographs, quotient rule.

use nalgebra::Vector3;

use super::{BezierSpline, BezierSurface, H4, MAX_DEGREE};
use crate::binomial::pascal;
use crate::{CurveDerivs, P2, P3, SurfaceDerivs, V3, math};

/// Room for the largest degree.
pub(super) const ROOM: usize = MAX_DEGREE as usize + 1;

/// Weights of what follows the first control point: of the point for the value, of its difference from the one before for the
/// first derivative, of the second difference for the second one.
type Weights = [f64; 3];

/// The numbers in the weights that are the same for all parameters, by degree.
static FACTORS: [[Weights; ROOM]; ROOM] = factors();

const fn factors() -> [[Weights; ROOM]; ROOM] {
    let binomials = pascal::<ROOM>();
    let mut out = [[[0.0; 3]; ROOM]; ROOM];
    let mut n = 1;
    while n < ROOM {
        let mut i = 0;
        while i < n {
            let (nf, rest) = (n as f64, (n - 1) as f64);
            out[n][i][0] = binomials[n][i + 1];
            out[n][i][1] = nf * binomials[n - 1][i];
            if i > 0 {
                out[n][i][2] = nf * rest * binomials[n - 2][i - 1];
            }
            i += 1;
        }
        n += 1;
    }
    out
}

/// Bernstein weights of degree `n` at one parameter.
struct Basis<const N: usize> {
    /// Of the first control point.
    first: f64,
    /// Of the others, in order.
    rest: [Weights; N],
}

impl<const N: usize> Basis<N> {
    // Made in place: some hundred bytes are not worth a copy.
    #[inline(always)]
    fn new(n: usize, s: f64) -> Self {
        let r = 1.0 - s;
        // Downwards, that the powers of r come from its first one.
        let mut powers = [1.0; N];
        for i in 1..n {
            powers[i] = powers[i - 1] * s;
        }
        let mut rest = [[0.0; 3]; N];
        let mut of_r = 1.0;
        for i in (0..n).rev() {
            let f = &FACTORS[n][i];
            let before = if i > 0 { powers[i - 1] } else { 0.0 };
            rest[i] = [f[0] * (powers[i] * s * of_r), f[1] * (powers[i] * of_r), f[2] * (before * of_r)];
            of_r *= r;
        }
        Self { first: of_r, rest }
    }
}

/// Homogeneous value and first two derivatives by the local parameter.
#[inline]
fn contract<'a, const N: usize>(basis: &Basis<N>, mut control: impl Iterator<Item = &'a H4>) -> [H4; 3] {
    let mut prev = control.next().copied().unwrap_or_default();
    let mut prev_diff = H4::zeros();
    let mut h = [prev * basis.first, H4::zeros(), H4::zeros()];
    for (c, w) in control.zip(&basis.rest) {
        let diff = c - prev;
        h[0] += c * w[0];
        h[1] += diff * w[1];
        h[2] += (diff - prev_diff) * w[2];
        (prev, prev_diff) = (*c, diff);
    }
    h
}

/// Homogeneous value and derivatives of one piece at the local parameter `s`.
pub(super) fn curve_h(control: &[H4], s: f64) -> [H4; 3] {
    let n = control.len() - 1;
    if n < 4 {
        contract(&Basis::<4>::new(n, s), control.iter())
    } else if n < 8 {
        contract(&Basis::<8>::new(n, s), control.iter())
    } else if n < 16 {
        contract(&Basis::<16>::new(n, s), control.iter())
    } else {
        contract(&Basis::<ROOM>::new(n, s), control.iter())
    }
}

/// `[h, h_u, h_v, h_uu, h_uv, h_vv]` of one patch at local parameters.
pub(super) fn patch_h(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 6] {
    // Modellers write blends with arcs across (low degree) in u, the path in v: less room is less to be cleared.
    if nu < 4 && nv < 4 {
        patch_room::<4, 4>(control, nu, nv, s, t)
    } else if nu < 4 && nv < 16 {
        patch_room::<4, 16>(control, nu, nv, s, t)
    } else if nu < 8 && nv < 8 {
        patch_room::<8, 8>(control, nu, nv, s, t)
    } else if nu < 16 && nv < 16 {
        patch_room::<16, 16>(control, nu, nv, s, t)
    } else {
        patch_room::<ROOM, ROOM>(control, nu, nv, s, t)
    }
}

/// `[h, h_u, h_v]` of one patch at local parameters.
fn patch_h1(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 3] {
    if nu < 4 && nv < 4 {
        patch_room1::<4>(control, nu, nv, s, t)
    } else if nu < 8 && nv < 8 {
        patch_room1::<8>(control, nu, nv, s, t)
    } else if nu < 16 && nv < 16 {
        patch_room1::<16>(control, nu, nv, s, t)
    } else {
        patch_room1::<ROOM>(control, nu, nv, s, t)
    }
}

fn patch_room1<const N: usize>(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 3] {
    let bv = Basis::<N>::new(nv, t);
    let bu = Basis::<N>::new(nu, s);
    let mut out = [H4::zeros(); 3];
    let mut prev = H4::zeros();
    let by_row = [bu.first].into_iter().zip([0.0]).chain(bu.rest.iter().map(|w| (w[0], w[1])));
    for (c, (weight, of_diff)) in control.chunks_exact(nv + 1).zip(by_row) {
        let (mut row, mut row_v) = (c[0] * bv.first, H4::zeros());
        for (pair, w) in c.windows(2).zip(&bv.rest) {
            row += pair[1] * w[0];
            row_v += (pair[1] - pair[0]) * w[1];
        }
        out[0] += row * weight;
        out[1] += (row - prev) * of_diff;
        out[2] += row_v * weight;
        prev = row;
    }
    out
}

fn patch_room<const U: usize, const V: usize>(
    control: &[H4],
    nu: usize,
    nv: usize,
    s: f64,
    t: f64,
) -> [H4; 6] {
    let bv = Basis::<V>::new(nv, t);
    let mut rows = [[H4::zeros(); 3]; U];
    for (row, c) in rows.iter_mut().zip(control.chunks_exact(nv + 1)) {
        *row = contract(&bv, c.iter());
    }
    let bu = Basis::<U>::new(nu, s);
    let rows = &rows[..=nu];
    let [h, hu, huu] = contract(&bu, rows.iter().map(|r| &r[0]));
    let [hv, huv, _] = contract(&bu, rows.iter().map(|r| &r[1]));
    let [hvv, _, _] = contract(&bu, rows.iter().map(|r| &r[2]));
    [h, hu, hv, huu, huv, hvv]
}

fn split(h: &H4) -> (V3, f64) {
    (Vector3::new(h.x, h.y, h.z), h.w)
}

/// Quotient rule for a curve.
pub(super) fn project_curve([h, h1, h2]: &[H4; 3]) -> CurveDerivs {
    let (a, w) = split(h);
    let (a1, w1) = split(h1);
    let (a2, w2) = split(h2);
    let p = a / w;
    let d1 = (a1 - p * w1) / w;
    let d2 = (a2 - d1 * (2.0 * w1) - p * w2) / w;
    CurveDerivs { p: P3::from(p), d1, d2 }
}

/// Quotient rule for a surface.
pub(super) fn project_surface([h, hu, hv, huu, huv, hvv]: &[H4; 6]) -> SurfaceDerivs {
    let (a, w) = split(h);
    let (au, wu) = split(hu);
    let (av, wv) = split(hv);
    let (auu, wuu) = split(huu);
    let (auv, wuv) = split(huv);
    let (avv, wvv) = split(hvv);
    let p = a / w;
    let du = (au - p * wu) / w;
    let dv = (av - p * wv) / w;
    SurfaceDerivs {
        p: P3::from(p),
        du,
        dv,
        duu: (auu - du * (2.0 * wu) - p * wuu) / w,
        duv: (auv - dv * wu - du * wv - p * wuv) / w,
        dvv: (avv - dv * (2.0 * wv) - p * wvv) / w,
    }
}

/// Index of the piece that holds `t`: the later one at a break, the end pieces outside.
pub(super) fn locate(breaks: &[f64], t: f64) -> usize {
    breaks.partition_point(|b| *b <= t).clamp(1, breaks.len() - 1) - 1
}

/// `t` wrapped into the range when that is periodic and `t` lies outside.
pub(super) fn wrap_range(breaks: &[f64], periodic: bool, t: f64) -> f64 {
    let (lo, hi) = (breaks[0], breaks[breaks.len() - 1]);
    // Rounding must not lead out of the range again: another wrap would find another piece.
    if periodic && !(lo <= t && t <= hi) { math::wrap(t, lo, hi - lo).max(lo).min(hi) } else { t }
}

impl BezierSpline {
    /// Point and first two derivatives at `t`; end pieces extrapolate, periodic splines wrap.
    #[must_use]
    pub fn derivs(&self, t: f64) -> CurveDerivs {
        let t = self.wrapped(t);
        self.piece_derivs(locate(&self.breaks, t), t)
    }

    /// Point and first two derivatives of piece `i`, extrapolated when `t` is outside it.
    #[must_use]
    pub fn piece_derivs(&self, i: usize, t: f64) -> CurveDerivs {
        let (t0, t1) = (self.breaks[i], self.breaks[i + 1]);
        let inv = 1.0 / (t1 - t0);
        let mut h = curve_h(self.piece_control(i), (t - t0) * inv);
        h[1] *= inv;
        h[2] *= inv * inv;
        project_curve(&h)
    }
}

impl BezierSurface {
    /// Point and derivatives at `uv`; border patches extrapolate, periodic directions wrap.
    #[must_use]
    pub fn derivs(&self, uv: P2) -> SurfaceDerivs {
        let uv = self.wrapped(uv);
        self.patch_derivs(self.patch(uv), uv)
    }

    /// Point and first derivatives at `uv`: about half the work of [`BezierSurface::derivs`].
    #[must_use]
    pub fn first_derivs(&self, uv: P2) -> (P3, V3, V3) {
        let uv = self.wrapped(uv);
        let (i, j) = self.patch(uv);
        let (u0, v0) = (self.u_breaks[i], self.v_breaks[j]);
        let iu = 1.0 / (self.u_breaks[i + 1] - u0);
        let iv = 1.0 / (self.v_breaks[j + 1] - v0);
        let c = self.patch_control((i, j));
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let [h, hu, hv] = patch_h1(c, nu, nv, (uv.x - u0) * iu, (uv.y - v0) * iv);
        let inv_w = 1.0 / h.w;
        let p = h.xyz() * inv_w;
        let du = (hu.xyz() - p * hu.w) * (iu * inv_w);
        let dv = (hv.xyz() - p * hv.w) * (iv * inv_w);
        (P3::from(p), du, dv)
    }

    /// Point and derivatives of patch `(i, j)`, extrapolated when `uv` is outside it.
    #[must_use]
    pub fn patch_derivs(&self, (i, j): (usize, usize), uv: P2) -> SurfaceDerivs {
        let (u0, v0) = (self.u_breaks[i], self.v_breaks[j]);
        let iu = 1.0 / (self.u_breaks[i + 1] - u0);
        let iv = 1.0 / (self.v_breaks[j + 1] - v0);
        let c = self.patch_control((i, j));
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let mut h = patch_h(c, nu, nv, (uv.x - u0) * iu, (uv.y - v0) * iv);
        h[1] *= iu;
        h[2] *= iv;
        h[3] *= iu * iu;
        h[4] *= iu * iv;
        h[5] *= iv * iv;
        project_surface(&h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights against the recurrence of Bernstein polynomials, inside and a little outside; exact at the ends.
    #[test]
    fn weights_are_bernstein_polynomials() {
        let bernstein = |n: usize, s: f64| {
            let mut b = vec![1.0];
            for _ in 0..n {
                let mut next = vec![0.0; b.len() + 1];
                for (i, x) in b.iter().enumerate() {
                    next[i] += (1.0 - s) * x;
                    next[i + 1] += s * x;
                }
                b = next;
            }
            b
        };
        for n in 1..ROOM {
            let nf = f64::from(u8::try_from(n).expect("a small degree"));
            for s in [0.0, 1e-17, 0.1, 0.37, 0.5, 0.93, 1.0, -0.04, 1.05] {
                let basis = Basis::<ROOM>::new(n, s);
                let [b0, b1] = [bernstein(n, s), bernstein(n - 1, s)];
                let near = |x: f64, y: f64| (x - y).abs() <= 1e-14 * (1.0 + y.abs());
                assert!(near(basis.first, b0[0]), "{n} {s}");
                for i in 0..n {
                    let [value, first, second] = basis.rest[i];
                    assert!(near(value, b0[i + 1]) && near(first / nf, b1[i]), "{n} {s} {i}");
                    if n > 1 {
                        let expected = if i > 0 { bernstein(n - 2, s)[i - 1] } else { 0.0 };
                        assert!(near(second / (nf * (nf - 1.0)), expected), "{n} {s} {i}");
                    }
                }
            }
            let [start, end] = [0.0, 1.0].map(|s| Basis::<ROOM>::new(n, s));
            assert_eq!((start.first, end.rest[n - 1][0]), (1.0, 1.0), "ends are control points");
            assert_eq!((start.rest[0][0], end.first), (0.0, 0.0), "and nothing else");
        }
    }

    /// Whatever room is taken, the values are the same bits.
    #[test]
    fn room_changes_nothing() {
        let coordinate = |k: usize| f64::from(u16::try_from(k * 7919 % 1000).expect("small")) * 1e-3;
        for (nu, nv) in [(1, 3), (2, 5), (2, 14), (3, 15), (3, 4), (5, 7), (9, 2), (12, 15)] {
            let count = (nu + 1) * (nv + 1);
            let control: Vec<H4> = (0..count)
                .map(|k| {
                    H4::new(coordinate(k), coordinate(3 * k + 1), coordinate(5 * k + 2), 1.0 + coordinate(k))
                })
                .collect();
            for (s, t) in [(0.0, 1.0), (0.3, 0.7), (1.02, -0.03)] {
                let all = patch_room::<ROOM, ROOM>(&control, nu, nv, s, t);
                assert_eq!(patch_h(&control, nu, nv, s, t), all, "{nu} {nv}");
            }
        }
    }

    #[test]
    fn wrapping_never_leaves_the_range() {
        let breaks = [1.229_713_588_429e-14, 87.964_594_300_514];
        let (lo, hi) = (breaks[0], breaks[1]);
        let period = hi - lo;
        for k in -3..=3 {
            for ulps in -40..=40 {
                let t = lo + period * f64::from(k);
                let t = t + f64::from(ulps) * f64::EPSILON * 128.0;
                let x = wrap_range(&breaks, true, t);
                assert!(lo <= x && x <= hi, "{t:e} {x:e}");
            }
        }
    }
}
