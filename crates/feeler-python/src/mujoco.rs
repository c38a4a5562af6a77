//! Contacts for the table of collision functions of `MuJoCo`: what `feeler.mujoco` installs.
//!
//! `MuJoCo` calls a function of the table with the addresses of its model and data. Where both geoms are ours
//! it is answered here, else by the function that stood in the table before. Threads may call at once: states
//! are kept by data and geoms.

use crate::error::query;
use crate::model::Body;
use crate::pose;
use feeler::nalgebra::{Matrix3, Rotation3, Translation3, UnitQuaternion};
use feeler::{ContactPair, LastingContacts, Pose};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// `mjPreContact`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct PreContact {
    dist: f64,
    pos: [f64; 3],
    normal: [f64; 3],
    tangent: [f64; 3],
}

/// `mjfCollision`.
type Collision = unsafe extern "C" fn(*const c_void, *mut c_void, *mut PreContact, i32, i32, f64) -> i32;

/// Entries of the table that are ours: mesh with mesh, mesh with SDF, SDF with SDF.
const ENTRIES: usize = 3;

/// A millimetre in `MuJoCo`'s lengths.
const METRES: f64 = 1e-3;

/// Where `mjData` keeps what is read of it (bytes).
#[derive(Clone, Copy, Debug, Default)]
struct Offsets {
    time: usize,
    positions: usize,
    rotations: usize,
}

/// A geom of ours.
#[derive(Clone, Debug)]
struct Geom {
    body: Arc<feeler::Body>,
    /// From the solid's coordinates to the geom's (mm).
    frame: Pose,
}

/// What is known of a model.
#[derive(Debug)]
struct Registered {
    geoms: HashMap<i32, Geom>,
    /// Contacts that `MuJoCo` has room for.
    room: HashMap<(i32, i32), usize>,
    reach: f64,
    depth: f64,
}

#[derive(Debug, Default)]
struct Hooks {
    models: HashMap<usize, Arc<Registered>>,
    earlier: [Option<Collision>; ENTRIES],
    offsets: Offsets,
}

/// Of two geoms of one `mjData`.
#[derive(Debug)]
struct State {
    pair: ContactPair,
    lasting: LastingContacts,
    /// Of the model: another one may be given the address of an old one's data.
    registered: Arc<Registered>,
    time: f64,
}

type States = HashMap<(usize, i32, i32), Arc<Mutex<State>>>;

static HOOKS: RwLock<Option<Hooks>> = RwLock::new(None);
static STATES: Mutex<Option<States>> = Mutex::new(None);

/// Answers for one entry of the table.
///
/// # Safety
/// Called by `MuJoCo` only, with what its interface says.
unsafe extern "C" fn collide<const ENTRY: usize>(
    model: *const c_void,
    data: *mut c_void,
    out: *mut PreContact,
    g1: i32,
    g2: i32,
    margin: f64,
) -> i32 {
    let (registered, earlier, offsets) = {
        let hooks = HOOKS.read().unwrap_or_else(PoisonError::into_inner);
        let Some(hooks) = hooks.as_ref() else { return 0 };
        (hooks.models.get(&(model as usize)).cloned(), hooks.earlier[ENTRY], hooks.offsets)
    };
    let ours = registered.filter(|r| r.geoms.contains_key(&g1) && r.geoms.contains_key(&g2));
    let Some(registered) = ours else {
        // SAFETY: the function that `MuJoCo` would have called itself.
        return earlier.map_or(0, |f| unsafe { f(model, data, out, g1, g2, margin) });
    };
    // SAFETY: the offsets were found in data of the same version of `MuJoCo`; `data` is alive during a call.
    let (time, poses) = unsafe {
        let time = *data.byte_add(offsets.time).cast::<f64>();
        let rows = |offset: usize| *data.byte_add(offset).cast::<*const f64>();
        let (positions, rotations) = (rows(offsets.positions), rows(offsets.rotations));
        let pose = |g: i32| {
            let g = usize::try_from(g).unwrap_or(0);
            let p = std::slice::from_raw_parts(positions.add(3 * g), 3);
            let r = std::slice::from_raw_parts(rotations.add(9 * g), 9);
            world(p, r)
        };
        (time, [pose(g1), pose(g2)])
    };
    let room = registered.room.get(&(g1, g2)).copied().unwrap_or(1);
    // A panic must not cross into C.
    let answer = std::panic::catch_unwind(|| {
        contacts(&registered, data as usize, [g1, g2], poses, time, margin, room)
    });
    let found = answer.unwrap_or_default();
    // SAFETY: `MuJoCo` keeps that much room, which it was asked for when this was installed.
    let out = unsafe { std::slice::from_raw_parts_mut(out, room) };
    out[..found.len()].copy_from_slice(&found);
    i32::try_from(found.len()).unwrap_or(0)
}

/// A geom's pose (mm).
fn world(position: &[f64], rotation: &[f64]) -> Pose {
    let r = Rotation3::from_matrix_unchecked(Matrix3::from_row_slice(rotation));
    let t = Translation3::new(position[0], position[1], position[2]);
    let mut pose = Pose::from_parts(t, UnitQuaternion::from_rotation_matrix(&r));
    pose.translation.vector /= METRES;
    pose
}

fn contacts(
    registered: &Arc<Registered>,
    data: usize,
    geoms: [i32; 2],
    poses: [Pose; 2],
    time: f64,
    margin: f64,
    room: usize,
) -> Vec<PreContact> {
    let [a, b] = geoms.map(|g| &registered.geoms[&g]);
    let fresh = || State {
        pair: ContactPair::new(a.body.clone(), b.body.clone()),
        lasting: LastingContacts::new(a.body.size().min(b.body.size())),
        registered: registered.clone(),
        time,
    };
    let state = {
        let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (data, geoms[0], geoms[1]);
        states.get_or_insert_default().entry(key).or_insert_with(|| Arc::new(Mutex::new(fresh()))).clone()
    };
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    if time < state.time || !Arc::ptr_eq(&state.registered, registered) {
        // Another motion has begun: it must not depend on the last one.
        *state = fresh();
    }
    let State { pair, lasting, time: last, .. } = &mut *state;
    *last = time;
    let [pose_a, pose_b] = [(a, poses[0]), (b, poses[1])].map(|(g, pose)| pose * g.frame);
    let reach = (margin / METRES).max(registered.reach);
    if lasting.ask(pair, &pose_a, &pose_b, reach, registered.depth).is_err() {
        return Vec::new();
    }
    let mut near: Vec<_> = lasting.contacts().iter().filter(|c| c.gap * METRES <= margin).collect();
    if near.len() > room {
        near.sort_by(|x, y| x.gap.total_cmp(&y.gap).then(x.number.cmp(&y.number)));
        near.truncate(room);
        near.sort_by_key(|c| c.number);
    }
    near.into_iter()
        .map(|c| {
            let (p, q) = (pose_a * c.local_a, pose_b * c.local_b);
            let middle = feeler::nalgebra::center(&p, &q) * METRES;
            PreContact {
                dist: c.gap * METRES,
                pos: middle.into(),
                normal: (pose_a * c.normal).into(),
                tangent: [0.0; 3],
            }
        })
        .collect()
}

/// Addresses of the functions for the entries of the table.
#[pyfunction]
pub(crate) fn mujoco_functions() -> [usize; ENTRIES] {
    let functions: [Collision; ENTRIES] = [collide::<0>, collide::<1>, collide::<2>];
    functions.map(|f| f as usize)
}

/// Says what stood in the table, and where `mjData` keeps its time, positions and rotations of geoms.
#[pyfunction]
pub(crate) fn mujoco_begin(earlier: [usize; ENTRIES], offsets: [usize; 3]) {
    let [time, positions, rotations] = offsets;
    // SAFETY: addresses that were read from the table, of the type that its header tells; 0 is none.
    let earlier = earlier.map(|f| unsafe { std::mem::transmute::<usize, Option<Collision>>(f) });
    let mut hooks = HOOKS.write().unwrap_or_else(PoisonError::into_inner);
    let hooks = hooks.get_or_insert_default();
    hooks.earlier = earlier;
    hooks.offsets = Offsets { time, positions, rotations };
}

/// Registers geoms of a model: number, body and frame of each, and the room for contacts of pairs.
#[pyfunction]
pub(crate) fn mujoco_register(
    model: usize,
    geoms: Vec<(i32, Py<Body>, Bound<'_, PyAny>)>,
    room: HashMap<(i32, i32), usize>,
    reach: f64,
    depth: f64,
) -> PyResult<()> {
    feeler::QueryOptions { penetration: depth, ..feeler::QueryOptions::within(reach) }
        .check()
        .map_err(query)?;
    let mut ours = HashMap::new();
    for (id, body, frame) in geoms {
        let frame = pose::read(Some(&frame))?;
        ours.insert(id, Geom { body: body.get().body.clone(), frame });
    }
    let mut hooks = HOOKS.write().unwrap_or_else(PoisonError::into_inner);
    let hooks = hooks.get_or_insert_default();
    hooks.models.insert(model, Arc::new(Registered { geoms: ours, room, reach, depth }));
    Ok(())
}

/// Forgets a model, and the states of its data. How many are left.
#[pyfunction]
pub(crate) fn mujoco_forget(model: usize) -> usize {
    let mut hooks = HOOKS.write().unwrap_or_else(PoisonError::into_inner);
    let hooks = hooks.get_or_insert_default();
    if let Some(gone) = hooks.models.remove(&model) {
        let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = |s: &Arc<Mutex<State>>| {
            !Arc::ptr_eq(&s.lock().unwrap_or_else(PoisonError::into_inner).registered, &gone)
        };
        states.get_or_insert_default().retain(|_, s| is_other(s));
    }
    hooks.models.len()
}
