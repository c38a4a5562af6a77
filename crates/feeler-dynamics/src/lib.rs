//! Rigid bodies that touch exactly: a small engine for insertions and mechanisms with little play.
//!
//! Engines for games and robots press solids into one another by hundredths of a millimetre and more, which
//! is the play of the fits that this one is for. Here the velocities of a step are those of least energy that
//! keep open all linear gaps of a set of contacts that suffices for the step. Where surfaces are curved, the
//! contacts are computed again at the end of the step, until no gap is closed further than the tolerance or
//! the rounds of the step are used up, which its report states.
//!
//! Lengths are in mm, masses in kg, times in s: forces in kg·mm/s² (mN), torques in kg·mm²/s² (µN·m).
//!
//! # Source
//! BREP chapter 5 (Moreau–Jean time stepping with Signorini's conditions). Its open problem, that linearised
//! constraints on curved geometry penetrate, is met by the rounds of [`World::step`].
//!
//! # Deviations
//! - A step solves one convex problem instead of Gauss–Seidel sweeps: exact also where dozens of nearly
//!   parallel contacts share one load.
//! - Contacts are signed: bodies need be neither eroded nor dilated. [`RigidBody::dilation`] is there for
//!   those that were eroded.
//! - Friction is Coulomb's in its convex form (a cone for each contact), with the sliding that it would push
//!   apart put back in from round to round.

mod body;
mod cone;
mod coupling;
mod error;
mod id;
mod world;

pub use body::RigidBody;
pub use coupling::Coupling;
pub use error::DynamicsError;
pub use id::BodyId;
pub use world::{Settings, StepReport, World, WorldContact};
