//! Why there is no simulation, or no step.

use crate::facets::FacetError;
use crate::law::LawError;

/// Why there is no particle, no simulation or no step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A radius, a density or a mass that is none.
    #[error("{0}")]
    Particle(&'static str),
    /// A law that is none.
    #[error("law of {what}: {error}")]
    Law {
        /// Of what.
        what: &'static str,
        /// Why.
        error: LawError,
    },
    /// No time.
    #[error("the step is {0} s; give a finite one above 0")]
    Step(f64),
    /// A particle that has gone beyond all numbers: the step is too long for the stiffness of its contacts.
    #[error("particle {0} has left all finite places; make steps shorter, or contacts softer")]
    Lost(usize),
    /// A wall's motion that cannot go on.
    #[error("wall {wall}: {error}")]
    Wall {
        /// Which.
        wall: usize,
        /// Why.
        error: FacetError,
    },
    /// Two balls of one tag.
    #[error("tag {0} is that of two balls; each needs one of its own")]
    Tag(i64),
    /// More particles than numbers for them.
    #[error("more than 2³¹ spheres")]
    TooMany,
    /// Bytes that are no saved state, or that of another simulation.
    #[error("the saved state {0}")]
    State(String),
}
