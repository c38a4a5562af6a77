//! Contact of exact walls and particles with deformable bodies.
//!
//! [`feeler_deformable`] computes the contacts of facets with smooth shapes. This module provides the shapes
//! of prepared solids and particles, and steps that advance particles and deformable bodies together.

mod coupling;
mod shapes;

pub use coupling::{CouplingError, DeformableCoupling};
pub use shapes::ExactShape;
