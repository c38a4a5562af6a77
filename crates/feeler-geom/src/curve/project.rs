//! Nearest points, lengths and kinks of curves.
//!
//! # Source
//! Closed forms for lines and circles. Other conics are converted to their exact rational Bézier form
//! (certified global search), and the result is refined in their own parameter.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::Curve;
use crate::bezier::BezierSpline;
use crate::{P3, math};

pub(super) fn project(curve: &Curve, p: &P3, t0: f64, t1: f64) -> f64 {
    let clamp = |t: f64| t.min(t1).max(t0);
    match curve {
        Curve::Line { origin, dir } => clamp((p - origin).dot(dir)),
        Curve::Circle { frame, .. } => {
            let q = frame.local(p);
            let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + frame.origin.coords.amax());
            if math::hypot(q.x, q.y) <= rounding {
                return t0;
            }
            let t = math::wrap(math::atan2(q.y, q.x), t0, TAU);
            // Outside the arc, the end at the smaller angular distance is nearer.
            if t <= t1 || t - t1 <= t0 + TAU - t { t.min(t1) } else { t0 }
        }
        Curve::Ellipse { .. } | Curve::Parabola { .. } | Curve::Hyperbola { .. } => {
            if t1 <= t0 || t0.is_nan() || t1.is_nan() {
                return t0;
            }
            let near = nearest_of_conic(curve, p, t0, t1);
            refined(curve, p, clamp(near), t0, t1)
        }
        Curve::Bezier(spline) => spline.project(p, t0, t1),
    }
}

fn nearest_of_conic(curve: &Curve, p: &P3, t0: f64, t1: f64) -> f64 {
    let spline = BezierSpline::of_curve(curve, t0, t1);
    let q = spline.derivs(spline.project(p, t0, t1)).p;
    match curve {
        Curve::Ellipse { frame, semi_x, semi_y } => {
            let l = frame.local(&q);
            let t = math::wrap(math::atan2(l.y / semi_y, l.x / semi_x), t0, TAU);
            // Rounding may place the end just before the start.
            if t <= t1 || t - t1 <= t0 + TAU - t { t } else { t0 }
        }
        Curve::Parabola { frame, focal } => frame.local(&q).y / (2.0 * focal),
        Curve::Hyperbola { frame, semi_imag, .. } => math::asinh(frame.local(&q).y / semi_imag),
        _ => t0,
    }
}

/// Refines the parameter `start` near a minimum of the distance from `p` by Newton steps within `[t0,
/// t1]`, as long as the distance decreases.
fn refined(curve: &Curve, p: &P3, start: f64, t0: f64, t1: f64) -> f64 {
    let mut t = start;
    let mut d = curve.derivs(t);
    for _ in 0..8 {
        let r = d.p - p;
        let h = d.d1.norm_squared() + r.dot(&d.d2);
        if h <= 0.0 || h.is_nan() {
            break;
        }
        let next = (t - r.dot(&d.d1) / h).min(t1).max(t0);
        let nd = curve.derivs(next);
        // Near the minimum the distance differs by rounding only, so the slope decides.
        let (nr, slack) = (nd.p - p, 16.0 * f64::EPSILON * (r.norm() + p.coords.amax()));
        let flatter = nr.dot(&nd.d1).abs() < 0.5 * r.dot(&d.d1).abs();
        if nr.norm() > r.norm() && !(flatter && nr.norm() <= r.norm() + slack) {
            break;
        }
        let step = (next - t).abs();
        (t, d) = (next, nd);
        if step <= f64::EPSILON * t.abs().max(1.0) {
            break;
        }
    }
    t
}

/// Nodes and weights of seven-point Gauss–Legendre quadrature on [-1, 1].
const GAUSS_LEGENDRE_7: [(f64, f64); 7] = [
    (0.0, 0.417_959_183_673_469_4),
    (0.405_845_151_377_397_2, 0.381_830_050_505_118_9),
    (-0.405_845_151_377_397_2, 0.381_830_050_505_118_9),
    (0.741_531_185_599_394_4, 0.279_705_391_489_276_7),
    (-0.741_531_185_599_394_4, 0.279_705_391_489_276_7),
    (0.949_107_912_342_758_5, 0.129_484_966_168_869_7),
    (-0.949_107_912_342_758_5, 0.129_484_966_168_869_7),
];

/// Length of a curve over a range without breaks by one application of the quadrature rule.
fn gauss(curve: &Curve, t0: f64, t1: f64) -> f64 {
    let (m, h) = (0.5 * (t0 + t1), 0.5 * (t1 - t0));
    GAUSS_LEGENDRE_7.iter().map(|(x, w)| w * curve.derivs(m + h * x).d1.norm()).sum::<f64>() * h
}

/// Divides `[t0, t1]` into ranges over which the curve is smooth: at the breaks of a spline, and into
/// ranges of at most π/2 for conics.
fn pieces(curve: &Curve, t0: f64, t1: f64) -> Vec<(f64, f64)> {
    let mut ends = vec![t0];
    match curve {
        Curve::Line { .. } => {}
        Curve::Bezier(_) => ends.extend(curve.breaks(t0, t1)),
        _ => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the count is small and positive"
            )]
            let n = ((t1 - t0).abs() / FRAC_PI_2).ceil().clamp(1.0, 1e4) as u32;
            ends.extend((1..n).map(|i| t0 + (t1 - t0) * f64::from(i) / f64::from(n)));
        }
    }
    ends.push(t1);
    ends.windows(2).map(|w| (w[0], w[1])).collect()
}

pub(super) fn length_estimate(curve: &Curve, t0: f64, t1: f64) -> f64 {
    match curve {
        Curve::Line { .. } => t1 - t0,
        Curve::Circle { radius, .. } => radius * (t1 - t0),
        _ => pieces(curve, t0, t1).iter().map(|(a, b)| gauss(curve, *a, *b)).sum(),
    }
}

pub(super) fn arc_length(curve: &Curve, t0: f64, t1: f64) -> f64 {
    if matches!(curve, Curve::Line { .. } | Curve::Circle { .. }) {
        return length_estimate(curve, t0, t1);
    }
    let all = pieces(curve, t0, t1);
    let whole: f64 = all.iter().map(|(a, b)| gauss(curve, *a, *b)).sum();
    all.iter().map(|(a, b)| adaptive(curve, *a, *b, gauss(curve, *a, *b), 1e-12 * whole.abs(), 24)).sum()
}

fn adaptive(curve: &Curve, a: f64, b: f64, whole: f64, tol: f64, depth: u32) -> f64 {
    let m = 0.5 * (a + b);
    let (left, right) = (gauss(curve, a, m), gauss(curve, m, b));
    if depth == 0 || (left + right - whole).abs() <= tol {
        return left + right;
    }
    adaptive(curve, a, m, left, 0.5 * tol, depth - 1) + adaptive(curve, m, b, right, 0.5 * tol, depth - 1)
}

pub(super) fn kinks(spline: &BezierSpline, t0: f64, t1: f64, angle_tol: f64) -> Vec<f64> {
    let breaks = crate::bezier::breaks_inside(&spline.breaks, spline.periodic, t0, t1);
    let jump = |t: f64| {
        let u = spline.wrapped(t);
        // Find the nearest break, because wrapping may have moved `u` by an ulp.
        let last = spline.n_pieces();
        let gap = |i: &usize| (spline.breaks[*i] - u).abs();
        let i = (0..=last).min_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
        let (before, after) = if i == 0 || i == last { (last - 1, 0) } else { (i - 1, i) };
        let a = spline.tangent_before(before, spline.breaks[before + 1]);
        let b = spline.tangent_after(after, spline.breaks[after]);
        match (a, b) {
            (Some(a), Some(b)) => math::atan2(a.cross(&b).norm(), a.dot(&b)),
            // A piece without length has no direction and counts as a kink.
            _ => PI,
        }
    };
    breaks.into_iter().filter(|t| jump(*t) > angle_tol).collect()
}
