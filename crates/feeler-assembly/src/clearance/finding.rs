//! Kinds of findings.

use serde::{Deserialize, Serialize};

/// Finding about a pair of parts. The variants are in the order of decreasing severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The interiors of the parts intersect.
    Interferes,
    /// It is undecided whether the interiors of the parts intersect.
    Undecided,
    /// The pair could not be measured.
    Failed,
    /// The interiors of the parts intersect, but not deeper than the geometry is accurate
    /// ([`PairMeasurement::accuracy`](crate::PairMeasurement::accuracy)).
    WithinAccuracy,
    /// The parts are nearer than a rule allows.
    TooClose,
    /// The parts touch although a rule forbids it.
    Touches,
    /// The parts do not touch although a rule requires it.
    DoesNotTouch,
}
