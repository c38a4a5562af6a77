//! Collision functions for the table of `MuJoCo`, which `feeler.mujoco` installs.
//!
//! `MuJoCo` calls a function of the table with the addresses of its model and data, and two geoms. If
//! both geoms are registered, their contacts are computed here, otherwise by the function that was in
//! the table before. Several threads may call at the same time, because there is a separate state for
//! each `mjData` and pair of geoms.

use crate::error::query;
use crate::model::Body;
use crate::pose;
use feeler::nalgebra::{Matrix3, Rotation3, Translation3, UnitQuaternion};
use feeler::{ContactTracker, GapPrediction, Pose, QueryError, StepBound, TrackedStatus, TrackerOptions, V3};
use pyo3::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_int, c_void};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Contact as `MuJoCo` expects it: `mjPreContact` in its header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct PreContact {
    dist: f64,
    pos: [f64; 3],
    normal: [f64; 3],
    tangent: [f64; 3],
}

/// Type of `mj_maxContact`, which returns the maximum number of contacts of two geoms.
type MaxContacts = unsafe extern "C" fn(*const c_void, i32, i32, i32) -> i32;

/// Type of the functions in `MuJoCo`'s table of collision functions, which has an entry for each two
/// types of geoms: `mjfCollision` in its header.
type Collision = unsafe extern "C" fn(*const c_void, *mut c_void, *mut PreContact, i32, i32, f64) -> i32;

/// Number of entries of `MuJoCo`'s table of collision functions that are replaced: mesh with mesh, mesh
/// with SDF, SDF with SDF.
const ENTRIES: usize = 3;

/// Length of a millimetre (m).
const METRES: f64 = 1e-3;

/// Time between two calls for the same geoms, in time steps, above which their motion counts as unknown.
/// Regular calls are one step apart. A value up to 1 would discard every motion; a value from 2 on would
/// accept skipped calls.
const MAX_PAUSE: f64 = 1.5;

/// Predicted depth (mm) at the end of the step above which an open contact is passed to `MuJoCo` as
/// closed. Larger values let impacts penetrate; smaller ones close contacts that only roll.
const IMPACT_DEPTH: f64 = 1e-3;

/// Distance (m) below the contact margin of the geoms with which an open contact is passed to `MuJoCo`
/// as closed, so that it exerts a force. Any positive value that is small compared with the depth of
/// resting contacts is suitable.
const CLOSED_DEPTH: f64 = 1e-12;

/// Acceleration for which the bound of a step is computed, as a multiple of gravity. It exceeds 1
/// because bodies push each other. With smaller values, more motions exceed their bounds; larger ones
/// increase the number of contacts.
const GRAVITY_FACTOR: f64 = 2.0;

/// Smallest acceleration (m/s²) for which the bound of a step is computed, for models with little or no
/// gravity. Smaller and larger values have the same effects as for [`GRAVITY_FACTOR`].
const MIN_ACCELERATION: f64 = 10.0;

/// Relative rotation (rad) between two calls above which the motion is a jump, after which all contacts
/// are new. Smaller values take fast rotations for jumps; with larger ones, contacts continue although
/// poses were set.
const MAX_ROTATION: f64 = 0.1;

/// Relative displacement (mm) between two calls above which the motion is a jump, unless the registered
/// largest displacement of a step is larger. Smaller and larger values have the same effects as for
/// [`MAX_ROTATION`].
const MAX_DISPLACEMENT: f64 = 1.0;

/// Minimum number of states (one for each pair of geoms of an `mjData`) at which those without a call for
/// [`IDLE_CALLS`] calls are dropped. Smaller values look for unused states more often; larger ones use
/// more memory.
const MANY_STATES: usize = 256;

/// Number of calls for other states after which a state counts as unused. Smaller values drop states of
/// bodies that are rarely near; larger ones use more memory.
const IDLE_CALLS: u64 = 100_000;

/// Offsets (bytes) of the fields of `mjData` (`time`, `positions`, `rotations`) and of `mjModel` that
/// are read.
#[derive(Clone, Copy, Debug, Default)]
struct Offsets {
    time: usize,
    positions: usize,
    rotations: usize,
    /// Offset of the time step in `mjModel`.
    step: usize,
    /// Offset of gravity in `mjModel`.
    gravity: usize,
}

/// Geom whose contacts are computed by this module.
#[derive(Clone, Debug)]
struct Geom {
    /// Name of the geom in messages.
    name: String,
    body: Arc<feeler::Body>,
    /// Pose (mm) of the solid in the geom's frame.
    frame: Pose,
    /// Whether no joint guides the body of the geom: it is fixed or has a free joint.
    is_free: bool,
}

/// Model with registered geoms, and counts of its calls.
#[derive(Debug)]
struct Registered {
    geoms: HashMap<i32, Geom>,
    /// Limit (mm) of the displacement in the bound of a step: contacts are complete only up to this
    /// motion.
    max_displacement: f64,
    /// Sum (m) of the gaps that the installation has added to the two geoms of a pair, so that `MuJoCo`
    /// calls the function before their boxes touch.
    gap: f64,
    depth: f64,
    /// Number of calls that failed, for example because a pose is not finite.
    failed: AtomicU64,
    /// Number of updates with interference that no contact explains, because it exceeds the largest depth.
    unexplained: AtomicU64,
    /// Number of updates of trackers.
    updates: AtomicU64,
    /// Number of steps whose motion exceeded the bound of the previous update.
    uncovered: AtomicU64,
    /// Number of contacts that were dropped because they exceed the maximum number of `MuJoCo`.
    dropped: AtomicU64,
    /// Pairs of geoms whose unexplained interference has been reported.
    reported: Mutex<HashSet<[i32; 2]>>,
}

#[derive(Debug, Default)]
struct Hooks {
    models: HashMap<usize, Arc<Registered>>,
    earlier: [Option<Collision>; ENTRIES],
    max_contacts: Option<MaxContacts>,
    offsets: Offsets,
}

/// Parameters of a call: address of `mjData`, numbers of two geoms, world poses of the geoms (mm), time
/// and time step (s), gravity, and the distance (m) up to which `MuJoCo` requests contacts.
#[derive(Clone, Copy, Debug)]
struct Request {
    data: usize,
    geoms: [i32; 2],
    poses: [Pose; 2],
    time: f64,
    step: f64,
    /// Magnitude of gravity (m/s²).
    gravity: f64,
    margin: f64,
}

/// State of a pair of geoms of one `mjData` between calls.
#[derive(Debug)]
struct State {
    tracker: ContactTracker,
    /// Model of the data. The data of another model may have the same address after these data were
    /// freed.
    registered: Arc<Registered>,
    time: f64,
    /// Pose of the second solid in the coordinates of the first one in the last call; `None` before the
    /// first call.
    now: Option<Pose>,
    /// Poses of the second solid in the coordinates of the first one, one and two steps before the last
    /// call; `None` if unknown, for example because poses were set.
    before: [Option<Pose>; 2],
    /// Relative motion of the solids in the last step; `None` if it is unknown.
    motion: Option<StepBound>,
    prediction: GapPrediction,
    /// Indices, among the contacts of the tracker, of those that are passed to `MuJoCo`.
    chosen: Vec<usize>,
}

/// Key of a state: address of `mjData`, and numbers of the two geoms.
type StateKey = (usize, i32, i32);

/// State with the number of its last call.
#[derive(Debug)]
struct Kept {
    last: u64,
    state: Arc<Mutex<State>>,
}

/// States of all `mjData`, and the number of calls.
#[derive(Debug)]
struct States {
    all: HashMap<StateKey, Kept>,
    calls: u64,
    /// Number of stored states at which the next new state causes unused ones to be dropped.
    many: usize,
}

static HOOKS: RwLock<Option<Hooks>> = RwLock::new(None);
static STATES: Mutex<Option<States>> = Mutex::new(None);
/// Warnings for Python that are not raised yet.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl State {
    fn new(registered: &Arc<Registered>, geoms: [i32; 2], time: f64) -> Self {
        let [a, b] = geoms.map(|g| registered.geoms[&g].body.clone());
        Self {
            tracker: ContactTracker::new(a, b, TrackerOptions::default()),
            registered: registered.clone(),
            time,
            now: None,
            before: [None; 2],
            motion: None,
            prediction: GapPrediction::default(),
            chosen: Vec::new(),
        }
    }

    /// Updates `now`, `before` and `motion` from the poses (mm) of the solids at `time` (s). `motion`
    /// becomes the relative motion of the solids since the last call, scaled to one time step of `step`
    /// (s). It predicts the next step, because the integrators of `MuJoCo` displace bodies by their
    /// velocities at the end of a step, and without forces the next step repeats this displacement. If
    /// the poses change but `time` does not, the motion is unknown.
    fn advance(&mut self, [pose_a, pose_b]: &[Pose; 2], time: f64, step: f64) -> Result<(), QueryError> {
        let pose = pose_a.inv_mul(pose_b);
        let elapsed = time - self.time;
        if elapsed > 0.0 {
            self.before = [self.now, self.before[0]];
            let made = self.tracker.motion_to(pose_a, pose_b)?;
            if let (Some(made), Some(bound)) = (&made, self.tracker.bound()) {
                let is_uncovered = !bound.contains(made);
                self.registered.uncovered.fetch_add(u64::from(is_uncovered), Ordering::Relaxed);
            }
            self.motion = made.map(|motion| motion.times(step / elapsed)).filter(StepBound::is_valid);
        } else if self.now.is_some_and(|now| now != pose) {
            // The time is the same: the poses were set, or this is an intermediate stage of an
            // integrator.
            (self.before, self.motion) = ([None; 2], None);
        }
        (self.time, self.now) = (time, Some(pose));
        Ok(())
    }

    /// Updates the motion and the tracker with the solids at `poses` (mm), so that the tracker has the
    /// contacts with gaps up to `margin` (mm).
    fn update(&mut self, poses: &[Pose; 2], request: &Request, margin: f64) -> Result<(), QueryError> {
        let registered = self.registered.clone();
        self.advance(poses, request.time, request.step)?;
        let farthest = registered.max_displacement;
        let max_step = StepBound { rotation: MAX_ROTATION, displacement: farthest.max(MAX_DISPLACEMENT) };
        let options = TrackerOptions {
            reach: margin.max(0.0),
            max_depth: registered.depth,
            max_step,
            ..TrackerOptions::default()
        };
        self.tracker.set_options(options);
        let acceleration = (GRAVITY_FACTOR * request.gravity).max(MIN_ACCELERATION);
        let forced = acceleration * request.step * request.step / METRES;
        // If the motion is unknown, the bound contains only the displacement by forces.
        let motion = self.motion.unwrap_or_default();
        let bound = self.tracker.bound_after(Some(motion), forced, farthest);
        let [pose_a, pose_b] = poses;
        self.tracker.update(pose_a, pose_b, bound)?;
        registered.updates.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Default for States {
    fn default() -> Self {
        Self { all: HashMap::new(), calls: 0, many: MANY_STATES }
    }
}

impl States {
    /// Returns the state of two geoms of one `mjData`, which is created at their first call. `MuJoCo`
    /// does not report that data are freed; therefore states without a call for a long time are dropped
    /// if there are many states. A later call starts with an unknown motion.
    fn get(&mut self, request: &Request, registered: &Arc<Registered>) -> Arc<Mutex<State>> {
        self.calls += 1;
        let Request { data, geoms, time, .. } = *request;
        let key = (data, geoms[0], geoms[1]);
        if let Some(kept) = self.all.get_mut(&key) {
            kept.last = self.calls;
            return kept.state.clone();
        }
        if self.all.len() >= self.many {
            self.all.retain(|_, kept| self.calls - kept.last <= IDLE_CALLS);
            self.many = MANY_STATES.max(2 * self.all.len());
        }
        let state = Arc::new(Mutex::new(State::new(registered, geoms, time)));
        self.all.insert(key, Kept { last: self.calls, state: state.clone() });
        state
    }
}

/// Computes the contacts of two geoms and writes them to `out`. It is the function for one entry of the
/// table.
///
/// # Safety
/// Only `MuJoCo` calls it, with the arguments of its interface.
unsafe extern "C" fn collide<const ENTRY: usize>(
    model: *const c_void,
    data: *mut c_void,
    out: *mut PreContact,
    g1: i32,
    g2: i32,
    margin: f64,
) -> i32 {
    let (registered, earlier, max_contacts, offsets) = {
        let hooks = HOOKS.read().unwrap_or_else(PoisonError::into_inner);
        let Some(hooks) = hooks.as_ref() else { return 0 };
        (
            hooks.models.get(&(model as usize)).cloned(),
            hooks.earlier[ENTRY],
            hooks.max_contacts,
            hooks.offsets,
        )
    };
    let ours = registered.filter(|r| r.geoms.contains_key(&g1) && r.geoms.contains_key(&g2));
    let Some(registered) = ours else {
        // SAFETY: the function that `MuJoCo` would have called itself.
        return earlier.map_or(0, |f| unsafe { f(model, data, out, g1, g2, margin) });
    };
    // SAFETY: the offsets were found in a model and data of the same version of `MuJoCo`, which are alive
    // during a call.
    let (time, step, gravity, poses) = unsafe {
        let time = *data.byte_add(offsets.time).cast::<f64>();
        let step = *model.byte_add(offsets.step).cast::<f64>();
        let gravity = *model.byte_add(offsets.gravity).cast::<[f64; 3]>();
        let rows = |offset: usize| *data.byte_add(offset).cast::<*const f64>();
        let (positions, rotations) = (rows(offsets.positions), rows(offsets.rotations));
        let pose = |g: i32| {
            let g = usize::try_from(g).unwrap_or(0);
            let p = std::slice::from_raw_parts(positions.add(3 * g), 3);
            let r = std::slice::from_raw_parts(rotations.add(9 * g), 9);
            world(p, r)
        };
        (time, step, gravity, [pose(g1), pose(g2)])
    };
    // The maximum is read in each call, because it depends on options of the model that may change
    // between steps.
    // SAFETY: a function of `MuJoCo`'s that only reads the model.
    let n = max_contacts.map_or(0, |number| unsafe { number(model, g1, g2, -1) });
    // SAFETY: `MuJoCo` provides this many contacts.
    let out = unsafe { std::slice::from_raw_parts_mut(out, usize::try_from(n).unwrap_or(0)) };
    let gravity = V3::from(gravity).norm();
    let request = Request { data: data as usize, geoms: [g1, g2], poses, time, step, gravity, margin };
    // A panic must not unwind into C. A state in which a panic occurred is not used again.
    let found = std::panic::catch_unwind(AssertUnwindSafe(|| contacts(&registered, &request, out)));
    let found = found.unwrap_or_else(|_| {
        registered.failed.fetch_add(1, Ordering::Relaxed);
        0
    });
    i32::try_from(found).unwrap_or(0)
}

/// World pose (mm) of a geom from its position (m) and its rotation matrix, row by row.
fn world(position: &[f64], rotation: &[f64]) -> Pose {
    let r = Rotation3::from_matrix_unchecked(Matrix3::from_row_slice(rotation));
    let t = Translation3::new(position[0], position[1], position[2]);
    let mut pose = Pose::from_parts(t, UnitQuaternion::from_rotation_matrix(&r));
    pose.translation.vector /= METRES;
    pose
}

/// Writes the contacts of two geoms to `out` and returns their number. If there are more than fit, the
/// deepest ones are written. Warm calls do not allocate.
fn contacts(registered: &Arc<Registered>, request: &Request, out: &mut [PreContact]) -> usize {
    let Request { geoms, poses, time, step, margin, .. } = *request;
    let state = {
        let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
        states.get_or_insert_default().get(request, registered)
    };
    let is_broken = state.is_poisoned();
    state.clear_poison();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let is_continued = state.time <= time && time <= state.time + MAX_PAUSE * step;
    if !is_continued || is_broken || !Arc::ptr_eq(&state.registered, registered) {
        // The state is replaced, because a new motion must not depend on the previous one.
        *state = State::new(registered, geoms, time);
    }
    let frames = geoms.map(|g| registered.geoms[&g].frame);
    // Poses are made relative to the first geom, because large coordinates of both would increase the
    // rounding.
    let offset = Translation3::from(poses[0].translation.vector);
    let poses = [0, 1].map(|k| offset.inverse() * poses[k] * frames[k]);
    // MuJoCo passes margin and gap as one number; contacts act below the margin without the added gap.
    let margin = margin - registered.gap;
    if state.update(&poses, request, margin / METRES).is_err() {
        registered.failed.fetch_add(1, Ordering::Relaxed);
        *state = State::new(registered, geoms, time);
        return 0;
    }
    let State { tracker, before, prediction, chosen, .. } = &mut *state;
    if tracker.status() == TrackedStatus::Interfering {
        registered.unexplained.fetch_add(1, Ordering::Relaxed);
        report_interference(registered, geoms, time);
    }
    let all = tracker.contacts();
    let is_free = geoms.iter().all(|g| registered.geoms[g].is_free);
    let ahead = prediction.gaps(tracker, [before[0].as_ref(), before[1].as_ref()], is_free);
    let closes = |k: usize| ahead[k] < -IMPACT_DEPTH;
    chosen.clear();
    chosen.extend((0..all.len()).filter(|&k| all[k].gap * METRES <= margin || closes(k)));
    if chosen.len() > out.len() {
        registered.dropped.fetch_add((chosen.len() - out.len()) as u64, Ordering::Relaxed);
        let worst = |k: usize| all[k].gap.min(ahead[k]);
        chosen.sort_unstable_by(|&x, &y| worst(x).total_cmp(&worst(y)).then(x.cmp(&y)));
        chosen.truncate(out.len());
        chosen.sort_unstable();
    }
    let [pose_a, pose_b] = poses;
    for (place, &k) in out.iter_mut().zip(chosen.iter()) {
        let c = &all[k];
        let middle = feeler::nalgebra::center(&(pose_a * c.local_a), &(pose_b * c.local_b));
        *place = PreContact {
            dist: if closes(k) { (c.gap * METRES).min(margin - CLOSED_DEPTH) } else { c.gap * METRES },
            pos: ((offset * middle) * METRES).into(),
            normal: (pose_a * c.local_normal).into(),
            tangent: [0.0; 3],
        };
    }
    chosen.len()
}

/// Adds a warning, once for each pair of geoms, that the geoms interfere and no contact pushes them
/// apart.
fn report_interference(registered: &Registered, geoms: [i32; 2], time: f64) {
    let is_new = registered.reported.lock().unwrap_or_else(PoisonError::into_inner).insert(geoms);
    if !is_new {
        return;
    }
    let [a, b] = geoms.map(|g| registered.geoms[&g].name.as_str());
    let (depth, time) = (registered.depth, (1e6 * time).round() / 1e6);
    let message = format!(
        "geoms {a} and {b} interfere at time {time} s and have no contact that pushes them apart, so they \
         pass through each other. Start them apart, or call feeler.mujoco.install with a larger depth (now \
         {depth} mm; the thickness of the parts limits it, too), or with a larger speed if they approach \
         each other faster than that (1 m/s by default). This is reported once for each pair of geoms; \
         feeler.mujoco.counts(model).unexplained is the number of all such updates"
    );
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    // The calling thread may lack the GIL while another one holds it and waits for this call, so that
    // Python is not entered here. SAFETY: may be called from any thread, with or without the GIL; the
    // function lives as long as the library. If the queue is full, the message is raised together with
    // the next one.
    unsafe { pyo3::ffi::Py_AddPendingCall(Some(give_messages), std::ptr::null_mut()) };
}

/// Raises the messages as warnings in Python. Returns -1 if Python turns a warning into an exception,
/// else 0.
extern "C" fn give_messages(_: *mut c_void) -> c_int {
    let messages = std::mem::take(&mut *MESSAGES.lock().unwrap_or_else(PoisonError::into_inner));
    let given = Python::attach(|py| {
        let category = py.import("feeler.mujoco")?.getattr("MujocoWarning")?;
        messages.iter().try_for_each(|message| {
            let message = CString::new(message.as_str()).unwrap_or_default();
            PyErr::warn(py, &category, &message, 1)
        })
    });
    match given {
        Ok(()) => 0,
        Err(e) => {
            Python::attach(|py| e.restore(py));
            -1
        }
    }
}

/// Addresses of the functions that replace the entries of the table.
#[pyfunction]
pub(crate) fn mujoco_functions() -> [usize; ENTRIES] {
    let functions: [Collision; ENTRIES] = [collide::<0>, collide::<1>, collide::<2>];
    functions.map(|f| f as usize)
}

/// Stores the previous entries of the table, the address of `mj_maxContact`, and offsets (bytes): of the
/// time and of the positions and rotations of geoms in `mjData`, then of the time step and of gravity in
/// `mjModel`.
#[pyfunction]
pub(crate) fn mujoco_begin(earlier: [usize; ENTRIES], max_contacts: usize, offsets: [usize; 5]) {
    let [time, positions, rotations, step, gravity] = offsets;
    // SAFETY: addresses that were read from the table, of the type in its header, or 0.
    let earlier = earlier.map(|f| unsafe { std::mem::transmute::<usize, Option<Collision>>(f) });
    // SAFETY: the address of `mj_maxContact`, of the type in its header, or 0.
    let max_contacts = unsafe { std::mem::transmute::<usize, Option<MaxContacts>>(max_contacts) };
    let mut hooks = HOOKS.write().unwrap_or_else(PoisonError::into_inner);
    let hooks = hooks.get_or_insert_default();
    hooks.earlier = earlier;
    hooks.max_contacts = max_contacts;
    hooks.offsets = Offsets { time, positions, rotations, step, gravity };
}

/// Number, name and solid of a geom, pose of the solid in the geom's frame, and whether no joint guides
/// the geom's body.
type GivenGeom<'py> = (i32, String, Py<Body>, Bound<'py, PyAny>, bool);

/// Registers geoms of the model at the address `model`, in place of those registered before. `gap` (m)
/// is the sum of the gaps that were added to the two geoms of a pair, and `depth` (mm) the largest depth
/// of contacts. `max_displacement` (mm) limits the bound of a step; `None` stands for `gap`, but at
/// least [`MAX_DISPLACEMENT`].
#[pyfunction]
pub(crate) fn mujoco_register(
    model: usize,
    geoms: Vec<GivenGeom<'_>>,
    max_displacement: Option<f64>,
    gap: f64,
    depth: f64,
) -> PyResult<()> {
    let max_displacement = max_displacement.unwrap_or((gap / METRES).max(MAX_DISPLACEMENT));
    let max_step = StepBound { rotation: MAX_ROTATION, displacement: max_displacement };
    TrackerOptions { max_depth: depth, max_step, ..TrackerOptions::default() }.check().map_err(query)?;
    let mut ours = HashMap::new();
    for (id, name, body, frame, is_free) in geoms {
        let frame = pose::read(Some(&frame))?;
        ours.insert(id, Geom { name, body: body.get().body.clone(), frame, is_free });
    }
    let mut hooks = HOOKS.write().unwrap_or_else(PoisonError::into_inner);
    let hooks = hooks.get_or_insert_default();
    let registered = Registered {
        geoms: ours,
        max_displacement,
        gap,
        depth,
        failed: AtomicU64::new(0),
        unexplained: AtomicU64::new(0),
        updates: AtomicU64::new(0),
        uncovered: AtomicU64::new(0),
        dropped: AtomicU64::new(0),
        reported: Mutex::default(),
    };
    if let Some(before) = hooks.models.insert(model, Arc::new(registered)) {
        drop_states(&before);
    }
    Ok(())
}

/// Removes a model and the states of its data. Returns the number of models that are still registered.
#[pyfunction]
pub(crate) fn mujoco_forget(model: usize) -> usize {
    let mut hooks = HOOKS.write().unwrap_or_else(PoisonError::into_inner);
    let hooks = hooks.get_or_insert_default();
    if let Some(gone) = hooks.models.remove(&model) {
        drop_states(&gone);
    }
    hooks.models.len()
}

fn drop_states(gone: &Arc<Registered>) {
    let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_other = |state: &Mutex<State>| {
        !Arc::ptr_eq(&state.lock().unwrap_or_else(PoisonError::into_inner).registered, gone)
    };
    states.get_or_insert_default().all.retain(|_, kept| is_other(&kept.state));
}

/// Number of stored states; there is one for each pair of geoms of each `mjData`.
#[pyfunction]
pub(crate) fn mujoco_states() -> usize {
    let states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    states.as_ref().map_or(0, |s| s.all.len())
}

/// Counts of calls for a model: failed calls, updates with unexplained interference, updates, uncovered
/// steps, and dropped contacts. `None` if the model is not registered.
#[pyfunction]
pub(crate) fn mujoco_counts(model: usize) -> Option<[u64; 5]> {
    let hooks = HOOKS.read().unwrap_or_else(PoisonError::into_inner);
    let r = hooks.as_ref()?.models.get(&model)?;
    let counts = [&r.failed, &r.unexplained, &r.updates, &r.uncovered, &r.dropped];
    Some(counts.map(|count| count.load(Ordering::Relaxed)))
}
