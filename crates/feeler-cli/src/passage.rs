//! Results for motions between poses, as text and as JSON: proven free, in contact or penetrating at a stated
//! time.

use feeler_assembly::{ContactMotion, MotionResult, PairMotion};
use feeler_runtime::{Passage, PassageOutcome, PenetrationOutcome, Status};
use serde_json::{Value, json};

/// Returns the status by which the result of a motion determines the exit status of the program. Contact
/// counts as interference unless it is allowed.
pub(crate) fn status(motion: &PairMotion) -> Status {
    match motion {
        PairMotion::Passage(p) => match p.outcome {
            _ if p.left.is_some() => Status::Interfering,
            PassageOutcome::Contact(_) | PassageOutcome::InContact => Status::Interfering,
            PassageOutcome::Undecided(_) => Status::Undecided,
            PassageOutcome::Free => Status::Separated,
        },
        PairMotion::InContact(m) => match m.result() {
            MotionResult::Free => Status::Separated,
            MotionResult::Contact => Status::Touching,
            MotionResult::Penetration => Status::Interfering,
            MotionResult::Undecided => Status::Undecided,
        },
    }
}

/// Returns the result of the proof between the steps as text. `unit` is printed after each time.
pub(crate) fn text(motion: &PairMotion, unit: &str) -> String {
    match motion {
        PairMotion::Passage(passage) => passage_text(passage, unit),
        PairMotion::InContact(motion) => contact_text(motion, unit),
    }
}

fn passage_text(passage: &Passage, unit: &str) -> String {
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

fn contact_text(motion: &ContactMotion, unit: &str) -> String {
    let queries = queries(motion);
    let limit = motion.penetration.limit;
    let contact = motion.contact_time();
    let result = match &motion.penetration.outcome {
        PenetrationOutcome::Free if motion.result() == MotionResult::Free => {
            "proven free all the way".to_owned()
        }
        PenetrationOutcome::Free => {
            let from = contact.map(|t| format!(" from {t:.9}{unit}")).unwrap_or_default();
            format!("contact only{from}, proven nowhere deeper than {limit:.3e} mm")
        }
        PenetrationOutcome::Penetration(p) => {
            let at = p.contact.map(|c| c.point_a).map(|p| format!(" ({:.6}, {:.6}, {:.6})", p.x, p.y, p.z));
            let at = at.unwrap_or_default();
            let deep = format!("at least {:.3e} mm deep at {:.6}{unit}", p.depth, p.deepest);
            format!("penetration from {:.9}{unit}{at}, {deep}", p.time)
        }
        PenetrationOutcome::Undecided(t) => {
            format!("no penetration up to {t:.9}{unit}, undecided after that")
        }
    };
    format!("{result} ({queries} queries)")
}

/// Number of queries of a motion in contact.
fn queries(motion: &ContactMotion) -> u32 {
    motion.penetration.queries + motion.passage.map_or(0, |p| p.queries)
}

/// Returns the result of the proof between the steps as a JSON value.
pub(crate) fn json(motion: &PairMotion) -> Value {
    match motion {
        PairMotion::Passage(passage) => passage_json(passage),
        PairMotion::InContact(motion) => contact_json(motion),
    }
}

fn passage_json(passage: &Passage) -> Value {
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

fn contact_json(motion: &ContactMotion) -> Value {
    let penetration = &motion.penetration;
    let name = match motion.result() {
        MotionResult::Free => "free",
        MotionResult::Contact => "contact",
        MotionResult::Penetration => "penetration",
        MotionResult::Undecided => "undecided",
    };
    let mut value = json!({
        "result": name, "contact_time": motion.contact_time(), "max_depth": penetration.limit,
        "queries": queries(motion),
    });
    match &penetration.outcome {
        PenetrationOutcome::Free => {}
        PenetrationOutcome::Penetration(p) => {
            value["time"] = p.time.into();
            value["depth"] = p.depth.into();
            value["depth_time"] = p.deepest.into();
            if let Some(c) = &p.contact {
                value["point_a"] = json!(c.point_a.coords.as_slice());
                value["point_b"] = json!(c.point_b.coords.as_slice());
                value["normal"] = json!(c.normal.as_slice());
            }
        }
        PenetrationOutcome::Undecided(t) => value["free_until"] = json!(t),
    }
    value
}
