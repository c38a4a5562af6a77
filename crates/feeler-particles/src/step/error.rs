//! Errors of simulations.

use super::ids::{ParticleId, WallId};
use crate::facets::FacetError;
use crate::law::LawError;

/// Reason why a particle, a simulation or a step is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Numbers of a particle or a wall are not valid, as the text states.
    #[error("{0}")]
    Particle(&'static str),
    /// A contact law has an invalid parameter.
    #[error("law of {what}: {error}")]
    Law {
        /// Bodies whose contacts the law is for, as the message names them.
        what: &'static str,
        /// The invalid parameter.
        error: LawError,
    },
    /// The duration of a step (s) is not valid.
    #[error("the step is {0} s; give a finite duration above 0")]
    Step(f64),
    /// The position or momentum of a particle has exceeded all sensible numbers: the step is too long for the
    /// stiffness of its contacts.
    #[error("particle {0} has left all finite positions; make steps shorter, or contacts softer")]
    Lost(ParticleId),
    /// A position or velocity of the sphere with this index, in a call of
    /// [`WallForces`](crate::WallForces), is not finite.
    #[error("sphere {0}: its centre, velocity or spin is not finite")]
    NotFinite(usize),
    /// The motion of a wall, or its state in a saved simulation, cannot be applied, for example because
    /// a facet would lose its area. That wall is unchanged.
    #[error("wall {wall}: {error}")]
    Wall {
        /// Id of the wall.
        wall: WallId,
        /// Reason why the motion or the saved state cannot be applied.
        error: FacetError,
    },
    /// Two spheres of a call of [`WallForces`](crate::WallForces) have this tag.
    #[error("tag {0} occurs twice; each sphere needs its own")]
    Tag(i64),
    /// More spheres than can be numbered.
    #[error("more than 2³¹ spheres")]
    TooMany,
    /// The bytes are not a saved state of this simulation; the text states the reason.
    #[error("the saved state {0}")]
    State(String),
}
