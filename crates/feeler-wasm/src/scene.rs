//! Scenes of many bodies.

use crate::record::{counts, numbers, object, step_contact, tracked_status, update};
use crate::tracker::{bound, read_options};
use crate::{Body, pose, thrown};
use feeler::pose::to_values;
use feeler::{BodyId, BodyOptions, PairOptions, QueryOptions, StepBound, TrackedPair};
use js_sys::{Array, Map};
use std::collections::BTreeMap;
use wasm_bindgen::prelude::*;

/// Many bodies that move together, and the contacts of all near pairs for the steps of a simulator.
#[wasm_bindgen]
pub struct Scene(feeler::Scene);

#[wasm_bindgen]
impl Scene {
    /// An empty scene.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Scene, JsError> {
        feeler::Scene::new(QueryOptions::within(1.0)).map(Self).map_err(thrown)
    }

    /// Adds a body and returns its id, which is never assigned again.
    pub fn add(&mut self, body: &Body, place: Option<Vec<f64>>) -> Result<u32, JsError> {
        self.0.add(body.0.clone(), pose(place)?).map(|id| id.0).map_err(thrown)
    }

    /// Removes a body.
    pub fn remove(&mut self, id: u32) -> Result<(), JsError> {
        self.0.remove(BodyId(id)).map_err(thrown)
    }

    /// Places a body for the next step.
    #[wasm_bindgen(js_name = setPose)]
    pub fn set_pose(&mut self, id: u32, place: Vec<f64>) -> Result<(), JsError> {
        self.0.set_pose(BodyId(id), pose(Some(place))?).map_err(thrown)
    }

    /// The pose of a body: x, y, z (mm) and a quaternion x, y, z, w.
    pub fn pose(&self, id: u32) -> Result<JsValue, JsError> {
        Ok(numbers(&to_values(self.0.pose(BodyId(id)).map_err(thrown)?)))
    }

    /// Sets the dilation (mm) of a body, and whether it is fixed: pairs of fixed bodies are left out.
    #[wasm_bindgen(js_name = setBody)]
    pub fn set_body(&mut self, id: u32, dilation: f64, fixed: bool) -> Result<(), JsError> {
        let options = BodyOptions { d_max: None, dilation, fixed };
        self.0.set_body_options(BodyId(id), options).map_err(thrown)
    }

    /// Sets whether a pair of bodies is left out.
    #[wasm_bindgen(js_name = setIgnored)]
    pub fn set_ignored(&mut self, a: u32, b: u32, ignored: bool) -> Result<(), JsError> {
        let options = PairOptions { d_max: None, dilation: None, ignored };
        self.0.set_pair_options(BodyId(a), BodyId(b), options).map_err(thrown)
    }

    /// Finds the near pairs of the bodies where they are, and for each one the contacts that suffice for the
    /// step to come. `bounds` is a Map from the id of a body to an array of the rotation (rad) and the
    /// displacement (mm) of any point that it makes at most in this step, relative to the world; bodies that
    /// are not in it do not move. `options` are those of a `ContactTracker`. After an error in a pair, pairs
    /// that failed are left out of the results.
    pub fn track(&mut self, bounds: &Map, options: &JsValue) -> Result<(), JsError> {
        let options = read_options(options)?;
        let mut of_body = BTreeMap::new();
        let mut refused = None;
        bounds.for_each(&mut |value, key| match read_entry(&key, &value) {
            Some((id, bound)) => drop(of_body.insert(id, bound)),
            None => refused = Some(key),
        });
        if let Some(key) = refused {
            let text =
                "the bound of a body is its id and an array of a rotation (rad) and a displacement (mm)";
            return Err(thrown(format!("{text}; refused: {key:?}")));
        }
        for id in of_body.keys() {
            self.0.pose(*id).map_err(thrown)?;
        }
        self.0.track(&options, |id| of_body.get(&id).copied().unwrap_or_default()).map_err(thrown)
    }

    /// Near pairs of the last `track`: objects with `bodies` (ascending ids; A is the first one), `parts`,
    /// `status`, `depth`, `jumped`, `decided`, `dropped` and `contacts`, as those of a `ContactTracker`.
    pub fn tracked(&self) -> Array {
        self.0.tracked().map(|pair| tracked(&pair)).collect()
    }

    /// Returns whether the contacts suffice for the motion from the poses of the last `track` to those that
    /// the bodies have now.
    pub fn covers(&self) -> Result<bool, JsError> {
        self.0.covers().map_err(thrown)
    }

    /// Sums over all updates of all trackers: as `ContactTracker.counts`.
    #[wasm_bindgen(getter)]
    pub fn counts(&self) -> JsValue {
        counts(self.0.tracker_counts())
    }
}

/// Id and bound of a body.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number in the range of ids"
)]
fn read_entry(key: &JsValue, value: &JsValue) -> Option<(BodyId, StepBound)> {
    let id = key.as_f64().filter(|id| id.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(id))?;
    Some((BodyId(id as u32), bound(value)?))
}

fn tracked(pair: &TrackedPair<'_>) -> JsValue {
    let displacement = pair.tracker.bound().map_or(0.0, |bound| bound.displacement);
    let record = |c| step_contact(c, &pair.poses, &pair.pose_ab, displacement);
    let contacts: Array = pair.tracker.contacts().iter().map(record).collect();
    let (status, depth) = tracked_status(pair.tracker.status());
    let [jumped, decided, dropped] = update(pair.update);
    object(&[
        ("bodies", numbers(&pair.bodies.map(|id| f64::from(id.0)))),
        ("parts", numbers(&pair.parts.map(f64::from))),
        ("status", status.into()),
        ("depth", depth.into()),
        jumped,
        decided,
        dropped,
        ("contacts", contacts.into()),
    ])
}
