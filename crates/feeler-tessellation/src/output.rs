//! Files of cells: VTK (unstructured grid of polyhedra) and STL (triangles).

use crate::mesh::{CellMesh, ShiftedVertex};
use feeler_geom::V3;
use std::collections::HashMap;
use std::fmt::Write as _;

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

/// Type number of a polyhedron in VTK.
const VTK_POLYHEDRON: u32 = 42;

impl CellMesh {
    /// Returns an unstructured grid of polyhedra in VTK's XML format (`.vtu`), for `ParaView` and other
    /// programs. `origin` is added to all positions, and `values` are the cell data, in the order of the
    /// cells. Cells without faces are left out.
    #[must_use]
    pub fn to_vtu(&self, origin: &V3, values: &[CellValues]) -> String {
        let mut points = String::new();
        let mut numbers: HashMap<ShiftedVertex, usize> = HashMap::new();
        let [mut connectivity, mut offsets, mut faces, mut face_offsets, mut types] =
            [const { String::new() }; 5];
        let [mut labels, mut weights, mut volumes] = [const { String::new() }; 3];
        let (mut offset, mut face_offset, mut count) = (0, 0, 0);
        // Writing to a string does not fail.
        for (cell, value) in values.iter().enumerate() {
            let polygons = self.polygons(cell);
            if polygons.is_empty() {
                continue;
            }
            count += 1;
            let mut own: Vec<usize> = Vec::new();
            let _ = write!(faces, "{} ", polygons.len());
            face_offset += 1;
            for (_, polygon) in &polygons {
                let _ = write!(faces, "{} ", polygon.len());
                face_offset += 1 + polygon.len();
                for vertex in polygon {
                    let next = numbers.len();
                    let number = *numbers.entry(*vertex).or_insert_with(|| {
                        let p = self.position(*vertex) + origin;
                        let _ = writeln!(points, "{} {} {}", p.x, p.y, p.z);
                        next
                    });
                    let _ = write!(faces, "{number} ");
                    if !own.contains(&number) {
                        own.push(number);
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
            numbers.len()
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

    /// Returns the surfaces of all cells as STL text: one solid for each cell, named `grain_LABEL`. `origin`
    /// is added to all positions. Faces between two cells belong to both solids.
    #[must_use]
    pub fn to_stl(&self, origin: &V3, labels: &[u32]) -> String {
        let mut out = String::new();
        for (cell, label) in labels.iter().enumerate() {
            let polygons = self.polygons(cell);
            if polygons.is_empty() {
                continue;
            }
            // Writing to a string does not fail.
            let _ = writeln!(out, "solid grain_{label}");
            for triangle in polygons.iter().flat_map(|(_, p)| self.triangles(p)) {
                let n = (triangle[1] - triangle[0]).cross(&(triangle[2] - triangle[0]));
                let n = n.try_normalize(0.0).unwrap_or_default();
                let _ = writeln!(out, "facet normal {} {} {}\nouter loop", n.x, n.y, n.z);
                for p in triangle.map(|p| p + origin) {
                    let _ = writeln!(out, "vertex {} {} {}", p.x, p.y, p.z);
                }
                out += "endloop\nendfacet\n";
            }
            let _ = writeln!(out, "endsolid grain_{label}");
        }
        out
    }
}
