//! Lower bound of the distance of two surfaces from their pieces.
//!
//! # Source
//! DIST §3.3.2 (broad search by convex hulls), MATH §12.

use crate::pieces::{Link, Pieces, TreeNode};
use feeler_convex::{DistanceOutcome, DistanceRequest, Moved, distance};
use feeler_geom::obb::PoseMatrix;
use feeler_geom::{Obb, Pose};
use std::collections::BinaryHeap;

/// Allowance for the rounding of a distance of two hulls, relative to the largest coordinate. A larger
/// value loosens bounds; with a smaller one a bound could exceed the distance by rounding.
const ROUNDING: f64 = 256.0 * f64::EPSILON;

/// Relative error of distances of hulls at which a search ends; the bound is smaller by as much. A larger
/// value is faster, a smaller one tighter.
const REL_TOL: f64 = 1e-9;

/// Pair of nodes with a lower bound of their distance (mm). Nearer pairs come first.
struct Open {
    lower: f64,
    nodes: [usize; 2],
}

feeler_geom::ordered_by!(Open, |a, b| b.lower.total_cmp(&a.lower).then(b.nodes.cmp(&a.nodes)));

/// Computes a lower bound (mm) of the distance between the surfaces of two bodies. `pose_ab` takes the
/// coordinates of B to those of A.
///
/// The bound is the smallest distance of two pieces minus the allowances ([`Pieces::allowance`]) and
/// rounding, and at least 0. It never exceeds the distance of the surfaces. For a body inside the material
/// of the other one, it can be positive although the bodies overlap, because pieces contain surfaces.
/// The bound is 0 for a pose that is not finite, and infinite if a body has no pieces.
#[must_use]
pub fn distance_bound(a: &Pieces, b: &Pieces, pose_ab: &Pose) -> f64 {
    if a.is_empty() || b.is_empty() {
        return f64::INFINITY;
    }
    let pose = PoseMatrix::from(pose_ab);
    let size = a.reach + b.reach + pose.translation.amax();
    let slack = a.allowance() + b.allowance() + ROUNDING * size;
    if !slack.is_finite() || !pose.rotation.iter().all(|x| x.is_finite()) {
        return 0.0;
    }
    let lower = |i: usize, j: usize| box_distance(&a.nodes[i], &b.nodes[j], &pose);
    let mut open = BinaryHeap::from([Open { lower: lower(0, 0), nodes: [0, 0] }]);
    let mut best = f64::INFINITY;
    while let Some(Open { lower: least, nodes: [i, j] }) = open.pop() {
        if least >= best || best <= slack {
            break;
        }
        match (a.nodes[i].link, b.nodes[j].link) {
            (Link::Piece(p), Link::Piece(q)) => best = best.min(hull_distance(a, p, b, q, pose_ab, best)),
            (Link::Children(children), other) if divides_first(&a.nodes[i], &b.nodes[j], other) => {
                open.extend(children.map(|i| Open { lower: lower(i, j).max(least), nodes: [i, j] }));
            }
            (_, Link::Children(children)) => {
                open.extend(children.map(|j| Open { lower: lower(i, j).max(least), nodes: [i, j] }));
            }
            (Link::Children(_), Link::Piece(_)) => {}
        }
    }
    (best - slack).max(0.0)
}

/// Whether an inner node of A is divided before the node of B with the link `other`.
fn divides_first(a: &TreeNode, b: &TreeNode, other: Link) -> bool {
    matches!(other, Link::Piece(_)) || a.obb.radius() >= b.obb.radius()
}

/// Lower bound of the distance (mm) between two boxes.
fn box_distance(a: &TreeNode, b: &TreeNode, pose: &PoseMatrix) -> f64 {
    let moved: Obb = b.obb.placed(pose);
    a.obb.distance_lower_bound(&moved)
}

/// Lower bound of the distance (mm) between piece `p` of A and piece `q` of B; at least `beyond` if it is
/// larger than that.
fn hull_distance(a: &Pieces, p: usize, b: &Pieces, q: usize, pose_ab: &Pose, beyond: f64) -> f64 {
    // The pose has been checked, so the piece can be placed.
    let Ok(moved) = Moved::new(&b.pieces()[q].hull, pose_ab) else { return 0.0 };
    let request = DistanceRequest { rel_tol: REL_TOL, max_distance: beyond, ..DistanceRequest::default() };
    let result = distance(&a.pieces()[p].hull, &moved, &request);
    match result.outcome {
        DistanceOutcome::Separated | DistanceOutcome::Beyond | DistanceOutcome::Stalled => result.lower_bound,
        DistanceOutcome::Touching | DistanceOutcome::Overlapping | DistanceOutcome::Invalid => 0.0,
    }
}
