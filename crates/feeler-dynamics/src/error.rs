//! Why a body or a step cannot be.

use crate::id::BodyId;
use feeler_runtime::QueryError;

/// Why there is no step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DynamicsError {
    /// No density.
    #[error("the density is {0}; give a finite one above 0 kg/m³")]
    Density(f64),
    /// A sheet.
    #[error("'{0}' has no volume, and so no mass; only a fixed body can be without")]
    NoVolume(String),
    /// No time.
    #[error("the step is {0} s; give a finite one above 0")]
    Step(f64),
    /// A dilation that is none.
    #[error("the dilation of body {} is {dilation}; give a finite thickness in mm, 0 for none", .body.0)]
    Dilation {
        /// Of which.
        body: BodyId,
        /// What was given.
        dilation: f64,
    },
    /// A setting that makes no sense.
    #[error("{0}")]
    Setting(&'static str),
    /// A pair could not be asked.
    #[error("bodies {} and {}: {error}", .pair[0].0, .pair[1].0)]
    Query {
        /// Which.
        pair: [BodyId; 2],
        /// Why.
        error: QueryError,
    },
}
