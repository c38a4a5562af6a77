//! Drawn shape of one solid: its mesh and the layers over it.

use crate::mesh::{Mesh, MeshError, mesh};
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P2, P3, V3};
use feeler_hierarchy::{Face, Feature, Hierarchy, NodeId};
use std::collections::BTreeMap;

/// Line segment between two points (mm).
pub type LineSegment = [P3; 2];

/// Drawn shape of one solid, in its own coordinates (mm).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// Name of the solid, as displayed.
    pub name: String,
    /// Mesh of the solid's surface.
    pub mesh: Mesh,
    /// Edges between faces, and boundaries of faces.
    pub edges: Vec<LineSegment>,
    /// Borders of leaf areas within faces.
    pub areas: Vec<LineSegment>,
    /// Boxes of the hierarchy, with their levels: 0 at the root.
    pub boxes: Vec<(u32, Obb)>,
    /// Cones of normals of leaf areas: the centre of the area, and the generators of its cone.
    pub cones: Vec<(P3, Vec<V3>)>,
    /// Type of the surface of each supermaximal face, and the entity number of its first source face.
    pub faces: Vec<(&'static str, u64)>,
    /// Vertices of the mesh at each time of the motion, for a deformable object; empty for a rigid one.
    pub frames: Vec<SurfaceFrame>,
}

/// Vertices of a surface at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceFrame {
    /// Positions (mm), one for each vertex of the mesh.
    pub points: Vec<P3>,
    /// Outward unit normals, one for each vertex of the mesh.
    pub normals: Vec<V3>,
}

impl Shape {
    /// Creates the shape of a solid, with a mesh within `chord` (mm) of it, and with the layers of the
    /// hierarchy if `with_layers` is set.
    ///
    /// # Errors
    /// Those of [`mesh`].
    pub fn new(solid: &Hierarchy, chord: f64, with_layers: bool) -> Result<Self, MeshError> {
        let mesh = mesh(solid, chord)?;
        let edges = outlines(&mesh);
        let source = |f: &Face| f.sources.first().map_or(0, |s| s.0);
        let faces = solid.faces.iter().map(|f| (f.surface.type_name(), source(f))).collect();
        let mut out = Self { name: solid.info.name.clone(), mesh, edges, faces, ..Self::default() };
        if with_layers {
            out.areas = area_borders(solid);
            (out.boxes, out.cones) = boxes_and_cones(solid);
        }
        Ok(out)
    }

    /// Creates a shape from triangles without a solid, as one face. Its edges are creases and boundaries
    /// of the mesh.
    #[must_use]
    pub fn of_mesh(name: &str, mesh: Mesh) -> Self {
        let edges = outlines(&mesh);
        Self { name: name.to_owned(), mesh, edges, faces: vec![("triangles", 0)], ..Self::default() }
    }

    /// Creates a shape that consists of lines only, such as the edges of a solid that cannot be prepared.
    #[must_use]
    pub fn of_lines(name: &str, edges: Vec<LineSegment>) -> Self {
        Self { name: name.to_owned(), edges, ..Self::default() }
    }

    /// Centre of the bounding box (mm), relative to which coordinates are stored as 32-bit numbers.
    #[must_use]
    pub fn middle(&self) -> P3 {
        let (min, max) = self.corners();
        nalgebra::center(&min, &max)
    }

    /// Diagonal of the bounding box (mm).
    #[must_use]
    pub fn size(&self) -> f64 {
        let (min, max) = self.corners();
        (max - min).norm()
    }

    /// Smallest and largest coordinates of the mesh, or of the edges of a shape without triangles.
    fn corners(&self) -> (P3, P3) {
        let is_wire = self.mesh.points.is_empty();
        let wire = self.edges.iter().flatten().take(if is_wire { usize::MAX } else { 0 });
        let mut points = self.mesh.points.iter().chain(wire);
        let Some(first) = points.next() else { return (P3::origin(), P3::origin()) };
        points.fold((*first, *first), |(a, b), p| (a.inf(p), b.sup(p)))
    }
}

/// Cosine of the angle between the normals of two triangles of one face below which their common side is
/// drawn as a crease. Smooth faces get lines with a larger value; creases are not drawn with a smaller
/// one.
const CREASE_COS: f64 = 0.9;

/// Line segments of a mesh to draw: sides of triangles between two faces, at an open boundary, or at a
/// crease.
fn outlines(mesh: &Mesh) -> Vec<LineSegment> {
    struct SideOf {
        /// Face of the first triangle that has the side.
        face: u32,
        normal: V3,
        ends: [u32; 2],
        /// Number of triangles that have the side.
        count: u32,
        is_line: bool,
    }
    let mut sides: BTreeMap<(u32, u32), SideOf> = BTreeMap::new();
    for (t, &face) in mesh.triangles.iter().zip(&mesh.faces) {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            let [p, q] = [a, b].map(|i| mesh.welded[i as usize]);
            // The normal is taken at the same end for all triangles at the side.
            let normal = mesh.normals[if p <= q { a } else { b } as usize];
            let new = SideOf { face, count: 0, normal, is_line: false, ends: [a, b] };
            let side = sides.entry((p.min(q), p.max(q))).or_insert(new);
            side.count += 1;
            side.is_line |= side.face != face || side.normal.dot(&normal) < CREASE_COS;
        }
    }
    let drawn = sides.values().filter(|s| s.is_line || s.count == 1);
    let points = |s: &SideOf| s.ends.map(|i| mesh.points[i as usize]);
    drawn.map(points).filter(|[p, q]| p != q).collect()
}

/// Number of line segments that draw a side of an area. A larger value gives larger pages; with a
/// smaller one, bent borders are drawn with corners.
const SEGMENTS_PER_SIDE: u32 = 12;

/// Line segments of the borders between leaf areas of the same face, as far as they are inside the
/// trims. Each area contributes its sides at its smallest u and v, unless these are sides of the face's
/// parameter rectangle.
fn area_borders(solid: &Hierarchy) -> Vec<LineSegment> {
    let mut out = Vec::new();
    for area in &solid.areas {
        let Feature::Face(id) = area.feature else { continue };
        let face = &solid.faces[id.index()];
        let (own, whole) = (&area.rect, &face.trim.rect);
        let mut side = |from: P2, to: P2| {
            let at = |i: u32| from + (to - from) * (f64::from(i) / f64::from(SEGMENTS_PER_SIDE));
            for i in 0..SEGMENTS_PER_SIDE {
                let (a, b) = (at(i), at(i + 1));
                if face.trim.classify(nalgebra::center(&a, &b)) == Side::Inside {
                    out.push([face.surface.point(a), face.surface.point(b)]);
                }
            }
        };
        if own.u0 > whole.u0 {
            side(P2::new(own.u0, own.v0), P2::new(own.u0, own.v1));
        }
        if own.v0 > whole.v0 {
            side(P2::new(own.u0, own.v0), P2::new(own.u1, own.v0));
        }
    }
    out
}

type Boxes = Vec<(u32, Obb)>;
type Cones = Vec<(P3, Vec<V3>)>;

fn boxes_and_cones(solid: &Hierarchy) -> (Boxes, Cones) {
    let (mut boxes, mut cones) = (Vec::new(), Vec::new());
    let mut stack = if solid.nodes.is_empty() { Vec::new() } else { vec![(NodeId(0), 0)] };
    while let Some((id, level)) = stack.pop() {
        let node = &solid.nodes[id.index()];
        boxes.push((level, node.obb));
        if let Some(area) = node.area() {
            let area = &solid.areas[area.index()];
            let middle = match area.feature {
                Feature::Face(f) => solid.faces[f.index()].surface.point(area.rect.center()),
                Feature::Edge(e) => solid.edges[e.index()].curve.point(0.5 * (area.rect.u0 + area.rect.u1)),
                Feature::Vertex(v) => solid.vertices[v.index()].point,
            };
            if !area.cone.is_all() {
                cones.push((middle, area.cone.generators.to_vec()));
            }
        }
        stack.extend(node.children().into_iter().flatten().map(|c| (c, level + 1)));
    }
    (boxes, cones)
}

#[cfg(test)]
mod tests;
