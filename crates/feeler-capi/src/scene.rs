//! Scenes of many bodies.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::model::FeelerModel;
use crate::pointer::{array, exclusive, fill, hand_out, put, shared, take_back};
use crate::record::{
    FeelerContact, FeelerPose, FeelerQueryOptions, FeelerStatus, options as read_options, pose as read_pose,
};
use feeler::{BodyId, BodyOptions, ContactEvent, EventKind, PairOptions, Scene, SceneContact, SceneError};

/// Scene: many bodies, which may move, and the contacts of near pairs of them.
#[derive(Debug)]
pub struct FeelerScene {
    scene: Scene,
    /// Whether a call has panicked, so that the cached results are unreliable; further calls return
    /// [`FeelerResult::Panic`].
    broken: bool,
}

/// Contact of two bodies of a scene.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerSceneContact {
    /// Ids of the bodies, ascending. The first body is A of `contact`, the second one B.
    pub bodies: [u32; 2],
    /// Indices of the solids in the two bodies; 0 unless the body is a compound.
    pub parts: [u32; 2],
    /// Local minimum of the distance between the two solids.
    pub contact: FeelerContact,
}

/// Change of a contact in an update.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerEventKind {
    /// The contact did not exist in the previous update.
    Began = 0,
    /// The contact existed in the previous update and still exists.
    Persisted = 1,
    /// The contact existed in the previous update only.
    Ended = 2,
}

/// Event of a contact in an update of a scene.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeelerContactEvent {
    /// Ids of the bodies of the contact, ascending.
    pub bodies: [u32; 2],
    /// Indices of the solids in the two bodies.
    pub parts: [u32; 2],
    /// Id of the contact in its pair of solids (`id` of `FeelerContact`).
    pub id: u64,
    /// Index of the contact in the array of `feeler_scene_contacts`; -1 if the contact has ended.
    pub contact: i64,
    /// Whether the contact has begun, persisted or ended.
    pub kind: FeelerEventKind,
    /// Reserved, 0.
    pub reserved: u32,
}

impl From<&SceneContact> for FeelerSceneContact {
    fn from(c: &SceneContact) -> Self {
        Self { bodies: c.bodies.map(|b| b.0), parts: c.parts, contact: (&c.contact).into() }
    }
}

impl From<&ContactEvent> for FeelerContactEvent {
    fn from(e: &ContactEvent) -> Self {
        Self {
            bodies: e.bodies.map(|b| b.0),
            parts: e.parts,
            id: e.id,
            contact: e.contact.and_then(|i| i64::try_from(i).ok()).unwrap_or(-1),
            kind: match e.kind {
                EventKind::Began => FeelerEventKind::Began,
                EventKind::Persisted => FeelerEventKind::Persisted,
                EventKind::Ended => FeelerEventKind::Ended,
            },
            reserved: 0,
        }
    }
}

pub(crate) fn failed(e: SceneError) -> Failure {
    let result = match e {
        SceneError::Query { .. } | SceneError::Options(_) | SceneError::DMax(_) | SceneError::Dilation(_) => {
            FeelerResult::Query
        }
        SceneError::Body(_) | SceneError::Empty(_) => FeelerResult::Body,
        _ => FeelerResult::Scene,
    };
    Failure::new(result, e)
}

impl FeelerScene {
    /// Returns the scene, or an error if an earlier call of this scene has panicked.
    pub(crate) fn unbroken(&self) -> Result<&Scene, Failure> {
        if self.broken { Err(broken()) } else { Ok(&self.scene) }
    }
}

fn broken() -> Failure {
    Failure::new(FeelerResult::Panic, "an earlier call of this scene has panicked: free the scene")
}

/// Calls `body` with the scene and returns its result. If an earlier call of this scene has panicked,
/// `body` is not called and the result is [`FeelerResult::Panic`].
///
/// # Safety
/// `scene` is NULL or a scene that no other thread uses.
pub(crate) unsafe fn with(
    scene: *mut FeelerScene,
    body: impl FnOnce(&mut Scene) -> Result<(), Failure>,
) -> FeelerResult {
    enter(|| {
        // SAFETY: by the caller's promise.
        let scene = unsafe { exclusive(scene, "scene") }?;
        if std::mem::replace(&mut scene.broken, true) {
            return Err(broken());
        }
        let done = body(&mut scene.scene);
        scene.broken = false;
        done
    })
}

/// Creates an empty scene, whose queries use `options` (NULL: the defaults). Here the option `d_max`
/// limits the gap, that is the distance minus both dilations, and must be finite. Free the scene with
/// `feeler_scene_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_new(
    options: *const FeelerQueryOptions,
    out: *mut *mut FeelerScene,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        hand_out(
            out,
            FeelerScene { scene: Scene::new(read_options(options)?).map_err(failed)?, broken: false },
        )
    })
}

/// Frees a scene.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_free(scene: *mut FeelerScene) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(scene);
        Ok(())
    });
}

/// Adds a body, whose coordinates `pose` maps to the world (NULL: identity), and writes its id to `id`.
/// Ids are never reused, not even after `feeler_scene_remove`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_add(
    scene: *mut FeelerScene,
    body: *const FeelerBody,
    pose: *const FeelerPose,
    id: *mut u32,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { feeler_scene_add_compound(scene, &raw const body, std::ptr::null(), 1, pose, id) }
}

/// Adds one body of `n` solids that move together (a compound), and writes its id to `id`. `poses[i]`
/// maps the coordinates of the solid `bodies[i]` to those of the compound; NULL stands for `n`
/// identities. `pose` maps the coordinates of the compound to the world (NULL: identity).
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_add_compound(
    scene: *mut FeelerScene,
    bodies: *const *const FeelerBody,
    poses: *const FeelerPose,
    n: usize,
    pose: *const FeelerPose,
    id: *mut u32,
) -> FeelerResult {
    let added = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe {
            let bodies = array(bodies, n, "bodies")?;
            let parts = bodies.iter().enumerate().map(|(i, body)| {
                let part_pose = if poses.is_null() { poses } else { poses.add(i) };
                Ok((shared(*body, "body")?.0.clone(), read_pose(part_pose, &format!("poses[{i}]"))?))
            });
            let parts = parts.collect::<Result<Vec<_>, Failure>>()?;
            if id.is_null() {
                return Err(Failure::argument("id is NULL"));
            }
            put(id, "id", scene.add_compound(parts, read_pose(pose, "pose")?).map_err(failed)?.0)
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, added) }
}

/// Adds each instance of a model as a body, at its pose in the model, and writes the ids to `out`.
/// `feeler_model_instance_count` returns the number of ids in advance.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_add_model(
    scene: *mut FeelerScene,
    model: *const FeelerModel,
    out: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    let added = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe {
            let added = scene.add_model(&shared(model, "model")?.model).map_err(failed)?;
            fill(added.into_iter().map(|id| id.0), (out, capacity), count)
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, added) }
}

/// Removes a body. The contacts of the body end in the next update.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_remove(scene: *mut FeelerScene, id: u32) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |scene| scene.remove(BodyId(id)).map_err(failed)) }
}

/// Sets the poses of `n` bodies for the next update. If an id or a pose is invalid, the bodies before it
/// in the arrays get their poses, the others do not.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_set_poses(
    scene: *mut FeelerScene,
    ids: *const u32,
    poses: *const FeelerPose,
    n: usize,
) -> FeelerResult {
    let placed = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let (ids, poses) = unsafe { (array(ids, n, "ids")?, array(poses, n, "poses")?) };
        ids.iter().zip(poses).try_for_each(|(id, pose)| {
            let pose = pose
                .read()
                .map_err(|e| Failure::new(FeelerResult::Query, format!("pose of body {id}: {e}")))?;
            scene.set_pose(BodyId(*id), pose).map_err(failed)
        })
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, placed) }
}

/// Writes the pose of a body to `out`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_pose(
    scene: *const FeelerScene,
    id: u32,
    out: *mut FeelerPose,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pose = shared(scene, "scene")?.scene.pose(BodyId(id)).map_err(failed)?;
        put(out, "out", pose.into())
    })
}

/// Sets options of all pairs of a body. `d_max`: largest gap (mm) of reported contacts, negative for the
/// value of the scene; the larger of both bodies' values applies to a pair. `dilation` (mm): implicit
/// dilation of the body, added to the one in the options of the scene. `fixed`: the body never moves;
/// pairs of fixed bodies are skipped.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_set_body_options(
    scene: *mut FeelerScene,
    id: u32,
    d_max: f64,
    dilation: f64,
    fixed: bool,
) -> FeelerResult {
    let options = BodyOptions { d_max: unless_negative(d_max), dilation, fixed };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |scene| scene.set_body_options(BodyId(id), options).map_err(failed)) }
}

/// Sets options of a pair of bodies, which replace the options of the two bodies. `d_max`: largest gap
/// (mm) of reported contacts, negative for the value of the bodies. `dilation`: two implicit dilations
/// (mm), of `a` and of `b`, added to those in the options of the scene; NULL for the dilations of the
/// bodies. `ignored`: the pair is skipped.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_set_pair_options(
    scene: *mut FeelerScene,
    a: u32,
    b: u32,
    d_max: f64,
    dilation: *const f64,
    ignored: bool,
) -> FeelerResult {
    let set = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let dilation = (!dilation.is_null()).then(|| unsafe { [dilation.read(), dilation.add(1).read()] });
        let options = PairOptions { d_max: unless_negative(d_max), dilation, ignored };
        scene.set_pair_options(BodyId(a), BodyId(b), options).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, set) }
}

/// Returns `d_max`, or `None` if it is negative, which selects the default.
fn unless_negative(d_max: f64) -> Option<f64> {
    if d_max < 0.0 { None } else { Some(d_max) }
}

/// Finds the near pairs of bodies at their current poses, and computes the contacts and verdicts of
/// these pairs. If the query of a pair fails, the function returns its error, and the results of all
/// other pairs are up to date.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_update(scene: *mut FeelerScene) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |scene| scene.update().map_err(failed)) }
}

/// Writes the contacts of the last update to `out`, sorted by `bodies`, then `parts`, then distance.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_contacts(
    scene: *const FeelerScene,
    out: *mut FeelerSceneContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let contacts = shared(scene, "scene")?.scene.contacts();
        fill(contacts.iter().map(FeelerSceneContact::from), (out, capacity), count)
    })
}

/// Writes the events of the last update to `out`, sorted by `bodies`, then `parts`, then `id`: one event
/// for every contact that existed in the last update or in the one before.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_events(
    scene: *const FeelerScene,
    out: *mut FeelerContactEvent,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let events = shared(scene, "scene")?.scene.events();
        fill(events.iter().map(FeelerContactEvent::from), (out, capacity), count)
    })
}

/// Writes the status of two bodies in the last update to `out`. For compounds it is the most severe
/// status of their pairs of solids, in the order interfering, undecided, touching, separated.
/// `FEELER_STATUS_UNKNOWN` if the bodies were not near each other, so that no query was necessary, or if
/// the options skipped the verdict.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_status(
    scene: *const FeelerScene,
    a: u32,
    b: u32,
    out: *mut FeelerStatus,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let status = shared(scene, "scene")?.scene.status(BodyId(a), BodyId(b)).map_err(failed)?;
        put(out, "out", FeelerStatus::of(status))
    })
}
