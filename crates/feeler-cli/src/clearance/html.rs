//! The answer as a page.

use super::Checked;
use super::measure::Measured;
use super::output::{detail, distance, finding, status, summary};
use super::parts::Part;
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::verdict::status_name;
use feeler_view::picture::{Pair, Scene, What};

/// A pair as it is drawn.
pub(crate) fn pair(m: &Measured) -> Pair {
    let status = if m.failed.is_some() { "failed" } else { status_name(Some(m.status)) };
    Pair {
        parts: m.parts,
        status: status.to_owned(),
        minima: m.listed.iter().map(drawing::minimum).collect(),
        more: m.minima - m.listed.len(),
        witness: m.witness.map(|w| w.point),
    }
}

/// Parts in their places, with pairs that were measured.
pub(crate) fn scene<'a>(
    drawing: &mut Drawing,
    parts: &[Part],
    measured: impl Iterator<Item = &'a Measured>,
) -> Scene {
    let shapes = drawing.shapes_of_bodies(parts.iter().map(|p| &p.body));
    let parts = parts.iter().zip(shapes).map(|(p, shape)| drawing::still(&p.path, shape, p.pose));
    Scene { parts: parts.collect(), pairs: measured.map(pair).collect(), ..Scene::default() }
}

pub(super) fn page(checked: &Checked) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let scene = scene(&mut drawing, &checked.parts, checked.rows.iter().filter_map(|r| r.measured.as_ref()));
    let scene = drawing.add(scene);
    let header = ["finding", "status", "distance mm", "depth mm", "A", "B", "what"];
    let mut pairs = 0;
    let mut row = |row: &super::Row| {
        let [a, b] = row.parts.map(|i| checked.parts[i].path.as_str());
        let status = status(row);
        let depth = if row.depth() > 0.0 { format!("{:.6}", row.depth()) } else { "-".to_owned() };
        let what = match row.measured {
            Some(_) => What::Pair(pairs, None),
            None => What::Parts(row.parts.to_vec()),
        };
        pairs += usize::from(row.measured.is_some());
        Row {
            class: if row.is_new_finding() { "new" } else { "" },
            cells: vec![
                Cell::new("", finding(row)),
                Cell::new(status, status),
                Cell::new("n", distance(row)),
                Cell::new("n", depth),
                Cell::new("path", a),
                Cell::new("path", b),
                Cell::new("", detail(row)),
            ],
            show: Some(drawing.show(scene, what)),
        }
    };
    let rows: Vec<Row> = checked.rows.iter().map(&mut row).collect();
    let mut wrong: Vec<String> = checked.left_out.iter().map(|w| format!("not checked: {w}")).collect();
    wrong.append(&mut drawing.failed);
    report("Clearance", &summary(checked), &wrong, (&header, &rows), drawing.finished())
}
