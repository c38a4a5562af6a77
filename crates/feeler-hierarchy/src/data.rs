//! Data of a model: solids, features, areas, nodes and the assembly.

use crate::id::{AreaId, EdgeId, FaceId, NodeId, VertexId};
use feeler_geom::bulk::{Bytes, Record};
use feeler_geom::record;
use feeler_geom::trim::TrimCells;
use feeler_geom::{Curve, Obb, P3, PolyCone, Pose, Rect, RevolutionCone, Surface, V3};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use serde::{Deserialize, Serialize};

/// Content of one input file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Base name of the input file.
    pub input: String,
    /// FNV-1a hash of the input file's bytes.
    pub input_hash: u64,
    /// Options with which the solids were prepared.
    pub options: Options,
    /// Distinct solids with their features and trees.
    pub solids: Vec<Hierarchy>,
    /// Placed solids; several instances may refer to one solid.
    pub instances: Vec<Instance>,
    /// The assembly tree, parents before their children; empty if the input has no assembly.
    pub components: Vec<Component>,
    /// Remarks of the import in the order of the input, followed by remarks on solids and components
    /// that were left out.
    pub remarks: Vec<Remark>,
    /// Program and referenced files from which the file was made.
    pub origin: Origin,
}

/// Program and referenced files from which a file was made; used to decide whether it is up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name and version of the program that wrote the file.
    pub program: String,
    /// Other files that the input refers to.
    pub references: Vec<Reference>,
}

/// Severity of a remark of the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Unusual, but without effect on the shape.
    Note,
    /// Repaired, guessed or approximated; should be checked.
    Warning,
    /// A solid or a component of the assembly is left out.
    Error,
}

/// A remark of the import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    /// Severity of the problem that the remark describes.
    pub severity: Severity,
    /// The solid concerned, as `solid #12 'name'`; empty if the remark concerns the file or its
    /// assembly.
    pub subject: String,
    /// Number of the input's entity (12 for `#12`) that the remark concerns; `None` if it concerns no
    /// single entity.
    pub entity: Option<u64>,
    /// A point of the entity `entity` (mm, in the frame of its solid); `None` if the entity has no
    /// position.
    pub point: Option<[f64; 3]>,
    /// Description of the problem, with a remedy if one is known.
    pub message: String,
}

impl Remark {
    /// Returns the message, preceded by the subject if there is one.
    #[must_use]
    pub fn about(&self) -> String {
        if self.subject.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.subject, self.message)
        }
    }
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left_out = if self.severity == Severity::Error { "left out: " } else { "" };
        write!(f, "{left_out}{}", self.about())
    }
}

impl Model {
    /// Returns one message for each solid or component of the input that could not be prepared.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let errors = self.remarks.iter().filter(|r| r.severity == Severity::Error);
        errors.map(Remark::about).collect()
    }
}

/// Another file that an input refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Path as stated by the input, relative to the input's folder.
    pub path: String,
    /// FNV-1a hash of the file's bytes; `None` if the file did not exist.
    pub hash: Option<u64>,
}

/// A node of the assembly tree: a placed product.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Name of the product, numbered where a parent uses it several times.
    pub name: String,
    /// Entity number of the component's use in its parent; for a root, the entity number of the product.
    pub source: u64,
    /// Index of the parent component; `None` for a root.
    pub parent: Option<u32>,
    /// Whether the x coordinates of the component's frame are negated before the rotation and the
    /// translation.
    pub mirrored: bool,
    /// Translation (mm) from the component's frame to its parent's frame; to the world for a root.
    pub translation: [f64; 3],
    /// Rotation from the component's frame to its parent's frame, as a unit quaternion x, y, z, w; to
    /// the world for a root.
    pub rotation: [f64; 4],
    /// Indices in [`Model::instances`] of the solids that belong to this component itself, not to a
    /// child.
    pub instances: Vec<u32>,
}

/// Options of the preparation of solids.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Maximum apex angle (rad) of the cone of normals of an area; faces and edges are divided until it
    /// is not exceeded. For free-form faces, and for edges that are neither lines nor circles, the
    /// maximum is at most 0.5 rad.
    pub flatness: f64,
}

/// A solid of the model, placed in the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Index in [`Model::solids`] of the solid that is placed.
    pub solid: u32,
    /// Name of the instance.
    pub name: String,
    /// Names from the root of the assembly to the solid, joined by `/`.
    pub path: String,
    /// Translation (mm) from the solid's frame to the world.
    pub translation: [f64; 3],
    /// Rotation from the solid's frame to the world, as a unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
}

impl Instance {
    /// Returns the pose of the solid's frame in the world (mm).
    #[must_use]
    pub fn pose(&self) -> Pose {
        let [x, y, z, w] = self.rotation;
        Pose::from_parts(
            Translation3::from(self.translation),
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
        )
    }
}

/// One solid with its features and the tree over their areas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hierarchy {
    /// Summary of the solid for reports, and tolerances for queries.
    pub info: SolidInfo,
    /// Supermaximal faces of the solid.
    pub faces: Vec<Face>,
    /// Supermaximal edges that can carry an LMD (a local minimal distance) or a quasi-LMD.
    pub edges: Vec<Edge>,
    /// Vertices that can carry an LMD or a quasi-LMD.
    pub vertices: Vec<Vertex>,
    /// Areas of the features, one for each leaf of the tree `nodes`.
    #[serde(with = "feeler_geom::bulk")]
    pub areas: Vec<Area>,
    /// Binary tree; node 0 is the root. Children of an inner node are adjacent.
    #[serde(with = "feeler_geom::bulk")]
    pub nodes: Vec<Node>,
    /// Points (mm, in the frame of the solid) whose convex hull contains the solid and exceeds none of
    /// its extents by more than 1 %; the hull bounds the motion of the body. Empty only for a hierarchy
    /// without nodes.
    #[serde(with = "feeler_geom::bulk")]
    pub hull: Vec<P3>,
}

/// Centroid and inertia of a solid of density 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inertia {
    /// Centre of mass (mm) in the frame of the solid.
    pub centroid: [f64; 3],
    /// Inertia tensor (mm⁵) about the centroid, along the axes of the solid's frame: moments of inertia
    /// on the diagonal, negative products of inertia off it.
    pub tensor: [[f64; 3]; 3],
}

/// Summary of a solid for reports, with tolerances for the runtime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolidInfo {
    /// Name of the solid.
    pub name: String,
    /// Entity number of the solid in the input.
    pub source: u64,
    /// Smallest coordinates (mm) of the solid's points, in its own frame.
    pub bbox_min: [f64; 3],
    /// Largest coordinates (mm) of the solid's points, in its own frame.
    pub bbox_max: [f64; 3],
    /// Area of the boundary (mm²). Both sides of an open surface count.
    pub area: f64,
    /// Volume of the material (mm³).
    pub volume: f64,
    /// Centroid and inertia; `None` for open surfaces, which have no volume.
    pub inertia: Option<Inertia>,
    /// Lower bound of the smallest thickness of the material (mm): the length of the shortest segment
    /// through material that is normal to faces at both ends (docs/MATH.md, §19). Infinite for sheets
    /// and for solids without such a segment; 0 if no bound could be proven.
    pub min_thickness: f64,
    /// Numbers of faces, edges and vertices of the input's solid.
    pub source_counts: [u32; 3],
    /// Numbers of the input's faces by type of surface: plane, cylinder, cone, sphere, torus, Bézier.
    pub faces_by_type: [u32; 6],
    /// Numbers of the input's edges by type of curve: line, circle, ellipse, parabola, hyperbola,
    /// Bézier.
    pub edges_by_curve: [u32; 6],
    /// Numbers of the input's edges by status: convex, concave, smooth (G¹) or seam, mixed (the status
    /// changes along the edge).
    pub edges_by_status: [u32; 4],
    /// Numbers of supermaximal faces and supermaximal edges, including edges that cannot carry an LMD.
    pub supermaximal: [u32; 2],
    /// Largest measured distance (mm) between an edge's curve and the images of its trims on the faces.
    pub max_trim_deviation: f64,
    /// Largest uncertainty of lengths that the input states (mm); 0 if it states none.
    pub uncertainty: f64,
}

/// A supermaximal face: all source faces of a solid on one surface with one orientation, adjacent or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Face {
    /// Surface in the frame of the solid.
    pub surface: Surface,
    /// Whether the outward normal is the surface's natural normal `∂u × ∂v`.
    pub outward: bool,
    /// Trimmed domain of the whole supermaximal face. `TrimPiece::edge` is a source edge index, for reports
    /// only.
    pub trim: TrimCells,
    /// Faces of the input that form this face: the entity number of each, with its own domain, or `None`
    /// if it is the only one and has the domain `trim`.
    pub sources: Vec<(u64, Option<TrimCells>)>,
    /// Canonical surface that the free-form `surface` follows closely; queries start from its minima.
    /// `None` for canonical surfaces and for other free forms.
    pub canonical_approximation: Option<NearCanonical<Surface>>,
}

/// A canonical surface or curve that a free-form one follows closely, with differences measured at
/// samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearCanonical<T> {
    /// The canonical surface or curve that the free form follows closely.
    pub shape: T,
    /// For a surface, whether the outward normal of the solid is the natural normal `∂u × ∂v` of `shape`;
    /// `true` for curves.
    pub outward: bool,
    /// Largest distance (mm) between the canonical shape and the free form.
    pub deviation: f64,
    /// Largest angle (rad) between the normals of the surfaces, or between the tangents of the curves.
    pub angle: f64,
    /// Largest difference (1/mm) between the normal curvatures of the surfaces in the same direction, or
    /// between the curvature vectors of the curves.
    pub curvature: f64,
}

/// A supermaximal edge: spans of one curve between the same two supermaximal faces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Curve in the frame of the solid.
    pub curve: Curve,
    /// Disjoint spans in order of increasing parameter. A closed edge of a periodic curve has `closed`
    /// set and one span of a full period. Spans of a periodic curve may extend beyond the end of its
    /// period.
    #[serde(with = "feeler_geom::bulk")]
    pub spans: Vec<Span>,
    /// Whether the edge is one span that closes on itself smoothly, so that its ends are interior points.
    pub closed: bool,
    /// The two faces that meet at the edge; the first one is on the left of the edge
    /// ([`AdjacentFace::forward`]). At a crease where a Bézier face closes on itself, both entries refer to
    /// that face.
    pub sides: [AdjacentFace; 2],
    /// Whether the edge is smooth (G¹) and carries quasi-LMDs only.
    pub quasi_only: bool,
    /// Canonical curve that the free-form `curve` follows closely; queries start from its minima. `None`
    /// for other curves.
    pub canonical_approximation: Option<NearCanonical<Curve>>,
}

/// A connected interval of a supermaximal edge's curve: edges of the input, joined at vertices where no
/// other edge ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Curve parameter at the start of the span.
    pub t0: f64,
    /// Curve parameter at the end of the span; larger than `t0`.
    pub t1: f64,
    /// Entity number of the span's first edge in the input.
    pub source: u64,
    /// Largest measured distance (mm) between the curves of the span's edges and the surfaces of their
    /// faces.
    pub deviation: f64,
}

/// One of the two faces that meet at a supermaximal edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdjacentFace {
    /// Index of the supermaximal face on this side of the edge.
    pub face: FaceId,
    /// Whether the face, seen from outside, is on the left of the edge in the curve's direction.
    pub forward: bool,
    /// Samples `(t, u, v)` in order of increasing `t`: a curve parameter t of the edge, and the
    /// parameters (u, v) of the same point on the face's Bézier surface. Interpolated linearly, they are
    /// the starting values of Newton's method for the (u, v) of other points of the edge, and are dense
    /// enough for it to converge. Parameters may lie outside the surface's period. Empty for canonical
    /// surfaces.
    #[serde(with = "feeler_geom::bulk")]
    pub guide: Vec<[f64; 3]>,
}

/// A vertex of a solid that can carry an LMD or a quasi-LMD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vertex {
    /// Position (mm) in the frame of the solid.
    pub point: P3,
    /// Vectors `v` that define the polar of the tangent cone at the vertex: `{d : ⟨d, v⟩ ≤ 0 for all
    /// v}`.
    pub constraints: Vec<V3>,
    /// Entity number of the vertex in the input.
    pub source: u64,
    /// Largest distance (mm) between this vertex and the ends of its edges.
    pub deviation: f64,
    /// Whether the vertex can carry quasi-LMDs only: its polar is a single direction, and all its edges
    /// carry quasi-LMDs only, too.
    pub quasi_only: bool,
}

/// The feature of which an area is a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Feature {
    /// A supermaximal face.
    Face(FaceId),
    /// A supermaximal edge.
    Edge(EdgeId),
    /// A vertex.
    Vertex(VertexId),
}

/// A piece of one feature over a rectangle or interval of its parameters, with almost constant normals.
/// Each leaf of the tree contains one area. An area never crosses a break of a Bézier grid or spline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Feature that contains the area.
    pub feature: Feature,
    /// Parameters of the area on its feature: a rectangle of the surface's parameters for a face, the
    /// interval `[u0, u1]` of the curve's parameter for an edge, zeros for a vertex.
    pub rect: Rect,
    /// Conservative cone around the directions in the polars of all points of the area; without
    /// generators it contains all directions.
    pub cone: PolyCone,
}

/// A node of the tree over the areas of a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Box that contains all areas below the node, in the frame of the solid.
    pub obb: Obb,
    /// Cone that contains the directions of the polars of all areas below the node.
    pub cone: RevolutionCone,
    /// Union of the bits of the types ([`FeatureType`](crate::FeatureType)) of all features below the
    /// node.
    pub types: u16,
    /// Link to the content of the node. For a leaf, it is the index of its area with the bit
    /// [`Node::LEAF`] set. For an inner node, it is the index of its first child; the second child is
    /// the next node.
    pub link: u32,
}

record!(Span { t0: f64, t1: f64, source: u64, deviation: f64 });
record!(Area { feature: Feature, rect: Rect, cone: PolyCone });
record!(Node { obb: Obb, cone: RevolutionCone, types: u16, link: u32 });

impl Record for Feature {
    const SIZE: usize = 8;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, index) = match self {
            Self::Face(i) => (0_u32, i.0),
            Self::Edge(i) => (1, i.0),
            Self::Vertex(i) => (2, i.0),
        };
        kind.put(out);
        index.put(out);
    }

    #[inline]
    fn take(from: &mut Bytes<'_>) -> Option<Self> {
        let (kind, index) = (u32::take(from)?, u32::take(from)?);
        match kind {
            0 => Some(Self::Face(FaceId(index))),
            1 => Some(Self::Edge(EdgeId(index))),
            2 => Some(Self::Vertex(VertexId(index))),
            _ => None,
        }
    }
}

impl Node {
    /// Bit of `link` that marks a leaf.
    pub const LEAF: u32 = 1 << 31;

    /// Returns the area that a leaf contains, or `None` for an inner node.
    #[must_use]
    pub fn area(&self) -> Option<AreaId> {
        (self.link & Self::LEAF != 0).then_some(AreaId(self.link & !Self::LEAF))
    }

    /// Returns the children of an inner node, `None` for a leaf.
    #[must_use]
    pub fn children(&self) -> Option<[NodeId; 2]> {
        (self.link & Self::LEAF == 0).then(|| [self.link, self.link + 1].map(NodeId))
    }
}
