//! Result of a check of a mechanism as a table, as JSON and as CSV.

use super::Checked;
use crate::args::MechanismArgs as Arguments;
use crate::{passage, table, verdict};
use feeler_assembly::{LinkageReport, MechanismPair, MotionResult, PairMotion};
use feeler_mechanism::Mechanism;
use feeler_mechanism::loops::LoopReport;
use feeler_runtime::Status;
use serde_json::{Value, json};
use std::io::Write;

/// Columns of the table of pairs.
pub(super) const PAIR_HEADER: [&str; 8] =
    ["a", "b", "smallest mm", "at s", "steps that interfere", "depth mm", "at s", "between steps"];

/// A distance with six digits after the point; 0 without a sign.
fn millimetres(distance: f64) -> String {
    let text = format!("{distance:.6}");
    if text == "-0.000000" { text[1..].to_owned() } else { text }
}

/// Cells of the table for a pair of parts, in the order of [`PAIR_HEADER`].
pub(super) fn pair_cells(checked: &Checked<'_>, pair: &MechanismPair) -> [String; 8] {
    let [a, b] = checked.names(pair).map(str::to_owned);
    let length_and_time = |found: Option<(f64, usize)>| match found {
        Some((length, i)) => [millimetres(length), format!("{:.4}", checked.report.moments[i].time)],
        None => ["-".to_owned(), "-".to_owned()],
    };
    let [distance, time] = length_and_time(pair.smallest());
    let [depth, deepest] = length_and_time(pair.deepest());
    let between = pair.motion.as_ref().map_or_else(|| "-".to_owned(), |m| passage::text(m, " s"));
    [a, b, distance, time, pair.interfering_steps().to_string(), depth, deepest, between]
}

pub(super) fn write_table(checked: &Checked<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    // Pairs that are never nearer than `d_max` and are proven free get no row; they are counted.
    let is_shown = |pair: &&MechanismPair| {
        pair.smallest().is_some()
            || pair.interfering_steps() + pair.count(Status::Undecided) > 0
            || pair.motion.is_some() && !pair.is_proven_free()
    };
    let pairs = &checked.report.pairs;
    let rows: Vec<_> = pairs.iter().filter(is_shown).map(|p| pair_cells(checked, p).to_vec()).collect();
    write!(out, "{}", table::render(&PAIR_HEADER, &rows))?;
    let hidden = pairs.len() - rows.len();
    if hidden > 0 {
        writeln!(out, "{hidden} other pairs are never nearer than --d-max")?;
    }
    Ok(())
}

pub(super) fn write_summary(
    args: &Arguments,
    checked: &Checked<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (pairs, moments) = (&checked.report.pairs, checked.report.moments.len());
    let seconds = checked.duration.as_secs_f64();
    let what = if args.grid.is_some() { "poses" } else { "steps" };
    write!(out, "{moments} {what} of {} pairs in {seconds:.2} s", pairs.len())?;
    match checked.smallest_margin() {
        Some(margin) => {
            let [a, b] = checked.names(&pairs[margin.pair]);
            writeln!(out, "; smallest margin {:.9} mm, {a} to {b}", margin.distance)?;
        }
        None => writeln!(out, "; no pair is nearer than --d-max")?,
    }
    if let Some(linkage) = &checked.report.linkage {
        writeln!(out, "{}", linkage_text(linkage))?;
    }
    let undecided: usize = pairs.iter().map(|p| p.count(Status::Undecided)).sum();
    if undecided > 0 {
        let is_open = |p: &&MechanismPair| !p.is_proven_allowed();
        let open: usize = pairs.iter().filter(is_open).map(|p| p.count(Status::Undecided)).sum();
        let proven = if open == 0 { "; the proofs of the motions hold there, too" } else { "" };
        writeln!(out, "undecided verdicts at {what}: {undecided}{proven}")?;
    }
    if args.grid.is_some() {
        let interfering = (0..moments).filter(|i| checked.report.interferes(*i)).count();
        writeln!(out, "{interfering} poses of the grid interfere")?;
    } else if !args.no_proof {
        let free = pairs.iter().filter(|p| p.is_proven_free()).count();
        let count = |result| pairs.iter().filter(|p| in_contact(p) == Some(result)).count();
        let [touch, penetrate, undecided] =
            [MotionResult::Contact, MotionResult::Penetration, MotionResult::Undecided].map(count);
        if free == pairs.len() {
            writeln!(out, "all pairs are proven free at all times")?;
        } else if touch + penetrate + undecided == 0 {
            writeln!(out, "{} of {} pairs are not proven free", pairs.len() - free, pairs.len())?;
        } else {
            write!(out, "{free} pairs are proven free, {touch} touch without penetration")?;
            if penetrate > 0 {
                write!(out, ", {penetrate} penetrate")?;
            }
            if undecided > 0 {
                write!(out, ", {undecided} are undecided")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Result of the proof that a pair does not penetrate; `None` without one.
fn in_contact(pair: &MechanismPair) -> Option<MotionResult> {
    match &pair.motion {
        Some(PairMotion::InContact(motion)) => Some(motion.result()),
        _ => None,
    }
}

/// Line of the summary for the closed loops of a mechanism.
fn linkage_text(linkage: &LinkageReport) -> String {
    let LoopReport { dependent, closure_error, deviation, pieces, branch, branches, .. } = &linkage.loops;
    format!(
        "{} dependent joints; branch {} of {}; loops closed within {closure_error:.1e} mm; {pieces} pieces, \
         at most {deviation:.1e} mm from the exact motion",
        dependent.len(),
        branch + 1,
        branches.len(),
    )
}

/// JSON value for the closed loops of a mechanism, as specified in docs/INTERFACE.md, "mechanism".
fn linkage_json(mechanism: &Mechanism, linkage: &LinkageReport) -> Value {
    let LoopReport { size, dependent, pieces, closure_error, deviation, branches, branch } = &linkage.loops;
    let value = |k: usize, values: &[f64]| values[k] / mechanism.joints[k].kind.unit().1;
    let joint = |&k: &usize| {
        let values: Vec<f64> = linkage.values.iter().map(|values| value(k, values)).collect();
        let joint = &mechanism.joints[k];
        json!({ "name": joint.name, "unit": joint.kind.unit().0, "values": values })
    };
    let start = |values: &Vec<f64>| dependent.iter().map(|&k| value(k, values)).collect::<Vec<f64>>();
    json!({
        "closing": mechanism.closures.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        "size": size, "closure_error": closure_error, "deviation": deviation, "pieces": pieces,
        "dependent": dependent.iter().map(joint).collect::<Vec<_>>(),
        "branch": branch, "branches": branches.iter().map(start).collect::<Vec<_>>(),
    })
}

/// Bytes of a CSV file with the margin (smallest distance of any pair, mm) at each step.
pub(super) fn csv(checked: &Checked<'_>) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["time_s", "margin_mm", "a", "b", "interferes"])?;
    for (i, (margin, moment)) in checked.margins.iter().zip(&checked.report.moments).enumerate() {
        let time = moment.time.to_string();
        match margin {
            Some(margin) => {
                let pair = &checked.report.pairs[margin.pair];
                let [a, b] = checked.names(pair);
                let interferes = pair.steps[i].interferes().to_string();
                writer.write_record([time.as_str(), &margin.distance.to_string(), a, b, &interferes])?;
            }
            None => writer.write_record([time.as_str(), "", "", "", "false"])?,
        }
    }
    writer.into_inner().map_err(|e| anyhow::anyhow!("{e}"))
}

/// JSON document of the check, as specified in docs/INTERFACE.md, "mechanism". `distance` (mm) is the
/// limit below which parts count as in contact.
pub(super) fn document(distance: f64, checked: &Checked<'_>) -> Value {
    let moments = &checked.report.moments;
    let pair = |p: &MechanismPair| {
        let [a, b] = checked.names(p);
        let (smallest, deepest) = (p.smallest(), p.deepest());
        json!({
            "a": a, "b": b, "smallest": smallest.map(|s| s.0), "time": smallest.map(|s| moments[s.1].time),
            "depth": deepest.map(|d| d.0), "depth_time": deepest.map(|d| moments[d.1].time),
            "interfering_steps": p.interfering_steps(), "undecided_steps": p.count(Status::Undecided),
            "motion": p.motion.as_ref().map(passage::json),
        })
    };
    let margins: Vec<Value> = checked
        .margins
        .iter()
        .zip(moments)
        .map(|(m, p)| json!({ "time": p.time, "margin": m.map(|m| m.distance), "pair": m.map(|m| m.pair) }))
        .collect();
    let pairs: Vec<Value> = checked.report.pairs.iter().map(pair).collect();
    json!({
        "schema": verdict::SCHEMA, "unit": "mm", "distance": distance, "pairs": pairs, "margins": margins,
        "linkage": checked.report.linkage.as_ref().map(|l| linkage_json(checked.mechanism, l)),
    })
}
