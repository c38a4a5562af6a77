//! Simulation of particles among walls, in steps of time.
//!
//! A [`Simulation`] stores the state of all particles and walls. A particle has one or more colliders: the
//! spheres of a clump, or the bounding sphere of a grain or a solid. The layers of a step, from the shapes to
//! the loads:
//!
//! | module | content |
//! |---|---|
//! | `particle`, `shape`, `grain`, `solid` | shapes, masses and poses of particles |
//! | `wall`, `plane_patch`, `slider` | walls and their motions |
//! | `wall_contacts` | contacts of each shape with each wall, in one table |
//! | `contact_history` | shear states and identities that persist between steps |
//! | `force` | kinematics of a contact, and the force by its law |
//! | `walls`, `pairs`, `solid_pair` | all contacts of one collider with walls, and of two colliders |
//! | `integrate` | time integration |
//! | `lifecycle` | particles and walls that are added, removed and disabled |
//! | `apart` | pairs of grains that bounds of their distances exclude |
//! | `search` | measurements of the search for contacts |
//! | `external`, `wall_forces` | forces on particles that an external program integrates |
//! | `saved_state` | encoding of the state |
//!
//! All sums are added in a fixed order, so results have the same bits for any number of threads.

mod apart;
mod contact_history;
mod error;
mod external;
mod force;
mod grain;
mod ids;
mod integrate;
mod lifecycle;
mod pair_queries;
mod pairs;
mod particle;
mod plane_patch;
mod saved_state;
mod search;
mod shape;
mod slider;
mod solid;
mod solid_pair;
#[cfg(test)]
mod tests;
mod wall;
mod wall_contacts;
mod wall_forces;
mod walls;

pub use error::SimulationError;
pub use ids::{ParticleId, WallId};
pub use particle::Particle;
pub use search::{SearchBounds, SearchCounts};
pub use slider::Slider;
pub use wall::{PlaneWall, RigidMotion, SolidWall, Wall};
pub use wall_forces::{SphereArrays, WallForces};

use crate::law::{Law, ShearState};
use crate::sphere::Sphere;
use apart::SeparationBounds;
use contact_history::ColliderHistory;
use feeler_convex::{Ball, BroadPhase};
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};
use pair_queries::QueryPool;
use pairs::ConvexPair;
use search::SearchMeter;
use serde::{Deserialize, Serialize};
pub(crate) use shape::LocalShape;
use shape::PosedShape;
use solid_pair::SolidPair;
use std::sync::Arc;
use walls::Walls;

/// Settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationSettings {
    /// Acceleration of gravity (mm/s², world), which acts on all particles that are not driven.
    pub gravity: V3,
    /// Law of contacts between particles. If it is `None`, particles pass through each other.
    pub between: Option<Law>,
}

/// Force and moment on a particle or a wall, in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force (mN).
    pub force: V3,
    /// Moment (mN·mm): of a particle about its centre of mass, of a wall about its reference point.
    pub moment: V3,
}

/// Position and motion of a particle, in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleMotion {
    /// Centre of mass (mm).
    pub center: P3,
    /// Rotation from the particle's axes of inertia to the world's axes.
    pub(crate) rotation: UnitQuaternion<f64>,
    /// Velocity of the centre of mass (mm/s).
    pub velocity: V3,
    /// Angular momentum about the centre of mass (kg·mm²/s).
    pub momentum: V3,
}

impl ParticleMotion {
    /// Rotation from the particle's axes of inertia to the world's.
    #[must_use]
    pub fn rotation(&self) -> UnitQuaternion<f64> {
        self.rotation
    }
}

/// A sphere of a clump, or the bounding sphere of a grain or a solid.
#[derive(Clone, Copy, Debug)]
struct Collider {
    particle: u32,
    /// Whether the sphere is the bounding sphere of a grain or a solid; `false` for a sphere of a clump.
    is_bounding: bool,
    /// The sphere in coordinates along the axes of inertia with the centre of mass as origin.
    sphere: Sphere,
}

impl Collider {
    fn particle_id(&self) -> ParticleId {
        ParticleId::new(self.particle as usize)
    }

    /// Centre of the sphere (world).
    #[inline]
    fn center(&self, motion: &ParticleMotion) -> P3 {
        motion.center + motion.rotation * self.sphere.center.coords
    }

    /// Returns the sphere in world coordinates, for the motion of its particle.
    #[inline]
    fn posed_sphere(&self, motion: &ParticleMotion) -> Sphere {
        Sphere { center: self.center(motion), radius: self.sphere.radius }
    }

    /// Shape of the collider in the world: `sphere` itself, or the particle's shape that it bounds.
    /// `sphere` is that of [`posed_sphere`](Self::posed_sphere).
    #[inline]
    fn posed<'p>(&self, sphere: Sphere, particle: &'p Particle, motion: &ParticleMotion) -> PosedShape<'p> {
        let shape = particle.shape.as_ref().filter(|_| self.is_bounding);
        shape.and_then(|shape| shape.posed(&sphere.center, motion)).unwrap_or(PosedShape::Sphere(sphere))
    }
}

/// Simulation of particles and walls.
///
/// ```
/// use feeler_geom::{P3, Pose, V3};
/// use feeler_particles::{FacetWall, Law, Particle, Resolution, SimulationSettings, Simulation};
///
/// // A floor of two triangles; `FacetWall::read_stl(path, 1.0)` reads a file.
/// let corners = [(0.0, 0.0), (90.0, 0.0), (90.0, 90.0), (0.0, 90.0)].map(|(x, y)| P3::new(x, y, 0.0));
/// let mut floor = FacetWall::new(&corners, &[[0, 1, 2], [0, 2, 3]])?;
/// floor.set_resolution(Resolution::Full { cutoff: 0.5 })?;
///
/// let law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 0.5, friction: 0.3 };
/// let settings = SimulationSettings { gravity: V3::z() * -9_810.0, between: Some(law) };
/// let mut simulation = Simulation::new(settings)?;
/// let floor = simulation.add_wall(floor.into(), law)?;
/// let sphere = Particle::sphere(2.0, 2_600.0)?;
/// let weight = sphere.mass() * 9_810.0;
/// let pose = Pose::translation(45.0, 45.0, 3.0);
/// let sphere = simulation.add(sphere, &pose, V3::zeros(), V3::zeros())?;
/// for _ in 0..50_000 {
///     simulation.step(1e-5)?;
/// }
/// let on_floor = simulation.wall_load(floor).ok_or("no such wall")?;
/// assert!((on_floor.force.z + weight).abs() < 1e-6 * weight);
/// assert!(simulation.motion(sphere).ok_or("no such particle")?.velocity.norm() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    settings: SimulationSettings,
    particles: Vec<Particle>,
    motions: Vec<ParticleMotion>,
    /// For each particle, whether it is driven, that is, whether its velocities are prescribed.
    driven: Vec<bool>,
    /// For each particle, whether it has been removed.
    removed: Vec<bool>,
    walls: Walls,
    /// Colliders in the order of their particles.
    colliders: Vec<Collider>,
    /// Contact history of each collider with all walls, in the order of `colliders`.
    histories: Vec<ColliderHistory>,
    /// Pairs of colliders that are spheres or grains and were in contact in the last step, in increasing
    /// order of their indices.
    pairs: Vec<ConvexPair>,
    /// Pairs of colliders whose bounding spheres overlap and at least one of which is a solid, in
    /// increasing order of their indices.
    solid_pairs: Vec<SolidPair>,
    steps: u64,
    time: f64,
    loads: Vec<Load>,
    /// Indices of the colliders of particles that have not been removed. Walls and the broad phase
    /// receive only these.
    present: Vec<u32>,
    has_solids: bool,
    // Scratch data.
    broad_phase: Option<BroadPhase<Ball>>,
    poses: Vec<Pose>,
    previous_pairs: Vec<ConvexPair>,
    /// Lower bounds of the distances of grains. They affect the duration of steps only.
    bounds: SeparationBounds,
    previous_solid_pairs: Vec<SolidPair>,
    spins: Vec<V3>,
    pool: QueryPool,
}

impl Simulation {
    /// Creates a simulation without particles and walls.
    ///
    /// # Errors
    /// The law has invalid parameters.
    pub fn new(settings: SimulationSettings) -> Result<Self, SimulationError> {
        if let Some(law) = settings.between {
            law.check().map_err(|error| SimulationError::Law { what: "particles", error })?;
        }
        Ok(Self {
            settings,
            particles: Vec::new(),
            motions: Vec::new(),
            driven: Vec::new(),
            removed: Vec::new(),
            walls: Walls::default(),
            colliders: Vec::new(),
            histories: Vec::new(),
            pairs: Vec::new(),
            solid_pairs: Vec::new(),
            steps: 0,
            time: 0.0,
            loads: Vec::new(),
            present: Vec::new(),
            has_solids: false,
            broad_phase: None,
            poses: Vec::new(),
            previous_pairs: Vec::new(),
            bounds: SeparationBounds::default(),
            previous_solid_pairs: Vec::new(),
            spins: Vec::new(),
            pool: QueryPool::default(),
        })
    }

    /// Sets whether a particle is driven: its velocity and angular velocity are then not changed by
    /// loads or gravity. A particle that does not exist is ignored.
    pub fn set_driven(&mut self, particle: ParticleId, driven: bool) {
        if let Some(flag) = self.driven.get_mut(particle.index()) {
            *flag = driven;
        }
    }

    /// Number of particles, including removed ones.
    #[must_use]
    pub fn particle_count(&self) -> usize {
        self.particles.len()
    }

    /// Number of walls.
    #[must_use]
    pub fn wall_count(&self) -> usize {
        self.walls.list.len()
    }

    /// Identities of all particles, including removed ones.
    pub fn particle_ids(&self) -> impl ExactSizeIterator<Item = ParticleId> + use<> {
        (0..self.particles.len()).map(ParticleId::new)
    }

    /// Identities of all walls.
    pub fn wall_ids(&self) -> impl ExactSizeIterator<Item = WallId> + use<> {
        (0..self.walls.list.len()).map(WallId::new)
    }

    /// Position and motion of a particle; `None` if no such particle exists.
    #[must_use]
    pub fn motion(&self, particle: ParticleId) -> Option<&ParticleMotion> {
        self.motions.get(particle.index())
    }

    /// Position and motion of a particle, to be changed; `None` if no such particle exists.
    pub fn motion_mut(&mut self, particle: ParticleId) -> Option<&mut ParticleMotion> {
        self.motions.get_mut(particle.index())
    }

    /// Pose of a particle, which maps its coordinates to the world; `None` if no such particle exists.
    #[must_use]
    pub fn pose(&self, particle: ParticleId) -> Option<Pose> {
        let motion = self.motions.get(particle.index())?;
        let axes = Pose::from_parts(Translation3::from(motion.center.coords), motion.rotation);
        Some(axes * self.particles[particle.index()].axes.inverse())
    }

    /// Angular velocity of a particle (rad/s, world); `None` if no such particle exists.
    #[must_use]
    pub fn spin(&self, particle: ParticleId) -> Option<V3> {
        self.motions.get(particle.index()).map(|m| integrate::spin(m, &self.particles[particle.index()]))
    }

    /// Mass of a particle (kg), also of a removed one; `None` if no such particle exists.
    #[must_use]
    pub fn mass(&self, particle: ParticleId) -> Option<f64> {
        self.particles.get(particle.index()).map(|p| p.mass)
    }

    /// Maximum distance (mm) of the points of a particle, or of its bounding sphere, from its centre of
    /// mass; `None` if no such particle exists.
    #[must_use]
    pub fn radius(&self, particle: ParticleId) -> Option<f64> {
        let spheres = &self.particles.get(particle.index())?.spheres;
        Some(spheres.iter().map(|s| s.center.coords.norm() + s.radius).fold(0.0, f64::max))
    }

    /// Returns the wall with this id; `None` if no such wall exists.
    #[must_use]
    pub fn wall(&self, wall: WallId) -> Option<&Wall> {
        self.walls.list.get(wall.index())
    }

    /// Wall with this id, for changes of its pose or motion; `None` if no such wall exists.
    pub fn wall_mut(&mut self, wall: WallId) -> Option<&mut Wall> {
        self.walls.list.get_mut(wall.index())
    }

    /// Load of all particles on a wall in the last step, with the moment about the wall's reference
    /// point; `None` if no such wall exists.
    #[must_use]
    pub fn wall_load(&self, wall: WallId) -> Option<&Load> {
        self.walls.loads.get(wall.index())
    }

    /// Load of all contacts on a particle in the last step, with the moment about its centre of mass;
    /// `None` if no such particle exists.
    #[must_use]
    pub fn load(&self, particle: ParticleId) -> Option<&Load> {
        self.loads.get(particle.index())
    }

    /// Shear states of the contacts of a particle's collider with a wall, each with the identity of its
    /// contact. `collider` is the index of the collider within the particle. The list is empty if no
    /// such particle, collider or wall exists.
    #[must_use]
    pub fn shear_states(&self, particle: ParticleId, collider: usize, wall: WallId) -> &[(u64, ShearState)] {
        let first = self.colliders.partition_point(|c| (c.particle as usize) < particle.index());
        let at = first + collider;
        let is_present = self.colliders.get(at).is_some_and(|c| c.particle as usize == particle.index());
        let history = is_present.then(|| self.histories[at].walls.get(wall.index())).flatten();
        history.map_or(&[], |h| &h.shear)
    }

    /// Number of pairs of colliders of different particles that were in contact in the last step.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.pairs.len() + self.solid_pairs.iter().filter(|p| !p.forces.is_empty()).count()
    }

    /// Number of contacts of all colliders with walls in the last step.
    #[must_use]
    pub fn wall_contact_count(&self) -> usize {
        self.histories.iter().map(ColliderHistory::contact_count).sum()
    }

    /// Pairs of particles that were in contact in the last step, in increasing order of their colliders, with
    /// the number of contact points. A pair of clumps occurs once for each pair of touching spheres.
    pub fn touching_pairs(&self) -> impl Iterator<Item = (ParticleId, ParticleId, usize)> + '_ {
        let ids = |(a, b): (u32, u32)| [a, b].map(|k| self.colliders[k as usize].particle_id());
        let convex = self.pairs.iter().map(|p| (p.colliders, 1));
        let solid = self.solid_pairs.iter().map(|p| (p.colliders, p.forces.len()));
        let mut all: Vec<_> = convex.chain(solid).filter(|(_, count)| *count > 0).collect();
        all.sort_unstable();
        all.into_iter().map(move |(colliders, count)| {
            let [a, b] = ids(colliders);
            (a, b, count)
        })
    }

    /// Walls with which colliders of particles were in contact in the last step, in the order of colliders,
    /// with the number of contact points.
    pub fn touched_walls(&self) -> impl Iterator<Item = (ParticleId, WallId, usize)> + '_ {
        self.colliders.iter().zip(&self.histories).flat_map(|(collider, history)| {
            let counts = history.walls.iter().map(|w| w.shear.len()).enumerate();
            let touched = counts.filter(|(_, count)| *count > 0);
            touched.map(|(wall, count)| (collider.particle_id(), WallId::new(wall), count))
        })
    }

    /// Number of all contacts in the last step, with walls and between particles.
    #[must_use]
    pub fn contact_count(&self) -> usize {
        let of_solids: usize = self.solid_pairs.iter().map(|p| p.forces.len()).sum();
        self.wall_contact_count() + of_solids + self.pairs.len()
    }

    /// Simulated time (s).
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Number of steps that have been made.
    #[must_use]
    pub fn step_count(&self) -> u64 {
        self.steps
    }

    /// Counts the pairs that the search for contacts excludes, tracks and searches from now on, and sets
    /// whether it uses lower bounds of distances. It is meant for measurements of their effect; the results
    /// of steps are the same to the bit.
    pub fn measure_search(&mut self, bounds: SearchBounds) {
        self.pool.meter = Some(Arc::new(SearchMeter::new(bounds)));
    }

    /// Counts of the search for contacts; `None` without [`Simulation::measure_search`].
    #[must_use]
    pub fn search_counts(&self) -> Option<SearchCounts> {
        self.pool.meter.as_ref().map(|meter| meter.counts())
    }

    /// Kinetic energy of all particles that have not been removed (kg·mm²/s² = µJ).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let of = |(m, p): (&ParticleMotion, &Particle)| {
            0.5 * (p.mass * m.velocity.norm_squared() + integrate::spin(m, p).dot(&m.momentum))
        };
        let all = self.motions.iter().zip(&self.particles).zip(&self.removed);
        all.filter(|(_, removed)| !**removed).map(|(one, _)| of(one)).sum()
    }
}

/// Maximum number of colliders of a simulation.
const MAX_COLLIDERS: usize = 1 << 31;

/// Minimum number of colliders or pairs that are distributed among threads. With a smaller value
/// starting the threads costs more than it saves; with a larger one small simulations use one thread.
const MIN_PARALLEL: usize = 256;

/// Minimum number of colliders or pairs that one parallel task processes. With a smaller value the start
/// of tasks costs more; with a larger one threads are loaded unevenly.
const MIN_TASK: usize = 32;

/// Maximum coordinate (mm), velocity (mm/s) and angular momentum (kg·mm²/s) of a particle. Squares of larger
/// numbers could overflow; a smaller limit would refuse nothing that is meaningful.
const MAX_COORDINATE: f64 = 1e100;
