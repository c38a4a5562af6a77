//! Groups faces and edges into supermaximal features: everything on one surface or curve becomes one
//! feature.
//!
//! Faces on equal canonical surfaces with equal orientation form one supermaximal face, whether or not
//! they are adjacent. An edge between two of them is no longer a feature, and its two boundary pieces are
//! removed from the trimmed domain. Edges on one line or circle between the same two supermaximal faces
//! form one supermaximal edge; adjacent spans are joined where no other edge ends. Vertices inside a
//! supermaximal face or a joined span are removed.
//!
//! # Source
//! BREP §2.3, MATH §5.
//!
//! # Deviations
//! - Classes are found by sorting by several keys instead of comparing all pairs ([`crate::cluster`]).
//! - Bézier faces are never merged, nor are the two sheets of a spindle torus.
//! - A merged domain with a contradictory boundary is split into its source faces again, because merging
//!   only saves time.
//! - Edges on curves other than lines and circles are merged only if they are parts of one and the same
//!   curve.

mod edges;
mod faces;
mod sphere;
mod vertices;

use feeler_brep::{EdgeStatus, Solid};
use feeler_geom::trim::{TrimCells, TrimDomain};
use feeler_geom::{Curve, P3, Surface};

use crate::coincide::TMap;

/// Maximum distance between surfaces or curves that count as equal, relative to the diagonal of the
/// solid's box. It is a tenth of the accuracy promised for distances and several orders above the
/// rounding of coordinates with 12 digits. A larger value makes distances inaccurate; with a smaller one
/// fewer features merge.
pub(crate) const MERGE_TOL: f64 = 1e-8;

/// Supermaximal features of a solid.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// Supermaximal faces in the order of their first source faces.
    pub(crate) faces: Vec<FaceGroup>,
    /// Supermaximal edges of every status except seams, in the order of their first source edges.
    pub(crate) edges: Vec<EdgeGroup>,
    /// Vertices that are features, that is, can carry an LMD or a quasi-LMD.
    pub(crate) vertices: Vec<VertexPick>,
}

/// Supermaximal face: all source faces on one surface with one orientation, adjacent or not.
#[derive(Clone, Debug)]
pub(crate) struct FaceGroup {
    pub(crate) surface: Surface,
    pub(crate) outward: bool,
    pub(crate) cells: TrimCells,
    /// Indices of the source faces, each with its own trimmed domain on the common surface. The domain
    /// is `None` for a single source face, because it is that of the group.
    pub(crate) members: Vec<(u32, Option<TrimCells>)>,
    /// Total number of boundary loops of the source faces.
    pub(crate) n_loops: usize,
}

/// Supermaximal edge: all source edges on one line or circle, or on parts of one other curve, between the
/// same two supermaximal faces.
#[derive(Clone, Debug)]
pub(crate) struct EdgeGroup {
    pub(crate) curve: Curve,
    pub(crate) spans: Vec<SpanGroup>,
    pub(crate) closed: bool,
    /// Indices of the two supermaximal faces, each with whether it is on the left of the curve; the one
    /// on the left comes first.
    pub(crate) sides: [(u32, bool); 2],
    pub(crate) role: Role,
    /// Indices of the source edges, with the maps from their curves' parameters to those of the
    /// supermaximal edge's curve.
    pub(crate) members: Vec<(u32, TMap)>,
}

/// Span of a supermaximal edge: the interval from `t0` to `t1` of the parameter of its curve, possibly joined
/// from several source edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanGroup {
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    /// Index of the first source edge of the span.
    pub(crate) edge: u32,
    /// Indices of the source vertices at the start and at the end of the span.
    pub(crate) ends: [u32; 2],
    pub(crate) deviation: f64,
}

/// Kind of minima that a supermaximal edge can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The edge can carry LMDs and quasi-LMDs.
    Strict,
    /// The edge can carry quasi-LMDs only.
    Quasi,
    /// The edge can carry no minima (concave edges).
    None,
}

/// Vertex that is a feature: can carry an LMD or a quasi-LMD.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VertexPick {
    pub(crate) vertex: u32,
    pub(crate) deviation: f64,
    pub(crate) quasi_only: bool,
}

/// Quantities of a solid that comparisons of surfaces and curves use: the centre of its box, the
/// diagonal `size` of its box (mm) and the merge tolerance `tol` (mm), which is [`MERGE_TOL`] times the
/// size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) center: P3,
    pub(crate) size: f64,
    pub(crate) tol: f64,
}

/// Groups the faces, edges and vertices of a solid into supermaximal features.
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

/// Returns a flag for each source edge: whether it is not a feature because it is a seam, or lies
/// between two source faces of one supermaximal face. `face_of` is the supermaximal face of each source
/// face.
fn seams(solid: &Solid, face_of: &[u32]) -> Vec<bool> {
    let inside = |e: &feeler_brep::EdgeInfo| match e.sides.as_slice() {
        [a, b] => a.face != b.face && face_of[a.face as usize] == face_of[b.face as usize],
        _ => false,
    };
    solid.edges.iter().map(|e| e.status == EdgeStatus::Seam || inside(e)).collect()
}

/// Builds the cells of a trimmed domain. Returns `None` if its boundary pieces contradict each other.
fn consistent_cells(domain: &TrimDomain) -> Option<TrimCells> {
    let (cells, contradictions) = TrimCells::build(domain);
    contradictions.is_empty().then_some(cells)
}

/// Maximum measured distance (mm) of the edge from the surfaces of its faces and from its trims on them.
fn edge_deviation(edge: &feeler_brep::EdgeInfo) -> f64 {
    edge.sides.iter().fold(0.0, |m, s| s.pcurve.iter().fold(m.max(s.deviation), |m, p| m.max(p.deviation)))
}
