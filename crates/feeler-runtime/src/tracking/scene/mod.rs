//! Many bodies: which pairs are near, and all their minima, in parallel.
//!
//! # Source
//! DIST §3.3 for the near pairs ([`BroadPhase`]), BREP §4 for each of them.
//!
//! # Deviations
//! The hull that stands for a solid in the broad phase is not that of control points: it is stored with the
//! solid, found from its exact extents, and exceeds none of them by more than 1 %.

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

/// Why a scene has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// A compound body without solids.
    #[error("a body needs at least one solid")]
    NoParts,
    /// A solid without features has no place.
    #[error("solid '{0}' has no faces")]
    Empty(String),
    /// No body has this number: it was never given, or the body was removed.
    #[error("there is no body {}", .0.0)]
    NoBody(BodyId),
    /// A pair that names one body twice.
    #[error("body {} makes no pair with itself", .0.0)]
    NoPair(BodyId),
    /// A pose with a number that is NaN or infinite.
    #[error("the pose of body {} is not finite; give finite millimetres and a unit quaternion", .0.0)]
    Pose(BodyId),
    /// A largest distance that is negative or not finite.
    #[error("d_max is {0}; in a scene give a finite distance of 0 mm or more")]
    DMax(f64),
    /// A dilation that is not finite.
    #[error("the dilation is {0}; give a finite thickness in mm, 0 for none")]
    Dilation(f64),
    /// A solid of a model that cannot be queried.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Too many bodies, or poses beyond what numbers hold.
    #[error(transparent)]
    BroadPhase(#[from] BroadPhaseError),
    /// Options that make no sense.
    #[error(transparent)]
    Options(QueryError),
    /// A pair whose query is refused: its coordinates are too large, or its solids too thin for the options.
    #[error("bodies {} and {}: {error}", bodies[0].0, bodies[1].0)]
    Query {
        /// Which.
        bodies: [BodyId; 2],
        /// Why.
        error: QueryError,
    },
}

/// Number of steps for which the caches of a separated pair are kept.
const KEPT: u64 = 64;

/// Bodies that move together, and what is known of the pairs that are near.
///
/// A body is one solid or several that move as one. It can be added and removed between any two steps; its
/// number is never given again. [`Scene::update`] computes all minima of all near pairs
/// ([`Scene::contacts`]) and their differences from those of the step before ([`Scene::events`]). Pairs
/// without relative motion cost next to nothing. [`Scene::track`] computes for a simulator the contacts that
/// suffice for the step to come, and no verdicts.
///
/// The same calls give the same bits, for any number of threads.
#[derive(Debug)]
pub struct Scene {
    options: QueryOptions,
    /// By ascending id.
    bodies: Vec<Entry>,
    next_id: u32,
    pair_options: BTreeMap<[BodyId; 2], PairOptions>,
    broad: BroadPhase<HullOf>,
    /// By the numbers of the broad phase: whose part it is, and where it was last.
    parts: Vec<(PartRef, Pose)>,
    slots: BTreeMap<[PartRef; 2], Slot>,
    steps: u64,
    /// Whether anything has changed since the last step.
    changed: bool,
    wanted: Vec<[PartRef; 2]>,
    contacts: Contacts,
    trackers: Trackers,
}

/// A pair that is near or was so lately.
#[derive(Debug)]
struct Slot {
    pair: ContactPair,
    options: QueryOptions,
    poses: [Pose; 2],
    /// Relative pose, without the rounding of `poses`.
    pose_ab: Result<Pose, QueryError>,
    /// The last step in which it was near.
    near_at: u64,
    error: Option<QueryError>,
}

/// A near pair of solids of a step.
#[derive(Clone, Copy, Debug)]
pub struct NearPair<'a> {
    /// Their bodies, ascending.
    pub bodies: [BodyId; 2],
    /// Which solids of these bodies.
    pub parts: [u32; 2],
    /// Its minima and, with [`QueryOptions::detect_interference`], its status; A is of the body with the
    /// smaller number.
    pub contacts: &'a ContactPair,
}

impl Scene {
    /// An empty scene; `options` are those of all queries, [`BodyOptions`] and [`PairOptions`] may ask for
    /// other distances and dilations. `options.d_max` must be finite.
    ///
    /// In a scene `d_max` bounds [`Contact::gap`](crate::Contact::gap), the distance less both dilations.
    ///
    /// # Errors
    /// [`SceneError::Options`] for options that no query takes; [`SceneError::DMax`].
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

    /// A body of one solid.
    ///
    /// # Errors
    /// As [`Scene::add_compound`].
    pub fn add(&mut self, body: Arc<Body>, pose: Pose) -> Result<BodyId, SceneError> {
        self.add_compound(vec![(body, Pose::identity())], pose)
    }

    /// A body of several solids that move as one, each with its place in the body's frame. Its minima are
    /// those of its solids; solids of one body are not asked how they stand to each other.
    ///
    /// # Errors
    /// [`SceneError::NoParts`], [`SceneError::Empty`], [`SceneError::Pose`], [`SceneError::BroadPhase`]. The
    /// scene is as before then.
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
            let number = HullOf::new(&body).and_then(|hull| Ok(self.broad.insert(hull)?));
            let number = number.inspect_err(|_| {
                entry.parts.iter().for_each(|p: &Part| self.broad.remove(p.number));
            })?;
            let place = (PartRef { body: id, part }, pose * local);
            match self.parts.get_mut(number as usize) {
                Some(taken) => *taken = place,
                None => self.parts.push(place),
            }
            entry.parts.push(Part { body, local, number });
        }
        self.next_id += 1;
        self.bodies.push(entry);
        self.changed = true;
        Ok(id)
    }

    /// All instances of a model as bodies, in its order, in their places; instances of one solid share it.
    ///
    /// # Errors
    /// [`SceneError::Body`], and as [`Scene::add_compound`]; bodies that were added before stay.
    pub fn add_model(&mut self, model: &Model) -> Result<Vec<BodyId>, SceneError> {
        let solids = (0..model.solids.len()).map(|i| Ok(Arc::new(Body::from_model(model, i)?)));
        let solids = solids.collect::<Result<Vec<_>, BodyError>>()?;
        let instance = |i: &feeler_hierarchy::Instance| self.add(solids[i.solid as usize].clone(), i.pose());
        model.instances.iter().map(instance).collect()
    }

    /// Takes a body away, with what was said of its pairs. Its contacts end in the next step.
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

    /// Places a body for the next step.
    ///
    /// # Errors
    /// [`SceneError::NoBody`], [`SceneError::Pose`].
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

    /// The pose of a body.
    ///
    /// # Errors
    /// [`SceneError::NoBody`].
    pub fn pose(&self, id: BodyId) -> Result<&Pose, SceneError> {
        Ok(&self.bodies[self.position(id)?].pose)
    }

    /// Asks something else of all pairs of a body.
    ///
    /// # Errors
    /// [`SceneError::NoBody`], [`SceneError::DMax`], [`SceneError::Dilation`].
    pub fn set_body_options(&mut self, id: BodyId, options: BodyOptions) -> Result<(), SceneError> {
        let i = self.position(id)?;
        options.check()?;
        self.bodies[i].options = options;
        self.changed = true;
        self.set_reach()
    }

    /// Asks something else of a pair, in place of what is asked of its bodies.
    ///
    /// # Errors
    /// [`SceneError::NoBody`], [`SceneError::NoPair`], [`SceneError::DMax`], [`SceneError::Dilation`].
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

    /// Finds the near pairs of the bodies where they are and all their minima. Every pair of bodies up to
    /// `d_max` apart, or with common interiors, is among [`Scene::near`] then.
    ///
    /// # Errors
    /// [`SceneError::BroadPhase`] for poses beyond what numbers hold; the last step stays.
    /// [`SceneError::Query`] with the first pair that has no answer; all others have theirs.
    pub fn update(&mut self) -> Result<(), SceneError> {
        if self.changed {
            self.find_near()?;
        }
        self.query()
    }

    /// As [`Scene::update`], for pairs of bodies that the caller has chosen. A pair named twice is queried
    /// once.
    ///
    /// # Errors
    /// [`SceneError::NoBody`], [`SceneError::NoPair`], and as [`Scene::update`].
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
        // The next step finds the near pairs again.
        self.changed = true;
        let done = self.query();
        self.changed = true;
        done
    }

    /// The near pairs of bodies where they are, without their minima, ascending: for callers that query each
    /// pair with a [`ContactPair`] of their own.
    ///
    /// # Errors
    /// [`SceneError::BroadPhase`].
    pub fn near_bodies(&mut self) -> Result<Vec<[BodyId; 2]>, SceneError> {
        self.find_near()?;
        self.changed = true;
        let mut pairs: Vec<_> = self.wanted.iter().map(|[a, b]| [a.body, b.body]).collect();
        pairs.dedup();
        Ok(pairs)
    }

    /// The near pairs of the last step, ascending: some may have nothing within `d_max`. Pairs of bodies
    /// that have been removed since are left out.
    pub fn near(&self) -> impl Iterator<Item = NearPair<'_>> {
        self.slots.iter().filter(|(_, slot)| slot.near_at == self.steps).map(|([a, b], slot)| NearPair {
            bodies: [a.body, b.body],
            parts: [a.part, b.part],
            contacts: &slot.pair,
        })
    }

    /// All minima of the last step, by ascending bodies, solids and distances.
    #[must_use]
    pub fn contacts(&self) -> &[SceneContact] {
        self.contacts.now()
    }

    /// What became of the contacts of the step before, and which are new; by ascending bodies, solids and
    /// identities.
    #[must_use]
    pub fn events(&self) -> &[ContactEvent] {
        self.contacts.events()
    }

    /// How two bodies stood in the last step: of several pairs of solids what is worst, interfering before
    /// undecided, touching and separated. `None` where they were not near, without
    /// [`QueryOptions::detect_interference`], and where [`QueryOptions::verdict_unless_pressed`] has left the
    /// verdict out.
    ///
    /// # Errors
    /// [`SceneError::NoBody`], [`SceneError::NoPair`].
    pub fn status(&self, a: BodyId, b: BodyId) -> Result<Option<Status>, SceneError> {
        let [a, b] = self.pair(a, b)?;
        let all = [PartRef { body: a, part: 0 }, PartRef { body: b, part: 0 }]..;
        let of_pair = self.slots.range(all).take_while(|([x, _], _)| x.body == a);
        let near = of_pair.filter(|([_, y], s)| y.body == b && s.near_at == self.steps);
        Ok(near.filter_map(|(_, s)| s.pair.status()).max_by_key(|s| severity(*s)))
    }

    /// The bodies, ascending.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyId> {
        self.bodies.iter().map(|entry| entry.id)
    }

    /// The solids of a body, each with its place in the body's frame.
    ///
    /// # Errors
    /// [`SceneError::NoBody`].
    pub fn parts(
        &self,
        id: BodyId,
    ) -> Result<impl ExactSizeIterator<Item = (&Arc<Body>, &Pose)>, SceneError> {
        Ok(self.bodies[self.position(id)?].parts.iter().map(|p| (&p.body, &p.local)))
    }

    /// What the broad phase has cost so far.
    #[must_use]
    pub fn counts(&self) -> BroadPhaseCounts {
        self.broad.counts()
    }

    /// Pairs of solids whose caches are held: those that are near, and those that were in one of the last 64
    /// steps.
    #[must_use]
    pub fn held_pairs(&self) -> usize {
        self.slots.len()
    }

    fn position(&self, id: BodyId) -> Result<usize, SceneError> {
        self.bodies.binary_search_by_key(&id, |e| e.id).map_err(|_| SceneError::NoBody(id))
    }

    /// Both, ascending.
    fn pair(&self, a: BodyId, b: BodyId) -> Result<[BodyId; 2], SceneError> {
        self.position(a)?;
        self.position(b)?;
        if a == b { Err(SceneError::NoPair(a)) } else { Ok([a.min(b), a.max(b)]) }
    }

    /// Makes the broad phase find what any body or pair asks for.
    fn set_reach(&mut self) -> Result<(), SceneError> {
        let (bodies, pairs) = (self.bodies.iter().map(|e| &e.options), self.pair_options.values());
        let d_max = bodies.clone().filter_map(|o| o.d_max).chain(pairs.clone().filter_map(|o| o.d_max));
        let thick = bodies.map(|o| o.dilation).chain(pairs.filter_map(|o| o.dilation).flatten());
        let d_max = d_max.fold(self.options.d_max.max(self.trackers.gap), f64::max);
        let thickest = [self.options.dilation_a, self.options.dilation_b].into_iter().fold(0.0, f64::max);
        Ok(self.broad.set_request(reach(d_max + 2.0 * thick.fold(thickest, f64::max)))?)
    }

    /// The options of a pair of solids.
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

    /// The near pairs of solids as those that are wanted, ascending.
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

    /// The wanted pairs.
    fn query(&mut self) -> Result<(), SceneError> {
        if !self.changed {
            // Everybody stands where they stood, and so do all minima.
            self.slots.values_mut().filter(|s| s.near_at == self.steps).for_each(|s| s.pair.hold());
            self.contacts.hold();
            return self.first_error();
        }
        self.steps += 1;
        for wanted in std::mem::take(&mut self.wanted) {
            let [a, b] = wanted.map(|x| {
                let i = self.bodies.binary_search_by_key(&x.body, |e| e.id).expect("its body is there");
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
            // A pair that comes back finds new minima.
            if slot.near_at + 1 < self.steps {
                slot.pair.forget();
            }
            (slot.options, slot.poses, slot.near_at) = (options, poses, self.steps);
            slot.pose_ab = pose_ab;
        }
        let steps = self.steps;
        self.slots.retain(|_, slot| slot.near_at + KEPT >= steps);
        let mut near: Vec<&mut Slot> = self.slots.values_mut().filter(|s| s.near_at == steps).collect();
        let one = |slot: &mut Slot, parallel: bool| {
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
        // Few pairs share out their own work, many are shared out among themselves.
        match &mut near[..] {
            [slot] => one(slot, self.options.parallel),
            many => many.par_iter_mut().for_each(|slot| one(slot, false)),
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

/// Relative pose of two solids, given the poses of their bodies and their own poses in these. The offset that
/// both bodies share is removed first, because a large one would round the poses in the bodies away.
fn relative_part_pose([a, b]: [&Pose; 2], [local_a, local_b]: [&Pose; 2]) -> Result<Pose, QueryError> {
    let [a, b] = without_common_offset(a, b)?;
    relative_pose(&(a * local_a), &(b * local_b))
}

/// What is near, reported up to twice as far, so that few distances are computed.
fn reach(d_max: f64) -> BroadPhaseRequest {
    BroadPhaseRequest { d_max, margin: d_max }
}

fn severity(status: Status) -> u8 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Undecided => 2,
        Status::Interfering => 3,
    }
}

/// The hull of a body, dilated by what footpoints may be outside of it.
#[derive(Debug)]
struct HullOf {
    body: Arc<Body>,
    /// Of the body, which may have none where it is in no scene.
    hull: Arc<Polytope>,
}

impl HullOf {
    fn new(body: &Arc<Body>) -> Result<Self, SceneError> {
        let empty = || SceneError::Empty(body.hierarchy().info.name.clone());
        Ok(Self { body: body.clone(), hull: body.hull().ok_or_else(empty)?.clone() })
    }
}

impl Support for HullOf {
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
