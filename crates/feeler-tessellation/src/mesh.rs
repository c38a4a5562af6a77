//! Faces and vertices that cells share, and their regularisation: short edges become vertices.
//!
//! # Source
//! DIST §6.3.2, Eq. (6.6). The limits of non-planar faces follow the practice of Neper (Quey, Dawson and
//! Barbe, *Large-scale 3D random polycrystals for the finite element method*, 2011).
//!
//! # Deviations
//! - A merged vertex that lies on walls of the domain stays on them; (6.6) is minimised along the walls.
//! - If the faces leave a direction undetermined, the vertex is placed near the mean of those that it
//!   replaces.
//! - If the minimum of (6.6) makes a face too uneven, the vertex is placed at the middle or an end of the
//!   edge.

use crate::domain::Domain;
use crate::image::as_float;
use crate::tessellation::{Neighbour, Tessellation, area_vector, volume_and_centroid};
use feeler_geom::{P3, V3, math};
use nalgebra::Matrix3;
use std::collections::{BTreeMap, BTreeSet};

/// Vertex of a mesh with the number of domains along each axis by which it is shifted.
pub type ShiftedVertex = (u32, [i32; 3]);

/// Edge of a mesh: two vertices and the shift of the second one relative to the first one.
pub type MeshEdge = (u32, u32, [i32; 3]);

/// Face of a mesh: the boundary between a cell and another one or a wall.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFace {
    /// Index of the cell behind the face.
    pub cell: u32,
    /// Cell or wall in front of the face. Of two cells, `cell` is the one with the lower index.
    pub neighbour: Neighbour,
    /// Vertices in the frame of `cell`, counter-clockwise seen from the neighbour.
    pub vertices: Vec<ShiftedVertex>,
    /// Unit normal of the face's plane before regularisation, towards the neighbour.
    normal: V3,
    /// Signed distance of that plane from the origin.
    offset: f64,
}

impl MeshFace {
    fn edges(&self) -> impl Iterator<Item = MeshEdge> {
        let next = self.vertices.iter().cycle().skip(1);
        self.vertices.iter().zip(next).map(|((u, s), (v, t))| {
            let forward = (*u, *v, minus(*t, *s));
            let backward = (*v, *u, minus(*s, *t));
            forward.min(backward)
        })
    }
}

/// Cells as a mesh of polygons without gaps.
#[derive(Clone, Debug)]
pub struct CellMesh {
    /// Domain of the cells.
    pub domain: Domain,
    /// Positions of the vertices. Vertices that were merged into others are not used by any face.
    pub positions: Vec<P3>,
    /// Faces; those that were merged into edges have no vertices.
    pub faces: Vec<MeshFace>,
    /// For each cell, the indices of its faces, also of those without vertices.
    pub cells: Vec<Vec<u32>>,
}

/// Result of a regularisation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Regularisation {
    /// Length of the shortest edge before.
    pub min_edge_before: f64,
    /// Length of the shortest edge afterwards.
    pub min_edge_after: f64,
    /// Number of edges that were merged.
    pub merged: usize,
    /// Number of edges shorter than the threshold that remain, because merging them would make a face too
    /// uneven or remove a cell.
    pub remaining: usize,
    /// Number of faces that vanished.
    pub vanished_faces: usize,
    /// Largest change of a cell's volume, relative to the volume.
    pub max_volume_change: f64,
}

/// Maximum angle (degrees) between the normal of a face and that of a triangle of a vertex pair and the
/// face's middle. With a larger value, more short edges can be merged; with a smaller one, faces stay nearly
/// planar.
pub const MAX_FACE_ANGLE: f64 = 20.0;

/// Maximum angle (degrees) as [`MAX_FACE_ANGLE`] for triangles of short edges, which are merged later. With a
/// larger value, a face may fold; with a smaller one, one of two adjacent short edges prevents the merge of
/// the other one, because its triangle turns the most.
const MAX_SHORT_ANGLE: f64 = 60.0;

/// Weight of a wall's plane relative to that of a face in the least squares for a vertex.
const WALL_WEIGHT: f64 = 1e8;

/// Weight of the mean of merged vertices, relative to that of a face. A larger value moves vertices away from
/// the minimum of (6.6); with a smaller one, rounding decides along undetermined directions.
const MEAN_WEIGHT: f64 = 1e-6;

const fn plus(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

const fn minus(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Removes consecutive repetitions from a closed loop.
fn without_repetitions(mut loop_: Vec<ShiftedVertex>) -> Vec<ShiftedVertex> {
    loop_.dedup();
    while loop_.len() > 1 && loop_.first() == loop_.last() {
        loop_.pop();
    }
    if loop_.len() < 3 { Vec::new() } else { loop_ }
}

impl CellMesh {
    /// Creates the mesh of all cells of a tessellation. Vertices that coincide remain distinct;
    /// [`Self::regularise`] merges them.
    #[must_use]
    pub fn new(tessellation: &Tessellation) -> Self {
        let shared = tessellation.shared_vertices();
        let mut out = Self {
            domain: tessellation.domain,
            positions: shared.positions,
            faces: Vec::new(),
            cells: vec![Vec::new(); tessellation.cells.len()],
        };
        for (k, cell) in tessellation.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            #[expect(clippy::cast_possible_truncation, reason = "cells have 32-bit indices")]
            let number = k as u32;
            for face in &cell.faces {
                let (other, towards) = match face.neighbour {
                    Neighbour::Cell { index, shift } => {
                        // Each face is stored once: for the lower cell, or the lower one of two images.
                        if (index, shift) < (number, [0; 3]) {
                            continue;
                        }
                        let other = tessellation.sites[index as usize].position + out.shifted(shift);
                        (Some(index), other - tessellation.sites[k].position)
                    }
                    Neighbour::Wall { axis, upper } => {
                        let mut normal = V3::zeros();
                        normal[usize::from(axis)] = if upper { 1.0 } else { -1.0 };
                        (None, normal)
                    }
                };
                let normal = towards.normalize();
                let first = cell.vertices[face.vertices[0] as usize];
                let vertices = face.vertices.iter().map(|v| shared.of_cell[k][*v as usize]).collect();
                let offset = normal.dot(&first.coords);
                #[expect(clippy::cast_possible_truncation, reason = "far fewer faces than 2³²")]
                let index = out.faces.len() as u32;
                let neighbour = face.neighbour;
                out.faces.push(MeshFace { cell: number, neighbour, vertices, normal, offset });
                out.cells[k].push(index);
                if let Some(other) = other {
                    out.cells[other as usize].push(index);
                }
            }
        }
        out
    }

    fn shifted(&self, shift: [i32; 3]) -> V3 {
        V3::from(shift.map(f64::from)).component_mul(&self.domain.lengths)
    }

    /// Returns the position of a vertex with its shift.
    #[must_use]
    pub fn position(&self, vertex: ShiftedVertex) -> P3 {
        self.positions[vertex.0 as usize] + self.shifted(vertex.1)
    }

    /// Returns the polygons of a cell with outward orientation, in the frame of the cell, each with the cell
    /// or wall behind it.
    #[must_use]
    pub fn polygons(&self, cell: usize) -> Vec<(Neighbour, Vec<ShiftedVertex>)> {
        let mut out = Vec::new();
        for (k, f) in self.cells[cell].iter().enumerate() {
            let face = &self.faces[*f as usize];
            if face.vertices.is_empty() {
                continue;
            }
            // A cell that touches its own image has the face twice: the second time seen from the image.
            let is_second = self.cells[cell][..k].contains(f);
            if face.cell as usize == cell && !is_second {
                out.push((face.neighbour, face.vertices.clone()));
            } else if let Neighbour::Cell { shift, .. } = face.neighbour {
                let loop_ = face.vertices.iter().rev().map(|(v, s)| (*v, minus(*s, shift))).collect();
                out.push((Neighbour::Cell { index: face.cell, shift: minus([0; 3], shift) }, loop_));
            }
        }
        out
    }

    /// Returns the triangles of a polygon around its middle if it has more than three vertices.
    #[must_use]
    pub fn triangles(&self, polygon: &[ShiftedVertex]) -> Vec<[P3; 3]> {
        triangles(&polygon.iter().map(|v| self.position(*v)).collect::<Vec<_>>())
    }

    /// Returns the volume and the centre of mass of a cell.
    #[must_use]
    pub fn volume_and_centroid(&self, cell: usize) -> (f64, P3) {
        let polygons = self.polygons(cell);
        let Some(first) = polygons.first().and_then(|(_, p)| p.first()) else {
            return (0.0, P3::origin());
        };
        let about = self.position(*first);
        let triangles = polygons.iter().flat_map(|(_, p)| self.triangles(p)).map(|t| t.to_vec());
        volume_and_centroid(triangles, &about)
    }

    /// Returns all edges.
    #[must_use]
    pub fn edges(&self) -> BTreeSet<MeshEdge> {
        self.faces.iter().flat_map(MeshFace::edges).collect()
    }

    /// Returns all edges, each with the cells that meet there, in ascending order.
    #[must_use]
    pub fn edges_with_cells(&self) -> BTreeMap<MeshEdge, BTreeSet<u32>> {
        let mut out: BTreeMap<MeshEdge, BTreeSet<u32>> = BTreeMap::new();
        for face in &self.faces {
            for edge in face.edges() {
                let cells = out.entry(edge).or_default();
                cells.insert(face.cell);
                if let Neighbour::Cell { index, .. } = face.neighbour {
                    cells.insert(index);
                }
            }
        }
        out
    }

    /// Returns the end points of an edge.
    #[must_use]
    pub fn ends(&self, (u, v, shift): MeshEdge) -> [P3; 2] {
        [self.positions[u as usize], self.position((v, shift))]
    }

    fn edge_length(&self, (u, v, shift): MeshEdge) -> f64 {
        (self.position((v, shift)) - self.positions[u as usize]).norm()
    }

    /// Returns the lengths of all edges in ascending order.
    #[must_use]
    pub fn edge_lengths(&self) -> Vec<f64> {
        let mut out: Vec<f64> = self.edges().into_iter().map(|e| self.edge_length(e)).collect();
        out.sort_by(f64::total_cmp);
        out
    }

    /// Merges the end points of edges shorter than `min_edge`, the shortest edges first, until no more edges
    /// can be merged. The new vertex minimises the sum of squared distances to the original planes of its
    /// faces (6.6), or lies at the middle or an end of the edge.
    pub fn regularise(&mut self, min_edge: f64) -> Regularisation {
        let n = self.cells.len();
        let volumes: Vec<f64> = (0..n).map(|k| self.volume_and_centroid(k).0).collect();
        let shortest = |mesh: &Self| mesh.edge_lengths().first().copied().unwrap_or(0.0);
        let faces = |mesh: &Self| mesh.faces.iter().filter(|f| !f.vertices.is_empty()).count();
        let mut report = Regularisation { min_edge_before: shortest(self), ..Regularisation::default() };
        let faces_before = faces(self);
        let mut merger = Merger::new(self);
        loop {
            let mut short: Vec<(f64, MeshEdge)> = merger
                .mesh
                .edges()
                .into_iter()
                .map(|e| (merger.mesh.edge_length(e), e))
                .filter(|(length, _)| *length < min_edge)
                .collect();
            short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let before = report.merged;
            let mut touched = BTreeSet::new();
            for (_, edge) in &short {
                // Edges around a merged vertex have other lengths now; the next pass has them.
                let is_current = !touched.contains(&edge.0) && !touched.contains(&edge.1);
                if is_current && merger.merge(*edge, min_edge) {
                    touched.extend([edge.0, edge.1]);
                    report.merged += 1;
                }
            }
            if report.merged == before {
                report.remaining = short.len();
                break;
            }
        }
        report.min_edge_after = shortest(self);
        report.vanished_faces = faces_before - faces(self);
        for (k, volume) in volumes.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let change = (self.volume_and_centroid(k).0 - volume).abs() / volume;
            report.max_volume_change = report.max_volume_change.max(change);
        }
        report
    }

    /// Returns whether the triangles of a face deviate from its plane by at most [`MAX_FACE_ANGLE`], or by
    /// [`MAX_SHORT_ANGLE`] at edges shorter than `min_edge`.
    fn is_even(&self, face: &[ShiftedVertex], min_edge: f64) -> bool {
        let points: Vec<P3> = face.iter().map(|v| self.position(*v)).collect();
        let normal = area_vector(&points);
        let [long, short] = [MAX_FACE_ANGLE, MAX_SHORT_ANGLE].map(|a| math::cos(a.to_radians()));
        triangles(&points).iter().all(|t| {
            let n = area_vector(t);
            let limit = if (t[1] - t[0]).norm() < min_edge { short } else { long };
            n.dot(&normal) >= limit * normal.norm() * n.norm()
        })
    }
}

/// Returns the triangles of a polygon around its middle if it has more than three vertices.
pub(crate) fn triangles(points: &[P3]) -> Vec<[P3; 3]> {
    if let [a, b, c] = points[..] {
        return vec![[a, b, c]];
    }
    let middle = middle(points);
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(a, b)| [*a, *b, middle]).collect()
}

pub(crate) fn middle(points: &[P3]) -> P3 {
    P3::from(points.iter().fold(V3::zeros(), |s, p| s + p.coords) / as_float(points.len().max(1)))
}

/// Mesh with the incidences that merging needs.
struct Merger<'a> {
    mesh: &'a mut CellMesh,
    /// Faces at each vertex.
    faces_at: Vec<BTreeSet<u32>>,
    /// Planes of the original faces at each vertex, with the shift of the vertex in their frame.
    planes_at: Vec<BTreeSet<(u32, [i32; 3])>>,
}

impl<'a> Merger<'a> {
    fn new(mesh: &'a mut CellMesh) -> Self {
        let n = mesh.positions.len();
        let (mut faces_at, mut planes_at) = (vec![BTreeSet::new(); n], vec![BTreeSet::new(); n]);
        for (k, face) in mesh.faces.iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "far fewer faces than 2³²")]
            let k = k as u32;
            for (v, shift) in &face.vertices {
                faces_at[*v as usize].insert(k);
                planes_at[*v as usize].insert((k, *shift));
            }
        }
        Self { mesh, faces_at, planes_at }
    }

    /// Merges the second vertex of an edge into the first one, unless the result would not be a valid mesh.
    fn merge(&mut self, (u, v, shift): MeshEdge, min_edge: f64) -> bool {
        if u == v {
            return false;
        }
        let (ui, vi) = (u as usize, v as usize);
        let touched: BTreeSet<u32> = self.faces_at[ui].union(&self.faces_at[vi]).copied().collect();
        let mut loops: BTreeMap<u32, Vec<ShiftedVertex>> = BTreeMap::new();
        for f in &touched {
            let old = &self.mesh.faces[*f as usize].vertices;
            // The vertex v with shift t is at u with shift t − shift.
            let moved = old.iter().map(|(w, t)| if *w == v { (u, minus(*t, shift)) } else { (*w, *t) });
            let new = without_repetitions(moved.collect());
            let distinct: BTreeSet<&ShiftedVertex> = new.iter().collect();
            if distinct.len() < new.len() {
                return false;
            }
            loops.insert(*f, new);
        }
        if !self.has_only_triangles_between(u, v, shift) || !self.keeps_cells(&touched, &loops) {
            return false;
        }
        let planes: BTreeSet<(u32, [i32; 3])> = self.planes_at[ui]
            .iter()
            .copied()
            .chain(self.planes_at[vi].iter().map(|(f, t)| (*f, minus(*t, shift))))
            .collect();
        let ends = [self.mesh.positions[ui], self.mesh.position((v, shift))];
        let mean = nalgebra::center(&ends[0], &ends[1]);
        // The minimum of (6.6) is the best position. If it makes a face too uneven, the others are tried.
        let mut others = [mean, ends[0], ends[1]].map(|p| self.on_walls(&planes, p));
        others.sort_by(|a, b| self.square_sum(&planes, a).total_cmp(&self.square_sum(&planes, b)));
        let best = self.least_squares(&planes, &mean);
        let is_even = |mesh: &mut CellMesh, position: &P3| {
            mesh.positions[ui] = *position;
            loops.values().all(|l| l.is_empty() || mesh.is_even(l, min_edge))
        };
        let found = std::iter::once(best).chain(others).any(|p| is_even(self.mesh, &p));
        if !found {
            self.mesh.positions[ui] = ends[0];
            return false;
        }
        for (f, new) in loops {
            for (w, _) in &self.mesh.faces[f as usize].vertices {
                self.faces_at[*w as usize].remove(&f);
            }
            for (w, _) in &new {
                self.faces_at[*w as usize].insert(f);
            }
            self.mesh.faces[f as usize].vertices = new;
        }
        self.planes_at[ui] = planes;
        self.planes_at[vi].clear();
        true
    }

    /// Returns whether each vertex adjacent to both ends of an edge is in a triangle with them. Otherwise two
    /// edges would become one without a face between them.
    fn has_only_triangles_between(&self, u: u32, v: u32, shift: [i32; 3]) -> bool {
        let adjacent = |x: u32, base: [i32; 3]| {
            let mut out = BTreeSet::new();
            for f in &self.faces_at[x as usize] {
                let list = &self.mesh.faces[*f as usize].vertices;
                for (k, (_, t)) in list.iter().enumerate().filter(|(_, (w, _))| *w == x) {
                    for (y, s) in [list[(k + 1) % list.len()], list[(k + list.len() - 1) % list.len()]] {
                        out.insert((y, plus(minus(s, *t), base)));
                    }
                }
            }
            out
        };
        let (of_u, of_v) = (adjacent(u, [0; 3]), adjacent(v, shift));
        of_u.intersection(&of_v).all(|(w, s)| {
            self.faces_at[u as usize].iter().any(|f| {
                let list = &self.mesh.faces[*f as usize].vertices;
                let base = list.iter().find(|(x, _)| *x == u).map_or([0; 3], |(_, t)| *t);
                list.len() == 3
                    && list.contains(&(v, plus(shift, base)))
                    && list.contains(&(*w, plus(*s, base)))
            })
        })
    }

    /// Returns whether all cells at the given faces keep at least four faces.
    fn keeps_cells(&self, touched: &BTreeSet<u32>, loops: &BTreeMap<u32, Vec<ShiftedVertex>>) -> bool {
        let mut cells = BTreeSet::new();
        for f in touched {
            let face = &self.mesh.faces[*f as usize];
            cells.insert(face.cell);
            if let Neighbour::Cell { index, .. } = face.neighbour {
                cells.insert(index);
            }
        }
        cells.iter().all(|c| {
            let remains = |f: &&u32| {
                let list = loops.get(*f).unwrap_or(&self.mesh.faces[**f as usize].vertices);
                !list.is_empty()
            };
            self.mesh.cells[*c as usize].iter().filter(remains).count() >= 4
        })
    }

    /// Returns the point with the smallest sum of squared distances to planes; on walls, among the points of
    /// the walls.
    fn least_squares(&self, planes: &BTreeSet<(u32, [i32; 3])>, mean: &P3) -> P3 {
        let (mut matrix, mut right) = (Matrix3::identity() * MEAN_WEIGHT, V3::zeros());
        for (f, shift) in planes {
            let face = &self.mesh.faces[*f as usize];
            let at = mean + self.mesh.shifted(*shift);
            let gap = face.offset - face.normal.dot(&at.coords);
            let mut weight = 1.0;
            if let Neighbour::Wall { .. } = face.neighbour {
                weight = WALL_WEIGHT;
            }
            matrix += face.normal * face.normal.transpose() * weight;
            right += face.normal * (gap * weight);
        }
        let step = matrix.cholesky().map_or_else(V3::zeros, |c| c.solve(&right));
        self.on_walls(planes, mean + step)
    }

    /// Moves a point onto the walls among the planes.
    fn on_walls(&self, planes: &BTreeSet<(u32, [i32; 3])>, mut point: P3) -> P3 {
        for (f, _) in planes {
            if let Neighbour::Wall { axis, upper } = self.mesh.faces[*f as usize].neighbour {
                let axis = usize::from(axis);
                point[axis] = if upper { self.mesh.domain.lengths[axis] } else { 0.0 };
            }
        }
        point
    }

    /// Computes the sum of squared distances of a point to planes.
    fn square_sum(&self, planes: &BTreeSet<(u32, [i32; 3])>, point: &P3) -> f64 {
        let gaps = planes.iter().map(|(f, shift)| {
            let face = &self.mesh.faces[*f as usize];
            face.offset - face.normal.dot(&(point + self.mesh.shifted(*shift)).coords)
        });
        gaps.map(|gap| gap * gap).sum()
    }
}
