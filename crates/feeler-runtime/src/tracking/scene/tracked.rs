//! Contacts of a scene over the steps of a simulator: one tracker for each near pair of solids.

use super::bodies::PartRef;
use super::{BodyId, MAX_IDLE_STEPS, Scene, SceneError, relative_part_pose};
use crate::api::contact::Contact;
use crate::api::error::QueryError;
use crate::api::tolerance::power_of_two;
use crate::tracking::tracker::{ContactTracker, StepBound, TrackerCounts, TrackerOptions, Update};
use feeler_geom::Pose;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Trackers of the pairs that are near, or were near at most [`MAX_IDLE_STEPS`] steps ago.
#[derive(Debug, Default)]
pub(super) struct Trackers {
    slots: BTreeMap<[PartRef; 2], Slot>,
    /// Number of calls of [`Scene::track`].
    steps: u64,
    /// Gap (mm) up to which pairs of solids count as near, a power of two or 0.
    pub(super) gap: f64,
    /// Sums of the counters of removed trackers.
    removed: TrackerCounts,
}

/// Smallest ratio of the gap that a step needs to the current range of near pairs at which this range is
/// kept. Each change of the range makes the broad phase search anew, so a larger value causes more
/// searches. With a smaller one, pairs that are far apart get trackers.
const MIN_GAP_USED: f64 = 0.125;

/// A pair of solids with its tracker.
#[derive(Debug)]
struct Slot {
    tracker: ContactTracker,
    /// Poses of both solids in the world.
    poses: [Pose; 2],
    /// Pose that maps coordinates of the second solid to those of the first one, without the rounding of
    /// `poses`; an error if the coordinates are too large.
    pose_ab: Result<Pose, QueryError>,
    /// Bound of the motion of the second solid relative to the first one in the step.
    bound: StepBound,
    /// Number of the last call of [`Scene::track`] in which the pair was near.
    near_at: u64,
    result: Result<Update, QueryError>,
}

/// A near pair of solids with the contacts that [`Scene::track`] computed.
#[derive(Clone, Copy, Debug)]
pub struct TrackedPair<'a> {
    /// The two bodies in ascending order of identifiers.
    pub bodies: [BodyId; 2],
    /// For each of the two bodies, the index of the pair's solid among the solids of the body, in the
    /// order of [`Scene::add_compound`]; 0 for a body of one solid.
    pub parts: [u32; 2],
    /// Result of the tracker's update in the last [`Scene::track`].
    pub update: Update,
    /// Tracker with the contacts and the status of the pair. Solid A belongs to the body with the smaller
    /// identifier. The tracker's world coordinates are those of A; [`TrackedPair::contacts`] returns the
    /// contacts in coordinates of the world.
    pub tracker: &'a ContactTracker,
    /// Pose that maps coordinates of solid B to those of solid A, at the time of the update.
    pub pose_ab: Pose,
    /// Poses of both solids in the world at the time of the update.
    pub poses: [Pose; 2],
}

impl TrackedPair<'_> {
    /// Contacts of the tracker by ascending identity, in world coordinates.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> {
        self.tracker.contacts().iter().map(|c| c.transformed(&self.poses[0]))
    }
}

impl Trackers {
    /// Removes the pairs of a body; the counters of their trackers are added to `removed`.
    pub(super) fn remove(&mut self, id: BodyId) {
        self.retain(|[a, b], _| a.body != id && b.body != id);
    }

    /// Removes the pairs that were near more than [`MAX_IDLE_STEPS`] steps ago.
    fn remove_idle(&mut self) {
        let steps = self.steps;
        self.retain(|_, slot| slot.near_at + MAX_IDLE_STEPS >= steps);
    }

    fn retain(&mut self, stays: impl Fn(&[PartRef; 2], &Slot) -> bool) {
        let removed = &mut self.removed;
        self.slots.retain(|parts, slot| {
            let stays = stays(parts, slot);
            if !stays {
                *removed = removed.plus(&slot.tracker.counts());
            }
            stays
        });
    }

    /// Updates the trackers of the near pairs in parallel, and returns the first error.
    fn update(&mut self) -> Result<(), SceneError> {
        let steps = self.steps;
        let mut near: Vec<&mut Slot> = self.slots.values_mut().filter(|slot| slot.near_at == steps).collect();
        near.par_iter_mut().for_each(|slot| {
            slot.result = match slot.pose_ab {
                Ok(pose_ab) => slot.tracker.update(&Pose::identity(), &pose_ab, slot.bound),
                Err(error) => {
                    slot.tracker.clear();
                    Err(error)
                }
            };
        });
        let mut near = self.slots.iter().filter(|(_, slot)| slot.near_at == steps);
        let failed = near.find_map(|([a, b], slot)| Some(([a.body, b.body], slot.result.err()?)));
        failed.map_or(Ok(()), |(bodies, error)| Err(SceneError::Query { bodies, error }))
    }
}

impl Scene {
    /// Finds the near pairs at the current poses, and computes for each of them the contacts that suffice
    /// for the next step, in parallel. `bounds` returns upper bounds of the motion of a body in this
    /// step relative to the world: its rotation (rad) and the displacement (mm) of any of its points. The
    /// bound of a pair is the sum of the bounds of its bodies, rounded up to powers of two.
    ///
    /// A pair of solids is near if its gap is at most [`TrackerOptions::reach`] plus the gap that the
    /// motions of both bodies can close. A tracker is kept for 64 steps after its pair was near.
    /// `options.dilations` are added to the dilations of the scene, its bodies and pairs. If the options
    /// change, all trackers search anew.
    ///
    /// # Errors
    /// [`SceneError::Options`] for invalid options and an infinite reach, and [`SceneError::BroadPhase`]
    /// if coordinates overflow; the results of the last step remain. [`SceneError::Query`] with the first
    /// pair whose update failed, for example because a bound is negative or not finite; all other pairs
    /// are up to date.
    ///
    /// # Source
    /// MATH §23.
    pub fn track(
        &mut self,
        options: &TrackerOptions,
        bounds: impl Fn(BodyId) -> StepBound,
    ) -> Result<(), SceneError> {
        options.check().map_err(SceneError::Options)?;
        if !options.reach.is_finite() {
            let error = QueryError::TrackerOption { name: "reach", value: options.reach };
            return Err(SceneError::Options(error));
        }
        let bounds: Vec<StepBound> = self.bodies.iter().map(|entry| bounds(entry.id)).collect();
        let finite = |bound: &StepBound| if bound.is_valid() { bound.displacement } else { 0.0 };
        let farthest = bounds.iter().map(finite).fold(0.0, f64::max);
        let thick = options.dilations.iter().fold(0.0, |sum: f64, d| sum + d.max(0.0));
        self.set_tracked_gap(options.reach + 2.0 * farthest + thick)?;
        self.find_near()?;
        // `wanted` now contains the pairs to be tracked, so the next query must search for its own pairs.
        self.changed = true;
        self.trackers.steps += 1;
        self.place_trackers(options, &bounds);
        self.trackers.remove_idle();
        self.trackers.update()
    }

    /// Assigns a tracker to each near pair, with the options, the poses of both solids and the bound of
    /// their relative motion.
    fn place_trackers(&mut self, options: &TrackerOptions, bounds: &[StepBound]) {
        let steps = self.trackers.steps;
        for wanted in std::mem::take(&mut self.wanted) {
            let [i, j] = wanted
                .map(|part| self.bodies.binary_search_by_key(&part.body, |e| e.id).expect("the body exists"));
            let [a, b] = [&self.bodies[i], &self.bodies[j]];
            let of_query = self.options_of([a, b]);
            let [thick_a, thick_b] = options.dilations;
            let dilations = [of_query.dilation_a + thick_a, of_query.dilation_b + thick_b];
            let options = TrackerOptions { dilations, ..*options };
            let [part_a, part_b] = [&a.parts[wanted[0].part as usize], &b.parts[wanted[1].part as usize]];
            let slot = self.trackers.slots.entry(wanted).or_insert_with(|| Slot {
                tracker: ContactTracker::new(part_a.body.clone(), part_b.body.clone(), options),
                poses: [Pose::identity(); 2],
                pose_ab: Ok(Pose::identity()),
                bound: StepBound::default(),
                near_at: steps,
                result: Ok(Update::default()),
            });
            slot.tracker.set_options(options);
            slot.poses = [a.pose * part_a.local, b.pose * part_b.local];
            slot.pose_ab = relative_part_pose([&a.pose, &b.pose], [&part_a.local, &part_b.local]);
            slot.bound = bounds[i].plus(&bounds[j]).rounded_up();
            slot.near_at = steps;
        }
    }

    /// Near pairs of the last [`Scene::track`] in ascending order. A near pair can be without contacts.
    /// Pairs whose update failed, and pairs of bodies that have been removed since, are omitted.
    pub fn tracked(&self) -> impl Iterator<Item = TrackedPair<'_>> {
        let near = self.trackers.slots.iter().filter(|(_, slot)| slot.near_at == self.trackers.steps);
        near.filter_map(|([a, b], slot)| {
            Some(TrackedPair {
                bodies: [a.body, b.body],
                parts: [a.part, b.part],
                update: slot.result.ok()?,
                tracker: &slot.tracker,
                pose_ab: slot.pose_ab.ok()?,
                poses: slot.poses,
            })
        })
    }

    /// Returns whether the contacts of all near pairs suffice for the motion from the poses of the last
    /// [`Scene::track`] to the current ones. Pairs that were not near cannot come into contact within the
    /// bounds.
    ///
    /// # Errors
    /// [`SceneError::Query`] if coordinates are too large.
    pub fn covers(&self) -> Result<bool, SceneError> {
        for ([a, b], slot) in &self.trackers.slots {
            if slot.near_at != self.trackers.steps || slot.result.is_err() {
                continue;
            }
            let [i, j] = [self.position(a.body)?, self.position(b.body)?];
            let [x, y] = [&self.bodies[i], &self.bodies[j]];
            let locals = [&x.parts[a.part as usize].local, &y.parts[b.part as usize].local];
            let bodies = [a.body, b.body];
            let pose_ab = relative_part_pose([&x.pose, &y.pose], locals);
            let covered = pose_ab.and_then(|pose_ab| slot.tracker.covers(&Pose::identity(), &pose_ab));
            if !covered.map_err(|error| SceneError::Query { bodies, error })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sets the range of the broad phase so that pairs with gaps up to `gap` (mm) are near.
    fn set_tracked_gap(&mut self, gap: f64) -> Result<(), SceneError> {
        let before = self.trackers.gap;
        if gap <= before && gap >= MIN_GAP_USED * before {
            return Ok(());
        }
        self.trackers.gap = if gap > f64::MIN_POSITIVE { 2.0 * power_of_two(gap) } else { 0.0 };
        self.set_reach().inspect_err(|_| self.trackers.gap = before)
    }

    /// Sums of the counters over all updates of all trackers, removed ones included.
    #[must_use]
    pub fn tracker_counts(&self) -> TrackerCounts {
        let slots = self.trackers.slots.values();
        slots.fold(self.trackers.removed, |sum, slot| sum.plus(&slot.tracker.counts()))
    }
}
