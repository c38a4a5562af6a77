//! Extents of a solid along directions, computed from its exact geometry, and boxes derived from them.
//!
//! Nodes of the tree are opened in order of decreasing upper bounds of their extents, until no remaining
//! box extends beyond the farthest point found so far. Leaves of vertices and edges give extents of
//! their own; leaves of faces give those of the points whose normal is parallel to the direction.
//! Concave edges and edges between two faces on one surface have no leaves, because the solid extends
//! beyond them.
//!
//! # Source
//! MATH §18.

use crate::data::{Feature, Hierarchy};
use crate::id::NodeId;
use feeler_geom::{Aabb, Extent, Obb, P3, Pose, V3};
use std::collections::BinaryHeap;

/// Maximum deviation, relative to the solid's size, that is attributed to fitting trimming curves to an
/// edge. Larger deviations come from the file: the solid may extend beyond its edges by as much, so they
/// enlarge the extent. A larger value gives boxes that are too small, a smaller one gives looser boxes.
const MAX_FIT_DEVIATION: f64 = 1e-7;

/// Difference between the upper and the lower bound of an extent, relative to the solid's size, at which
/// the search for a side of a box stops. A larger value gives looser boxes, a smaller one takes more
/// time.
const BOX_TOL: f64 = 1e-8;

/// Node whose content has not been searched yet. Nodes are ordered by `upper`, the upper bound (mm) of
/// the extent of the node's box along the direction.
struct OpenNode {
    upper: f64,
    node: NodeId,
}

feeler_geom::ordered_by!(OpenNode, |a, b| a.upper.total_cmp(&b.upper).then(b.node.cmp(&a.node)));

/// Computes the extent of a solid along a unit direction in the solid's own frame. The lower and the
/// upper bound agree up to rounding if the extreme point lies on a line, a conic or a canonical surface,
/// and up to `tol` (mm) if it lies on a spline. [`Extent::upper`] is a proven upper bound, except for
/// small deviations of trims that come from fitting during preparation. Larger deviations, which come
/// from the input file, are added to the bound. Returns `None` for a hierarchy without nodes.
#[must_use]
pub fn extent(h: &Hierarchy, d: &V3, tol: f64) -> Option<Extent> {
    let root = h.nodes.first()?;
    let fitted = MAX_FIT_DEVIATION * 2.0 * root.obb.radius();
    let beyond = |deviation: f64| if deviation > fitted { deviation } else { 0.0 };
    let mut open = BinaryHeap::from([OpenNode { upper: reach(&root.obb, d), node: NodeId(0) }]);
    // Faces are searched last, because the extents of edges and vertices prune most of them.
    let mut faces = BinaryHeap::new();
    let mut best: Option<Extent> = None;
    let mut upper = f64::NEG_INFINITY;
    while let Some(next) = open.pop().map(|o| (o, false)).or_else(|| faces.pop().map(|o| (o, true))) {
        let (OpenNode { upper: here, node }, at_faces) = next;
        let floor = best.map_or(f64::NEG_INFINITY, |b| b.lower);
        // Opening this node cannot lower the upper bound, which deviations may have enlarged.
        if here <= upper.max(floor) {
            if at_faces {
                break;
            }
            open.clear();
            continue;
        }
        let of = &h.nodes[node.index()];
        if let Some(children) = of.children() {
            open.extend(
                children.map(|c| OpenNode { upper: here.min(reach(&h.nodes[c.index()].obb, d)), node: c }),
            );
            continue;
        }
        let Some(area) = of.area().map(|a| &h.areas[a.index()]) else { continue };
        let found = match area.feature {
            Feature::Vertex(i) => {
                let v = &h.vertices[i.index()];
                let e = Extent::of_vertex(v.point, d);
                Some(Extent { upper: e.upper + beyond(v.deviation), ..e })
            }
            Feature::Edge(i) => {
                let edge = &h.edges[i.index()];
                let deviation = edge.spans.iter().fold(0.0, |m: f64, s| m.max(s.deviation));
                let e = Extent::of_curve(&edge.curve, (area.rect.u0, area.rect.u1), d, floor, tol);
                Some(Extent { upper: e.upper + beyond(deviation), ..e })
            }
            Feature::Face(_) if !at_faces => {
                faces.push(OpenNode { upper: here, node });
                None
            }
            Feature::Face(i) => {
                let face = &h.faces[i.index()];
                let e = Extent::of_face(&face.surface, &area.rect, &face.trim, d, floor, tol);
                // The box is a bound of the area, too.
                e.map(|e| Extent { upper: e.upper.min(here).max(e.lower), ..e })
            }
        };
        if let Some(e) = found {
            upper = upper.max(e.upper);
            best = Some(best.map_or(e, |b| b.or_farther(e)));
        }
    }
    // If no feature has an extent, the box of the root bounds the solid.
    let of_box = Extent { lower: f64::NEG_INFINITY, upper: reach(&root.obb, d), point: root.obb.center };
    Some(best.map_or(of_box, |b| Extent { upper: upper.max(b.lower), ..b }))
}

/// Computes an upper bound of the extent of a box along the unit direction `d` (mm), including rounding.
fn reach(obb: &Obb, d: &V3) -> f64 {
    let half: f64 = obb.axes.iter().zip(obb.half.iter()).map(|(a, h)| a.dot(d).abs() * h).sum();
    let size = obb.center.coords.amax() + obb.half.amax();
    obb.center.coords.dot(d) + half + 32.0 * f64::EPSILON * size
}

/// Computes the axis-aligned box of a placed solid in the world frame. The box contains the solid, with
/// the guarantee of [`extent`], and exceeds it by at most 1e-6 of its size. It is empty for a hierarchy
/// without nodes.
#[must_use]
pub fn placed_box(h: &Hierarchy, pose: &Pose) -> Aabb {
    let Some(root) = h.nodes.first() else { return Aabb::empty() };
    let tol = BOX_TOL * 2.0 * root.obb.radius();
    let (mut min, mut max) = (P3::origin(), P3::origin());
    for k in 0..3 {
        let axis = V3::ith(k, 1.0);
        let d = pose.rotation.inverse_transform_vector(&axis);
        let (Some(up), Some(down)) = (extent(h, &d, tol), extent(h, &-d, tol)) else { return Aabb::empty() };
        let t = pose.translation.vector[k];
        // Rounding of the pose.
        let slack = 16.0 * f64::EPSILON * (t.abs() + root.obb.center.coords.amax() + root.obb.radius());
        (min[k], max[k]) = (t - down.upper - slack, t + up.upper + slack);
    }
    Aabb { min, max }
}
