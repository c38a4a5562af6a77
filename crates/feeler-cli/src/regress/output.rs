//! Result of a comparison as a table, as JSON and as `JUnit` XML.

use super::Compared;
use crate::table;
use anyhow::Context as _;
use feeler_assembly::Difference;
use feeler_assembly::regress::EntryComparison;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};
use std::path::Path;

/// Schema version of the JSON document of `feeler regress`.
const SCHEMA: u32 = 2;

/// Number of differences of an entry that the table shows without `--all`; it states the number of
/// further ones. Tables are long with a larger value; a smaller one hides differences.
const MAX_SHOWN: usize = 12;

pub(super) const HEADER: [&str; 4] = ["entry", "kind", "of", "what"];

fn line(d: &Difference) -> String {
    if d.subject.is_empty() {
        format!("{}: {}", d.kind.name(), d.what)
    } else {
        format!("{}: {}: {}", d.kind.name(), d.subject, d.what)
    }
}

pub(super) fn table(compared: &Compared, all: bool) -> String {
    let mut rows = Vec::new();
    for entry in compared.differing() {
        let shown = if all { entry.differences.len() } else { MAX_SHOWN };
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
    let seconds = compared.duration.as_secs_f64();
    if bad == 0 {
        format!("{n} entries checked, no differences ({seconds:.1} s)")
    } else {
        format!("{n} entries checked, {bad} with differences ({seconds:.1} s)")
    }
}

/// Returns messages about the golden results: another version of the program, results without an entry,
/// entries without a result, and changed input files.
pub(super) fn notes(compared: &Compared, golden: &Path) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(program) = &compared.other_program {
        out.push(format!(
            "{}: recorded by {program}, which is another version; differences can be due to it, and --bless \
             records the results again",
            golden.display()
        ));
    }
    for name in &compared.stale {
        out.push(format!("'{name}' has golden results, but is not in the suite; --bless removes them"));
    }
    if compared.without_golden > 0 {
        let n = compared.without_golden;
        out.push(format!("entries without golden results: {n}; --bless records them"));
    }
    let changed = compared.entries.iter().filter(|e| e.other_input).count();
    if changed > 0 {
        out.push(format!("entries whose input files have changed since --bless: {changed}"));
    }
    out
}

pub(super) fn document(compared: &Compared) -> Value {
    let entry = |e: &EntryComparison| {
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
        "wall_s": compared.duration.as_secs_f64(),
    })
}

/// Bytes of a `JUnit` file with a test case for each entry; the test case of an entry with differences
/// fails.
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
