//! What an importer hands over: one solid as its file describes it, in millimetres.

use feeler_geom::{Curve, P3, Surface};

/// One solid as read: closed shells (the outer one first, then voids) over shared edges and vertices.
#[derive(Clone, Debug, Default)]
pub struct SolidSource {
    /// Name, possibly empty.
    pub name: String,
    /// Entity id of the solid in its file (0 when there is none).
    pub id: u64,
    /// Vertices.
    pub vertices: Vec<VertexSource>,
    /// Edges.
    pub edges: Vec<EdgeSource>,
    /// Faces of all shells.
    pub faces: Vec<FaceSource>,
    /// Largest uncertainty that the file states (mm), 0 when it states none.
    pub uncertainty: f64,
}

/// A vertex.
#[derive(Clone, Debug)]
pub struct VertexSource {
    /// Entity id.
    pub id: u64,
    /// Position (mm).
    pub point: P3,
}

/// An edge: the part of `curve` from the start vertex to the end vertex, in the curve's direction when
/// `same_sense` and against it otherwise. Start and end may be the same vertex (a closed edge).
#[derive(Clone, Debug)]
pub struct EdgeSource {
    /// Entity id.
    pub id: u64,
    /// Curve; its parameters need not be known to the importer.
    pub curve: Curve,
    /// Parameter range, when the file trims the curve explicitly.
    pub range: Option<(f64, f64)>,
    /// Start vertex.
    pub start: u32,
    /// End vertex.
    pub end: u32,
    /// Whether the edge runs along its curve.
    pub same_sense: bool,
}

/// A face: the part of `surface` to the left of its loops, seen from outside the material.
#[derive(Clone, Debug)]
pub struct FaceSource {
    /// Entity id.
    pub id: u64,
    /// Shell: 0 is the outer one.
    pub shell: u32,
    /// Surface.
    pub surface: Surface,
    /// Distance between `surface` and the file's own (0 when exact).
    pub surface_deviation: f64,
    /// Whether the outward normal (all of face orientation, `same_sense` and shell orientation folded in) is
    /// the surface's natural normal.
    pub outward: bool,
    /// `outward` is a guess: the file leaves open which way its surface's normal points.
    pub either_way: bool,
    /// Loops. Empty: the whole closed surface (a sphere, a torus).
    pub loops: Vec<LoopSource>,
}

/// A loop, oriented so that the face is on its left seen from outside the material.
#[derive(Clone, Debug)]
pub enum LoopSource {
    /// Edges in order, each with whether it is walked from its start to its end vertex.
    Edges(Vec<(u32, bool)>),
    /// A single vertex (an apex, a pole).
    Vertex(u32),
}

impl SolidSource {
    /// A point (mm) of the vertex, edge or face with this entity id, if there is one: where to look for it.
    #[must_use]
    pub fn place_of(&self, entity: u64) -> Option<P3> {
        if let Some(v) = self.vertices.iter().find(|v| v.id == entity) {
            return Some(v.point);
        }
        if let Some(e) = self.edges.iter().find(|e| e.id == entity) {
            return Some(self.vertices.get(e.start as usize)?.point);
        }
        let face = self.faces.iter().find(|f| f.id == entity)?;
        let vertex = match face.loops.first()? {
            LoopSource::Edges(edges) => self.edges.get(edges.first()?.0 as usize)?.start,
            LoopSource::Vertex(v) => *v,
        };
        Some(self.vertices.get(vertex as usize)?.point)
    }
}
