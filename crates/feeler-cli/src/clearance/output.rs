//! The answer as a table, as JSON and as CSV.

use super::Checked;
use super::finding::Finding;
use super::findings::Row;
use super::measure::Measured;
use crate::features::{feature_json, feature_name};
use crate::report::{region_json, region_kind_name};
use crate::table;
use crate::verdict::{crossing_json, status_name};
use feeler_runtime::Status;
use serde_json::{Value, json};

/// Version of the document.
const SCHEMA: u32 = 2;

/// Rows without a finding that the table shows; the others are counted.
const SHOWN: usize = 20;

/// What a pair is, in a few words: depth and faces, contact and area, or where it comes near.
pub(super) fn detail(row: &Row) -> String {
    let Some(m) = &row.measured else { return "farther apart than was asked for".to_owned() };
    if let Some(why) = &m.failed {
        return why.clone();
    }
    match m.status {
        Status::Interfering => {
            let faces = m
                .crossing
                .first()
                .map_or_else(String::new, |(a, b)| format!(", {} in {}", feature_name(a), feature_name(b)));
            format!("at least {:.6} mm deep{faces}", m.depth())
        }
        Status::Touching => contact(m),
        Status::Undecided => m.undecided.first().map_or_else(String::new, |u| {
            format!(
                "{} and {} may meet, {:.1e} mm at most",
                feature_name(&u.feature_a),
                feature_name(&u.feature_b),
                u.depth_bound
            )
        }),
        Status::Separated => m.nearest.as_ref().map_or_else(String::new, |n| {
            format!("{} to {}", feature_name(&n.features[0]), feature_name(&n.features[1]))
        }),
    }
}

/// Kinds and sizes of contacts.
fn contact(m: &Measured) -> String {
    let area: f64 = m.contacts.iter().filter_map(|c| c.area).sum();
    let length: f64 = m.contacts.iter().filter_map(|c| c.length).sum();
    let mut kinds: Vec<&str> = m.contacts.iter().map(|c| region_kind_name(c.kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut text = kinds.join(", ");
    if area > 0.0 {
        text += &format!(" {area:.4} mm2");
    }
    if length > 0.0 {
        text += &format!(" {length:.4} mm");
    }
    text
}

/// The finding with its rule; of parts that interfere the rule that allows it.
pub(super) fn finding(row: &Row) -> String {
    let Some(finding) = row.finding else {
        let allowed = row.rule.as_ref().filter(|_| row.status() == Some(Status::Interfering));
        return allowed.map_or_else(String::new, |r| format!("allowed: {r}"));
    };
    let rule = row.rule.as_ref().map_or_else(String::new, |r| format!(": {r}"));
    let min = row.min.filter(|_| row.finding == Some(Finding::TooClose));
    let min = min.map_or_else(String::new, |m| format!(" (min {m})"));
    let known = if row.is_known { ", known" } else { "" };
    format!("{}{rule}{min}{known}", finding.in_words())
}

pub(super) fn status(row: &Row) -> &'static str {
    match row.status() {
        Some(s) => status_name(Some(s)),
        None if row.measured.is_some() => "failed",
        None => "apart",
    }
}

pub(super) fn distance(row: &Row) -> String {
    // What rounds to zero has no sign.
    let shown = |d: f64| format!("{:.9}", if d.abs() < 5e-10 { 0.0 } else { d });
    row.distance().map_or_else(|| "-".to_owned(), shown)
}

/// Findings, and the nearest of the other pairs.
pub(super) fn table(checked: &Checked, all: bool) -> String {
    let found = checked.rows.iter().filter(|r| r.finding.is_some()).count();
    let shown = if all { checked.rows.len() } else { (found + SHOWN).min(checked.rows.len()) };
    let path = |i: usize| checked.parts[i].path.clone();
    let row = |r: &Row| {
        let [a, b] = r.parts;
        vec![finding(r), status(r).to_owned(), distance(r), path(a), path(b), detail(r)]
    };
    let rows: Vec<Vec<String>> = checked.rows[..shown].iter().map(row).collect();
    let mut text = table::render(&["finding", "status", "distance mm", "A", "B", "what"], &rows);
    let left = checked.rows.len() - shown;
    if left > 0 {
        text += &format!("and {left} more pairs without a finding (--all shows them)\n");
    }
    text
}

/// The run in one line.
pub(super) fn summary(checked: &Checked) -> String {
    let count = |s: Status| checked.rows.iter().filter(|r| r.status() == Some(s)).count();
    let c = checked.counts;
    let known = checked.rows.iter().filter(|r| r.is_known).count();
    let known = match (known, checked.fixed) {
        (0, 0) => String::new(),
        (k, f) => format!(" ({k} known, {f} of the baseline are no more)"),
    };
    let left_out = match checked.left_out.len() {
        0 => String::new(),
        n => format!(", {n} left out and not checked"),
    };
    format!(
        "{} parts{left_out}, {} pairs, {} ignored, {} within {} mm: {} interfering, {} touching, {} \
         undecided; {} new findings{known}; {:.2} s",
        checked.parts.len(),
        c.all,
        c.ignored,
        c.near,
        checked.d_max,
        count(Status::Interfering),
        count(Status::Touching),
        count(Status::Undecided),
        checked.new_findings().count(),
        checked.wall.as_secs_f64()
    )
}

fn row_json(checked: &Checked, row: &Row) -> Value {
    let path = |i: usize| checked.parts[i].path.as_str();
    let mut out = json!({
        "a": path(row.parts[0]), "b": path(row.parts[1]), "index_a": row.parts[0], "index_b": row.parts[1],
        "finding": row.finding, "known": row.is_known, "rule": row.rule, "min": row.min,
        "status": row.status().map(|s| status_name(Some(s))),
    });
    let Some(m) = &row.measured else { return out };
    if let Some(why) = &m.failed {
        out["failed"] = why.as_str().into();
        return out;
    }
    out["tolerance"] = m.tolerance.into();
    out["minima"] = m.minima.into();
    out["distance"] = row.distance().into();
    if let Some(n) = &m.nearest {
        out["point_a"] = json!(<[f64; 3]>::from(n.points[0]));
        out["point_b"] = json!(<[f64; 3]>::from(n.points[1]));
        out["feature_a"] = feature_json(&n.features[0]);
        out["feature_b"] = feature_json(&n.features[1]);
    }
    if let Some(w) = m.witness {
        let point = <[f64; 3]>::from(w.point);
        out["witness"] = json!({ "point": point, "inside_a": w.inside_a, "inside_b": w.inside_b });
        out["depth"] = m.depth().into();
    }
    if !m.crossing.is_empty() {
        out["crossing_faces"] = m.crossing.iter().map(|(a, b)| crossing_json(a, b)).collect();
    }
    if m.status == Status::Touching {
        out["contact_regions"] = m.contacts.iter().map(region_json).collect();
    }
    if !m.undecided.is_empty() {
        let place = |u: &feeler_runtime::Undecided| {
            let mut place = crossing_json(&u.feature_a, &u.feature_b);
            place["point"] = json!(<[f64; 3]>::from(u.point));
            place["depth_bound"] = u.depth_bound.into();
            place
        };
        out["undecided"] = m.undecided.iter().map(place).collect();
    }
    out
}

/// docs/INTERFACE.md, "clearance".
pub(super) fn document(checked: &Checked) -> Value {
    let parts = checked.parts.iter().map(|p| json!({ "path": p.path, "name": p.name, "file": p.file }));
    let count = |s: Status| checked.rows.iter().filter(|r| r.status() == Some(s)).count();
    json!({
        "schema": SCHEMA, "unit": "mm", "d_max": checked.d_max,
        "parts": parts.collect::<Vec<_>>(), "left_out": checked.left_out,
        "results": checked.rows.iter().map(|r| row_json(checked, r)).collect::<Vec<_>>(),
        "summary": {
            "pairs": checked.counts.all, "ignored": checked.counts.ignored, "near": checked.counts.near,
            "interfering": count(Status::Interfering), "touching": count(Status::Touching),
            "undecided": count(Status::Undecided), "findings_new": checked.new_findings().count(),
            "findings_known": checked.rows.iter().filter(|r| r.is_known).count(),
            "findings_fixed": checked.fixed, "wall_s": checked.wall.as_secs_f64(),
        },
    })
}

/// One line a pair.
pub(super) fn csv(checked: &Checked) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "a",
        "b",
        "finding",
        "known",
        "rule",
        "min_mm",
        "status",
        "distance_mm",
        "depth_mm",
        "minima",
        "what",
    ])?;
    for row in &checked.rows {
        let path = |i: usize| checked.parts[i].path.clone();
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        writer.write_record([
            path(row.parts[0]),
            path(row.parts[1]),
            row.finding.map_or_else(String::new, |f| f.in_words().to_owned()),
            row.is_known.to_string(),
            row.rule.clone().unwrap_or_default(),
            number(row.min),
            status(row).to_owned(),
            number(row.distance()),
            number(row.measured.as_ref().and_then(|m| m.witness.map(|_| m.depth()))),
            row.measured.as_ref().map_or_else(String::new, |m| m.minima.to_string()),
            detail(row),
        ])?;
    }
    writer.into_inner().map_err(|e| anyhow::anyhow!("{e}"))
}
