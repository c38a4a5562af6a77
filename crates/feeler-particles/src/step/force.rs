//! Forces of contacts: of walls on a body, and of two particles on each other.

use super::particle::Particle;
use super::shape::PosedShape;
use super::wall::MovingWallContact;
use super::{Collider, ParticleMotion};
use crate::law::{ContactKinematics, Law, ShearState, radius_on_wall};
use feeler_geom::{P3, V3};

/// Kinematics (world) and mass of the particle that a collider belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyKinematics {
    /// Centre of mass (mm), the reference point of the velocity and of moments.
    pub(super) center: P3,
    /// Velocity of the centre (mm/s).
    pub(super) velocity: V3,
    /// Angular velocity (rad/s).
    pub(super) spin: V3,
    /// Mass (kg).
    pub(super) mass: f64,
}

impl BodyKinematics {
    /// Computes the force (mN) of a wall on the particle at a contact of its collider `shape`, and
    /// updates `state` over a step of `time` (s).
    #[inline]
    pub(super) fn wall_force(
        &self,
        law: &Law,
        shape: &PosedShape<'_>,
        contact: &MovingWallContact,
        state: &mut ShearState,
        time: f64,
    ) -> V3 {
        let MovingWallContact { contact, acts_at, velocity, spin, effective_radius } = contact;
        let arm = acts_at - self.center;
        let radius = effective_radius
            .unwrap_or_else(|| radius_on_wall(shape.radius_at(&-contact.normal), contact.curvatures));
        let kinematics = ContactKinematics {
            overlap: -contact.gap,
            normal: contact.normal,
            velocity: self.velocity + self.spin.cross(&arm) - velocity,
            twist: 0.5 * contact.normal.dot(&(self.spin + spin)),
            radius,
            mass: self.mass,
        };
        law.force(&kinematics, state, time)
    }
}

/// Contact of two colliders of different particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairContact {
    /// Overlap (mm).
    pub(super) overlap: f64,
    /// Unit normal from the second collider to the first.
    pub(super) normal: V3,
    /// Point (mm, world) at which the force of the contact acts.
    pub(super) acts_at: P3,
    /// Effective radius R* (mm) of the contact in Hertz's law.
    pub(super) radius: f64,
}

/// References to the state of all particles, from which the forces of pairs are computed. `colliders` is
/// indexed by collider; the other lists are indexed by particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParticleStates<'a> {
    pub(super) colliders: &'a [Collider],
    pub(super) particles: &'a [Particle],
    pub(super) motions: &'a [ParticleMotion],
    pub(super) spins: &'a [V3],
    pub(super) driven: &'a [bool],
}

impl<'a> ParticleStates<'a> {
    /// Returns the shape of the collider with the index `collider`, in its pose (world).
    #[inline]
    pub(super) fn posed(&self, collider: u32) -> PosedShape<'a> {
        let collider = &self.colliders[collider as usize];
        let particle = collider.particle as usize;
        let motion = &self.motions[particle];
        collider.posed(collider.posed_sphere(motion), &self.particles[particle], motion)
    }

    /// Computes the force (mN) on the first of two colliders at their contact, and updates `state` over
    /// a step of `time` (s). The mass of a driven particle counts as infinite.
    #[inline]
    pub(super) fn pair_force(
        &self,
        law: &Law,
        colliders: (u32, u32),
        contact: &PairContact,
        state: &mut ShearState,
        time: f64,
    ) -> V3 {
        let [i, j] = [colliders.0, colliders.1].map(|k| self.colliders[k as usize].particle as usize);
        let velocity = |k: usize| {
            self.motions[k].velocity + self.spins[k].cross(&(contact.acts_at - self.motions[k].center))
        };
        let [m, n] = [i, j].map(|k| self.particles[k].mass);
        let mass = match (self.driven[i], self.driven[j]) {
            (false, true) => m,
            (true, false) => n,
            _ => m * n / (m + n),
        };
        let kinematics = ContactKinematics {
            overlap: contact.overlap,
            normal: contact.normal,
            velocity: velocity(i) - velocity(j),
            twist: 0.5 * contact.normal.dot(&(self.spins[i] + self.spins[j])),
            radius: contact.radius,
            mass,
        };
        law.force(&kinematics, state, time)
    }
}
