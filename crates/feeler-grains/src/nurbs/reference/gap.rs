//! Smallest gap of the knots of one grain, the slave, to the surface of another, the master.
//!
//! # Source
//! NURBS (3.11), (3.12), §3.2.5: only knots in the bounding box of the master are projected.

use super::{DirectOptions, Knots, closest};
use feeler_geom::bezier::BezierSurface;
use feeler_geom::{Aabb, P3, Pose, V3};

/// Smallest gap of all knots of the slave to the master, and the effort to find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Gap (mm): the coordinate of the knot along the master's outward normal, measured from the
    /// projection. It is negative if the knot is inside the master, and infinite if no knot is near the
    /// master.
    pub gap: f64,
    /// Knot and its projection onto the master, in the master's frame.
    pub points: [P3; 2],
    /// Outward unit normal of the master at the projection.
    pub normal: V3,
    /// Number of projected knots.
    pub projected: u64,
    /// Number of evaluations of the master's surface.
    pub evaluations: u64,
}

/// Projects the `knots`, sample points of the slave's surface in the slave's frame, onto the master, and
/// returns the smallest gap. Knots outside the master's bounding box, enlarged by `reach` (mm) on every
/// side, are omitted; if all are, the gap is infinite. `pose` maps coordinates of the slave to those of
/// the master.
#[must_use]
pub fn deepest_gap(
    master: &BezierSurface,
    knots: &Knots,
    pose: &Pose,
    reach: f64,
    options: &DirectOptions,
) -> Gap {
    let bounds = Aabb::of_points(&master.points()).inflated(reach);
    let mut out = Gap {
        gap: f64::INFINITY,
        points: [P3::origin(); 2],
        normal: V3::zeros(),
        projected: 0,
        evaluations: 0,
    };
    for knot in &knots.points {
        let x = pose * knot;
        if !bounds.contains(&x) {
            continue;
        }
        let found = closest(master, &x, options);
        let normal = master.normal(found.uv);
        out.projected += 1;
        out.evaluations += found.evaluations + 1;
        let gap = (x - found.point).dot(&normal);
        if gap < out.gap {
            (out.gap, out.points, out.normal) = (gap, [x, found.point], normal);
        }
    }
    out
}
