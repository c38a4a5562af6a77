//! Comparison of two versions of a model or of the minima of a pair: what is equal, what has changed and
//! by which amount, and what is new.
//!
//! Facts are plain numbers that can be stored ([`ModelFacts`], [`SolidFacts`], [`FaceFacts`],
//! [`Minimum`]). Comparing two facts of a type returns a list of [`Difference`]s. Faces are matched by
//! their geometry, not by their entity numbers, which a CAD program assigns anew with every export.
//!
//! Lengths are in mm, angles in rad. This crate depends neither on STEP nor on queries: facts are
//! computed from prepared models and from plain points.

mod difference;
mod face;
mod minima;
mod model;
mod solid;

pub use difference::{Difference, Kind, Tolerances};
pub use face::{FaceFacts, faces};
pub use minima::{Minimum, minima};
pub use model::{InstanceFacts, ModelFacts, Parts, parts};
pub use solid::{SolidFacts, solid};
