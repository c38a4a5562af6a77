//! The point of a facet that is nearest to a ball, and which part of the facet it is on.
//!
//! # Deviations
//! WALL's algorithm is not published beyond "casts the facets in parametric form". Here an edge
//! is computed from its smaller vertex on, by all facets at it alike: two facets whose nearest point is on a
//! common edge have the same point to the bit.

use super::mesh::Mesh;
use feeler_geom::{P3, V3};

/// Where on a facet a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Region {
    /// Inside.
    Face,
    /// On an edge, which has a number in the wall.
    Edge(u32),
    /// At a vertex, which has a number in the wall.
    Vertex(u32),
}

/// The nearest point of a facet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    pub(super) point: P3,
    pub(super) distance: f64,
    /// Unit normal from the point to the ball's centre; none where the centre is on the facet.
    pub(super) normal: Option<V3>,
    /// Where it is by computation.
    pub(super) region: Region,
    /// Where it is for links: on an edge or a vertex if it is within rounding of one.
    pub(super) linked: Region,
    /// Signed distance of the ball's centre from the facet's plane.
    pub(super) signed: f64,
    /// Points nearer to each other than this (mm) are the same.
    pub(super) same: f64,
}

impl Mesh {
    /// Signed distance of a point from a facet's plane.
    pub(super) fn height(&self, facet: u32, x: &P3) -> f64 {
        let k = facet as usize;
        self.normals[k].dot(&(x - self.vertices[self.facets[k][0] as usize]))
    }

    /// The point of a facet nearest to `x`.
    pub(super) fn closest(&self, facet: u32, x: &P3) -> Closest {
        let k = facet as usize;
        let corners = self.corners(k);
        let n = self.normals[k];
        let signed = self.height(facet, x);
        let sides = [corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]];
        // Distances of the ball's centre from the edges along the plane, positive inwards.
        let inwards: [f64; 3] =
            std::array::from_fn(|i| n.cross(&sides[i]).dot(&(x - corners[i])) / sides[i].norm());
        if inwards.iter().all(|s| *s >= 0.0) {
            let distance = signed.abs();
            let same = SAME * (self.lengths[k] + distance);
            let normal = (distance > 0.0).then(|| n * signed.signum());
            let linked = self.snapped(facet, &inwards, same);
            return Closest {
                point: x - n * signed,
                distance,
                normal,
                region: Region::Face,
                linked,
                signed,
                same,
            };
        }
        // Distances along the plane tell edges apart where those from the ball's centre differ by less than
        // rounding.
        let foot = x - n * signed;
        let mut best: Option<(f64, P3, Region, Region)> = None;
        for edge in self.facet_edges[k] {
            let (point, region, linked) = self.closest_on_edge(edge, x);
            let d = (foot - point).norm_squared();
            if best.is_none_or(|(e, _, r, _)| d.total_cmp(&e).then(region.cmp(&r)).is_lt()) {
                best = Some((d, point, region, linked));
            }
        }
        let (_, point, region, linked) = best.unwrap_or((0.0, corners[0], Region::Face, Region::Face));
        let distance = (x - point).norm();
        let normal = (distance > 0.0).then(|| (x - point) / distance);
        let same = SAME * (self.lengths[k] + distance);
        Closest { point, distance, normal, region, linked, signed, same }
    }

    /// The edge or the vertex of a facet that a point inside is within rounding of.
    pub(super) fn snapped(&self, facet: u32, inwards: &[f64; 3], same: f64) -> Region {
        let near: [bool; 3] = inwards.map(|s| s <= same);
        let vertices = self.facets[facet as usize];
        // Corner k is between edge k − 1 and edge k.
        let corner = (0..3).filter(|k| near[*k] && near[(*k + 2) % 3]).map(|k| vertices[k]).min();
        if let Some(vertex) = corner {
            return Region::Vertex(vertex);
        }
        let edges = self.facet_edges[facet as usize];
        (0..3).find(|k| near[*k]).map_or(Region::Face, |k| Region::Edge(edges[k]))
    }

    fn closest_on_edge(&self, edge: u32, x: &P3) -> (P3, Region, Region) {
        let ends = self.edges[edge as usize];
        let [a, b] = ends.map(|v| self.vertices[v as usize]);
        let along = b - a;
        let length_sq = along.norm_squared();
        let at = (x - a).dot(&along);
        if at <= 0.0 {
            return (a, Region::Vertex(ends[0]), Region::Vertex(ends[0]));
        }
        if at >= length_sq {
            return (b, Region::Vertex(ends[1]), Region::Vertex(ends[1]));
        }
        let part = at / length_sq;
        let point = a + along * part;
        let linked = if part <= SAME {
            Region::Vertex(ends[0])
        } else if part >= 1.0 - SAME {
            Region::Vertex(ends[1])
        } else {
            Region::Edge(edge)
        };
        (point, Region::Edge(edge), linked)
    }

    /// Whether the open segment from `x` to `p` passes through a facet; touching its border counts.
    pub(super) fn is_crossed(&self, facet: u32, x: &P3, p: &P3) -> bool {
        let k = facet as usize;
        let n = self.normals[k];
        let [a, b, c] = self.corners(k);
        let (from, to) = (n.dot(&(x - a)), n.dot(&(p - a)));
        let same = SAME * (self.lengths[k] + (p - x).norm());
        // The end may lie in the facet's plane, as on a shared edge: that is no crossing.
        if from.abs() <= same || to.abs() <= same || (from > 0.0) == (to > 0.0) {
            return false;
        }
        let at = x + (p - x) * (from / (from - to));
        [(a, b), (b, c), (c, a)]
            .iter()
            .all(|(u, v)| n.cross(&(v - u)).dot(&(at - u)) >= -same * (v - u).norm())
    }

    /// Whether a facet has points on both sides of a plane, or on it.
    pub(super) fn meets_plane(&self, facet: u32, at: &P3, normal: &V3) -> bool {
        let sides = self.corners(facet as usize).map(|c| normal.dot(&(c - at)));
        let same = SAME * self.lengths[facet as usize];
        sides.iter().any(|s| *s >= -same) && sides.iter().any(|s| *s <= same)
    }
}

/// Nearest points are the same, or on an edge, up to this part of a facet's longest side and of the distance:
/// some thousand times the rounding of their coordinates.
pub(super) const SAME: f64 = 1e-11;
