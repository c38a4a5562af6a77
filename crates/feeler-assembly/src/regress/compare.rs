//! Comparison of results with recorded ones.

use super::results::{Entries, EntryOutcome, EntryResult, PairFacts};
use super::workload::reference_seconds;
use crate::compare::{ComparisonTolerances, Difference, DifferenceKind, compare_facts, compare_minima};

/// Maximum number of differences of an entry that are kept; further ones are only counted. With a larger
/// value, reports of entirely different models are long; a smaller one hides differences of large
/// models.
const MAX_DIFFERENCES: usize = 1_000;

/// Limits up to which differences of results and of durations are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegressionLimits {
    /// Tolerances up to which lengths, areas, volumes, inertia and angles count as equal.
    pub tolerances: ComparisonTolerances,
    /// Limit of durations; `None`: durations are not compared.
    pub time: Option<TimeLimit>,
}

/// Conditions under which two durations of one entry count as different.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimit {
    /// Largest ratio of the longer to the shorter one of the old and the new duration that counts as
    /// equal.
    pub ratio: f64,
    /// Two durations that are both below this value (ms, on the current machine) are not compared.
    pub at_least_ms: f64,
}

/// Differences between the new and the recorded result of one entry, which is a model or a pair of
/// solids.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryComparison {
    /// Name of the entry in its suite.
    pub name: String,
    /// Differences, at most 1,000.
    pub differences: Vec<Difference>,
    /// Number of further differences, which are not kept.
    pub more: usize,
    /// Whether the recorded result was computed from input files with other bytes.
    pub other_input: bool,
}

/// Compares the results `found` with the recorded results `known`, entry by entry in the order of
/// `found`. An entry without a recorded result has one difference; recorded entries that are not in
/// `found` are ignored.
#[must_use]
pub fn compare_entries(known: &Entries, found: &Entries, limits: &RegressionLimits) -> Vec<EntryComparison> {
    let one = |(name, new): (&String, &EntryResult)| {
        let (mut differences, other_input) = match known.get(name) {
            Some(old) => compare_entry(old, new, limits),
            None => {
                let what = "has no golden result".to_owned();
                (vec![Difference::new(DifferenceKind::Import, "", what)], false)
            }
        };
        let more = differences.len().saturating_sub(MAX_DIFFERENCES);
        differences.truncate(MAX_DIFFERENCES);
        EntryComparison { name: name.clone(), differences, more, other_input }
    };
    found.iter().map(one).collect()
}

/// End of the messages about an entry that was recorded as another type (model or pair): how to replace
/// the golden results.
const RECORD: &str = "record the results again with --bless";

fn compare_entry(old: &EntryResult, new: &EntryResult, limits: &RegressionLimits) -> (Vec<Difference>, bool) {
    let tol = &limits.tolerances;
    let import = |what| vec![Difference::new(DifferenceKind::Import, "", what)];
    let (mut out, other_input) = match (&old.found, &new.found) {
        (EntryOutcome::Model(a), EntryOutcome::Model(b)) => {
            (compare_facts(a, b, tol).differences, a.input_hash != b.input_hash)
        }
        (EntryOutcome::Pair(a), EntryOutcome::Pair(b)) => (compare_pair(a, b, tol), a.inputs != b.inputs),
        (EntryOutcome::Failed(a), EntryOutcome::Failed(b)) if a == b => (vec![], false),
        (EntryOutcome::Failed(a), EntryOutcome::Failed(b)) => {
            (import(format!("fails in another way: {b}; before: {a}")), false)
        }
        (_, EntryOutcome::Failed(e)) => (import(format!("fails now: {e}")), false),
        (EntryOutcome::Failed(_), _) => (import("does not fail any more".to_owned()), false),
        (EntryOutcome::Model(_), EntryOutcome::Pair(_)) => (
            import(format!(
                "is a [[pair]] of the suite now, but a [[model]] in the golden results; {RECORD}"
            )),
            false,
        ),
        (EntryOutcome::Pair(_), EntryOutcome::Model(_)) => (
            import(format!(
                "is a [[model]] of the suite now, but a [[pair]] in the golden results; {RECORD}"
            )),
            false,
        ),
    };
    if let (Some(limit), Some(a), Some(b)) = (&limits.time, old.time, new.time) {
        out.extend(compare_times(a, b, limit));
    }
    (out, other_input)
}

fn compare_pair(old: &PairFacts, new: &PairFacts, tol: &ComparisonTolerances) -> Vec<Difference> {
    let mut out = Vec::new();
    if old.steps.len() != new.steps.len() {
        let what = format!("has {} poses now, had {}", new.steps.len(), old.steps.len());
        out.push(Difference::new(DifferenceKind::Import, "", what));
    }
    let is_motion = new.steps.len() > 1;
    for (k, (a, b)) in old.steps.iter().zip(&new.steps).enumerate() {
        let subject = if is_motion { format!("step {k}") } else { String::new() };
        if a.status != b.status {
            let what = format!("{} -> {}", a.status, b.status);
            out.push(Difference::new(DifferenceKind::Verdict, &subject, what));
        } else if let (Some(d), Some(e)) = (a.depth, b.depth)
            && !tol.same_length(d, e)
        {
            let what = format!("interfering, its witness {d:.9} -> {e:.9} mm deep");
            out.push(Difference::new(DifferenceKind::Verdict, &subject, what));
        }
        out.extend(compare_minima(&a.minima, &b.minima, (&subject, old.size.max(new.size)), tol));
    }
    out
}

/// Compares two durations, each given as a multiple of the duration of the reference workload; `None` if
/// they count as equal.
fn compare_times(old: f64, new: f64, limit: &TimeLimit) -> Option<Difference> {
    let min_time = limit.at_least_ms * 1e-3 / reference_seconds();
    let ratio = new / old;
    let differs = ratio > limit.ratio || ratio < 1.0 / limit.ratio;
    (differs && old.max(new) >= min_time).then(|| {
        let what = format!(
            "takes {ratio:.2} times as long as the golden result: {old:.3} -> {new:.3} reference workloads"
        );
        Difference::new(DifferenceKind::Time, "", what)
    })
}
