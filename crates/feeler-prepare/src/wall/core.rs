//! Computes the *cores* of surfaces: points from which every point of the surface has the same distance
//! along its normal, as from the centre of a sphere. The thickness of a wall follows from the cores of
//! its two ends. Also computes extents of boxes along cones of directions.
//!
//! # Source
//! MATH §19.

use super::ROUNDING;
use feeler_geom::{Curve, Obb, P3, Rect, Surface, V3, math};

/// Points `o` and a signed radius ρ with `p = o + ρ n` for every point p of a cell and its outward normal
/// n, up to an offset perpendicular to n. The points are the centre of a sphere, points of the axis of a
/// cylinder or of the core circle of a torus, and, with ρ = 0, the apex of a cone or the points p
/// themselves. A wall between two cells has the thickness `ρ_a + ρ_b + (o_a - o_b) · n`, whichever points
/// are used. This is exact for curved surfaces, where bounds by flat cells are not.
pub(super) struct Core {
    /// Box around the points o, in the frame of the solid.
    pub(super) centers: Obb,
    /// Axis of a cylinder, along which the points o may be shifted without changing the thickness;
    /// `None` for other surfaces.
    pub(super) axis: Option<V3>,
    /// Whether p = o + ρ n holds exactly, with the centre of `centers` as o for all points p of the
    /// cell, up to a shift of o along `axis`. It is `true` for spheres and cylinders. At the two ends of
    /// a wall between exact cores, the points o differ by a multiple of n, up to shifts along the axes.
    pub(super) exact: bool,
    /// Signed radius ρ (mm): positive if the outward normal points away from the points o.
    pub(super) radius: f64,
}

/// Half the extent (mm) of a box along a unit vector, that is, its extent from its centre.
pub(super) fn extent(obb: &Obb, d: &V3) -> f64 {
    obb.axes.iter().zip(obb.half.iter()).map(|(a, h)| a.dot(d).abs() * h).sum()
}

/// Maximum absolute component along the unit vector `axis` of the unit vectors in a cone, given by its
/// axis `m` and its half-angle (rad, below π/2).
pub(super) fn max_component((m, angle): (V3, f64), axis: &V3) -> f64 {
    let (sin, cos) = math::sin_cos(angle);
    let c = m.dot(axis).abs();
    if c >= cos { 1.0 } else { c * cos + (1.0 - c * c).max(0.0).sqrt() * sin }
}

/// Upper bound of the extent (mm) of a box from its centre along the unit vectors in a cone, given by
/// its axis and its half-angle (rad).
pub(super) fn max_extent(obb: &Obb, cone: (V3, f64)) -> f64 {
    obb.axes
        .iter()
        .zip(obb.half.iter())
        .map(|(a, h)| if *h > 0.0 { max_component(cone, a) * h } else { 0.0 })
        .sum()
}

/// Computes the [`Core`] of the part of a face over the parameter rectangle `rect`. `obb` is a box
/// around that part, and `outward` is whether the outward normal is the natural normal.
pub(super) fn core(surface: &Surface, outward: bool, rect: &Rect, obb: &Obb) -> Core {
    let side = if outward { 1.0 } else { -1.0 };
    let point = |p: P3| Obb { center: p, axes: obb.axes, half: V3::zeros() };
    match surface {
        Surface::Sphere { frame, radius } => {
            Core { centers: point(frame.origin), axis: None, exact: true, radius: side * radius }
        }
        Surface::Cylinder { frame, radius } => {
            Core { centers: point(frame.origin), axis: Some(frame.z), exact: true, radius: side * radius }
        }
        Surface::Cone { frame, .. } => {
            Core { centers: point(frame.origin), axis: None, exact: false, radius: 0.0 }
        }
        Surface::Torus { frame, major, minor } => {
            let circle = Curve::Circle { frame: *frame, radius: *major };
            let centers = Obb::around(&circle.hull_points(rect.u0, rect.u1), obb.axes);
            // On the inner sheet of a spindle torus the natural normal points into the tube.
            let inner = major + minor * math::cos(rect.center().y) < 0.0;
            Core {
                centers,
                axis: None,
                exact: false,
                radius: if inner { -side * minor } else { side * minor },
            }
        }
        Surface::Plane { .. } | Surface::Bezier(_) => {
            Core { centers: *obb, axis: None, exact: false, radius: 0.0 }
        }
    }
}

/// Offset `o_a - o_b` (mm) between the points of two exact cores, without its components along their
/// axes. Returns `None` if the axes are not parallel or a core is not exact.
pub(super) fn across(a: &Core, b: &Core) -> Option<V3> {
    if !(a.exact && b.exact) {
        return None;
    }
    let offset = a.centers.center - b.centers.center;
    match (a.axis, b.axis) {
        (None, None) => Some(offset),
        (Some(axis), None) | (None, Some(axis)) => Some(offset - axis * offset.dot(&axis)),
        (Some(axis), Some(other)) => {
            (axis.cross(&other).norm() <= ROUNDING).then(|| offset - axis * offset.dot(&axis))
        }
    }
}
