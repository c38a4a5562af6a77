//! Saved states: a run that is stopped and continued from its saved state ends with the same bits.
//!
//! A state stores the data that steps change: the motions of particles and walls, and the contact
//! history. The shapes of particles and walls are not stored: a simulation is built anew and then
//! restores its state. The records below are encoded by [`codec`], as files are. A state is decoded and
//! checked completely before the simulation is changed.

use super::contact_history::{ColliderHistory, WallHistory};
use super::error::SimulationError;
use super::ids::WallId;
use super::pairs::{ConvexPair, PairStatus};
use super::solid_pair::SolidPair;
use super::wall::{RigidMotion, Wall};
use super::wall_forces::WallForces;
use super::{ParticleMotion, Simulation};
use crate::facets::{FacetHistory, FacetRecord, WallMotion};
use crate::law::ShearState;
use feeler_geom::{P3, Pose, V3};
use feeler_hierarchy::codec;
use feeler_runtime::{ContactFollower, FeatureKind, FollowedContact, LastQuery};
use serde::{Deserialize, Serialize};

/// Magic number of the states of simulations; the last byte is the version.
const SIMULATION: [u8; 8] = *b"feelerp\x07";

/// Magic number of the states of forces of walls; the last byte is the version.
const WALL_FORCES: [u8; 8] = *b"feelerw\x04";

/// State of a [`Simulation`].
#[derive(Serialize, Deserialize)]
struct SavedSimulation {
    steps: u64,
    time: f64,
    particles: Vec<SavedParticle>,
    walls: Vec<SavedWall>,
    /// Whether each wall is enabled.
    enabled: Vec<bool>,
    /// Contact histories of the colliders, each with one entry for each wall.
    histories: Vec<Vec<SavedHistory>>,
    pairs: Vec<SavedPair>,
    solid_pairs: Vec<SavedSolidPair>,
}

/// State of [`WallForces`].
#[derive(Serialize, Deserialize)]
struct SavedWallForces {
    walls: Vec<SavedWall>,
    /// Tag of each sphere (`SphereArrays::tags`), in increasing order, and the contact history of the
    /// sphere with each of `walls`.
    spheres: Vec<(i64, Vec<SavedHistory>)>,
}

#[derive(Serialize, Deserialize)]
struct SavedParticle {
    motion: ParticleMotion,
    driven: bool,
    removed: bool,
}

/// Pose and motion of a wall.
#[derive(Serialize, Deserialize)]
enum SavedWall {
    /// A wall of triangles, whose vertices may have moved.
    Facets { pose: Pose, motion: WallMotion, vertices: Vec<P3> },
    /// A wall that is a solid or a plane; `motion` is `None` if it is at rest.
    Rigid { pose: Pose, motion: Option<RigidMotion> },
}

/// Contact history of one collider with one wall.
#[derive(Serialize, Deserialize)]
struct SavedHistory {
    facets: Option<FacetRecord>,
    shear: Vec<(u64, ShearState)>,
    points: Vec<P3>,
    tracked: Option<SavedTracking>,
}

#[derive(Serialize, Deserialize)]
struct SavedPair {
    colliders: (u32, u32),
    state: ShearState,
}

#[derive(Serialize, Deserialize)]
struct SavedSolidPair {
    colliders: (u32, u32),
    tracked: SavedTracking,
    shear: Vec<(u64, ShearState)>,
}

/// Tracked contacts of two solids.
#[derive(Serialize, Deserialize)]
struct SavedTracking {
    /// Pose of the second solid in the coordinates of the first at the last search, and the displacement
    /// (mm) of points of the second solid from this pose up to which the contacts suffice; it is negative if
    /// each pose requires a search; and the upper bound of the distance. `None` if no search has been made.
    search: Option<(Pose, f64, f64)>,
    contacts: Vec<SavedContact>,
    /// Identity that the next new contact of the two solids gets.
    next: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedContact {
    number: u64,
    distance: f64,
    local_a: P3,
    local_b: P3,
    normal: V3,
    curvatures: [f64; 2],
    features: [(SavedFeature, u32); 2],
    uv: [[f64; 2]; 2],
    is_flat: bool,
    updated_at: Pose,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum SavedFeature {
    Face,
    Edge,
    Vertex,
}

impl Simulation {
    /// Encodes the state of the simulation. Equal states give equal bytes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let flags = self.driven.iter().zip(&self.removed);
        let particles = self.motions.iter().zip(flags).map(|(motion, (driven, removed))| SavedParticle {
            motion: *motion,
            driven: *driven,
            removed: *removed,
        });
        let pairs = self.pairs.iter().map(|p| SavedPair { colliders: p.colliders, state: p.state });
        let solid_pairs = self.solid_pairs.iter().map(|p| SavedSolidPair {
            colliders: p.colliders,
            tracked: SavedTracking::new(&p.tracked),
            shear: p.shear.clone(),
        });
        encoded(
            SIMULATION,
            &SavedSimulation {
                steps: self.steps,
                time: self.time,
                particles: particles.collect(),
                walls: self.walls.list.iter().map(SavedWall::new).collect(),
                enabled: self.walls.enabled.clone(),
                histories: self.histories.iter().map(saved_histories).collect(),
                pairs: pairs.collect(),
                solid_pairs: solid_pairs.collect(),
            },
        )
    }

    /// Restores a saved state. The simulation must have been built with the same particles and walls.
    /// Loads are not restored; the next step computes them.
    ///
    /// # Errors
    /// The bytes are not a state, are damaged or truncated, or belong to another version or to other
    /// particles and walls. The simulation is then unchanged.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SimulationError> {
        let saved: SavedSimulation = decoded(SIMULATION, bytes)?;
        check_count("particles", saved.particles.len(), self.particles.len())?;
        check_count("spheres", saved.histories.len(), self.colliders.len())?;
        check_count("walls", saved.walls.len(), self.walls.list.len())?;
        check_count("walls", saved.enabled.len(), self.walls.list.len())?;
        check(saved.time.is_finite() && saved.particles.iter().all(|p| is_finite_motion(&p.motion)), NUMBER)?;
        let walls = restored_walls(&saved.walls, &self.walls.list)?;
        let histories = saved.histories.into_iter().map(|h| restored_histories(h, &walls));
        let histories: Vec<ColliderHistory> = histories.collect::<Result<_, _>>()?;
        let mut pairs = Vec::with_capacity(saved.pairs.len());
        for SavedPair { colliders, state } in saved.pairs {
            let previous = pairs.last().map(|p: &ConvexPair| p.colliders);
            self.check_pair(previous, colliders)?;
            check(is_finite_state(&state), NUMBER)?;
            let (status, force, acts_at) = (PairStatus::Touching, V3::zeros(), P3::origin());
            pairs.push(ConvexPair { colliders, status, state, force, acts_at, distance: 0.0 });
        }
        let mut solid_pairs = Vec::with_capacity(saved.solid_pairs.len());
        for SavedSolidPair { colliders, tracked, shear } in saved.solid_pairs {
            let previous = solid_pairs.last().map(|p: &SolidPair| p.colliders);
            self.check_pair(previous, colliders)?;
            check(shear.iter().all(|(_, state)| is_finite_state(state)), NUMBER)?;
            let mut pair = SolidPair::new(colliders);
            (pair.tracked, pair.shear) = (tracked.restored()?, shear);
            solid_pairs.push(pair);
        }
        (self.steps, self.time) = (saved.steps, saved.time);
        for (k, particle) in saved.particles.into_iter().enumerate() {
            (self.motions[k], self.driven[k], self.removed[k]) =
                (particle.motion, particle.driven, particle.removed);
        }
        (self.walls.list, self.walls.enabled) = (walls, saved.enabled);
        self.histories = histories;
        (self.pairs, self.solid_pairs) = (pairs, solid_pairs);
        self.list_present();
        self.broad_phase = None;
        self.bounds.clear();
        Ok(())
    }

    /// Checks that both numbers of `pair` are those of colliders of this simulation, and that the pair
    /// comes after the pair `previous`.
    fn check_pair(&self, previous: Option<(u32, u32)>, pair: (u32, u32)) -> Result<(), SimulationError> {
        let count = self.colliders.len();
        check((pair.0 as usize) < count && (pair.1 as usize) < count, "has a contact of missing spheres")?;
        check(previous.is_none_or(|p| p < pair), "has contacts out of order")
    }
}

impl WallForces {
    /// Encodes the state: poses and motions of walls, and the contact history. The bytes do not depend
    /// on the order of the spheres. The shapes of walls are not stored.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let sorted = self.by_tag.iter().map(|k| *k as usize);
        encoded(
            WALL_FORCES,
            &SavedWallForces {
                walls: self.walls.list.iter().map(SavedWall::new).collect(),
                spheres: sorted.map(|k| (self.tags[k], saved_histories(&self.histories[k]))).collect(),
            },
        )
    }

    /// Restores a saved state. The walls must be the same as those of the saved object, added in the
    /// same order.
    ///
    /// # Errors
    /// The bytes are not a state, are damaged or truncated, or belong to another version or to other walls.
    /// The forces are then unchanged.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SimulationError> {
        let saved: SavedWallForces = decoded(WALL_FORCES, bytes)?;
        check_count("walls", saved.walls.len(), self.walls.list.len())?;
        let are_sorted = saved.spheres.windows(2).all(|s| s[0].0 < s[1].0);
        check(are_sorted, "has tags out of order")?;
        let walls = restored_walls(&saved.walls, &self.walls.list)?;
        let count = u32::try_from(saved.spheres.len()).map_err(|_| SimulationError::TooMany)?;
        let (mut tags, mut histories) = (Vec::new(), Vec::new());
        for (tag, history) in saved.spheres {
            tags.push(tag);
            histories.push(restored_histories(history, &walls)?);
        }
        self.walls.reorder(&vec![None; tags.len()]);
        self.walls.list = walls;
        (self.tags, self.histories, self.by_tag) = (tags, histories, (0..count).collect());
        Ok(())
    }
}

impl SavedWall {
    fn new(wall: &Wall) -> Self {
        let pose = *wall.pose();
        match wall {
            Wall::Facets(wall) => {
                Self::Facets { pose, motion: wall.motion().clone(), vertices: wall.vertices().to_vec() }
            }
            Wall::Exact(solid) => Self::Rigid { pose, motion: solid.motion },
            Wall::Plane(plane) => Self::Rigid { pose, motion: *plane.motion() },
        }
    }

    /// Returns a wall with the shape of `wall` and the saved pose and motion. Errors report `id`.
    fn restored(&self, id: WallId, wall: &Wall) -> Result<Wall, SimulationError> {
        let refused = |error| SimulationError::Wall { wall: id, error };
        let mut out = wall.clone();
        match (self, &mut out) {
            (Self::Facets { pose, motion, vertices }, Wall::Facets(facets)) => {
                check(is_finite_pose(pose), NUMBER)?;
                facets.set_pose(*pose);
                facets.set_motion(motion.clone()).map_err(refused)?;
                if vertices != facets.vertices() {
                    facets.set_vertices(vertices).map_err(refused)?;
                }
            }
            (Self::Rigid { pose, motion }, Wall::Exact(_) | Wall::Plane(_)) => {
                out.set_pose(*pose)?;
                out.set_motion(*motion)?;
            }
            _ => return Err(SimulationError::State(format!("has another kind of wall {id}"))),
        }
        Ok(out)
    }
}

fn restored_walls(saved: &[SavedWall], walls: &[Wall]) -> Result<Vec<Wall>, SimulationError> {
    let all = saved.iter().zip(walls).enumerate();
    all.map(|(k, (saved, wall))| saved.restored(WallId::new(k), wall)).collect()
}

fn saved_histories(history: &ColliderHistory) -> Vec<SavedHistory> {
    let saved = |h: &WallHistory| SavedHistory {
        facets: h.facets.as_deref().and_then(FacetHistory::record),
        shear: h.shear.clone(),
        points: h.points.clone(),
        tracked: h.tracked.as_deref().filter(|t| **t != ContactFollower::default()).map(SavedTracking::new),
    };
    history.walls.iter().map(saved).collect()
}

fn restored_histories(saved: Vec<SavedHistory>, walls: &[Wall]) -> Result<ColliderHistory, SimulationError> {
    check_count("walls", saved.len(), walls.len())?;
    let mut out = ColliderHistory::default();
    for (SavedHistory { facets, shear, points, tracked }, wall) in saved.into_iter().zip(walls) {
        let is_consistent = match wall {
            Wall::Facets(_) => points.is_empty() && tracked.is_none(),
            Wall::Exact(_) => facets.is_none() && points.len() == shear.len(),
            Wall::Plane(_) => facets.is_none() && points.is_empty(),
        };
        let facets = match (facets, wall) {
            (Some(record), Wall::Facets(wall)) => {
                let history = FacetHistory::restored(record, wall.facets());
                Some(history.ok_or_else(|| SimulationError::State(MISFIT.to_owned()))?)
            }
            _ => None,
        };
        check(is_consistent, MISFIT)?;
        let are_finite = shear.iter().all(|(_, state)| is_finite_state(state))
            && points.iter().all(|p| is_finite(&p.coords));
        check(are_finite, NUMBER)?;
        out.walls.push(WallHistory {
            facets: facets.map(Box::new),
            shear,
            points,
            tracked: tracked.map(|t| t.restored().map(Box::new)).transpose()?,
            ..WallHistory::default()
        });
    }
    Ok(out)
}

impl SavedTracking {
    fn new(tracked: &ContactFollower) -> Self {
        let (search, contacts, next) = tracked.parts();
        let feature = |(kind, number): (FeatureKind, u32)| {
            let kind = match kind {
                FeatureKind::Face => SavedFeature::Face,
                FeatureKind::Edge => SavedFeature::Edge,
                FeatureKind::Vertex => SavedFeature::Vertex,
            };
            (kind, number)
        };
        let contact = |c: &FollowedContact| SavedContact {
            number: c.id,
            distance: c.distance,
            local_a: c.local_a,
            local_b: c.local_b,
            normal: c.normal,
            curvatures: c.curvatures,
            features: c.features.map(feature),
            uv: c.uv,
            is_flat: c.is_flat,
            updated_at: c.updated_at,
        };
        Self {
            search: search.map(|s| (s.pose, s.free, s.nearest)),
            contacts: contacts.iter().map(contact).collect(),
            next,
        }
    }

    fn restored(self) -> Result<ContactFollower, SimulationError> {
        // The upper bound of the distance is infinite before the first minimum.
        let is_finite_search = self
            .search
            .as_ref()
            .is_none_or(|(pose, free, nearest)| is_finite_pose(pose) && free.is_finite() && *nearest >= 0.0);
        // Any curvature is valid: those at edges are infinite.
        let is_finite_contact = |c: &SavedContact| {
            c.distance.is_finite()
                && is_finite_pose(&c.updated_at)
                && [&c.local_a.coords, &c.local_b.coords, &c.normal].into_iter().all(is_finite)
                && c.uv.as_flattened().iter().all(|x| x.is_finite())
        };
        check(self.next < u64::MAX / 2, "has an identity out of range")?;
        check(is_finite_search && self.contacts.iter().all(is_finite_contact), NUMBER)?;
        let feature = |(kind, number): (SavedFeature, u32)| {
            let kind = match kind {
                SavedFeature::Face => FeatureKind::Face,
                SavedFeature::Edge => FeatureKind::Edge,
                SavedFeature::Vertex => FeatureKind::Vertex,
            };
            (kind, number)
        };
        let contact = |c: SavedContact| FollowedContact {
            id: c.number,
            distance: c.distance,
            local_a: c.local_a,
            local_b: c.local_b,
            normal: c.normal,
            curvatures: c.curvatures,
            features: c.features.map(feature),
            uv: c.uv,
            is_flat: c.is_flat,
            updated_at: c.updated_at,
        };
        let search = self.search.map(|(pose, free, nearest)| LastQuery { pose, free, nearest });
        Ok(ContactFollower::from_parts(search, self.contacts.into_iter().map(contact).collect(), self.next))
    }
}

fn encoded<T: Serialize>(magic: [u8; 8], state: &T) -> Vec<u8> {
    // The records consist of plain data, which always encodes; empty bytes would be refused as truncated.
    codec::encode(magic, state).unwrap_or_default()
}

fn decoded<T: for<'de> Deserialize<'de>>(magic: [u8; 8], bytes: &[u8]) -> Result<T, SimulationError> {
    codec::decode(magic, bytes).map_err(|e| SimulationError::State(e.to_string()))
}

/// Message for a history that does not fit its wall.
const MISFIT: &str = "has contacts that do not fit their walls";

/// Message for numbers that are not finite.
const NUMBER: &str = "has a number that is not finite";

fn check(is_good: bool, message: &str) -> Result<(), SimulationError> {
    if is_good { Ok(()) } else { Err(SimulationError::State(message.to_owned())) }
}

fn check_count(what: &str, saved: usize, expected: usize) -> Result<(), SimulationError> {
    if saved == expected {
        return Ok(());
    }
    Err(SimulationError::State(format!(
        "has {saved} {what}, but {expected} are present; restore it with the particles and walls with which \
         it was saved"
    )))
}

fn is_finite(v: &V3) -> bool {
    v.iter().all(|c| c.is_finite())
}

fn is_finite_pose(pose: &Pose) -> bool {
    is_finite(&pose.translation.vector) && pose.rotation.coords.iter().all(|c| c.is_finite())
}

fn is_finite_motion(motion: &ParticleMotion) -> bool {
    [&motion.center.coords, &motion.velocity, &motion.momentum].into_iter().all(is_finite)
        && motion.rotation.coords.iter().all(|c| c.is_finite())
}

fn is_finite_state(state: &ShearState) -> bool {
    is_finite(&state.force) && is_finite(&state.normal) && state.stiffness.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExactWall, Law, Particle, PlaneWall, SimulationSettings};

    /// A change of a state, and a part of the message that refuses the changed state; an empty text if
    /// it is accepted.
    type Case<'a> = (&'a dyn Fn(&mut SavedSimulation), &'a str);

    const LAW: Law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.5, friction: 0.5 };

    /// Two spheres that touch each other, a plane and a block.
    fn simulation() -> Simulation {
        let settings = SimulationSettings { gravity: V3::z() * -9_810.0, between: Some(LAW) };
        let mut out = Simulation::new(settings).unwrap();
        out.add_wall(PlaneWall::new(P3::origin(), V3::z()).unwrap().into(), LAW).unwrap();
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
        let model = feeler_import::prepare_step(&file).unwrap();
        let body = feeler_runtime::Body::from_model(&model, 0).unwrap();
        let mut block: Wall = ExactWall::new(std::sync::Arc::new(body)).into();
        block.set_pose(Pose::translation(22.9, 0.0, 0.0)).unwrap();
        out.add_wall(block, LAW).unwrap();
        for x in [0.0, 1.95] {
            let sphere = Particle::sphere(1.0, 2_500.0).unwrap();
            out.add(sphere, &Pose::translation(x, 0.0, 0.99), V3::zeros(), V3::zeros()).unwrap();
        }
        out
    }

    #[test]
    fn states_with_wrong_contents_are_refused_and_change_nothing() {
        let mut simulation = simulation();
        (0..2).for_each(|_| simulation.step(1e-5).unwrap());
        let state = simulation.save();
        let with = |change: &dyn Fn(&mut SavedSimulation)| {
            let mut saved: SavedSimulation = decoded(SIMULATION, &state).unwrap();
            assert!(
                saved.pairs.len() == 1 && saved.histories[1][1].points.len() == 1,
                "contacts of all kinds"
            );
            change(&mut saved);
            encoded(SIMULATION, &saved)
        };
        let cases: [Case<'_>; 12] = [
            (&|s| s.time = f64::NAN, "not finite"),
            (&|s| s.particles[1].motion.velocity.y = f64::INFINITY, "not finite"),
            (&|s| s.pairs[0].state.stiffness = f64::NAN, "not finite"),
            (&|s| s.histories[0][0].shear[0].1.force.x = f64::NAN, "not finite"),
            (&|s| s.particles.truncate(1), "1 particles, but 2 are present"),
            (&|s| s.histories.truncate(1), "1 spheres, but 2 are present"),
            (&|s| s.enabled.truncate(1), "1 walls, but 2 are present"),
            (&|s| s.pairs[0].colliders.1 = 2, "missing spheres"),
            (&|s| s.pairs.extend([SavedPair { colliders: (0, 1), state: s.pairs[0].state }]), "out of order"),
            (&|s| s.histories[1][1].points.clear(), "do not fit"),
            (&|s| s.histories[0][0].facets = Some(FacetRecord::default()), "do not fit"),
            (&|s| s.walls.swap(0, 1), ""),
        ];
        for (k, (change, message)) in cases.iter().enumerate() {
            let changed = with(change);
            match simulation.restore(&changed) {
                Err(error) => assert!(error.to_string().contains(message), "{k}: {error}"),
                // Two rigid walls may have each other's poses.
                Ok(()) => {
                    assert!(message.is_empty(), "{k}: accepted");
                    simulation.restore(&state).unwrap();
                }
            }
            assert!(simulation.save() == state, "{k}: unchanged");
        }
    }

    #[test]
    fn tracked_contacts_round_trip_with_infinite_curvatures() {
        let contact = FollowedContact {
            id: 7,
            distance: -0.1,
            local_a: P3::new(1.0, -0.0, 3.0),
            local_b: P3::origin(),
            normal: V3::z(),
            curvatures: [0.5, f64::INFINITY],
            features: [(FeatureKind::Edge, 3), (FeatureKind::Vertex, u32::MAX)],
            uv: [[0.25, 0.0], [0.0, 0.0]],
            is_flat: true,
            updated_at: Pose::translation(0.5, 0.0, -1.0),
        };
        let search = LastQuery { pose: Pose::translation(1.0, 2.0, 3.0), free: -1.0, nearest: f64::INFINITY };
        let tracked = ContactFollower::from_parts(Some(search), vec![contact], 8);
        assert_eq!(SavedTracking::new(&tracked).restored().unwrap(), tracked);
        let mut saved = SavedTracking::new(&tracked);
        saved.contacts[0].uv[1][1] = f64::NAN;
        assert!(saved.restored().is_err(), "a parameter that is not a number");
    }
}
