//! Features, areas, nodes.

use crate::id::{AreaId, EdgeId, FaceId, NodeId, VertexId};
use feeler_geom::bulk::{Bytes, Record};
use feeler_geom::record;
use feeler_geom::trim::TrimCells;
use feeler_geom::{Curve, Obb, P3, PolyCone, Pose, Rect, RevolutionCone, Surface, V3};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use serde::{Deserialize, Serialize};

/// Everything one input file gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Base name of the input.
    pub input: String,
    /// FNV-1a hash of the input's bytes.
    pub input_hash: u64,
    /// Options of the preparation.
    pub options: Options,
    /// Distinct solids.
    pub solids: Vec<Hierarchy>,
    /// Solids in their places.
    pub instances: Vec<Instance>,
    /// The assembly tree, parents before their children; empty when the input has none.
    pub components: Vec<Component>,
    /// What the import had to say, in the order of the input; what was left out comes last.
    pub remarks: Vec<Remark>,
    /// What the file was made by and from, besides the input.
    pub origin: Origin,
}

/// What a file was made by and from, besides its input: whether it is still up to date can be told from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The program and its version.
    pub program: String,
    /// Other files that the input refers to.
    pub references: Vec<Reference>,
}

/// How bad something is that the import found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Odd, and without effect on the shape.
    Note,
    /// Repaired, guessed or approximated: worth a look.
    Warning,
    /// A solid or a component of the assembly is left out.
    Error,
}

/// One thing that the import had to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// The solid that it is about, as `solid #12 'name'`; empty: the file, or its assembly.
    pub subject: String,
    /// Entity of the input (`#12`), if it is about one.
    pub entity: Option<u64>,
    /// A point of that entity (mm, in the coordinates of its solid), if it has a place.
    pub place: Option<[f64; 3]>,
    /// What is the matter, and what to do where that is known.
    pub message: String,
}

impl Remark {
    /// The message with what it is about.
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
    /// One message for each solid or component of the input that could not be prepared.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let errors = self.remarks.iter().filter(|r| r.severity == Severity::Error);
        errors.map(Remark::about).collect()
    }
}

/// Another file that an input refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Its path as the input names it, from the input's folder.
    pub path: String,
    /// FNV-1a hash of its bytes; none: it was not there.
    pub hash: Option<u64>,
}

/// A node of the assembly tree: a product in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Name of the product, numbered where a parent uses it several times.
    pub name: String,
    /// Entity id of its use in the parent, or of the product at a root.
    pub source: u64,
    /// Index of the component it is in; none for a root.
    pub parent: Option<u32>,
    /// The first coordinate changes its sign before it is moved.
    pub mirrored: bool,
    /// Translation (mm) from its own coordinates to its parent's.
    pub translation: [f64; 3],
    /// Unit quaternion x, y, z, w, likewise.
    pub rotation: [f64; 4],
    /// Indices of the instances that are directly in it.
    pub instances: Vec<u32>,
}

/// Options of the preparation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Largest apex angle (rad) of the normals of an area; those of free-form areas stay at 0.5 or below.
    pub flatness: f64,
}

/// A solid in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Index of the distinct solid.
    pub solid: u32,
    /// Name.
    pub name: String,
    /// Names from the root of the assembly to the solid, joined by `/`.
    pub path: String,
    /// Translation (mm).
    pub translation: [f64; 3],
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
}

impl Instance {
    /// From the solid's coordinates to the world (mm).
    #[must_use]
    pub fn pose(&self) -> Pose {
        let [x, y, z, w] = self.rotation;
        Pose::from_parts(
            Translation3::from(self.translation),
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
        )
    }
}

/// One solid with its hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hierarchy {
    /// Facts for people.
    pub info: SolidInfo,
    /// Supermaximal faces.
    pub faces: Vec<Face>,
    /// Supermaximal edges that can carry an LMD.
    pub edges: Vec<Edge>,
    /// Vertices that can carry an LMD.
    pub vertices: Vec<Vertex>,
    /// Leaves.
    #[serde(with = "feeler_geom::bulk")]
    pub areas: Vec<Area>,
    /// Binary tree; node 0 is the root. Children of an inner node are adjacent.
    #[serde(with = "feeler_geom::bulk")]
    pub nodes: Vec<Node>,
    /// Points (mm) whose convex hull holds the solid, near enough that no extent of it along any direction is
    /// more than 1 % larger than that of the solid: what bounds a body that moves. Empty only where there are
    /// no nodes.
    #[serde(with = "feeler_geom::bulk")]
    pub hull: Vec<P3>,
}

/// Where the mass of a solid of density 1 is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inertia {
    /// Centre of mass (mm), in the axes of the part.
    pub centroid: [f64; 3],
    /// Inertia tensor (mm⁵) about the centroid, in the axes of the part: moments of inertia on the diagonal,
    /// negative products of inertia beside it.
    pub tensor: [[f64; 3]; 3],
}

/// Facts for people and tolerances for the runtime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolidInfo {
    /// Name.
    pub name: String,
    /// Entity id.
    pub source: u64,
    /// Smallest coordinates (mm).
    pub bbox_min: [f64; 3],
    /// Largest coordinates (mm).
    pub bbox_max: [f64; 3],
    /// Area (mm²).
    pub area: f64,
    /// Volume (mm³).
    pub volume: f64,
    /// Centroid and inertia; none where there is no volume (open surfaces).
    pub inertia: Option<Inertia>,
    /// Smallest thickness of the material (mm), never more than it: the shortest segment into the material
    /// that is normal to faces at both ends (docs/MATH.md, §19). Infinite where there is none, and for
    /// sheets; 0 where nothing could be proven.
    pub wall: f64,
    /// Source counts: faces, edges, vertices.
    pub source_counts: [u32; 3],
    /// Source faces by surface: plane, cylinder, cone, sphere, torus, bezier.
    pub faces_by_type: [u32; 6],
    /// Source edges by curve: line, circle, ellipse, parabola, hyperbola, bezier.
    pub edges_by_curve: [u32; 6],
    /// Source edges by status: convex, concave, g1, mixed.
    pub edges_by_status: [u32; 4],
    /// Supermaximal faces and edges, all statuses.
    pub supermaximal: [u32; 2],
    /// Largest measured deviation between an edge and its trimming curves (mm).
    pub max_trim_deviation: f64,
}

/// A supermaximal face.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Face {
    /// Surface.
    pub surface: Surface,
    /// Whether the outward normal is the natural one.
    pub outward: bool,
    /// Trimmed domain of the whole supermaximal face. `TrimPiece::edge` is a source edge index, for reports
    /// only.
    pub trim: TrimCells,
    /// Source faces: entity ids, with their own domains when there are several.
    pub sources: Vec<(u64, Option<TrimCells>)>,
    /// Of a free-form surface that is almost canonical: where to look for its minima.
    pub near: Option<NearCanonical<Surface>>,
}

/// A canonical surface or curve that a free-form one follows, with what it is off, measured at samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearCanonical<T> {
    /// The canonical surface or curve.
    pub shape: T,
    /// Whether the outward normal is the natural one of a surface; `true` for curves.
    pub outward: bool,
    /// Largest distance (mm).
    pub deviation: f64,
    /// Largest angle (rad) between the normals, of curves between the tangents.
    pub angle: f64,
    /// Largest difference (1/mm) of normal curvatures in one direction, of curves that of the curvature
    /// vectors.
    pub curvature: f64,
}

/// A supermaximal edge: spans of one curve between the same two supermaximal faces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Curve.
    pub curve: Curve,
    /// Disjoint spans by increasing parameter; a closed edge of a periodic curve has one span of a full
    /// period and `closed`. Spans of a periodic curve may reach over the end of its period.
    #[serde(with = "feeler_geom::bulk")]
    pub spans: Vec<Span>,
    /// One span that closes on itself smoothly: the ends are interior points.
    pub closed: bool,
    /// The two faces, the one on the left (`forward`) first. Both may be one Bézier face, at a crease where
    /// it closes.
    pub sides: [Side; 2],
    /// Smooth (G¹) edges carry quasi-LMDs only.
    pub quasi_only: bool,
    /// Of a free-form curve that is almost canonical: where to look for its minima.
    pub near: Option<NearCanonical<Curve>>,
}

/// A connected part of a supermaximal edge: source edges joined where nothing else ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Start parameter.
    pub t0: f64,
    /// End parameter.
    pub t1: f64,
    /// Entity id of the first source edge.
    pub source: u64,
    /// Largest measured deviation of the source edges from their faces (mm).
    pub deviation: f64,
}

/// One face beside an edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Supermaximal face.
    pub face: FaceId,
    /// Whether the face, seen from outside, is on the left of the edge in the curve's direction.
    pub forward: bool,
    /// Samples `(t, u, v)` in increasing `t` from which to invert edge points on a Bézier surface: so dense
    /// that Newton converges from linear interpolation. Parameters may leave the surface's period. Empty for
    /// canonical surfaces.
    #[serde(with = "feeler_geom::bulk")]
    pub guide: Vec<[f64; 3]>,
}

/// A vertex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vertex {
    /// Position (mm).
    pub point: P3,
    /// Polar of the tangent cone: `{d : ⟨d, v⟩ ≤ 0 for all v}`.
    pub constraints: Vec<V3>,
    /// Entity id.
    pub source: u64,
    /// Distance (mm) within which this vertex and the ends of its edges agree.
    pub deviation: f64,
    /// Carries quasi-LMDs only.
    pub quasi_only: bool,
}

/// Which feature an area is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Feature {
    /// A supermaximal face.
    Face(FaceId),
    /// A supermaximal edge.
    Edge(EdgeId),
    /// A vertex.
    Vertex(VertexId),
}

/// A leaf: an almost flat piece of one feature. It never crosses a break of a Bézier grid or spline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Feature.
    pub feature: Feature,
    /// Parameters: the rectangle for a face, `[u0, u1]` = `[t0, t1]` for an edge, zeros for a vertex.
    pub rect: Rect,
    /// Conservative cone around the polars of all its points; no generators: all directions.
    pub cone: PolyCone,
}

/// A node of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Conservative box.
    pub obb: Obb,
    /// Conservative cone around the polars.
    pub cone: RevolutionCone,
    /// Bits of [`FeatureType`](crate::FeatureType) present below.
    pub types: u16,
    /// Leaf: index of the area with the top bit set. Inner: index of the first child, the second is next to
    /// it.
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
    /// Top bit of `link`.
    pub const LEAF: u32 = 1 << 31;

    /// The area of a leaf.
    #[must_use]
    pub fn area(&self) -> Option<AreaId> {
        (self.link & Self::LEAF != 0).then_some(AreaId(self.link & !Self::LEAF))
    }

    /// The children of an inner node.
    #[must_use]
    pub fn children(&self) -> Option<[NodeId; 2]> {
        (self.link & Self::LEAF == 0).then(|| [self.link, self.link + 1].map(NodeId))
    }
}
