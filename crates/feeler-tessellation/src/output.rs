//! Cells as polyhedra with common vertices, and their files: VTK (unstructured grid of polyhedra), STL
//! (triangles) and gmsh (surfaces and volumes to be meshed).

use crate::mesh::{CellMesh, ShiftedVertex, triangles};
use crate::tessellation::{Neighbour, volume_and_centroid};
use feeler_geom::{P3, V3};
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

/// Names of the walls in files of gmsh: axis, then lower or upper end.
const WALL_NAMES: [&str; 6] = ["x0", "x1", "y0", "y1", "z0", "z1"];

/// Returns the number of a wall, from 0 to 5: twice the axis, plus 1 at the upper end.
const fn wall_number(axis: u8, upper: bool) -> usize {
    2 * axis as usize + upper as usize
}

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
    /// `gmsh -setnumber size LENGTH`.
    ///
    /// Surfaces are plane; gmsh places the inner points of an uneven face on its mean plane.
    #[must_use]
    pub fn to_geo(&self, labels: &[u32]) -> String {
        let mut out = String::from("SetFactory(\"Built-in\");\n");
        let cells: Vec<(usize, &Range<usize>)> =
            self.cells.iter().enumerate().filter(|(_, c)| !c.is_empty()).collect();
        let diameter = |k: usize| feeler_geom::math::powf(self.volume_and_centroid(k).0.max(0.0), 1.0 / 3.0);
        let mean =
            cells.iter().map(|(k, _)| diameter(*k)).sum::<f64>() / crate::image::as_float(cells.len().max(1));
        // Writing to a string does not fail.
        let _ = writeln!(out, "DefineConstant[ size = {} ];", mean / ELEMENTS_PER_DIAMETER);
        out += "Mesh.MeshSizeMax = size;\n";
        // Numbers start at 1, because a negative number stands for the opposite direction.
        for (k, p) in (1..).zip(&self.points) {
            let _ = writeln!(out, "Point({k}) = {{{}, {}, {}}};", p.x, p.y, p.z);
        }
        let mut lines: HashMap<(u32, u32), usize> = HashMap::new();
        let mut surfaces: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut walls: [Vec<String>; 6] = Default::default();
        let mut volumes = String::new();
        for (number, (k, cell)) in (1..).zip(cells) {
            let mut shell = Vec::new();
            for face in &self.faces[cell.clone()] {
                let mut key = face.vertices.clone();
                key.sort_unstable();
                if let Some(surface) = surfaces.get(&key) {
                    shell.push(format!("-{surface}"));
                    continue;
                }
                let mut sides = Vec::new();
                let next = face.vertices.iter().cycle().skip(1);
                for (a, b) in face.vertices.iter().zip(next) {
                    let line = lines.len() + 1;
                    let known = *lines.entry((*a.min(b), *a.max(b))).or_insert(line);
                    if known == line {
                        let _ = writeln!(out, "Line({line}) = {{{}, {}}};", a.min(b) + 1, a.max(b) + 1);
                    }
                    sides.push(if a < b { known.to_string() } else { format!("-{known}") });
                }
                let surface = surfaces.len() + 1;
                let _ = writeln!(
                    out,
                    "Curve Loop({surface}) = {{{}}}; Plane Surface({surface}) = {{{surface}}};",
                    sides.join(", ")
                );
                surfaces.insert(key, surface);
                shell.push(surface.to_string());
                if let Neighbour::Wall { axis, upper } = face.neighbour {
                    walls[wall_number(axis, upper)].push(surface.to_string());
                }
            }
            let _ = writeln!(
                volumes,
                "Surface Loop({number}) = {{{}}}; Volume({number}) = {{{number}}}; \
                 Physical Volume(\"grain_{1}\", {1}) = {{{number}}};",
                shell.join(", "),
                labels[k]
            );
        }
        out += &volumes;
        for (k, (name, wall)) in (1..).zip(WALL_NAMES.iter().zip(&walls)).filter(|(_, w)| !w.1.is_empty()) {
            let _ = writeln!(out, "Physical Surface(\"{name}\", {k}) = {{{}}};", wall.join(", "));
        }
        out
    }
}
