//! Scenes of many bodies.

use crate::options::{bound, read_body_options, read_pair_options, read_tracker_options};
use crate::record::{bound as bound_record, contact, counts, numbers, object, tracked_status, update};
use crate::{Body, pose as read_pose, thrown};
use feeler::pose::to_values;
use feeler::{BodyId, QueryOptions, StepBound, TrackedPair};
use js_sys::{Array, Map};
use std::collections::BTreeMap;
use wasm_bindgen::prelude::*;

/// Scene: many bodies, which may move, and the contacts of all near pairs over the steps of a simulator.
#[wasm_bindgen]
pub struct Scene(feeler::Scene);

#[wasm_bindgen]
impl Scene {
    /// Creates an empty scene.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Scene, JsError> {
        feeler::Scene::new(QueryOptions::within(1.0)).map(Self).map_err(thrown)
    }

    /// Adds a body, whose coordinates `pose` maps to the world, and returns its id. Ids are never
    /// reused.
    pub fn add(&mut self, body: &Body, pose: Option<Vec<f64>>) -> Result<u32, JsError> {
        self.0.add(body.0.clone(), read_pose(pose)?).map(|id| id.0).map_err(thrown)
    }

    /// Removes a body. Its id becomes invalid.
    pub fn remove(&mut self, id: u32) -> Result<(), JsError> {
        self.0.remove(BodyId(id)).map_err(thrown)
    }

    /// Sets the pose of a body for the next call of `track`.
    #[wasm_bindgen(js_name = setPose)]
    pub fn set_pose(&mut self, id: u32, pose: Vec<f64>) -> Result<(), JsError> {
        self.0.set_pose(BodyId(id), read_pose(Some(pose))?).map_err(thrown)
    }

    /// Returns the pose of a body: an array of a translation x, y, z (mm) and a unit quaternion x, y, z,
    /// w.
    pub fn pose(&self, id: u32) -> Result<JsValue, JsError> {
        Ok(numbers(&to_values(self.0.pose(BodyId(id)).map_err(thrown)?)))
    }

    /// Sets options of all pairs of a body. `options` is an object with some of `d_max` (largest gap of
    /// reported contacts, mm), `dilation` (implicit dilation of the body, mm) and `fixed` (the body
    /// never moves; pairs of fixed bodies are skipped). Missing members have their defaults.
    #[wasm_bindgen(js_name = setBodyOptions)]
    pub fn set_body_options(&mut self, id: u32, options: &JsValue) -> Result<(), JsError> {
        self.0.set_body_options(BodyId(id), read_body_options(options)?).map_err(thrown)
    }

    /// Sets options of a pair of bodies, which replace the options of the two bodies. `options` is an
    /// object with some of `d_max` (largest gap of reported contacts, mm), `dilation` (an array of the
    /// implicit dilations of `a` and of `b`, mm) and `ignored` (the pair is skipped).
    #[wasm_bindgen(js_name = setPairOptions)]
    pub fn set_pair_options(&mut self, a: u32, b: u32, options: &JsValue) -> Result<(), JsError> {
        self.0.set_pair_options(BodyId(a), BodyId(b), read_pair_options(options)?).map_err(thrown)
    }

    /// Finds the near pairs of the bodies at their current poses, and for each pair the contacts that
    /// suffice for the next step of a simulator. `bounds` is a Map from the id of a body to an array of
    /// its largest rotation (rad) and the largest displacement (mm) of any of its points in the step,
    /// relative to the world. Bodies that are not in the map do not move. `options` are those of a
    /// `ContactTracker`. After an error, the pairs whose queries failed are missing from the results.
    pub fn track(&mut self, bounds: &Map, options: &JsValue) -> Result<(), JsError> {
        let options = read_tracker_options(options)?;
        let mut of_body = BTreeMap::new();
        let mut refused = None;
        bounds.for_each(&mut |value, key| match read_entry(&key, &value) {
            Some((id, bound)) => drop(of_body.insert(id, bound)),
            None => refused = Some(key),
        });
        if let Some(key) = refused {
            let text =
                "the bound of a body must map its id to an array of a rotation (rad) and a displacement (mm)";
            return Err(thrown(format!("{text}; got the key {key:?}")));
        }
        for id in of_body.keys() {
            self.0.pose(*id).map_err(thrown)?;
        }
        self.0.track(&options, |id| of_body.get(&id).copied().unwrap_or_default()).map_err(thrown)
    }

    /// Near pairs of the last call of `track`. Each is an object with `bodies` (ids of A and B,
    /// ascending), `parts` (indices of the solids in the bodies), `bound` (of the motion of B relative
    /// to A), and `status`, `depth`, `jumped`, `decided`, `dropped`, `limited` and `contacts`, as for a
    /// `ContactTracker`.
    #[wasm_bindgen(js_name = trackedPairs)]
    pub fn tracked_pairs(&self) -> Array {
        self.0.tracked().map(|pair| tracked(&pair)).collect()
    }

    /// Returns whether the contacts of all near pairs suffice for the motion from the poses of the last
    /// call of `track` to the current poses.
    pub fn covers(&self) -> Result<bool, JsError> {
        self.0.covers().map_err(thrown)
    }

    /// Counts over all calls of `track` and all pairs, with the members of `ContactTracker.counts`.
    #[wasm_bindgen(getter, js_name = trackerCounts)]
    pub fn tracker_counts(&self) -> JsValue {
        counts(self.0.tracker_counts())
    }
}

/// Reads an entry of a map of bounds: id of a body, and bound of its motion. `None` if one of them is
/// not valid.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is an integer in the range of ids"
)]
fn read_entry(key: &JsValue, value: &JsValue) -> Option<(BodyId, StepBound)> {
    let id = key.as_f64().filter(|id| id.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(id))?;
    Some((BodyId(id as u32), bound(value)?))
}

fn tracked(pair: &TrackedPair<'_>) -> JsValue {
    let contacts: Array = pair.contacts().map(|c| contact(&c)).collect();
    let (status, depth) = tracked_status(pair.tracker.status());
    let [jumped, decided, dropped, limited] = update(pair.update);
    object(&[
        ("bodies", numbers(&pair.bodies.map(|id| f64::from(id.0)))),
        ("parts", numbers(&pair.parts.map(f64::from))),
        ("status", status.into()),
        ("depth", depth.into()),
        jumped,
        decided,
        dropped,
        limited,
        ("bound", bound_record(pair.tracker.bound().unwrap_or_default())),
        ("contacts", contacts.into()),
    ])
}
