//! Result of a clearance check as a page.

use super::Checked;
use super::output::{detail, distance, finding, status, summary, volume};
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use feeler_assembly::{AssemblyPart, ClearancePair, PairMeasurement, status_name};
use feeler_view::picture::{PicturePair, PictureScene, What};

/// Converts a measured pair to a pair of a picture, with its minima and its status.
fn pair(m: &PairMeasurement) -> PicturePair {
    let status = if m.error.is_some() { "failed" } else { status_name(m.status) };
    PicturePair {
        parts: m.parts,
        status: status.to_owned(),
        minima: m.contacts.iter().map(drawing::minimum).collect(),
        more: m.contact_count - m.contacts.len(),
        witness: m.witness.map(|w| w.point),
    }
}

/// Scene of a picture with all parts at their poses and the measured pairs of parts.
pub(crate) fn scene<'a>(
    drawing: &mut Drawing,
    parts: &[AssemblyPart],
    measured: impl Iterator<Item = &'a PairMeasurement>,
) -> PictureScene {
    let shapes = drawing.shapes_of_bodies(parts.iter().map(|p| &p.body));
    let parts = parts.iter().zip(shapes).map(|(p, shape)| drawing::still(&p.path, shape, p.pose));
    PictureScene { parts: parts.collect(), pairs: measured.map(pair).collect(), ..PictureScene::default() }
}

pub(super) fn page(checked: &Checked) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let measured = checked.report.pairs.iter().filter_map(|p| p.measurement.as_ref());
    let scene = scene(&mut drawing, &checked.parts, measured);
    let scene = drawing.add(scene);
    let header = ["finding", "status", "distance mm", "depth mm", "volume mm3", "A", "B", "what"];
    let mut pairs = 0;
    let mut row = |pair: &ClearancePair| {
        let [a, b] = checked.paths(pair);
        let status = status(pair);
        let depth = if pair.depth() > 0.0 { format!("{:.6}", pair.depth()) } else { "-".to_owned() };
        let what = match pair.measurement {
            Some(_) => What::Pair(pairs, None),
            None => What::Parts(pair.parts.to_vec()),
        };
        pairs += usize::from(pair.measurement.is_some());
        Row {
            class: if pair.is_new_finding() { "new" } else { "" },
            cells: vec![
                Cell::new("", finding(pair)),
                Cell::new(status, status),
                Cell::new("n", distance(pair)),
                Cell::new("n", depth),
                Cell::new("n", volume(pair)),
                Cell::new("path", a),
                Cell::new("path", b),
                Cell::new("", detail(pair)),
            ],
            show: Some(drawing.show(scene, what)),
        }
    };
    let rows: Vec<Row> = checked.report.pairs.iter().map(&mut row).collect();
    let mut errors: Vec<String> = checked.left_out.iter().map(|w| format!("not checked: {w}")).collect();
    errors.append(&mut drawing.failed);
    report("Clearance", &summary(checked), &errors, (&header, &rows), drawing.finished())
}
