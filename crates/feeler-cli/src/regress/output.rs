//! What differs, for people and for machines.

use super::Compared;
use super::compare::Entry;
use crate::table;
use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};
use std::path::Path;

/// Version of the JSON document.
const SCHEMA: u32 = 2;

/// Lines of an entry in the table, unless all are asked for.
const SHOWN: usize = 12;

pub(super) const HEADER: [&str; 4] = ["entry", "kind", "of", "what"];

fn line(d: &feeler_compare::Difference) -> String {
    if d.subject.is_empty() {
        format!("{}: {}", d.kind.name(), d.what)
    } else {
        format!("{}: {}: {}", d.kind.name(), d.subject, d.what)
    }
}

pub(super) fn table(compared: &Compared, all: bool) -> String {
    let mut rows = Vec::new();
    for entry in compared.differing() {
        let shown = if all { entry.differences.len() } else { SHOWN };
        for d in entry.differences.iter().take(shown) {
            let cells = [entry.name.as_str(), d.kind.name(), d.subject.as_str(), d.what.as_str()];
            rows.push(cells.map(str::to_owned).to_vec());
        }
        let more = entry.differences.len().saturating_sub(shown) + entry.more;
        if more > 0 {
            rows.push(vec![entry.name.clone(), String::new(), String::new(), format!("and {more} more")]);
        }
    }
    if rows.is_empty() { String::new() } else { table::render(&HEADER, &rows) }
}

pub(super) fn summary(compared: &Compared) -> String {
    let (n, bad) = (compared.entries.len(), compared.differing().count());
    let seconds = compared.wall.as_secs_f64();
    if bad == 0 {
        format!("{n} entries as they were, in {seconds:.1} s")
    } else {
        format!("{bad} of {n} entries differ, in {seconds:.1} s")
    }
}

/// What else is worth to know.
pub(super) fn notes(compared: &Compared, golden: &Path) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(program) = &compared.other_program {
        out.push(format!("{} is of {program}, which is another version", golden.display()));
    }
    for name in &compared.stale {
        out.push(format!("'{name}' has golden results but is not in the suite; --bless removes them"));
    }
    let changed = compared.entries.iter().filter(|e| e.other_input).count();
    if changed > 0 {
        out.push(format!("the inputs of {changed} entries are other files than when they were blessed"));
    }
    out
}

pub(super) fn document(compared: &Compared) -> Value {
    let entry = |e: &Entry| {
        json!({
            "name": e.name, "differences": e.differences, "more": e.more, "other_input": e.other_input,
        })
    };
    json!({
        "schema": SCHEMA,
        "entries": compared.entries.iter().map(entry).collect::<Vec<_>>(),
        "differing": compared.differing().count(),
        "stale": compared.stale,
        "golden_program": compared.other_program,
        "wall_s": compared.wall.as_secs_f64(),
    })
}

/// A test case for each entry; those that differ fail.
pub(super) fn junit(compared: &Compared) -> anyhow::Result<Vec<u8>> {
    let mut suite = TestSuite::new("regress");
    for entry in &compared.entries {
        let outcome = if entry.differences.is_empty() {
            TestCaseStatus::success()
        } else {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let lines: Vec<String> = entry.differences.iter().map(line).collect();
            failure.set_message(lines[0].clone()).set_description(lines.join("\n"));
            failure
        };
        suite.add_test_case(TestCase::new(entry.name.clone(), outcome));
    }
    let mut report = Report::new("feeler regress");
    report.add_test_suite(suite);
    Ok(report.to_string().context("the JUnit report")?.into_bytes())
}
