//! The state of a simulation as bytes: a run that is stopped and goes on ends with the same bytes.
//!
//! Little-endian numbers, one after the other: magic, counts, time, motions of particles, places of walls,
//! contacts of spheres with walls, pairs. What particles and walls *are* is not in it: the simulation is
//! built again, then told its state.

use super::Simulation;
use super::error::StepError;
use super::meet::{SphereMemory, WallMemory};
use super::pairs::{PairMemory, Stands};
use super::solid_pair::SolidPair;
use super::wall::{RigidMotion, Wall};
use crate::facets::{FacetMemory, Held, WallMotion};
use crate::law::ShearState;
use feeler_geom::{P3, Pose, V3, pose};
use feeler_runtime::{Asked, FeatureKind, FollowedContact, Following};
use nalgebra::{Quaternion, UnitQuaternion};

/// What a state begins with; the last byte is the version.
const MAGIC: [u8; 8] = *b"feelerp\x05";

impl Simulation {
    /// The state as bytes, the same ones for the same state.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        for count in [self.particles.len(), self.spheres.len(), self.walls.list.len()] {
            out.count(count);
        }
        out.whole(self.steps);
        out.number(self.time);
        for ((motion, driven), gone) in self.motions.iter().zip(&self.driven).zip(&self.gone) {
            out.vector(&motion.center.coords);
            motion.rotation.coords.iter().for_each(|c| out.number(*c));
            out.vector(&motion.velocity);
            out.vector(&motion.momentum);
            out.whole(u64::from(*driven) + 2 * u64::from(*gone));
        }
        self.walls.list.iter().for_each(|w| out.wall(w));
        self.walls.felt.iter().for_each(|felt| out.whole(u64::from(*felt)));
        for memory in &self.memories {
            out.contacts(memory, &self.walls.list);
        }
        out.count(self.pairs.len());
        for pair in &self.pairs {
            out.whole(u64::from(pair.spheres.0));
            out.whole(u64::from(pair.spheres.1));
            out.shear(&pair.state);
        }
        out.count(self.solid_pairs.len());
        for pair in &self.solid_pairs {
            out.whole(u64::from(pair.spheres.0));
            out.whole(u64::from(pair.spheres.1));
            out.following(&pair.following);
            out.count(pair.shear.len());
            for (id, state) in &pair.shear {
                out.whole(*id);
                out.shear(state);
            }
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
        from.begin(MAGIC)?;
        let expected = [self.particles.len(), self.spheres.len(), self.walls.list.len()];
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
        let flags = self.driven.iter_mut().zip(&mut self.gone);
        for (motion, (driven, gone)) in self.motions.iter_mut().zip(flags) {
            motion.center = from.vector()?.into();
            let [x, y, z, w] = [from.number()?, from.number()?, from.number()?, from.number()?];
            // As it was saved: normalising could change the last bit.
            motion.rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
            motion.velocity = from.vector()?;
            motion.momentum = from.vector()?;
            let flags = from.number_below(4)?;
            (*driven, *gone) = (flags & 1 != 0, flags & 2 != 0);
        }
        for (k, wall) in self.walls.list.iter_mut().enumerate() {
            from.wall(k, wall)?;
        }
        for felt in &mut self.walls.felt {
            *felt = from.number_below(2)? != 0;
        }
        for memory in &mut self.memories {
            from.contacts(memory, &self.walls.list)?;
        }
        self.pairs.clear();
        let spheres = self.spheres.len() as u64;
        for _ in 0..from.count(VECTOR)? {
            let pair = (from.number_below(spheres)?, from.number_below(spheres)?);
            let state = from.shear()?;
            if self.pairs.last().is_some_and(|p| p.spheres >= pair) {
                return Err(StepError::State("has pairs out of order".to_owned()));
            }
            let (stands, force, at) = (Stands::Touching, V3::zeros(), P3::origin());
            self.pairs.push(PairMemory { spheres: pair, stands, state, force, at });
        }
        self.solid_pairs.clear();
        for _ in 0..from.count(VECTOR)? {
            let mut pair = SolidPair::new((from.number_below(spheres)?, from.number_below(spheres)?));
            if self.solid_pairs.last().is_some_and(|p| p.spheres >= pair.spheres) {
                return Err(StepError::State("has pairs out of order".to_owned()));
            }
            pair.following = from.following()?;
            for _ in 0..from.count(VECTOR)? {
                pair.shear.push((from.whole()?, from.shear()?));
            }
            self.solid_pairs.push(pair);
        }
        from.end()?;
        self.list_present();
        self.broad = None;
        Ok(())
    }
}

/// Bytes of a vector; no item of a list is smaller.
const VECTOR: usize = 24;

pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    /// Where a wall is and how it moves; planes at rest have nothing to tell.
    pub(super) fn wall(&mut self, wall: &Wall) {
        let rigid = |out: &mut Self, motion: Option<(&V3, &V3, &P3)>| match motion {
            None => out.whole(0),
            Some((velocity, spin, center)) => {
                out.whole(1);
                [velocity, spin, &center.coords].iter().for_each(|v| out.vector(v));
            }
        };
        pose::to_values(wall.pose()).iter().for_each(|c| self.number(*c));
        match wall {
            Wall::Facets(wall) => {
                match wall.motion() {
                    WallMotion::Still => self.whole(0),
                    WallMotion::Rigid { velocity, spin, center } => {
                        rigid(self, Some((velocity, spin, center)));
                    }
                    WallMotion::Vertices(velocities) => {
                        self.whole(2);
                        velocities.iter().for_each(|v| self.vector(v));
                    }
                }
                self.count(wall.vertices().len());
                wall.vertices().iter().for_each(|p| self.vector(&p.coords));
            }
            Wall::Exact(solid) => {
                rigid(self, solid.motion.as_ref().map(|m| (&m.velocity, &m.spin, &m.center)))
            }
            Wall::Plane(wall) => rigid(self, wall.motion.as_ref().map(|m| (&m.velocity, &m.spin, &m.center))),
        }
    }

    /// What lasts of the contacts of a sphere.
    pub(super) fn contacts(&mut self, memory: &SphereMemory, walls: &[Wall]) {
        for (memory, wall) in memory.walls.iter().zip(walls) {
            let facets = memory.facets.as_deref();
            self.whole(facets.map_or(0, |f| f.next));
            self.count(facets.map_or(0, |f| f.held.len()));
            for (facets, held) in facets.iter().flat_map(|f| f.held.iter().map(move |h| (f, h))) {
                self.whole(held.id);
                self.whole(u64::from(held.facet));
                self.vector(&held.point.coords);
                self.vector(&held.normal);
                let members = &facets.members[held.members.0 as usize..held.members.1 as usize];
                self.count(members.len());
                members.iter().for_each(|m| self.whole(u64::from(*m)));
            }
            self.count(memory.shear.len());
            for (k, (id, state)) in memory.shear.iter().enumerate() {
                self.whole(*id);
                self.shear(state);
                if matches!(wall, Wall::Exact(_)) {
                    self.vector(&memory.places[k].coords);
                }
            }
            if !matches!(wall, Wall::Facets(_)) {
                match &memory.following {
                    Some(following) => self.following(following),
                    None => self.following(&Following::default()),
                }
            }
        }
    }

    /// Where contacts of two solids are, and for which pose they were asked.
    fn following(&mut self, following: &Following) {
        let (asked, contacts, next) = following.parts();
        self.whole(next);
        self.whole(u64::from(asked.is_some()));
        if let Some(asked) = asked {
            pose::to_values(&asked.pose).iter().for_each(|c| self.number(*c));
            self.number(asked.free);
        }
        self.count(contacts.len());
        for c in contacts {
            self.whole(c.id);
            self.number(c.distance);
            [c.local_a.coords, c.local_b.coords, c.normal].iter().for_each(|v| self.vector(v));
            for (kind, index) in c.features {
                self.whole(match kind {
                    FeatureKind::Face => 0,
                    FeatureKind::Edge => 1,
                    FeatureKind::Vertex => 2,
                });
                self.whole(u64::from(index));
            }
            c.uv.iter().flatten().for_each(|x| self.number(*x));
            self.whole(u64::from(c.is_flat));
            // Infinite ones are left out: they are those of contacts that are not between faces.
            let is_bent = c.curvatures.iter().all(|k| k.is_finite());
            self.whole(u64::from(is_bent));
            c.curvatures.iter().filter(|_| is_bent).for_each(|k| self.number(*k));
        }
    }

    pub(super) fn whole(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn count(&mut self, n: usize) {
        self.whole(n as u64);
    }

    pub(super) fn number(&mut self, x: f64) {
        self.whole(x.to_bits());
    }

    pub(super) fn vector(&mut self, v: &V3) {
        v.iter().for_each(|c| self.number(*c));
    }

    pub(super) fn shear(&mut self, state: &ShearState) {
        self.vector(&state.force);
        self.vector(&state.normal);
        self.number(state.stiffness);
    }
}

pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    /// The counterpart of [`Writer::wall`].
    pub(super) fn wall(&mut self, number: usize, wall: &mut Wall) -> Result<(), StepError> {
        let refused = |error| StepError::Wall { wall: number, error };
        wall.set_pose(self.pose()?)?;
        match self.whole()? {
            0 => wall.set_motion(None)?,
            1 => wall.set_motion(Some(RigidMotion {
                velocity: self.vector()?,
                spin: self.vector()?,
                center: self.vector()?.into(),
            }))?,
            kind => {
                let Wall::Facets(w) = wall else {
                    return Err(StepError::State(format!("has a wall with motion {kind}, which is none")));
                };
                if kind != 2 {
                    return Err(StepError::State(format!("has a wall with motion {kind}, which is none")));
                }
                let n = w.vertices().len();
                let velocities = (0..n).map(|_| self.vector()).collect::<Result<_, _>>()?;
                w.set_motion(WallMotion::Vertices(velocities)).map_err(refused)?;
            }
        }
        let Wall::Facets(w) = wall else { return Ok(()) };
        let saved = self.count(VECTOR)?;
        let vertices: Vec<P3> = (0..saved).map(|_| self.vector().map(P3::from)).collect::<Result<_, _>>()?;
        if vertices != w.vertices() {
            w.set_vertices(&vertices).map_err(refused)?;
        }
        Ok(())
    }

    /// The counterpart of [`Writer::contacts`].
    pub(super) fn contacts(&mut self, memory: &mut SphereMemory, walls: &[Wall]) -> Result<(), StepError> {
        for (memory, wall) in memory.walls.iter_mut().zip(walls) {
            let facets = match wall {
                Wall::Facets(wall) => wall.facets() as u64,
                Wall::Exact(_) | Wall::Plane(_) => 0,
            };
            *memory = WallMemory::default();
            let mut held: Box<FacetMemory> = Box::default();
            held.next = self.whole()?;
            for _ in 0..self.count(VECTOR)? {
                let id = self.whole()?;
                let facet = self.number_below(facets)?;
                let (point, normal) = (self.vector()?.into(), self.vector()?);
                let begin = held.members.len();
                for _ in 0..self.count(8)? {
                    held.members.push(self.number_below(facets)?);
                }
                let range = [begin, held.members.len()].map(|k| u32::try_from(k).unwrap_or(u32::MAX));
                held.held.push(Held { id, facet, point, normal, members: (range[0], range[1]) });
            }
            memory.facets = matches!(wall, Wall::Facets(_)).then_some(held);
            for _ in 0..self.count(VECTOR)? {
                let id = self.whole()?;
                memory.shear.push((id, self.shear()?));
                if matches!(wall, Wall::Exact(_)) {
                    memory.places.push(self.vector()?.into());
                }
            }
            if !matches!(wall, Wall::Facets(_)) {
                let following = self.following()?;
                memory.following = (following != Following::default()).then(|| Box::new(following));
            }
        }
        Ok(())
    }

    /// A pose to the last bit: normalising could change it.
    fn pose(&mut self) -> Result<Pose, StepError> {
        let place = self.vector()?;
        let [i, j, k, r] = [self.number()?, self.number()?, self.number()?, self.number()?];
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(r, i, j, k));
        Ok(Pose::from_parts(place.into(), rotation))
    }

    /// The counterpart of [`Writer::following`].
    fn following(&mut self) -> Result<Following, StepError> {
        let next = self.whole()?;
        let is_asked = self.number_below(2)? == 1;
        let asked = if is_asked { Some(Asked { pose: self.pose()?, free: self.number()? }) } else { None };
        let mut contacts = Vec::new();
        for _ in 0..self.count(VECTOR)? {
            let (number, distance) = (self.whole()?, self.number()?);
            let [local_a, local_b] = [self.vector()?.into(), self.vector()?.into()];
            let normal = self.vector()?;
            let mut feature = || -> Result<_, StepError> {
                let kind = [FeatureKind::Face, FeatureKind::Edge, FeatureKind::Vertex];
                Ok((kind[self.number_below(3)? as usize], self.number_below(1 << 32)?))
            };
            let features = [feature()?, feature()?];
            let uv = [[self.number()?, self.number()?], [self.number()?, self.number()?]];
            let is_flat = self.number_below(2)? == 1;
            let is_bent = self.number_below(2)? == 1;
            let curvatures = if is_bent { [self.number()?, self.number()?] } else { [f64::INFINITY; 2] };
            contacts.push(FollowedContact {
                id: number,
                distance,
                local_a,
                local_b,
                normal,
                curvatures,
                features,
                uv,
                is_flat,
            });
        }
        Ok(Following::from_parts(asked, contacts, next))
    }

    /// What a state begins with, and its version.
    pub(super) fn begin(&mut self, magic: [u8; 8]) -> Result<(), StepError> {
        let found = self.take(magic.len())?;
        if found[..7] != magic[..7] {
            return Err(StepError::State("is none: it begins with other bytes".to_owned()));
        }
        if found != magic {
            return Err(StepError::State(format!(
                "has version {}; this program reads {}",
                found[7], magic[7]
            )));
        }
        Ok(())
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Result<(), StepError> {
        if self.at != self.bytes.len() {
            let rest = self.bytes.len() - self.at;
            return Err(StepError::State(format!("goes on for {rest} bytes too many")));
        }
        Ok(())
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], StepError> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| StepError::State(format!("ends after {} bytes", self.bytes.len())))?;
        let out = &self.bytes[self.at..end];
        self.at = end;
        Ok(out)
    }

    pub(super) fn whole(&mut self) -> Result<u64, StepError> {
        let bytes = self.take(8)?;
        let mut out = [0; 8];
        out.copy_from_slice(bytes);
        Ok(u64::from_le_bytes(out))
    }

    /// How many items of at least so many bytes follow: no more than there are bytes for.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, StepError> {
        let n = self.whole()?;
        let room = (self.bytes.len() - self.at) / least;
        usize::try_from(n)
            .ok()
            .filter(|n| *n <= room)
            .ok_or_else(|| StepError::State(format!("tells of {n} items, and ends before them")))
    }

    pub(super) fn number_below(&mut self, limit: u64) -> Result<u32, StepError> {
        let n = self.whole()?;
        let fits = u32::try_from(n).ok().filter(|_| n < limit);
        fits.ok_or_else(|| StepError::State(format!("names item {n} of {limit}")))
    }

    pub(super) fn number(&mut self) -> Result<f64, StepError> {
        let x = f64::from_bits(self.whole()?);
        if !x.is_finite() {
            return Err(StepError::State("has a number that is not finite".to_owned()));
        }
        Ok(x)
    }

    pub(super) fn vector(&mut self) -> Result<V3, StepError> {
        Ok(V3::new(self.number()?, self.number()?, self.number()?))
    }

    pub(super) fn shear(&mut self) -> Result<ShearState, StepError> {
        Ok(ShearState { force: self.vector()?, normal: self.vector()?, stiffness: self.number()? })
    }
}
