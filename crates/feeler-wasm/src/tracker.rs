//! Trackers: contacts of two bodies over the steps of a simulator.

use crate::options::read_tracker_options;
use crate::record::{bound as bound_record, contact, counts, object, tracked_status, update};
use crate::{Body, pose, thrown};
use feeler::StepBound;
use js_sys::Array;
use wasm_bindgen::prelude::*;

/// Contacts of two bodies, A and B, over the steps of a simulator.
#[wasm_bindgen]
pub struct ContactTracker {
    tracker: feeler::ContactTracker,
}

#[wasm_bindgen]
impl ContactTracker {
    /// Creates a tracker of the bodies A (`a`) and B (`b`), which may be the same body. `options` is
    /// undefined or an object with some of `reach` and `max_depth` (mm), `max_step` (an array of a
    /// rotation in rad and a displacement in mm), `gap_error` (mm), `max_contacts`, `dilation_a` and
    /// `dilation_b` (mm).
    #[wasm_bindgen(constructor)]
    pub fn new(a: &Body, b: &Body, options: &JsValue) -> Result<ContactTracker, JsError> {
        let tracker = feeler::ContactTracker::new(a.0.clone(), b.0.clone(), read_tracker_options(options)?);
        Ok(Self { tracker })
    }

    /// Computes the contacts that suffice for a step which starts at `pose_a` and `pose_b`, rotates B
    /// relative to A by at most `rotation` (rad), and displaces any point of B that can come into contact by
    /// at most `displacement` (mm). Returns an object with `jumped` (all contacts are new), `decided` (a
    /// verdict was computed), `dropped` (number of contacts beyond `max_contacts`) and `limited` (the set may
    /// be incomplete because of limits on the numbers of corners of a flat area and of samples of curved
    /// contacts, so that a step may end deeper than guaranteed). After an error the tracker has no contacts.
    pub fn update(
        &mut self,
        pose_a: Option<Vec<f64>>,
        pose_b: Option<Vec<f64>>,
        rotation: f64,
        displacement: f64,
    ) -> Result<JsValue, JsError> {
        let poses = [pose(pose_a)?, pose(pose_b)?];
        let bound = StepBound { rotation, displacement };
        let report = self.tracker.update(&poses[0], &poses[1], bound).map_err(thrown)?;
        Ok(object(&update(report)))
    }

    /// Contacts of the last update by ascending id. Each is an object like those of a pair; its `kind` may
    /// also be sample or extended, and `is_active` is whether the step can close the gap.
    pub fn contacts(&self) -> Array {
        self.tracker.contacts().iter().map(contact).collect()
    }

    /// Estimates the bound of the step that starts at `pose_a` and `pose_b`, for engines that cannot
    /// query within a step. Returns an object with `rotation` (rad) and `displacement` (mm): twice the
    /// relative motion since the last update, plus the displacement `forced` (mm) that forces cause in a
    /// step. The displacement is at most `max_displacement` (mm), and is this value for the first step
    /// and after a jump.
    #[wasm_bindgen(js_name = expectedBound)]
    pub fn expected_bound(
        &self,
        pose_a: Option<Vec<f64>>,
        pose_b: Option<Vec<f64>>,
        forced: f64,
        max_displacement: f64,
    ) -> Result<JsValue, JsError> {
        let (pose_a, pose_b) = (pose(pose_a)?, pose(pose_b)?);
        let bound = self.tracker.expected_bound(&pose_a, &pose_b, forced, max_displacement);
        Ok(bound_record(bound.map_err(thrown)?))
    }

    /// Returns whether the contacts suffice for the motion from the poses of the last update to `pose_a`
    /// and `pose_b`. False before the first update.
    pub fn covers(&self, pose_a: Option<Vec<f64>>, pose_b: Option<Vec<f64>>) -> Result<bool, JsError> {
        self.tracker.covers(&pose(pose_a)?, &pose(pose_b)?).map_err(thrown)
    }

    /// Relation of the bodies according to the signed gaps of their strict contacts (separated, touching,
    /// pressed or deep) or to a verdict (interfering). Undefined before the first update and after an error.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> Option<String> {
        self.tracker.bound()?;
        Some(tracked_status(self.tracker.status()).0.to_owned())
    }

    /// Depth (mm) of the deepest contact if `status` is pressed or deep, else 0.
    #[wasm_bindgen(getter)]
    pub fn depth(&self) -> f64 {
        if self.tracker.bound().is_some() { tracked_status(self.tracker.status()).1 } else { 0.0 }
    }

    /// Counts over all updates: an object with `updates`, `jumps`, `decisions` (computed verdicts),
    /// `uncovered` (motions that exceeded their bound), `dropped` (contacts) and `limited` (updates whose set
    /// may be incomplete).
    #[wasm_bindgen(getter)]
    pub fn counts(&self) -> JsValue {
        counts(self.tracker.counts())
    }

    /// Discards the contacts and the poses of the last update. The next update finds all contacts anew.
    /// Ids and counts continue.
    pub fn clear(&mut self) {
        self.tracker.clear();
    }
}
