//! Approximates parallel surfaces of splines, which have no exact rational form.
//!
//! # Source
//! Piecewise biquintic Hermite interpolation of `S + d n`, whose first derivatives follow from the second
//! derivatives of `S` (the twist by a difference quotient). Every patch of `S` keeps its own pieces, so
//! that a jump of curvature between patches causes no error.

use feeler_geom::bezier::BezierSurface;
use feeler_geom::{P2, SurfaceDerivs, V3};

use crate::entities::{Res, bad};

/// Target deviation (mm) of a parallel surface if at most [`FEW_CELLS`] pieces are needed. A larger
/// value gives less exact volumes; a smaller one more pieces.
const TARGET_DEVIATION: f64 = 1e-6;
/// Target deviation (mm) of a parallel surface if [`TARGET_DEVIATION`] needs more than [`FEW_CELLS`]
/// pieces. A larger value gives less exact volumes; a smaller one more pieces.
const RELAXED_DEVIATION: f64 = 1e-4;
/// Maximum accepted deviation (mm) within [`MAX_CELLS`] pieces. With a larger value volumes are inexact; with
/// a smaller one surfaces are refused.
const MAX_DEVIATION: f64 = 1e-2;
/// Number of pieces beyond which [`RELAXED_DEVIATION`] replaces [`TARGET_DEVIATION`]. A larger value
/// gives more pieces, a smaller one less exact surfaces.
const FEW_CELLS: usize = 2_000;
/// Maximum number of pieces of a parallel surface. A surface that needs more for its target deviation is
/// accepted if the deviation reached so far is at most [`MAX_DEVIATION`], and refused otherwise. A
/// larger value takes more time and memory; a smaller one refuses more surfaces.
const MAX_CELLS: usize = 16_000;

/// Returns the parallel surface of `grid` at distance `d` (mm, positive along the natural normal), and
/// an upper bound (mm) of its deviation, which is the measured one with a safety factor. `id` is the
/// entity id for errors.
pub(super) fn offset(id: u64, grid: &BezierSurface, d: f64) -> Res<(BezierSurface, f64)> {
    let (n_u, n_v) = grid.n_patches();
    // Number of pieces into which each interval between breaks is divided.
    let (mut cuts_u, mut cuts_v) = (vec![1_usize; n_u], vec![1_usize; n_v]);
    let mut target = TARGET_DEVIATION;
    loop {
        let us = refined(&grid.u_breaks, &cuts_u);
        let vs = refined(&grid.v_breaks, &cuts_v);
        let mut control = Vec::with_capacity(36 * us.len() * vs.len());
        let mut worst = 0.0_f64;
        let mut errors = Vec::with_capacity(us.len() * vs.len());
        for (i, u) in &us {
            for (j, v) in &vs {
                let at = |uv: P2| derivs(grid, (*i, *j), uv, d);
                let piece = BezierSurface::hermite(u, v, at);
                let (error, along_u, along_v) = deviation(&piece, u, v, at);
                if !error.is_finite() {
                    return bad(
                        id,
                        "is an OFFSET_SURFACE of a surface whose normal is undefined at some points; export \
                            it as a B-spline",
                    );
                }
                worst = worst.max(error);
                errors.push((*i, *j, error, along_u, along_v));
                control.extend(piece.control);
            }
        }
        let mut next = halved(&errors, &cuts_u, &cuts_v, target);
        if cells(&next) > FEW_CELLS && target < RELAXED_DEVIATION {
            target = RELAXED_DEVIATION;
            next = halved(&errors, &cuts_u, &cuts_v, target);
        }
        if worst <= target || cells(&next) > MAX_CELLS {
            if worst > MAX_DEVIATION {
                let message = format!(
                    "is an OFFSET_SURFACE that can only be approximated to {worst:.1e} mm; export it as a \
                        B-spline"
                );
                return bad(id, message);
            }
            let breaks = |cells: &[(usize, [f64; 2])]| {
                let first = cells.iter().map(|c| c.1[0]).take(1);
                first.chain(cells.iter().map(|c| c.1[1])).collect::<Vec<f64>>()
            };
            let mut surface = BezierSurface {
                u_degree: 5,
                v_degree: 5,
                u_breaks: breaks(&us),
                v_breaks: breaks(&vs),
                control,
                u_periodic: false,
                v_periodic: false,
            };
            surface.detect_periodicity();
            // The deviation between the samples is assumed to be below twice the largest one at the
            // samples.
            return Ok((surface, 2.0 * worst));
        }
        (cuts_u, cuts_v) = next;
    }
}

/// Returns `cuts_u` and `cuts_v`, the numbers of pieces of each interval along u and v, with those
/// numbers doubled that contribute to an error above `target` (mm). `errors` lists for each patch its
/// intervals i and j, its error, and the errors on its sides along u and along v (mm).
fn halved(
    errors: &[(usize, usize, f64, f64, f64)],
    cuts_u: &[usize],
    cuts_v: &[usize],
    target: f64,
) -> (Vec<usize>, Vec<usize>) {
    let (mut more_u, mut more_v) = (vec![false; cuts_u.len()], vec![false; cuts_v.len()]);
    for (i, j, _, along_u, along_v) in errors.iter().filter(|e| e.2 > target) {
        // The errors on the sides of the patch determine which direction is divided; inside, the errors
        // of both directions add up.
        let neither = along_u.max(*along_v) <= 0.5 * target;
        more_u[*i] |= neither || *along_u > 0.5 * target;
        more_v[*j] |= neither || *along_v > 0.5 * target;
    }
    let twice = |cuts: &[usize], more: &[bool]| -> Vec<usize> {
        cuts.iter().zip(more).map(|(n, more)| if *more { 2 * n } else { *n }).collect()
    };
    (twice(cuts_u, &more_u), twice(cuts_v, &more_v))
}

fn cells((u, v): &(Vec<usize>, Vec<usize>)) -> usize {
    u.iter().sum::<usize>() * v.iter().sum::<usize>()
}

/// Returns the intervals between breaks, each divided into the given number of equal parts, with the
/// index of the original interval.
#[expect(clippy::cast_precision_loss, reason = "the counts are small")]
fn refined(breaks: &[f64], cuts: &[usize]) -> Vec<(usize, [f64; 2])> {
    let mut out = Vec::new();
    for (i, (w, n)) in breaks.windows(2).zip(cuts).enumerate() {
        let at = |k: usize| if k == *n { w[1] } else { w[0] + (w[1] - w[0]) * (k as f64 / *n as f64) };
        out.extend((0..*n).map(|k| (i, [at(k), at(k + 1)])));
    }
    out
}

/// Maximum distances (mm) at equal parameters between a piece and the parallel surface: at all sample
/// points, on the two sides along u, and on the two sides along v.
fn deviation(
    piece: &BezierSurface,
    u: &[f64; 2],
    v: &[f64; 2],
    exact: impl Fn(P2) -> SurfaceDerivs,
) -> (f64, f64, f64) {
    const AT: [f64; 5] = [0.0, 0.21, 0.5, 0.79, 1.0];
    // max() would discard NaN.
    let larger = |a: f64, b: f64| if b <= a { a } else { b };
    let (mut worst, mut along_u, mut along_v) = (0.0, 0.0, 0.0);
    for (i, s) in AT.iter().enumerate() {
        for (j, t) in AT.iter().enumerate() {
            let uv = P2::new(u[0] + s * (u[1] - u[0]), v[0] + t * (v[1] - v[0]));
            let error = (piece.patch_derivs((0, 0), uv).p - exact(uv).p).norm();
            worst = larger(worst, error);
            if j == 0 || j == AT.len() - 1 {
                along_u = larger(along_u, error);
            }
            if i == 0 || i == AT.len() - 1 {
                along_v = larger(along_v, error);
            }
        }
    }
    (worst, along_u, along_v)
}

/// Computes point, first derivatives and twist of the parallel surface at distance `d` (mm) from one
/// patch, which is extrapolated at its rim.
fn derivs(grid: &BezierSurface, patch: (usize, usize), uv: P2, d: f64) -> SurfaceDerivs {
    let (u, v) = (&grid.u_breaks[patch.0..=patch.0 + 1], &grid.v_breaks[patch.1..=patch.1 + 1]);
    let centre = P2::new(0.5 * (u[0] + u[1]), 0.5 * (v[0] + v[1]));
    // At a singular point (a collapsed side), the limit from inside is approximated by a point slightly
    // inside.
    let mut at = uv;
    let mut s = grid.patch_derivs(patch, at);
    if s.du.cross(&s.dv).norm() <= 1e-9 * (s.du.norm_squared() + s.dv.norm_squared()) {
        at = uv + (centre - uv) * 1e-5;
        s = SurfaceDerivs { p: s.p, ..grid.patch_derivs(patch, at) };
    }
    let (n, n_u, n_v) = normal_derivs(&s);
    // The contribution of the normal to the twist is the central difference of ∂n/∂u along v.
    let h = 1e-4 * (v[1] - v[0]);
    let n_u_at = |dv: f64| normal_derivs(&grid.patch_derivs(patch, at + feeler_geom::V2::new(0.0, dv))).1;
    let n_uv = (n_u_at(h) - n_u_at(-h)) / (2.0 * h);
    SurfaceDerivs { p: s.p + n * d, du: s.du + n_u * d, dv: s.dv + n_v * d, duv: s.duv + n_uv * d, ..s }
}

/// Computes the unit normal and its derivatives with respect to u and v.
fn normal_derivs(s: &SurfaceDerivs) -> (V3, V3, V3) {
    let m = s.du.cross(&s.dv);
    let length = m.norm();
    let n = m / length;
    let across = |x: V3| (x - n * n.dot(&x)) / length;
    let m_u = s.duu.cross(&s.dv) + s.du.cross(&s.duv);
    let m_v = s.duv.cross(&s.dv) + s.du.cross(&s.dvv);
    (n, across(m_u), across(m_v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::bezier::BezierSpline;
    use feeler_geom::{Frame, P3};

    /// The parallel surface of an exact torus patch is the torus with another tube radius.
    #[test]
    fn parallel_of_a_torus() {
        let frame = Frame::from_z(P3::new(10.0, 0.0, 0.0), V3::y(), Some(V3::x())).unwrap();
        let profile = BezierSpline::arc(&frame, 3.0, 3.0, 0.0, std::f64::consts::TAU);
        let torus = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, std::f64::consts::TAU);
        let outward =
            torus.normal(P2::new(0.3, 0.4)).dot(&(torus.derivs(P2::new(0.3, 0.4)).p - P3::origin())) > 0.0;
        let (parallel, deviation) = offset(1, &torus, if outward { 0.5 } else { -0.5 }).unwrap();
        assert!(deviation <= 2.0 * TARGET_DEVIATION, "{deviation}");
        for i in 0..50 {
            for j in 0..50 {
                let uv = P2::new(f64::from(i) * 0.1254, f64::from(j) * 0.1255);
                let p = parallel.derivs(uv).p;
                let ring = (p.x * p.x + p.y * p.y).sqrt() - 10.0;
                let r = (ring * ring + p.z * p.z).sqrt();
                assert!((r - 3.5).abs() <= deviation, "{r} at {uv}");
            }
        }
        assert!(parallel.u_periodic && parallel.v_periodic, "the parallel surface closes like the torus");
    }
}
