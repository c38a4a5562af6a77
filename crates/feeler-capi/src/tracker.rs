//! Contacts of a pair over the steps of a simulator.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pair::{FeelerVerdict, verdict_record};
use crate::pointer::{exclusive, fill, get_sized, hand_out, put, put_sized, shared, take_back};
use crate::record::{FeelerPose, feature_kind, pose};
use feeler::{
    ContactTracker, GapPrediction, P3, Pose, StepBound, StepContact, StepContactKind, TrackedStatus,
    TrackerCounts, TrackerOptions,
};

/// Contacts of two bodies, with numbers that last from step to step.
#[derive(Debug)]
pub struct FeelerTracker {
    tracker: ContactTracker,
    /// Poses of A and of B in the last update.
    poses: [Pose; 2],
    prediction: GapPrediction,
    /// An update has panicked, so that cached results are unreliable.
    broken: bool,
}

/// Bounds of the motion of B relative to A in one step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeelerStepBound {
    /// Relative rotation (rad).
    pub rotation: f64,
    /// Displacement (mm) of any point of B that can come into contact, in A's frame.
    pub displacement: f64,
}

/// Options of a tracker. `feeler_tracker_options_init` sets the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerTrackerOptions {
    /// `sizeof(FeelerTrackerOptions)`.
    pub struct_size: u32,
    /// Not read.
    pub reserved: u32,
    /// Gap (mm) up to which contacts are reported, beside those that the step can close; default 0.05.
    pub reach: f64,
    /// Depth (mm) down to which contacts are followed, as far as the walls of the bodies separate their
    /// sides; default infinite.
    pub max_depth: f64,
    /// Largest motion between two updates that continues a motion; a larger one is a jump. Default 0.1 rad
    /// and 1 mm.
    pub max_step: FeelerStepBound,
    /// Wanted error (mm) of a gap at the end of a step; default 1e-3.
    pub gap_error: f64,
    /// Largest number of contacts; those with the largest gaps are dropped, never a negative one. Default
    /// `UINT64_MAX`.
    pub max_contacts: u64,
    /// Dilation of A (mm), which gaps take into account.
    pub dilation_a: f64,
    /// Dilation of B (mm).
    pub dilation_b: f64,
}

/// Kind of a contact of a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerStepContactKind {
    /// A local minimum, or a corner of a conformal set.
    Strict = 0,
    /// A minimum with polars dilated by what the step can turn them.
    Quasi = 1,
    /// A point at fixed parameters of one of two nearly conformal features.
    Sample = 2,
    /// A quasi-minimum beyond a concave edge of a face.
    Extended = 3,
}

/// A contact of the set of a step, in millimetres. World coordinates are those of the last update.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerStepContact {
    /// Identity: increases from contact to contact of a tracker and is never assigned twice; fits a double.
    pub id: u64,
    /// Signed gap along the normal, less the dilations.
    pub gap: f64,
    /// Footpoint on A, world.
    pub point_a: [f64; 3],
    /// Footpoint on B, world.
    pub point_b: [f64; 3],
    /// Unit vector outward of A, world: B is pushed along it.
    pub normal: [f64; 3],
    /// Footpoint on A in A's own coordinates.
    pub local_a: [f64; 3],
    /// Footpoint on B in B's own coordinates.
    pub local_b: [f64; 3],
    /// The normal in A's own coordinates.
    pub local_normal: [f64; 3],
    /// First derivative of the gap by a twist of B at A's origin, in A's frame: translation (mm), then
    /// rotation (rad).
    pub gap_rate: [f64; 6],
    /// Smallest and largest normal curvature (1/mm) of A, positive where it bulges; infinite across an edge
    /// and at a vertex.
    pub curvature_a: [f64; 2],
    /// Smallest and largest normal curvature (1/mm) of B.
    pub curvature_b: [f64; 2],
    /// Feature of A: 0 a face, 1 an edge, 2 a vertex; index among these.
    pub feature_a: [u32; 2],
    /// Feature of B.
    pub feature_b: [u32; 2],
    /// Parameters of the footpoint on A: u and v of a face, t and 0 of an edge, zeros of a vertex.
    pub uv_a: [f64; 2],
    /// Parameters of the footpoint on B.
    pub uv_b: [f64; 2],
    /// Kind.
    pub kind: FeelerStepContactKind,
    /// Not 0: the step can close the gap, because the gap is at most the displacement of the bound. A solver
    /// needs these contacts only.
    pub is_active: u32,
}

/// Status of two bodies by the signed gaps of their contacts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerTrackedStatus {
    /// Every gap is above the tolerance.
    Separated = 0,
    /// The smallest gap is within the tolerance.
    Touching = 1,
    /// A contact is pressed.
    Pressed = 2,
    /// A contact is pressed deeper than the option `max_depth`; it is kept.
    Deep = 3,
    /// The verdict is interference, and no contact within the largest depth has a negative gap.
    Interfering = 4,
    /// There was no update, or the last one has failed.
    Unknown = 5,
}

/// Report of an update.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeelerTrackerUpdate {
    /// `sizeof(FeelerTrackerUpdate)`, set by the caller.
    pub struct_size: u32,
    /// Not 0: the motion since the last update was a jump, or there was no update; no contact continues.
    pub jumped: u8,
    /// Not 0: a verdict was computed.
    pub decided: u8,
    /// Reserved, 0.
    pub reserved: [u8; 2],
    /// Contacts that the option `max_contacts` dropped.
    pub dropped: u64,
}

/// Sums over all updates of a tracker.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeelerTrackerCounts {
    /// `sizeof(FeelerTrackerCounts)`, set by the caller.
    pub struct_size: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Updates.
    pub updates: u64,
    /// Updates after a jump, the first one included.
    pub jumps: u64,
    /// Verdicts that were computed.
    pub decisions: u64,
    /// Motions that the bound of the update before did not cover.
    pub uncovered: u64,
    /// Contacts that were dropped.
    pub dropped: u64,
}

#[expect(clippy::cast_possible_truncation, reason = "some ten numbers")]
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
    /// Status, and depth (mm) of the deepest contact of pressed bodies, else 0.
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

/// Writes the default options and their size.
///
/// # Safety
/// `options` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_options_init(options: *mut FeelerTrackerOptions) {
    if !options.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { options.write(FeelerTrackerOptions::new()) };
    }
}

/// Creates a tracker of the contacts of two bodies, for solvers that compute contacts once a step. `a` and
/// `b` may be the same body. NULL options mean the defaults.
///
/// # Safety
/// `a` and `b` are bodies; `options` is NULL or has the size given by its `struct_size`; `out` may be
/// written. Free the tracker by `feeler_tracker_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_new(
    a: *const FeelerBody,
    b: *const FeelerBody,
    options: *const FeelerTrackerOptions,
    out: *mut *mut FeelerTracker,
) -> FeelerResult {
    // SAFETY: by the caller's promise; any bytes are numbers.
    enter(|| unsafe {
        let (a, b) = (shared(a, "a")?.0.clone(), shared(b, "b")?.0.clone());
        let options = get_sized(options, FeelerTrackerOptions::new(), "options")?.read();
        options.check().map_err(Failure::of(FeelerResult::Query))?;
        let tracker = ContactTracker::new(a, b, options);
        let prediction = GapPrediction::default();
        hand_out(out, FeelerTracker { tracker, poses: [Pose::identity(); 2], prediction, broken: false })
    })
}

/// Frees a tracker; NULL does nothing.
///
/// # Safety
/// `tracker` is NULL or a tracker that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_free(tracker: *mut FeelerTracker) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(tracker);
        Ok(())
    });
}

/// Copies a tracker with its contacts, their numbers and its counts, for simulations that are saved and
/// restored. A verdict is available after the next update of the copy.
///
/// # Safety
/// No other thread changes `tracker`; `out` may be written. Free the copy by `feeler_tracker_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_clone(
    tracker: *const FeelerTracker,
    out: *mut *mut FeelerTracker,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let from = shared(tracker, "tracker")?;
        from.check()?;
        let (tracker, prediction) = (from.tracker.clone(), GapPrediction::default());
        hand_out(out, FeelerTracker { tracker, poses: from.poses, prediction, broken: false })
    })
}

/// Computes the contacts for a step from these poses that keeps the bound: a motion of B relative to A within
/// the bound that keeps each linear gap open ends with no gap below about minus `gap_error`.
/// `feeler_tracker_contacts` returns the contacts. NULL poses are identities; `report` may be NULL. An
/// error clears the contacts.
///
/// # Safety
/// No other thread uses `tracker`; poses are NULL or poses; `bound` is a bound; `report` is NULL or has the
/// size given by its `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_update(
    tracker: *mut FeelerTracker,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    bound: *const FeelerStepBound,
    report: *mut FeelerTrackerUpdate,
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

/// Computes the bound of the step from these poses, for engines that cannot query within a step: twice the
/// relative motion since the last update, plus the displacement `forced` (mm) that forces add in a step, such
/// as g·dt². The bound is at most `max_displacement` (mm) and the option `max_step`. The first step and a
/// step after a jump get `max_displacement`. The tracker does not change.
///
/// # Safety
/// No other thread changes `tracker`; poses are NULL or poses; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_expected_bound(
    tracker: *const FeelerTracker,
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

/// Returns through `out` whether the contacts suffice for the motion from the poses of the last update to
/// these; false if there was no update.
///
/// # Safety
/// No other thread changes `tracker`; poses are NULL or poses; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_covers(
    tracker: *const FeelerTracker,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    out: *mut bool,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let tracker = shared(tracker, "tracker")?;
        let (a, b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        put(out, "out", tracker.tracker.covers(&a, &b).map_err(Failure::of(FeelerResult::Query))?)
    })
}

/// Computes the motion of B relative to A since the last update; infinite if there was no update.
///
/// # Safety
/// No other thread changes `tracker`; poses are NULL or poses; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_motion_to(
    tracker: *const FeelerTracker,
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

/// Contacts of the last update by ascending number: writes up to `capacity` of them to `out` and their number
/// to `count`.
///
/// # Safety
/// No other thread changes `tracker`; `out` has room for `capacity` contacts; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_contacts(
    tracker: *const FeelerTracker,
    out: *mut FeelerStepContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { fill(shared(tracker, "tracker")?.records(), (out, capacity), count) })
}

/// Second derivatives of the gaps of the contacts of the last update, in the order of
/// `feeler_tracker_contacts`: writes up to `capacity` symmetric matrices H (6 × 6) to `out` and their number
/// to `count`. A twist ξ of B at A's origin, in A's frame (translation in mm, then rotation in rad),
/// changes the gap (mm) by `gap_rate`·ξ + ½ ξᵀHξ up to third order, where B's pose changes by the
/// exponential of the twist. NaN for a contact that is not isolated, such as a member of a conformal set.
///
/// # Safety
/// No other thread changes `tracker`; `out` has room for `capacity` matrices; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_gap_hessians(
    tracker: *const FeelerTracker,
    out: *mut [f64; 36],
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { fill(shared(tracker, "tracker")?.gap_hessians(), (out, capacity), count) })
}

/// Gaps (mm) of the contacts of the last update, in the order of `feeler_tracker_contacts`, at the end of the
/// step without that contact: writes up to `capacity` gaps to `out` and their number to `count`. For engines
/// whose contacts act only if they are closed: such an engine needs the contacts with a negative gap. The
/// bodies continue as in the last step or accelerate as in the last two; the smaller gap is returned.
///
/// `one_step_ago` and `two_steps_ago` are poses of B in A's frame. NULL means unknown here, not the identity;
/// without the first one the gaps are those of the last update. If `is_free`, no joints guide the bodies, and
/// the prediction includes rotations by impacts on the other contacts. The contacts do not change.
///
/// # Safety
/// No other thread uses `tracker`; poses are NULL or poses; `out` has room for `capacity` numbers; `count`
/// may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_predicted_gaps(
    tracker: *mut FeelerTracker,
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

/// Status of the last update. `depth`, which may be NULL, receives the depth (mm) of the deepest contact of
/// bodies with the status Pressed or Deep, else 0. For concave solids that is not the depth of penetration.
///
/// # Safety
/// No other thread changes `tracker`; `status` may be written; `depth` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_status(
    tracker: *const FeelerTracker,
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

/// Proven verdict at the poses of the last update, computed on demand. The status is `Unknown` if there was
/// no update or the last one has failed.
///
/// # Safety
/// No other thread uses `tracker`; `out` has the size given by its `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_verdict(
    tracker: *mut FeelerTracker,
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

/// Returns the sums over all updates.
///
/// # Safety
/// No other thread changes `tracker`; `out` has the size given by its `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_counts(
    tracker: *const FeelerTracker,
    out: *mut FeelerTrackerCounts,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let counts = shared(tracker, "tracker")?.tracker.counts();
        put_sized(out, FeelerTrackerCounts::of(counts), "out")
    })
}

/// Forgets the motion, for example if a simulation is set back: the next update searches anew. Numbers and
/// counts continue.
///
/// # Safety
/// No other thread uses `tracker`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_tracker_clear(tracker: *mut FeelerTracker) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        exclusive(tracker, "tracker")?.tracker.clear();
        Ok(())
    })
}

impl FeelerTracker {
    fn check(&self) -> Result<(), Failure> {
        if self.broken {
            return Err(Failure::new(FeelerResult::Panic, "broken by an earlier panic; free the tracker"));
        }
        Ok(())
    }

    fn update(
        &mut self,
        pose_a: Result<Pose, Failure>,
        pose_b: Result<Pose, Failure>,
        bound: FeelerStepBound,
    ) -> Result<FeelerTrackerUpdate, Failure> {
        let (pose_a, pose_b) = (pose_a?, pose_b?);
        self.check()?;
        self.broken = true;
        let updated = self.tracker.update(&pose_a, &pose_b, bound.read());
        self.broken = false;
        let updated = updated.map_err(Failure::of(FeelerResult::Query))?;
        self.poses = [pose_a, pose_b];
        Ok(FeelerTrackerUpdate {
            struct_size: 0,
            jumped: updated.jumped.into(),
            decided: updated.decided.into(),
            reserved: [0; 2],
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

    fn records(&self) -> impl ExactSizeIterator<Item = FeelerStepContact> {
        let contacts = if self.broken { &[] } else { self.tracker.contacts() };
        let displacement = self.tracker.bound().map_or(0.0, |bound| bound.displacement);
        let pose_ab = self.poses[0].inv_mul(&self.poses[1]);
        contacts.iter().map(move |c| FeelerStepContact::of(c, &self.poses, &pose_ab, displacement))
    }
}

/// Entries of the second derivative of the gap of a contact, as for `feeler_tracker_gap_hessians`.
#[must_use]
pub fn gap_hessian(tracker: &ContactTracker, contact: &StepContact) -> [f64; 36] {
    let hessian = tracker.gap_hessian(contact);
    hessian.map_or([f64::NAN; 36], |hessian| std::array::from_fn(|i| hessian[i]))
}

impl FeelerStepContact {
    /// Record of a contact at the poses of A and B, for a step with this displacement (mm).
    #[must_use]
    pub fn of(c: &StepContact, [pose_a, pose_b]: &[Pose; 2], pose_ab: &Pose, displacement: f64) -> Self {
        let world = |pose: &Pose, p: &P3| pose.transform_point(p).into();
        let [feature_a, feature_b] = c.features.map(|(kind, index)| [feature_kind(kind), index]);
        let [uv_a, uv_b] = c.uv;
        Self {
            id: c.id,
            gap: c.gap,
            point_a: world(pose_a, &c.local_a),
            point_b: world(pose_b, &c.local_b),
            normal: pose_a.transform_vector(&c.normal).into(),
            local_a: c.local_a.into(),
            local_b: c.local_b.into(),
            local_normal: c.normal.into(),
            gap_rate: c.gap_rate(pose_ab),
            curvature_a: c.curvature_a,
            curvature_b: c.curvature_b,
            feature_a,
            feature_b,
            uv_a,
            uv_b,
            kind: match c.kind {
                StepContactKind::Strict => FeelerStepContactKind::Strict,
                StepContactKind::Quasi => FeelerStepContactKind::Quasi,
                StepContactKind::Sample => FeelerStepContactKind::Sample,
                StepContactKind::Extended => FeelerStepContactKind::Extended,
            },
            is_active: u32::from(c.gap <= displacement),
        }
    }
}
