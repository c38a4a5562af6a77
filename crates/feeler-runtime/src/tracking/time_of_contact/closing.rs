//! Bounds of the closing speed: the rate at which the distance of a minimum with a footpoint in a given
//! area of either solid can decrease.
//!
//! The distance of a minimum with footpoints p and q and the direction n from A to B changes at the rate
//! `n · v(q)`, where v is the velocity field of B relative to A. Since q − p is parallel to n, `n · v(q)
//! = n · v(p)`. The area of either solid alone therefore bounds the rate, by the directions of its polars
//! and the field over its box. A plug that slides along its bore has closing speed 0 there at any speed,
//! because the normals of the bore are orthogonal to the field.
//!
//! A surface of revolution that rotates about its axis, and a cylinder or plane that slides along itself,
//! stay in place. For canonical features, the field is therefore evaluated at the centres of their
//! spheres.

use super::cells::max_over_cap;
use crate::body::Body;
use crate::body::side::Which;
use crate::body::tree::TreeNode;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Obb, P3, Twist, V3};
use feeler_hierarchy::AreaId;

/// Bounds of the rate at which a distance decreases (mm per unit of time); negative if the distance grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosingSpeed {
    /// Lower bound of the rate.
    pub min: f64,
    /// Upper bound of the rate.
    pub max: f64,
}

/// Rounding (rad) of directions and of stored cones. A larger value gives looser bounds and slower
/// motions; with a smaller one, bounds are not proved.
const DIRECTION_ROUNDING: f64 = 1e-9;

/// Velocity field of the solid `which` relative to the other one; `field` is that of B relative to A. With
/// the outward direction n of a point of the solid, `n · field` is the speed at which the point approaches
/// the other solid along n.
pub(crate) fn towards(field: &Twist, which: Which) -> Twist {
    match which {
        Which::A => -*field,
        Which::B => *field,
    }
}

/// Upper bound of the closing speed (mm per unit of time) of all areas below a node. `field` is the result
/// of [`towards`] in the frame of the node's solid.
pub(crate) fn max_below_node(node: &TreeNode, field: &Twist) -> f64 {
    let x = field.at(&node.obb.center);
    let over_box = spread(&node.obb, &field.w);
    max_over_cap(&node.cap, &x) + over_box + allowance(node, field.w.norm(), x.norm() + over_box)
}

/// Bounds of the closing speed of an area, or of a piece of it. `node` is the leaf of the area, with the box
/// and the cone of the piece. `field` is the result of [`towards`] in the frame of `body`.
pub(crate) fn of_area(body: &Body, area: AreaId, node: &TreeNode, field: &Twist) -> ClosingSpeed {
    let data = &body.features()[body.feature_of(area).index()];
    let cone = &body.area(area).cone.generators;
    let center = node.obb.center;
    let at = |x: V3, over: f64| {
        let largest = |x: &V3| max_component(cone, x).min(max_over_cap(&node.cap, x));
        let max = largest(&x) + over;
        let min = -largest(&-x) - over;
        (ClosingSpeed { min, max }, x.norm() + over)
    };
    let join = |(x, s): (ClosingSpeed, f64), (y, t): (ClosingSpeed, f64)| {
        (ClosingSpeed { min: x.min.min(y.min), max: x.max.max(y.max) }, s.max(t))
    };
    let (closing, speed) = match &data.primitive {
        Some(Primitive::Point { center, .. }) => at(field.at(center), 0.0),
        Some(Primitive::Plane { normal, .. }) => {
            let x = normal.dot(&field.at(&center));
            let over = spread_along(&node.obb, &field.w.cross(normal));
            (
                ClosingSpeed { min: x - over, max: x + over },
                field.at(&center).norm() + spread(&node.obb, &field.w),
            )
        }
        Some(Primitive::Line { origin, dir, slope, .. }) => {
            // Each normal is in a plane with the line, so a rotation about the line is orthogonal to it.
            let field = without_rotation(field, origin, dir);
            let middle = dir.dot(&(center - origin));
            let half = spread_along(&node.obb, dir);
            if *slope == 0.0 {
                // Normals are orthogonal to the line, so each centre has the same position on it as its
                // points.
                let end = |s: f64| {
                    let x = field.at(&(origin + dir * s));
                    at(x - dir * dir.dot(&x), 0.0)
                };
                join(end(middle - half), end(middle + half))
            } else {
                at(field.at(&center), spread(&node.obb, &field.w))
            }
        }
        Some(Primitive::Circle { frame, .. }) => {
            let field = without_rotation(field, &frame.origin, &frame.z);
            at(field.at(&center), spread(&node.obb, &field.w))
        }
        None => at(field.at(&center), spread(&node.obb, &field.w)),
    };
    let spare = allowance(node, field.w.norm(), speed);
    ClosingSpeed { min: closing.min - spare, max: closing.max + spare }
}

/// Velocity field `field` without its component of rotation about the line through `origin` in the unit
/// direction `dir`. A shape that is symmetric about this line approaches other shapes at the same speed
/// in both fields.
fn without_rotation(field: &Twist, origin: &P3, dir: &V3) -> Twist {
    *field + Twist::rotation(origin, dir * -dir.dot(&field.w))
}

/// Speed (mm per unit of time) by which the bounds of the closing speed over the box and the cone of a
/// node are widened, because footpoints may be outside the box by `node.allowance.length` (mm), and
/// directions outside the cone by `node.allowance.angle` (rad). `rotation` (rad per unit of time) is the
/// field's angular velocity, `speed` an upper bound of its length over the box.
pub(super) fn allowance(node: &TreeNode, rotation: f64, speed: f64) -> f64 {
    let (length, angle) = (f64::from(node.allowance.length), f64::from(node.allowance.angle));
    speed * (angle + DIRECTION_ROUNDING) + rotation * length
}

/// Upper bound of the length of `w × e` over the vectors e from the centre of a box to its points.
fn spread(obb: &Obb, w: &V3) -> f64 {
    obb.axes.iter().zip(obb.half.iter()).map(|(axis, half)| half * w.cross(axis).norm()).sum()
}

/// Largest value of `e · v` over the vectors e from the centre of a box to its points.
pub(super) fn spread_along(obb: &Obb, v: &V3) -> f64 {
    obb.axes.iter().zip(obb.half.iter()).map(|(axis, half)| half * axis.dot(v).abs()).sum()
}

/// Upper bound of the scalar products of `x` with the unit directions of a convex cone, which is given
/// by its generators in counter-clockwise order. Fewer than three generators represent all directions.
fn max_component(cone: &[V3], x: &V3) -> f64 {
    let n = cone.len();
    if n < 3 {
        return x.norm();
    }
    let faces = || (0..n).map(|i| (&cone[i], &cone[(i + 1) % n]));
    // Generators are in counter-clockwise order, so the cross product of two of them points into the cone.
    if faces().all(|(g, h)| g.cross(h).dot(x) >= 0.0) {
        return x.norm();
    }
    let along = |(g, h): (&V3, &V3)| {
        let ends = g.dot(x).max(h.dot(x));
        let across = g.cross(h);
        let length = across.norm_squared();
        if length <= 0.0 {
            return ends;
        }
        // The projection of x onto the plane of both generators counts if it is between them.
        let p = x - across * (across.dot(x) / length);
        let between = across.dot(&g.cross(&p)) > 0.0 && across.dot(&p.cross(h)) > 0.0;
        if between { ends.max(p.norm()) } else { ends }
    };
    faces().map(along).fold(f64::NEG_INFINITY, f64::max)
}
