//! Status of solids against that of an independent kernel (`data/golden/verdicts.json`).
//!
//! Known wrong verdicts are listed in `tests/known-wrong-verdicts.txt`; the list may only shrink. A row
//! whose verdict changes to another wrong one remains listed.
#![expect(clippy::print_stdout, reason = "the test reports the numbers of compared rows")]

use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryOptions, Status};
use feeler_tests::{Part, data_dir, model};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Deserialize)]
struct Golden {
    /// Solids whose distance is at most this part of the size count as touching.
    touch: f64,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    a: String,
    b: String,
    /// How the pose was chosen.
    what: String,
    /// Translation (mm) and unit quaternion x, y, z, w.
    pose_b: [f64; 7],
    /// Distance (mm), `None` if the other kernel failed.
    distance: Option<f64>,
    /// Common volume (mm³), `None` if the other kernel failed.
    common: Option<f64>,
    verdict: String,
    /// Reason why the row is not used as a reference, if any.
    #[serde(default)]
    marked: Option<String>,
}

fn pose(p: &[f64; 7]) -> Pose {
    Pose::from_parts(
        Translation3::new(p[0], p[1], p[2]),
        UnitQuaternion::from_quaternion(Quaternion::new(p[6], p[3], p[4], p[5])),
    )
}

/// Lines `row: reason` of the list of known failures; `#` starts a comment.
fn known_failures() -> BTreeMap<String, String> {
    include_str!("../../known-wrong-verdicts.txt")
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'))
        .map(|l| {
            let (row, why) = l.split_once(": ").expect("lines are `row: reason`");
            (row.to_owned(), why.to_owned())
        })
        .collect()
}

/// Name of a status as in the golden file.
fn name(status: Option<Status>) -> String {
    status.map_or_else(String::new, |s| format!("{s:?}").to_lowercase())
}

/// Description of a wrong verdict of a row, `None` if it is right.
fn fault(row: &Row, a: &Part, b: &Part, touch: f64) -> Option<String> {
    let size = a.solid.bounds.diagonal().max(b.solid.bounds.diagonal());
    let deviation = a.body.hierarchy().info.max_trim_deviation + b.body.hierarchy().info.max_trim_deviation;
    let close = touch * size + deviation;
    let mut pair = ContactPair::new(Arc::clone(&a.body), Arc::clone(&b.body));
    let options = QueryOptions::within(10.0 * close);
    pair.query(&a.pose, &(pose(&row.pose_b) * b.pose), &options).expect("finite poses and options");
    let status = name(pair.status());
    let apart = pair.min_distance().is_none_or(|d| d > 0.0);
    let near = pair.min_distance().is_some_and(|d| d <= close);
    // The other kernel's `touching` has a larger tolerance, so a gap within that tolerance is accepted.
    let same = status == row.verdict || row.verdict == "touching" && status == "separated" && apart && near;
    (!same).then(|| {
        format!(
            "{status} at {:?}, expected {}: distance {:?}, common volume {:?}",
            pair.min_distance(),
            row.verdict,
            row.distance,
            row.common
        )
    })
}

#[test]
fn verdicts_equal_those_of_the_other_kernel() {
    let text = std::fs::read_to_string(data_dir().join("golden/verdicts.json")).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let mut of_pair: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in &golden.rows {
        of_pair.entry((&row.a, &row.b)).or_default().push(row);
    }
    let known = known_failures();
    let mut models: BTreeMap<&str, Part> = BTreeMap::new();
    let (mut new, mut agree, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    let (mut counts, mut marked, mut failed) = (BTreeMap::new(), 0, 0);
    for ((a, b), rows) in of_pair {
        for name in [a, b] {
            models.entry(name).or_insert_with(|| model(name));
        }
        for (k, row) in rows.into_iter().enumerate() {
            let key = format!("{a}/{b} {k} {}", row.what);
            if row.marked.is_some() {
                marked += 1;
                continue;
            }
            *counts.entry(row.verdict.as_str()).or_insert(0) += 1;
            let wrong = fault(row, &models[a], &models[b], golden.touch);
            match (&wrong, known.contains_key(&key)) {
                (Some(why), false) => new.push(format!("{key}: {why}")),
                (None, true) => agree.push(key.clone()),
                _ => {}
            }
            failed += usize::from(wrong.is_some());
            seen.insert(key);
        }
    }
    println!("{counts:?}, {marked} marked rows skipped; {failed} known or new failures");
    assert!(counts.values().sum::<usize>() >= 1300, "too few rows: {counts:?}");
    let unknown: Vec<_> = known.keys().filter(|k| !seen.contains(*k)).collect();
    assert!(unknown.is_empty(), "listed rows that the golden file does not contain or marks: {unknown:?}");
    assert!(new.is_empty(), "{} new wrong verdicts:\n{}", new.len(), new.join("\n"));
    assert!(
        agree.is_empty(),
        "{} listed rows agree now, remove them from the list:\n{}",
        agree.len(),
        agree.join("\n")
    );
}
