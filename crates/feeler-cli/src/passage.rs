//! Results for motions between poses, as text and as JSON: proven free, or in contact at a stated time.

use feeler_runtime::{Passage, PassageOutcome, Status};
use serde_json::{Value, json};

/// Returns the status by which the result of a motion determines the exit status of the program. Any
/// contact during the motion counts as interference.
pub(crate) fn status(passage: &Passage) -> Status {
    match passage.outcome {
        _ if passage.left.is_some() => Status::Interfering,
        PassageOutcome::Contact(_) | PassageOutcome::InContact => Status::Interfering,
        PassageOutcome::Undecided(_) => Status::Undecided,
        PassageOutcome::Free => Status::Separated,
    }
}

/// Returns the result of the proof between the steps as text. `unit` is printed after each time.
pub(crate) fn text(passage: &Passage, unit: &str) -> String {
    let queries = passage.queries;
    let result = match &passage.outcome {
        PassageOutcome::Free => "proven free all the way".to_owned(),
        PassageOutcome::Contact(c) => {
            let how = if c.grazing { "first grazing contact" } else { "first contact" };
            let p = c.minimum.point_a;
            format!("{how} at {:.9}{unit} ({:.6}, {:.6}, {:.6})", c.time, p.x, p.y, p.z)
        }
        PassageOutcome::InContact => "in contact at all sampled times".to_owned(),
        PassageOutcome::Undecided(t) => format!("free up to {t:.9}{unit}, undecided after that"),
    };
    let left = passage.left.map(|t| format!("in contact until {t:.9}{unit}, then ")).unwrap_or_default();
    format!("{left}{result} ({queries} queries)")
}

/// Returns the result of the proof between the steps as a JSON value.
pub(crate) fn json(passage: &Passage) -> Value {
    let mut value = match &passage.outcome {
        PassageOutcome::Free => json!({ "result": "free" }),
        PassageOutcome::Contact(c) => json!({
            "result": "contact", "time": c.time, "grazing": c.grazing, "closing": c.closing,
            "distance": c.minimum.distance,
            "point_a": c.minimum.point_a.coords.as_slice(), "point_b": c.minimum.point_b.coords.as_slice(),
            "normal": c.minimum.normal.as_slice(),
        }),
        PassageOutcome::InContact => json!({ "result": "in contact" }),
        PassageOutcome::Undecided(t) => json!({ "result": "undecided", "free_until": t }),
    };
    value["starts_in_contact"] =
        (passage.left.is_some() || passage.outcome == PassageOutcome::InContact).into();
    value["left"] = json!(passage.left);
    value["queries"] = passage.queries.into();
    value
}
