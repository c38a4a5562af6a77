//! Results of `feeler query` for solids that touch or interfere.
#![allow(clippy::unwrap_used, reason = "test code")]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Exit status and JSON document of a query of two models in `data/`.
fn query(a: &str, b: &str, pose_b: &str, more: &[&str]) -> (i32, Value) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let run = Command::new(env!("CARGO_BIN_EXE_feeler"))
        .args(["query", "--json", "--quiet", "--pose-b", pose_b])
        .args([data.join(a), data.join(b)])
        .args(if more.contains(&"--d-max") { &[][..] } else { &["--d-max", "0.5"] })
        .args(more)
        .output()
        .unwrap();
    let document = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|e| panic!("{a} {b}: {e} {}", String::from_utf8_lossy(&run.stderr)));
    (run.status.code().unwrap(), document)
}

fn vector(v: &Value) -> [f64; 3] {
    std::array::from_fn(|k| v[k].as_f64().unwrap())
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The separating translation separates the solids, and is at least as long as the two depths of the witness.
#[test]
fn interfering_solids_have_a_separating_translation() {
    let pairs = [
        ("box.step", "cylinder.step", [2.0, 1.0, 0.5]),
        ("sphere.step", "torus.step", [8.0, 3.0, 1.0]),
        ("box.step", "box-nurbs.step", [2.0, 1.0, 0.5]),
        ("plug.step", "wave.step", [2.0, 1.0, 0.5]),
    ];
    for (a, b, at) in pairs {
        let pose = |at: [f64; 3]| format!("{},{},{}", at[0], at[1], at[2]);
        let (status, found) = query(a, b, &pose(at), &[]);
        assert_eq!((status, &found["status"]), (1, &Value::from("interfering")), "{a} {b}");
        let witness = &found["witness"];
        let way = vector(&witness["separating_translation"]);
        let deep = witness["inside_a"].as_f64().unwrap() + witness["inside_b"].as_f64().unwrap();
        assert!(deep <= length(way), "{a} {b}: {deep} and {way:?}");
        let depth = found["depth"].as_f64().unwrap();
        let least = found["min_distance"].as_f64().unwrap_or(f64::INFINITY);
        assert!((depth - deep.max(-least)).abs() <= 1e-12 * deep, "{a} {b}: {depth} and {deep}");
        let moved = pose(std::array::from_fn(|k| at[k] + way[k]));
        let (status, found) = query(a, b, &moved, &[]);
        assert_eq!(status, 0, "{a} {b} at {moved}: {}", found["status"]);
    }
}

/// A cylinder crosses a box in circles. The polylines are shorter than the circles by less than the
/// tolerance of the test.
#[test]
fn crossing_curves_are_reported_on_request() {
    let (_, without) = query("box.step", "cylinder.step", "0,0,3", &[]);
    assert!(without.get("curves").is_none());
    let (status, found) = query("box.step", "cylinder.step", "0,0,3", &["--curves", "1e-4"]);
    assert_eq!(status, 1);
    let curves = found["curves"].as_array().unwrap();
    assert_eq!(found["curves_left_out"], Value::Array(vec![]));
    assert!(!curves.is_empty());
    let pairs = found["crossing_faces"].as_array().unwrap();
    for curve in curves {
        let faces = |v: &Value| (v["feature_a"]["index"].clone(), v["feature_b"]["index"].clone());
        assert!(pairs.iter().any(|p| faces(p) == faces(curve)), "{curve}");
        let points: Vec<[f64; 3]> = curve["points"].as_array().unwrap().iter().map(vector).collect();
        if curve["closed"] == true {
            assert_eq!(points.first(), points.last());
        }
        let sides = points.windows(2).map(|w| length(std::array::from_fn(|k| w[1][k] - w[0][k])));
        let total: f64 = sides.sum();
        // The radius of the cylinder is 10 mm.
        assert!((total - 20.0 * std::f64::consts::PI).abs() < 1e-3, "{total}");
    }
    let (_, apart) = query("box.step", "cylinder.step", "500,0,0", &["--curves", "0.1"]);
    assert_eq!(apart["curves"], Value::Array(vec![]));
}

#[test]
fn touching_solids_have_contact_regions() {
    // The radius of the pin is 0.05 mm smaller than that of the bore.
    let (status, found) = query("bore.step", "pin.step", "0.05,0,0", &[]);
    assert_eq!((status, &found["status"]), (0, &Value::from("touching")), "{found}");
    let contacts = found["contact_regions"].as_array().unwrap();
    assert_eq!(contacts.len(), 1, "{contacts:?}");
    assert_eq!(contacts[0]["kind"], "line");
    assert!(contacts[0]["area"].is_null() && contacts[0]["length"].as_f64().unwrap() > 30.0, "{contacts:?}");
    let (_, apart) = query("bore.step", "pin.step", "0,0,0", &[]);
    assert!(apart.get("contact_regions").is_none() && apart.get("witness").is_none());
}

#[test]
fn invalid_chord_errors_are_rejected() {
    for chord in ["0", "-1", "nan"] {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
        let run = Command::new(env!("CARGO_BIN_EXE_feeler"))
            .args(["query", "--d-max", "1", &format!("--curves={chord}")])
            .args([&data, &data])
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(2), "{chord}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

/// Conformal sets of parts that are apart, against closed forms.
#[test]
fn sizes_of_sets_agree_with_closed_forms() {
    use std::f64::consts::PI;
    let sizes = |document: &Value| -> Vec<(String, f64, f64)> {
        let number = |s: &Value, key: &str| s[key].as_f64();
        let one = |s: &Value| {
            let size = number(s, "area").or(number(s, "length")).unwrap();
            (s["kind"].as_str().unwrap().to_owned(), number(s, "distance").unwrap(), size)
        };
        document["sets"].as_array().unwrap().iter().map(one).collect()
    };
    // Two boxes of 40 x 30 mm above each other, a pin in its bore, a disc above a box.
    for (a, b, pose, expected) in [
        ("box.step", "box.step", "7,3,22", ("plane", 2.0, 33.0 * 27.0)),
        ("bore.step", "pin.step", "0,0,0", ("cylinder", 0.05, 2.0 * PI * 10.0 * 40.0)),
        ("pin.step", "bore.step", "0,0,0", ("cylinder", 0.05, 2.0 * PI * 9.95 * 40.0)),
        ("box.step", "cylinder.step", "0,0,30", ("plane", 20.0, PI * 100.0)),
    ] {
        let (_, found) = query(a, b, pose, &["--d-max", "30"]);
        let (kind, distance, size) = expected;
        let near = |(k, d, s): &(String, f64, f64)| {
            k == kind && (d - distance).abs() < 1e-9 && (s - size).abs() < 1e-6 * size
        };
        assert!(sizes(&found).iter().any(near), "{a} {b}: {:?}", sizes(&found));
        // Each sample belongs to one set.
        let mut of_sets: Vec<u64> = Vec::new();
        for set in found["sets"].as_array().unwrap() {
            of_sets.extend(set["samples"].as_array().unwrap().iter().map(|k| k.as_u64().unwrap()));
        }
        of_sets.sort_unstable();
        let conformal = |(k, l): (u64, &Value)| (l["kind"] == "conformal").then_some(k);
        let all: Vec<u64> = (0..).zip(found["contacts"].as_array().unwrap()).filter_map(conformal).collect();
        assert_eq!(of_sets, all, "{a} {b}");
    }
    // Nested steps: the parts of cones that face each other are frustums between two radii.
    let found = sizes(&query("stepped-seat.step", "stepped-cone.step", "0,0,0.2", &[]).1);
    let frustum = |r: f64, s: f64, sine: f64| PI * (r * r - s * s) / sine;
    // The cone of the seat extends from radius 8.16 to 14.1 mm; its normals have the axial component
    // 0.6.
    let area = frustum(14.1, 8.16, 0.6);
    let near = |(k, d, s): &(String, f64, f64)| {
        k == "cone" && (d - 0.2).abs() < 1e-9 && (s - area).abs() < 1e-5 * area
    };
    assert!(found.iter().any(near), "{area}: {found:?}");
}
