//! Boxes and hulls of surfaces over parameter rectangles.

use super::{Rect, Surface};
use crate::bezier::box_of;
use crate::curve::{arc_polygon, sinusoid_range};
use crate::{Aabb, Frame, P3, math};

/// Allowance for the rounding of boxes, relative to the coordinates involved. A larger value loosens
/// boxes; with a smaller one points could lie outside.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Product `c x` in which 0 times infinity is 0: the component of an infinite side perpendicular to a
/// coordinate axis.
fn times(c: f64, x: f64) -> f64 {
    if c == 0.0 { 0.0 } else { c * x }
}

pub(super) fn bounds(surface: &Surface, rect: &Rect) -> Aabb {
    let Rect { u0, u1, v0, v1 } = *rect;
    // `range` returns the range of one coordinate relative to the origin, from the components of the
    // frame's axes in that coordinate.
    let each = |frame: &Frame, size: f64, range: &dyn Fn(f64, f64, f64) -> (f64, f64)| {
        let (mut min, mut max) = (frame.origin, frame.origin);
        for i in 0..3 {
            let (lo, hi) = range(frame.x[i], frame.y[i], frame.z[i]);
            // Infinite sides stay infinite and must not widen the finite ones.
            let reach = [lo, hi].iter().filter(|x| x.is_finite()).fold(size, |m: f64, x| m.max(x.abs()));
            let slack = ROUNDING * (frame.origin[i].abs() + reach);
            min[i] += lo - slack;
            max[i] += hi + slack;
        }
        Aabb { min, max }
    };
    let span = |c: f64, a: f64, b: f64| {
        let (x, y) = (times(c, a), times(c, b));
        (x.min(y), x.max(y))
    };
    let largest = |a: f64, b: f64| if a.is_finite() && b.is_finite() { a.abs().max(b.abs()) } else { 0.0 };
    match surface {
        Surface::Plane { frame } => each(frame, largest(u0, u1) + largest(v0, v1), &|x, y, _| {
            let (a, b) = (span(x, u0, u1), span(y, v0, v1));
            (a.0 + b.0, a.1 + b.1)
        }),
        Surface::Cylinder { frame, radius: r } => each(frame, r + largest(v0, v1), &|x, y, z| {
            let (a, b) = (sinusoid_range(r * x, r * y, u0, u1), span(z, v0, v1));
            (a.0 + b.0, a.1 + b.1)
        }),
        Surface::Cone { frame, half_angle } => {
            let k = math::tan(*half_angle);
            each(frame, largest(v0, v1) * (1.0 + k), &|x, y, z| {
                // Each of the two extreme rulings is linear in v.
                let a = sinusoid_range(k * x, k * y, u0, u1);
                let (p, q) = (span(a.0 + z, v0, v1), span(a.1 + z, v0, v1));
                (p.0.min(q.0), p.1.max(q.1))
            })
        }
        Surface::Sphere { frame, radius } => {
            each(frame, *radius, &|x, y, z| ring_range(0.0, *radius, x, y, z, rect))
        }
        Surface::Torus { frame, major, minor } => {
            each(frame, major + minor, &|x, y, z| ring_range(*major, *minor, x, y, z, rect))
        }
        Surface::Bezier(grid) => box_of(&grid.hull_points(rect)),
    }
}

/// Returns the minimum and the maximum of `(R + r cos v)(x cos u + y sin u) + r z sin v` over a
/// rectangle, with R = `major` and r = `minor`. The expression is linear in the second factor and a
/// sinusoid in `v`.
fn ring_range(major: f64, minor: f64, x: f64, y: f64, z: f64, rect: &Rect) -> (f64, f64) {
    let a = sinusoid_range(x, y, rect.u0, rect.u1);
    let at = |a: f64| {
        let (lo, hi) = sinusoid_range(minor * a, minor * z, rect.v0, rect.v1);
        (major * a + lo, major * a + hi)
    };
    let (p, q) = (at(a.0), at(a.1));
    (p.0.min(q.0), p.1.max(q.1))
}

pub(super) fn hull_points(surface: &Surface, rect: &Rect) -> Vec<P3> {
    let Rect { v0, v1, .. } = *rect;
    match surface {
        Surface::Plane { frame } => rect.corners().map(|c| frame.point(c.x, c.y, 0.0)).to_vec(),
        Surface::Cylinder { frame, radius: r } => product(frame, rect, &[(*r, v0), (*r, v1)]),
        Surface::Cone { frame, half_angle } => {
            let k = math::tan(*half_angle);
            product(frame, rect, &[(k * v0, v0), (k * v1, v1)])
        }
        Surface::Sphere { frame, radius: r } => product(frame, rect, &meridian(0.0, *r, v0, v1)),
        Surface::Torus { frame, major, minor } => product(frame, rect, &meridian(*major, *minor, v0, v1)),
        Surface::Bezier(grid) => grid.hull_points(rect),
    }
}

/// Vertices of a polygon around a meridian arc of a torus or sphere, as pairs (distance from the axis,
/// height).
fn meridian(major: f64, minor: f64, v0: f64, v1: f64) -> Vec<(f64, f64)> {
    arc_polygon(v0, v1).into_iter().map(|(c, s)| (major + minor * c, minor * s)).collect()
}

/// Returns points whose convex hull contains a surface of revolution over a rectangle. Each vertex of
/// the profile (distance a from the axis, height b) is combined with each vertex of the polygon around
/// the arc of longitudes. The surface's points `a e(u) + b z` are bilinear in `(a, b)` and the radial
/// direction `e`, so hulls of both factors give a hull of the product.
fn product(frame: &Frame, rect: &Rect, profile: &[(f64, f64)]) -> Vec<P3> {
    let arc = arc_polygon(rect.u0, rect.u1);
    let mut out = Vec::with_capacity(arc.len() * profile.len());
    for &(a, b) in profile {
        out.extend(arc.iter().map(|&(c, s)| frame.point(a * c, a * s, b)));
    }
    out
}
