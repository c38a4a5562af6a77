//! Comparison of two versions of a model or of the minima of a pair: what is equal, what has changed and by
//! which amount, and what is new.
//!
//! Facts are the properties that are compared, as plain numbers that can be stored ([`ModelFacts`],
//! [`SolidFacts`], [`FaceFacts`], [`MinimumFacts`]). Comparing two facts of a type returns a list of
//! [`Difference`]s. Faces are matched by their geometry, not by their entity numbers, which a CAD
//! program assigns anew with every export.

mod difference;
mod face;
mod minima;
mod model;
mod solid;
mod volume;

pub use difference::{ComparisonTolerances, Difference, DifferenceKind};
pub use face::{FaceFacts, compare_faces};
pub use minima::{MinimumFacts, compare_minima};
pub use model::{
    InstanceFacts, ModelComparison, ModelFacts, PartCounts, compare_facts, compare_models, compare_volumes,
};
pub use solid::{SolidFacts, compare_solids};
pub use volume::VolumeDifference;
