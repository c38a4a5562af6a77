//! Data passed between the steps of a query.

mod candidate;
mod context;
mod pairs;

pub(crate) use candidate::{Accepted, Candidate, FamilyPair};
pub(crate) use context::{Context, StepBounds, Waves};
pub(crate) use pairs::sort_by_features;
