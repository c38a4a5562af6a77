//! Forces on the particles of a simulation, for an external program that integrates their motions. The
//! program sets the motions and reads the loads.
//!
//! Contacts and forces are computed by the same functions as in [`Simulation::step`].

use super::error::SimulationError;
use super::ids::ParticleId;
use super::{Load, MAX_COORDINATE, ParticleMotion, Simulation};
use feeler_geom::{P3, V3};
use nalgebra::UnitQuaternion;

impl Simulation {
    /// Sets the motion of a particle: its centre of mass (mm), the rotation from its axes of inertia to the
    /// world's, its velocity (mm/s) and angular momentum (kg·mm²/s, world). A particle that does not exist is
    /// ignored.
    ///
    /// # Errors
    /// A number is not finite, or its square could overflow.
    pub fn set_motion(
        &mut self,
        particle: ParticleId,
        center: P3,
        rotation: UnitQuaternion<f64>,
        velocity: V3,
        momentum: V3,
    ) -> Result<(), SimulationError> {
        let vectors = center.iter().chain(velocity.iter()).chain(momentum.iter());
        if !vectors.chain(rotation.coords.iter()).all(|c| c.abs() <= MAX_COORDINATE) {
            return Err(SimulationError::Lost(particle));
        }
        if let Some(motion) = self.motions.get_mut(particle.index()) {
            *motion = ParticleMotion { center, rotation, velocity, momentum };
        }
        Ok(())
    }

    /// Computes the load of all contacts on each particle at its present position, by number of the
    /// particle, and updates shear states over the step of `time` (s) that led there. With a time of 0
    /// the loads of the same step are computed again. Gravity is not included, and particles and walls
    /// do not move.
    ///
    /// # Errors
    /// The time is negative or not finite, or a particle has left all finite positions.
    pub fn contact_loads(&mut self, time: f64) -> Result<&[Load], SimulationError> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(SimulationError::Step(time));
        }
        self.update_loads(time)?;
        Ok(&self.loads)
    }

    /// Moves the walls, but not the particles, over a time (s).
    ///
    /// # Errors
    /// [`SimulationError::Wall`] if the motion of a wall would leave a facet without area. That wall and
    /// the walls after it are not moved.
    pub fn advance_walls(&mut self, time: f64) -> Result<(), SimulationError> {
        self.walls.advance(time)
    }
}
