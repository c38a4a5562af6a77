//! Contacts of two bodies over the steps of a simulator.

use crate::record::{counts, object, step_contact, tracked_status, update};
use crate::{Body, pose, thrown};
use feeler::{Pose, StepBound, TrackerOptions};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;

/// The contacts of two bodies for the steps of a simulator.
#[wasm_bindgen]
pub struct ContactTracker {
    tracker: feeler::ContactTracker,
    /// Poses of A and of B in the last update.
    poses: [Pose; 2],
}

#[wasm_bindgen]
impl ContactTracker {
    /// A tracker of two bodies; both may be the same. `options` is undefined or an object with some of
    /// `reach`, `max_depth` (mm), `max_step` (an array of rad and mm), `gap_error` (mm), `max_contacts`,
    /// `dilation_a` and `dilation_b` (mm).
    #[wasm_bindgen(constructor)]
    pub fn new(a: &Body, b: &Body, options: &JsValue) -> Result<ContactTracker, JsError> {
        let tracker = feeler::ContactTracker::new(a.0.clone(), b.0.clone(), read_options(options)?);
        Ok(Self { tracker, poses: [Pose::identity(); 2] })
    }

    /// Computes the contacts for a step from these poses that turns B relative to A by at most `rotation`
    /// (rad) and displaces any point of B that can come into contact by at most `displacement` (mm). Returns
    /// an object with `jumped`, `decided` and `dropped`. An error clears the contacts.
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
        self.poses = poses;
        Ok(object(&update(report)))
    }

    /// Contacts of the last update by ascending number: objects with `number`, `gap`, `point_a`, `point_b`,
    /// `normal`, `local_a`, `local_b`, `local_normal`, `gap_rate`, `curvature_a`, `curvature_b`, `feature_a`,
    /// `feature_b`, `kind` (strict, quasi, sample, extended) and `is_active`: the step can close the gap.
    pub fn contacts(&self) -> Array {
        let pose_ab = self.poses[0].inv_mul(&self.poses[1]);
        let displacement = self.tracker.bound().map_or(0.0, |bound| bound.displacement);
        let record = |c| step_contact(c, &self.poses, &pose_ab, displacement);
        self.tracker.contacts().iter().map(record).collect()
    }

    /// Bound of the step from these poses, an object with `rotation` and `displacement`, for engines that
    /// cannot query within a step: twice the motion since the last update, plus the displacement `forced`
    /// (mm) that forces add in a step; at most `max_displacement` (mm).
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
        let StepBound { rotation, displacement } = bound.map_err(thrown)?;
        Ok(object(&[("rotation", rotation.into()), ("displacement", displacement.into())]))
    }

    /// Returns whether the contacts suffice for the motion from the poses of the last update to these.
    pub fn covers(&self, pose_a: Option<Vec<f64>>, pose_b: Option<Vec<f64>>) -> Result<bool, JsError> {
        self.tracker.covers(&pose(pose_a)?, &pose(pose_b)?).map_err(thrown)
    }

    /// Status by the signed gaps: separated, touching, pressed, deep or interfering; undefined before the
    /// first update and after an error.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> Option<String> {
        self.tracker.bound()?;
        Some(tracked_status(self.tracker.status()).0.to_owned())
    }

    /// Depth (mm) of the deepest contact of pressed bodies, else 0.
    #[wasm_bindgen(getter)]
    pub fn depth(&self) -> f64 {
        if self.tracker.bound().is_some() { tracked_status(self.tracker.status()).1 } else { 0.0 }
    }

    /// Sums over all updates: `updates`, `jumps`, `decisions`, `uncovered` and `dropped`.
    #[wasm_bindgen(getter)]
    pub fn counts(&self) -> JsValue {
        counts(self.tracker.counts())
    }

    /// Forgets the motion: the next update searches anew. Numbers and counts continue.
    pub fn clear(&mut self) {
        self.tracker.clear();
    }
}

/// Options of a tracker from an object. Members that are missing have their default.
pub(crate) fn read_options(given: &JsValue) -> Result<TrackerOptions, JsError> {
    let mut options = TrackerOptions::default();
    if given.is_undefined() || given.is_null() {
        return Ok(options);
    }
    let members = given.dyn_ref::<Object>().ok_or_else(|| thrown("options are an object"))?;
    for name in Object::keys(members).iter().filter_map(|name| name.as_string()) {
        let value = Reflect::get(members, &name.as_str().into()).unwrap_or_default();
        if value.is_undefined() {
            continue;
        }
        let number = || value.as_f64().ok_or_else(|| thrown(format!("the option {name} is a number")));
        match name.as_str() {
            "reach" => options.reach = number()?,
            "max_depth" => options.max_depth = number()?,
            "max_step" => options.max_step = bound(&value).ok_or_else(|| thrown(MAX_STEP))?,
            "gap_error" => options.gap_error = number()?,
            "max_contacts" => options.max_contacts = count(number()?).ok_or_else(|| thrown(MAX_CONTACTS))?,
            "dilation_a" => options.dilations[0] = number()?,
            "dilation_b" => options.dilations[1] = number()?,
            _ => return Err(thrown(format!("no option '{name}': {NAMES}"))),
        }
    }
    options.check().map_err(thrown)?;
    Ok(options)
}

const NAMES: &str = "reach, max_depth, max_step, gap_error, max_contacts, dilation_a, dilation_b";
const MAX_STEP: &str = "the option max_step is an array of a rotation (rad) and a displacement (mm)";
const MAX_CONTACTS: &str = "the option max_contacts is a whole number from 0 on, or Infinity";

/// Rotation and displacement of an array of two numbers.
pub(crate) fn bound(value: &JsValue) -> Option<StepBound> {
    let pair = value.dyn_ref::<Array>().filter(|array| array.length() == 2)?;
    Some(StepBound { rotation: pair.get(0).as_f64()?, displacement: pair.get(1).as_f64()? })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number; larger ones saturate"
)]
fn count(value: f64) -> Option<usize> {
    (value >= 0.0 && (value.fract() == 0.0 || value.is_infinite())).then_some(value as usize)
}
