//! Errors of bodies and steps.

use crate::id::RigidBodyId;
use feeler_runtime::QueryError;

/// Reason why a body cannot be created or a step is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DynamicsError {
    /// A density is not finite and positive.
    #[error("the density is {0} kg/m³; give a finite density above 0")]
    Density(f64),
    /// A moving body with this name is a sheet, which has no volume.
    #[error("'{0}' is a sheet without volume and mass; use it as a fixed body")]
    NoVolume(String),
    /// The time of a step is not finite and positive.
    #[error("the step is {0} s; give a finite time above 0")]
    Step(f64),
    /// A dilation is negative or not finite.
    #[error("the dilation of body {} is {dilation} mm; give a finite length of at least 0 mm", .body.0)]
    Dilation {
        /// Id of the body with the dilation.
        body: RigidBodyId,
        /// Value of the dilation (mm).
        dilation: f64,
    },
    /// A setting of the world is not valid, as the text states.
    #[error("{0}")]
    Setting(&'static str),
    /// The contacts of two bodies could not be computed.
    #[error("bodies {} and {}: {error}", .pair[0].0, .pair[1].0)]
    Query {
        /// Ids of the two bodies.
        pair: [RigidBodyId; 2],
        /// Reason why the query failed.
        error: QueryError,
    },
}
