//! Cubics with given ends and tangent directions, whose tangent lengths are adjusted.

use feeler_geom::{P2, V2, V3};

use super::cubic;
use crate::build::host::push;

/// A sample to which a cubic is fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Parameter of the point on the cubic that is nearest to the sample.
    pub(super) s: f64,
    pub(super) uv: P2,
    pub(super) jacobian: (V3, V3),
}

impl Default for Sample {
    fn default() -> Self {
        Self { s: 0.0, uv: P2::origin(), jacobian: (V3::zeros(), V3::zeros()) }
    }
}

/// Adjusts the tangent lengths of a Hermite cubic to its samples. Returns the cubic and the remaining
/// error, measured in space across the curve.
pub(super) fn adjust(start: [P2; 4], samples: &mut [Sample; 5]) -> ([P2; 4], f64) {
    let (va, vb) = (start[1] - start[0], start[3] - start[2]);
    let mut best = (start, f64::INFINITY);
    let (mut x, mut y) = (1.0, 1.0);
    for _ in 0..4 {
        let control = [start[0], start[0] + va * x, start[3] - vb * y, start[3]];
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
        // Damping is needed because the two lengths are not determined where the curve is nearly
        // straight.
        let damping = 1e-6 * (m00 + m11);
        let (a, b) = (m00 + damping, m11 + damping);
        let det = a * b - m01 * m01;
        if det.is_nan() || det <= 0.0 {
            break;
        }
        x = (x + (b * r0 - m01 * r1) / det).clamp(0.3, 3.0);
        y = (y + (a * r1 - m01 * r0) / det).clamp(0.3, 3.0);
    }
    best
}
