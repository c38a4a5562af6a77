//! `feeler sweep`: warm and cold steps, tables, errors, certificates.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::feeler_in_data as feeler;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Writes a trajectory file and returns its path.
fn trajectory(dir: &Path, name: &str, value: &Value) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, value.to_string()).unwrap();
    path
}

/// Trajectory of a plug that settles in its socket.
fn settling() -> Value {
    let poses: Vec<[f64; 7]> = (0..12)
        .map(|i| [0.001 * f64::from(i), 0.015, 0.1 - 0.008 * f64::from(i), 0.0003, 0.0002, 0.0001, 1.0])
        .collect();
    json!({ "unit": "mm", "dt": 0.01, "poses_b": poses })
}

/// Steps in the document of a sweep, without the durations.
fn frames(args: &[&str]) -> Vec<Value> {
    let run = feeler(args);
    assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
    let mut document: Value = serde_json::from_slice(&run.stdout).unwrap();
    for key in ["wall_us_median", "wall_us_p95", "wall_us_max", "contacts_median"] {
        assert!(document["summary"][key].is_number(), "{key}");
    }
    assert_eq!(document["schema"], 4, "{document}");
    let frames = document["frames"].as_array_mut().unwrap();
    for f in frames.iter_mut() {
        assert!(f["wall_us"].is_number() && f["tolerance"].is_number() && f["status"].is_string(), "{f}");
        f["wall_us"] = Value::Null;
    }
    frames.clone()
}

#[test]
fn every_step_equals_a_query() {
    let dir = tempfile::tempdir().unwrap();
    let t = trajectory(dir.path(), "t.json", &settling());
    let svg = dir.path().join("t.svg");
    let base = ["sweep", "bayonet-socket.step", "bayonet-plug.step", "--d-max", "0.2", "--quiet"];
    let run =
        |more: &[&str]| frames(&[&base[..], &["--json", "--trajectory", t.to_str().unwrap()], more].concat());
    let warm = run(&["--plot", svg.to_str().unwrap()]);
    assert_eq!(warm.len(), 12, "a frame for each pose");
    assert!(warm.iter().all(|f| f["contacts"].as_array().is_some_and(|l| !l.is_empty())), "no contacts");
    // If no results are cached, all minima are new in each step.
    let places = |frames: &[Value]| -> Vec<Value> {
        let mut frames = frames.to_vec();
        for l in frames.iter_mut().flat_map(|f| f["contacts"].as_array_mut().unwrap()) {
            (l["id"], l["age"]) = (Value::Null, Value::Null);
        }
        frames
    };
    let cold = run(&["--cold"]);
    assert!(places(&warm) == places(&cold), "warm and cold differ");
    assert!(cold.iter().all(|f| f["contacts"].as_array().unwrap().iter().all(|l| l["age"] == 0)), "ages");
    // A minimum that stays on its features keeps its identity, which is unique within a step.
    let ids = |f: &Value| -> Vec<u64> {
        f["contacts"].as_array().unwrap().iter().map(|l| l["id"].as_u64().unwrap()).collect()
    };
    let kept = warm.windows(2).flat_map(|w| {
        let before = ids(&w[0]);
        ids(&w[1]).into_iter().filter(move |id| before.contains(id))
    });
    assert!(kept.count() > 50, "few identities persist");
    for f in &warm {
        let mut all = ids(f);
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n, "two minima with one identity");
    }
    assert!(warm == run(&["--threads", "3"]), "one thread and three differ");
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.contains("time (s)") && svg.contains("(mm)") && svg.contains("(ms)"), "axes have units");
    // A query at the pose of the last step gives the same distances.
    let pose = "0.011,0.015,0.012,0.0003,0.0002,0.0001,1";
    let one = feeler(&[&["query"], &base[1..], &["--json", "--pose-b", pose]].concat());
    let one: Value = serde_json::from_slice(&one.stdout).unwrap();
    let of = |v: &Value| {
        v["contacts"].as_array().unwrap().iter().map(|l| l["distance"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let (last, query) = (of(&warm[11]), of(&one));
    assert_eq!(last.len(), query.len());
    assert!(last.iter().zip(&query).all(|(a, b)| (a - b).abs() < 1e-9), "{last:?} {query:?}");
}

#[test]
fn the_table_reports_interference() {
    let dir = tempfile::tempdir().unwrap();
    let mut deep = settling();
    deep["poses_b"][3] = json!([0.0, 0.0, -5.0, 0, 0, 0, 1]);
    let t = trajectory(dir.path(), "t.json", &deep);
    let run = feeler(&[
        "sweep",
        "bayonet-socket.step",
        "bayonet-plug.step",
        "--d-max",
        "0.2",
        "--trajectory",
        t.to_str().unwrap(),
    ]);
    assert_eq!(run.status.code(), Some(1), "an interference");
    let table = String::from_utf8(run.stdout).unwrap();
    assert!(table.contains("interfering") && table.contains("12 steps: time median"), "{table}");
}

#[test]
fn invalid_trajectories_are_rejected_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let good = settling();
    let with = |key: &str, value: Value| {
        let mut t = good.clone();
        t[key] = value;
        t
    };
    let cases = [
        ("unit", with("unit", json!("inch")), "unit"),
        ("dt", with("dt", json!(-1.0)), "dt"),
        ("empty", with("poses_b", json!([])), "empty"),
        ("short", with("poses_b", json!([[0, 0, 0]])), "poses_b"),
        ("no-rotation", with("poses_b", json!([[0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 2]])), "poses_b[1]"),
        ("count", with("poses_a", json!([[0, 0, 0, 0, 0, 0, 1]])), "poses of A"),
        ("nothing", json!({}), "poses_b"),
    ];
    for (name, value, reason) in cases {
        let file = format!("{name}.json");
        let t = trajectory(dir.path(), &file, &value);
        let svg = dir.path().join("never.svg");
        let run = feeler(&[
            "sweep",
            "box.step",
            "ball.step",
            "--d-max",
            "1",
            "--plot",
            svg.to_str().unwrap(),
            "--trajectory",
            t.to_str().unwrap(),
        ]);
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{name}: {message}");
        assert!(message.contains(&file) && message.contains(reason), "{name}: {message}");
        assert!(!svg.exists() && run.stdout.is_empty(), "{name}: nothing is written");
    }
    let gone =
        feeler(&["sweep", "box.step", "ball.step", "--d-max", "1", "--trajectory", "/nonexistent/t.json"]);
    assert_eq!(gone.status.code(), Some(2));
}

#[test]
fn certified_sweeps_count_over_all_steps() {
    let dir = tempfile::tempdir().unwrap();
    let poses: Vec<[f64; 7]> = (0..3).map(|i| [0.5 * f64::from(i), 2.0, 20.0, 0.0, 0.0, 0.0, 1.0]).collect();
    let t = trajectory(dir.path(), "t.json", &json!({ "unit": "mm", "poses_b": poses }));
    let base =
        ["sweep", "wave.step", "sphere.step", "--d-max", "8", "--quiet", "--trajectory", t.to_str().unwrap()];
    let run = feeler(&[&base[..], &["--certified", "--json"]].concat());
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    let solves = |v: &Value| v["certificate"]["solves"].as_u64().unwrap();
    let each = document["frames"].as_array().unwrap().iter().map(solves);
    assert_eq!(each.sum::<u64>(), solves(&document["summary"]), "{document}");
    assert!(solves(&document["summary"]) > 0, "{document}");
    assert_eq!(document["summary"]["certificate"]["complete"], true, "{document}");
    let table = feeler(&[&base[..], &["--certified"]].concat());
    assert!(String::from_utf8_lossy(&table.stdout).contains("certified: all of"), "{table:?}");
    assert!(document["frames"][0].get("certificate").is_some(), "{document}");
    assert!(frames(&[&base[..], &["--json"]].concat())[0].get("certificate").is_none(), "an ordinary sweep");
}

/// A brick on a plate is pushed 1.5 mm into it, from a height of 1.5 mm.
#[test]
fn sweeps_report_the_depth_and_the_distance_of_the_other_steps() {
    let joint = ["--joint", "0,0,0,0,0,1", "--slide", "1.5,-1.5", "--steps", "6"];
    let pair = ["sweep", "contact/plate.step", "contact/brick.step", "--d-max", "2", "-q"];
    let run = feeler(&[&pair[..], &joint, &["--json"]].concat());
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-6;
    let [deepest, nearest] = ["deepest", "nearest"].map(|key| &document["summary"][key]);
    assert!(deepest["step"] == 6 && near(&deepest["depth"], 1.5), "{deepest}");
    // At step 3 the brick touches the plate.
    assert!(nearest["step"] == 3 && near(&nearest["distance"], 0.0), "{nearest}");
    for (i, frame) in document["frames"].as_array().unwrap().iter().enumerate() {
        assert_eq!(frame.get("depth").is_some(), i > 3, "{i}: {frame}");
    }
    let table = feeler(&[&pair[..], &joint].concat());
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("mm deep at step 6; smallest distance 0.000000000 mm at step 3"), "{table}");
}
