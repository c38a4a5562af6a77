//! Forces of walls on spheres that an external program integrates: it passes arrays of spheres and reads
//! the loads.

use super::contact_history::ColliderHistory;
use super::error::SimulationError;
use super::force::BodyKinematics;
use super::ids::WallId;
use super::pair_queries::PairQueries;
use super::shape::PosedShape;
use super::wall::Wall;
use super::walls::Walls;
use super::{Load, MAX_COLLIDERS, MIN_PARALLEL, MIN_TASK};
use crate::law::Law;
use crate::sphere::Sphere;
use feeler_geom::{P3, V3};
use rayon::prelude::*;

/// Spheres of an external program, in the world; all arrays have the same length.
#[derive(Clone, Copy, Debug)]
pub struct SphereArrays<'a> {
    /// Centres of the spheres (mm).
    pub centers: &'a [[f64; 3]],
    /// Velocities of the centres (mm/s).
    pub velocities: &'a [[f64; 3]],
    /// Angular velocities (rad/s).
    pub spins: &'a [[f64; 3]],
    /// Radii (mm).
    pub radii: &'a [f64],
    /// Masses (kg).
    pub masses: &'a [f64],
    /// Identities of the spheres, which persist from step to step; each occurs once.
    pub tags: &'a [i64],
}

/// Walls with the laws of their contacts, and the contact history of spheres that an external program
/// integrates.
///
/// Spheres are identified by their tags: their order may change, and spheres may be added and removed. The
/// history of spheres that are missing in a call is dropped. Forces have the same bits for any order and any
/// number of threads.
///
/// ```
/// use feeler_geom::{P3, V3};
/// use feeler_particles::{Law, PlaneWall, SphereArrays, WallForces};
///
/// let law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 1.0, friction: 0.3 };
/// let mut walls = WallForces::new();
/// let floor = walls.add(PlaneWall::new(P3::origin(), V3::z())?.into(), law)?;
/// let spheres = SphereArrays {
///     centers: &[[0.0, 0.0, 1.9]],
///     velocities: &[[0.0; 3]],
///     spins: &[[0.0; 3]],
///     radii: &[2.0],
///     masses: &[1e-3],
///     tags: &[7],
/// };
/// let load = walls.forces(&spheres, 1e-5)?[0];
/// assert!((load.force.z - 100.0).abs() < 1e-9, "1,000 kg/s² times 0.1 mm");
/// assert_eq!(walls.load(floor).ok_or("no such wall")?.force.z, -load.force.z);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct WallForces {
    pub(super) walls: Walls,
    /// Tags of the spheres of the last call, in the order of that call.
    pub(super) tags: Vec<i64>,
    /// Contact histories of the spheres of the last call with all walls, in the order of `tags`.
    pub(super) histories: Vec<ColliderHistory>,
    /// Indices in `tags`, in the order of increasing tags.
    pub(super) by_tag: Vec<u32>,
    loads: Vec<Load>,
}

impl WallForces {
    /// Creates an object without walls and spheres.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a wall with the law of its contacts.
    ///
    /// # Errors
    /// The law has invalid parameters.
    pub fn add(&mut self, wall: Wall, law: Law) -> Result<WallId, SimulationError> {
        let id = self.walls.add(wall, law)?;
        self.histories.iter_mut().for_each(ColliderHistory::add_wall);
        Ok(id)
    }

    /// Number of walls.
    #[must_use]
    pub fn wall_count(&self) -> usize {
        self.walls.list.len()
    }

    /// Returns the wall with this id; `None` without such a wall.
    #[must_use]
    pub fn wall(&self, wall: WallId) -> Option<&Wall> {
        self.walls.list.get(wall.index())
    }

    /// The wall with this id, for changes of its pose or motion; `None` without such a wall.
    pub fn wall_mut(&mut self, wall: WallId) -> Option<&mut Wall> {
        self.walls.list.get_mut(wall.index())
    }

    /// Load of all spheres on a wall in the last call of [`forces`](Self::forces), with the moment about
    /// the wall's reference point; `None` without such a wall.
    #[must_use]
    pub fn load(&self, wall: WallId) -> Option<&Load> {
        self.walls.loads.get(wall.index())
    }

    /// Number of contacts of all spheres in the last call of [`forces`](Self::forces).
    #[must_use]
    pub fn contact_count(&self) -> usize {
        self.histories.iter().map(ColliderHistory::contact_count).sum()
    }

    /// Moves the walls by their motions over a time (s).
    ///
    /// # Errors
    /// [`SimulationError::Wall`] if the motion of a wall would leave a facet without area. That wall and
    /// the walls after it are not moved.
    pub fn advance(&mut self, time: f64) -> Result<(), SimulationError> {
        self.walls.advance(time)
    }

    /// Computes the load of the walls on each sphere, in the order of the spheres. Shear states are updated
    /// over the step of `time` (s) that has just moved the spheres; a time of 0 computes the loads of the
    /// same step again. After an error the histories of the spheres that are still present are unchanged.
    ///
    /// # Errors
    /// Arrays have different lengths, a number is not finite, `time` is negative, a radius or mass is not
    /// above 0, there are too many spheres, or a tag occurs twice.
    pub fn forces(&mut self, spheres: &SphereArrays<'_>, time: f64) -> Result<&[Load], SimulationError> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(SimulationError::Step(time));
        }
        check(spheres)?;
        self.follow_order(spheres.tags)?;
        let Self { walls, histories, loads, by_tag, .. } = self;
        let sphere = |k: usize| Sphere { center: P3::from(spheres.centers[k]), radius: spheres.radii[k] };
        let n = spheres.tags.len();
        walls.find_exact_contacts((0..n).map(sphere), |_| None).map_err(SimulationError::NotFinite)?;
        let all_walls = &*walls;
        let update = |(k, history): (usize, &mut ColliderHistory)| {
            let body = BodyKinematics {
                center: P3::from(spheres.centers[k]),
                velocity: V3::from(spheres.velocities[k]),
                spin: V3::from(spheres.spins[k]),
                mass: spheres.masses[k],
            };
            let (shape, mut queries) = (PosedShape::Sphere(sphere(k)), PairQueries::default());
            // This cannot fail: only queries of solids can, and spheres need none.
            let _ = all_walls.act_on((k, &sphere(k)), &shape, &body, history, &mut queries, time);
        };
        if n < MIN_PARALLEL {
            histories.iter_mut().enumerate().for_each(update);
        } else {
            histories.par_iter_mut().enumerate().with_min_len(MIN_TASK).for_each(update);
        }
        loads.clear();
        loads.extend(histories.iter().map(|h| h.load));
        walls.add_up(by_tag.iter().map(|k| &histories[*k as usize]));
        Ok(loads)
    }

    /// Brings the contact histories and caches into the order of `tags`; a sphere that is new in this
    /// call gets an empty history, and histories of missing spheres are dropped.
    fn follow_order(&mut self, tags: &[i64]) -> Result<(), SimulationError> {
        if self.tags == tags {
            return Ok(());
        }
        let count = u32::try_from(tags.len()).map_err(|_| SimulationError::TooMany)?;
        if tags.len() > MAX_COLLIDERS {
            return Err(SimulationError::TooMany);
        }
        let mut by_tag: Vec<u32> = (0..count).collect();
        by_tag.sort_unstable_by_key(|k| tags[*k as usize]);
        if let Some(pair) = by_tag.windows(2).find(|p| tags[p[0] as usize] == tags[p[1] as usize]) {
            return Err(SimulationError::Tag(tags[pair[0] as usize]));
        }
        let known = |tag: &i64| self.by_tag.binary_search_by_key(tag, |k| self.tags[*k as usize]).ok();
        let order: Vec<Option<u32>> = tags.iter().map(|tag| known(tag).map(|k| self.by_tag[k])).collect();
        let wall_count = self.walls.list.len();
        let mut old: Vec<Option<ColliderHistory>> = self.histories.drain(..).map(Some).collect();
        let of = |k: &Option<u32>| {
            k.and_then(|k| old[k as usize].take()).unwrap_or_else(|| ColliderHistory::new(wall_count))
        };
        self.histories = order.iter().map(of).collect();
        self.walls.reorder(&order);
        self.tags.clear();
        self.tags.extend_from_slice(tags);
        self.by_tag = by_tag;
        Ok(())
    }
}

fn check(spheres: &SphereArrays<'_>) -> Result<(), SimulationError> {
    let n = spheres.tags.len();
    let lengths = [
        spheres.centers.len(),
        spheres.velocities.len(),
        spheres.spins.len(),
        spheres.radii.len(),
        spheres.masses.len(),
    ];
    if lengths.iter().any(|l| *l != n) {
        return Err(SimulationError::Particle(
            "centres, velocities, spins, radii, masses and tags must have the same length",
        ));
    }
    let is_finite = |v: &[f64; 3]| v.iter().all(|c| c.is_finite());
    for k in 0..n {
        if ![&spheres.centers[k], &spheres.velocities[k], &spheres.spins[k]].into_iter().all(is_finite) {
            return Err(SimulationError::NotFinite(k));
        }
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        if !(is_positive(spheres.radii[k]) && is_positive(spheres.masses[k])) {
            return Err(SimulationError::Particle("radii must be above 0 mm, masses above 0 kg"));
        }
    }
    Ok(())
}
