//! Nearest point of a facet, and the part of the facet that it is on.
//!
//! # Deviations
//! WALL's algorithm is not published beyond "casts the facets in parametric form". Here points on an edge are
//! computed from its smaller vertex, for all facets at the edge alike: two facets whose nearest point is on a
//! common edge have the same point to the bit.

use super::mesh::Mesh;
use feeler_geom::{P3, V3};

/// Part of a facet on which a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FacetRegion {
    /// Interior of the facet.
    Face,
    /// Edge, given by its number in the mesh of the wall.
    Edge(u32),
    /// Vertex, given by its number in the mesh of the wall.
    Vertex(u32),
}

/// Point of a facet nearest to the centre of a sphere, or contact point of a facet with a grain (wall's
/// coordinates).
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    pub(super) point: P3,
    pub(super) distance: f64,
    /// Unit normal from the point to the centre of a sphere, or direction in which a grain is separated
    /// from the facet; `None` if the centre of a sphere is on the facet.
    pub(super) normal: Option<V3>,
    /// Part of the facet on which the point lies, without a tolerance.
    pub(super) region: FacetRegion,
    /// Part of the facet through which its contact can be linked with contacts of other facets: an edge
    /// or a vertex if `point` is within `same_point` of one, else the same as `region`.
    pub(super) linked: FacetRegion,
    /// Signed distance (mm) of the centre from the facet's plane, positive in front.
    pub(super) signed: f64,
    /// Distance (mm) up to which the contact points of this and another facet count as equal.
    pub(super) same_point: f64,
}

impl Mesh {
    /// Signed distance (mm) of the point `x` from a facet's plane, positive in front.
    pub(super) fn height(&self, facet: u32, x: &P3) -> f64 {
        let k = facet as usize;
        self.normals[k].dot(&(x - self.vertices[self.facets[k][0] as usize]))
    }

    /// Computes the point of a facet nearest to `x`.
    pub(super) fn closest(&self, facet: u32, x: &P3) -> Closest {
        let k = facet as usize;
        let corners = self.corners(k);
        let n = self.normals[k];
        let signed = self.height(facet, x);
        let sides = [corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]];
        // Distances of `x` from the edges along the plane, positive inwards.
        let inwards: [f64; 3] =
            std::array::from_fn(|i| n.cross(&sides[i]).dot(&(x - corners[i])) / sides[i].norm());
        if inwards.iter().all(|s| *s >= 0.0) {
            let distance = signed.abs();
            let same_point = SAME_POINT * (self.lengths[k] + distance);
            let normal = (distance > 0.0).then(|| n * signed.signum());
            let linked = self.snapped(facet, &inwards, same_point);
            return Closest {
                point: x - n * signed,
                distance,
                normal,
                region: FacetRegion::Face,
                linked,
                signed,
                same_point,
            };
        }
        // Edges are compared by distances along the plane, because distances from `x` may differ by less than
        // rounding.
        let foot = x - n * signed;
        let mut best: Option<(f64, P3, FacetRegion, FacetRegion)> = None;
        for edge in self.facet_edges[k] {
            let (point, region, linked) = self.closest_on_edge(edge, x);
            let d = (foot - point).norm_squared();
            if best.is_none_or(|(e, _, r, _)| d.total_cmp(&e).then(region.cmp(&r)).is_lt()) {
                best = Some((d, point, region, linked));
            }
        }
        let (_, point, region, linked) =
            best.unwrap_or((0.0, corners[0], FacetRegion::Face, FacetRegion::Face));
        let distance = (x - point).norm();
        let normal = (distance > 0.0).then(|| (x - point) / distance);
        let same_point = SAME_POINT * (self.lengths[k] + distance);
        Closest { point, distance, normal, region, linked, signed, same_point }
    }

    /// Vertex or, else, edge of a facet from which a point of the facet's plane is at most `same_point`
    /// (mm) away; the interior if no vertex or edge is that near. `inwards` are the distances (mm) of the
    /// point from the three edges, positive inwards.
    pub(super) fn snapped(&self, facet: u32, inwards: &[f64; 3], same_point: f64) -> FacetRegion {
        let near: [bool; 3] = inwards.map(|s| s <= same_point);
        let vertices = self.facets[facet as usize];
        // Corner k is between edge k − 1 and edge k.
        let corner = (0..3).filter(|k| near[*k] && near[(*k + 2) % 3]).map(|k| vertices[k]).min();
        if let Some(vertex) = corner {
            return FacetRegion::Vertex(vertex);
        }
        let edges = self.facet_edges[facet as usize];
        (0..3).find(|k| near[*k]).map_or(FacetRegion::Face, |k| FacetRegion::Edge(edges[k]))
    }

    fn closest_on_edge(&self, edge: u32, x: &P3) -> (P3, FacetRegion, FacetRegion) {
        let ends = self.edges[edge as usize];
        let [a, b] = ends.map(|v| self.vertices[v as usize]);
        let along = b - a;
        let length_sq = along.norm_squared();
        let at = (x - a).dot(&along);
        if at <= 0.0 {
            return (a, FacetRegion::Vertex(ends[0]), FacetRegion::Vertex(ends[0]));
        }
        if at >= length_sq {
            return (b, FacetRegion::Vertex(ends[1]), FacetRegion::Vertex(ends[1]));
        }
        let part = at / length_sq;
        let point = a + along * part;
        let linked = if part <= SAME_POINT {
            FacetRegion::Vertex(ends[0])
        } else if part >= 1.0 - SAME_POINT {
            FacetRegion::Vertex(ends[1])
        } else {
            FacetRegion::Edge(edge)
        };
        (point, FacetRegion::Edge(edge), linked)
    }

    /// Whether the open segment from `x` to `p` crosses a facet or one of the facet's edges. A segment
    /// that ends in the facet's plane does not.
    pub(super) fn is_crossed(&self, facet: u32, x: &P3, p: &P3) -> bool {
        let k = facet as usize;
        let n = self.normals[k];
        let [a, b, c] = self.corners(k);
        let (from, to) = (n.dot(&(x - a)), n.dot(&(p - a)));
        let same_point = SAME_POINT * (self.lengths[k] + (p - x).norm());
        // An end in the facet's plane, as on a shared edge, is not a crossing.
        if from.abs() <= same_point || to.abs() <= same_point || (from > 0.0) == (to > 0.0) {
            return false;
        }
        let at = x + (p - x) * (from / (from - to));
        [(a, b), (b, c), (c, a)]
            .iter()
            .all(|(u, v)| n.cross(&(v - u)).dot(&(at - u)) >= -same_point * (v - u).norm())
    }

    /// Whether a facet intersects the plane through `at` with the unit normal `normal`.
    pub(super) fn intersects_plane(&self, facet: u32, at: &P3, normal: &V3) -> bool {
        let sides = self.corners(facet as usize).map(|c| normal.dot(&(c - at)));
        let same_point = SAME_POINT * self.lengths[facet as usize];
        sides.iter().any(|s| *s >= -same_point) && sides.iter().any(|s| *s <= same_point)
    }
}

/// Distance up to which nearest points count as equal, or as on an edge, as a multiple of the sum of the
/// facet's longest side and the distance of its nearest point from the shape's centre. It is some
/// thousand times the rounding of coordinates. With a larger value the contacts of flat hollows become
/// one; with a smaller one a flat wall has two contacts, and twice the force, above an edge.
pub(super) const SAME_POINT: f64 = 1e-11;
