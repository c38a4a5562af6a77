//! Result of a clearance check as `JUnit` XML.

use super::Checked;
use super::output::{detail, finding, status};
use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Bytes of a `JUnit` file with a test case for each pair that has a finding or is decided by a rule. A
/// test case with a finding that is not in the baseline fails.
pub(super) fn report(checked: &Checked) -> anyhow::Result<Vec<u8>> {
    let mut suite = TestSuite::new("clearance");
    for pair in checked.report.pairs.iter().filter(|p| p.rule.is_some() || p.finding.is_some()) {
        let [a, b] = checked.paths(pair);
        let outcome = if pair.is_new_finding() {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failure.set_message(finding(pair)).set_description(detail(pair));
            failure
        } else {
            TestCaseStatus::success()
        };
        let mut case = TestCase::new(format!("{a} / {b}"), outcome);
        case.set_classname(pair.rule.as_deref().unwrap_or("no rule"));
        case.set_system_out(format!("{}: {}", status(pair), detail(pair)));
        suite.add_test_case(case);
    }
    let mut report = Report::new("feeler clearance");
    report.add_test_suite(suite);
    Ok(report.to_string().context("the JUnit report")?.into_bytes())
}
