//! Page of `feeler tessellate --html`: cells before and after regularisation, and a table of them.

use super::{Outcome, rms_voxels};
use crate::drawing::Drawing;
use crate::page::{Cell, Row, report};
use feeler_geom::{P3, Pose, V3};
use feeler_tessellation::{CellMesh, Grains, Neighbour, ShiftedVertex};
use feeler_view::mesh::Mesh;
use feeler_view::picture::{PictureMark, PicturePart, PictureScene, Tint, What};
use feeler_view::shape::Shape;
use std::collections::{BTreeSet, HashMap};

/// Cells of a page.
pub(super) struct Content<'a> {
    pub(super) title: &'a str,
    pub(super) grains: &'a Grains,
    pub(super) outcome: &'a Outcome,
    /// Position of the image's origin, which is added to all positions.
    pub(super) origin: V3,
    /// Cells before regularisation; `None` if they were not regularised.
    pub(super) before: Option<&'a CellMesh>,
    /// Cells as written to files.
    pub(super) mesh: &'a CellMesh,
    /// Length below which edges are marked.
    pub(super) min_edge: Option<f64>,
}

/// Values of a cell.
struct Facts {
    /// Volume in voxels.
    volume: f64,
    /// Labels of the cells at its faces.
    neighbours: Vec<u32>,
    edge_count: usize,
    min_edge: f64,
}

/// Returns the HTML of the page.
pub(super) fn page(content: &Content<'_>) -> anyhow::Result<String> {
    let grains = content.grains;
    let mut drawing = Drawing::new(None, false);
    if let Some(before) = content.before {
        let facts = facts(before, grains);
        add_scene(&mut drawing, content, before, &facts, "before regularisation");
    }
    let facts = facts(content.mesh, grains);
    let name = if content.before.is_some() { "after regularisation" } else { "cells" };
    let scene = add_scene(&mut drawing, content, content.mesh, &facts, name);
    // The regularised cells are displayed first.
    drawing.picture.scenes.swap(0, scene);
    let rows: Vec<Row> = facts
        .iter()
        .enumerate()
        .map(|(k, f)| {
            let number = |text: String| Cell::new("n", text);
            let cells = vec![
                number(grains.labels[k].to_string()),
                number(grains.voxels[k].to_string()),
                number(format!("{:.1}", f.volume)),
                number(f.neighbours.len().to_string()),
                number(f.edge_count.to_string()),
                number(if f.edge_count > 0 { format!("{:.4}", f.min_edge) } else { String::new() }),
                Cell::new("", list(&f.neighbours)),
            ];
            let show = (f.edge_count > 0).then(|| drawing.show(0, What::Parts(vec![part_of(&facts, k)])));
            Row { class: "", cells, show }
        })
        .collect();
    let header = [
        "label",
        "voxels",
        "volume (voxels)",
        "neighbours",
        "edges",
        "shortest edge",
        "labels of neighbours",
    ];
    report(content.title, &summary(content), &[], (&header, &rows), drawing.finished())
}

fn summary(content: &Content<'_>) -> String {
    let outcome = content.outcome;
    let mut out = format!(
        "{} cells; boundary voxels within {:.4} voxels of their cells (rms); Rand index {:.6}.",
        content.grains.labels.len(),
        rms_voxels(content.grains, &outcome.state),
        outcome.rand_index
    );
    if let (Some(r), Some(length)) = (&outcome.regularisation, content.min_edge) {
        out += &format!(
            " Regularisation merged {} edges shorter than {length}; {} remain. The shortest edge was {:.4}, \
             and is {:.4}. The volume of a cell changed by at most {:.2} %.",
            r.merged,
            r.remaining,
            r.min_edge_before,
            r.min_edge_after,
            100.0 * r.max_volume_change
        );
    }
    out
}

fn list(labels: &[u32]) -> String {
    labels.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Index of the part of a cell: cells without faces have no part.
fn part_of(facts: &[Facts], cell: usize) -> usize {
    facts[..cell].iter().filter(|f| f.edge_count > 0).count()
}

fn facts(mesh: &CellMesh, grains: &Grains) -> Vec<Facts> {
    let mut out: Vec<Facts> = (0..grains.labels.len())
        .map(|k| {
            let neighbours: BTreeSet<u32> = mesh
                .polygons(k)
                .into_iter()
                .filter_map(|(neighbour, _)| match neighbour {
                    Neighbour::Cell { index, .. } => Some(grains.labels[index as usize]),
                    Neighbour::Wall { .. } => None,
                })
                .collect();
            Facts {
                volume: mesh.volume_and_centroid(k).0 / grains.voxel_volume,
                neighbours: neighbours.into_iter().collect(),
                edge_count: 0,
                min_edge: f64::INFINITY,
            }
        })
        .collect();
    for (edge, cells) in mesh.edges_with_cells() {
        let [a, b] = mesh.ends(edge);
        for cell in cells {
            let facts = &mut out[cell as usize];
            facts.edge_count += 1;
            facts.min_edge = facts.min_edge.min((a - b).norm());
        }
    }
    out
}

/// Adds a scene of all cells, in which edges shorter than the minimum are marked.
fn add_scene(
    drawing: &mut Drawing,
    content: &Content<'_>,
    mesh: &CellMesh,
    facts: &[Facts],
    name: &str,
) -> usize {
    let labels = &content.grains.labels;
    let mut parts = Vec::new();
    for (k, f) in facts.iter().enumerate().filter(|(_, f)| f.edge_count > 0) {
        let shape = drawing.picture.shapes.len();
        drawing.picture.shapes.push(shape_of(mesh, k, labels, &content.origin));
        let facts = vec![
            format!("volume {:.1} voxels ({} in the image)", f.volume, content.grains.voxels[k]),
            format!("{} edges, the shortest {:.4}", f.edge_count, f.min_edge),
            format!("{} neighbours: {}", f.neighbours.len(), list(&f.neighbours)),
        ];
        #[expect(clippy::cast_possible_truncation, reason = "grains have 32-bit indices")]
        let tint = Tint::Number(k as u32);
        let path = format!("grain {}", labels[k]);
        parts.push(PicturePart { path, shape, pose: Pose::identity(), track: None, tint, facts });
    }
    let mut short: Vec<(f64, PictureMark)> = Vec::new();
    for (edge, cells) in content.min_edge.map(|_| mesh.edges_with_cells()).unwrap_or_default() {
        let [a, b] = mesh.ends(edge).map(|p| p + content.origin);
        let length = (a - b).norm();
        if content.min_edge.is_some_and(|limit| length < limit) {
            let around: Vec<u32> = cells.iter().map(|c| labels[*c as usize]).collect();
            let text = format!("edge of length {length:.4} between grains {}", list(&around));
            let mark = PictureMark { class: "warning", text, lines: vec![[a, b]], ..PictureMark::default() };
            short.push((length, mark));
        }
    }
    short.sort_by(|a, b| a.0.total_cmp(&b.0));
    drawing.add(PictureScene {
        name: match content.min_edge {
            Some(_) => format!("{name}: {} short edges", short.len()),
            None => name.to_owned(),
        },
        parts,
        marks: short.into_iter().map(|(_, mark)| mark).collect(),
        are_cells: true,
        ..PictureScene::default()
    })
}

/// Builds the surface of a cell. Triangles have their own vertices, because their normals differ if a face
/// is uneven.
fn shape_of(mesh: &CellMesh, cell: usize, labels: &[u32], origin: &V3) -> Shape {
    let mut out = Mesh::default();
    let (mut edges, mut faces) = (Vec::new(), Vec::new());
    let mut first_at: HashMap<[u64; 3], u32> = HashMap::new();
    for (face, (neighbour, polygon)) in (0_u32..).zip(mesh.polygons(cell)) {
        faces.push(match neighbour {
            Neighbour::Cell { index, .. } => ("grain", u64::from(labels[index as usize])),
            Neighbour::Wall { .. } => ("wall", 0),
        });
        for triangle in mesh.triangles(&polygon) {
            let normal = (triangle[1] - triangle[0]).cross(&(triangle[2] - triangle[0]));
            let normal = normal.try_normalize(0.0).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "cells have few vertices")]
            let start = out.points.len() as u32;
            for (corner, p) in (start..).zip(triangle) {
                let p: P3 = p + origin;
                out.welded.push(*first_at.entry([p.x, p.y, p.z].map(f64::to_bits)).or_insert(corner));
                out.points.push(p);
                out.normals.push(normal);
            }
            out.triangles.push([start, start + 1, start + 2]);
            out.faces.push(face);
        }
        let at = |v: &ShiftedVertex| mesh.position(*v) + origin;
        let next = polygon.iter().cycle().skip(1);
        // Each edge belongs to two faces of the cell, with opposite directions.
        edges.extend(polygon.iter().zip(next).filter(|(a, b)| a < b).map(|(a, b)| [at(a), at(b)]));
    }
    let name = format!("grain {}", labels[cell]);
    Shape { name, mesh: out, edges, faces, ..Shape::default() }
}
