//! Cells as polyhedra with common vertices, and their files: VTK (unstructured grid of polyhedra), STL
//! (triangles) and gmsh (surfaces and volumes to be meshed).

use crate::image::as_float;
use crate::mesh::{CellMesh, ShiftedVertex, middle as middle_of, triangles};
use crate::tessellation::{Neighbour, area_vector, volume_and_centroid};
use feeler_geom::{P3, V3, math};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Values of a cell that a VTK file has besides its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellValues {
    /// Label of the grain.
    pub label: u32,
    /// Weight of the site.
    pub weight: f64,
    /// Volume.
    pub volume: f64,
}

/// Face of a polyhedron.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolyhedronFace {
    /// Cell or wall on the other side.
    pub neighbour: Neighbour,
    /// Indices of the vertices, counter-clockwise seen from outside.
    pub vertices: Vec<u32>,
}

/// Cells as polyhedra. Each cell has its own faces; the faces of two adjacent cells have the same vertices in
/// opposite order. A cell is in one piece, also if it crosses a periodic boundary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polyhedra {
    /// Positions of the vertices.
    pub points: Vec<P3>,
    /// Faces of all cells, in the order of the cells.
    pub faces: Vec<PolyhedronFace>,
    /// For each cell, the indices of its faces; empty for a cell without volume.
    pub cells: Vec<Range<usize>>,
}

/// Type number of a polyhedron in VTK.
const VTK_POLYHEDRON: u32 = 42;

/// Number of elements along the mean diameter of a cell in a mesh of gmsh, if the user does not give another
/// size. A larger number gives finer meshes.
const ELEMENTS_PER_DIAMETER: f64 = 5.0;

/// Maximum distance of the vertices of a plane face from its plane, relative to its size. With a larger
/// value, gmsh places points of uneven faces on planes that may intersect other faces; with a smaller one,
/// rounding divides faces into triangles.
const PLANAR: f64 = 1e-9;

/// Names of the walls in files of gmsh: axis, then lower or upper end.
const WALL_NAMES: [&str; 6] = ["x0", "x1", "y0", "y1", "z0", "z1"];

impl CellMesh {
    /// Returns the cells as polyhedra. `origin` is added to all positions.
    #[must_use]
    pub fn polyhedra(&self, origin: &V3) -> Polyhedra {
        let mut numbers: HashMap<ShiftedVertex, u32> = HashMap::new();
        let mut out = Polyhedra::default();
        for cell in 0..self.cells.len() {
            let start = out.faces.len();
            for (neighbour, polygon) in self.polygons(cell) {
                let number = |v: &ShiftedVertex| {
                    *numbers.entry(*v).or_insert_with(|| {
                        out.points.push(self.position(*v) + origin);
                        u32::try_from(out.points.len() - 1).unwrap_or(u32::MAX)
                    })
                };
                let vertices = polygon.iter().map(number).collect();
                out.faces.push(PolyhedronFace { neighbour, vertices });
            }
            out.cells.push(start..out.faces.len());
        }
        out
    }
}

impl Polyhedra {
    fn polygon(&self, face: &PolyhedronFace) -> Vec<P3> {
        face.vertices.iter().map(|v| self.points[*v as usize]).collect()
    }

    /// Returns the volume and the centre of mass of a cell.
    #[must_use]
    pub fn volume_and_centroid(&self, cell: usize) -> (f64, P3) {
        let faces = &self.faces[self.cells[cell].clone()];
        let Some(first) = faces.first().and_then(|f| f.vertices.first()) else {
            return (0.0, P3::origin());
        };
        let about = self.points[*first as usize];
        let pieces = faces.iter().flat_map(|f| triangles(&self.polygon(f))).map(|t| t.to_vec());
        volume_and_centroid(pieces, &about)
    }

    /// Returns an unstructured grid of polyhedra in VTK's XML format (`.vtu`), for `ParaView` and other
    /// programs. `values` are the cell data, in the order of the cells. Cells without faces are left out.
    #[must_use]
    pub fn to_vtu(&self, values: &[CellValues]) -> String {
        let mut points = String::new();
        let [mut connectivity, mut offsets, mut faces, mut face_offsets, mut types] =
            [const { String::new() }; 5];
        let [mut labels, mut weights, mut volumes] = [const { String::new() }; 3];
        let (mut offset, mut face_offset, mut count) = (0, 0, 0);
        // Writing to a string does not fail.
        for p in &self.points {
            let _ = writeln!(points, "{} {} {}", p.x, p.y, p.z);
        }
        for (cell, value) in self.cells.iter().zip(values).filter(|(c, _)| !c.is_empty()) {
            count += 1;
            let mut own: Vec<u32> = Vec::new();
            let _ = write!(faces, "{} ", cell.len());
            face_offset += 1;
            for face in &self.faces[cell.clone()] {
                let _ = write!(faces, "{} ", face.vertices.len());
                face_offset += 1 + face.vertices.len();
                for number in &face.vertices {
                    let _ = write!(faces, "{number} ");
                    if !own.contains(number) {
                        own.push(*number);
                    }
                }
            }
            faces.push('\n');
            for number in &own {
                let _ = write!(connectivity, "{number} ");
            }
            connectivity.push('\n');
            offset += own.len();
            let _ = writeln!(offsets, "{offset}");
            let _ = writeln!(face_offsets, "{face_offset}");
            let _ = writeln!(types, "{VTK_POLYHEDRON}");
            let _ = writeln!(labels, "{}", value.label);
            let _ = writeln!(weights, "{}", value.weight);
            let _ = writeln!(volumes, "{}", value.volume);
        }
        let array = |kind: &str, name: &str, components: &str, text: &str| {
            format!(
                "<DataArray type=\"{kind}\" Name=\"{name}\"{components} format=\"ascii\">\n\
                 {text}</DataArray>\n"
            )
        };
        let mut out = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
             byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" \
             NumberOfCells=\"{count}\">\n<Points>\n",
            self.points.len()
        );
        out += &array("Float64", "points", " NumberOfComponents=\"3\"", &points);
        out += "</Points>\n<Cells>\n";
        out += &array("Int64", "connectivity", "", &connectivity);
        out += &array("Int64", "offsets", "", &offsets);
        out += &array("UInt8", "types", "", &types);
        out += &array("Int64", "faces", "", &faces);
        out += &array("Int64", "faceoffsets", "", &face_offsets);
        out += "</Cells>\n<CellData Scalars=\"label\">\n";
        out += &array("UInt32", "label", "", &labels);
        out += &array("Float64", "weight", "", &weights);
        out += &array("Float64", "volume", "", &volumes);
        out += "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
        out
    }

    /// Returns the surfaces of all cells as STL text: one solid for each cell, named `grain_LABEL`. Faces
    /// between two cells belong to both solids.
    #[must_use]
    pub fn to_stl(&self, labels: &[u32]) -> String {
        let mut out = String::new();
        for (cell, label) in self.cells.iter().zip(labels).filter(|(c, _)| !c.is_empty()) {
            // Writing to a string does not fail.
            let _ = writeln!(out, "solid grain_{label}");
            for triangle in self.faces[cell.clone()].iter().flat_map(|f| triangles(&self.polygon(f))) {
                let n = (triangle[1] - triangle[0]).cross(&(triangle[2] - triangle[0]));
                let n = n.try_normalize(0.0).unwrap_or_default();
                let _ = writeln!(out, "facet normal {} {} {}\nouter loop", n.x, n.y, n.z);
                for p in triangle {
                    let _ = writeln!(out, "vertex {} {} {}", p.x, p.y, p.z);
                }
                out += "endloop\nendfacet\n";
            }
            let _ = writeln!(out, "endsolid grain_{label}");
        }
        out
    }

    /// Returns the cells as a geometry of gmsh (`.geo`): surfaces and volumes that meshes of adjacent cells
    /// share. Volumes have the names `grain_LABEL` and their labels as physical groups, walls the names `x0`,
    /// `x1`, … `z1`. The size of the elements is a fifth of the mean diameter of the cells, or that of
    /// `gmsh -setnumber size LENGTH`. Uneven faces are triangles around their middle.
    #[must_use]
    pub fn to_geo(&self, labels: &[u32]) -> String {
        let cells: Vec<(usize, &Range<usize>)> =
            self.cells.iter().enumerate().filter(|(_, c)| !c.is_empty()).collect();
        let diameter = |k: usize| math::powf(self.volume_and_centroid(k).0.max(0.0), 1.0 / 3.0);
        let sum: f64 = cells.iter().map(|(k, _)| diameter(*k)).sum();
        let mean = sum / as_float(cells.len().max(1));
        let mut out = Geometry::default();
        self.points.iter().for_each(|p| out.add_point(*p));
        // Surfaces of a face, by its vertices in ascending order.
        let mut known: HashMap<Vec<u32>, Range<usize>> = HashMap::new();
        let mut walls: [Vec<usize>; 6] = Default::default();
        let mut volumes = String::new();
        // Numbers start at 1, because a negative number stands for the opposite direction.
        for (number, (k, cell)) in (1..).zip(cells) {
            let mut shell = Vec::new();
            for face in &self.faces[cell.clone()] {
                let mut key = face.vertices.clone();
                key.sort_unstable();
                if let Some(surfaces) = known.get(&key) {
                    shell.extend(surfaces.clone().map(|s| format!("-{s}")));
                    continue;
                }
                let surfaces = out.add_face(face, &self.polygon(face));
                shell.extend(surfaces.clone().map(|s| s.to_string()));
                if let Neighbour::Wall { axis, upper } = face.neighbour {
                    walls[2 * usize::from(axis) + usize::from(upper)].extend(surfaces.clone());
                }
                known.insert(key, surfaces);
            }
            // Writing to a string does not fail.
            let _ = writeln!(
                volumes,
                "Surface Loop({number}) = {{{}}}; Volume({number}) = {{{number}}}; \
                 Physical Volume(\"grain_{1}\", {1}) = {{{number}}};",
                shell.join(", "),
                labels[k]
            );
        }
        for (k, (name, wall)) in (1..).zip(WALL_NAMES.iter().zip(&walls)).filter(|(_, w)| !w.1.is_empty()) {
            let list: Vec<String> = wall.iter().map(usize::to_string).collect();
            let _ = writeln!(volumes, "Physical Surface(\"{name}\", {k}) = {{{}}};", list.join(", "));
        }
        format!(
            "SetFactory(\"Built-in\");\nDefineConstant[ size = {} ];\nMesh.MeshSizeMax = size;\n\
             // Raises the quality of the worst elements.\nMesh.OptimizeNetgen = 1;\n{}{volumes}",
            mean / ELEMENTS_PER_DIAMETER,
            out.text
        )
    }
}

/// Points, lines and surfaces of a file of gmsh.
#[derive(Default)]
struct Geometry {
    text: String,
    point_count: u32,
    lines: HashMap<(u32, u32), usize>,
    surface_count: usize,
}

impl Geometry {
    fn add_point(&mut self, p: P3) {
        self.point_count += 1;
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "Point({}) = {{{}, {}, {}}};", self.point_count, p.x, p.y, p.z);
    }

    /// Adds the surfaces of a face: one, or triangles around the middle. Returns their numbers.
    fn add_face(&mut self, face: &PolyhedronFace, polygon: &[P3]) -> Range<usize> {
        let start = self.surface_count + 1;
        if is_planar(polygon) {
            self.add_surface(&face.vertices);
        } else {
            let middle = self.point_count;
            self.add_point(middle_of(polygon));
            let next = face.vertices.iter().cycle().skip(1);
            for (a, b) in face.vertices.iter().zip(next) {
                self.add_surface(&[*a, *b, middle]);
            }
        }
        start..self.surface_count + 1
    }

    fn add_surface(&mut self, vertices: &[u32]) {
        let mut sides = Vec::new();
        for (a, b) in vertices.iter().zip(vertices.iter().cycle().skip(1)) {
            let (low, high) = (*a.min(b), *a.max(b));
            let next = self.lines.len() + 1;
            let line = *self.lines.entry((low, high)).or_insert(next);
            if line == next {
                let _ = writeln!(self.text, "Line({line}) = {{{}, {}}};", low + 1, high + 1);
            }
            sides.push(if a < b { line.to_string() } else { format!("-{line}") });
        }
        self.surface_count += 1;
        let (k, list) = (self.surface_count, sides.join(", "));
        let _ = writeln!(self.text, "Curve Loop({k}) = {{{list}}}; Plane Surface({k}) = {{{k}}};");
    }
}

/// Returns whether the vertices of a polygon lie in a plane.
fn is_planar(polygon: &[P3]) -> bool {
    let middle = middle_of(polygon);
    let Some(normal) = area_vector(polygon).try_normalize(0.0) else { return true };
    let size = polygon.iter().map(|p| (p - middle).norm()).fold(0.0, f64::max);
    polygon.len() == 3 || polygon.iter().all(|p| normal.dot(&(p - middle)).abs() <= PLANAR * size)
}
