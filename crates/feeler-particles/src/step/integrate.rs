//! Time integration.
//!
//! Each step is a leapfrog in the form drift–kick–drift: half a step with constant momenta, one kick by the
//! loads at the positions reached, and half a step with the new momenta. Loads that depend on positions
//! alone are integrated reversibly and symplectically. Between steps the state consists of positions and
//! momenta at one time, without stored loads. The free rotation of a rigid body is split into rotations
//! about its axes of inertia, which preserves the angular momentum to rounding.
//!
//! # Source
//! DIST §4.3 (penalty contacts, leapfrog); Dullweber, Leimkuhler and `McLachlan`, *J. Chem. Phys.*
//! 107 (1997) (rotations).

use super::contact_history::ColliderHistory;
use super::error::SimulationError;
use super::force::BodyKinematics;
use super::ids::ParticleId;
use super::pair_queries::PairQueries;
use super::particle::Particle;
use super::shape::PosedShape;
use super::{Collider, Load, MAX_COORDINATE, MIN_PARALLEL, MIN_TASK, ParticleMotion, Simulation};
use crate::rotation::rotation_by;
use crate::sphere::Sphere;
use feeler_geom::V3;
use nalgebra::UnitQuaternion;
use rayon::prelude::*;

impl Simulation {
    /// Advances the simulation by one step of `time` (s).
    ///
    /// # Errors
    /// The time is not above 0, a wall's motion cannot continue, or a particle has left all finite positions.
    pub fn step(&mut self, time: f64) -> Result<(), SimulationError> {
        self.step_with(time, |_, _| {})
    }

    /// Advances the simulation by one step of `time` (s) in which other forces act, too. `add` is called
    /// in the middle of the step with the motions of all particles and the loads of their contacts, by
    /// number of the particle, and adds its forces and moments to the loads.
    ///
    /// # Errors
    /// Those of [`Simulation::step`].
    pub fn step_with(
        &mut self,
        time: f64,
        add: impl FnOnce(&[ParticleMotion], &mut [Load]),
    ) -> Result<(), SimulationError> {
        if !(time.is_finite() && time > 0.0) {
            return Err(SimulationError::Step(time));
        }
        self.drift(0.5 * time)?;
        self.update_loads(time)?;
        add(&self.motions, &mut self.loads);
        for (k, (motion, load)) in self.motions.iter_mut().zip(&self.loads).enumerate() {
            if !(self.driven[k] || self.removed[k]) {
                motion.velocity += (self.settings.gravity + load.force / self.particles[k].mass) * time;
                motion.momentum += load.moment * time;
            }
        }
        self.walls.kick(&self.settings.gravity, time)?;
        self.drift(0.5 * time)?;
        self.steps += 1;
        self.time += time;
        Ok(())
    }

    /// Moves particles that have not been removed with their present velocities and angular momenta, and
    /// walls with their motions, over a time (s).
    fn drift(&mut self, time: f64) -> Result<(), SimulationError> {
        for (k, (motion, particle)) in self.motions.iter_mut().zip(&self.particles).enumerate() {
            if self.removed[k] {
                continue;
            }
            motion.center += motion.velocity * time;
            motion.rotation = rotated(motion, &particle.inertia, time);
            let numbers = motion.center.iter().chain(motion.momentum.iter());
            if !numbers.into_iter().all(|c| c.abs() <= MAX_COORDINATE) {
                return Err(SimulationError::Lost(ParticleId::new(k)));
            }
        }
        self.walls.advance(time)
    }

    /// Computes the loads of all contacts at the present positions, and updates shear states over a step
    /// of `time` (s).
    pub(super) fn update_loads(&mut self, time: f64) -> Result<(), SimulationError> {
        self.update_wall_contacts(time)?;
        self.update_pairs(time)?;
        self.add_up_loads();
        Ok(())
    }

    /// Computes the loads between the walls and each collider, and updates shear states over a step of
    /// `time` (s).
    fn update_wall_contacts(&mut self, time: f64) -> Result<(), SimulationError> {
        self.spins.clear();
        self.spins.extend(self.motions.iter().zip(&self.particles).map(|(m, p)| spin(m, p)));
        let Self {
            colliders,
            histories,
            walls,
            motions,
            particles,
            spins,
            removed,
            present,
            has_solids,
            pool,
            ..
        } = self;
        let sphere = |c: &Collider| c.posed_sphere(&motions[c.particle as usize]);
        let posed = |c: &Collider, sphere: Sphere| {
            c.posed(sphere, &particles[c.particle as usize], &motions[c.particle as usize])
        };
        let spheres = present.iter().map(|k| sphere(&colliders[*k as usize]));
        walls
            .find_exact_contacts(spheres, |k| {
                let collider = &colliders[present[k] as usize];
                match posed(collider, sphere(collider)) {
                    PosedShape::Grain(grain) => Some(grain.placed),
                    _ => None,
                }
            })
            .map_err(|k| SimulationError::Lost(colliders[present[k] as usize].particle_id()))?;
        let (walls, present) = (&*walls, &*present);
        let update = |queries: &mut PairQueries, one: (usize, (&Collider, &mut ColliderHistory))| {
            let (k, (collider, history)) = one;
            let particle = collider.particle as usize;
            if removed[particle] {
                return Ok(());
            }
            let ParticleMotion { center, velocity, .. } = motions[particle];
            let mass = particles[particle].mass;
            let body = BodyKinematics { center, velocity, spin: spins[particle], mass };
            let position = if present.len() == colliders.len() {
                k
            } else {
                present.partition_point(|known| (*known as usize) < k)
            };
            let sphere = sphere(collider);
            walls
                .act_on((position, &sphere), &posed(collider, sphere), &body, history, queries, time)
                .map_err(|_| SimulationError::Lost(collider.particle_id()))
        };
        if colliders.len() < MIN_PARALLEL && !*has_solids {
            let mut taken = pool.take();
            let mut all = colliders.iter().zip(histories.iter_mut()).enumerate();
            all.try_for_each(|one| update(&mut taken.queries, one))
        } else {
            let min_task = if *has_solids { 1 } else { MIN_TASK };
            let all = colliders.par_iter().zip(histories.par_iter_mut()).enumerate().with_min_len(min_task);
            all.try_for_each_init(|| pool.take(), |taken, one| update(&mut taken.queries, one))
        }
    }

    /// Computes the total loads on particles and walls from the loads of all contacts, which are added
    /// in the order of colliders and pairs.
    fn add_up_loads(&mut self) {
        self.loads.fill(Load::default());
        for (collider, history) in self.colliders.iter().zip(&self.histories) {
            let load = &mut self.loads[collider.particle as usize];
            load.force += history.load.force;
            load.moment += history.load.moment;
        }
        self.walls.add_up(self.histories.iter());
        self.add_up_pairs();
    }
}

/// Angular velocity (rad/s, world) of `particle`, from its angular momentum and rotation in `motion`.
#[inline]
pub(super) fn spin(motion: &ParticleMotion, particle: &Particle) -> V3 {
    let local = motion.rotation.inverse() * motion.momentum;
    motion.rotation * local.component_div(&particle.inertia)
}

/// Returns the rotation (axes of inertia to world) of a body that has rotated without a moment for a
/// time (s) from `motion`. `inertia` are its principal moments (kg·mm²).
#[inline]
fn rotated(motion: &ParticleMotion, inertia: &V3, time: f64) -> UnitQuaternion<f64> {
    let mut rotation = motion.rotation;
    if (inertia.max() - inertia.min()) <= SPHERICAL_INERTIA * inertia.max() {
        rotation = rotation_by(&(motion.momentum * (time / inertia.x))) * rotation;
    } else {
        for (axis, part) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
            let momentum = (rotation.inverse() * motion.momentum)[axis];
            let mut turn = V3::zeros();
            turn[axis] = momentum / inertia[axis] * (part * time);
            rotation *= rotation_by(&turn);
        }
    }
    // Without normalisation the rounding of products would accumulate over a million steps.
    UnitQuaternion::new_normalize(rotation.into_inner())
}

/// Maximum difference of the largest and the smallest principal moment of inertia, relative to the
/// largest one, of a body that is rotated like a sphere, about a constant axis. It covers the rounding
/// of moments; a larger value makes bodies that are almost spheres precess wrongly, with a smaller one
/// spheres take five rotations a step instead of one.
const SPHERICAL_INERTIA: f64 = 1e-12;
