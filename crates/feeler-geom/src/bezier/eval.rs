//! Evaluation with Bernstein polynomials, without heap allocation.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §1.3–1.5: Bernstein polynomials (computed from powers and
//! binomials, because their recurrence is quadratic in the degree), the last steps of de Casteljau's
//! algorithm, and the quotient rule.

use arrayvec::ArrayVec;
use nalgebra::Vector3;

use super::{BezierSpline, BezierSurface, H4, MAX_DEGREE};
use crate::binomial::pascal;
use crate::chebyshev::MAX_NODES;
use crate::{CurveDerivs, P2, P3, SurfaceDerivs, V3, math};

/// Number of coefficients of a polynomial of the largest degree, [`MAX_DEGREE`]; it is the size of the
/// largest stack buffers. A larger value only costs stack space, a smaller one cannot store all degrees.
pub(super) const MAX_COEFFICIENTS: usize = MAX_DEGREE as usize + 1;

/// Binomial coefficients: `BINOMIALS[n][k]` is n over k.
static BINOMIALS: [[f64; MAX_COEFFICIENTS]; MAX_COEFFICIENTS] = pascal();

/// Weights that reduce a Bézier curve at one parameter to the quadratic curve of the last steps of de
/// Casteljau's algorithm. The control points of that curve are sums of those of the given curve,
/// weighted by Bernstein polynomials of the degree minus two.
struct Basis<const N: usize> {
    /// Whether the curve is a line, treated as a quadratic curve whose middle control point is the
    /// midpoint.
    is_line: bool,
    /// Degree, at least two.
    degree: f64,
    s: f64,
    /// Values at `s` of the `degree − 1` Bernstein polynomials of the degree minus two; the other
    /// entries are zero.
    weights: [f64; N],
}

impl<const N: usize> Basis<N> {
    /// Computes the weights for degree `n` at the parameter `s`.
    // Inlined, so that the arrays are built in place instead of being copied.
    #[inline(always)]
    fn new(n: usize, s: f64) -> Self {
        let below = n.max(2) - 2;
        let r = 1.0 - s;
        let mut weights = [0.0; N];
        let mut of_s = 1.0;
        for (w, binomial) in weights[..=below].iter_mut().zip(&BINOMIALS[below]) {
            *w = binomial * of_s;
            of_s *= s;
        }
        let mut of_r = 1.0;
        for w in weights[..=below].iter_mut().rev() {
            *w *= of_r;
            of_r *= r;
        }
        Self { is_line: n < 2, degree: n.max(2) as f64, s, weights }
    }

    /// Homogeneous value at `s` of the curve with these control points, and its first two derivatives
    /// with respect to the local parameter in [0, 1].
    #[inline(always)]
    fn contract<'a>(&self, control: impl Iterator<Item = &'a H4>) -> [H4; 3] {
        // Start at the nearer end, so that the value at an end is exactly its control point.
        if self.s <= 0.5 { self.contract_at::<false>(control) } else { self.contract_at::<true>(control) }
    }

    /// Like `contract`, evaluated from the first control point of the quadratic curve, or from the last
    /// one if `LAST`. The sums are over differences of control points, so the derivatives are as
    /// accurate as the differences.
    #[inline(always)]
    fn contract_at<'a, const LAST: bool>(&self, mut control: impl Iterator<Item = &'a H4>) -> [H4; 3] {
        let mut p0 = control.next().copied().unwrap_or_default();
        let mut p1 = control.next().copied().unwrap_or_default();
        let mut d0 = p1 - p0;
        let (mut end, mut e0, mut e1) = (H4::zeros(), H4::zeros(), H4::zeros());
        if self.is_line {
            (end, e0, e1) = (if LAST { p1 } else { p0 }, d0 * 0.5, d0 * 0.5);
        }
        for (p2, &w) in control.zip(&self.weights) {
            let d1 = p2 - p1;
            end += if LAST { *p2 } else { p0 } * w;
            e0 += d0 * w;
            e1 += d1 * w;
            (p0, p1, d0) = (p1, *p2, d1);
        }
        let (n, s, r) = (self.degree, self.s, 1.0 - self.s);
        let value = if LAST {
            end - (e1 * (r * (1.0 + s)) + e0 * (r * r))
        } else {
            end + (e0 * (s * (1.0 + r)) + e1 * (s * s))
        };
        [value, (e0 * r + e1 * s) * n, (e1 - e0) * (n * (n - 1.0))]
    }
}

/// Homogeneous value of one piece at the local parameter `s`, and its first two derivatives with respect
/// to that parameter.
pub(super) fn curve_h(control: &[H4], s: f64) -> [H4; 3] {
    let n = control.len() - 1;
    if n < 6 {
        Basis::<4>::new(n, s).contract(control.iter())
    } else if n < 10 {
        Basis::<8>::new(n, s).contract(control.iter())
    } else if n < 18 {
        Basis::<16>::new(n, s).contract(control.iter())
    } else {
        Basis::<MAX_COEFFICIENTS>::new(n, s).contract(control.iter())
    }
}

#[cfg(feature = "evaluations")]
thread_local! {
    static EVALUATIONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Number of patch evaluations of the current thread, with any number of derivatives. Programs that
/// compare methods use it.
#[cfg(feature = "evaluations")]
#[must_use]
pub fn patch_evaluations() -> u64 {
    EVALUATIONS.get()
}

/// Calls a function with the smallest sizes of buffers that suffice for the degrees `$nu` and `$nv`. Smaller
/// buffers are faster to clear. CAD systems write blends with the arc across (of low degree) in u and the
/// path in v, hence the unequal sizes.
macro_rules! with_buffers {
    ($nu:expr, $nv:expr, $function:ident($($argument:expr),*)) => {
        if $nu < 4 && $nv < 6 {
            $function::<4, 4>($($argument),*)
        } else if $nu < 4 && $nv < 18 {
            $function::<4, 16>($($argument),*)
        } else if $nu < 8 && $nv < 10 {
            $function::<8, 8>($($argument),*)
        } else if $nu < 16 && $nv < 18 {
            $function::<16, 16>($($argument),*)
        } else {
            $function::<MAX_COEFFICIENTS, MAX_COEFFICIENTS>($($argument),*)
        }
    };
}

/// Homogeneous point and derivatives `[h, h_u, h_v, h_uu, h_uv, h_vv]` of one patch with degrees `nu`
/// and `nv` at the local parameters `s` and `t`.
pub(super) fn patch_h(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 6] {
    #[cfg(feature = "evaluations")]
    EVALUATIONS.set(EVALUATIONS.get() + 1);
    with_buffers!(nu, nv, patch_h_sized(control, nu, nv, s, t))
}

fn patch_h_sized<const U: usize, const V: usize>(
    control: &[H4],
    nu: usize,
    nv: usize,
    s: f64,
    t: f64,
) -> [H4; 6] {
    let along_v = Basis::<V>::new(nv, t);
    let mut rows = [[H4::zeros(); 3]; U];
    for (row, c) in rows.iter_mut().zip(control.chunks_exact(nv + 1)) {
        *row = along_v.contract(c.iter());
    }
    let along_u = Basis::<U>::new(nu, s);
    let rows = &rows[..=nu];
    let [h, hu, huu] = along_u.contract(rows.iter().map(|r| &r[0]));
    let [hv, huv, _] = along_u.contract(rows.iter().map(|r| &r[1]));
    let [hvv, _, _] = along_u.contract(rows.iter().map(|r| &r[2]));
    [h, hu, hv, huu, huv, hvv]
}

/// Homogeneous points and first derivatives `[h, h_u, h_v]` of one patch at all pairs of the local parameters
/// `us` and `vs`, with the same bits as [`patch_h`]. `put` receives the numbers of both parameters and the
/// values.
fn patch_grid_h(
    control: &[H4],
    [nu, nv]: [usize; 2],
    [us, vs]: [&[f64]; 2],
    put: &mut impl FnMut(usize, usize, [H4; 3]),
) {
    with_buffers!(nu, nv, patch_grid_sized(control, [nu, nv], [us, vs], put));
}

fn patch_grid_sized<const U: usize, const V: usize>(
    control: &[H4],
    [nu, nv]: [usize; 2],
    [us, vs]: [&[f64]; 2],
    put: &mut impl FnMut(usize, usize, [H4; 3]),
) {
    #[cfg(feature = "evaluations")]
    EVALUATIONS.set(EVALUATIONS.get() + (us.len() * vs.len()) as u64);
    let mut rows = [[H4::zeros(); 2]; U];
    for (j, t) in vs.iter().enumerate() {
        let along_v = Basis::<V>::new(nv, *t);
        for (row, c) in rows.iter_mut().zip(control.chunks_exact(nv + 1)) {
            let [h, hv, _] = along_v.contract(c.iter());
            *row = [h, hv];
        }
        for (i, s) in us.iter().enumerate() {
            let along_u = Basis::<U>::new(nu, *s);
            let [h, hu, _] = along_u.contract(rows[..=nu].iter().map(|r| &r[0]));
            let [hv, _, _] = along_u.contract(rows[..=nu].iter().map(|r| &r[1]));
            put(i, j, [h, hu, hv]);
        }
    }
}

fn split(h: &H4) -> (V3, f64) {
    (Vector3::new(h.x, h.y, h.z), h.w)
}

/// Computes point and derivatives of a curve from homogeneous ones by the quotient rule.
pub(super) fn project_curve([h, h1, h2]: &[H4; 3]) -> CurveDerivs {
    let (a, w) = split(h);
    let (a1, w1) = split(h1);
    let (a2, w2) = split(h2);
    let p = a / w;
    let d1 = (a1 - p * w1) / w;
    let d2 = (a2 - d1 * (2.0 * w1) - p * w2) / w;
    CurveDerivs { p: P3::from(p), d1, d2 }
}

/// Computes point and derivatives of a surface from homogeneous ones by the quotient rule.
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

/// Computes point and first derivatives of a surface from homogeneous ones by the quotient rule.
fn project_first([h, hu, hv]: &[H4; 3]) -> (P3, V3, V3) {
    let inv_w = 1.0 / h.w;
    let p = h.xyz() * inv_w;
    (P3::from(p), (hu.xyz() - p * hu.w) * inv_w, (hv.xyz() - p * hv.w) * inv_w)
}

/// Index of the piece that contains `t`. At a break it is the piece after the break; outside the range
/// it is an end piece.
pub(super) fn locate(breaks: &[f64], t: f64) -> usize {
    breaks.partition_point(|b| *b <= t).clamp(1, breaks.len() - 1) - 1
}

/// Wraps `t` into the range if the range is periodic and `t` lies outside.
pub(super) fn wrap_range(breaks: &[f64], periodic: bool, t: f64) -> f64 {
    let (lo, hi) = (breaks[0], breaks[breaks.len() - 1]);
    // Clamp, so that rounding does not leave the range, because a second wrap would find another piece.
    if periodic && !(lo <= t && t <= hi) { math::wrap(t, lo, hi - lo).max(lo).min(hi) } else { t }
}

impl BezierSpline {
    /// Point and first two derivatives at `t`; a spline is extrapolated beyond its ends, unless it is
    /// periodic.
    #[must_use]
    pub fn derivs(&self, t: f64) -> CurveDerivs {
        let t = self.wrapped(t);
        self.piece_derivs(locate(&self.breaks, t), t)
    }

    /// Point and first two derivatives of piece `i` at `t`, extrapolated if `t` is outside of the piece.
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
    /// Point and derivatives up to second order at `uv`; border patches are extrapolated, periodic
    /// directions wrap.
    #[must_use]
    pub fn derivs(&self, uv: P2) -> SurfaceDerivs {
        let uv = self.wrapped(uv);
        self.patch_derivs(self.patch(uv), uv)
    }

    /// Point and first derivatives at `uv`, equal to those of [`BezierSurface::derivs`] up to rounding.
    #[must_use]
    pub fn first_derivs(&self, uv: P2) -> (P3, V3, V3) {
        let uv = self.wrapped(uv);
        let [h, hu, hv, ..] = self.patch_homogeneous(self.patch(uv), uv);
        project_first(&[h, hu, hv])
    }

    /// Points and first derivatives at the parameters `(u, v)` for all u in `us`, which are in the piece
    /// along u that contains the middle one of them. They equal those of [`BezierSurface::first_derivs`] up
    /// to rounding, and replace those in `out`.
    pub fn first_derivs_on_row(&self, us: &[f64], v: f64, out: &mut Vec<(P3, V3, V3)>) {
        out.clear();
        let Some(&middle) = us.get(us.len() / 2) else { return };
        let middle = P2::new(middle, v);
        let inside = self.wrapped(middle);
        let mut grid = Vec::new();
        for part in us.chunks(MAX_NODES) {
            let shifted: ArrayVec<f64, MAX_NODES> = part.iter().map(|u| u + (inside.x - middle.x)).collect();
            self.patch_grid(self.patch(inside), [&shifted, &[inside.y]], &mut grid);
            out.extend(grid.iter().map(project_first));
        }
    }

    /// Point and derivatives up to second order of a patch, extrapolated if `uv` is outside of the
    /// patch.
    #[must_use]
    pub fn patch_derivs(&self, patch: (usize, usize), uv: P2) -> SurfaceDerivs {
        project_surface(&self.patch_homogeneous(patch, uv))
    }

    /// Homogeneous point and derivatives `[h, h_u, h_v, h_uu, h_uv, h_vv]` of patch `(i, j)` with
    /// respect to the parameters of the grid.
    #[inline]
    pub(crate) fn patch_homogeneous(&self, (i, j): (usize, usize), uv: P2) -> [H4; 6] {
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
        h
    }

    /// Homogeneous points and first derivatives `[h, h_u, h_v]` of patch `(i, j)` at all pairs of the
    /// parameters `us` and `vs` of the grid, with the same bits as [`BezierSurface::patch_homogeneous`]. They
    /// replace those in `out`; the number of the parameter in `vs` varies fastest.
    pub(crate) fn patch_grid(&self, (i, j): (usize, usize), [us, vs]: [&[f64]; 2], out: &mut Vec<[H4; 3]>) {
        let (u0, v0) = (self.u_breaks[i], self.v_breaks[j]);
        let iu = 1.0 / (self.u_breaks[i + 1] - u0);
        let iv = 1.0 / (self.v_breaks[j + 1] - v0);
        let local = |x: &[f64], start: f64, inverse: f64| {
            x.iter().map(|x| (x - start) * inverse).collect::<ArrayVec<f64, MAX_NODES>>()
        };
        let (local_u, local_v) = (local(us, u0, iu), local(vs, v0, iv));
        let degrees = [self.u_degree as usize, self.v_degree as usize];
        out.clear();
        out.resize(us.len() * vs.len(), [H4::zeros(); 3]);
        patch_grid_h(self.patch_control((i, j)), degrees, [&local_u, &local_v], &mut |i, j, [h, hu, hv]| {
            out[i * vs.len() + j] = [h, hu * iu, hv * iv];
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// Compares with the complete de Casteljau algorithm, inside and slightly outside; the ends are
    /// exact.
    #[test]
    fn curves_agree_with_de_casteljau() {
        let coordinate = |k: usize| f64::from(u16::try_from(k * 7919 % 1000).expect("small")) * 1e-3;
        for n in 1..MAX_COEFFICIENTS {
            let of = |k: usize| {
                H4::new(coordinate(k), coordinate(3 * k + 1), coordinate(5 * k + 2), 1.0 + coordinate(k))
            };
            let control: Vec<H4> = (0..=n).map(of).collect();
            let nf = f64::from(u8::try_from(n).expect("a small degree"));
            for s in [0.0, 1e-17, 0.1, 0.37, 0.5, 0.500_001, 0.93, 1.0, -0.04, 1.05] {
                let mut points = control.clone();
                let mut expected = [H4::zeros(); 3];
                while points.len() > 1 {
                    if points.len() == 3 {
                        expected[2] = (points[2] - points[1] * 2.0 + points[0]) * (nf * (nf - 1.0));
                    }
                    if points.len() == 2 {
                        expected[1] = (points[1] - points[0]) * nf;
                    }
                    points = points.windows(2).map(|w| w[0] * (1.0 - s) + w[1] * s).collect();
                }
                expected[0] = points[0];
                for (order, (found, expected)) in curve_h(&control, s).iter().zip(expected).enumerate() {
                    let tolerance = [4e-15, 4e-15 * nf, 8e-15 * nf * nf][order];
                    let off = (found - expected).amax();
                    assert!(off <= tolerance, "degree {n} at {s}, order {order}: {off:e}");
                }
            }
            for (s, end) in [(0.0, control[0]), (1.0, control[n])] {
                assert_eq!(curve_h(&control, s)[0], end, "ends are control points");
            }
        }
    }

    /// Values on grids of parameters equal those of single points to the last bit, for all sizes of buffers.
    #[test]
    fn grids_agree_with_points() {
        let mut r = crate::testing::rng(41);
        for k in 0..60 {
            let (nu, nv) = (r.random_range(1..20), r.random_range(1..20));
            let of = |_| {
                let mut x = || r.random_range(-1.0..1.0);
                H4::new(x(), x(), x(), 1.0 + 0.5 * x())
            };
            let control: Vec<H4> = (0..(nu + 1) * (nv + 1)).map(of).collect();
            let us: Vec<f64> = (0..5).map(|_| r.random_range(-0.1..1.1)).collect();
            let vs: Vec<f64> = (0..7).map(|_| r.random_range(-0.1..1.1)).collect();
            let mut count = 0;
            patch_grid_h(&control, [nu, nv], [&us, &vs], &mut |i, j, found| {
                let [h, hu, hv, ..] = patch_h(&control, nu, nv, us[i], vs[j]);
                assert_eq!(found, [h, hu, hv], "{k}: {i} {j}");
                count += 1;
            });
            assert_eq!(count, 35);
        }
    }

    /// Values on rows of a surface of several patches equal those of single points.
    #[test]
    fn rows_agree_with_points() {
        let mut r = crate::testing::rng(43);
        for periodic in [false, true] {
            let (nu, nv) = (3, 5);
            let (breaks_u, breaks_v) = (vec![0.0, 0.3, 1.0], vec![-1.0, 0.5, 2.0, 2.5]);
            let count = 6 * (nu + 1) * (nv + 1);
            let mut x = || r.random_range(-1.0..1.0);
            let control = (0..count).map(|_| H4::new(x(), x(), x(), 1.0 + 0.3 * x())).collect();
            let surface = BezierSurface {
                u_degree: 3,
                v_degree: 5,
                u_breaks: breaks_u,
                v_breaks: breaks_v,
                control,
                u_periodic: periodic,
                v_periodic: false,
            };
            let shift = if periodic { 1.0 } else { 0.0 };
            let us: Vec<f64> = (1..30).map(|k| shift + 0.3 + 0.7 * f64::from(k) / 30.0).collect();
            let mut row = Vec::new();
            for v in [-0.9, 0.5, 2.2] {
                surface.first_derivs_on_row(&us, v, &mut row);
                assert_eq!(row.len(), us.len());
                for (u, (p, du, dv)) in us.iter().zip(&row) {
                    let (q, eu, ev) = surface.first_derivs(P2::new(*u, v));
                    let off = (p - q).norm() + (du - eu).norm() + (dv - ev).norm();
                    assert!(off <= 1e-12 * (1.0 + eu.norm() + ev.norm()), "{u} {v}: {off:e}");
                }
            }
        }
    }

    /// Values do not depend on the buffer size, to the last bit.
    #[test]
    fn buffer_size_does_not_change_values() {
        let coordinate = |k: usize| f64::from(u16::try_from(k * 7919 % 1000).expect("small")) * 1e-3;
        for (nu, nv) in [
            (1, 3),
            (2, 14),
            (3, 4),
            (3, 5),
            (3, 17),
            (3, 18),
            (5, 7),
            (7, 9),
            (9, 2),
            (15, 17),
            (16, 2),
            (25, 25),
        ] {
            let count = (nu + 1) * (nv + 1);
            let control: Vec<H4> = (0..count)
                .map(|k| {
                    H4::new(coordinate(k), coordinate(3 * k + 1), coordinate(5 * k + 2), 1.0 + coordinate(k))
                })
                .collect();
            for (s, t) in [(0.0, 1.0), (0.3, 0.7), (1.02, -0.03)] {
                let all = patch_h_sized::<MAX_COEFFICIENTS, MAX_COEFFICIENTS>(&control, nu, nv, s, t);
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
