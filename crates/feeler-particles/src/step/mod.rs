//! Particles among walls, step by step: small on purpose.
//!
//! Leapfrog in the form drift–kick–drift: half a step with constant momenta, one kick by the forces found
//! there, half a step with the new momenta. Forces of positions alone are integrated reversibly and
//! symplectically, and between steps the state is positions and momenta of one time, without stored forces.
//! Free rotation of clumps is split into rotations about their axes of inertia, which keeps the angular
//! momentum to rounding.
//!
//! Everything is added up in a fixed order: the same bits for any number of threads.
//!
//! # Source
//! DIST §4.3 (penalty contacts, leapfrog); Dullweber, Leimkuhler and `McLachlan`, *J. Chem. Phys.*
//! 107 (1997) (rotations).

mod bodies;
mod error;
mod forces;
mod form;
mod grain;
mod lent;
mod meet;
mod pairs;
mod particle;
mod plane;
mod presence;
mod solid;
mod solid_pair;
mod state;
#[cfg(test)]
mod tests;
mod wall;

pub use error::StepError;
pub use forces::{Balls, WallForces};
pub use particle::{Particle, Pebble};
pub use wall::{PlaneWall, RigidMotion, SolidWall, Wall};

use crate::exact;
use crate::law::{Law, ShearState};
use crate::rotation::rotation_by;
use feeler_convex::{Ball, BroadPhase};
use feeler_geom::{P3, Pose, V3};
use form::Form;
use meet::{Moving, SphereMemory, Walls};
use nalgebra::{Translation3, UnitQuaternion};
use pairs::PairMemory;
use rayon::prelude::*;
use solid::Asker;
use solid_pair::SolidPair;

/// How particles and walls act on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Acceleration (mm/s²) of all particles.
    pub gravity: V3,
    /// Forces between particles; none: they pass through each other.
    pub particles: Option<Law>,
}

/// Force (mN) and moment (mN·mm).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force (mN).
    pub force: V3,
    /// Moment (mN·mm): of a particle about its centre of mass, of a wall about its reference point.
    pub moment: V3,
}

/// Where a particle is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Centre of mass (mm).
    pub center: P3,
    /// From its axes of inertia to the world's.
    pub(crate) rotation: UnitQuaternion<f64>,
    /// Velocity of the centre (mm/s).
    pub velocity: V3,
    /// Angular momentum about the centre (kg·mm²/s, world).
    pub momentum: V3,
}

/// A sphere of a particle, or the ball around a grain.
#[derive(Clone, Copy, Debug)]
struct Sphere {
    particle: u32,
    is_grain: bool,
    center: P3,
    radius: f64,
}

/// Particles and walls, and what they are doing.
///
/// ```
/// use feeler_geom::{P3, Pose, V3};
/// use feeler_particles::{FacetWall, Law, Particle, Resolution, Settings, Simulation};
///
/// // A floor of two triangles; a file would do: FacetWall::read_stl(path, 1.0).
/// let corners = [(0.0, 0.0), (90.0, 0.0), (90.0, 90.0), (0.0, 90.0)].map(|(x, y)| P3::new(x, y, 0.0));
/// let mut floor = FacetWall::new(&corners, &[[0, 1, 2], [0, 2, 3]])?;
/// floor.set_resolution(Resolution::Full { cutoff: 0.5 })?;
///
/// let law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 0.5, friction: 0.3 };
/// let mut world = Simulation::new(Settings { gravity: V3::z() * -9_810.0, particles: Some(law) })?;
/// let floor = world.add_wall(floor.into(), law)?;
/// let ball = Particle::sphere(2.0, 2_600.0)?;
/// let weight = ball.mass() * 9_810.0;
/// let ball = world.add(ball, &Pose::translation(45.0, 45.0, 3.0), V3::zeros(), V3::zeros())?;
/// for _ in 0..50_000 {
///     world.step(1e-5)?;
/// }
/// let on_floor = world.wall_load(floor).ok_or("no such wall")?;
/// assert!((on_floor.force.z + weight).abs() < 1e-6 * weight);
/// assert!(world.motion(ball).ok_or("no such ball")?.velocity.norm() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    settings: Settings,
    particles: Vec<Particle>,
    motions: Vec<Motion>,
    /// Particles whose velocities nothing changes.
    driven: Vec<bool>,
    /// Particles that have been taken out.
    gone: Vec<bool>,
    walls: Walls,
    spheres: Vec<Sphere>,
    memories: Vec<SphereMemory>,
    pairs: Vec<PairMemory>,
    /// Those of which one at least is a solid.
    solid_pairs: Vec<SolidPair>,
    steps: u64,
    time: f64,
    loads: Vec<Load>,
    // Storage.
    poses: Vec<Pose>,
    /// Spheres that are there; walls and the broad phase are told of these alone.
    present: Vec<u32>,
    broad: Option<BroadPhase<Ball>>,
    pairs_before: Vec<PairMemory>,
    solid_pairs_before: Vec<SolidPair>,
    spins: Vec<V3>,
    asker: Asker,
    /// Whether there are solids among the particles.
    solids: bool,
}

impl Simulation {
    /// An empty one.
    ///
    /// # Errors
    /// A law that is none.
    pub fn new(settings: Settings) -> Result<Self, StepError> {
        if let Some(law) = settings.particles {
            law.check().map_err(|error| StepError::Law { what: "particles", error })?;
        }
        Ok(Self {
            settings,
            particles: Vec::new(),
            motions: Vec::new(),
            driven: Vec::new(),
            gone: Vec::new(),
            walls: Walls::default(),
            spheres: Vec::new(),
            memories: Vec::new(),
            pairs: Vec::new(),
            solid_pairs: Vec::new(),
            steps: 0,
            time: 0.0,
            loads: Vec::new(),
            poses: Vec::new(),
            present: Vec::new(),
            broad: None,
            pairs_before: Vec::new(),
            solid_pairs_before: Vec::new(),
            spins: Vec::new(),
            asker: Asker::default(),
            solids: false,
        })
    }

    /// Adds a wall and the law of its contacts; its number.
    ///
    /// # Errors
    /// A law that is none; triangles beside particles that are solids.
    pub fn add_wall(&mut self, wall: Wall, law: Law) -> Result<usize, StepError> {
        if self.solids && matches!(wall, Wall::Facets(_)) {
            return Err(StepError::Particle(NOT_MET));
        }
        let number = self.walls.add(wall, law)?;
        self.memories.iter_mut().for_each(SphereMemory::add_wall);
        Ok(number)
    }

    /// Adds a particle at a pose (of its coordinates), with the velocity (mm/s) of its centre of mass and a
    /// spin (rad/s, world); its number.
    ///
    /// # Errors
    /// Numbers that are not finite; more than 2³¹ spheres; a solid beside walls of triangles.
    pub fn add(
        &mut self,
        particle: Particle,
        pose: &Pose,
        velocity: V3,
        spin: V3,
    ) -> Result<usize, StepError> {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if !numbers.chain(velocity.iter()).chain(spin.iter()).all(|c| c.is_finite()) {
            return Err(StepError::Particle("the pose and the velocities of a particle must be finite"));
        }
        let is_solid = particle.shaped.as_ref().is_some_and(|shaped| shaped.is_solid());
        if is_solid && self.walls.list.iter().any(|w| matches!(w, Wall::Facets(_))) {
            return Err(StepError::Particle(NOT_MET));
        }
        let at = u32::try_from(self.particles.len()).map_err(|_| StepError::TooMany)?;
        if self.spheres.len() + particle.pebbles.len() > MOST {
            return Err(StepError::TooMany);
        }
        let placed = pose * particle.axes;
        let rotation = placed.rotation;
        let momentum = rotation * (rotation.inverse() * spin).component_mul(&particle.inertia);
        self.motions.push(Motion { center: placed.translation.vector.into(), rotation, velocity, momentum });
        let first = self.spheres.len();
        self.spheres.extend(particle.pebbles.iter().map(|p| Sphere {
            particle: at,
            is_grain: particle.shaped.is_some(),
            center: p.center,
            radius: p.radius,
        }));
        self.memories.resize(self.spheres.len(), SphereMemory::new(self.walls.list.len()));
        self.particles.push(particle);
        self.solids |= is_solid;
        self.driven.push(false);
        self.gone.push(false);
        let last = self.spheres.len() as u64;
        self.present.extend((first as u64..last).filter_map(|k| u32::try_from(k).ok()));
        self.loads.push(Load::default());
        self.broad = None;
        Ok(self.particles.len() - 1)
    }

    /// Whether a particle's velocities stay what they are, whatever acts on it.
    pub fn set_driven(&mut self, particle: usize, driven: bool) {
        if let Some(flag) = self.driven.get_mut(particle) {
            *flag = driven;
        }
    }

    /// How many particles there are.
    #[must_use]
    pub fn particles(&self) -> usize {
        self.particles.len()
    }

    /// Where a particle is and how it moves; none where there is no such particle.
    #[must_use]
    pub fn motion(&self, particle: usize) -> Option<&Motion> {
        self.motions.get(particle)
    }

    /// The same, to be changed.
    pub fn motion_mut(&mut self, particle: usize) -> Option<&mut Motion> {
        self.motions.get_mut(particle)
    }

    /// From a particle's coordinates to the world's.
    #[must_use]
    pub fn pose(&self, particle: usize) -> Option<Pose> {
        let motion = self.motions.get(particle)?;
        let placed = Pose::from_parts(Translation3::from(motion.center.coords), motion.rotation);
        Some(placed * self.particles[particle].axes.inverse())
    }

    /// Angular velocity of a particle (rad/s, world).
    #[must_use]
    pub fn spin(&self, particle: usize) -> Option<V3> {
        self.motions.get(particle).map(|m| spin(m, &self.particles[particle]))
    }

    /// A wall.
    #[must_use]
    pub fn wall(&self, wall: usize) -> Option<&Wall> {
        self.walls.list.get(wall)
    }

    /// A wall, to be moved.
    pub fn wall_mut(&mut self, wall: usize) -> Option<&mut Wall> {
        self.walls.list.get_mut(wall)
    }

    /// What all particles together did to a wall in the last step.
    #[must_use]
    pub fn wall_load(&self, wall: usize) -> Option<&Load> {
        self.walls.loads.get(wall)
    }

    /// What contacts did to a particle in the last step.
    #[must_use]
    pub fn load(&self, particle: usize) -> Option<&Load> {
        self.loads.get(particle)
    }

    /// What friction remembers of the contacts of a particle's sphere (numbered within the particle) with a
    /// wall: the number of each contact with its state.
    #[must_use]
    pub fn shear(&self, particle: usize, pebble: usize, wall: usize) -> &[(u64, ShearState)] {
        let first = self.spheres.partition_point(|s| (s.particle as usize) < particle);
        let is_there = self.spheres.get(first + pebble).is_some_and(|s| s.particle as usize == particle);
        let memory = is_there.then(|| self.memories[first + pebble].walls.get(wall)).flatten();
        memory.map_or(&[], |m| &m.shear)
    }

    /// Pairs of spheres, grains or solids in contact in the last step.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs.len() + self.solid_pairs.iter().filter(|p| !p.acts.is_empty()).count()
    }

    /// Time since the beginning (s).
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps since the beginning.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Kinetic energy of all particles (kg·mm²/s² = µJ).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let of = |(m, p): (&Motion, &Particle)| {
            0.5 * (p.mass * m.velocity.norm_squared() + spin(m, p).dot(&m.momentum))
        };
        let all = self.motions.iter().zip(&self.particles).zip(&self.gone);
        all.filter(|(_, gone)| !**gone).map(|(one, _)| of(one)).sum()
    }

    /// Makes a step of `time` (s).
    ///
    /// # Errors
    /// No time, a wall whose motion cannot go on, particles that have gone beyond all numbers.
    pub fn step(&mut self, time: f64) -> Result<(), StepError> {
        self.step_with(time, |_, _| {})
    }

    /// Makes a step in which other forces act too: `add` is told the particles' motions in the middle of the
    /// step, and adds to their loads.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn step_with(
        &mut self,
        time: f64,
        add: impl FnOnce(&[Motion], &mut [Load]),
    ) -> Result<(), StepError> {
        if !(time.is_finite() && time > 0.0) {
            return Err(StepError::Step(time));
        }
        self.drift(0.5 * time)?;
        self.meet_walls(time)?;
        self.meet_particles(time)?;
        self.add_up();
        add(&self.motions, &mut self.loads);
        for (k, (motion, load)) in self.motions.iter_mut().zip(&self.loads).enumerate() {
            if !(self.driven[k] || self.gone[k]) {
                motion.velocity += (self.settings.gravity + load.force / self.particles[k].mass) * time;
                motion.momentum += load.moment * time;
            }
        }
        self.drift(0.5 * time)?;
        self.steps += 1;
        self.time += time;
        Ok(())
    }

    /// Moves everything on with the momenta that it has.
    fn drift(&mut self, time: f64) -> Result<(), StepError> {
        for (k, (motion, particle)) in self.motions.iter_mut().zip(&self.particles).enumerate() {
            if self.gone[k] {
                continue;
            }
            motion.center += motion.velocity * time;
            motion.rotation = rotated(motion, &particle.inertia, time);
            let is_finite = motion.center.iter().chain(motion.momentum.iter()).all(|c| c.abs() <= FARTHEST);
            if !is_finite {
                return Err(StepError::Lost(k));
            }
        }
        self.walls.advance(time)
    }

    /// Finds what walls do to each sphere.
    fn meet_walls(&mut self, time: f64) -> Result<(), StepError> {
        self.spins.clear();
        self.spins.extend(self.motions.iter().zip(&self.particles).map(|(m, p)| spin(m, p)));
        let Self {
            spheres, memories, walls, motions, particles, spins, gone, present, solids, asker, ..
        } = self;
        let ball = |s: &Sphere| exact::Sphere {
            center: sphere_center(s, &motions[s.particle as usize]),
            radius: s.radius,
        };
        let there = present.iter().map(|k| &spheres[*k as usize]);
        let form = |s: &Sphere| {
            let motion = &motions[s.particle as usize];
            let shaped = particles[s.particle as usize].shaped.as_ref().filter(|_| s.is_grain)?;
            shaped.placed(&sphere_center(s, motion), motion)
        };
        walls
            .ask(there.map(ball), |k| match form(&spheres[present[k] as usize]) {
                Some(Form::Grain(met)) => Some(met.placed),
                _ => None,
            })
            .map_err(|k| StepError::Lost(spheres[present[k] as usize].particle as usize))?;
        let (walls, present) = (&*walls, &*present);
        let meet = |asker: &mut Asker, (k, (sphere, memory)): (usize, (&Sphere, &mut SphereMemory))| {
            let of = sphere.particle as usize;
            if gone[of] {
                return Ok(());
            }
            let Motion { center, velocity, .. } = motions[of];
            let moving = Moving { center, velocity, spin: spins[of], mass: particles[of].mass };
            let number = if present.len() == spheres.len() {
                k
            } else {
                present.partition_point(|known| (*known as usize) < k)
            };
            let met = form(sphere);
            walls
                .meet(number, &ball(sphere), met.as_ref(), &moving, memory, (asker, time))
                .map_err(|_| StepError::Lost(of))
        };
        if spheres.len() < PARALLEL && !*solids {
            spheres.iter().zip(memories.iter_mut()).enumerate().try_for_each(|one| meet(asker, one))
        } else {
            let least = if *solids { 1 } else { CHUNK };
            let all = spheres.par_iter().zip(memories.par_iter_mut()).enumerate().with_min_len(least);
            all.try_for_each_init(Asker::default, meet)
        }
    }

    /// Adds up what acts on particles and walls, in the order of spheres and pairs.
    fn add_up(&mut self) {
        self.loads.fill(Load::default());
        for (sphere, memory) in self.spheres.iter().zip(&self.memories) {
            let load = &mut self.loads[sphere.particle as usize];
            load.force += memory.load.force;
            load.moment += memory.load.moment;
        }
        self.walls.add_up(self.memories.iter());
        self.add_up_pairs();
    }
}

fn sphere_center(sphere: &Sphere, motion: &Motion) -> P3 {
    motion.center + motion.rotation * sphere.center.coords
}

/// Angular velocity (world).
fn spin(motion: &Motion, particle: &Particle) -> V3 {
    let local = motion.rotation.inverse() * motion.momentum;
    motion.rotation * local.component_div(&particle.inertia)
}

/// Where a free body has turned to after a time.
fn rotated(motion: &Motion, inertia: &V3, time: f64) -> UnitQuaternion<f64> {
    let mut rotation = motion.rotation;
    if (inertia.max() - inertia.min()) <= ROUND * inertia.max() {
        rotation = rotation_by(&(motion.momentum * (time / inertia.x))) * rotation;
    } else {
        for (axis, part) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
            let momentum = (rotation.inverse() * motion.momentum)[axis];
            let mut turn = V3::zeros();
            turn[axis] = momentum / inertia[axis] * (part * time);
            rotation *= rotation_by(&turn);
        }
    }
    // Rounding of products would add up over a million steps.
    UnitQuaternion::new_normalize(rotation.into_inner())
}

/// Of walls that solids pass through.
const NOT_MET: &str =
    "particles that are solids meet no triangles: make the wall a solid (ExactWall) or of planes";

/// Spheres of a simulation.
const MOST: usize = 1 << 31;

/// Spheres, or pairs of them, from which on threads share them, and how many one takes at a time.
const PARALLEL: usize = 256;
const CHUNK: usize = 32;

/// Distance (mm), and momentum, beyond which squares could overflow.
const FARTHEST: f64 = 1e100;

/// Moments of inertia are those of a sphere up to this part.
const ROUND: f64 = 1e-12;
