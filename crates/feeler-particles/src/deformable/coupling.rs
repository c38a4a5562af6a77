//! Particles among deformable bodies: steps of both simulations with common contact forces.

use super::shapes::{ConvexGrain, ExactShape};
use crate::step::{Load, LocalShape, ParticleId, ParticleMotion, Simulation, SimulationError};
use feeler_deformable::{Ball, BodyId, DeformableError, RigidBody, Simulation as Deformables, SmoothShape};
use feeler_geom::{Pose, V3};
use nalgebra::Translation3;

/// Number of mN in a N: loads of particles are in mN, those of deformable bodies in N.
const MILLINEWTONS: f64 = 1e3;
/// Number of t in a kg: masses of particles are in kg, those of deformable bodies in t.
const TONNES: f64 = 1e-3;

/// Reason why particles cannot be coupled with deformable bodies, or a step fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CouplingError {
    /// A step of the particles fails.
    #[error(transparent)]
    Particles(#[from] SimulationError),
    /// A step of the deformable bodies fails.
    #[error("deformable bodies: {0}")]
    Deformable(#[from] DeformableError),
    /// A particle does not exist, was removed, is coupled already, or is not coupled.
    #[error("particle {}: it does not exist, was removed, or is coupled already", .0.index())]
    Particle(ParticleId),
    /// A grain has no smooth shape because it is too small or too large.
    #[error("particle {}: its grain is too small or too large; check the unit of its semi-axes", .0.index())]
    Shape(ParticleId),
}

/// Particle with its body among deformable bodies.
#[derive(Clone, Debug)]
struct Coupled {
    particle: ParticleId,
    body: BodyId,
    /// Principal moments of inertia (kg·mm²).
    inertia: V3,
    /// Load of deformable bodies in the last step (mN, mN·mm about the centre of mass).
    load: Load,
}

/// Particles of a [`Simulation`] that touch the bodies of a [`feeler_deformable::Simulation`].
///
/// Coordinates are in mm and times in s, in one frame for both simulations. Each particle is a rigid body of
/// exact shape among the deformable bodies, moved by the particle simulation: contacts between particles and
/// with walls follow the laws of that simulation, contacts with deformable bodies follow
/// [`feeler_deformable::ContactSettings`]. Both are computed at the same positions in every step, so that
/// forces on particles and deformable bodies are equal and opposite. The impulses of a force are its products
/// with the mean of two consecutive steps on deformable bodies, and with one step on particles. They are
/// equal and opposite while the step is constant and bodies do not overlap at the start or when they are
/// added; otherwise they differ by the force times half of the change of the step.
///
/// [`Deformables::stable_step`] accounts for the masses of the coupled particles in contacts with deformable
/// bodies; contacts between particles are not part of it.
///
/// ```
/// use feeler_deformable::{ContactSettings, DeformableBody, Material, Mesh, Simulation as Deformables};
/// use feeler_geom::{P3, Pose, V3};
/// use feeler_particles::{DeformableCoupling, Particle, Simulation, SimulationSettings};
///
/// // A ball of steel falls on a block of rubber.
/// let mut deformables = Deformables::new(ContactSettings::new(20.0, 0.5))?;
/// let mesh = Mesh::box_of_hexahedra(P3::new(-5.0, -5.0, -5.0), V3::new(10.0, 10.0, 5.0), [4, 4, 2])?;
/// let mut block = DeformableBody::new(&mesh, Material::new(5.0, 0.4, 1.1e-9)?, 0.1)?;
/// for (node, p) in mesh.nodes.iter().enumerate().filter(|(_, p)| p.z < -4.9) {
///     (0..3).try_for_each(|axis| block.prescribe_velocity(node, axis, 0.0))?;
/// }
/// deformables.add(block)?;
/// let gravity = V3::z() * -9_810.0;
/// let mut particles = Simulation::new(SimulationSettings { gravity, between: None })?;
/// let ball = Particle::sphere(2.0, 7_850.0)?;
/// let ball = particles.add(ball, &Pose::translation(0.3, 0.2, 2.5), V3::zeros(), V3::zeros())?;
///
/// let mut coupling = DeformableCoupling::new();
/// coupling.add(&particles, ball, &mut deformables)?;
/// let step = 0.5 * deformables.stable_step(2);
/// let mut upwards = 0.0_f64;
/// while particles.time() < 0.02 {
///     coupling.step(&mut particles, &mut deformables, step)?;
///     upwards = particles.motion(ball).map_or(0.0, |m| m.velocity.z).max(upwards);
/// }
/// assert!(upwards > 50.0, "the ball bounces");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DeformableCoupling {
    coupled: Vec<Coupled>,
}

impl DeformableCoupling {
    /// Creates a coupling without particles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a body with the shape of a particle to the deformable bodies; the shape is a sphere, a clump, a
    /// grain or a solid. Every sphere of a clump has contacts of its own. Returns the identity of the body.
    ///
    /// # Errors
    /// The particle does not exist, was removed or is coupled already, or the deformable simulation refuses
    /// the body.
    pub fn add(
        &mut self,
        particles: &Simulation,
        particle: ParticleId,
        deformables: &mut Deformables,
    ) -> Result<BodyId, CouplingError> {
        let motion = particles.motion(particle).filter(|_| particles.is_present(particle));
        let (shape, inertia) = (particles.local_shape(particle), particles.moments(particle));
        let (Some(motion), Some(shape), Some(inertia), None) = (motion, shape, inertia, self.find(particle))
        else {
            return Err(CouplingError::Particle(particle));
        };
        let shapes = smooth_shapes(shape).ok_or(CouplingError::Shape(particle))?;
        let mass = particles.mass(particle).ok_or(CouplingError::Particle(particle))?;
        let pose = Pose::from_parts(Translation3::from(motion.center.coords), motion.rotation());
        let mut body = RigidBody::smooth(shapes, &pose)?;
        body.set_external_inertia(mass * TONNES, inertia.min() * TONNES)?;
        let body = deformables.add(body)?;
        self.coupled.push(Coupled { particle, body, inertia, load: Load::default() });
        self.place(deformables, particles.motions())?;
        Ok(body)
    }

    /// Ends the coupling of a particle, which may have been removed from its simulation. Its body remains
    /// among the deformable bodies without shapes and contacts. Returns the identity of the body.
    ///
    /// # Errors
    /// The particle is not coupled, or its body is not among the deformable bodies.
    pub fn remove(
        &mut self,
        particle: ParticleId,
        deformables: &mut Deformables,
    ) -> Result<BodyId, CouplingError> {
        let index = self.coupled.iter().position(|c| c.particle == particle);
        let index = index.ok_or(CouplingError::Particle(particle))?;
        deformables.remove_shapes(self.coupled[index].body)?;
        Ok(self.coupled.remove(index).body)
    }

    fn find(&self, particle: ParticleId) -> Option<&Coupled> {
        self.coupled.iter().find(|c| c.particle == particle)
    }

    /// Body of a coupled particle among the deformable bodies; `None` if the particle is not coupled.
    #[must_use]
    pub fn body(&self, particle: ParticleId) -> Option<BodyId> {
        self.find(particle).map(|c| c.body)
    }

    /// Load of the deformable bodies on a coupled particle in the last step (mN, mN·mm about its centre of
    /// mass); `None` if the particle is not coupled.
    #[must_use]
    pub fn load(&self, particle: ParticleId) -> Option<&Load> {
        self.find(particle).map(|c| &c.load)
    }

    /// Advances both simulations by a step of `time` (s).
    ///
    /// Particles move by half of the step, then the deformable bodies move by a step, and the contacts
    /// between both are computed; then the particles complete their step. The time of the deformable bodies
    /// is thus half a step behind: both schemes are leapfrogs, whose forces belong to the same times.
    ///
    /// # Errors
    /// A step of one of the simulations fails, or a coupled particle was removed from its simulation and not
    /// from the coupling ([`DeformableCoupling::remove`]). The positions are not
    /// usable for further steps.
    pub fn step(
        &mut self,
        particles: &mut Simulation,
        deformables: &mut Deformables,
        time: f64,
    ) -> Result<(), CouplingError> {
        if let Some(removed) = self.coupled.iter().find(|c| !particles.is_present(c.particle)) {
            return Err(CouplingError::Particle(removed.particle));
        }
        let mut result = Ok(());
        particles.step_with(time, |motions, loads| {
            result = self.advance(deformables, motions, time);
            for coupled in &self.coupled {
                let load = &mut loads[coupled.particle.index()];
                load.force += coupled.load.force;
                load.moment += coupled.load.moment;
            }
        })?;
        Ok(result?)
    }

    /// Prescribes the poses of all bodies at the end of the next step of the deformable bodies.
    fn place(
        &self,
        deformables: &mut Deformables,
        motions: &[ParticleMotion],
    ) -> Result<(), DeformableError> {
        for coupled in &self.coupled {
            let motion = &motions[coupled.particle.index()];
            let rotation = motion.rotation();
            let spin = rotation * (rotation.inverse() * motion.momentum).component_div(&coupled.inertia);
            deformables.move_rigid(coupled.body, motion.center, rotation, motion.velocity, spin)?;
        }
        Ok(())
    }

    /// Advances the deformable bodies by a step to the positions of the particles, and stores the loads on
    /// these.
    fn advance(
        &mut self,
        deformables: &mut Deformables,
        motions: &[ParticleMotion],
        time: f64,
    ) -> Result<(), DeformableError> {
        self.place(deformables, motions)?;
        deformables.step(time)?;
        for coupled in &mut self.coupled {
            let body = deformables.rigid(coupled.body);
            let body = body.ok_or(DeformableError::UnknownBody(coupled.body.index()))?;
            coupled.load = Load { force: body.force() * MILLINEWTONS, moment: body.torque() * MILLINEWTONS };
        }
        Ok(())
    }
}

/// Smooth shapes of a particle in the frame of its shape; `None` if a grain is out of range.
fn smooth_shapes(shape: LocalShape<'_>) -> Option<Vec<Box<dyn SmoothShape>>> {
    Some(match shape {
        LocalShape::Grain(grain, pose) => vec![Box::new(ConvexGrain::new(grain, pose)?)],
        LocalShape::Solid(wall, pose) => vec![Box::new(ExactShape::of_wall(wall, pose))],
        LocalShape::Spheres(spheres) => {
            let balls = spheres.iter().map(|s| Ball { center: s.center, radius: s.radius });
            balls.map(|b| Box::new(b) as Box<dyn SmoothShape>).collect()
        }
    })
}
