//! Known findings, which do not fail a check.

use super::finding::Finding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Findings that are accepted as known, sorted by the paths of their two parts.
/// [`ClearanceReport::apply_baseline`](crate::ClearanceReport::apply_baseline) marks them in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Baseline(BTreeSet<KnownFinding>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct KnownFinding {
    a: String,
    b: String,
    finding: Finding,
}

impl KnownFinding {
    /// Creates a finding about two parts. Their paths are stored in alphabetical order, so that the
    /// order of the arguments is irrelevant.
    fn new(a: &str, b: &str, finding: Finding) -> Self {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        Self { a: a.to_owned(), b: b.to_owned(), finding }
    }
}

impl Baseline {
    /// Adds a finding about two parts, given by their paths in either order.
    pub fn insert(&mut self, a: &str, b: &str, finding: Finding) {
        self.0.insert(KnownFinding::new(a, b, finding));
    }

    /// Whether the baseline contains a finding about two parts, given by their paths in either order.
    #[must_use]
    pub fn contains(&self, a: &str, b: &str, finding: Finding) -> bool {
        self.0.contains(&KnownFinding::new(a, b, finding))
    }

    /// Number of findings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the baseline has no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
