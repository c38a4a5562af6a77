//! Cubics with given ends and tangent directions, whose tangent lengths are adjusted.

use feeler_geom::{P2, P3, Rect, V2, V3};

use super::cubic;
use crate::build::host::push;

/// Sample of an edge's projection to the surface, to which a cubic in the parameter plane is fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Parameter (0 to 1) of the cubic's point that is nearest to the sample.
    pub(super) s: f64,
    /// Position of the sample between the ends of the fitted interval of the edge's curve parameter,
    /// from 0 to 1.
    pub(super) fraction: f64,
    pub(super) uv: P2,
    /// Point of the surface at `uv`, which is the surface point nearest to the edge.
    pub(super) p: P3,
    pub(super) jacobian: (V3, V3),
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            s: 0.0,
            fraction: 0.0,
            uv: P2::origin(),
            p: P3::origin(),
            jacobian: (V3::zeros(), V3::zeros()),
        }
    }
}

/// End points `a` and `b` of a cubic in the parameter plane, its tangents `va` and `vb` there (a third
/// of the velocities) and the maximum factors `most` by which the tangents may be multiplied.
pub(super) struct Tangents {
    pub(super) a: P2,
    pub(super) b: P2,
    pub(super) va: V2,
    pub(super) vb: V2,
    pub(super) most: [f64; 2],
}

/// Adjusts the tangent lengths of a cubic so that it approximates its samples. Returns its control
/// points and the largest remaining distance (mm, in space) of the samples across the curve; `s` of the
/// samples is updated. Control points stay in the parameter rectangle `inside`; `tol` (mm) is the
/// tolerance of the fit.
pub(super) fn adjust(
    &Tangents { a, b, va, vb, most }: &Tangents,
    inside: &Rect,
    tol: f64,
    samples: &mut [Sample; 5],
) -> ([P2; 4], f64) {
    let with_lengths = |x: f64, y: f64| [a, inside.clamp(a + va * x), inside.clamp(b - vb * y), b];
    // A tangent that would leave the range of the samples starts with half of the maximum length.
    let [(mut x, x_range), (mut y, y_range)] = most.map(|most| {
        let usual = if most < 1.0 { 0.25 * most } else { 1.0 };
        (usual, (0.3 * usual, (3.0 * usual).min(most)))
    });
    let mut best = (with_lengths(x, y), f64::INFINITY);
    let mut best_s = samples.map(|q| q.s);
    for _ in 0..4 {
        let control = with_lengths(x, y);
        // Normal equations [[m00, m01], [m01, m11]] (dx, dy) = (r0, r1).
        let (mut m00, mut m01, mut m11, mut r0, mut r1) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut error: f64 = 0.0;
        for q in samples.iter_mut() {
            let mut across = V3::zeros();
            let mut tangent = V3::zeros();
            for _ in 0..3 {
                let (p, d) = cubic(&control, q.s);
                let (off, along) = (push(&q.jacobian, q.uv - p), push(&q.jacobian, d));
                let speed = along.norm_squared();
                if speed.is_nan() || speed <= 0.0 {
                    across = off;
                    break;
                }
                let step = off.dot(&along) / speed;
                tangent = along / speed.sqrt();
                across = off - along * step;
                q.s = (q.s + step).clamp(0.0, 1.0);
            }
            error = error.max(across.norm());
            let r = 1.0 - q.s;
            let column = |v: V2, w: f64| {
                let c = push(&q.jacobian, v) * w;
                c - tangent * tangent.dot(&c)
            };
            let (ca, cb) = (column(va, 3.0 * r * r * q.s), column(vb, -3.0 * r * q.s * q.s));
            m00 += ca.norm_squared();
            m01 += ca.dot(&cb);
            m11 += cb.norm_squared();
            r0 += ca.dot(&across);
            r1 += cb.dot(&across);
        }
        if error.is_nan() || error >= best.1 {
            break;
        }
        best = (control, error);
        best_s = samples.map(|q| q.s);
        // Damping is needed because the two lengths are not determined where the curve is nearly
        // straight, in particular where they move the curve by less than the tolerance.
        let damping = 1e-6 * (m00 + m11) + tol * tol;
        let (d0, d1) = (m00 + damping, m11 + damping);
        let det = d0 * d1 - m01 * m01;
        if det.is_nan() || det <= 0.0 {
            break;
        }
        x = (x + (d1 * r0 - m01 * r1) / det).clamp(x_range.0, x_range.1);
        y = (y + (d0 * r1 - m01 * r0) / det).clamp(y_range.0, y_range.1);
    }
    samples.iter_mut().zip(best_s).for_each(|(q, s)| q.s = s);
    best
}
