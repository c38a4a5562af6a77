//! Prepares solids: converts a `Solid` into a `Hierarchy`, one module per step. `group` merges faces and
//! edges into supermaximal features, `split` divides them into almost flat areas, `bound` encloses the
//! areas in boxes and cones, and `build` makes the tree. `sound` checks the result as a whole.
//!
//! Everything is deterministic: equal solids and options give equal bytes.

mod bound;
mod boxes;
mod build;
mod cluster;
mod coincide;
mod cover;
mod group;
mod guide;
mod hull;
mod normals;
mod polar;
mod prepare;
mod sound;
mod split;
mod wall;

pub use prepare::{
    PrepareError, Unchecked, prepare_model, prepare_solid, prepare_with_remarks, remarks, severity,
};
pub use sound::Unsound;
