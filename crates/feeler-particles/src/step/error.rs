//! Errors of simulations.

use super::ids::{ParticleId, WallId};
use crate::facets::FacetError;
use crate::law::LawError;

/// Reason why a particle, a simulation or a step is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Invalid numbers of a particle or a wall.
    #[error("{0}")]
    Particle(&'static str),
    /// Invalid parameters of a contact law.
    #[error("law of {what}: {error}")]
    Law {
        /// The bodies that the law is for.
        what: &'static str,
        /// The invalid parameter.
        error: LawError,
    },
    /// Invalid duration of a step.
    #[error("the step is {0} s; give a finite duration above 0")]
    Step(f64),
    /// The position or momentum of a particle has exceeded all sensible numbers: the step is too long for the
    /// stiffness of its contacts.
    #[error("particle {0} has left all finite positions; make steps shorter, or contacts softer")]
    Lost(ParticleId),
    /// A position or velocity of a sphere of [`WallForces`](crate::WallForces) is not finite.
    #[error("sphere {0}: its centre, velocity or spin is not finite")]
    NotFinite(usize),
    /// A wall's motion cannot continue.
    #[error("wall {wall}: {error}")]
    Wall {
        /// Id of the wall.
        wall: WallId,
        /// Reason why the motion cannot continue.
        error: FacetError,
    },
    /// Two spheres with equal tags.
    #[error("tag {0} occurs twice; each sphere needs its own")]
    Tag(i64),
    /// More spheres than can be numbered.
    #[error("more than 2³¹ spheres")]
    TooMany,
    /// Bytes that are not a saved state of this simulation.
    #[error("the saved state {0}")]
    State(String),
}
