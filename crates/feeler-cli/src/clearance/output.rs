//! Result of a clearance check as a table, as JSON and as CSV.

use super::Checked;
use crate::features::{feature_json, feature_name};
use crate::report::{overlap_json, region_json, region_kind_name};
use crate::table;
use crate::verdict::{crossing_json, put_decided, undecided_json, widened_json};
use feeler_assembly::{ClearancePair, DecidedQuery, Finding, Fit, FitKind, PairMeasurement, status_name};
use feeler_runtime::{Overlap, Status};
use serde_json::{Value, json};

/// Schema version of the JSON document of `feeler clearance`.
const SCHEMA: u32 = 2;

/// Number of pairs without a finding that the table shows without `--all`; it states the number of
/// further ones. Tables of large assemblies are long with a larger value; a smaller one hides near
/// pairs.
const MAX_SHOWN: usize = 20;

fn finding_name(finding: Finding) -> &'static str {
    match finding {
        Finding::Interferes => "interferes",
        Finding::WithinAccuracy => "within accuracy",
        Finding::Undecided => "undecided",
        Finding::Failed => "failed",
        Finding::TooClose => "too close",
        Finding::Touches => "touches",
        Finding::DoesNotTouch => "does not touch",
    }
}

/// Details of a pair as text, for the last column of the table. These are the depth and the first
/// crossing faces of interfering parts, the kinds and the size of the contact of touching parts, the
/// features that may intersect if that is undecided, the nearest features of separated parts, or the
/// error of the query.
pub(super) fn detail(pair: &ClearancePair) -> String {
    let Some(m) = &pair.measurement else { return "farther apart than was measured".to_owned() };
    if let Some(error) = &m.error {
        return error.to_string();
    }
    match m.status {
        Status::Interfering => {
            let faces = m
                .crossing_faces
                .first()
                .map_or_else(String::new, |(a, b)| format!(", {} in {}", feature_name(a), feature_name(b)));
            let accuracy = if m.is_within_accuracy() {
                format!("; the geometry is accurate to {:.1e} mm", m.accuracy)
            } else {
                String::new()
            };
            format!("at least {} mm deep{faces}{accuracy}", length(m.depth()))
        }
        Status::Touching => contact_detail(m),
        Status::Undecided => undecided_detail(m),
        Status::Separated => m.nearest.as_ref().map_or_else(String::new, |n| {
            format!("{} to {}", feature_name(&n.features[0]), feature_name(&n.features[1]))
        }),
    }
}

/// A length (mm) as text with six decimals, or with an exponent if these would show less than two digits.
fn length(x: f64) -> String {
    if x >= 1e-5 { format!("{x:.6}") } else { format!("{x:.1e}") }
}

/// The deepest undecided location of a pair, and the tolerance that would decide the pair, as text.
fn undecided_detail(m: &PairMeasurement) -> String {
    let deepest = m.undecided.iter().max_by(|x, y| x.depth_bound.total_cmp(&y.depth_bound));
    let mut text = deepest.map_or_else(String::new, |u| {
        let places = match m.undecided.len() {
            1 => String::new(),
            n => format!(" ({n} places)"),
        };
        format!(
            "{} and {} may intersect, at most {} mm deep{places}",
            feature_name(&u.feature_a),
            feature_name(&u.feature_b),
            length(u.depth_bound)
        )
    });
    if let Some(coarser) = m.coarser {
        text += &format!("; {} at a tolerance of {:.1e} mm", status_name(coarser.status), coarser.tolerance);
    }
    text
}

/// Kinds and total area and length of the contact regions of a pair, as text.
fn contact_detail(m: &PairMeasurement) -> String {
    let area: f64 = m.regions.iter().filter_map(|c| c.area).sum();
    let length: f64 = m.regions.iter().filter_map(|c| c.length).sum();
    let mut kinds: Vec<&str> = m.regions.iter().map(|c| region_kind_name(c.kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut text = kinds.join(", ");
    if area > 0.0 {
        text += &format!(" {area:.4} mm2");
    }
    if length > 0.0 {
        text += &format!(" {length:.4} mm");
    }
    if let Some(tolerance) = m.decided_at {
        text += &format!("; at a tolerance of {tolerance:.1e} mm");
    }
    text
}

/// Finding of a pair with its rule, as text. For interfering parts without a finding, the rule that
/// allows the interference; empty for other pairs without a finding.
pub(super) fn finding(pair: &ClearancePair) -> String {
    let Some(finding) = pair.finding else {
        let allowed = pair.rule.as_ref().filter(|_| pair.status() == Some(Status::Interfering));
        return allowed.map_or_else(String::new, |r| format!("allowed: {r}{}", limits(pair)));
    };
    let rule = pair.rule.as_ref().map_or_else(String::new, |r| format!(": {r}"));
    let min = pair.min.filter(|_| pair.finding == Some(Finding::TooClose));
    let min = min.map_or_else(String::new, |m| format!(" (min {m})"));
    let known = if pair.is_known { ", known" } else { "" };
    let limits = if finding == Finding::Interferes { limits(pair) } else { String::new() };
    format!("{}{rule}{min}{limits}{known}", finding_name(finding))
}

/// Limits of the interference that the rule of a pair allows, as text in parentheses; empty without limits.
fn limits(pair: &ClearancePair) -> String {
    let depth = pair.limits.max_depth.map(|max| format!("max_depth {max}"));
    let volume = pair.limits.max_volume.map(|max| format!("max_volume {max}"));
    let all: Vec<String> = depth.into_iter().chain(volume).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}

/// Volume of the common part of a pair, as text; `-` if it was not measured.
pub(super) fn volume(pair: &ClearancePair) -> String {
    overlap(pair).map_or_else(|| "-".to_owned(), |o| format!("{:.6}", o.volume))
}

fn overlap(pair: &ClearancePair) -> Option<&Overlap> {
    pair.measurement.as_ref()?.overlap.as_ref()
}

pub(super) fn status(pair: &ClearancePair) -> &'static str {
    match pair.status() {
        Some(s) => status_name(s),
        None if pair.measurement.is_some() => "failed",
        None => "apart",
    }
}

pub(super) fn distance(pair: &ClearancePair) -> String {
    // A distance that rounds to zero is printed without a sign.
    let shown = |d: f64| format!("{:.9}", if d.abs() < 5e-10 { 0.0 } else { d });
    pair.distance().map_or_else(|| "-".to_owned(), shown)
}

/// Table of all pairs with a finding and of the [`MAX_SHOWN`] nearest other pairs, or of all measured
/// pairs if `all` is set.
pub(super) fn table(checked: &Checked, all: bool) -> String {
    let pairs = &checked.report.pairs;
    let findings = pairs.iter().filter(|p| p.finding.is_some()).count();
    let shown = if all { pairs.len() } else { (findings + MAX_SHOWN).min(pairs.len()) };
    let has_fits = pairs[..shown].iter().any(|p| fit_of(p).is_some());
    let has_volumes = pairs.iter().any(|p| overlap(p).is_some());
    let row = |pair: &ClearancePair| {
        let [a, b] = checked.paths(pair).map(str::to_owned);
        let mut row = vec![finding(pair), status(pair).to_owned(), distance(pair)];
        row.extend(has_volumes.then(|| volume(pair)));
        row.extend([a, b]);
        row.extend(has_fits.then(|| fit(pair)));
        row.push(detail(pair));
        row
    };
    let rows: Vec<Vec<String>> = pairs[..shown].iter().map(row).collect();
    let mut header = vec!["finding", "status", "distance mm"];
    header.extend(has_volumes.then_some("volume mm3"));
    header.extend(["A", "B"]);
    header.extend(has_fits.then_some("fit mm"));
    header.push("what");
    let mut text = table::render(&header, &rows);
    let more = pairs.len() - shown;
    if more > 0 {
        text += &format!("and {more} more pairs without a finding (--all shows them)\n");
    }
    text
}

/// Summary of the check in one line.
pub(super) fn summary(checked: &Checked) -> String {
    let report = &checked.report;
    let known = match (checked.known_count(), report.fixed) {
        (0, 0) => String::new(),
        (known, fixed) => format!(" ({known} known; {fixed} of the baseline not found again)"),
    };
    let left_out = match checked.left_out.len() {
        0 => String::new(),
        n => format!(", {n} left out and not checked"),
    };
    format!(
        "{} parts{left_out}, {} pairs, {} ignored, {} within {} mm: {} interfering, {} touching, {} \
         undecided; {} new findings{known}; {:.2} s",
        checked.parts.len(),
        report.counts.total,
        report.counts.ignored,
        report.counts.near,
        report.d_max,
        report.count(Status::Interfering),
        report.count(Status::Touching),
        report.count(Status::Undecided),
        report.findings().count(),
        checked.duration.as_secs_f64()
    )
}

fn fit_of(pair: &ClearancePair) -> Option<Fit> {
    pair.measurement.as_ref()?.fit
}

/// Fit of a pair with its play or overlap (mm), as text; empty without a fit.
pub(super) fn fit(pair: &ClearancePair) -> String {
    let Some(fit) = fit_of(pair) else { return String::new() };
    let name = fit_name(fit.kind);
    match fit.play() {
        None => name.to_owned(),
        Some(play) if play >= 0.0 => format!("{name}, play {play:.4}"),
        Some(play) => format!("{name}, overlap {:.4}", -play),
    }
}

fn fit_name(kind: FitKind) -> &'static str {
    match kind {
        FitKind::Thread => "thread",
        FitKind::Press => "press fit",
        FitKind::Running => "running fit",
    }
}

fn fit_json(fit: &Fit) -> Value {
    let hole_in = if fit.hole_in == 0 { "a" } else { "b" };
    let mut object = json!({ "kind": fit.kind, "hole_in": hole_in });
    if let Some([hole, shaft]) = fit.diameters {
        object["hole"] = hole.into();
        object["shaft"] = shaft.into();
        object["play"] = (hole - shaft).into();
    }
    object
}

fn pair_json(checked: &Checked, pair: &ClearancePair) -> Value {
    let [a, b] = checked.paths(pair);
    let mut out = json!({
        "a": a, "b": b, "index_a": pair.parts[0], "index_b": pair.parts[1],
        "finding": pair.finding, "known": pair.is_known, "rule": pair.rule, "min": pair.min,
        "status": pair.status().map(status_name),
        "max_volume": pair.limits.max_volume, "max_depth": pair.limits.max_depth,
    });
    let Some(m) = &pair.measurement else { return out };
    if let Some(error) = &m.error {
        out["failed"] = error.to_string().into();
        return out;
    }
    out["tolerance"] = m.tolerance.into();
    out["fit"] = m.fit.as_ref().map_or(Value::Null, fit_json);
    put_decided(&DecidedQuery { decided_at: m.decided_at, coarser: m.coarser }, &mut out);
    if !m.widened.is_empty() {
        out["widened"] = m.widened.iter().map(widened_json).collect();
    }
    out["minima"] = m.contact_count.into();
    out["distance"] = pair.distance().into();
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
        out["accuracy"] = m.accuracy.into();
    }
    if !m.crossing_faces.is_empty() {
        out["crossing_faces"] = m.crossing_faces.iter().map(|(a, b)| crossing_json(a, b)).collect();
    }
    if let Some(overlap) = &m.overlap {
        out["overlap"] = overlap_json(overlap);
    }
    if m.status == Status::Touching {
        out["contact_regions"] = m.regions.iter().map(region_json).collect();
    }
    if !m.undecided.is_empty() {
        out["undecided"] = m.undecided.iter().map(undecided_json).collect();
        out["depth_bound"] = m.depth_bound().into();
    }
    out
}

/// JSON document of the check, as specified in docs/INTERFACE.md, "clearance".
pub(super) fn document(checked: &Checked) -> Value {
    let report = &checked.report;
    let parts = checked.parts.iter().map(|p| json!({ "path": p.path, "name": p.name, "file": p.model }));
    json!({
        "schema": SCHEMA, "unit": "mm", "d_max": report.d_max,
        "parts": parts.collect::<Vec<_>>(), "left_out": checked.left_out,
        "results": report.pairs.iter().map(|p| pair_json(checked, p)).collect::<Vec<_>>(),
        "summary": {
            "pairs": report.counts.total, "ignored": report.counts.ignored, "near": report.counts.near,
            "interfering": report.count(Status::Interfering), "touching": report.count(Status::Touching),
            "undecided": report.count(Status::Undecided), "findings_new": report.findings().count(),
            "findings_known": checked.known_count(), "findings_fixed": report.fixed,
            "wall_s": checked.duration.as_secs_f64(),
        },
    })
}

/// Bytes of a CSV file with one line for each measured pair.
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
        "volume_mm3",
        "minima",
        "fit",
        "play_mm",
        "what",
    ])?;
    for pair in &checked.report.pairs {
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        let [a, b] = checked.paths(pair).map(str::to_owned);
        writer.write_record([
            a,
            b,
            pair.finding.map_or_else(String::new, |f| finding_name(f).to_owned()),
            pair.is_known.to_string(),
            pair.rule.clone().unwrap_or_default(),
            number(pair.min),
            status(pair).to_owned(),
            number(pair.distance()),
            number(pair.measurement.as_ref().and_then(|m| m.witness.map(|_| m.depth()))),
            number(overlap(pair).map(|o| o.volume)),
            pair.measurement.as_ref().map_or_else(String::new, |m| m.contact_count.to_string()),
            fit_of(pair).map_or_else(String::new, |fit| fit_name(fit.kind).to_owned()),
            number(fit_of(pair).and_then(|fit| fit.play())),
            detail(pair),
        ])?;
    }
    writer.into_inner().map_err(|e| anyhow::anyhow!("{e}"))
}
