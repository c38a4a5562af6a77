//! Scenes of many bodies.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::model::FeelerModel;
use crate::pointer::{array, exclusive, fill, hand_out, put, shared, take_back};
use crate::record::{FeelerContact, FeelerOptions, FeelerPose, FeelerStatus, options, pose};
use feeler::{BodyId, BodyOptions, ContactEvent, EventKind, PairOptions, Scene, SceneContact, SceneError};

/// Many bodies that move together.
#[derive(Debug)]
pub struct FeelerScene {
    scene: Scene,
    /// A step has panicked: what is reused cannot be trusted.
    broken: bool,
}

/// A minimum of a pair of bodies of a scene.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerSceneContact {
    /// Ids of the bodies, ascending; the first one is A.
    pub bodies: [u32; 2],
    /// Which of their solids.
    pub parts: [u32; 2],
    /// The minimum.
    pub contact: FeelerContact,
}

/// What became of a contact.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerEventKind {
    /// It was not there in the step before.
    Began = 0,
    /// It was, and is.
    Persisted = 1,
    /// It was, and is no more.
    Ended = 2,
}

/// A contact that has come, stayed or gone in a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeelerEvent {
    /// Ids of the bodies, ascending.
    pub bodies: [u32; 2],
    /// Which of their solids.
    pub parts: [u32; 2],
    /// The contact's id.
    pub id: u64,
    /// Where it stands among the contacts of the step; -1 of one that has ended.
    pub contact: i64,
    /// What became of it.
    pub kind: FeelerEventKind,
    /// 0.
    pub reserved: u32,
}

impl From<&SceneContact> for FeelerSceneContact {
    fn from(c: &SceneContact) -> Self {
        Self { bodies: c.bodies.map(|b| b.0), parts: c.parts, contact: (&c.contact).into() }
    }
}

impl From<&ContactEvent> for FeelerEvent {
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
    /// The scene, unless an earlier panic has left it in an unreliable state.
    pub(crate) fn unbroken(&self) -> Result<&Scene, Failure> {
        if self.broken { Err(broken()) } else { Ok(&self.scene) }
    }
}

fn broken() -> Failure {
    Failure::new(FeelerResult::Panic, "the scene is broken by an earlier panic; free it")
}

/// Runs a function on a scene, unless an earlier panic has left it in an unreliable state.
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

/// An empty scene. `options` are those of all queries; NULL means the defaults. `d_max` must be finite; in a
/// scene it bounds the gap, the distance less both dilations.
///
/// # Safety
/// `options` is NULL or has the size that its `struct_size` tells; `out` may be written. Free the scene by
/// `feeler_scene_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_new(
    asked: *const FeelerOptions,
    out: *mut *mut FeelerScene,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        hand_out(out, FeelerScene { scene: Scene::new(options(asked)?).map_err(failed)?, broken: false })
    })
}

/// Frees a scene; NULL does nothing.
///
/// # Safety
/// `scene` is NULL or a scene that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_free(scene: *mut FeelerScene) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(scene);
        Ok(())
    });
}

/// Adds a body. Its id is never given again, also after it was removed.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `body` is a body; `place` is NULL or a pose; `id` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_add(
    scene: *mut FeelerScene,
    body: *const FeelerBody,
    place: *const FeelerPose,
    id: *mut u32,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { feeler_scene_add_compound(scene, &raw const body, std::ptr::null(), 1, place, id) }
}

/// Adds a body of several solids that move as one; `places` are theirs in the body, or NULL for none moved.
///
/// # Safety
/// As `feeler_scene_add`; `bodies` and `places` point at `n` of each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_add_compound(
    scene: *mut FeelerScene,
    bodies: *const *const FeelerBody,
    places: *const FeelerPose,
    n: usize,
    place: *const FeelerPose,
    id: *mut u32,
) -> FeelerResult {
    let added = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe {
            let bodies = array(bodies, n, "bodies")?;
            let parts = bodies.iter().enumerate().map(|(i, body)| {
                let place = if places.is_null() { places } else { places.add(i) };
                Ok((shared(*body, "body")?.0.clone(), pose(place, "the place of a solid")?))
            });
            let parts = parts.collect::<Result<Vec<_>, Failure>>()?;
            if id.is_null() {
                return Err(Failure::argument("id is NULL"));
            }
            put(id, "id", scene.add_compound(parts, pose(place, "pose")?).map_err(failed)?.0)
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, added) }
}

/// Adds all instances of a model in their places: up to `capacity` ids to `ids`, how many there are to
/// `count`.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `model` is a model; `ids` has room for `capacity`; `count`
/// may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_add_model(
    scene: *mut FeelerScene,
    model: *const FeelerModel,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    let added = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe {
            let added = scene.add_model(&shared(model, "model")?.model).map_err(failed)?;
            fill(added.into_iter().map(|id| id.0), (ids, capacity), count)
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, added) }
}

/// Takes a body away. Its contacts end in the next step.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_remove(scene: *mut FeelerScene, id: u32) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |scene| scene.remove(BodyId(id)).map_err(failed)) }
}

/// Places `n` bodies for the next step. At the first one that cannot be placed it stops.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `ids` and `poses` point at `n` of each.
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
                .map_err(|e| Failure::new(FeelerResult::Query, format!("the pose of body {id}: {e}")))?;
            scene.set_pose(BodyId(*id), pose).map_err(failed)
        })
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, placed) }
}

/// Asks something else of all pairs of a body: `d_max` of the gap (mm), negative as the scene has it, of two
/// bodies the larger one counts; a dilation (mm); and whether it never moves: two fixed bodies are not asked.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_set_body(
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

/// Asks something else of a pair in place of what is asked of its bodies: `d_max` of the gap (mm), negative
/// as the bodies have it; dilations (mm) of both, or NULL as the bodies have them; and whether it is not
/// asked at all.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `dilations` is NULL or points at two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_set_pair(
    scene: *mut FeelerScene,
    a: u32,
    b: u32,
    d_max: f64,
    dilations: *const f64,
    ignored: bool,
) -> FeelerResult {
    let set = |scene: &mut Scene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let dilation = (!dilations.is_null()).then(|| unsafe { [dilations.read(), dilations.add(1).read()] });
        let options = PairOptions { d_max: unless_negative(d_max), dilation, ignored };
        scene.set_pair_options(BodyId(a), BodyId(b), options).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, set) }
}

fn unless_negative(d_max: f64) -> Option<f64> {
    if d_max < 0.0 { None } else { Some(d_max) }
}

/// Finds the near pairs of all bodies where they are, and all their minima.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_step(scene: *mut FeelerScene) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |scene| scene.update().map_err(failed)) }
}

/// All minima of the last step, by ascending bodies, solids and distances: up to `capacity` of them to
/// `out`, how many there are to `count`.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `out` has room for `capacity` contacts; `count` may be
/// written.
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

/// What became of the contacts of the step before, and which are new.
///
/// # Safety
/// As `feeler_scene_contacts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_scene_events(
    scene: *const FeelerScene,
    out: *mut FeelerEvent,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let events = shared(scene, "scene")?.scene.events();
        fill(events.iter().map(FeelerEvent::from), (out, capacity), count)
    })
}

/// How two bodies stood in the last step; `Unknown` where they were not near.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `out` may be written.
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
