//! Trackers of the near pairs of a scene.

use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, fill, get_sized, put, put_sized, shared};
use crate::record::FeelerContact;
use crate::scene::{FeelerScene, failed, with};
use crate::tracker::{FeelerStepBound, FeelerTrackedStatus, FeelerTrackerCounts, FeelerTrackerOptions};
use feeler::{BodyId, Scene, TrackedPair};
use std::collections::BTreeMap;

/// Near pair of solids of a scene, found by the last call of `feeler_scene_track`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerTrackedPair {
    /// Ids of the bodies, ascending. A is the solid of the first body, B that of the second one.
    pub bodies: [u32; 2],
    /// Indices of the solids in the two bodies; 0 unless the body is a compound.
    pub parts: [u32; 2],
    /// Relation of the two solids according to the signed gaps of their minima or to a verdict.
    pub status: FeelerTrackedStatus,
    /// 1 if no contact of the previous call continues, because the motion since then was a jump
    /// (`max_step` of `FeelerTrackerOptions`) or the pair was not near in that call; else 0.
    pub jumped: u8,
    /// 1 if this call computed a verdict of the pair, else 0.
    pub decided: u8,
    /// 1 if the set of contacts may be incomplete because of limits on the numbers of corners of a flat area
    /// and of samples of curved contacts, else 0. A step within the bound may then end deeper than
    /// guaranteed.
    pub limited: u8,
    /// Reserved, 0.
    pub reserved: u8,
    /// Depth (mm) of the deepest contact if the status is `FEELER_TRACKED_STATUS_PRESSED` or
    /// `FEELER_TRACKED_STATUS_DEEP`, else 0.
    pub depth: f64,
    /// Bound of the motion of B relative to A for which the contacts suffice: the sum of the bounds of
    /// both bodies, each component rounded up to a power of two.
    pub bound: FeelerStepBound,
    /// Index of the first contact of the pair in the array of `feeler_scene_tracked_contacts`.
    pub first_contact: u64,
    /// Number of contacts of the pair.
    pub contact_count: u64,
    /// Number of contacts that were dropped because of the option `max_contacts`.
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
            limited: pair.update.limited.into(),
            reserved: 0,
            depth,
            bound: FeelerStepBound::of(pair.tracker.bound().unwrap_or_default()),
            first_contact,
            contact_count: pair.tracker.contacts().len() as u64,
            dropped: pair.update.dropped as u64,
        }
    }
}

/// Records of the near pairs of a scene, found by the last call of [`feeler_scene_track`], sorted by
/// `bodies`, then `parts`.
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

/// Records of the contacts of all near pairs of a scene, in the order of [`tracked_pairs`].
#[must_use]
pub fn tracked_contacts(scene: &Scene) -> Vec<FeelerContact> {
    let mut contacts = Vec::new();
    for pair in scene.tracked() {
        contacts.extend(pair.contacts().map(|c| FeelerContact::from(&c)));
    }
    contacts
}

/// Finds the near pairs of the bodies at their current poses, and for each pair the contacts that
/// suffice for the next step of a simulator, in parallel. Two solids are near if their gap is at most
/// the option `reach` plus the distance that the motions of both bodies can close. `bounds[i]` limits
/// the motion of the body `ids[i]` in the step relative to the world: its rotation (rad) and the
/// displacement (mm) of any of its points. Bodies that are not listed do not move. `options` may be NULL
/// for the defaults; their dilations are added to those of the scene and its bodies. If the options
/// change, the cached contacts of all pairs are discarded. If the function returns
/// `FEELER_RESULT_QUERY`, the pairs whose queries failed are missing from the results.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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

/// Writes the near pairs of the last `feeler_scene_track` to `out`, sorted by `bodies`, then `parts`. A
/// near pair may have no contacts.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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

/// Writes the contacts of the near pairs to `out`, pair by pair in the order of
/// `feeler_scene_tracked_pairs`, by ascending id within a pair. Ids are unique within a pair; they start
/// again if the pair was not near for 64 calls. World coordinates are at the poses of the last
/// `feeler_scene_track`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_tracked_contacts(
    scene: *const FeelerScene,
    out: *mut FeelerContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        fill(tracked_contacts(shared(scene, "scene")?.unbroken()?).into_iter(), (out, capacity), count)
    })
}

/// Writes to `covers` whether the contacts of all near pairs suffice for the motion from the poses of
/// the last `feeler_scene_track` to the current poses of the bodies.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_covers(scene: *const FeelerScene, covers: *mut bool) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(covers, "covers", shared(scene, "scene")?.unbroken()?.covers().map_err(failed)?) })
}

/// Writes to `out` the counts of updates, jumps and other events, summed over all calls of
/// `feeler_scene_track` and all pairs of the scene.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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
