//! Page that plays the motion of a mechanism and has a table with a row for each pair of parts.

use super::Checked;
use super::output::{PAIR_HEADER, pair_cells};
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use feeler_assembly::{Margin, MechanismPair, MovingPart};
use feeler_view::picture::{PictureMinimum, PictureMotion, PicturePair, PicturePart, PictureScene, What};

pub(super) fn page(title: &str, checked: &Checked<'_>) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let shapes = drawing.shapes_of_bodies(checked.parts.iter().map(|p| &p.body));
    let part = |(p, shape): (&MovingPart, usize)| PicturePart {
        track: Some(p.link),
        ..drawing::still(&p.name, shape, p.pose)
    };
    let pairs = &checked.report.pairs;
    let scene = PictureScene {
        name: title.to_owned(),
        parts: checked.parts.iter().zip(shapes).map(part).collect(),
        pairs: pairs.iter().map(pair).collect(),
        motion: Some(motion(checked)),
        ..PictureScene::default()
    };
    let scene = drawing.add(scene);
    let row = |(k, p): (usize, &MechanismPair)| {
        let [a, b, distance, time, interfering, depth, depth_time, between] = pair_cells(checked, p);
        let cells = vec![
            Cell::new("path", a),
            Cell::new("path", b),
            Cell::new("n", distance),
            Cell::new("n", time),
            Cell::new("n", interfering),
            Cell::new("n", depth),
            Cell::new("n", depth_time),
            Cell::new("", between),
        ];
        let step = p.deepest().or(p.smallest()).map(|(_, i)| i);
        let class = if p.interfering_steps() > 0 { "new" } else { "" };
        Row { class, cells, show: Some(drawing.show(scene, What::Pair(k, step))) }
    };
    let rows: Vec<Row> = pairs.iter().enumerate().map(row).collect();
    let smallest = checked.smallest_margin().map_or_else(
        || "no pair is nearer than --d-max".to_owned(),
        |m| format!("smallest margin {:.9} mm", m.distance),
    );
    let summary = format!("{} steps of {} pairs; {smallest}", checked.report.moments.len(), pairs.len());
    report(title, &summary, &drawing.failed, (&PAIR_HEADER, &rows), drawing.finished())
}

/// Converts a pair of parts to a pair of a picture, with its smallest distance over the motion as the
/// only minimum; parts that interfere have none, because they are shown where they are deepest.
fn pair(p: &MechanismPair) -> PicturePair {
    let smallest = p.smallest().filter(|_| p.interfering_steps() == 0);
    let minimum = smallest.and_then(|(distance, i)| {
        let points = p.steps[i].points?;
        Some(PictureMinimum { distance, points, features: Default::default(), kind: "nearest" })
    });
    PicturePair {
        parts: p.parts,
        status: if p.interfering_steps() > 0 { "interfering" } else { "separated" }.to_owned(),
        minima: minimum.into_iter().collect(),
        more: 0,
        witness: None,
    }
}

fn motion(checked: &Checked<'_>) -> PictureMotion {
    let (pairs, moments) = (&checked.report.pairs, &checked.report.moments);
    let links = moments.first().map_or(0, |m| m.links.len());
    let minima = |(i, margin): (usize, &Option<Margin>)| {
        margin.and_then(|m| pairs[m.pair].steps[i].points).into_iter().collect()
    };
    PictureMotion {
        times: moments.iter().map(|m| m.time).collect(),
        unit: "s",
        curve: None,
        tracks: (0..links).map(|link| moments.iter().map(|m| m.links[link]).collect()).collect(),
        margin: checked.margins.iter().map(|m| m.map(|m| m.distance)).collect(),
        interfering: (0..moments.len()).filter(|i| checked.report.interferes(*i)).collect(),
        minima: checked.margins.iter().enumerate().map(minima).collect(),
    }
}
