//! Contacts of a scene over the steps of a simulator: one tracker for each near pair of solids.

use super::bodies::PartRef;
use super::{BodyId, KEPT, Scene, SceneError, relative_part_pose};
use crate::api::error::QueryError;
use crate::api::tolerance::power_of_two;
use crate::tracking::tracker::{ContactTracker, StepBound, TrackerCounts, TrackerOptions, Update};
use feeler_geom::Pose;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Trackers of the pairs that are near or were so lately.
#[derive(Debug, Default)]
pub(super) struct Trackers {
    slots: BTreeMap<[PartRef; 2], Slot>,
    steps: u64,
    /// Gap (mm) up to which pairs are near, a power of two or 0.
    pub(super) gap: f64,
    /// Sums of the trackers that are gone.
    gone: TrackerCounts,
}

/// Smallest part of the gap up to which pairs are near that steps need before it shrinks: each change makes
/// the broad phase search anew.
const MIN_GAP_USED: f64 = 0.125;

/// A pair that is near or was so lately.
#[derive(Debug)]
struct Slot {
    tracker: ContactTracker,
    /// Poses of both solids in the world.
    poses: [Pose; 2],
    pose_ab: Result<Pose, QueryError>,
    bound: StepBound,
    /// The last step in which it was near.
    near_at: u64,
    result: Result<Update, QueryError>,
}

/// Contacts of a near pair of solids, as [`Scene::track`] has found them.
#[derive(Clone, Copy, Debug)]
pub struct TrackedPair<'a> {
    /// Their bodies, ascending.
    pub bodies: [BodyId; 2],
    /// Indices of the solids in these bodies.
    pub parts: [u32; 2],
    /// Report of the update.
    pub update: Update,
    /// Its contacts and status; A is the solid of the body with the smaller number. Poses of the tracker are
    /// relative to A.
    pub tracker: &'a ContactTracker,
    /// Pose of B in A's coordinates.
    pub pose_ab: Pose,
    /// Poses of both solids in the world at the time of the update.
    pub poses: [Pose; 2],
}

impl Trackers {
    /// Drops the pairs of a body.
    pub(super) fn remove(&mut self, id: BodyId) {
        self.retain(|[a, b], _| a.body != id && b.body != id);
    }

    /// Drops the pairs that have not been near lately.
    fn drop_old(&mut self) {
        let steps = self.steps;
        self.retain(|_, slot| slot.near_at + KEPT >= steps);
    }

    fn retain(&mut self, stays: impl Fn(&[PartRef; 2], &Slot) -> bool) {
        let gone = &mut self.gone;
        self.slots.retain(|parts, slot| {
            let stays = stays(parts, slot);
            if !stays {
                *gone = gone.plus(&slot.tracker.counts());
            }
            stays
        });
    }

    /// Updates the trackers of the near pairs; returns the first error.
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
    /// Finds the near pairs of the bodies where they are, and for each one the contacts that suffice for the
    /// step to come, in parallel. `bounds` returns the rotation (rad) and the displacement (mm) of any point
    /// that a body makes at most in this step, relative to the world. A pair's bound is the sum of both,
    /// rounded up to powers of two.
    ///
    /// `options.dilations` are added to those of the scene, its bodies and pairs. Options that change make
    /// all trackers search anew. Near are solids whose gap is at most [`TrackerOptions::reach`] and what both
    /// bodies' motions can close. A tracker is kept for 64 steps after its pair was near.
    ///
    /// # Errors
    /// [`SceneError::Options`] for invalid options and an infinite reach, and [`SceneError::BroadPhase`]: the
    /// last step stays. [`SceneError::Query`] with the first pair that has no contacts, for example because a
    /// bound is negative or not finite; all others have theirs.
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
        // A query finds its own pairs.
        self.changed = true;
        self.trackers.steps += 1;
        self.place_trackers(options, &bounds);
        self.trackers.drop_old();
        self.trackers.update()
    }

    /// Gives each near pair a tracker, with its options, pose and bound.
    fn place_trackers(&mut self, options: &TrackerOptions, bounds: &[StepBound]) {
        let steps = self.trackers.steps;
        for wanted in std::mem::take(&mut self.wanted) {
            let [i, j] = wanted.map(|part| {
                self.bodies.binary_search_by_key(&part.body, |e| e.id).expect("its body is there")
            });
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

    /// The near pairs of the last [`Scene::track`], ascending: some may have no contact. Pairs that failed,
    /// and pairs of bodies that have been removed since, are left out.
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

    /// Returns whether the contacts of a near pair suffice for the motion from the poses of the last
    /// [`Scene::track`] to those that the bodies have now, for all near pairs. A pair that was not near needs
    /// no contact within the bounds.
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

    /// Makes the broad phase find the pairs with gaps up to `gap` (mm).
    fn set_tracked_gap(&mut self, gap: f64) -> Result<(), SceneError> {
        let known = self.trackers.gap;
        if gap <= known && gap >= MIN_GAP_USED * known {
            return Ok(());
        }
        self.trackers.gap = if gap > f64::MIN_POSITIVE { 2.0 * power_of_two(gap) } else { 0.0 };
        self.set_reach().inspect_err(|_| self.trackers.gap = known)
    }

    /// Sums over all updates of all trackers.
    #[must_use]
    pub fn tracker_counts(&self) -> TrackerCounts {
        let slots = self.trackers.slots.values();
        slots.fold(self.trackers.gone, |sum, slot| sum.plus(&slot.tracker.counts()))
    }
}
