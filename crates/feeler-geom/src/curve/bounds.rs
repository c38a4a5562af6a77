//! Boxes, hulls and tangent cones of curves over ranges of their parameter.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::Curve;
use crate::bezier::box_of;
use crate::{Aabb, Frame, P3, RevolutionCone, V3, math};

/// Allowance for the rounding of boxes, relative to the coordinates involved. A larger value loosens
/// boxes; with a smaller one points could lie outside.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Returns the minimum and the maximum of `a cos t + b sin t` over `[t0, t1]`.
pub(crate) fn sinusoid_range(a: f64, b: f64, t0: f64, t1: f64) -> (f64, f64) {
    let at = |t: f64| {
        let (s, c) = math::sin_cos(t);
        a * c + b * s
    };
    let (x, y) = (at(t0), at(t1));
    let (mut lo, mut hi) = (x.min(y), x.max(y));
    let peak = math::atan2(b, a);
    let amplitude = math::hypot(a, b);
    if math::wrap(peak, t0, TAU) <= t1 {
        hi = amplitude;
    }
    if math::wrap(peak + PI, t0, TAU) <= t1 {
        lo = -amplitude;
    }
    (lo, hi)
}

/// Returns the vertices of a polygon whose convex hull contains the arc `(cos t, sin t)` for t in `[t0,
/// t1]` (rad): the ends of the arc and the intersections of tangents at evenly spaced angles. For a
/// whole turn, only the intersections are returned.
pub(crate) fn arc_polygon(t0: f64, t1: f64) -> Vec<(f64, f64)> {
    let span = (t1 - t0).min(TAU);
    let closed = span >= TAU - 1e-12;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the count is small and positive"
    )]
    let n = (span / 0.3).ceil().clamp(1.0, 20.0) as u32;
    let step = span / f64::from(n);
    // The radius is rounded outward.
    let r = (1.0 + 4.0 * f64::EPSILON) / math::cos(0.5 * step);
    let mut out = Vec::with_capacity(n as usize + 2);
    if !closed {
        let (s, c) = math::sin_cos(t0);
        out.push((c, s));
    }
    for i in 0..n {
        let (s, c) = math::sin_cos(t0 + step * (f64::from(i) + 0.5));
        out.push((r * c, r * s));
    }
    if !closed {
        let (s, c) = math::sin_cos(t1);
        out.push((c, s));
    }
    out
}

pub(super) fn bounds(curve: &Curve, t0: f64, t1: f64) -> Aabb {
    match curve {
        Curve::Line { .. } => box_of(&[curve.point(t0), curve.point(t1)]),
        Curve::Circle { frame, radius } => ellipse_box(frame, *radius, *radius, t0, t1),
        Curve::Ellipse { frame, semi_x, semi_y } => ellipse_box(frame, *semi_x, *semi_y, t0, t1),
        Curve::Parabola { frame, focal: f } => {
            let mut points = vec![curve.point(t0), curve.point(t1)];
            // Coordinate i has its extremum where t x_i + y_i = 0.
            let extremes = (0..3).map(|i| -frame.y[i] / frame.x[i]);
            points.extend(extremes.filter(|t| t0 < *t && *t < t1).map(|t| curve.point(t)));
            box_of(&points).inflated(ROUNDING * f)
        }
        Curve::Hyperbola { frame, semi, semi_imag } => {
            let mut points = vec![curve.point(t0), curve.point(t1)];
            // Coordinate i has its extremum where a x_i sinh t + b y_i cosh t = 0.
            for i in 0..3 {
                let (a, b) = (semi * frame.x[i], semi_imag * frame.y[i]);
                // t = atanh(−b / a)
                let t = 0.5 * math::ln((a - b) / (a + b));
                if t0 < t && t < t1 {
                    points.push(curve.point(t));
                }
            }
            box_of(&points).inflated(ROUNDING * (semi + semi_imag))
        }
        Curve::Bezier(spline) => box_of(&spline.hull_points(t0, t1)),
    }
}

fn ellipse_box(frame: &Frame, a: f64, b: f64, t0: f64, t1: f64) -> Aabb {
    let (mut min, mut max) = (frame.origin, frame.origin);
    for i in 0..3 {
        let (lo, hi) = sinusoid_range(a * frame.x[i], b * frame.y[i], t0, t1);
        let slack = ROUNDING * (frame.origin[i].abs() + a.max(b));
        min[i] += lo - slack;
        max[i] += hi + slack;
    }
    Aabb { min, max }
}

pub(super) fn hull_points(curve: &Curve, t0: f64, t1: f64) -> Vec<P3> {
    let arc = |frame: &Frame, a: f64, b: f64| {
        arc_polygon(t0, t1).into_iter().map(|(c, s)| frame.point(a * c, b * s, 0.0)).collect()
    };
    match curve {
        Curve::Line { .. } => vec![curve.point(t0), curve.point(t1)],
        Curve::Circle { frame, radius } => arc(frame, *radius, *radius),
        Curve::Ellipse { frame, semi_x, semi_y } => arc(frame, *semi_x, *semi_y),
        Curve::Parabola { .. } | Curve::Hyperbola { .. } => {
            // The Bézier control points of two convex halves: the ends and the intersections of their
            // tangents.
            let m = 0.5 * (t0 + t1);
            let mut out = Vec::with_capacity(6);
            for (a, b) in [(t0, m), (m, t1)] {
                out.extend(crate::bezier::BezierSpline::of_curve(curve, a, b).points());
            }
            out
        }
        Curve::Bezier(spline) => spline.hull_points(t0, t1),
    }
}

pub(super) fn tangent_cone(curve: &Curve, t0: f64, t1: f64) -> Option<RevolutionCone> {
    let vectors: Vec<V3> = match curve {
        Curve::Line { dir, .. } => vec![*dir],
        // The direction of these plane curves is monotone, so the tangents at the ends bound all others
        // up to half a turn.
        Curve::Circle { .. } | Curve::Ellipse { .. } => {
            if t1 - t0 >= PI {
                return None;
            }
            vec![curve.derivs(t0).d1, curve.derivs(t1).d1]
        }
        Curve::Parabola { .. } | Curve::Hyperbola { .. } => {
            vec![curve.derivs(t0).d1, curve.derivs(t1).d1]
        }
        Curve::Bezier(spline) => spline.tangent_vectors(t0, t1),
    };
    half_space(&vectors)
}

/// Computes the smallest cone of revolution around vectors of any length. Returns `None` if they do not
/// fit an open half-space.
pub(crate) fn half_space(vectors: &[V3]) -> Option<RevolutionCone> {
    Some(RevolutionCone::around(vectors)).filter(|c| c.half_angle < FRAC_PI_2)
}
