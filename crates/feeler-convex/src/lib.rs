//! Distance between convex shapes: support mappings, Signed Volumes, GJK.
//!
//! A shape is what its support mapping says: the point farthest along a direction. [`distance`] finds the closest
//! points of two shapes, with barycentric weights on the points they came from.
//!
//! This crate knows neither files nor poses: bring both shapes into one frame first.

mod gjk;
mod signed_volumes;
mod support;

pub use gjk::{Outcome, Request, Witness, WitnessVertex, distance};
pub use signed_volumes::{Nearest, nearest_to_origin};
pub use support::{PointSet, Support, SupportPoint};
