//! The solid that the offline stage works on.

use crate::mass::Inertia;
use crate::remark::Remark;
use feeler_geom::trim::{TrimCells, TrimDomain, TrimPiece};
use feeler_geom::{Aabb, Curve, P3, Surface, V3};
use smallvec::SmallVec;
use truck_topology::compress::CompressedShell;

/// A closed, oriented, 2-manifold solid in millimetres.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Name, possibly empty.
    pub name: String,
    /// Entity id in the source file, 0 if none.
    pub source: u64,
    /// Points, curves, surfaces and how they are joined, all shells together. A face's `orientation` is
    /// whether its outward normal is the surface's natural normal. Edge curves run from the first to the
    /// second vertex.
    pub shell: CompressedShell<P3, Curve, Surface>,
    /// Beside `shell.faces`.
    pub faces: Vec<FaceInfo>,
    /// Beside `shell.edges`.
    pub edges: Vec<EdgeInfo>,
    /// Beside `shell.vertices`.
    pub vertices: Vec<VertexInfo>,
    /// Conservative bounding box.
    pub bounds: Aabb,
    /// Surface area from the trimmed patches (mm²).
    pub area: f64,
    /// Volume from the trimmed patches (mm³).
    pub volume: f64,
    /// Centroid and inertia at density 1, in the solid's own axes; none for sheets, which have no volume.
    pub inertia: Option<Inertia>,
    /// What was repaired or looks odd, for the user.
    pub remarks: Vec<Remark>,
}

/// What truck's face lacks.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Entity id.
    pub source: u64,
    /// Shell index, 0 is the outer one.
    pub shell: u32,
    /// Trimmed domain. `TrimPiece::edge` is the index of the edge, or [`NO_EDGE`](crate::build::NO_EDGE)
    /// along a side of a patch that is one point; pieces run with the material on the left in the parameter
    /// plane of the *natural* normal (they are reversed when the outward normal is the opposite one).
    pub domain: TrimDomain,
    /// Classification structure of `domain`, free of contradictions.
    pub cells: TrimCells,
    /// Vertices that are loops of their own (apices, poles).
    pub vertex_loops: Vec<u32>,
    /// Distance between the surface and the file's own (mm).
    pub surface_deviation: f64,
}

/// One use of an edge by a face.
#[derive(Clone, Debug)]
pub struct EdgeSide {
    /// Face.
    pub face: u32,
    /// Whether the face, seen from outside, is on the left of the edge walked along its curve's direction.
    pub forward: bool,
    /// The edge in the face's parameter plane (unwrapped, continuous along the loop), along the *curve's*
    /// direction.
    pub pcurve: Vec<TrimPiece>,
    /// Curve parameters at the joints of `pcurve`, one more than there are pieces.
    pub joints: Vec<f64>,
    /// Measured distance between the edge's curve and the face's surface, and between the curve and `pcurve`
    /// mapped to the surface (mm).
    pub deviation: f64,
}

/// How the two faces meet along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeStatus {
    /// The material's dihedral angle is below π somewhere and nowhere above (but for the noise of the file):
    /// can carry an LMD.
    Convex,
    /// The material's dihedral angle is nowhere below π and more than 1e-3 rad above it somewhere: cannot
    /// carry an LMD.
    Concave,
    /// Tangent planes agree along the whole edge to 1e-7 rad (to 1e-3 on the concave side): carries
    /// quasi-LMDs only.
    Smooth,
    /// Both faces are the same one, which is smooth there (a seam, an edge that leads nowhere): no feature at
    /// all. A face that meets itself in a sharp edge has one of the other statuses.
    Seam,
}

/// What truck's edge lacks.
#[derive(Clone, Debug)]
pub struct EdgeInfo {
    /// Entity id of the edge this one is, or is a part of.
    pub source: u64,
    /// Parameter range on the curve, `t0 < t1`.
    pub range: (f64, f64),
    /// Distance between the curve and the file's own (mm).
    pub curve_deviation: f64,
    /// The two uses (two of one face for a seam).
    pub sides: SmallVec<[EdgeSide; 2]>,
    /// Status.
    pub status: EdgeStatus,
    /// Smallest and largest signed angle (rad) between the faces' normals along the edge, positive where
    /// convex.
    pub dihedral: (f64, f64),
}

/// Polar of a vertex's tangent cone: `{d : ⟨d, v⟩ ≤ 0 for all v in directions}`.
#[derive(Clone, Debug, PartialEq)]
pub enum VertexPolar {
    /// Only the zero vector: no LMD.
    Empty,
    /// The polar by its constraints.
    Constraints(Vec<V3>),
}

/// What truck's vertex lacks.
#[derive(Clone, Debug)]
pub struct VertexInfo {
    /// Entity id.
    pub source: u64,
    /// Edges that end here, seams included (a closed edge twice).
    pub edges: Vec<u32>,
    /// Faces around, those with a vertex loop included.
    pub faces: Vec<u32>,
    /// Exact polar of the tangent cone.
    pub polar: VertexPolar,
    /// Not a feature: a point on a smooth closed edge, a smooth pole, where two pieces of one curve meet.
    pub smooth: bool,
}
