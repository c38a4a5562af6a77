//! Cores of surfaces, of which walls are sums, and boxes seen along cones.
//!
//! # Source
//! MATH §19.

use super::ROUNDING;
use feeler_geom::{Curve, Obb, P3, Rect, Surface, V3, math};

/// Places `o` and a signed radius ρ with `p = o + ρ n` for every point p of a cell and its outward normal n,
/// but for an offset across n: the centre of a sphere, points of the axis of a cylinder, of the core circle
/// of a torus; the apex of a cone, and the points themselves, with ρ = 0. A wall between two cells is as
/// thick as `ρ_a + ρ_b + (o_a - o_b) · n`, whichever the points: exact where cells that are flat are not.
pub(super) struct Core {
    pub(super) places: Obb,
    /// Along it all places will do.
    pub(super) axis: Option<V3>,
    /// Nothing is across n, but along the axis: two such places differ by a multiple of n.
    pub(super) exact: bool,
    pub(super) radius: f64,
}

/// How far a box reaches from its centre along a unit vector.
pub(super) fn extent(obb: &Obb, d: &V3) -> f64 {
    obb.axes.iter().zip(obb.half.iter()).map(|(a, h)| a.dot(d).abs() * h).sum()
}

/// The largest component along a unit vector, to either side, of unit vectors in a cone.
pub(super) fn most_along((m, angle): (V3, f64), axis: &V3) -> f64 {
    let (sin, cos) = math::sin_cos(angle);
    let c = m.dot(axis).abs();
    if c >= cos { 1.0 } else { c * cos + (1.0 - c * c).max(0.0).sqrt() * sin }
}

/// How far a box reaches at most from its centre along unit vectors in a cone.
pub(super) fn widest(obb: &Obb, cone: (V3, f64)) -> f64 {
    obb.axes
        .iter()
        .zip(obb.half.iter())
        .map(|(a, h)| if *h > 0.0 { most_along(cone, a) * h } else { 0.0 })
        .sum()
}

/// See [`Core`]; of the part of a face in `obb`.
pub(super) fn core(surface: &Surface, outward: bool, rect: &Rect, obb: &Obb) -> Core {
    let side = if outward { 1.0 } else { -1.0 };
    let point = |p: P3| Obb { center: p, axes: obb.axes, half: V3::zeros() };
    match surface {
        Surface::Sphere { frame, radius } => {
            Core { places: point(frame.origin), axis: None, exact: true, radius: side * radius }
        }
        Surface::Cylinder { frame, radius } => {
            Core { places: point(frame.origin), axis: Some(frame.z), exact: true, radius: side * radius }
        }
        Surface::Cone { frame, .. } => {
            Core { places: point(frame.origin), axis: None, exact: false, radius: 0.0 }
        }
        Surface::Torus { frame, major, minor } => {
            let circle = Curve::Circle { frame: *frame, radius: *major };
            let places = Obb::around(&circle.hull_points(rect.u0, rect.u1), obb.axes);
            // On the inner sheet of a spindle torus the natural normal points into the tube.
            let inner = major + minor * math::cos(rect.center().y) < 0.0;
            Core {
                places,
                axis: None,
                exact: false,
                radius: if inner { -side * minor } else { side * minor },
            }
        }
        Surface::Plane { .. } | Surface::Bezier(_) => {
            Core { places: *obb, axis: None, exact: false, radius: 0.0 }
        }
    }
}

/// The offset from the place of one exact core to that of another, less what is along their axes; none when
/// these differ.
pub(super) fn across(a: &Core, b: &Core) -> Option<V3> {
    if !(a.exact && b.exact) {
        return None;
    }
    let offset = a.places.center - b.places.center;
    match (a.axis, b.axis) {
        (None, None) => Some(offset),
        (Some(axis), None) | (None, Some(axis)) => Some(offset - axis * offset.dot(&axis)),
        (Some(axis), Some(other)) => {
            (axis.cross(&other).norm() <= ROUNDING).then(|| offset - axis * offset.dot(&axis))
        }
    }
}
