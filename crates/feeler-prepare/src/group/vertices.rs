//! Selects the vertices that are features, and finds the ends of edges at each vertex.

use feeler_brep::{Solid, VertexPolar};
use feeler_geom::{P3, Surface};

use super::{EdgeGroup, FaceGroup, Role, VertexPick, edge_deviation};
use crate::polar;
use feeler_geom::count::index;

/// Start, or end if `at_end` is true, of a span of a supermaximal edge: index `group` of the edge, and
/// index `span` of the span within the edge. Seams are not supermaximal edges and have no such ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeEnd {
    pub(super) group: usize,
    pub(super) span: usize,
    pub(super) at_end: bool,
}

/// Ends of spans, grouped by the source vertex at which they lie.
#[derive(Debug)]
pub(super) struct Ends {
    by_vertex: Vec<Vec<EdgeEnd>>,
}

impl Ends {
    pub(super) fn at(&self, vertex: usize) -> &[EdgeEnd] {
        &self.by_vertex[vertex]
    }
}

/// Collects the ends of all spans of supermaximal edges. The spans must not have been joined yet.
pub(super) fn edge_ends(solid: &Solid, groups: &[EdgeGroup]) -> Ends {
    let mut by_vertex = vec![Vec::new(); solid.shell.vertices.len()];
    for (group, g) in groups.iter().enumerate() {
        for (span, s) in g.spans.iter().enumerate() {
            by_vertex[s.ends[0] as usize].push(EdgeEnd { group, span, at_end: false });
            by_vertex[s.ends[1] as usize].push(EdgeEnd { group, span, at_end: true });
        }
    }
    Ends { by_vertex }
}

/// Returns the vertices that can carry an LMD or a quasi-LMD. Such a vertex is not smooth, and its
/// polar contains more than the zero vector. It is not inside a supermaximal face, and no two spans of
/// edges were joined at it. `joined` marks the source vertices at which spans were joined.
pub(super) fn pick_vertices(
    solid: &Solid,
    faces: &[FaceGroup],
    face_of: &[u32],
    groups: &[EdgeGroup],
    ends: &Ends,
    joined: &[bool],
) -> Vec<VertexPick> {
    let mut out = Vec::new();
    for (v, info) in solid.vertices.iter().enumerate() {
        let VertexPolar::Constraints(constraints) = &info.polar else { continue };
        let point = &solid.shell.vertices[v];
        if info.smooth || joined[v] || is_inside_face(faces, face_of, &info.faces, ends.at(v), point) {
            continue;
        }
        let around = ends.at(v);
        let only_quasi_edges = || around.iter().all(|e| groups[e.group].role == Role::Quasi);
        out.push(VertexPick {
            vertex: index(v),
            deviation: deviation(solid, v, &info.edges),
            quasi_only: !around.is_empty() && only_quasi_edges() && polar::is_ray(constraints),
        });
    }
    out
}

/// Returns whether the vertex at `point` is an ordinary point of one supermaximal face: no supermaximal
/// edge ends there (`ends` is empty), and all source faces `around` it belong to that face.
fn is_inside_face(
    faces: &[FaceGroup],
    face_of: &[u32],
    around: &[u32],
    ends: &[EdgeEnd],
    point: &P3,
) -> bool {
    let Some(first) = around.first().filter(|_| ends.is_empty()) else { return false };
    let face = face_of[*first as usize];
    around.iter().all(|f| face_of[*f as usize] == face)
        // A single source face can be singular, or closed with a kink there; its vertices are kept as
        // imported.
        && faces[face as usize].members.len() > 1
        && is_regular(&faces[face as usize].surface, point)
}

/// Returns whether a canonical surface has a tangent plane at its point `p`. Returns `false` for free
/// forms.
fn is_regular(surface: &Surface, p: &P3) -> bool {
    match surface {
        Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Sphere { .. } => true,
        Surface::Cone { frame, .. } => (p - frame.origin).norm() > 1e-6 * frame.origin.coords.amax().max(1.0),
        Surface::Torus { major, minor, .. } => major > minor,
        Surface::Bezier(_) => false,
    }
}

/// Maximum distance (mm) between vertex `v` and the ends of the edges `around` it, or the deviation of
/// such an edge from its faces if that is larger.
fn deviation(solid: &Solid, v: usize, around: &[u32]) -> f64 {
    let point = &solid.shell.vertices[v];
    around.iter().fold(0.0, |worst: f64, &e| {
        let info = &solid.edges[e as usize];
        let edge = &solid.shell.edges[e as usize];
        let mut off = edge_deviation(info);
        for (vertex, t) in [(edge.vertices.0, info.range.0), (edge.vertices.1, info.range.1)] {
            if vertex == v {
                off = off.max((edge.curve.point(t) - point).norm());
            }
        }
        worst.max(off)
    })
}
