//! A simulation whose particles another program steps: it is told where they are, and tells what acts on
//! them.
//!
//! What finds contacts and makes forces of them is what steps of its own use, so the same laws hold in both.

use super::error::StepError;
use super::{FARTHEST, Load, Motion, Simulation};
use feeler_geom::{P3, V3};
use nalgebra::UnitQuaternion;

impl Motion {
    /// From the particle's axes of inertia to the world's.
    #[must_use]
    pub fn rotation(&self) -> UnitQuaternion<f64> {
        self.rotation
    }
}

impl Simulation {
    /// Puts a particle where another program has it: its centre of mass (mm), the rotation from its axes of
    /// inertia to the world's, its velocity (mm/s) and angular momentum (kg·mm²/s, world). A particle that
    /// there is not is left alone.
    ///
    /// # Errors
    /// Numbers that are not finite, or beyond all squares.
    pub fn set_motion(
        &mut self,
        particle: usize,
        center: P3,
        rotation: UnitQuaternion<f64>,
        velocity: V3,
        momentum: V3,
    ) -> Result<(), StepError> {
        let vectors = center.iter().chain(velocity.iter()).chain(momentum.iter());
        if !vectors.chain(rotation.coords.iter()).all(|c| c.abs() <= FARTHEST) {
            return Err(StepError::Lost(particle));
        }
        if let Some(motion) = self.motions.get_mut(particle) {
            *motion = Motion { center, rotation, velocity, momentum };
        }
        Ok(())
    }

    /// What contacts do to each particle where it is now, after a step of `time` (s), over which friction
    /// goes on; 0 asks again without that. Gravity is not in it, and nothing moves.
    ///
    /// # Errors
    /// No time, particles beyond all numbers.
    pub fn contact_loads(&mut self, time: f64) -> Result<&[Load], StepError> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(StepError::Step(time));
        }
        self.meet_walls(time)?;
        self.meet_particles(time)?;
        self.add_up();
        Ok(&self.loads)
    }

    /// Moves the walls alone on by a time (s).
    ///
    /// # Errors
    /// A wall whose motion cannot go on.
    pub fn advance_walls(&mut self, time: f64) -> Result<(), StepError> {
        self.walls.advance(time)
    }

    /// How many contacts there were in the last step, with walls and between particles.
    #[must_use]
    pub fn contacts(&self) -> usize {
        let with_walls = self.memories.iter().flat_map(|m| &m.walls).map(|w| w.shear.len());
        let of_solids = self.solid_pairs.iter().map(|p| p.acts.len());
        with_walls.chain(of_solids).sum::<usize>() + self.pairs.len()
    }
}
