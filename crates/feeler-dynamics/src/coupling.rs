//! Couplings that pull bodies towards targets, such as a hand that inserts a part.

use crate::id::RigidBodyId;
use feeler_geom::{Pose, V3};

/// Spring and damper, in translation and in rotation, between a body and a target (BREP §5.1). Both are
/// implicit in the step, so any stiffness is stable.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// Body that is pulled to the target.
    pub body: RigidBodyId,
    /// Target pose: the pose that maps the body's coordinates to the world when the body is at its
    /// target.
    pub target: Pose,
    /// Velocity of the target at the body's centre of mass (mm/s, world). The target does not rotate.
    pub velocity: V3,
    /// Translational stiffness (kg/s²; the same number in N/m).
    pub stiffness: f64,
    /// Translational damping (kg/s).
    pub damping: f64,
    /// Rotational stiffness (kg·mm²/s² = µN·m, per rad).
    pub turning_stiffness: f64,
    /// Rotational damping (kg·mm²/s).
    pub turning_damping: f64,
}

impl Coupling {
    /// Creates a critically damped coupling that moves a body to its target within about `response` (s),
    /// given the body's mass (kg) and its radius of gyration `radius` (mm).
    #[must_use]
    pub fn critical(body: RigidBodyId, target: Pose, mass: f64, radius: f64, response: f64) -> Self {
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
