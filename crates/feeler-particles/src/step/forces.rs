//! What walls do to the balls of another program, which steps them: arrays in, forces and moments out.

use super::error::StepError;
use super::meet::{Moving, SphereMemory, Walls};
use super::solid::Asker;
use super::state::{Reader, Writer};
use super::wall::Wall;
use super::{CHUNK, Load, MOST, PARALLEL};
use crate::exact::Sphere;
use crate::law::Law;
use feeler_geom::{P3, V3};
use rayon::prelude::*;

/// What a state begins with; the last byte is the version.
const MAGIC: [u8; 8] = *b"feelerw\x03";

/// Balls of another program, as many of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Balls<'a> {
    /// Centres (mm).
    pub centers: &'a [[f64; 3]],
    /// Velocities (mm/s).
    pub velocities: &'a [[f64; 3]],
    /// Angular velocities (rad/s).
    pub spins: &'a [[f64; 3]],
    /// Radii (mm).
    pub radii: &'a [f64],
    /// Masses (kg).
    pub masses: &'a [f64],
    /// By what a ball is known from step to step; each one once.
    pub tags: &'a [i64],
}

/// Walls with their laws, and what lasts of the contacts of balls that another program steps.
///
/// Balls are known by their tags: they may come in any order, come later and leave. What friction remembers
/// of balls that are not in a call is dropped. Forces have the same bits for any order and any number of
/// threads.
///
/// ```
/// use feeler_geom::{P3, V3};
/// use feeler_particles::{Balls, Law, PlaneWall, WallForces};
///
/// let law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 1.0, friction: 0.3 };
/// let mut walls = WallForces::new();
/// walls.add(PlaneWall::new(P3::origin(), V3::z())?.into(), law)?;
/// let balls = Balls {
///     centers: &[[0.0, 0.0, 1.9]],
///     velocities: &[[0.0; 3]],
///     spins: &[[0.0; 3]],
///     radii: &[2.0],
///     masses: &[1e-3],
///     tags: &[7],
/// };
/// let load = walls.forces(&balls, 1e-5)?[0];
/// assert!((load.force.z - 100.0).abs() < 1e-9, "1,000 kg/s² times 0.1 mm");
/// assert_eq!(walls.load(0).ok_or("no such wall")?.force.z, -load.force.z);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct WallForces {
    walls: Walls,
    /// Those of the last call, in its order.
    tags: Vec<i64>,
    memories: Vec<SphereMemory>,
    /// Places in that order by increasing tags.
    sorted: Vec<u32>,
    loads: Vec<Load>,
}

impl WallForces {
    /// No walls yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a wall and the law of its contacts; its number.
    ///
    /// # Errors
    /// A law that is none.
    pub fn add(&mut self, wall: Wall, law: Law) -> Result<usize, StepError> {
        let number = self.walls.add(wall, law)?;
        self.memories.iter_mut().for_each(SphereMemory::add_wall);
        Ok(number)
    }

    /// How many walls there are.
    #[must_use]
    pub fn walls(&self) -> usize {
        self.walls.list.len()
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

    /// What all balls together did to a wall in the last call.
    #[must_use]
    pub fn load(&self, wall: usize) -> Option<&Load> {
        self.walls.loads.get(wall)
    }

    /// How many contacts there were in the last call.
    #[must_use]
    pub fn contacts(&self) -> usize {
        self.memories.iter().flat_map(|m| &m.walls).map(|w| w.shear.len()).sum()
    }

    /// Moves the walls on by a time (s).
    ///
    /// # Errors
    /// A wall whose motion cannot go on.
    pub fn advance(&mut self, time: f64) -> Result<(), StepError> {
        self.walls.advance(time)
    }

    /// What the walls do to each ball, in the order of the balls, after a step of `time` (s), over which
    /// friction goes on; 0 asks again without that. An error leaves nothing changed but the order.
    ///
    /// # Errors
    /// Arrays of different lengths, numbers that are not finite, radii or masses that are not above 0, tags
    /// that come twice.
    pub fn forces(&mut self, balls: &Balls<'_>, time: f64) -> Result<&[Load], StepError> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(StepError::Step(time));
        }
        check(balls)?;
        self.follow(balls.tags)?;
        let Self { walls, memories, loads, sorted, .. } = self;
        let sphere = |k: usize| Sphere { center: P3::from(balls.centers[k]), radius: balls.radii[k] };
        let n = balls.tags.len();
        walls.ask((0..n).map(sphere), |_| None).map_err(StepError::Lost)?;
        let lent = &*walls;
        let meet = |(k, memory): (usize, &mut SphereMemory)| {
            let moving = Moving {
                center: P3::from(balls.centers[k]),
                velocity: V3::from(balls.velocities[k]),
                spin: V3::from(balls.spins[k]),
                mass: balls.masses[k],
            };
            // Balls need no one to ask for solids, and so cannot fail.
            let _ = lent.meet(k, &sphere(k), None, &moving, memory, (&mut Asker::default(), time));
        };
        if n < PARALLEL {
            memories.iter_mut().enumerate().for_each(meet);
        } else {
            memories.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(meet);
        }
        loads.clear();
        loads.extend(memories.iter().map(|m| m.load));
        walls.add_up(sorted.iter().map(|k| &memories[*k as usize]));
        Ok(loads)
    }

    /// Brings what is remembered into the order of the tags.
    fn follow(&mut self, tags: &[i64]) -> Result<(), StepError> {
        if self.tags == tags {
            return Ok(());
        }
        let count = u32::try_from(tags.len()).map_err(|_| StepError::TooMany)?;
        if tags.len() > MOST {
            return Err(StepError::TooMany);
        }
        let mut sorted: Vec<u32> = (0..count).collect();
        sorted.sort_unstable_by_key(|k| tags[*k as usize]);
        if let Some(pair) = sorted.windows(2).find(|p| tags[p[0] as usize] == tags[p[1] as usize]) {
            return Err(StepError::Tag(tags[pair[0] as usize]));
        }
        let known = |tag: &i64| self.sorted.binary_search_by_key(tag, |k| self.tags[*k as usize]).ok();
        let order: Vec<Option<u32>> = tags.iter().map(|tag| known(tag).map(|k| self.sorted[k])).collect();
        let n_walls = self.walls.list.len();
        let mut old: Vec<Option<SphereMemory>> = self.memories.drain(..).map(Some).collect();
        let of = |k: &Option<u32>| {
            k.and_then(|k| old[k as usize].take()).unwrap_or_else(|| SphereMemory::new(n_walls))
        };
        self.memories = order.iter().map(of).collect();
        self.walls.reorder(&order);
        self.tags.clear();
        self.tags.extend_from_slice(tags);
        self.sorted = sorted;
        Ok(())
    }

    /// Where walls are, how they move, and what friction remembers, as bytes: the same ones for any order of
    /// the balls. What walls *are* is not in it.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.count(self.walls.list.len());
        self.walls.list.iter().for_each(|w| out.wall(w));
        out.count(self.tags.len());
        for k in self.sorted.iter().map(|k| *k as usize) {
            out.whole(self.tags[k].cast_unsigned());
            out.contacts(&self.memories[k], &self.walls.list);
        }
        out.0
    }

    /// Takes over a saved state; the same walls must have been added in the same order.
    ///
    /// # Errors
    /// Bytes that are no state, of another version, cut, or of other walls; nothing is then as it should
    /// be, and the walls are to be added to new forces again.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StepError> {
        let mut from = Reader { bytes, at: 0 };
        from.begin(MAGIC)?;
        let (saved, here) = (from.whole()?, self.walls.list.len());
        if saved != here as u64 {
            return Err(StepError::State(format!("has {saved} walls, not {here}: add the same walls")));
        }
        for (k, wall) in self.walls.list.iter_mut().enumerate() {
            from.wall(k, wall)?;
        }
        let n = from.count(TAG)?;
        (self.tags, self.memories, self.sorted) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..n {
            let tag = from.whole()?.cast_signed();
            if self.tags.last().is_some_and(|last| *last >= tag) {
                return Err(StepError::State("has tags out of order".to_owned()));
            }
            let mut memory = SphereMemory::new(here);
            from.contacts(&mut memory, &self.walls.list)?;
            self.tags.push(tag);
            self.memories.push(memory);
            self.sorted.push(u32::try_from(k).map_err(|_| StepError::TooMany)?);
        }
        self.walls.reorder(&vec![None; n]);
        from.end()
    }
}

fn check(balls: &Balls<'_>) -> Result<(), StepError> {
    let n = balls.tags.len();
    let lengths = [
        balls.centers.len(),
        balls.velocities.len(),
        balls.spins.len(),
        balls.radii.len(),
        balls.masses.len(),
    ];
    if lengths.iter().any(|l| *l != n) {
        return Err(StepError::Particle(
            "centres, velocities, spins, radii, masses and tags must be as many",
        ));
    }
    let is_finite = |v: &[f64; 3]| v.iter().all(|c| c.is_finite());
    for k in 0..n {
        if ![&balls.centers[k], &balls.velocities[k], &balls.spins[k]].into_iter().all(is_finite) {
            return Err(StepError::Lost(k));
        }
        let is_good = |x: f64| x > 0.0 && x.is_finite();
        if !(is_good(balls.radii[k]) && is_good(balls.masses[k])) {
            return Err(StepError::Particle("radii must be above 0 mm, masses above 0 kg"));
        }
    }
    Ok(())
}

/// Bytes of a tag.
const TAG: usize = 8;
