//! What pulls a body towards a target: the hand that inserts it.

use crate::id::BodyId;
use feeler_geom::{Pose, V3};

/// A spring and a damper, in translation and in rotation, between a body and a target (BREP §5.1). Both are
/// implicit in the step, so that they may be as stiff as is wanted.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// Which body.
    pub body: BodyId,
    /// Where it is to go: the pose of its coordinates.
    pub target: Pose,
    /// Velocity (mm/s) of the target, at the body's centre of mass.
    pub velocity: V3,
    /// kg/s², the same number in N/m.
    pub stiffness: f64,
    /// kg/s.
    pub damping: f64,
    /// kg·mm²/s² (µN·m) a radian.
    pub turning_stiffness: f64,
    /// kg·mm²/s.
    pub turning_damping: f64,
}

impl Coupling {
    /// A coupling that brings a mass (kg) whose radius of gyration is given (mm) to its target within some
    /// response time (s), damped critically.
    #[must_use]
    pub fn critical(body: BodyId, target: Pose, mass: f64, radius: f64, response: f64) -> Self {
        let stiffness = mass / (response * response);
        let damping = 2.0 * mass / response;
        let inertia = radius * radius;
        Self {
            body,
            target,
            velocity: V3::zeros(),
            stiffness,
            damping,
            turning_stiffness: stiffness * inertia,
            turning_damping: damping * inertia,
        }
    }
}
