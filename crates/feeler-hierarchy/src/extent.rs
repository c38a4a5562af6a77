//! How far a solid reaches along any direction, from its exact geometry, and boxes from that.
//!
//! The nodes are opened from the farthest box on, until no box that is left reaches beyond a point that has
//! been found. Of leaves, vertices and edges answer for themselves, faces for where they are level. What
//! needs no answer: concave edges (the solid goes on beyond them) and borders between faces of one surface.
//!
//! # Source
//! MATH §18.

use crate::data::{Feature, Hierarchy};
use crate::id::NodeId;
use feeler_geom::{Aabb, Extent, Obb, P3, Pose, V3};
use std::collections::BinaryHeap;

/// Deviations up to this share of the solid's size are those of trimming curves that were fitted to an edge;
/// larger ones are the file's own, and the solid may reach as much farther than its edges tell.
const FITTED: f64 = 1e-7;

/// Room (relative to the solid's size) that is left between the bounds of an extent in boxes.
const TOL: f64 = 1e-8;

/// A node by how far its box reaches.
struct Open {
    upper: f64,
    node: NodeId,
}

feeler_geom::ordered_by!(Open, |a, b| a.upper.total_cmp(&b.upper).then(b.node.cmp(&a.node)));

/// How far a solid reaches along a unit direction in its own coordinates: to rounding where lines, conics and
/// canonical surfaces decide, to `tol` (mm) where splines do. [`Extent::upper`] is proven, up to the
/// deviations of trims that the preparation fitted itself. Larger deviations, those of the file, are added to
/// it. `None` for a hierarchy without nodes.
#[must_use]
pub fn extent(h: &Hierarchy, d: &V3, tol: f64) -> Option<Extent> {
    let root = h.nodes.first()?;
    let fitted = FITTED * 2.0 * root.obb.radius();
    let beyond = |deviation: f64| if deviation > fitted { deviation } else { 0.0 };
    let mut open = BinaryHeap::from([Open { upper: reach(&root.obb, d), node: NodeId(0) }]);
    // Faces come last: what edges and vertices reach spares most of the search on them.
    let mut faces = BinaryHeap::new();
    let mut best: Option<Extent> = None;
    let mut upper = f64::NEG_INFINITY;
    while let Some(next) = open.pop().map(|o| (o, false)).or_else(|| faces.pop().map(|o| (o, true))) {
        let (Open { upper: here, node }, at_faces) = next;
        let floor = best.map_or(f64::NEG_INFINITY, |b| b.lower);
        // What deviations have added is not undone by looking at more.
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
                children.map(|c| Open { upper: here.min(reach(&h.nodes[c.index()].obb, d)), node: c }),
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
                faces.push(Open { upper: here, node });
                None
            }
            Feature::Face(i) => {
                let face = &h.faces[i.index()];
                let e = Extent::of_face(&face.surface, &area.rect, &face.trim, d, floor, tol);
                // The box holds the area, too.
                e.map(|e| Extent { upper: e.upper.min(here).max(e.lower), ..e })
            }
        };
        if let Some(e) = found {
            upper = upper.max(e.upper);
            best = Some(best.map_or(e, |b| b.or_farther(e)));
        }
    }
    // Without anything that answers, the box does.
    let none = Extent { lower: f64::NEG_INFINITY, upper: reach(&root.obb, d), point: root.obb.center };
    Some(best.map_or(none, |b| Extent { upper: upper.max(b.lower), ..b }))
}

fn reach(obb: &Obb, d: &V3) -> f64 {
    let half: f64 = obb.axes.iter().zip(obb.half.iter()).map(|(a, h)| a.dot(d).abs() * h).sum();
    let size = obb.center.coords.amax() + obb.half.amax();
    obb.center.coords.dot(d) + half + 32.0 * f64::EPSILON * size
}

/// The box around a placed solid, along the axes that it is placed in: never smaller than the solid (as
/// [`extent`] has it) and to 1e-6 of its size no larger. Empty for a hierarchy without nodes.
#[must_use]
pub fn placed_box(h: &Hierarchy, pose: &Pose) -> Aabb {
    let Some(root) = h.nodes.first() else { return Aabb::empty() };
    let tol = TOL * 2.0 * root.obb.radius();
    let (mut min, mut max) = (P3::origin(), P3::origin());
    for k in 0..3 {
        let axis = V3::ith(k, 1.0);
        let d = pose.rotation.inverse_transform_vector(&axis);
        let (Some(up), Some(down)) = (extent(h, &d, tol), extent(h, &-d, tol)) else { return Aabb::empty() };
        let t = pose.translation.vector[k];
        // The pose's own rounding.
        let slack = 16.0 * f64::EPSILON * (t.abs() + root.obb.center.coords.amax() + root.obb.radius());
        (min[k], max[k]) = (t - down.upper - slack, t + up.upper + slack);
    }
    Aabb { min, max }
}
