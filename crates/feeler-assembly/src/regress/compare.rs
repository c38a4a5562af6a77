//! Results of now beside those of then.

use super::results::{self, Found, PairFound, Results};
use super::suite::{Suite, TimeLimit};
use feeler_compare::{Difference, Kind, Tolerances, minima, parts};

/// Differences of one entry above which the rest is counted only: what has changed is plain by then.
const MOST: usize = 1_000;

/// One entry and how it differs.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) differences: Vec<Difference>,
    /// How many more there are.
    pub(super) more: usize,
    /// Whether it is of other inputs than the golden results.
    pub(super) other_input: bool,
}

/// All entries of a suite, and the names of golden results without one.
pub(super) fn all(suite: &Suite, known: &Results, found: &Results) -> (Vec<Entry>, Vec<String>) {
    let entry = |(name, new): (&String, &results::Entry)| {
        let (mut differences, other_input) = match known.entries.get(name) {
            Some(old) => entry(old, new, suite),
            None => {
                let what = "is not among the golden results; --bless records it".to_owned();
                (vec![Difference::new(Kind::Import, "", what)], false)
            }
        };
        let more = differences.len().saturating_sub(MOST);
        differences.truncate(MOST);
        Entry { name: name.clone(), differences, more, other_input }
    };
    let stale = known.entries.keys().filter(|name| !found.entries.contains_key(*name)).cloned().collect();
    (found.entries.iter().map(entry).collect(), stale)
}

fn entry(old: &results::Entry, new: &results::Entry, suite: &Suite) -> (Vec<Difference>, bool) {
    let tol = &suite.tolerances;
    let import = |what| vec![Difference::new(Kind::Import, "", what)];
    let (mut out, other_input) = match (&old.found, &new.found) {
        (Found::Model(a), Found::Model(b)) => (parts(a, b, tol).1, a.input_hash != b.input_hash),
        (Found::Pair(a), Found::Pair(b)) => (pair(a, b, tol), a.inputs != b.inputs),
        (Found::Failed(a), Found::Failed(b)) if a == b => (vec![], false),
        (Found::Failed(a), Found::Failed(b)) => {
            (import(format!("fails in another way: {b}; before: {a}")), false)
        }
        (_, Found::Failed(e)) => (import(format!("fails now: {e}")), false),
        (Found::Failed(_), _) => (import("does not fail any more".to_owned()), false),
        _ => (import("is another kind of entry now; --bless it".to_owned()), false),
    };
    if let (Some(limit), Some(a), Some(b)) = (&suite.time, old.time, new.time) {
        out.extend(time(a, b, limit));
    }
    (out, other_input)
}

fn pair(old: &PairFound, new: &PairFound, tol: &Tolerances) -> Vec<Difference> {
    let mut out = Vec::new();
    if old.steps.len() != new.steps.len() {
        let what = format!("has {} poses now, had {}", new.steps.len(), old.steps.len());
        out.push(Difference::new(Kind::Import, "", what));
    }
    let many = new.steps.len() > 1;
    for (k, (a, b)) in old.steps.iter().zip(&new.steps).enumerate() {
        let subject = if many { format!("step {k}") } else { String::new() };
        if a.status != b.status {
            let what = format!("{} -> {}", a.status, b.status);
            out.push(Difference::new(Kind::Verdict, &subject, what));
        } else if let (Some(d), Some(e)) = (a.depth, b.depth)
            && !tol.same_length(d, e)
        {
            let what = format!("interfering, its witness {d:.9} -> {e:.9} mm deep");
            out.push(Difference::new(Kind::Verdict, &subject, what));
        }
        out.extend(minima(&a.minima, &b.minima, (&subject, old.size.max(new.size)), tol));
    }
    out
}

/// Times in runs of the reference workload.
fn time(old: f64, new: f64, limit: &TimeLimit) -> Option<Difference> {
    let least = limit.at_least_ms * 1e-3 / super::reference::seconds();
    let ratio = new / old;
    let differs = ratio > limit.ratio || ratio < 1.0 / limit.ratio;
    (differs && old.max(new) >= least).then(|| {
        let what = format!("takes {ratio:.2} times as long: {old:.3} -> {new:.3} reference workloads");
        Difference::new(Kind::Time, "", what)
    })
}
