//! The answer for machines that run checks, as the XML of `JUnit`.

use super::Checked;
use super::output::{detail, finding, status};
use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// A test case for each pair that a rule decides about, or that has a finding; new findings fail.
pub(super) fn report(checked: &Checked) -> anyhow::Result<Vec<u8>> {
    let mut suite = TestSuite::new("clearance");
    for row in checked.rows.iter().filter(|r| r.rule.is_some() || r.finding.is_some()) {
        let [a, b] = row.parts.map(|i| checked.parts[i].path.as_str());
        let outcome = if row.is_new_finding() {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failure.set_message(finding(row)).set_description(detail(row));
            failure
        } else {
            TestCaseStatus::success()
        };
        let mut case = TestCase::new(format!("{a} / {b}"), outcome);
        case.set_classname(row.rule.as_deref().unwrap_or("no rule"));
        case.set_system_out(format!("{}: {}", status(row), detail(row)));
        suite.add_test_case(case);
    }
    let mut report = Report::new("feeler clearance");
    report.add_test_suite(suite);
    Ok(report.to_string().context("the JUnit report")?.into_bytes())
}
