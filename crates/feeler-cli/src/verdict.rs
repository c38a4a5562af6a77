//! How two solids stand to one another, in words and in JSON.

use crate::Outcome;
use crate::features::{feature_json, feature_name, point_text};
use feeler_runtime::{ContactPair, FeatureRef, Status, Undecided, Verdict, Widened, Witness};
use serde_json::{Value, json};

/// Version of the documents of `query` and `sweep`.
pub(crate) const SCHEMA: u32 = 4;

pub(crate) fn status_name(status: Option<Status>) -> &'static str {
    match status {
        Some(Status::Separated) => "separated",
        Some(Status::Touching) => "touching",
        Some(Status::Interfering) => "interfering",
        Some(Status::Undecided) => "undecided",
        None => "-",
    }
}

/// Interfering and undecided solids are what an exit status tells.
pub(crate) fn outcome(statuses: impl IntoIterator<Item = Option<Status>>) -> Outcome {
    let found = |s| matches!(s, Some(Status::Interfering | Status::Undecided));
    if statuses.into_iter().any(found) { Outcome::Partly } else { Outcome::Done }
}

/// What the last query has found of the solids, as members of a JSON object.
pub(crate) fn put_json(pair: &ContactPair, object: &mut Value) {
    object["status"] = pair.verdict().map_or(Value::Null, |v| status_name(Some(v.status)).into());
    object["tolerance"] = pair.tolerances().tol.into();
    object["min_distance"] = pair.min_distance().into();
    if let Some(verdict) = pair.verdict() {
        put_evidence(verdict, object);
    }
}

/// Members are there when there is something to tell.
fn put_evidence(verdict: &Verdict, object: &mut Value) {
    if let Some(Witness { point, inside_a, inside_b }) = verdict.witness {
        object["witness"] =
            json!({ "point": <[f64; 3]>::from(point), "inside_a": inside_a, "inside_b": inside_b });
    }
    if let Some((a, b)) = &verdict.crossing {
        object["crossing_faces"] = json!([crossing_json(a, b)]);
    }
    let undecided = |u: &Undecided| {
        json!({
            "feature_a": feature_json(&u.feature_a), "feature_b": feature_json(&u.feature_b),
            "point": <[f64; 3]>::from(u.point), "depth_bound": u.depth_bound,
        })
    };
    if !verdict.undecided.is_empty() {
        object["undecided"] = verdict.undecided.iter().map(undecided).collect();
    }
    let widened = |w: &Widened| json!({ "point": <[f64; 3]>::from(w.point), "by": w.by });
    if !verdict.widened.is_empty() {
        object["widened"] = verdict.widened.iter().map(widened).collect();
    }
}

/// Two features that cross.
pub(crate) fn crossing_json(a: &FeatureRef, b: &FeatureRef) -> Value {
    json!({ "feature_a": feature_json(a), "feature_b": feature_json(b) })
}

/// What there is to tell beside the status, a line each.
pub(crate) fn lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    let status = status_name(Some(verdict.status));
    if let Some(Witness { point, inside_a, inside_b }) = &verdict.witness {
        lines.push(format!(
            "{status}: a point {inside_a} mm inside A and {inside_b} mm inside B at {}",
            point_text(point)
        ));
    }
    if let Some((a, b)) = &verdict.crossing {
        lines.push(format!("{status}: {} of A crosses {} of B", feature_name(a), feature_name(b)));
    }
    lines.extend(verdict.undecided.iter().map(|u| {
        format!(
            "undecided: {} of A and {} of B may meet up to {} mm deep at {}",
            feature_name(&u.feature_a),
            feature_name(&u.feature_b),
            u.depth_bound,
            point_text(&u.point)
        )
    }));
    lines.extend(verdict.widened.iter().map(|w| {
        format!("widened: edges are off their faces, {} mm more tolerance at {}", w.by, point_text(&w.point))
    }));
    lines
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
    fn evidence_is_told_where_there_is_some() {
        let mut plain = json!({});
        put_evidence(&verdict(Status::Interfering), &mut plain);
        assert_eq!(plain, json!({}));
        assert!(lines(&verdict(Status::Touching)).is_empty(), "nothing to tell");

        let point = P3::new(1.0, 2.5, -3.0);
        let met = Verdict {
            witness: Some(Witness { point, inside_a: 0.35, inside_b: 0.2 }),
            crossing: Some((face(3, 45), face(7, 12))),
            ..verdict(Status::Interfering)
        };
        let mut object = json!({});
        put_evidence(&met, &mut object);
        assert_eq!(
            object["witness"],
            json!({ "point": [1.0, 2.5, -3.0], "inside_a": 0.35, "inside_b": 0.2 })
        );
        assert_eq!(object["crossing_faces"][0]["feature_b"]["source"], "#12");
        assert_eq!(
            lines(&met),
            [
                "interfering: a point 0.35 mm inside A and 0.2 mm inside B at 1.000000 2.500000 -3.000000",
                "interfering: face 3 (#45) of A crosses face 7 (#12) of B",
            ]
        );

        let open = Verdict {
            undecided: vec![Undecided {
                feature_a: face(3, 45),
                feature_b: face(7, 12),
                point,
                depth_bound: 0.01,
            }],
            widened: vec![Widened { point, by: 0.001 }],
            ..verdict(Status::Undecided)
        };
        let mut object = json!({});
        put_evidence(&open, &mut object);
        assert_eq!(object["undecided"][0]["depth_bound"], 0.01);
        assert_eq!(object["undecided"][0]["feature_a"]["index"], 3);
        assert_eq!(object["widened"], json!([{ "point": [1.0, 2.5, -3.0], "by": 0.001 }]));
        assert_eq!(
            lines(&open)[0],
            "undecided: face 3 (#45) of A and face 7 (#12) of B may meet up to 0.01 mm deep at 1.000000 \
                2.500000 -3.000000"
        );
    }

    #[test]
    fn one_finding_decides_the_exit_status() {
        let apart = Some(Status::Separated);
        assert_eq!(outcome([apart, Some(Status::Touching), None]), Outcome::Done);
        assert_eq!(outcome([apart, Some(Status::Interfering), apart]), Outcome::Partly);
        assert_eq!(outcome([apart, Some(Status::Undecided)]), Outcome::Partly);
    }
}
