//! Output of an importer: one solid as its file describes it, in millimetres.

use std::f64::consts::TAU;

use feeler_geom::{Curve, P3, Surface, math};

/// One solid as read: closed shells (the outer one first, then voids) with shared edges and vertices.
#[derive(Clone, Debug, Default)]
pub struct SolidSource {
    /// Name of the solid, possibly empty.
    pub name: String,
    /// Entity id of the solid in its file; 0 without one.
    pub id: u64,
    /// Vertices of all shells; edges and loops refer to them by index.
    pub vertices: Vec<VertexSource>,
    /// Edges of all shells; loops refer to them by index.
    pub edges: Vec<EdgeSource>,
    /// Faces of all shells.
    pub faces: Vec<FaceSource>,
    /// Largest uncertainty that the file states (mm); 0 if it states none.
    pub uncertainty: f64,
}

/// A vertex of the source.
#[derive(Clone, Debug)]
pub struct VertexSource {
    /// Entity id of the vertex.
    pub id: u64,
    /// Position (mm) of the vertex.
    pub point: P3,
}

/// An edge: the part of `curve` from the start vertex to the end vertex, in the curve's direction if
/// `same_sense` and against it otherwise. Start and end may be the same vertex (a closed edge).
#[derive(Clone, Debug)]
pub struct EdgeSource {
    /// Entity id of the edge.
    pub id: u64,
    /// Curve. The importer need not compute the parameters of the vertices.
    pub curve: Curve,
    /// Parameter range on the curve, if the file trims the curve explicitly; otherwise the vertices
    /// determine it.
    pub range: Option<(f64, f64)>,
    /// Index of the start vertex.
    pub start: u32,
    /// Index of the end vertex.
    pub end: u32,
    /// Whether the edge, from its start to its end vertex, runs in the direction of its curve.
    pub same_sense: bool,
}

/// A face: the part of `surface` to the left of its loops, seen from outside the material.
#[derive(Clone, Debug)]
pub struct FaceSource {
    /// Entity id of the face.
    pub id: u64,
    /// Index of the shell that contains the face: 0 is the outer shell, the others are voids or, before
    /// [`split`](crate::lumps::split), lumps.
    pub shell: u32,
    /// Surface that contains the face.
    pub surface: Surface,
    /// Maximum distance (mm) between `surface` and the surface of the file that it replaces; 0 if it is
    /// exact.
    pub surface_deviation: f64,
    /// Whether the outward normal is the surface's natural normal, with face orientation, `same_sense`
    /// and shell orientation taken into account.
    pub outward: bool,
    /// Whether `outward` is a guess, because the file does not define the direction of the surface's
    /// normal.
    pub either_way: bool,
    /// Whether the face is on the outer sheet of a spindle torus; `None` if the source does not state
    /// it, and for other surfaces.
    pub outer_sheet: Option<bool>,
    /// Loops that bound the face; empty for a whole closed surface such as a sphere or a torus.
    pub loops: Vec<LoopSource>,
}

/// A loop, oriented so that the face is on its left when seen from outside the material.
#[derive(Clone, Debug)]
pub enum LoopSource {
    /// Edge indices in order, each with whether the loop runs from the edge's start to its end vertex.
    Edges(Vec<(u32, bool)>),
    /// Index of a single vertex, such as an apex or a pole.
    Vertex(u32),
}

impl SolidSource {
    /// Returns a point (mm) of the vertex, edge or face with this entity id, for locating it; `None`
    /// without such an entity or point.
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

    /// Returns line segments (mm) along those edges that have the entity id `entity`, or that bound the
    /// face with this id; along all edges for `None`. They are meant for drawing: an edge whose curve does
    /// not pass through its vertices is drawn as it is in the file, joined to its vertices by straight
    /// lines.
    #[must_use]
    pub fn outline(&self, entity: Option<u64>) -> Vec<[P3; 2]> {
        let faces = self.faces.iter().filter(|f| entity == Some(f.id)).flat_map(|f| &f.loops);
        let of_faces: Vec<u32> = faces
            .flat_map(|l| match l {
                LoopSource::Edges(walk) => walk.iter().map(|u| u.0).collect(),
                LoopSource::Vertex(_) => Vec::new(),
            })
            .collect();
        let is_meant = |k: usize, e: &EdgeSource| {
            entity.is_none_or(|id| e.id == id || of_faces.iter().any(|f| *f as usize == k))
        };
        let edges = self.edges.iter().enumerate().filter(|(k, e)| is_meant(*k, e));
        let points = edges.filter_map(|(_, e)| self.points_along(e));
        points.flat_map(|p| p.windows(2).map(|w| [w[0], w[1]]).collect::<Vec<_>>()).collect()
    }

    /// Returns points (mm) along an edge, from its start to its end vertex; `None` if one of its vertices
    /// is missing.
    fn points_along(&self, e: &EdgeSource) -> Option<Vec<P3>> {
        let [a, b] = [self.vertices.get(e.start as usize)?.point, self.vertices.get(e.end as usize)?.point];
        let mut points = vec![a];
        if !matches!(e.curve, Curve::Line { .. }) {
            let (first, last) = if e.same_sense { (a, b) } else { (b, a) };
            let (t0, t1) = e.range.unwrap_or_else(|| match (&e.curve, e.curve.period()) {
                (Curve::Bezier(spline), _) if e.start == e.end => spline.range(),
                (Curve::Bezier(spline), _) => {
                    let (lo, hi) = spline.range();
                    (e.curve.project(&first, lo, hi), e.curve.project(&last, lo, hi))
                }
                (curve, Some(period)) => {
                    let t0 = curve.project(&first, 0.0, period);
                    let sweep = math::wrap(curve.project(&last, 0.0, period) - t0, 0.0, period);
                    (t0, t0 + if e.start == e.end { period } else { sweep })
                }
                (curve, None) => (curve.project(&first, -TAU, TAU), curve.project(&last, -TAU, TAU)),
            });
            let at = |k: u32| e.curve.point(t0 + (t1 - t0) * f64::from(k) / f64::from(DRAWN_PIECES));
            let mut along: Vec<P3> = (0..=DRAWN_PIECES).map(at).collect();
            if !e.same_sense {
                along.reverse();
            }
            points.extend(along.into_iter().filter(|p| p.iter().all(|x| x.is_finite())));
        }
        points.push(b);
        Some(points)
    }
}

/// Number of line segments with which [`SolidSource::outline`] draws a curved edge. Long edges look angular
/// with a smaller number; pages are larger with a larger one.
const DRAWN_PIECES: u32 = 24;
