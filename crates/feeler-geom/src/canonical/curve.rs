//! Recognition of splines that are lines, circles or ellipses.

use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector};

use super::fit::{circle_through, is_local};
use super::{DEVIATION_MARGIN, Recognised, sample_parameters};
use crate::bezier::{BezierSpline, dehomogenized};
use crate::frame::unit;
use crate::{Aabb, Curve, Frame, P3, V3, math};

/// Number of intervals between the points of the spline that are used for first tests and for fits. A
/// larger value costs time, a smaller one makes fits less reliable.
const FIT_INTERVALS: usize = 24;
/// Maximum deviation of a recognised ellipse, relative to the size of the spline; it covers the errors
/// of fits and of the digits in files. With a larger value shapes are changed; with a smaller one
/// ellipses stay splines.
const ELLIPSE_TOL: f64 = 1e-10;
/// Minimum ratio of the semi-axes of a recognised ellipse. Flatter ones stay splines because their fit
/// is inaccurate; with a smaller value rounding noise decides the fit.
const MIN_AXIS_RATIO: f64 = 1e-3;

pub(super) fn recognised(spline: &BezierSpline, tol: f64) -> Option<Recognised<Curve>> {
    if let Some(line) = line(spline, tol) {
        return Some(line);
    }
    let (t0, t1) = spline.range();
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let points: Vec<P3> = (0..=FIT_INTERVALS)
        .map(|i| spline.derivs(t0 + (t1 - t0) * (i as f64 / FIT_INTERVALS as f64)).p)
        .collect();
    let third = [0, FIT_INTERVALS / 3, 2 * FIT_INTERVALS / 3].map(|i| points[i]);
    let (_, normal) = circle_through(third)?;
    let size = Aabb::of_points(points.iter()).diagonal();
    // Points that are not coplanar are not on a line, a circle or an ellipse.
    if points.iter().any(|p| (p - points[0]).dot(&normal).abs() > tol.max(1e-6 * size)) {
        return None;
    }
    let frame = plane_of(&points, &normal)?;
    // Orient the frame by the direction of the spline.
    let d = spline.derivs(t0);
    let frame_of = |centre: P3, x: V3, z: V3| {
        let z = if z.cross(&(d.p - centre)).dot(&d.d1) < 0.0 { -z } else { z };
        Frame::from_z(centre, z, Some(x))
    };
    let circle = circle(&frame, &points).and_then(|(centre, radius)| {
        is_local(radius, &centre, size, tol).then_some(())?;
        Some(Curve::Circle { frame: frame_of(centre, d.p - centre, frame.z)?, radius })
    });
    if let Some(found) = circle.and_then(|c| checked(spline, c, tol)) {
        return Some(found);
    }
    let tol = tol.min(ELLIPSE_TOL * size);
    let (centre, x, semi_x, semi_y) = ellipse(&frame, &points, size)?;
    checked(spline, Curve::Ellipse { frame: frame_of(centre, x, frame.z)?, semi_x, semi_y }, tol)
}

/// Recognises a line: all control points are within `tol` (mm) of the line through the ends, and in
/// order along it. `None` if they are not.
fn line(spline: &BezierSpline, tol: f64) -> Option<Recognised<Curve>> {
    let first = dehomogenized(spline.control.first()?);
    let last = dehomogenized(spline.control.last()?);
    let dir = unit(last - first)?;
    let mut off = 0.0_f64;
    let mut at = f64::NEG_INFINITY;
    for h in &spline.control {
        let p = dehomogenized(h) - first;
        let along = p.dot(&dir);
        // Degree elevation keeps the order of the control points, up to rounding.
        if along < at - 1e-12 * (1.0 + at.abs()) {
            return None;
        }
        at = along;
        off = off.max((p - dir * along).norm());
    }
    (off <= tol).then_some(Recognised {
        shape: Curve::Line { origin: first, dir },
        same_normal: true,
        deviation: off,
    })
}

/// Least-squares frame of the plane of the points, starting from the plane with the given normal; `None`
/// if the points do not determine it.
fn plane_of(points: &[P3], normal: &V3) -> Option<Frame> {
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let middle = P3::from(points.iter().fold(V3::zeros(), |s, p| s + p.coords) / points.len() as f64);
    let mut frame = Frame::from_z(middle, *normal, None)?;
    for _ in 0..2 {
        // Fit z ≈ a x + b y.
        let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for q in points.iter().map(|p| frame.local(p)) {
            xx += q.x * q.x;
            xy += q.x * q.y;
            yy += q.y * q.y;
            xz += q.x * q.z;
            yz += q.y * q.z;
        }
        let det = xx * yy - xy * xy;
        if det.is_nan() || det <= 1e-14 * xx * yy {
            return None;
        }
        let (a, b) = ((xz * yy - yz * xy) / det, (yz * xx - xz * xy) / det);
        frame = Frame::from_z(middle, frame.vector(-a, -b, 1.0), Some(frame.x))?;
    }
    Some(frame)
}

/// Least-squares fit of a circle to points near the frame's plane, starting from the circle through
/// three of them. Returns centre and radius (mm), or `None` if the points are on a line.
fn circle(frame: &Frame, points: &[P3]) -> Option<(P3, f64)> {
    let third = [0, FIT_INTERVALS / 3, 2 * FIT_INTERVALS / 3].map(|i| points[i]);
    let centre = frame.local(&circle_through(third)?.0);
    let (mut x, mut y) = (centre.x, centre.y);
    let mut radius = 0.0;
    for _ in 0..4 {
        let mut rows = DMatrix::zeros(points.len(), 3);
        let mut rest = DVector::zeros(points.len());
        for (i, q) in points.iter().map(|p| frame.local(p)).enumerate() {
            let (dx, dy) = (q.x - x, q.y - y);
            let d = math::hypot(dx, dy);
            if d.is_nan() || d <= 0.0 {
                return None;
            }
            (rows[(i, 0)], rows[(i, 1)], rows[(i, 2)]) = (dx / d, dy / d, 1.0);
            rest[i] = d - radius;
        }
        let step = rows.svd(true, true).solve(&rest, 1e-14).ok()?;
        x += step[0];
        y += step[1];
        radius += step[2];
    }
    (radius > 0.0).then_some((frame.point(x, y, 0.0), radius))
}

/// Least-squares fit of a conic to points near the frame's plane. Returns the centre, the direction of
/// the first semi-axis, and both semi-axes (mm), or `None` if the conic is not an ellipse.
fn ellipse(frame: &Frame, points: &[P3], size: f64) -> Option<(P3, V3, f64, f64)> {
    // a x² + b x y + c y² + d x + e y = 1 in units of the size, relative to the mean of the points.
    let mut rows = DMatrix::zeros(points.len(), 5);
    let rest = DVector::from_element(points.len(), 1.0);
    // The equation cannot represent a conic through its origin, so the origin is shifted to the mean of
    // the points, which is inside the conic.
    let inner = points.iter().map(|p| frame.local(p)).fold(V3::zeros(), |s, q| s + q);
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let inner = inner / points.len() as f64;
    for (i, q) in points.iter().map(|p| frame.local(p) - inner).enumerate() {
        let (x, y) = (q.x / size, q.y / size);
        let row = [x * x, x * y, y * y, x, y];
        (0..5).for_each(|k| rows[(i, k)] = row[k]);
    }
    let s = rows.svd(true, true).solve(&rest, 1e-15).ok()?;
    let (a, b, c, d, e) = (s[0], s[1], s[2], s[3], s[4]);
    let det = 4.0 * a * c - b * b;
    if det.is_nan() || det <= 0.0 {
        return None;
    }
    let (cx, cy) = ((b * e - 2.0 * c * d) / det, (b * d - 2.0 * a * e) / det);
    // Relative to the centre, the conic is a x² + b x y + c y² = level.
    let level = 1.0 + a * cx * cx + b * cx * cy + c * cy * cy;
    let angle = 0.5 * math::atan2(b, a - c);
    let (sin, cos) = math::sin_cos(angle);
    let along = a * cos * cos + b * cos * sin + c * sin * sin;
    let across = a + c - along;
    let (semi_x, semi_y) = ((level / along).sqrt() * size, (level / across).sqrt() * size);
    let flat = semi_x.min(semi_y) / semi_x.max(semi_y);
    if !semi_x.is_finite() || !semi_y.is_finite() || flat < MIN_AXIS_RATIO {
        return None;
    }
    let centre = frame.point(cx * size + inner.x, cy * size + inner.y, 0.0);
    Some((centre, frame.vector(cos, sin, 0.0), semi_x, semi_y))
}

/// Measures the deviation of the spline from `curve`. `None` if it exceeds `tol` (mm), or if the spline
/// runs backwards on the curve or around it more than once.
fn checked(spline: &BezierSpline, curve: Curve, tol: f64) -> Option<Recognised<Curve>> {
    let (frame, semi_x, semi_y) = match &curve {
        Curve::Circle { frame, radius } => (*frame, *radius, *radius),
        Curve::Ellipse { frame, semi_x, semi_y } => (*frame, *semi_x, *semi_y),
        _ => return None,
    };
    let mut worst = 0.0_f64;
    let mut last: Option<f64> = None;
    let mut first = 0.0;
    for w in spline.breaks.windows(2) {
        for s in sample_parameters(spline.degree) {
            // The exact ends are avoided, because a periodic spline would wrap at its last parameter.
            let t = w[0] + (w[1] - w[0]) * s.clamp(1e-12, 1.0 - 1e-12);
            let p = spline.derivs(t).p;
            let q = frame.local(&p);
            let angle = math::atan2(q.y / semi_y, q.x / semi_x);
            let angle = match last {
                None => angle,
                Some(last) => math::unwrap_near(angle, last, TAU),
            };
            // Near the curve one Newton step gives the nearest point.
            let d = curve.derivs(angle);
            let off = p - d.p;
            let h = d.d1.norm_squared() - off.dot(&d.d2);
            let near = angle + if h > 0.0 { off.dot(&d.d1) / h } else { 0.0 };
            let off = (p - curve.point(near)).norm() * DEVIATION_MARGIN;
            if off.is_nan() || off > tol {
                return None;
            }
            worst = worst.max(off);
            match last {
                None => first = angle,
                Some(last) if angle < last - 1e-9 => return None,
                Some(_) => {}
            }
            last = Some(angle);
        }
    }
    let turned = last? - first;
    (turned > 0.0 && turned <= TAU * (1.0 + 1e-9)).then_some(Recognised {
        shape: curve,
        same_normal: true,
        deviation: worst,
    })
}
