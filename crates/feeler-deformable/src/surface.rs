//! Boundary facets of meshes, and the points, edges and triangles of a surface with their weights.

use crate::mesh::Mesh;
use feeler_geom::P3;
use std::collections::BTreeMap;

/// Faces of a tetrahedron with outward normals.
const TETRAHEDRON_FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// Faces of a hexahedron with outward normals.
const HEXAHEDRON_FACES: [[usize; 4]; 6] =
    [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
/// Sine of the angle between facets up to which their common edge counts as flat. With a larger value, edges
/// of finely facetted round bodies have no contact with other edges; a smaller value is below rounding.
const FLAT_EDGE_SINE: f64 = 1e-6;

/// Returns the faces that belong to one element only, in the order of the elements. A quadrilateral is
/// split into two triangles along the diagonal from its node with the smallest index.
pub(crate) fn boundary_triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    let mut count: BTreeMap<[u32; 4], u32> = BTreeMap::new();
    for face in tetrahedron_faces(mesh) {
        *count.entry(key(&face)).or_default() += 1;
    }
    for face in hexahedron_faces(mesh) {
        *count.entry(key(&face)).or_default() += 1;
    }
    let is_boundary = |face: &[u32]| count.get(&key(face)) == Some(&1);
    let mut out: Vec<[u32; 3]> = tetrahedron_faces(mesh).filter(|f| is_boundary(f)).collect();
    for face in hexahedron_faces(mesh).filter(|f| is_boundary(f)) {
        let first = (0..4).min_by_key(|&k| face[k]).unwrap_or(0);
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| face[(first + k) % 4]);
        out.extend([[a, b, c], [a, c, d]]);
    }
    out
}

fn tetrahedron_faces(mesh: &Mesh) -> impl Iterator<Item = [u32; 3]> {
    mesh.tetrahedra.iter().flat_map(|t| TETRAHEDRON_FACES.map(|f| f.map(|k| t[k])))
}

fn hexahedron_faces(mesh: &Mesh) -> impl Iterator<Item = [u32; 4]> {
    mesh.hexahedra.iter().flat_map(|h| HEXAHEDRON_FACES.map(|f| f.map(|k| h[k])))
}

fn key(face: &[u32]) -> [u32; 4] {
    let mut out = [u32::MAX; 4];
    out[..face.len()].copy_from_slice(face);
    out.sort_unstable();
    out
}

/// Point, edge or triangle of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Feature {
    /// Indices of the nodes; only the first `count` are valid.
    pub(crate) nodes: [u32; 3],
    /// Number of nodes: 1 for a point, 2 for an edge, 3 for a triangle.
    pub(crate) count: usize,
    /// Coefficient of the feature in the contact of a foreign point with the surface.
    pub(crate) weight: f64,
    /// Whether an edge is convex, so that it can touch an edge of another body.
    pub(crate) is_sharp: bool,
    /// Squared length of an edge in the reference configuration (mm²).
    pub(crate) length_sq: f64,
    /// Whether a point is the centre of a sphere.
    pub(crate) is_sphere: bool,
    /// Piece to which the feature belongs.
    pub(crate) piece: u32,
}

struct EdgeUse {
    triangles: Vec<usize>,
    piece: u32,
}

/// Lists triangles, edges and points of a surface, in this order. `pieces` has one entry for each triangle;
/// edges and points belong to the smallest piece of their triangles.
///
/// The weight of a feature is 1 minus the sum of the weights of all larger features that contain it:
/// 1 for triangles, −1 for edges of two triangles, 1 for interior points of a surface. All terms of a convex
/// region cancel except the one of the nearest feature. A point that belongs to no triangle has the weight 0.
pub(crate) fn features(nodes: &[P3], triangles: &[[u32; 3]], pieces: &[u32]) -> Vec<Feature> {
    let mut edges: BTreeMap<[u32; 2], EdgeUse> = BTreeMap::new();
    for (t, (triangle, &piece)) in triangles.iter().zip(pieces).enumerate() {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            let edge = edges.entry([a.min(b), a.max(b)]).or_insert(EdgeUse { triangles: Vec::new(), piece });
            edge.triangles.push(t);
            edge.piece = edge.piece.min(piece);
        }
    }
    let mut points: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    let mut add = |node: u32, weight: f64, piece: u32| {
        let entry = points.entry(node).or_insert((0.0, piece));
        *entry = (entry.0 + weight, entry.1.min(piece));
    };
    let mut out = Vec::new();
    for (&triangle, &piece) in triangles.iter().zip(pieces) {
        triangle.iter().for_each(|&n| add(n, 1.0, piece));
        out.push(Feature { nodes: triangle, count: 3, weight: 1.0, piece, ..Feature::default() });
    }
    for (&[a, b], edge) in &edges {
        let uses = u32::try_from(edge.triangles.len()).map_or(f64::INFINITY, f64::from);
        let weight = 1.0 - uses;
        [a, b].iter().for_each(|&n| add(n, weight, edge.piece));
        out.push(Feature {
            nodes: [a, b, 0],
            count: 2,
            weight,
            is_sharp: is_sharp(nodes, triangles, &edge.triangles),
            length_sq: (nodes[a as usize] - nodes[b as usize]).norm_squared(),
            piece: edge.piece,
            ..Feature::default()
        });
    }
    for (&node, &(sum, piece)) in &points {
        let weight = 1.0 - sum;
        out.push(Feature { nodes: [node, 0, 0], count: 1, weight, piece, ..Feature::default() });
    }
    out
}

/// Whether an edge is convex; edges that do not belong to exactly two triangles count as convex.
fn is_sharp(nodes: &[P3], triangles: &[[u32; 3]], uses: &[usize]) -> bool {
    let &[first, second] = uses else { return true };
    let [a, b, c] = triangles[first].map(|n| nodes[n as usize]);
    let normal = (b - a).cross(&(c - a));
    let opposite = triangles[second].iter().find(|n| !triangles[first].contains(n));
    opposite.is_none_or(|&n| {
        let to = nodes[n as usize] - a;
        normal.dot(&to) < -FLAT_EDGE_SINE * normal.norm() * to.norm()
    })
}
