//! Trackers: contacts of a pair over the steps of a simulator.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pair::{FeelerVerdict, verdict_record};
use crate::pointer::{exclusive, fill, get_sized, hand_out, put, put_sized, shared, take_back};
use crate::record::{FeelerContact, FeelerPose, pose};
use feeler::{
    Contact, ContactTracker, GapPrediction, Pose, StepBound, TrackedStatus, TrackerCounts, TrackerOptions,
};

/// Contacts of two bodies, A and B, over the steps of a simulator, with ids that persist from step to
/// step.
#[derive(Debug)]
pub struct FeelerContactTracker {
    tracker: ContactTracker,
    prediction: GapPrediction,
    /// Whether an update or a verdict has panicked, so that the contacts are unreliable. The tracker
    /// then counts as having none, and further updates return
    /// [`FeelerResult::Panic`].
    broken: bool,
}

/// Upper bound of the motion of B relative to A in one step of a simulator.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeelerStepBound {
    /// Largest relative rotation (rad).
    pub rotation: f64,
    /// Largest displacement (mm) in A's frame of those points of B that can come into contact.
    pub displacement: f64,
}

/// Options of a tracker. Initialise them with `feeler_tracker_options_init`, then change members.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerTrackerOptions {
    /// `sizeof(FeelerTrackerOptions)`, set by the caller.
    pub struct_size: u32,
    /// Reserved, ignored.
    pub reserved: u32,
    /// Gap (mm) up to which contacts are reported even if the step cannot close them; default 0.05.
    pub reach: f64,
    /// Depth (mm) down to which contacts are tracked; default infinity. The `min_thickness` of the
    /// bodies (`FeelerBodyInfo`) limits it further, because both sides of a thin wall must be
    /// distinguished.
    pub max_depth: f64,
    /// Largest motion of B relative to A between two updates. A larger motion is a jump: all contacts
    /// get new ids. Default 0.1 rad and 1 mm.
    pub max_step: FeelerStepBound,
    /// Largest error (mm) of a linearised gap at the end of a step; default 1e-3. A two-hundredth of the
    /// step's `displacement` applies instead if it is larger.
    pub gap_error: f64,
    /// Maximum number of contacts. Contacts with the largest gaps are dropped first; contacts with
    /// negative gaps are never dropped. Default `UINT64_MAX`.
    pub max_contacts: u64,
    /// Implicit dilation of A (mm), subtracted from every gap; default 0.
    pub dilation_a: f64,
    /// Implicit dilation of B (mm), subtracted from every gap; default 0.
    pub dilation_b: f64,
}

/// Relation of two bodies according to the signed gaps of their minima (kinds strict and conformal), except
/// `Interfering`, which follows from a verdict.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerTrackedStatus {
    /// Every gap exceeds the tolerance, which is 1e-7 of the diagonal of the larger body's bounding box
    /// plus rounding.
    Separated = 0,
    /// The smallest gap is between minus the tolerance and the tolerance (see `Separated`).
    Touching = 1,
    /// The smallest gap is below minus the tolerance.
    Pressed = 2,
    /// The smallest gap is below minus the option `max_depth`, but its contact is still tracked. This occurs
    /// with dilations: they reduce gaps, but `max_depth` limits the depth of the bodies without them.
    Deep = 3,
    /// The verdict is interference, but no contact has a negative gap: the bodies penetrate each other
    /// more deeply than contacts are tracked.
    Interfering = 4,
    /// There was no update, or the last update failed.
    Unknown = 5,
}

/// Report of an update of a tracker, written by `feeler_contact_tracker_update`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeelerUpdate {
    /// `sizeof(FeelerUpdate)`, set by the caller.
    pub struct_size: u32,
    /// 1 if all contacts are new, because the motion since the previous update was a jump (`max_step` of
    /// `FeelerTrackerOptions`) or this is the first update; else 0.
    pub jumped: u8,
    /// 1 if the update computed a verdict, else 0.
    pub decided: u8,
    /// 1 if the set of contacts may be incomplete because of limits on the numbers of corners of a flat area
    /// and of samples of curved contacts, else 0. A step within the bound may then end deeper than
    /// guaranteed.
    pub limited: u8,
    /// Reserved, 0.
    pub reserved: u8,
    /// Number of contacts that were dropped because of the option `max_contacts`.
    pub dropped: u64,
}

/// Counts summed over all updates of a tracker, or of all trackers of a scene.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeelerTrackerCounts {
    /// `sizeof(FeelerTrackerCounts)`, set by the caller.
    pub struct_size: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Number of updates.
    pub updates: u64,
    /// Number of updates that found all contacts anew, because the motion was a jump (`max_step` of
    /// `FeelerTrackerOptions`) or there was no earlier update.
    pub jumps: u64,
    /// Number of verdicts that were computed.
    pub decisions: u64,
    /// Number of updates after a motion that exceeded the bound of the previous update.
    pub uncovered: u64,
    /// Number of contacts that were dropped because of the option `max_contacts`.
    pub dropped: u64,
    /// Number of updates whose set of contacts may be incomplete (`limited` of `FeelerUpdate`).
    pub limited: u64,
}

#[expect(clippy::cast_possible_truncation, reason = "less than 4096 bytes")]
const OPTIONS_SIZE: u32 = size_of::<FeelerTrackerOptions>() as u32;

impl FeelerStepBound {
    pub(crate) fn read(self) -> StepBound {
        StepBound { rotation: self.rotation, displacement: self.displacement }
    }

    pub(crate) fn of(bound: StepBound) -> Self {
        Self { rotation: bound.rotation, displacement: bound.displacement }
    }
}

impl FeelerTrackedStatus {
    /// Returns the record of a status, and the depth (mm) of the deepest contact, or 0 if the status has
    /// no depth.
    pub(crate) fn of(status: TrackedStatus) -> (Self, f64) {
        match status {
            TrackedStatus::Separated => (Self::Separated, 0.0),
            TrackedStatus::Touching => (Self::Touching, 0.0),
            TrackedStatus::Pressed(depth) => (Self::Pressed, depth),
            TrackedStatus::Deep(depth) => (Self::Deep, depth),
            TrackedStatus::Interfering => (Self::Interfering, 0.0),
        }
    }
}

impl FeelerTrackerCounts {
    pub(crate) fn of(c: TrackerCounts) -> Self {
        Self {
            struct_size: 0,
            reserved: 0,
            updates: c.updates,
            jumps: c.jumps,
            decisions: c.decisions,
            uncovered: c.uncovered,
            dropped: c.dropped,
            limited: c.limited,
        }
    }
}

impl FeelerTrackerOptions {
    pub(crate) fn new() -> Self {
        let d = TrackerOptions::default();
        Self {
            struct_size: OPTIONS_SIZE,
            reserved: 0,
            reach: d.reach,
            max_depth: d.max_depth,
            max_step: FeelerStepBound::of(d.max_step),
            gap_error: d.gap_error,
            max_contacts: u64::MAX,
            dilation_a: d.dilations[0],
            dilation_b: d.dilations[1],
        }
    }

    pub(crate) fn read(&self) -> TrackerOptions {
        TrackerOptions {
            reach: self.reach,
            max_depth: self.max_depth,
            max_step: self.max_step.read(),
            gap_error: self.gap_error,
            max_contacts: usize::try_from(self.max_contacts).unwrap_or(usize::MAX),
            dilations: [self.dilation_a, self.dilation_b],
        }
    }
}

/// Writes the default options, including `struct_size`, to `options`. NULL does nothing.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_options_init(options: *mut FeelerTrackerOptions) {
    if !options.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { options.write(FeelerTrackerOptions::new()) };
    }
}

/// Creates a tracker of the contacts of the bodies A (`a`) and B (`b`), which may be the same body, for
/// simulators that compute contacts once per step. `options` may be NULL for the defaults. Free the
/// tracker with `feeler_contact_tracker_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_new(
    a: *const FeelerBody,
    b: *const FeelerBody,
    options: *const FeelerTrackerOptions,
    out: *mut *mut FeelerContactTracker,
) -> FeelerResult {
    // SAFETY: by the caller's promise; any bytes are numbers.
    enter(|| unsafe {
        let (a, b) = (shared(a, "a")?.0.clone(), shared(b, "b")?.0.clone());
        let options = get_sized(options, FeelerTrackerOptions::new(), "options")?.read();
        options.check().map_err(Failure::of(FeelerResult::Query))?;
        let tracker = ContactTracker::new(a, b, options);
        let prediction = GapPrediction::default();
        hand_out(out, FeelerContactTracker { tracker, prediction, broken: false })
    })
}

/// Frees a tracker.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_free(tracker: *mut FeelerContactTracker) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(tracker);
        Ok(())
    });
}

/// Creates a copy of a tracker with its contacts, ids and counts, for simulations that are saved and
/// restored. A verdict of the copy is available after its next update. Free the copy with
/// `feeler_contact_tracker_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_clone(
    tracker: *const FeelerContactTracker,
    out: *mut *mut FeelerContactTracker,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let from = shared(tracker, "tracker")?;
        from.check()?;
        let (tracker, prediction) = (from.tracker.clone(), GapPrediction::default());
        hand_out(out, FeelerContactTracker { tracker, prediction, broken: false })
    })
}

/// Computes the contacts for a step that starts at `pose_a` and `pose_b` and whose motion stays within
/// `bound`. The contacts suffice: if such a motion of B relative to A keeps the linearised gap of every
/// contact nonnegative, no gap of the bodies at its end is below about minus the option `gap_error`.
/// `feeler_contact_tracker_contacts` returns the contacts. `report` may be NULL. After an error the
/// tracker has no contacts.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_update(
    tracker: *mut FeelerContactTracker,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    bound: *const FeelerStepBound,
    report: *mut FeelerUpdate,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = exclusive(tracker, "tracker")?;
        let poses = (pose(pose_a, "pose_a"), pose(pose_b, "pose_b"));
        let updated = shared(bound, "bound").and_then(|bound| tracker.update(poses.0, poses.1, *bound));
        let updated = updated.inspect_err(|_| tracker.tracker.clear())?;
        if report.is_null() { Ok(()) } else { put_sized(report, updated, "report") }
    })
}

/// Estimates the bound of the step that starts at `pose_a` and `pose_b`, for engines that cannot query
/// within a step, and writes it to `out`. The bound is twice the relative motion since the last update,
/// plus the displacement `forced` (mm) that forces cause in a step, for example g·dt². Its rotation is
/// at least the displacement divided by half the diagonal of the smaller body. The displacement is at
/// most `max_displacement` (mm), and the bound at most the option `max_step`. For the first step and
/// after a jump the displacement is `max_displacement`. The tracker does not change.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_expected_bound(
    tracker: *const FeelerContactTracker,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    forced: f64,
    max_displacement: f64,
    out: *mut FeelerStepBound,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = shared(tracker, "tracker")?;
        let (a, b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        let bound = tracker.tracker.expected_bound(&a, &b, forced, max_displacement);
        put(out, "out", FeelerStepBound::of(bound.map_err(Failure::of(FeelerResult::Query))?))
    })
}

/// Writes to `covers` whether the contacts suffice for the motion from the poses of the last update to
/// `pose_a` and `pose_b`, that is whether the motion stays within the bound of that update. False if
/// there was no update.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_covers(
    tracker: *const FeelerContactTracker,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    covers: *mut bool,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = shared(tracker, "tracker")?;
        let (a, b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        put(covers, "covers", tracker.tracker.covers(&a, &b).map_err(Failure::of(FeelerResult::Query))?)
    })
}

/// Writes to `out` the motion of B relative to A from the poses of the last update to `pose_a` and
/// `pose_b`; infinity if there was no update.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_motion_to(
    tracker: *const FeelerContactTracker,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    out: *mut FeelerStepBound,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = shared(tracker, "tracker")?;
        let (a, b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        let motion = tracker.tracker.motion_to(&a, &b).map_err(Failure::of(FeelerResult::Query))?;
        let unknown = FeelerStepBound { rotation: f64::INFINITY, displacement: f64::INFINITY };
        put(out, "out", motion.map_or(unknown, FeelerStepBound::of))
    })
}

/// Writes the contacts of the last update to `out`, by ascending id.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_contacts(
    tracker: *const FeelerContactTracker,
    out: *mut FeelerContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { fill(shared(tracker, "tracker")?.records(), (out, capacity), count) })
}

/// Writes the second derivative of the gap of each contact to `out`, in the order of
/// `feeler_contact_tracker_contacts`: the 36 entries of a symmetric 6 × 6 matrix H. A twist ξ of B at
/// A's origin, in A's frame (translation in mm, then rotation in rad), changes the gap (mm) by
/// `gap_rate`·ξ + ½ ξᵀHξ up to third order, if B's pose changes by the exponential of the twist. All
/// entries are NaN for a contact that is not isolated, for example a member of a conformal set.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_gap_hessians(
    tracker: *const FeelerContactTracker,
    out: *mut [f64; 36],
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { fill(shared(tracker, "tracker")?.gap_hessians(), (out, capacity), count) })
}

/// Writes the gap (mm) of each contact predicted for the end of the next step to `out`, in the order of
/// `feeler_contact_tracker_contacts`, as if that contact exerted no force. Engines whose contacts act
/// only when closed need the contacts with negative predicted gaps. The gap is the smaller one of two
/// predictions: one repeats the displacement of the last step, the other also repeats its change from the
/// step before.
///
/// `one_step_ago` and `two_steps_ago` are poses of B in A's frame before the last step and before the
/// step that preceded it. Here NULL means unknown, not the identity. If `one_step_ago` is NULL, the gaps
/// are those of the last update; if `two_steps_ago` is NULL, only the first prediction is made. `is_free`
/// states that no joints guide the bodies; then an impact at one contact rotates the bodies, which can
/// reduce the predicted gaps of the others. The contacts do not change.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_predicted_gaps(
    tracker: *mut FeelerContactTracker,
    one_step_ago: *const FeelerPose,
    two_steps_ago: *const FeelerPose,
    is_free: bool,
    out: *mut f64,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = exclusive(tracker, "tracker")?;
        tracker.check()?;
        let known = |pointer: *const FeelerPose, name: &str| {
            if pointer.is_null() { Ok(None) } else { pose(pointer, name).map(Some) }
        };
        let before = [known(one_step_ago, "one_step_ago")?, known(two_steps_ago, "two_steps_ago")?];
        let before = before.each_ref().map(Option::as_ref);
        let gaps = tracker.prediction.gaps(&tracker.tracker, before, is_free);
        fill(gaps.iter().copied(), (out, capacity), count)
    })
}

/// Writes the status of the last update to `status`, and to `depth` the depth (mm) of the deepest
/// contact if the status is `FEELER_TRACKED_STATUS_PRESSED` or `FEELER_TRACKED_STATUS_DEEP`, else 0. For
/// concave solids the depth of a contact is not the penetration depth. `depth` may be NULL.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_status(
    tracker: *const FeelerContactTracker,
    status: *mut FeelerTrackedStatus,
    depth: *mut f64,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let (found, deepest) = shared(tracker, "tracker")?.status();
        put(status, "status", found)?;
        if depth.is_null() { Ok(()) } else { put(depth, "depth", deepest) }
    })
}

/// Computes the verdict, with its proof, at the poses of the last update and writes it to `out`. The
/// status is `FEELER_STATUS_UNKNOWN` if there was no update or the last one failed.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_verdict(
    tracker: *mut FeelerContactTracker,
    out: *mut FeelerVerdict,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = exclusive(tracker, "tracker")?;
        tracker.check()?;
        let distance = tracker.tracker.min_distance().unwrap_or(f64::INFINITY);
        let tolerance = tracker.tracker.tolerances().tol;
        tracker.broken = true;
        let verdict = verdict_record(tracker.tracker.verdict(), distance, tolerance, 0);
        tracker.broken = false;
        put_sized(out, verdict, "out")
    })
}

/// Writes the counts over all updates of a tracker to `out`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_counts(
    tracker: *const FeelerContactTracker,
    out: *mut FeelerTrackerCounts,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let counts = shared(tracker, "tracker")?.tracker.counts();
        put_sized(out, FeelerTrackerCounts::of(counts), "out")
    })
}

/// Discards the contacts and the poses of the last update, for example if a simulation is reset. The
/// next update finds all contacts anew. Ids and counts continue.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_tracker_clear(tracker: *mut FeelerContactTracker) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        exclusive(tracker, "tracker")?.tracker.clear();
        Ok(())
    })
}

impl FeelerContactTracker {
    fn check(&self) -> Result<(), Failure> {
        if self.broken {
            return Err(Failure::new(
                FeelerResult::Panic,
                "an earlier call of this tracker has panicked: free the tracker",
            ));
        }
        Ok(())
    }

    fn update(
        &mut self,
        pose_a: Result<Pose, Failure>,
        pose_b: Result<Pose, Failure>,
        bound: FeelerStepBound,
    ) -> Result<FeelerUpdate, Failure> {
        let (pose_a, pose_b) = (pose_a?, pose_b?);
        self.check()?;
        self.broken = true;
        let updated = self.tracker.update(&pose_a, &pose_b, bound.read());
        self.broken = false;
        let updated = updated.map_err(Failure::of(FeelerResult::Query))?;
        Ok(FeelerUpdate {
            struct_size: 0,
            jumped: updated.jumped.into(),
            decided: updated.decided.into(),
            limited: updated.limited.into(),
            reserved: 0,
            dropped: updated.dropped as u64,
        })
    }

    fn status(&self) -> (FeelerTrackedStatus, f64) {
        if self.broken || self.tracker.bound().is_none() {
            return (FeelerTrackedStatus::Unknown, 0.0);
        }
        FeelerTrackedStatus::of(self.tracker.status())
    }

    fn gap_hessians(&self) -> impl ExactSizeIterator<Item = [f64; 36]> {
        let contacts = if self.broken { &[] } else { self.tracker.contacts() };
        contacts.iter().map(|c| gap_hessian(&self.tracker, c))
    }

    fn records(&self) -> impl ExactSizeIterator<Item = FeelerContact> {
        let contacts = if self.broken { &[] } else { self.tracker.contacts() };
        contacts.iter().map(FeelerContact::from)
    }
}

/// Entries of the second derivative of the gap of a contact, as written by
/// [`feeler_contact_tracker_gap_hessians`].
#[must_use]
pub fn gap_hessian(tracker: &ContactTracker, contact: &Contact) -> [f64; 36] {
    let hessian = tracker.gap_hessian(contact);
    hessian.map_or([f64::NAN; 36], |hessian| std::array::from_fn(|i| hessian[i]))
}
