//! The solid on which the offline stage works.

use crate::remark::Remark;
use feeler_geom::mass::SolidInertia;
use feeler_geom::trim::{TrimCells, TrimDomain, TrimPiece};
use feeler_geom::{Aabb, Curve, P3, Surface, V3};
use smallvec::SmallVec;
use truck_topology::compress::CompressedShell;

/// A closed, oriented, 2-manifold solid in millimetres.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Name, possibly empty.
    pub name: String,
    /// Entity id in the source file; 0 without one.
    pub source: u64,
    /// Points, curves and surfaces of all shells together, and their topology. The `orientation` of a
    /// face is whether its outward normal is the surface's natural normal. Edge curves run from the first
    /// to the second vertex.
    pub shell: CompressedShell<P3, Curve, Surface>,
    /// Data of the faces, parallel to `shell.faces`.
    pub faces: Vec<FaceInfo>,
    /// Data of the edges, parallel to `shell.edges`.
    pub edges: Vec<EdgeInfo>,
    /// Data of the vertices, parallel to `shell.vertices`.
    pub vertices: Vec<VertexInfo>,
    /// Conservative bounding box.
    pub bounds: Aabb,
    /// Surface area from the trimmed patches (mm²).
    pub area: f64,
    /// Volume from the trimmed patches (mm³).
    pub volume: f64,
    /// Centroid and inertia at density 1, in the solid's own axes; `None` for sheets, which have no
    /// volume.
    pub inertia: Option<SolidInertia>,
    /// Repairs and peculiarities, for the user.
    pub remarks: Vec<Remark>,
}

/// Data of a face in addition to its surface and its loops.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Entity id.
    pub source: u64,
    /// Entity ids of other faces that are part of it, because their loops are right only together.
    pub joined: Vec<u64>,
    /// Index of the shell; 0 is the outer one.
    pub shell: u32,
    /// Trimmed domain. `TrimPiece::edge` is the index of the edge, or [`NO_EDGE`](crate::build::NO_EDGE)
    /// along a side of a patch that is one point. Pieces have the material on their left in the parameter
    /// plane of the *natural* normal: they are reversed if the outward normal is the opposite one.
    pub domain: TrimDomain,
    /// Structure for the classification of points in `domain`, free of contradictions.
    pub cells: TrimCells,
    /// Vertices that are loops of their own, such as apices and poles.
    pub vertex_loops: Vec<u32>,
    /// Distance (mm) between the surface and the file's own.
    pub surface_deviation: f64,
}

/// One use of an edge by a face.
#[derive(Clone, Debug)]
pub struct EdgeSide {
    /// Index of the face.
    pub face: u32,
    /// Whether the face, seen from outside, is on the left of the edge in the direction of its curve.
    pub forward: bool,
    /// The edge in the face's parameter plane, in the direction of the *curve*: unwrapped and continuous
    /// along the loop.
    pub pcurve: Vec<TrimPiece>,
    /// Curve parameters at the joints of `pcurve`, one more than the number of pieces.
    pub joints: Vec<f64>,
    /// Measured deviation (mm): the larger one of the distances between the edge's curve and the face's
    /// surface, and between the curve and `pcurve` mapped to the surface.
    pub deviation: f64,
}

/// Status of an edge, by the angle between its two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeStatus {
    /// The material's dihedral angle is below π somewhere and above π nowhere, except for the noise of
    /// the file. The edge can carry an LMD.
    Convex,
    /// The material's dihedral angle is nowhere below π, and somewhere more than 1e-3 rad above it. The
    /// edge cannot carry an LMD.
    Concave,
    /// The tangent planes agree along the whole edge to 1e-7 rad (to 1e-3 rad on the concave side). The
    /// edge carries quasi-LMDs only.
    Smooth,
    /// The face on both sides is the same one and smooth there (a seam, or a dangling edge), so the edge
    /// is not a feature. A face that meets itself in a sharp edge has one of the other statuses.
    Seam,
}

/// Data of an edge in addition to its curve and its vertices.
#[derive(Clone, Debug)]
pub struct EdgeInfo {
    /// Entity id of the source edge that this edge is or is part of.
    pub source: u64,
    /// Parameter range on the curve, `t0 < t1`.
    pub range: (f64, f64),
    /// Distance (mm) between the curve and the file's own.
    pub curve_deviation: f64,
    /// The two uses of the edge; for a seam, both are by one face.
    pub sides: SmallVec<[EdgeSide; 2]>,
    /// Status.
    pub status: EdgeStatus,
    /// Smallest and largest signed angle (rad) between the normals of the faces along the edge; positive
    /// angles are convex.
    pub dihedral: (f64, f64),
}

/// Polar of a vertex's tangent cone: `{d : ⟨d, v⟩ ≤ 0 for all v in directions}`.
#[derive(Clone, Debug, PartialEq)]
pub enum VertexPolar {
    /// The polar is the zero vector only, so the vertex carries no LMD.
    Empty,
    /// Constraints of the polar.
    Constraints(Vec<V3>),
}

/// Data of a vertex in addition to its point.
#[derive(Clone, Debug)]
pub struct VertexInfo {
    /// Entity id.
    pub source: u64,
    /// Edges that end here, including seams; a closed edge is listed twice.
    pub edges: Vec<u32>,
    /// Faces around the vertex, including those with a vertex loop here.
    pub faces: Vec<u32>,
    /// Exact polar of the tangent cone.
    pub polar: VertexPolar,
    /// Whether the vertex is not a feature: a point on a smooth closed edge, a smooth pole, or a joint of
    /// two pieces of one curve.
    pub smooth: bool,
}
