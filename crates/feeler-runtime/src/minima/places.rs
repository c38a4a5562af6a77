//! Parts of the boundary of a solid that can contain the point nearest to a given point, in a tree of
//! boxes. The parts are faces, edges and vertices, and also concave edges and tips, which can be nearest
//! to points inside the material.
//!
//! The stored hierarchy contains all features that can form a minimum of two solids. Queries of points
//! use distances only, and distances from axis-aligned boxes are computed faster.

use crate::api::error::QueryError;
use crate::api::tolerance::Tolerances;
use crate::body::coordinates::{CoordinateRange, point_range};
use crate::body::edge_normals::edge_normals;
use crate::body::{Body, index, outward_normal};
use crate::nearest::tips;
use arrayvec::ArrayVec;
use feeler_geom::{Aabb, P2, P3, V3};
use feeler_hierarchy::{AreaId, EdgeId, FaceId, Feature, VertexId};
use std::sync::Arc;

/// A part of the boundary of a solid that can contain the point nearest to a given point: a whole
/// feature if it has a closed form, otherwise an area of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundaryPart {
    /// A face with a closed form.
    Face(FaceId),
    /// An area of a free-form face.
    Patch(FaceId, AreaId),
    /// A straight or circular edge.
    Edge(EdgeId),
    /// An area of an edge that is neither straight nor circular.
    Curve(EdgeId, AreaId),
    /// A vertex of the solid.
    Vertex(VertexId),
    /// A part of a concave edge, given by its index in the internal list of edge arcs. It can be nearest
    /// only to points inside the material.
    Border(u32),
    /// A tip of a face (the apex of a cone, or a point in which a torus intersects its axis), in the
    /// frame of the solid. It can be nearest only to points inside the material.
    Tip(FaceId, P3),
}

/// Maximum number of entries (parts of the boundary) in a leaf of the tree. A larger value makes the tree
/// smaller and the boxes of its leaves larger.
const MAX_LEAF_ENTRIES: usize = 2;
/// Sine of the angle between faces above which an edge is concave. At smaller angles the nearest points
/// of the adjacent faces suffice, except at a razor. With a larger value, a shortest way out of the
/// material is lost; with a smaller one, adjacent faces are tested twice.
const MIN_CONCAVE_SINE: f64 = 1e-6;

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    /// Index of the first entry of a leaf, or of the first of two adjacent children of an inner node.
    link: u32,
    /// Number of entries of a leaf; 0 for an inner node.
    count: u32,
}

/// Entry of the tree: a part of the boundary or, of a face or edge with a closed form, one of its areas.
/// Several entries can belong to one part.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bounds: Aabb,
    /// Index of the part in [`Boundary::list`].
    place: u32,
}

/// Boundary of a solid, prepared for queries of points by [`PointMinima`](super::PointMinima): its parts
/// in a tree of boxes. It is immutable and can be shared among threads.
#[derive(Clone, Debug)]
pub struct Boundary {
    body: Arc<Body>,
    pub(super) list: Vec<BoundaryPart>,
    pub(super) tol: Tolerances,
    /// Uncertainty (mm) of distances from the borders of faces: their deviation and rounding.
    pub(super) slack: f64,
    nodes: Vec<Node>,
    entries: Vec<Entry>,
    /// Edges that end in vertices, each with the edge's parameter at the vertex, sorted by vertex.
    ends: Vec<(VertexId, EdgeId, f64)>,
}

impl Boundary {
    /// Whether a point `p` (frame of the solid) can be queried. `false` means that rounding of its
    /// coordinates is too large, but the boundary is certainly farther than `reach` (mm).
    ///
    /// # Errors
    /// [`QueryError::Point`] if the point is not finite; [`QueryError::CoordinatesTooLarge`] if rounding of
    /// its coordinates exceeds a tenth of the tolerance and the boundary may be within reach.
    pub fn can_reach(&self, p: &P3, reach: f64) -> Result<bool, QueryError> {
        Ok(point_range(&self.body, p, reach)? == CoordinateRange::Within)
    }

    /// Prepares the boundary of a solid for queries.
    #[must_use]
    pub fn new(body: Arc<Body>) -> Self {
        let shared = body.clone();
        let body = &*body;
        let tol = Tolerances::of_lengths(body.size().max(f64::MIN_POSITIVE), body.reach(), None);
        let mut list: Vec<BoundaryPart> = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        for data in body.features() {
            if data.quasi_only {
                continue;
            }
            let margin = data.deviation + 2.0 * tol.trim;
            let boxed = |area: AreaId| {
                let obb = &body.node(body.leaf_of_area(area)).obb;
                let by_obb = Aabb::of_points(&obb.corners());
                let rect = &body.area(area).rect;
                let own = match data.feature {
                    Feature::Face(f) => body.face(f).surface.bounds(rect),
                    Feature::Edge(e) => body.edge(e).curve.bounds(rect.u0, rect.u1),
                    Feature::Vertex(_) => by_obb,
                };
                let both = Aabb { min: by_obb.min.sup(&own.min), max: by_obb.max.inf(&own.max) };
                let is_valid =
                    !both.is_empty() && both.min.iter().chain(both.max.iter()).all(|c| c.is_finite());
                (if is_valid { both } else { by_obb }).inflated(margin)
            };
            let areas = body.areas_of(data);
            let whole = match data.feature {
                Feature::Face(f) if body.face(f).surface.is_canonical() => Some(BoundaryPart::Face(f)),
                Feature::Edge(e) if data.primitive.is_some() => Some(BoundaryPart::Edge(e)),
                Feature::Vertex(v) => Some(BoundaryPart::Vertex(v)),
                _ => None,
            };
            if let Some(place) = whole {
                let number = index(list.len());
                list.push(place);
                entries.extend(areas.iter().map(|&a| Entry { bounds: boxed(a), place: number }));
                continue;
            }
            for &area in areas {
                entries.push(Entry { bounds: boxed(area), place: index(list.len()) });
                list.push(match data.feature {
                    Feature::Face(f) => BoundaryPart::Patch(f, area),
                    Feature::Edge(e) => BoundaryPart::Curve(e, area),
                    Feature::Vertex(v) => BoundaryPart::Vertex(v),
                });
            }
        }
        borders(body, &tol, &mut list, &mut entries);
        let mut nodes = Vec::new();
        if !entries.is_empty() {
            nodes.push(Node { bounds: Aabb::empty(), link: 0, count: 0 });
            let n = entries.len();
            build(&mut entries, 0..n, 0, &mut nodes);
        }
        let slack = tol.trim + 2.0 * body.deviation();
        let mut boundary = Self { body: shared.clone(), list, tol, slack, nodes, entries, ends: Vec::new() };
        boundary.ends = boundary.edge_ends();
        boundary
    }

    fn edge_ends(&self) -> Vec<(VertexId, EdgeId, f64)> {
        let (mut stack, mut near, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for place in &self.list {
            let BoundaryPart::Vertex(v) = *place else { continue };
            let vertex = self.body.vertex(v);
            let margin = vertex.deviation + self.tol.trim;
            self.within(&vertex.point, margin, &mut stack, &mut near);
            let mut edges: Vec<EdgeId> = Vec::new();
            for &k in &near {
                match self.list[k as usize] {
                    BoundaryPart::Edge(e) | BoundaryPart::Curve(e, _) if !edges.contains(&e) => edges.push(e),
                    _ => {}
                }
            }
            for e in edges {
                let edge = self.body.edge(e);
                for span in &edge.spans {
                    let is_end =
                        |t: &f64| (edge.curve.point(*t) - vertex.point).norm() <= margin + span.deviation;
                    ends.extend([span.t0, span.t1].into_iter().filter(is_end).map(|t| (v, e, t)));
                }
            }
        }
        ends.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2)));
        ends
    }

    /// Edges that end in a vertex, except concave and smooth edges, each with the edge's parameter at
    /// the vertex.
    pub(super) fn ends_at(&self, v: VertexId) -> &[(VertexId, EdgeId, f64)] {
        let first = self.ends.partition_point(|end| end.0 < v);
        let count = self.ends[first..].partition_point(|end| end.0 == v);
        &self.ends[first..first + count]
    }

    /// Returns the solid that the boundary belongs to.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Returns the part with a number from [`PointMinima::places`](super::PointMinima::places).
    ///
    /// # Panics
    /// If the boundary has no part with this number.
    #[must_use]
    pub fn place(&self, number: u32) -> BoundaryPart {
        self.list[number as usize]
    }

    /// Writes to `out` the sorted numbers of the parts whose boxes are within `radius` (mm) of `p`,
    /// without duplicates.
    pub(super) fn within(&self, p: &P3, radius: f64, stack: &mut Vec<(f64, u32)>, out: &mut Vec<u32>) {
        out.clear();
        stack.clear();
        stack.extend((!self.nodes.is_empty()).then_some((0.0, 0)));
        let sq = radius * radius;
        while let Some((_, i)) = stack.pop() {
            let node = &self.nodes[i as usize];
            if distance_sq(&node.bounds, p) > sq {
                continue;
            }
            if node.count == 0 {
                stack.extend([(0.0, node.link), (0.0, node.link + 1)]);
                continue;
            }
            let entries = &self.entries[node.link as usize..(node.link + node.count) as usize];
            out.extend(entries.iter().filter(|e| distance_sq(&e.bounds, p) <= sq).map(|e| e.place));
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Calls `visit` with the number of each part, roughly by increasing distance of their boxes from
    /// `p`, and with the current limit (mm). The limit is the smallest value that `visit` has returned;
    /// boxes beyond it are skipped.
    pub(super) fn nearest_first(
        &self,
        p: &P3,
        stack: &mut Vec<(f64, u32)>,
        mut visit: impl FnMut(u32, f64) -> f64,
    ) {
        let mut limit = f64::INFINITY;
        stack.clear();
        stack.extend((!self.nodes.is_empty()).then(|| (distance_sq(&self.nodes[0].bounds, p), 0)));
        while let Some((sq, i)) = stack.pop() {
            if sq > limit * limit {
                continue;
            }
            let node = &self.nodes[i as usize];
            if node.count == 0 {
                let [a, b] = [node.link, node.link + 1]
                    .map(|child| (distance_sq(&self.nodes[child as usize].bounds, p), child));
                stack.extend(if a.0 < b.0 { [b, a] } else { [a, b] });
                continue;
            }
            for entry in &self.entries[node.link as usize..(node.link + node.count) as usize] {
                if distance_sq(&entry.bounds, p) <= limit * limit {
                    limit = limit.min(visit(entry.place, limit));
                }
            }
        }
    }
}

/// Squared distance (mm²) of a point from a box that is not empty.
fn distance_sq(b: &Aabb, p: &P3) -> f64 {
    let d = (b.min - p).sup(&(p - b.max)).sup(&V3::zeros());
    d.norm_squared()
}

fn build(entries: &mut [Entry], range: std::ops::Range<usize>, k: usize, nodes: &mut Vec<Node>) {
    let part = &mut entries[range.clone()];
    nodes[k].bounds = part.iter().fold(Aabb::empty(), |b, e| b.union(&e.bounds));
    if part.len() <= MAX_LEAF_ENTRIES {
        nodes[k].link = index(range.start);
        nodes[k].count = index(part.len());
        return;
    }
    let spread = part.iter().fold(Aabb::empty(), |b, e| b.union(&Aabb::of_points(&[e.bounds.center()])));
    let axis = (spread.max - spread.min).imax();
    let center = |e: &Entry| e.bounds.min[axis] + e.bounds.max[axis];
    // Entries at equal positions keep their order.
    part.sort_by(|x, y| center(x).total_cmp(&center(y)));
    let middle = range.start + part.len() / 2;
    let child = nodes.len();
    nodes[k].link = index(child);
    let blank = nodes[k];
    nodes.extend([blank, blank]);
    build(entries, range.start..middle, child, nodes);
    build(entries, middle..range.end, child + 1, nodes);
}

/// Adds the arcs of concave edges and the tips of faces to the parts and to the entries of the tree.
fn borders(body: &Body, tol: &Tolerances, list: &mut Vec<BoundaryPart>, entries: &mut Vec<Entry>) {
    let arcs = body.edge_arcs();
    for (i, arc) in arcs.list.iter().enumerate() {
        let (own, other) = (body.face(arc.face), body.face(arc.beside));
        let is_concave = [0.0, 0.25, 0.5, 0.75, 1.0].iter().any(|&s| {
            let uv = arc.piece.eval(s);
            let d = own.surface.derivs(uv);
            let along = arc.piece.derivative(s);
            let Some(tangent) = (d.du * along.x + d.dv * along.y).try_normalize(0.0) else { return false };
            // The face lies to the left of a trimming piece.
            let natural = own.surface.normal(uv);
            let into = natural.cross(&tangent);
            let beyond = outward_normal(other, other.surface.invert(&d.p, None, Some(&other.trim.rect)));
            let sine = into.dot(&beyond);
            // For opposite normals, only curvatures distinguish a blade from a slit that ends in an edge
            // without an angle. A blade that is added as a concave edge does no harm, because it is also an
            // edge at the same distance.
            let is_razor = sine.abs() <= MIN_CONCAVE_SINE && outward_normal(own, uv).dot(&beyond) < 0.0;
            arc.beside != arc.face && (sine > MIN_CONCAVE_SINE || is_razor)
        });
        if is_concave {
            let bounds = Aabb::of_points(&arc.samples).inflated(arc.bend / 32.0 + 2.0 * tol.trim);
            entries.push(Entry { bounds, place: index(list.len()) });
            list.push(BoundaryPart::Border(index(i)));
        }
    }
    for data in body.features() {
        let Feature::Face(f) = data.feature else { continue };
        let face = body.face(f);
        for tip in tips(&face.surface) {
            let is_on_face = body
                .areas_of(data)
                .iter()
                .any(|&area| body.node(body.leaf_of_area(area)).obb.contains(&tip, 1e-9 * body.size()));
            if is_on_face {
                let bounds = Aabb { min: tip, max: tip }.inflated(2.0 * tol.trim);
                entries.push(Entry { bounds, place: index(list.len()) });
                list.push(BoundaryPart::Tip(f, tip));
            }
        }
    }
}

/// Unit direction in the middle of the polar of an edge at parameter `t`; `None` for a concave edge and
/// at a singular point of the curve.
pub(super) fn polar_middle(body: &Body, edge: EdgeId, t: f64) -> Option<V3> {
    let normals = edge_normals(body, edge, t)?;
    (normals.dihedral() >= 0.0).then(|| normals.middle().0)
}

/// At most `N` of the given parameters, evenly spread over the list.
pub(super) fn spread<const N: usize>(inside: &[P2]) -> ArrayVec<P2, N> {
    if inside.len() <= N {
        return inside.iter().copied().collect();
    }
    (0..N).map(|j| inside[(2 * j + 1) * inside.len() / (2 * N)]).collect()
}
