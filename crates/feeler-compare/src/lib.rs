//! Two versions of something side by side: what is the same, what has changed and by how much, what is new.
//!
//! Facts are plain numbers that can be stored ([`ModelFacts`], [`SolidFacts`], [`FaceFacts`], [`Minimum`]);
//! comparing two of a kind gives a list of [`Difference`]s. Faces are matched by their geometry, not by their
//! numbers in a file, which a CAD program deals out anew with every export.
//!
//! Lengths in mm, angles in radians. This crate knows neither STEP nor queries: facts are taken from prepared
//! models and from plain points.

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
