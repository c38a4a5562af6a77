//! Rigid bodies with exact contacts: a small engine for insertions and mechanisms with little play.
//!
//! Engines for games and robots press solids into one another by hundredths of a millimetre and more,
//! which is the play of the fits that this engine is for. Here the velocities of a step have the least
//! energy among those that keep all linearised gaps open, for a set of contacts that suffices for the
//! step. The contacts are computed again at the end of the step, because surfaces are curved, and the
//! velocities are solved again. Such rounds end when no gap is below minus the tolerance of the
//! settings, or when the maximum number of rounds is reached; the report states the smallest gap.
//!
//! Lengths are in mm, masses in kg, times in s: forces in kg·mm/s² (mN), torques in kg·mm²/s² (µN·m).
//!
//! # Source
//! BREP chapter 5 (Moreau–Jean time stepping with Signorini's conditions). Its open problem is that
//! linearised constraints on curved geometry penetrate; the rounds of [`World::step`] solve it.
//!
//! # Deviations
//! - A step solves one convex problem instead of Gauss–Seidel sweeps, so it is also exact if dozens of
//!   nearly parallel contacts share one load.
//! - Gaps may be negative, so bodies need not be eroded or dilated. [`RigidBody::dilation`] restores the
//!   size of bodies that were eroded elsewhere.
//! - Coulomb friction is convex: a cone for each contact. A sliding contact would separate in this model;
//!   each round corrects its gap.

mod body;
mod cone;
mod coupling;
mod error;
mod id;
mod world;

pub use body::RigidBody;
pub use coupling::Coupling;
pub use error::DynamicsError;
pub use id::RigidBodyId;
pub use world::{StepReport, World, WorldContact, WorldSettings};
