//! Conversion of curves to exact rational Bézier splines.

use super::Curve;
use crate::bezier::build::even_breaks;
use crate::bezier::{BezierSpline, H4, homogeneous};
use crate::math;

impl BezierSpline {
    /// Converts a curve over `[t0, t1]`, `t0 < t1` (at most one period), to its exact rational Bézier
    /// form. The parametrisation is kept for lines, parabolas and splines; for circles, ellipses and
    /// hyperbolas it agrees only at the ends of the Bézier pieces.
    #[must_use]
    pub fn of_curve(curve: &Curve, t0: f64, t1: f64) -> Self {
        match curve {
            Curve::Line { .. } => Self::segment(&curve.point(t0), &curve.point(t1), t0, t1),
            Curve::Circle { frame, radius } => Self::arc(frame, *radius, *radius, t0, t1),
            Curve::Ellipse { frame, semi_x, semi_y } => Self::arc(frame, *semi_x, *semi_y, t0, t1),
            Curve::Parabola { frame, focal: f } => {
                let middle = frame.point(f * t0 * t1, f * (t0 + t1), 0.0);
                let control = [curve.point(t0), middle, curve.point(t1)];
                let control = control.iter().map(|p| homogeneous(p, 1.0)).collect();
                Self { degree: 2, breaks: vec![t0, t1], control, periodic: false }
            }
            Curve::Hyperbola { frame, semi, semi_imag } => {
                let breaks = even_breaks(t0, t1, 1.0);
                let mut control = Vec::with_capacity(3 * (breaks.len() - 1));
                for w in breaks.windows(2) {
                    let m = 0.5 * (w[0] + w[1]);
                    let c = math::cosh(0.5 * (w[1] - w[0]));
                    let p = frame.origin.coords * c
                        + frame.vector(semi * math::cosh(m), semi_imag * math::sinh(m), 0.0);
                    control.push(homogeneous(&curve.point(w[0]), 1.0));
                    control.push(H4::new(p.x, p.y, p.z, c));
                    control.push(homogeneous(&curve.point(w[1]), 1.0));
                }
                Self { degree: 2, breaks, control, periodic: false }
            }
            Curve::Bezier(spline) => spline.restricted(t0, t1),
        }
    }
}
