//! Results that are recorded and compared later.

use crate::compare::{MinimumFacts, ModelFacts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Results of all entries of a suite, by name.
pub type Entries = BTreeMap<String, EntryResult>;

/// Result of one entry of a regression suite: a model, or a pair of solids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryResult {
    /// Properties of the model or results of the pair, or the reason of a failure.
    pub found: EntryOutcome,
    /// Duration as a multiple of that of the reference workload
    /// ([`reference_seconds`](super::reference_seconds)); `None` if durations are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// Properties of a model or of a pair, or the reason of a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryOutcome {
    /// The entry is a model with these properties.
    Model(ModelFacts),
    /// The entry is a pair with these results.
    Pair(PairFacts),
    /// The entry could not be computed for this reason.
    Failed(String),
}

/// Results of the queries of two solids at one or several poses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairFacts {
    /// Hashes of the input files of both solids.
    pub inputs: [String; 2],
    /// Diagonal (mm) of the larger solid's box.
    pub size: f64,
    /// Results at each pair of poses of A and B.
    pub steps: Vec<StepFacts>,
}

/// Results of the query of two solids at one pair of poses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepFacts {
    /// Status, as [`status_name`](crate::status_name) names it; `-` without a verdict.
    pub status: String,
    /// Depth (mm) that the witness proves ([`Witness::depth`](feeler_runtime::Witness::depth)); `None` if the
    /// solids do not interfere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Minima of the distance within the `d_max` of the query options.
    pub minima: Vec<MinimumFacts>,
}
