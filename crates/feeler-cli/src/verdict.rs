//! Verdicts as text and as JSON.

use crate::CommandOutcome;
use crate::features::{feature_json, feature_name, point_text};
use feeler_assembly::{DecidedQuery, status_name as name_of};
use feeler_runtime::{FeatureRef, Status, UndecidedPoint, Verdict, WidenedPoint, Witness};
use serde_json::{Value, json};

/// Schema version of the JSON documents of `query`, `sweep` and `mechanism`.
pub(crate) const SCHEMA: u32 = 4;

/// Name of a status in outputs; `-` if no verdict was computed.
pub(crate) fn status_name(status: Option<Status>) -> &'static str {
    status.map_or("-", name_of)
}

/// Outcome of a command whose queries have these statuses: [`CommandOutcome::Partly`] if one is
/// interfering or undecided, else [`CommandOutcome::Done`].
pub(crate) fn outcome(statuses: impl IntoIterator<Item = Option<Status>>) -> CommandOutcome {
    let fails = |s| matches!(s, Some(Status::Interfering | Status::Undecided));
    if statuses.into_iter().any(fails) { CommandOutcome::Partly } else { CommandOutcome::Done }
}

/// Adds the verdict, the tolerance and the smallest distance of a query to a JSON object.
pub(crate) fn put_json(
    verdict: Option<&Verdict>,
    tolerance: f64,
    min_distance: Option<f64>,
    object: &mut Value,
) {
    object["status"] = verdict.map_or(Value::Null, |v| name_of(v.status).into());
    object["tolerance"] = tolerance.into();
    object["min_distance"] = min_distance.into();
    if let Some(verdict) = verdict {
        put_evidence(verdict, object);
        if let Some(depth) = verdict.depth(min_distance) {
            object["depth"] = depth.into();
        }
    }
}

/// Adds the evidence of a verdict to a JSON object; empty members are omitted.
fn put_evidence(verdict: &Verdict, object: &mut Value) {
    if let Some(Witness { point, inside_a, inside_b }) = verdict.witness {
        object["witness"] =
            json!({ "point": <[f64; 3]>::from(point), "inside_a": inside_a, "inside_b": inside_b });
    }
    if let Some((a, b)) = &verdict.crossing {
        object["crossing_faces"] = json!([crossing_json(a, b)]);
    }
    if !verdict.undecided.is_empty() {
        object["undecided"] = verdict.undecided.iter().map(undecided_json).collect();
        object["depth_bound"] = verdict.depth_bound().into();
    }
    if !verdict.widened.is_empty() {
        object["widened"] = verdict.widened.iter().map(widened_json).collect();
    }
}

/// Adds to a JSON object how the verdict of a query was found; empty members are omitted.
pub(crate) fn put_decided(decided: &DecidedQuery, object: &mut Value) {
    if let Some(tolerance) = decided.decided_at {
        object["decided_at"] = tolerance.into();
    }
    if let Some(coarser) = &decided.coarser {
        object["coarser"] = json!({ "tolerance": coarser.tolerance, "status": name_of(coarser.status) });
    }
}

/// Returns a line of text about the tolerance at which the verdict of a query was found, or would be found;
/// `None` if the tolerance of the query decided it, or no coarser one does.
pub(crate) fn decided_line(decided: &DecidedQuery, status: Option<Status>) -> Option<String> {
    match (decided.decided_at, &decided.coarser) {
        (Some(tolerance), _) => Some(format!(
            "{}: at a tolerance of {tolerance:.1e} mm; the default tolerance leaves it undecided",
            status_name(status)
        )),
        (None, Some(coarser)) => Some(format!(
            "undecided: with --tolerance {:.1e} the solids are {}",
            coarser.tolerance,
            name_of(coarser.status)
        )),
        (None, None) => None,
    }
}

/// JSON object of a pair of features that cross.
pub(crate) fn crossing_json(a: &FeatureRef, b: &FeatureRef) -> Value {
    json!({ "feature_a": feature_json(a), "feature_b": feature_json(b) })
}

/// JSON object of a point at which a status holds only for a larger tolerance.
pub(crate) fn widened_json(w: &WidenedPoint) -> Value {
    json!({ "point": <[f64; 3]>::from(w.point), "by": w.by })
}

/// JSON object of a point at which interference is undecided.
pub(crate) fn undecided_json(u: &UndecidedPoint) -> Value {
    let mut place = crossing_json(&u.feature_a, &u.feature_b);
    place["point"] = json!(<[f64; 3]>::from(u.point));
    place["depth_bound"] = u.depth_bound.into();
    place
}

/// Returns the evidence of a verdict as lines of text.
pub(crate) fn lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    let status = name_of(verdict.status);
    if let Some(Witness { point, inside_a, inside_b }) = &verdict.witness {
        lines.push(format!(
            "{status}: a point {inside_a} mm inside A and {inside_b} mm inside B at {}",
            point_text(point)
        ));
    }
    if let Some((a, b)) = &verdict.crossing {
        lines.push(format!("{status}: {} of A crosses {} of B", feature_name(a), feature_name(b)));
    }
    lines.extend(undecided_line(&verdict.undecided));
    lines.extend(verdict.widened.iter().map(|w| {
        format!(
            "widened: an edge deviates from its faces, so the tolerance is {} mm larger at {}",
            w.by,
            point_text(&w.point)
        )
    }));
    lines
}

/// Text about the undecided points of a verdict: the deepest one, and the number of others. `None` without
/// such points.
pub(crate) fn undecided_line(points: &[UndecidedPoint]) -> Option<String> {
    let deepest = points.iter().max_by(|x, y| x.depth_bound.total_cmp(&y.depth_bound))?;
    let others = match points.len() - 1 {
        0 => String::new(),
        1 => ", and one other place is undecided".to_owned(),
        n => format!(", and {n} other places are undecided"),
    };
    Some(format!(
        "undecided: {} of A and {} of B may intersect up to {:.6} mm deep at {}{others}",
        feature_name(&deepest.feature_a),
        feature_name(&deepest.feature_b),
        deepest.depth_bound,
        point_text(&deepest.point)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::P3;
    use feeler_runtime::FeatureKind;

    fn face(index: u32, source: u64) -> FeatureRef {
        FeatureRef { kind: FeatureKind::Face, index, source, uv: [0.5, 0.25] }
    }

    fn verdict(status: Status) -> Verdict {
        Verdict { status, witness: None, undecided: vec![], widened: vec![], crossing: None }
    }

    #[test]
    fn evidence_is_printed_if_there_is_some() {
        let mut plain = json!({});
        put_evidence(&verdict(Status::Interfering), &mut plain);
        assert_eq!(plain, json!({}));
        assert!(lines(&verdict(Status::Touching)).is_empty(), "no evidence");

        let point = P3::new(1.0, 2.5, -3.0);
        let interfering = Verdict {
            witness: Some(Witness { point, inside_a: 0.35, inside_b: 0.2 }),
            crossing: Some((face(3, 45), face(7, 12))),
            ..verdict(Status::Interfering)
        };
        let mut object = json!({});
        put_evidence(&interfering, &mut object);
        assert_eq!(
            object["witness"],
            json!({ "point": [1.0, 2.5, -3.0], "inside_a": 0.35, "inside_b": 0.2 })
        );
        assert_eq!(object["crossing_faces"][0]["feature_b"]["source"], "#12");
        assert_eq!(
            lines(&interfering),
            [
                "interfering: a point 0.35 mm inside A and 0.2 mm inside B at 1.000000 2.500000 -3.000000",
                "interfering: face 3 (#45) of A crosses face 7 (#12) of B",
            ]
        );

        let undecided = Verdict {
            undecided: vec![UndecidedPoint {
                feature_a: face(3, 45),
                feature_b: face(7, 12),
                point,
                depth_bound: 0.01,
            }],
            widened: vec![WidenedPoint { point, by: 0.001 }],
            ..verdict(Status::Undecided)
        };
        let mut object = json!({});
        put_evidence(&undecided, &mut object);
        assert_eq!(object["undecided"][0]["depth_bound"], 0.01);
        assert_eq!(object["undecided"][0]["feature_a"]["index"], 3);
        assert_eq!(object["widened"], json!([{ "point": [1.0, 2.5, -3.0], "by": 0.001 }]));
        assert_eq!(
            lines(&undecided)[0],
            "undecided: face 3 (#45) of A and face 7 (#12) of B may intersect up to 0.010000 mm deep at \
                1.000000 2.500000 -3.000000"
        );
    }

    #[test]
    fn one_finding_decides_the_exit_status() {
        let apart = Some(Status::Separated);
        assert_eq!(outcome([apart, Some(Status::Touching), None]), CommandOutcome::Done);
        assert_eq!(outcome([apart, Some(Status::Interfering), apart]), CommandOutcome::Partly);
        assert_eq!(outcome([apart, Some(Status::Undecided)]), CommandOutcome::Partly);
    }
}
