//! Scenes of many bodies: near pairs, their contacts and the changes from step to step, computed in parallel.
//!
//! # Source
//! DIST §3.3 for the near pairs ([`BroadPhase`]), BREP §4 for the query of each pair.
//!
//! # Deviations
//! The hull that represents a solid in the broad phase is not the hull of its control points. It is
//! stored with the solid, is computed from exact extents, and exceeds each of them by at most 1 %.

mod bodies;
mod contacts;
mod tracked;

pub use bodies::{BodyId, BodyOptions, PairOptions};
pub use contacts::{ContactEvent, EventKind, SceneContact};
pub use tracked::TrackedPair;

use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use crate::body::coordinates::{is_finite, relative_pose, without_common_offset};
use crate::body::{Body, BodyError};
use crate::pair::ContactPair;
use bodies::{Entry, Part, PartRef};
use contacts::{Contacts, PairIds};
use feeler_convex::{
    BroadPhase, BroadPhaseCounts, BroadPhaseError, BroadPhaseRequest, Polytope, Support, SupportPoint,
};
use feeler_geom::{P3, Pose, V3};
use feeler_hierarchy::Model;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use tracked::Trackers;

/// Error of a [`Scene`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// A compound body has no solids.
    #[error("a body needs at least one solid")]
    NoParts,
    /// A solid without features cannot be part of a scene, because it has no position.
    #[error("solid '{0}' has no faces; remove it or export it again as a closed solid")]
    Empty(String),
    /// The identifier was never assigned, or its body was removed.
    #[error("body {} does not exist or was removed", .0.0)]
    NoBody(BodyId),
    /// A pair names the same body twice.
    #[error("body {} cannot form a pair with itself; give two different bodies", .0.0)]
    NoPair(BodyId),
    /// A pose of a body, or of a solid in it, contains a number that is NaN or infinite.
    #[error("the pose of body {} is not finite; give finite millimetres and a unit quaternion", .0.0)]
    Pose(BodyId),
    /// `d_max` of the scene, of a body or of a pair is negative or not finite.
    #[error("d_max of the scene, a body or a pair is {0}; give a finite distance of 0 mm or more")]
    DMax(f64),
    /// A dilation of a body or of a pair is not finite.
    #[error("the dilation is {0}; give a finite thickness in mm, 0 for none")]
    Dilation(f64),
    /// A solid of a model cannot be queried.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The scene has too many solids, or coordinates overflow.
    #[error(transparent)]
    BroadPhase(#[from] BroadPhaseError),
    /// An option is out of range.
    #[error(transparent)]
    Options(QueryError),
    /// The query of a pair failed: its coordinates are too large, or its solids are too thin for the options.
    #[error("bodies {} and {}: {error}", bodies[0].0, bodies[1].0)]
    Query {
        /// The bodies of the pair in ascending order.
        bodies: [BodyId; 2],
        /// Error of the query.
        error: QueryError,
    },
}

/// Number of steps for which the cached results of a pair are kept after it was near. A larger value uses
/// more memory; a smaller one recomputes the caches of pairs that separate briefly.
const MAX_IDLE_STEPS: u64 = 64;

/// Many bodies with the contacts of all near pairs.
///
/// A body consists of one solid, or of several that move as one. Bodies can be added and removed between
/// any two steps; identifiers are never reused. [`Scene::update`] computes all minima of all near pairs
/// ([`Scene::contacts`]) and their changes since the previous step ([`Scene::events`]). Pairs without
/// relative motion reuse their results. [`Scene::track`] is the alternative for simulators: it computes
/// the contacts that suffice for the coming step, and no verdicts.
///
/// Lengths are in millimetres. The same sequence of calls gives bitwise the same results for any number
/// of threads.
///
/// ```no_run
/// # use feeler_runtime::{Body, QueryOptions, Scene, SceneError};
/// # use feeler_geom::Pose;
/// # fn show(plate: std::sync::Arc<Body>, ball: std::sync::Arc<Body>) -> Result<(), SceneError> {
/// let mut scene = Scene::new(QueryOptions::within(0.5))?;
/// scene.add(plate, Pose::identity())?;
/// let ball = scene.add(ball, Pose::translation(0.0, 0.0, 10.0))?;
/// for step in 0..100 {
///     scene.set_pose(ball, Pose::translation(0.1 * f64::from(step), 0.0, 10.0))?;
///     scene.update()?;
///     let _smallest = scene.contacts().iter().map(|c| c.contact.distance).reduce(f64::min);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scene {
    options: QueryOptions,
    /// Bodies in ascending order of identifiers.
    bodies: Vec<Entry>,
    next_id: u32,
    pair_options: BTreeMap<[BodyId; 2], PairOptions>,
    broad: BroadPhase<DilatedHull>,
    /// Solids by their index in the broad phase, with their world poses.
    parts: Vec<(PartRef, Pose)>,
    slots: BTreeMap<[PartRef; 2], Slot>,
    /// Number of steps in which pairs were queried.
    steps: u64,
    /// Whether bodies, poses or options of the scene have changed since the last step.
    changed: bool,
    /// Pairs of solids to be queried or tracked in this step, in ascending order.
    wanted: Vec<[PartRef; 2]>,
    contacts: Contacts,
    trackers: Trackers,
}

/// A pair of solids that is near, or was near at most [`MAX_IDLE_STEPS`] steps ago.
#[derive(Debug)]
struct Slot {
    pair: ContactPair,
    options: QueryOptions,
    /// World poses of both solids in the current step.
    poses: [Pose; 2],
    /// Pose that maps coordinates of the second solid to those of the first one, without the rounding of
    /// `poses`; an error if the coordinates are too large.
    pose_ab: Result<Pose, QueryError>,
    /// Number of the last step in which the pair was near.
    near_at: u64,
    /// Error of the last query; `None` if it succeeded.
    error: Option<QueryError>,
}

/// A near pair of solids in the last step.
#[derive(Clone, Copy, Debug)]
pub struct NearPair<'a> {
    /// The bodies in ascending order.
    pub bodies: [BodyId; 2],
    /// For each of the two bodies, the index of the pair's solid among the solids of the body, in the
    /// order of [`Scene::add_compound`]; 0 for a body of one solid.
    pub parts: [u32; 2],
    /// The contacts of the pair and, with [`QueryOptions::detect_interference`], its status. Solid A
    /// belongs to the body with the smaller identifier.
    pub contacts: &'a ContactPair,
}

impl Scene {
    /// Creates an empty scene. The options apply to all queries; [`BodyOptions`] and [`PairOptions`]
    /// override distances and dilations. `options.d_max` must be finite.
    ///
    /// `d_max` (mm) limits [`Contact::gap`](crate::Contact::gap), which is the distance minus both dilations.
    ///
    /// # Errors
    /// [`SceneError::Options`] if an option is out of range; [`SceneError::DMax`] if `d_max` is infinite.
    pub fn new(options: QueryOptions) -> Result<Self, SceneError> {
        options.check().map_err(SceneError::Options)?;
        bodies::check_d_max(options.d_max)?;
        Ok(Self {
            broad: BroadPhase::new(Vec::new(), reach(options.d_max))?,
            options,
            bodies: Vec::new(),
            next_id: 0,
            pair_options: BTreeMap::new(),
            parts: Vec::new(),
            slots: BTreeMap::new(),
            steps: 0,
            changed: true,
            wanted: Vec::new(),
            contacts: Contacts::default(),
            trackers: Trackers::default(),
        })
    }

    /// Adds a body of one solid with its pose in the world.
    ///
    /// # Errors
    /// Errors of [`Scene::add_compound`].
    pub fn add(&mut self, body: Arc<Body>, pose: Pose) -> Result<BodyId, SceneError> {
        self.add_compound(vec![(body, Pose::identity())], pose)
    }

    /// Adds a body of several solids that move as one, each with its pose in the body's frame, and the
    /// body's pose in the world. Pairs of solids of one body are not queried.
    ///
    /// # Errors
    /// [`SceneError::NoParts`] without solids, [`SceneError::Empty`] for a solid without faces,
    /// [`SceneError::Pose`] for a pose that is not finite, and [`SceneError::BroadPhase`] for too many
    /// solids. The scene is unchanged after an error.
    pub fn add_compound(&mut self, parts: Vec<(Arc<Body>, Pose)>, pose: Pose) -> Result<BodyId, SceneError> {
        let id = BodyId(self.next_id);
        if parts.is_empty() {
            return Err(SceneError::NoParts);
        }
        if !is_finite(&pose) || parts.iter().any(|(_, local)| !is_finite(local)) {
            return Err(SceneError::Pose(id));
        }
        let mut entry = Entry { id, pose, options: BodyOptions::default(), parts: Vec::new() };
        for ((body, local), part) in parts.into_iter().zip(0..) {
            let number = DilatedHull::new(&body).and_then(|hull| Ok(self.broad.insert(hull)?));
            let number = number.inspect_err(|_| {
                entry.parts.iter().for_each(|p: &Part| self.broad.remove(p.number));
            })?;
            let placed = (PartRef { body: id, part }, pose * local);
            match self.parts.get_mut(number as usize) {
                Some(slot) => *slot = placed,
                None => self.parts.push(placed),
            }
            entry.parts.push(Part { body, local, number });
        }
        self.next_id += 1;
        self.bodies.push(entry);
        self.changed = true;
        Ok(id)
    }

    /// Adds all instances of a model as bodies at their poses in the model, and returns their identifiers
    /// in the model's order. Instances of one solid share it.
    ///
    /// # Errors
    /// [`SceneError::Body`] for a solid that cannot be queried, and errors of [`Scene::add_compound`].
    /// Instances that were added before the error remain.
    pub fn add_model(&mut self, model: &Model) -> Result<Vec<BodyId>, SceneError> {
        let solids = (0..model.solids.len()).map(|i| Ok(Arc::new(Body::from_model(model, i)?)));
        let solids = solids.collect::<Result<Vec<_>, BodyError>>()?;
        let instance = |i: &feeler_hierarchy::Instance| self.add(solids[i.solid as usize].clone(), i.pose());
        model.instances.iter().map(instance).collect()
    }

    /// Removes a body, its pairs and their options. Its contacts end in the next step.
    ///
    /// # Errors
    /// [`SceneError::NoBody`].
    pub fn remove(&mut self, id: BodyId) -> Result<(), SceneError> {
        let entry = self.bodies.remove(self.position(id)?);
        entry.parts.iter().for_each(|p| self.broad.remove(p.number));
        self.slots.retain(|[a, b], _| a.body != id && b.body != id);
        self.trackers.remove(id);
        self.pair_options.retain(|pair, _| !pair.contains(&id));
        self.changed = true;
        Ok(())
    }

    /// Sets the world pose of a body for the next step.
    ///
    /// # Errors
    /// [`SceneError::NoBody`]; [`SceneError::Pose`] for a pose that is not finite.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), SceneError> {
        let i = self.position(id)?;
        if !is_finite(&pose) {
            return Err(SceneError::Pose(id));
        }
        let entry = &mut self.bodies[i];
        if entry.pose != pose {
            entry.pose = pose;
            entry.parts.iter().for_each(|p| self.parts[p.number as usize].1 = pose * p.local);
            self.changed = true;
        }
        Ok(())
    }

    /// World pose of a body.
    ///
    /// # Errors
    /// [`SceneError::NoBody`].
    pub fn pose(&self, id: BodyId) -> Result<&Pose, SceneError> {
        Ok(&self.bodies[self.position(id)?].pose)
    }

    /// Sets the options of a body.
    ///
    /// # Errors
    /// [`SceneError::NoBody`]; [`SceneError::DMax`] or [`SceneError::Dilation`] for an option out of range.
    pub fn set_body_options(&mut self, id: BodyId, options: BodyOptions) -> Result<(), SceneError> {
        let i = self.position(id)?;
        options.check()?;
        self.bodies[i].options = options;
        self.changed = true;
        self.set_reach()
    }

    /// Sets the options of a pair, which replace those of its bodies. Default options restore those of the
    /// bodies.
    ///
    /// # Errors
    /// [`SceneError::NoBody`]; [`SceneError::NoPair`] for one body twice; [`SceneError::DMax`] or
    /// [`SceneError::Dilation`] for an option out of range.
    pub fn set_pair_options(&mut self, a: BodyId, b: BodyId, options: PairOptions) -> Result<(), SceneError> {
        let pair = self.pair(a, b)?;
        options.check()?;
        let options = if a <= b { options } else { options.swapped() };
        if options == PairOptions::default() {
            self.pair_options.remove(&pair);
        } else {
            self.pair_options.insert(pair, options);
        }
        self.changed = true;
        self.set_reach()
    }

    /// Finds the near pairs at the current poses, and computes all their minima in parallel.
    ///
    /// # Guarantees
    /// [`Scene::near`] then contains every pair of solids with a gap of at most `d_max` and every pair
    /// with common interiors, apart from ignored and fixed pairs.
    ///
    /// # Errors
    /// [`SceneError::BroadPhase`] if coordinates overflow; the results of the last step remain.
    /// [`SceneError::Query`] with the first pair whose query failed; all other pairs are up to date.
    pub fn update(&mut self) -> Result<(), SceneError> {
        if self.changed {
            self.find_near()?;
        }
        self.query()
    }

    /// Computes all minima of the given pairs of bodies, instead of those of the near pairs
    /// ([`Scene::update`]). A pair that occurs twice is queried once.
    ///
    /// # Errors
    /// [`SceneError::NoBody`], [`SceneError::NoPair`] for one body twice, and errors of [`Scene::update`].
    pub fn update_pairs(&mut self, pairs: &[[BodyId; 2]]) -> Result<(), SceneError> {
        let mut wanted = Vec::new();
        for &[a, b] in pairs {
            let [a, b] = self.pair(a, b)?.map(|id| self.position(id));
            let [a, b] = [&self.bodies[a?], &self.bodies[b?]];
            wanted.extend(a.part_refs().flat_map(|x| b.part_refs().map(move |y| [x, y])));
        }
        wanted.sort_unstable();
        wanted.dedup();
        self.wanted = wanted;
        // The next step must search for the near pairs again.
        self.changed = true;
        let result = self.query();
        self.changed = true;
        result
    }

    /// Finds the near pairs of bodies at the current poses, in ascending order, without querying them. It
    /// is for callers that query each pair with their own [`ContactPair`].
    ///
    /// # Errors
    /// [`SceneError::BroadPhase`] if coordinates overflow.
    pub fn near_bodies(&mut self) -> Result<Vec<[BodyId; 2]>, SceneError> {
        self.find_near()?;
        self.changed = true;
        let mut pairs: Vec<_> = self.wanted.iter().map(|[a, b]| [a.body, b.body]).collect();
        pairs.dedup();
        Ok(pairs)
    }

    /// Near pairs of the last step in ascending order. A near pair can be without a contact within
    /// `d_max`. Pairs of bodies that have been removed since are omitted.
    pub fn near(&self) -> impl Iterator<Item = NearPair<'_>> {
        self.slots.iter().filter(|(_, slot)| slot.near_at == self.steps).map(|([a, b], slot)| NearPair {
            bodies: [a.body, b.body],
            parts: [a.part, b.part],
            contacts: &slot.pair,
        })
    }

    /// Contacts of all pairs in the last step, sorted by bodies, solids and distance.
    #[must_use]
    pub fn contacts(&self) -> &[SceneContact] {
        self.contacts.now()
    }

    /// Changes of the contacts in the last step, sorted by bodies, solids and identity. Every contact of
    /// this step and of the previous one has an event.
    #[must_use]
    pub fn events(&self) -> &[ContactEvent] {
        self.contacts.events()
    }

    /// Relation of two bodies in the last step. For several pairs of solids it is the most severe status,
    /// in the order interfering, undecided, touching, separated. `None` if the bodies were not near,
    /// without [`QueryOptions::detect_interference`], and if [`QueryOptions::verdict_unless_pressed`]
    /// skipped the verdict.
    ///
    /// # Errors
    /// [`SceneError::NoBody`]; [`SceneError::NoPair`] for one body twice.
    pub fn status(&self, a: BodyId, b: BodyId) -> Result<Option<Status>, SceneError> {
        let [a, b] = self.pair(a, b)?;
        let all = [PartRef { body: a, part: 0 }, PartRef { body: b, part: 0 }]..;
        let of_pair = self.slots.range(all).take_while(|([x, _], _)| x.body == a);
        let near = of_pair.filter(|([_, y], s)| y.body == b && s.near_at == self.steps);
        Ok(near.filter_map(|(_, s)| s.pair.status()).max_by_key(|s| severity(*s)))
    }

    /// Identifiers of the bodies in ascending order.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyId> {
        self.bodies.iter().map(|entry| entry.id)
    }

    /// Solids of a body, each with its pose in the body's frame.
    ///
    /// # Errors
    /// [`SceneError::NoBody`].
    pub fn parts(
        &self,
        id: BodyId,
    ) -> Result<impl ExactSizeIterator<Item = (&Arc<Body>, &Pose)>, SceneError> {
        Ok(self.bodies[self.position(id)?].parts.iter().map(|p| (&p.body, &p.local)))
    }

    /// Counters of the search for near pairs (the broad phase), summed over all steps.
    #[must_use]
    pub fn counts(&self) -> BroadPhaseCounts {
        self.broad.counts()
    }

    /// Number of pairs of solids with cached results: pairs that are near, or were near in one of the
    /// last 64 steps.
    #[must_use]
    pub fn held_pairs(&self) -> usize {
        self.slots.len()
    }

    fn position(&self, id: BodyId) -> Result<usize, SceneError> {
        self.bodies.binary_search_by_key(&id, |e| e.id).map_err(|_| SceneError::NoBody(id))
    }

    /// Returns the identifiers of two bodies in ascending order, or an error if a body does not exist or
    /// both are the same.
    fn pair(&self, a: BodyId, b: BodyId) -> Result<[BodyId; 2], SceneError> {
        self.position(a)?;
        self.position(b)?;
        if a == b { Err(SceneError::NoPair(a)) } else { Ok([a.min(b), a.max(b)]) }
    }

    /// Sets the range of the broad phase to the largest distance that any body, pair or tracker needs.
    fn set_reach(&mut self) -> Result<(), SceneError> {
        let (bodies, pairs) = (self.bodies.iter().map(|e| &e.options), self.pair_options.values());
        let d_max = bodies.clone().filter_map(|o| o.d_max).chain(pairs.clone().filter_map(|o| o.d_max));
        let thick = bodies.map(|o| o.dilation).chain(pairs.filter_map(|o| o.dilation).flatten());
        let d_max = d_max.fold(self.options.d_max.max(self.trackers.gap), f64::max);
        let thickest = [self.options.dilation_a, self.options.dilation_b].into_iter().fold(0.0, f64::max);
        Ok(self.broad.set_request(reach(d_max + 2.0 * thick.fold(thickest, f64::max)))?)
    }

    /// Query options of a pair of bodies, from the options of the scene, the bodies and the pair.
    fn options_of(&self, [a, b]: [&Entry; 2]) -> QueryOptions {
        let own = self.pair_options.get(&[a.id, b.id]).copied().unwrap_or_default();
        let of_body = |e: &Entry| e.options.d_max.unwrap_or(self.options.d_max);
        let d_max = own.d_max.unwrap_or(of_body(a).max(of_body(b)));
        let [more_a, more_b] = own.dilation.unwrap_or([a.options.dilation, b.options.dilation]);
        let (dilation_a, dilation_b) = (self.options.dilation_a + more_a, self.options.dilation_b + more_b);
        QueryOptions {
            d_max: (d_max + dilation_a + dilation_b).max(0.0),
            dilation_a,
            dilation_b,
            ..self.options
        }
    }

    /// Finds the near pairs of solids at the current poses and stores them in `wanted`, in ascending order.
    fn find_near(&mut self) -> Result<(), SceneError> {
        let poses: Vec<Pose> = self.parts.iter().map(|(_, pose)| *pose).collect();
        let parts = &self.parts;
        let owner = |e: BroadPhaseError| match e {
            BroadPhaseError::Pose(i) => SceneError::Pose(parts[i].0.body),
            e => e.into(),
        };
        let near = self.broad.step(&poses).map_err(owner)?;
        self.wanted.clear();
        self.wanted.extend(near.iter().map(|&(i, j)| {
            let (a, b) = (self.parts[i as usize].0, self.parts[j as usize].0);
            [a.min(b), a.max(b)]
        }));
        let fixed = |id: BodyId| {
            let found = self.bodies.binary_search_by_key(&id, |e| e.id);
            found.is_ok_and(|i| self.bodies[i].options.fixed)
        };
        let pairs = &self.pair_options;
        let ignored = |pair: &[BodyId; 2]| pairs.get(pair).is_some_and(|o| o.ignored);
        self.wanted.retain(|[a, b]| {
            a.body != b.body && !ignored(&[a.body, b.body]) && !(fixed(a.body) && fixed(b.body))
        });
        self.wanted.sort_unstable();
        Ok(())
    }

    /// Queries the pairs in `wanted`; if nothing has changed, reuses the results of the last step.
    fn query(&mut self) -> Result<(), SceneError> {
        if !self.changed {
            self.slots.values_mut().filter(|s| s.near_at == self.steps).for_each(|s| s.pair.increase_ages());
            self.contacts.repeat();
            return self.first_error();
        }
        self.steps += 1;
        for wanted in std::mem::take(&mut self.wanted) {
            let [a, b] = wanted.map(|x| {
                let i = self.bodies.binary_search_by_key(&x.body, |e| e.id).expect("the body exists");
                &self.bodies[i]
            });
            let options = self.options_of([a, b]);
            let [part_a, part_b] = [&a.parts[wanted[0].part as usize], &b.parts[wanted[1].part as usize]];
            let poses = [part_a, part_b].map(|p| self.parts[p.number as usize].1);
            let pose_ab = relative_part_pose([&a.pose, &b.pose], [&part_a.local, &part_b.local]);
            let slot = self.slots.entry(wanted).or_insert_with(|| Slot {
                pair: ContactPair::new(part_a.body.clone(), part_b.body.clone()),
                options,
                poses,
                pose_ab,
                near_at: self.steps,
                error: None,
            });
            // Contacts of a pair that was not near in the last step are new.
            if slot.near_at + 1 < self.steps {
                slot.pair.forget();
            }
            (slot.options, slot.poses, slot.near_at) = (options, poses, self.steps);
            slot.pose_ab = pose_ab;
        }
        let steps = self.steps;
        self.slots.retain(|_, slot| slot.near_at + MAX_IDLE_STEPS >= steps);
        let mut near: Vec<&mut Slot> = self.slots.values_mut().filter(|s| s.near_at == steps).collect();
        let query_pair = |slot: &mut Slot, parallel: bool| {
            let options = QueryOptions { parallel, ..slot.options };
            let [pose_a, pose_b] = &slot.poses;
            slot.error = match slot.pose_ab {
                Ok(pose_ab) => slot.pair.query_relative(pose_ab, [pose_a, pose_b], &options).err(),
                Err(error) => {
                    slot.pair.clear_results();
                    Some(error)
                }
            };
        };
        // A single pair parallelises its query; several pairs are queried in parallel.
        match &mut near[..] {
            [slot] => query_pair(slot, self.options.parallel),
            slots => slots.par_iter_mut().for_each(|slot| query_pair(slot, false)),
        }
        self.changed = false;
        let pairs = self.slots.iter().filter(|(_, s)| s.near_at == steps);
        self.contacts.advance(pairs.map(|([a, b], s)| {
            (PairIds { bodies: [a.body, b.body], parts: [a.part, b.part] }, s.pair.contacts())
        }));
        self.first_error()
    }

    fn first_error(&self) -> Result<(), SceneError> {
        let near = self.slots.iter().filter(|(_, s)| s.near_at == self.steps);
        let mut errors = near.filter_map(|([a, b], s)| Some(([a.body, b.body], s.error?)));
        errors.next().map_or(Ok(()), |(bodies, error)| Err(SceneError::Query { bodies, error }))
    }
}

/// Relative pose of two solids, given the world poses of their bodies and the poses of the solids in the
/// frames of the bodies. The offset that both bodies share is removed first, because the poses of the
/// solids would be lost in the rounding of a large offset.
fn relative_part_pose([a, b]: [&Pose; 2], [local_a, local_b]: [&Pose; 2]) -> Result<Pose, QueryError> {
    let [a, b] = without_common_offset(a, b)?;
    relative_pose(&(a * local_a), &(b * local_b))
}

/// Range of the broad phase for gaps up to `d_max` (mm). Pairs with gaps up to twice as large are
/// reported, so that few exact distances are computed.
fn reach(d_max: f64) -> BroadPhaseRequest {
    BroadPhaseRequest { d_max, margin: d_max }
}

/// Rank of a status. The status of two bodies is that with the highest rank among their pairs of solids.
fn severity(status: Status) -> u8 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Undecided => 2,
        Status::Interfering => 3,
    }
}

/// Hull of a body, dilated because footpoints can lie outside the hull by the deviation of edges and
/// rounding.
#[derive(Debug)]
struct DilatedHull {
    body: Arc<Body>,
    /// Hull of the body. The broad phase requires one; a body outside a scene can be without a hull.
    hull: Arc<Polytope>,
}

impl DilatedHull {
    fn new(body: &Arc<Body>) -> Result<Self, SceneError> {
        let empty = || SceneError::Empty(body.hierarchy().info.name.clone());
        Ok(Self { body: body.clone(), hull: body.hull().ok_or_else(empty)?.clone() })
    }
}

impl Support for DilatedHull {
    fn support(&self, direction: &V3) -> SupportPoint {
        self.hull.support(direction)
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        self.hull.support_near(direction, start)
    }
    fn radius(&self) -> f64 {
        self.body.deviation() + 1e-6 * self.body.size()
    }
    fn center(&self) -> P3 {
        self.hull.center()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.hull.numbered(index)
    }
}
