//! The boundary representation that preparation converts to a hierarchy.

use crate::remark::Remark;
use feeler_geom::mass::SolidInertia;
use feeler_geom::trim::{TrimCells, TrimDomain, TrimPiece};
use feeler_geom::{Aabb, Curve, P3, Surface, V3};
use smallvec::SmallVec;
use truck_topology::compress::CompressedShell;

/// A closed, oriented, 2-manifold solid in millimetres.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Name of the solid, possibly empty.
    pub name: String,
    /// Entity id of the solid in the source file; 0 without one.
    pub source: u64,
    /// Points (mm), curves and surfaces of all shells together, and their topology. `orientation` of a
    /// face is whether its outward normal is the surface's natural normal. The curve of an edge runs
    /// from the first to the second vertex.
    pub shell: CompressedShell<P3, Curve, Surface>,
    /// Data of the faces, parallel to `shell.faces`.
    pub faces: Vec<FaceInfo>,
    /// Data of the edges, parallel to `shell.edges`.
    pub edges: Vec<EdgeInfo>,
    /// Data of the vertices, parallel to `shell.vertices`.
    pub vertices: Vec<VertexInfo>,
    /// Conservative bounding box (mm) of the solid.
    pub bounds: Aabb,
    /// Surface area (mm²), integrated over the trimmed faces; both sides of sheets count.
    pub area: f64,
    /// Volume (mm³), integrated over the trimmed faces.
    pub volume: f64,
    /// Centroid and inertia at density 1, along the axes of the solid's coordinate system; `None` for
    /// sheets, which have no volume.
    pub inertia: Option<SolidInertia>,
    /// Largest uncertainty of lengths that the source states (mm); 0 if it states none.
    pub uncertainty: f64,
    /// Remarks for the user on repairs and peculiarities.
    pub remarks: Vec<Remark>,
}

/// Data of a face in addition to its surface and its loops.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Entity id of the face in the source file.
    pub source: u64,
    /// Entity ids of other faces that are part of this face, because their loops are consistent only
    /// together.
    pub joined: Vec<u64>,
    /// Index of the shell that contains the face; 0 is the outer shell, the others are voids.
    pub shell: u32,
    /// Trimmed domain. `TrimPiece::edge` is the index of the edge, or [`NO_EDGE`](crate::build::NO_EDGE)
    /// along a side of a patch that is one point. Pieces have the face on their left in the parameter
    /// plane as seen from the *natural* normal, also if the outward normal is the opposite one.
    pub domain: TrimDomain,
    /// Structure that classifies points as inside or outside of `domain`. It exists only for domains
    /// whose loops do not contradict each other.
    pub cells: TrimCells,
    /// Indices of vertices that are loops of the face without an edge, such as apices and poles.
    pub vertex_loops: Vec<u32>,
    /// Maximum distance (mm) between the surface and the surface of the file that it replaces; 0 if it
    /// is exact.
    pub surface_deviation: f64,
    /// Whether only the source defines the outward normal: the loops of the face also bound the other side
    /// of its closed surface (sphere, torus), and no tangent neighbour on a surface that is not closed
    /// continues the face.
    pub is_sense_unconfirmed: bool,
}

/// One use of an edge by a face.
#[derive(Clone, Debug)]
pub struct EdgeSide {
    /// Index of the face that uses the edge.
    pub face: u32,
    /// Whether the face, seen from outside, is on the left of the edge in the direction of its curve.
    pub forward: bool,
    /// Image of the edge in the face's parameter plane, in the direction of the *curve*. It is unwrapped
    /// over the periods and continuous along the loop.
    pub pcurve: Vec<TrimPiece>,
    /// Curve parameters at the joints of `pcurve`, one more than the number of pieces.
    pub joints: Vec<f64>,
    /// Measured deviation (mm): the larger one of the largest distances between the edge's curve and the
    /// face's surface, and between the curve and `pcurve` mapped to the surface.
    pub deviation: f64,
}

/// Status of an edge, by the angle between its two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeStatus {
    /// The material's dihedral angle is below π somewhere along the edge and above π nowhere, except for
    /// the noise of the file. LMDs can have a footpoint on the edge.
    Convex,
    /// The material's dihedral angle is nowhere below π, and somewhere more than 1e-3 rad above it. No
    /// LMD has a footpoint on the edge.
    Concave,
    /// The tangent planes agree along the whole edge to 1e-7 rad (to 1e-3 rad on the concave side). The edge
    /// has footpoints only of quasi-LMDs, which `QueryOptions::quasi_angle` adds to the LMDs.
    Smooth,
    /// One face is on both sides of the edge and smooth there (a seam, or a dangling edge), so the edge
    /// is not a feature. A face that meets itself in a sharp edge has one of the other statuses.
    Seam,
}

/// Data of an edge in addition to its curve and its vertices.
#[derive(Clone, Debug)]
pub struct EdgeInfo {
    /// Entity id of the source edge that this edge is, or from which it was split.
    pub source: u64,
    /// Parameter range `(t0, t1)` of the edge on its curve, `t0 < t1`.
    pub range: (f64, f64),
    /// Maximum distance (mm) between the curve and the curve of the file that it replaces; 0 if it is
    /// exact.
    pub curve_deviation: f64,
    /// The two uses of the edge; for a seam, both are by one face.
    pub sides: SmallVec<[EdgeSide; 2]>,
    /// Status of the edge; only convex and smooth edges can have footpoints of minima.
    pub status: EdgeStatus,
    /// Smallest and largest signed angle (rad) between the outward normals of the two faces along the
    /// edge; positive angles are convex.
    pub dihedral: (f64, f64),
}

/// Polar of a vertex's tangent cone: `{d : ⟨d, v⟩ ≤ 0 for all v in directions}`.
#[derive(Clone, Debug, PartialEq)]
pub enum VertexPolar {
    /// The polar contains only the zero vector, so no LMD has a footpoint at the vertex.
    Empty,
    /// Constraint directions of the polar; without any, the polar is the whole space.
    Constraints(Vec<V3>),
}

/// Data of a vertex in addition to its point.
#[derive(Clone, Debug)]
pub struct VertexInfo {
    /// Entity id of the vertex in the source file, or of the edge whose split created it.
    pub source: u64,
    /// Indices of the edges that start or end at the vertex, including seams; a closed edge is listed
    /// twice.
    pub edges: Vec<u32>,
    /// Indices of the faces around the vertex, including faces with a vertex loop at it.
    pub faces: Vec<u32>,
    /// Exact polar of the tangent cone of the material at the vertex.
    pub polar: VertexPolar,
    /// Whether the vertex is not a feature, because it is a point on a smooth closed edge, a smooth
    /// pole, or a joint of two pieces of one curve.
    pub smooth: bool,
}
