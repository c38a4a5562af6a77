//! Records of the Rust library as plain JavaScript objects.

use feeler::{
    Contact, ContactKind, FeatureKind, FeatureRef, Status, StepBound, TrackedStatus, TrackerCounts, Update,
    Verdict, Witness,
};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;

pub(crate) fn numbers(values: &[f64]) -> JsValue {
    values.iter().map(|x| JsValue::from_f64(*x)).collect::<Array>().into()
}

pub(crate) fn object(members: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        // Setting a member of a plain object cannot fail.
        let _ = Reflect::set(&object, &(*name).into(), value);
    }
    object.into()
}

fn kind_of(kind: FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Face => "face",
        FeatureKind::Edge => "edge",
        FeatureKind::Vertex => "vertex",
    }
}

fn feature(f: &FeatureRef) -> JsValue {
    #[expect(clippy::cast_precision_loss, reason = "entity numbers are below 2^53")]
    object(&[
        ("kind", kind_of(f.kind).into()),
        ("index", f.index.into()),
        ("source", (f.source as f64).into()),
        ("uv", numbers(&f.uv)),
    ])
}

/// Converts a contact of a pair or of a tracker.
pub(crate) fn contact(c: &Contact) -> JsValue {
    let kind = match c.kind {
        ContactKind::Strict => "strict",
        ContactKind::Quasi => "quasi",
        ContactKind::Conformal => "conformal",
        ContactKind::Sample => "sample",
        ContactKind::Extended => "extended",
    };
    let point = |p: [f64; 3]| numbers(&p);
    #[expect(clippy::cast_precision_loss, reason = "identities have 53 bits")]
    object(&[
        ("distance", c.distance.into()),
        ("gap", c.gap.into()),
        ("point_a", point(c.point_a.into())),
        ("point_b", point(c.point_b.into())),
        ("local_a", point(c.local_a.into())),
        ("local_b", point(c.local_b.into())),
        ("normal", point(c.normal.into())),
        ("local_normal", point(c.local_normal.into())),
        ("gap_rate", numbers(&c.gap_rate)),
        ("curvature_a", numbers(&c.curvature_a)),
        ("curvature_b", numbers(&c.curvature_b)),
        ("kind", kind.into()),
        ("id", (c.id as f64).into()),
        ("age", c.age.into()),
        ("is_active", c.is_active.into()),
        ("is_fixed", c.is_fixed.iter().map(|fixed| JsValue::from_bool(*fixed)).collect::<Array>().into()),
        ("undecided", c.undecided.into()),
        ("feature_a", feature(&c.feature_a)),
        ("feature_b", feature(&c.feature_b)),
    ])
}

/// Name of the status of a pair in JavaScript.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Separated => "separated",
        Status::Touching => "touching",
        Status::Interfering => "interfering",
        Status::Undecided => "undecided",
    }
}

/// Converts a verdict. `min_distance` (mm) is the smallest distance of a contact, if there is one, and
/// `tolerance` (mm) that of the query.
pub(crate) fn verdict(verdict: &Verdict, min_distance: Option<f64>, tolerance: f64) -> JsValue {
    let undecided = u32::try_from(verdict.undecided.len()).unwrap_or(u32::MAX);
    let mut members = vec![
        ("status", status_name(verdict.status).into()),
        ("undecided_count", undecided.into()),
        ("tolerance", tolerance.into()),
    ];
    members.extend(min_distance.map(|distance| ("min_distance", distance.into())));
    if let Some(Witness { point, inside_a, inside_b }) = verdict.witness {
        members.push(("witness", numbers(&<[f64; 3]>::from(point))));
        members.push(("inside_a", inside_a.into()));
        members.push(("inside_b", inside_b.into()));
    }
    members.extend(verdict.depth(min_distance).map(|depth| ("depth", depth.into())));
    object(&members)
}

/// Converts the bound of a step.
pub(crate) fn bound(bound: StepBound) -> JsValue {
    object(&[("rotation", bound.rotation.into()), ("displacement", bound.displacement.into())])
}

/// Name of a tracker's status in JavaScript, and the depth (mm) of the deepest contact if the status is
/// pressed or deep, else 0.
pub(crate) fn tracked_status(status: TrackedStatus) -> (&'static str, f64) {
    match status {
        TrackedStatus::Separated => ("separated", 0.0),
        TrackedStatus::Touching => ("touching", 0.0),
        TrackedStatus::Pressed(depth) => ("pressed", depth),
        TrackedStatus::Deep(depth) => ("deep", depth),
        TrackedStatus::Interfering => ("interfering", 0.0),
    }
}

/// Names and values of the members of an update's report.
pub(crate) fn update(report: Update) -> [(&'static str, JsValue); 4] {
    [
        ("jumped", report.jumped.into()),
        ("decided", report.decided.into()),
        ("dropped", report.dropped.into()),
        ("limited", report.limited.into()),
    ]
}

/// Converts counts over all updates.
#[expect(clippy::cast_precision_loss, reason = "counts fit a double")]
pub(crate) fn counts(c: TrackerCounts) -> JsValue {
    object(&[
        ("updates", (c.updates as f64).into()),
        ("jumps", (c.jumps as f64).into()),
        ("decisions", (c.decisions as f64).into()),
        ("uncovered", (c.uncovered as f64).into()),
        ("dropped", (c.dropped as f64).into()),
        ("limited", (c.limited as f64).into()),
    ])
}
