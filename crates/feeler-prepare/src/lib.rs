//! Solid to hierarchy, one module a step: `group` into supermaximal features, `split` into almost flat areas,
//! `bound` them by boxes and cones, `build` the tree; `sound` looks at the result as a whole.
//!
//! Everything is deterministic: the same solid and options give the same bytes.

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

pub use prepare::{PrepareError, prepare_model, prepare_solid, remarks};
pub use sound::Unsound;
