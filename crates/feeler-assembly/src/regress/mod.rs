//! Recorded results of models and pairs, and their comparison with new ones.
//!
//! An entry is a model ([`ModelFacts`](crate::ModelFacts)) or a pair of solids at one or several poses
//! ([`measure_pair`]). Results derive `Serialize` and `Deserialize`, so that a program can record them;
//! [`compare_entries`] reports how new results differ from recorded ones.

mod compare;
mod measure;
mod results;
mod workload;

pub use compare::{EntryComparison, RegressionLimits, TimeLimit, compare_entries};
pub use measure::measure_pair;
pub use results::{Entries, EntryOutcome, EntryResult, PairFacts, StepFacts};
pub use workload::reference_seconds;
