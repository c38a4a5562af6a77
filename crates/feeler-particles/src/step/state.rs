//! The state of a simulation as bytes: a run that is stopped and goes on ends with the same bytes.
//!
//! Little-endian numbers, one after the other: magic, counts, time, motions of particles, places of walls,
//! contacts of spheres with walls, pairs. What particles and walls *are* is not in it: the simulation is
//! built again, then told its state.

use super::error::StepError;
use super::wall::Wall;
use super::{PairMemory, Simulation};
use crate::facets::{Held, WallMotion};
use crate::law::ShearState;
use feeler_geom::{P3, V3, pose};
use nalgebra::{Quaternion, UnitQuaternion};

/// What a state begins with; the last byte is the version.
const MAGIC: [u8; 8] = *b"feelerp\x01";

impl Simulation {
    /// The state as bytes, the same ones for the same state.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        for count in [self.particles.len(), self.spheres.len(), self.walls.len()] {
            out.count(count);
        }
        out.whole(self.steps);
        out.number(self.time);
        for (motion, driven) in self.motions.iter().zip(&self.driven) {
            out.vector(&motion.center.coords);
            motion.rotation.coords.iter().for_each(|c| out.number(*c));
            out.vector(&motion.velocity);
            out.vector(&motion.momentum);
            out.whole(u64::from(*driven));
        }
        for wall in &self.walls {
            let Wall::Facets(wall) = wall else { continue };
            pose::to_values(wall.pose()).iter().for_each(|c| out.number(*c));
            match wall.motion() {
                WallMotion::Still => out.whole(0),
                WallMotion::Rigid { velocity, spin, center } => {
                    out.whole(1);
                    [velocity, spin, &center.coords].iter().for_each(|v| out.vector(v));
                }
                WallMotion::Vertices(velocities) => {
                    out.whole(2);
                    velocities.iter().for_each(|v| out.vector(v));
                }
            }
            out.count(wall.vertices().len());
            wall.vertices().iter().for_each(|p| out.vector(&p.coords));
        }
        for memory in self.memories.iter().flat_map(|m| &m.walls) {
            out.whole(memory.facets.next);
            out.count(memory.facets.held.len());
            for held in &memory.facets.held {
                out.whole(held.id);
                out.whole(u64::from(held.facet));
                out.vector(&held.point.coords);
                out.vector(&held.normal);
                let members = &memory.facets.members[held.members.0 as usize..held.members.1 as usize];
                out.count(members.len());
                members.iter().for_each(|m| out.whole(u64::from(*m)));
            }
            out.count(memory.shear.len());
            for (id, state) in &memory.shear {
                out.whole(*id);
                out.shear(state);
            }
        }
        out.count(self.pairs.len());
        for pair in &self.pairs {
            out.whole(u64::from(pair.spheres.0));
            out.whole(u64::from(pair.spheres.1));
            out.shear(&pair.state);
        }
        out.0
    }

    /// Takes over a saved state of a simulation that was built alike. Loads are those of the next step.
    ///
    /// # Errors
    /// Bytes that are no state, of another version, cut, or of other particles and walls; nothing is
    /// then as it should be, and the simulation is to be built again.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StepError> {
        let mut from = Reader { bytes, at: 0 };
        let magic = from.take(MAGIC.len())?;
        if magic[..7] != MAGIC[..7] {
            return Err(StepError::State("is none: it begins with other bytes".to_owned()));
        }
        if magic != MAGIC {
            return Err(StepError::State(format!(
                "has version {}; this program reads {}",
                magic[7], MAGIC[7]
            )));
        }
        let expected = [self.particles.len(), self.spheres.len(), self.walls.len()];
        for (what, count) in ["particles", "spheres", "walls"].iter().zip(expected) {
            let saved = from.whole()?;
            if saved != count as u64 {
                return Err(StepError::State(format!(
                    "has {saved} {what}, not {count}: build the same simulation"
                )));
            }
        }
        self.steps = from.whole()?;
        self.time = from.number()?;
        for (motion, driven) in self.motions.iter_mut().zip(&mut self.driven) {
            motion.center = from.vector()?.into();
            let [x, y, z, w] = [from.number()?, from.number()?, from.number()?, from.number()?];
            // As it was saved: normalising could change the last bit.
            motion.rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
            motion.velocity = from.vector()?;
            motion.momentum = from.vector()?;
            *driven = from.whole()? != 0;
        }
        for (wall, w) in self.walls.iter_mut().enumerate() {
            let Wall::Facets(w) = w else { continue };
            let refused = |error| StepError::Wall { wall, error };
            let [x, y, z] = [from.number()?, from.number()?, from.number()?];
            let [i, j, k, r] = [from.number()?, from.number()?, from.number()?, from.number()?];
            let rotation = UnitQuaternion::new_unchecked(Quaternion::new(r, i, j, k));
            w.set_pose(feeler_geom::Pose::from_parts(V3::new(x, y, z).into(), rotation));
            let n = w.vertices().len();
            let motion = match from.whole()? {
                0 => WallMotion::Still,
                1 => WallMotion::Rigid {
                    velocity: from.vector()?,
                    spin: from.vector()?,
                    center: from.vector()?.into(),
                },
                2 => WallMotion::Vertices((0..n).map(|_| from.vector()).collect::<Result<_, _>>()?),
                kind => {
                    return Err(StepError::State(format!("has a wall with motion {kind}, which is none")));
                }
            };
            w.set_motion(motion).map_err(refused)?;
            let saved = from.count(VECTOR)?;
            let vertices: Vec<P3> =
                (0..saved).map(|_| from.vector().map(P3::from)).collect::<Result<_, _>>()?;
            if vertices != w.vertices() {
                w.set_vertices(&vertices).map_err(refused)?;
            }
        }
        let n_walls = self.walls.len();
        for (k, memory) in self.memories.iter_mut().flat_map(|m| m.walls.iter_mut()).enumerate() {
            let facets = match &self.walls[k % n_walls] {
                Wall::Facets(wall) => wall.facets() as u64,
                Wall::Plane(_) => 0,
            };
            memory.facets.forget();
            memory.shear.clear();
            memory.facets.next = from.whole()?;
            for _ in 0..from.count(VECTOR)? {
                let id = from.whole()?;
                let facet = from.number_below(facets)?;
                let (point, normal) = (from.vector()?.into(), from.vector()?);
                let begin = memory.facets.members.len();
                for _ in 0..from.count(8)? {
                    memory.facets.members.push(from.number_below(facets)?);
                }
                let range =
                    [begin, memory.facets.members.len()].map(|k| u32::try_from(k).unwrap_or(u32::MAX));
                memory.facets.held.push(Held { id, facet, point, normal, members: (range[0], range[1]) });
            }
            for _ in 0..from.count(VECTOR)? {
                let id = from.whole()?;
                memory.shear.push((id, from.shear()?));
            }
        }
        self.pairs.clear();
        let spheres = self.spheres.len() as u64;
        for _ in 0..from.count(VECTOR)? {
            let pair = (from.number_below(spheres)?, from.number_below(spheres)?);
            let state = from.shear()?;
            if self.pairs.last().is_some_and(|p| p.spheres >= pair) {
                return Err(StepError::State("has pairs out of order".to_owned()));
            }
            self.pairs.push(PairMemory { spheres: pair, state, force: V3::zeros(), at: P3::origin() });
        }
        if from.at != bytes.len() {
            return Err(StepError::State(format!("goes on for {} bytes too many", bytes.len() - from.at)));
        }
        self.broad = None;
        Ok(())
    }
}

/// Bytes of a vector; no item of a list is smaller.
const VECTOR: usize = 24;

struct Writer(Vec<u8>);

impl Writer {
    fn whole(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    fn count(&mut self, n: usize) {
        self.whole(n as u64);
    }

    fn number(&mut self, x: f64) {
        self.whole(x.to_bits());
    }

    fn vector(&mut self, v: &V3) {
        v.iter().for_each(|c| self.number(*c));
    }

    fn shear(&mut self, state: &ShearState) {
        self.vector(&state.force);
        self.vector(&state.normal);
        self.number(state.stiffness);
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], StepError> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| StepError::State(format!("ends after {} bytes", self.bytes.len())))?;
        let out = &self.bytes[self.at..end];
        self.at = end;
        Ok(out)
    }

    fn whole(&mut self) -> Result<u64, StepError> {
        let bytes = self.take(8)?;
        let mut out = [0; 8];
        out.copy_from_slice(bytes);
        Ok(u64::from_le_bytes(out))
    }

    /// How many items of at least so many bytes follow: no more than there are bytes for.
    fn count(&mut self, least: usize) -> Result<usize, StepError> {
        let n = self.whole()?;
        let room = (self.bytes.len() - self.at) / least;
        usize::try_from(n)
            .ok()
            .filter(|n| *n <= room)
            .ok_or_else(|| StepError::State(format!("tells of {n} items, and ends before them")))
    }

    fn number_below(&mut self, limit: u64) -> Result<u32, StepError> {
        let n = self.whole()?;
        let fits = u32::try_from(n).ok().filter(|_| n < limit);
        fits.ok_or_else(|| StepError::State(format!("names item {n} of {limit}")))
    }

    fn number(&mut self) -> Result<f64, StepError> {
        let x = f64::from_bits(self.whole()?);
        if !x.is_finite() {
            return Err(StepError::State("has a number that is not finite".to_owned()));
        }
        Ok(x)
    }

    fn vector(&mut self) -> Result<V3, StepError> {
        Ok(V3::new(self.number()?, self.number()?, self.number()?))
    }

    fn shear(&mut self) -> Result<ShearState, StepError> {
        Ok(ShearState { force: self.vector()?, normal: self.vector()?, stiffness: self.number()? })
    }
}
