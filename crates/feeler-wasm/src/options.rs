//! Options, read from plain JavaScript objects.

use crate::thrown;
use feeler::{BodyOptions, PairOptions, QueryOptions, StepBound, TrackerOptions};
use js_sys::{Array, Object, Reflect};
use std::fmt::Display;
use wasm_bindgen::prelude::*;

/// Calls `set` with the name and the value of each member of `options` whose value is not undefined.
/// `options` may be undefined or null, and has no members then.
fn members(
    options: &JsValue,
    mut set: impl FnMut(&str, &JsValue) -> Result<(), JsError>,
) -> Result<(), JsError> {
    if options.is_undefined() || options.is_null() {
        return Ok(());
    }
    let object = options.dyn_ref::<Object>().ok_or_else(|| thrown("options must be an object"))?;
    for name in Object::keys(object).iter().filter_map(|name| name.as_string()) {
        let value = Reflect::get(object, &name.as_str().into()).unwrap_or_default();
        if !value.is_undefined() {
            set(&name, &value)?;
        }
    }
    Ok(())
}

fn expected(name: &str, what: impl Display) -> JsError {
    thrown(format!("the option {name} must be {what}"))
}

fn number(name: &str, value: &JsValue) -> Result<f64, JsError> {
    value.as_f64().ok_or_else(|| expected(name, "a number"))
}

fn boolean(name: &str, value: &JsValue) -> Result<bool, JsError> {
    value.as_bool().ok_or_else(|| expected(name, "a boolean"))
}

fn unknown(name: &str, names: &str) -> JsError {
    thrown(format!("no option '{name}': {names}"))
}

/// Reads the options of a query. `d_max` (mm) is the largest distance of reported contacts.
pub(crate) fn read_query_options(d_max: f64, given: &JsValue) -> Result<QueryOptions, JsError> {
    const NAMES: &str = "quasi_angle, dilation_a, dilation_b, tolerance, penetration, conformal_spacing, \
                         detect_interference, verdict_unless_pressed, certified, load_bearing";
    let mut options = QueryOptions::within(d_max);
    members(given, |name, value| {
        match name {
            "quasi_angle" => options.quasi_angle = number(name, value)?,
            "dilation_a" => options.dilation_a = number(name, value)?,
            "dilation_b" => options.dilation_b = number(name, value)?,
            "tolerance" => options.tolerance = Some(number(name, value)?),
            "penetration" => options.penetration = number(name, value)?,
            "conformal_spacing" => options.conformal_spacing = Some(number(name, value)?),
            "detect_interference" => options.detect_interference = boolean(name, value)?,
            "verdict_unless_pressed" => options.verdict_unless_pressed = boolean(name, value)?,
            "certified" => options.certified = boolean(name, value)?,
            "load_bearing" => options.load_bearing = boolean(name, value)?,
            _ => return Err(unknown(name, NAMES)),
        }
        Ok(())
    })?;
    Ok(options)
}

/// Reads the options of a tracker.
pub(crate) fn read_tracker_options(given: &JsValue) -> Result<TrackerOptions, JsError> {
    const NAMES: &str = "reach, max_depth, max_step, gap_error, max_contacts, dilation_a, dilation_b";
    let mut options = TrackerOptions::default();
    members(given, |name, value| {
        match name {
            "reach" => options.reach = number(name, value)?,
            "max_depth" => options.max_depth = number(name, value)?,
            "max_step" => {
                let what = "an array of a rotation (rad) and a displacement (mm)";
                options.max_step = bound(value).ok_or_else(|| expected(name, what))?;
            }
            "gap_error" => options.gap_error = number(name, value)?,
            "max_contacts" => {
                let what = "a nonnegative integer or Infinity";
                options.max_contacts = count(number(name, value)?).ok_or_else(|| expected(name, what))?;
            }
            "dilation_a" => options.dilations[0] = number(name, value)?,
            "dilation_b" => options.dilations[1] = number(name, value)?,
            _ => return Err(unknown(name, NAMES)),
        }
        Ok(())
    })?;
    options.check().map_err(thrown)?;
    Ok(options)
}

/// Reads the options of a body of a scene.
pub(crate) fn read_body_options(given: &JsValue) -> Result<BodyOptions, JsError> {
    let mut options = BodyOptions::default();
    members(given, |name, value| {
        match name {
            "d_max" => options.d_max = Some(number(name, value)?),
            "dilation" => options.dilation = number(name, value)?,
            "fixed" => options.fixed = boolean(name, value)?,
            _ => return Err(unknown(name, "d_max, dilation, fixed")),
        }
        Ok(())
    })?;
    Ok(options)
}

/// Reads the options of a pair of bodies of a scene.
pub(crate) fn read_pair_options(given: &JsValue) -> Result<PairOptions, JsError> {
    let mut options = PairOptions::default();
    members(given, |name, value| {
        match name {
            "d_max" => options.d_max = Some(number(name, value)?),
            "dilation" => {
                let what = "an array of two lengths (mm)";
                options.dilation = Some(two(value).ok_or_else(|| expected(name, what))?);
            }
            "ignored" => options.ignored = boolean(name, value)?,
            _ => return Err(unknown(name, "d_max, dilation, ignored")),
        }
        Ok(())
    })?;
    Ok(options)
}

/// Reads an array of two numbers; `None` for other values.
fn two(value: &JsValue) -> Option<[f64; 2]> {
    let array = value.dyn_ref::<Array>().filter(|array| array.length() == 2)?;
    Some([array.get(0).as_f64()?, array.get(1).as_f64()?])
}

/// Reads a bound from an array of a rotation (rad) and a displacement (mm); `None` for other values.
pub(crate) fn bound(value: &JsValue) -> Option<StepBound> {
    two(value).map(|[rotation, displacement]| StepBound { rotation, displacement })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is a nonnegative integer; larger ones saturate"
)]
fn count(value: f64) -> Option<usize> {
    (value >= 0.0 && (value.fract() == 0.0 || value.is_infinite())).then_some(value as usize)
}
