//! Contacts of a scene over the steps of a simulator.

use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, fill, get_sized, put, put_sized, shared};
use crate::scene::{FeelerScene, failed, with};
use crate::tracker::{
    FeelerStepBound, FeelerStepContact, FeelerTrackedStatus, FeelerTrackerCounts, FeelerTrackerOptions,
};
use feeler::{BodyId, Scene, TrackedPair};
use std::collections::BTreeMap;

/// A near pair of solids of a scene, as `feeler_scene_track` has found it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerTrackedPair {
    /// Ids of the bodies, ascending; A is the solid of the first one.
    pub bodies: [u32; 2],
    /// Indices of the solids in these bodies.
    pub parts: [u32; 2],
    /// Status by the signed gaps of the contacts.
    pub status: FeelerTrackedStatus,
    /// Not 0: the motion since the last step was a jump, or the pair was not near in it; no contact
    /// continues.
    pub jumped: u8,
    /// Not 0: a verdict was computed.
    pub decided: u8,
    /// Reserved, 0.
    pub reserved: [u8; 2],
    /// Depth (mm) of the deepest contact of a pair with the status Pressed or Deep, else 0.
    pub depth: f64,
    /// Bound of the relative motion in this step: the sum of those of both bodies, rounded up to powers of
    /// two.
    pub bound: FeelerStepBound,
    /// Index of its first contact in `feeler_scene_tracked_contacts`.
    pub first_contact: u64,
    /// Number of its contacts.
    pub contact_count: u64,
    /// Number of contacts that the option `max_contacts` dropped.
    pub dropped: u64,
}

impl FeelerTrackedPair {
    fn of(pair: &TrackedPair<'_>, first_contact: u64) -> Self {
        let (status, depth) = FeelerTrackedStatus::of(pair.tracker.status());
        Self {
            bodies: pair.bodies.map(|id| id.0),
            parts: pair.parts,
            status,
            jumped: pair.update.jumped.into(),
            decided: pair.update.decided.into(),
            reserved: [0; 2],
            depth,
            bound: FeelerStepBound::of(pair.tracker.bound().unwrap_or_default()),
            first_contact,
            contact_count: pair.tracker.contacts().len() as u64,
            dropped: pair.update.dropped as u64,
        }
    }
}

/// Records of the near pairs of the last `feeler_scene_track`.
#[must_use]
pub fn tracked_pairs(scene: &Scene) -> Vec<FeelerTrackedPair> {
    let mut first_contact = 0;
    let record = |pair: TrackedPair<'_>| {
        let record = FeelerTrackedPair::of(&pair, first_contact);
        first_contact += record.contact_count;
        record
    };
    scene.tracked().map(record).collect()
}

/// Records of the contacts of these pairs, pair by pair.
#[must_use]
pub fn tracked_contacts(scene: &Scene) -> Vec<FeelerStepContact> {
    let mut contacts = Vec::new();
    for pair in scene.tracked() {
        let displacement = pair.tracker.bound().map_or(0.0, |bound| bound.displacement);
        let record = |c| FeelerStepContact::of(c, &pair.poses, &pair.pose_ab, displacement);
        contacts.extend(pair.tracker.contacts().iter().map(record));
    }
    contacts
}

/// Finds the near pairs of the bodies where they are, and for each one the contacts that suffice for the step
/// to come, in parallel. `bounds` are the rotation (rad) and the displacement (mm) of any point that each of
/// the `n` bodies `ids` makes at most in this step, relative to the world; the other bodies do not move. NULL
/// options mean the defaults; their dilations are added to those of the scene and its bodies, and options
/// that change make all trackers search anew. Near are solids whose gap is at most `reach` and what both
/// motions can close. After an error of type Query, pairs that failed are left out of the results.
///
/// # Safety
/// No other thread uses `scene`; `options` is NULL or has the size given by its `struct_size`; `ids` and
/// `bounds` point at `n` of each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_track(
    scene: *mut FeelerScene,
    options: *const FeelerTrackerOptions,
    ids: *const u32,
    bounds: *const FeelerStepBound,
    n: usize,
) -> FeelerResult {
    let tracked = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise; any bytes are numbers.
        let (options, ids, bounds) = unsafe {
            let options = get_sized(options, FeelerTrackerOptions::new(), "options")?.read();
            (options, array(ids, n, "ids")?, array(bounds, n, "bounds")?)
        };
        let mut of_body = BTreeMap::new();
        for (id, bound) in ids.iter().zip(bounds) {
            scene.pose(BodyId(*id)).map_err(failed)?;
            of_body.insert(BodyId(*id), bound.read());
        }
        let bound = |id| of_body.get(&id).copied().unwrap_or_default();
        scene.track(&options, bound).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, tracked) }
}

/// Near pairs of the last `feeler_scene_track`, by ascending bodies and solids; some may have no contact:
/// writes up to `capacity` of them to `out` and their number to `count`.
///
/// # Safety
/// No other thread changes `scene`; `out` has room for `capacity` pairs; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_tracked_pairs(
    scene: *const FeelerScene,
    out: *mut FeelerTrackedPair,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        fill(tracked_pairs(shared(scene, "scene")?.unbroken()?).into_iter(), (out, capacity), count)
    })
}

/// Contacts of these pairs, pair by pair and by ascending numbers within a pair. Numbers are unique within a
/// pair, and a pair that was not near for 64 steps begins anew. World coordinates are those of the last
/// `feeler_scene_track`.
///
/// # Safety
/// No other thread changes `scene`; `out` has room for `capacity` contacts; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_tracked_contacts(
    scene: *const FeelerScene,
    out: *mut FeelerStepContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        fill(tracked_contacts(shared(scene, "scene")?.unbroken()?).into_iter(), (out, capacity), count)
    })
}

/// Returns whether the contacts of all near pairs suffice for the motion from the poses of the last
/// `feeler_scene_track` to those that the bodies have now.
///
/// # Safety
/// No other thread changes `scene`; `covers` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_covers(scene: *const FeelerScene, covers: *mut bool) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(covers, "covers", shared(scene, "scene")?.unbroken()?.covers().map_err(failed)?) })
}

/// Returns the sums over all updates of all trackers of a scene.
///
/// # Safety
/// No other thread changes `scene`; `out` has the size given by its `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_tracker_counts(
    scene: *const FeelerScene,
    out: *mut FeelerTrackerCounts,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let counts = shared(scene, "scene")?.unbroken()?.tracker_counts();
        put_sized(out, FeelerTrackerCounts::of(counts), "out")
    })
}
