//! How fast the smallest distance can fall where a minimum has one of its footpoints in a given area.
//!
//! A minimum at footpoints p and q with the direction n from A to B changes by `n · v(q)`, v being B's
//! velocity as A sees it; and `n · v(q) = n · v(p)`, for q − p is along n. So the area of either solid alone
//! bounds it: by the directions of its polars and by the field over its box. A plug that slides along its
//! bore closes nothing there, however fast it is, for the normals of the bore are across the field.
//!
//! What turns about the axis of a surface of revolution, or slides along a cylinder or a plane, stays in the
//! surface: of canonical features the field is taken at the centres of their spheres.

use crate::body::Body;
use crate::body::side::Which;
use crate::body::tree::TreeNode;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Obb, P3, Twist, V3};
use feeler_hierarchy::AreaId;

/// Bounds of how fast distances fall, per unit of time; negative where they grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Closing {
    pub least: f64,
    pub most: f64,
}

/// Rounding of directions and of stored cones (rad).
const ROUNDING: f64 = 1e-9;

/// The field towards the other solid: how fast a point of this one comes nearer to it along its own outward
/// direction n is `n · field`.
pub(crate) fn towards(field: &Twist, which: Which) -> Twist {
    match which {
        Which::A => -*field,
        Which::B => *field,
    }
}

/// Of everything below a node; `field` as [`towards`] gives it, in the frame of the solid.
pub(crate) fn below_node(node: &TreeNode, field: &Twist) -> f64 {
    let x = field.at(&node.obb.center);
    let over_box = spread(&node.obb, &field.w);
    let cap = &node.cap;
    let along = cap.axis.dot(&x);
    let length = x.norm();
    // Inside the cone the field itself is a direction.
    let inside = cap.cos <= -1.0 || along >= cap.cos * length;
    let most = if inside {
        length
    } else {
        let across = (length * length - along * along).max(0.0).sqrt();
        along * cap.cos + across * cap.sin
    };
    most + over_box + allowance(node, field, length + over_box)
}

/// Of the area of a leaf.
pub(crate) fn of_area(body: &Body, area: AreaId, node: &TreeNode, field: &Twist) -> Closing {
    let data = &body.features()[body.feature_of(area).index()];
    let cone = &body.area(area).cone.generators;
    let center = node.obb.center;
    let at = |x: V3, over: f64| {
        let most = largest(cone, &x) + over;
        let least = -largest(cone, &-x) - over;
        (Closing { least, most }, x.norm() + over)
    };
    let join = |(x, s): (Closing, f64), (y, t): (Closing, f64)| {
        (Closing { least: x.least.min(y.least), most: x.most.max(y.most) }, s.max(t))
    };
    let (closing, speed) = match &data.primitive {
        Some(Primitive::Point { center, .. }) => at(field.at(center), 0.0),
        Some(Primitive::Plane { normal, .. }) => {
            let x = normal.dot(&field.at(&center));
            let over = spread_along(&node.obb, &field.w.cross(normal));
            (
                Closing { least: x - over, most: x + over },
                field.at(&center).norm() + spread(&node.obb, &field.w),
            )
        }
        Some(Primitive::Line { origin, dir, slope, .. }) => {
            // The normals' planes hold the line: what turns about it is across them.
            let field = without_rotation(field, origin, dir);
            let middle = dir.dot(&(center - origin));
            let half = spread_along(&node.obb, dir);
            if *slope == 0.0 {
                // Normals are across the line: centres have the places of points.
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
    let spare = allowance(node, field, speed);
    Closing { least: closing.least - spare, most: closing.most + spare }
}

/// The field without what turns about a line.
fn without_rotation(field: &Twist, origin: &P3, dir: &V3) -> Twist {
    *field + Twist::rotation(origin, dir * -dir.dot(&field.w))
}

/// What footpoints outside the box, and directions outside the cone, may add.
fn allowance(node: &TreeNode, field: &Twist, speed: f64) -> f64 {
    let (length, angle) = (f64::from(node.allowance.length), f64::from(node.allowance.angle));
    speed * (angle + ROUNDING) + field.w.norm() * length
}

/// Largest length of `w × e`, e from the centre of a box to its points.
fn spread(obb: &Obb, w: &V3) -> f64 {
    obb.axes.iter().zip(obb.half.iter()).map(|(axis, half)| half * w.cross(axis).norm()).sum()
}

/// Largest component of such an e along a vector.
fn spread_along(obb: &Obb, v: &V3) -> f64 {
    obb.axes.iter().zip(obb.half.iter()).map(|(axis, half)| half * axis.dot(v).abs()).sum()
}

/// Largest component of `x` along a direction of a cone, given its generators in order; all directions when
/// there are fewer than three.
fn largest(cone: &[V3], x: &V3) -> f64 {
    let n = cone.len();
    if n < 3 {
        return x.norm();
    }
    let faces = || (0..n).map(|i| (&cone[i], &cone[(i + 1) % n]));
    // Counter-clockwise: the inner side of each face is that of its cross product.
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
        // The part of x in the plane of both, when it is between them.
        let p = x - across * (across.dot(x) / length);
        let between = across.dot(&g.cross(&p)) > 0.0 && across.dot(&p.cross(h)) > 0.0;
        if between { ends.max(p.norm()) } else { ends }
    };
    faces().map(along).fold(f64::NEG_INFINITY, f64::max)
}
