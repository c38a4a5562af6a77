//! Mesh of triangles with adjacency, numbered by position.
//!
//! Equal points are one vertex. Vertices are numbered by their coordinates, facets by their vertices, and a
//! facet begins with its smallest vertex. No result therefore depends on the order of the input.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::error::FacetError;
use feeler_geom::{P3, V3};
use std::cmp::Ordering;

/// Marks a missing facet, link or group.
pub(super) const NONE: u32 = u32::MAX;

/// Facets, their sides and neighbours, in the coordinates of the wall.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    pub(super) vertices: Vec<P3>,
    pub(super) facets: Vec<[u32; 3]>,
    /// Unit normals of the facets, by the right-hand rule.
    pub(super) normals: Vec<V3>,
    /// Length (mm) of the longest side of each facet.
    pub(super) lengths: Vec<f64>,
    /// Numbers of the edges of each facet; edge `k` leads from corner `k` to the next corner.
    pub(super) facet_edges: Vec<[u32; 3]>,
    /// Numbers of the vertices at the ends of each edge, the smaller number first.
    pub(super) edges: Vec<[u32; 2]>,
    edge_facets: Lists,
    vertex_facets: Lists,
    /// Number of the vertex that each point of the input became.
    pub(super) vertex_of: Vec<u32>,
    /// Number of the facet that each triangle of the input became, or `NONE` if it was skipped.
    pub(super) facet_of: Vec<u32>,
    /// Index of the first triangle of the input that became each facet.
    pub(super) source: Vec<u32>,
}

/// Several lists of numbers, stored in one array: list `k` is `items[start[k]..start[k + 1]]`.
#[derive(Clone, Debug, Default)]
struct Lists {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Builds `n` lists from pairs of the number of a list and an item. The pairs are sorted by the
    /// number of the list.
    fn new(n: usize, pairs: &[(u32, u32)]) -> Self {
        let mut start = vec![0; n + 1];
        for (list, _) in pairs {
            start[*list as usize + 1] += 1;
        }
        for k in 0..n {
            start[k + 1] += start[k];
        }
        Self { start, items: pairs.iter().map(|p| p.1).collect() }
    }

    fn of(&self, k: u32) -> &[u32] {
        &self.items[self.start[k as usize] as usize..self.start[k as usize + 1] as usize]
    }
}

/// Compares two points by x, then by y, then by z.
fn by_position(a: &P3, b: &P3) -> Ordering {
    a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
}

/// Converts an index to a `u32`; the constructor of the mesh has checked that indices fit.
pub(super) fn id(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(NONE)
}

impl Mesh {
    /// Builds the mesh. Facets with two equal corners and repeated facets are skipped.
    pub(super) fn new(points: &[P3], triangles: &[[u32; 3]]) -> Result<Self, FacetError> {
        if points.len().max(triangles.len()) > MAX_ELEMENTS {
            return Err(FacetError::TooMany);
        }
        if let Some(k) = points.iter().position(|p| p.iter().any(|c| !(c.abs() <= MAX_COORDINATE))) {
            return Err(FacetError::NotFinite(k));
        }
        for (facet, t) in triangles.iter().enumerate() {
            if let Some(corner) = t.iter().find(|c| **c as usize >= points.len()) {
                return Err(FacetError::Corner { facet, corner: *corner, points: points.len() });
            }
        }
        // Adding 0 turns −0 into 0.
        let points: Vec<P3> = points.iter().map(|p| p.map(|c| c + 0.0)).collect();
        let (vertices, vertex_of) = weld(&points);
        let mut numbered: Vec<([u32; 3], u32)> = Vec::with_capacity(triangles.len());
        for (k, t) in triangles.iter().enumerate() {
            let v = t.map(|c| vertex_of[c as usize]);
            if v[0] == v[1] || v[1] == v[2] || v[2] == v[0] {
                continue;
            }
            let first = (0..3).min_by_key(|i| v[*i]).unwrap_or(0);
            numbered.push(([v[first], v[(first + 1) % 3], v[(first + 2) % 3]], id(k)));
        }
        numbered.sort_unstable();
        let mut facet_of = vec![NONE; triangles.len()];
        let (mut facets, mut source): (Vec<[u32; 3]>, Vec<u32>) = (Vec::new(), Vec::new());
        for (facet, k) in numbered {
            if facets.last() != Some(&facet) {
                facets.push(facet);
                source.push(k);
            }
            facet_of[k as usize] = id(facets.len() - 1);
        }
        if facets.is_empty() {
            return Err(FacetError::Empty);
        }
        let (edges, facet_edges, edge_facets) = edges_of(&facets);
        let mut around: Vec<(u32, u32)> =
            facets.iter().enumerate().flat_map(|(k, f)| f.map(|v| (v, id(k)))).collect();
        around.sort_unstable();
        let mut mesh = Self {
            vertex_facets: Lists::new(vertices.len(), &around),
            normals: vec![V3::zeros(); facets.len()],
            lengths: vec![0.0; facets.len()],
            vertices,
            facets,
            facet_edges,
            edges,
            edge_facets,
            vertex_of,
            facet_of,
            source,
        };
        mesh.measure().map_err(|facet| FacetError::NoArea(mesh.source[facet] as usize))?;
        mesh.check_orientation()?;
        Ok(mesh)
    }

    /// Computes the normals and longest sides of all facets from the positions of the vertices.
    ///
    /// # Errors
    /// Returns the number of the first facet without an area.
    pub(super) fn measure(&mut self) -> Result<(), usize> {
        for k in 0..self.facets.len() {
            let [a, b, c] = self.corners(k);
            let (u, v, w) = (b - a, c - b, a - c);
            let longest = u.norm().max(v.norm()).max(w.norm());
            // The two shorter sides give the normal of a long triangle more accurately.
            let [first, second] = if u.norm() >= v.norm().max(w.norm()) {
                [v, w]
            } else if v.norm() >= w.norm() {
                [w, u]
            } else {
                [u, v]
            };
            let n = first.cross(&second);
            let area = n.norm();
            if !(area > MIN_RELATIVE_HEIGHT * longest * longest) {
                return Err(k);
            }
            self.normals[k] = n / area;
            self.lengths[k] = longest;
        }
        Ok(())
    }

    /// Checks that two facets at an edge have it in opposite directions.
    fn check_orientation(&self) -> Result<(), FacetError> {
        let goes_up = |facet: u32, edge: u32| {
            let k = self.facet_edges[facet as usize].iter().position(|e| *e == edge).unwrap_or(0);
            let f = self.facets[facet as usize];
            f[k] < f[(k + 1) % 3]
        };
        for edge in 0..self.edges.len() {
            if let [a, b] = self.edge_facets.of(id(edge))
                && goes_up(*a, id(edge)) == goes_up(*b, id(edge))
            {
                let pair = [self.source[*a as usize] as usize, self.source[*b as usize] as usize];
                return Err(FacetError::Orientation([pair[0].min(pair[1]), pair[0].max(pair[1])]));
            }
        }
        Ok(())
    }

    pub(super) fn corners(&self, facet: usize) -> [P3; 3] {
        self.facets[facet].map(|v| self.vertices[v as usize])
    }

    /// Numbers of the facets at an edge.
    pub(super) fn at_edge(&self, edge: u32) -> &[u32] {
        self.edge_facets.of(edge)
    }

    /// Numbers of the facets at a vertex.
    pub(super) fn at_vertex(&self, vertex: u32) -> &[u32] {
        self.vertex_facets.of(vertex)
    }

    /// Whether two facets have a vertex in common.
    pub(super) fn are_adjacent(&self, a: u32, b: u32) -> bool {
        self.facets[a as usize].iter().any(|v| self.facets[b as usize].contains(v))
    }

    /// Angle (rad) between the normals of two facets.
    pub(super) fn angle(&self, a: u32, b: u32) -> f64 {
        let (n, m) = (self.normals[a as usize], self.normals[b as usize]);
        feeler_geom::math::atan2(n.cross(&m).norm(), n.dot(&m))
    }
}

/// Returns the distinct points, sorted by position, and for each given point its index among them.
fn weld(points: &[P3]) -> (Vec<P3>, Vec<u32>) {
    let mut order: Vec<u32> = (0..id(points.len())).collect();
    order.sort_unstable_by(|a, b| by_position(&points[*a as usize], &points[*b as usize]).then(a.cmp(b)));
    let mut vertices: Vec<P3> = Vec::new();
    let mut vertex_of = vec![0; points.len()];
    for k in order {
        let p = points[k as usize];
        if vertices.last().is_none_or(|last| by_position(last, &p).is_ne()) {
            vertices.push(p);
        }
        vertex_of[k as usize] = id(vertices.len() - 1);
    }
    (vertices, vertex_of)
}

/// Returns the edges, given by their end vertices, the edges of each facet, and the facets at each edge.
fn edges_of(facets: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>, Lists) {
    let mut sides: Vec<([u32; 2], u32, usize)> = Vec::with_capacity(3 * facets.len());
    for (k, f) in facets.iter().enumerate() {
        for side in 0..3 {
            let (a, b) = (f[side], f[(side + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], id(k), side));
        }
    }
    sides.sort_unstable();
    let mut edges: Vec<[u32; 2]> = Vec::new();
    let mut facet_edges = vec![[0; 3]; facets.len()];
    let mut pairs = Vec::with_capacity(sides.len());
    for (ends, facet, side) in sides {
        if edges.last() != Some(&ends) {
            edges.push(ends);
        }
        let edge = id(edges.len() - 1);
        facet_edges[facet as usize][side] = edge;
        pairs.push((edge, facet));
    }
    let lists = Lists::new(edges.len(), &pairs);
    (edges, facet_edges, lists)
}

/// Maximum number of points, and of facets, of one wall.
const MAX_ELEMENTS: usize = 1 << 31;

/// Maximum coordinate (mm). Squares of larger numbers could overflow, which would make distances infinite.
const MAX_COORDINATE: f64 = 1e100;

/// Minimum height of a facet over its longest side, divided by the length of that side. With a larger
/// value thin triangles are refused; with a smaller one the rounding of coordinates decides about
/// normals.
const MIN_RELATIVE_HEIGHT: f64 = 1e-12;
