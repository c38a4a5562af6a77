//! Supermaximal features: what lies on one surface or curve becomes one feature.
//!
//! Faces on equal canonical surfaces with equal orientation form one supermaximal face, adjacent or not; an
//! edge between two of them is no feature any more, and its two boundary pieces vanish from the trimmed
//! domain. Edges on one line or circle between the same two supermaximal faces form one supermaximal edge;
//! spans that meet where nothing else ends are joined. Vertices that end up inside a face or a span vanish.
//!
//! # Source
//! BREP §2.3, MATH §5.
//!
//! # Deviations
//! - Classes are found by sorting on several keys instead of comparing all pairs ([`crate::cluster`]).
//! - Bézier faces are never merged, nor are the two sheets of a spindle torus.
//! - A merged domain whose boundary contradicts itself is taken apart again: merging saves time, it is never
//!   needed.
//! - Edges on other curves than lines and circles are merged only when they are parts of one and the same
//!   curve.

mod edges;
mod faces;
mod sphere;
mod vertices;

use feeler_brep::{EdgeStatus, Solid};
use feeler_geom::trim::{TrimCells, TrimDomain};
use feeler_geom::{Curve, P3, Surface};

use crate::coincide::TMap;

/// Equal surfaces and curves deviate by less than this, relative to the solid's diagonal: an order below the
/// accuracy promised for distances, several orders above the rounding of coordinates written with 12 digits.
pub(crate) const MERGE_TOL: f64 = 1e-8;

/// All features of a solid, grouped.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// Supermaximal faces, by their first source face.
    pub(crate) faces: Vec<FaceGroup>,
    /// Supermaximal edges of every status but seams, by their first source edge.
    pub(crate) edges: Vec<EdgeGroup>,
    /// Vertices that are features.
    pub(crate) vertices: Vec<VertexPick>,
}

/// A supermaximal face.
#[derive(Clone, Debug)]
pub(crate) struct FaceGroup {
    pub(crate) surface: Surface,
    pub(crate) outward: bool,
    pub(crate) cells: TrimCells,
    /// Source faces with their own domains when there are several.
    pub(crate) members: Vec<(u32, Option<TrimCells>)>,
    /// Number of boundary loops of all members.
    pub(crate) n_loops: usize,
}

/// A supermaximal edge.
#[derive(Clone, Debug)]
pub(crate) struct EdgeGroup {
    pub(crate) curve: Curve,
    pub(crate) spans: Vec<SpanGroup>,
    pub(crate) closed: bool,
    /// Supermaximal face and whether it is on the left; the one on the left first.
    pub(crate) sides: [(u32, bool); 2],
    pub(crate) role: Role,
    /// Source edges and how their parameters become those of `curve`.
    pub(crate) members: Vec<(u32, TMap)>,
}

/// Joined spans.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanGroup {
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    /// First source edge.
    pub(crate) edge: u32,
    /// Vertices at the ends.
    pub(crate) ends: [u32; 2],
    pub(crate) deviation: f64,
}

/// What an edge is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Carries LMDs.
    Strict,
    /// Carries quasi-LMDs only.
    Quasi,
    /// Carries nothing (concave).
    None,
}

/// A vertex that is a feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VertexPick {
    pub(crate) vertex: u32,
    pub(crate) deviation: f64,
    pub(crate) quasi_only: bool,
}

/// Sizes that tolerances refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) center: P3,
    pub(crate) size: f64,
    pub(crate) tol: f64,
}

/// Groups the features of a solid.
pub(crate) fn group(solid: &Solid) -> Features {
    let size = solid.bounds.diagonal();
    let scale = Scale { center: solid.bounds.center(), size, tol: MERGE_TOL * size };
    let (faces, face_of) = faces::group_faces(solid, &scale);
    let seam = seams(solid, &face_of);
    let mut edges = edges::group_edges(solid, &face_of, &seam, &scale);
    let ends = vertices::edge_ends(solid, &edges);
    let joined = edges::join_spans(solid, &mut edges, &ends, &face_of, &scale);
    let vertices = vertices::pick_vertices(solid, &faces, &face_of, &edges, &ends, &joined);
    Features { faces, edges, vertices }
}

/// Edges that are no features: seams, and edges between two source faces of one supermaximal face.
fn seams(solid: &Solid, face_of: &[u32]) -> Vec<bool> {
    let inside = |e: &feeler_brep::EdgeInfo| match e.sides.as_slice() {
        [a, b] => a.face != b.face && face_of[a.face as usize] == face_of[b.face as usize],
        _ => false,
    };
    solid.edges.iter().map(|e| e.status == EdgeStatus::Seam || inside(e)).collect()
}

/// The domain's boundary without contradictions, or nothing.
fn consistent_cells(domain: &TrimDomain) -> Option<TrimCells> {
    let (cells, contradictions) = TrimCells::build(domain);
    contradictions.is_empty().then_some(cells)
}

/// Largest measured distance of the edge from its faces.
fn edge_deviation(edge: &feeler_brep::EdgeInfo) -> f64 {
    edge.sides.iter().fold(0.0, |m, s| s.pcurve.iter().fold(m.max(s.deviation), |m, p| m.max(p.deviation)))
}
