//! Choice of the tolerance: pairs that the default tolerance leaves undecided, `--tolerance file`, and
//! interference within the accuracy of the files. The models are an ellipsoid and the block it was cut from,
//! pressed together by about twice the tolerance, so that crossings and contacts are equally near; and an
//! elliptic pin and a block with its hole.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::data;
use serde_json::{Value, json};
use std::process::Command;

/// Position of the ellipsoid that is undecided at the default tolerance of 1.3e-5 mm, and at 1e-5 mm.
const PRESSED: &str = "0,0,2e-5";

/// Exit status, output and messages of the program.
fn run(args: &[&str]) -> (i32, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (run.status.code().unwrap(), text(&run.stdout), text(&run.stderr))
}

fn parsed((code, out, err): (i32, String, String)) -> (i32, Value) {
    let document = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
    (code, document)
}

fn files() -> [String; 2] {
    ["fits/oval-pin.step", "fits/oval-block.step"].map(|f| data(f).display().to_string())
}

fn ellipsoid_files() -> [String; 2] {
    ["flush/ellipsoid-part.step", "flush/ellipsoid-block.step"].map(|f| data(f).display().to_string())
}

#[test]
fn undecided_solids_are_decided_at_a_coarser_tolerance() {
    let [part, block] = ellipsoid_files();
    let wall = |found: &Value| {
        let regions = found["contact_regions"].as_array().unwrap().iter();
        regions
            .filter(|region| region["kind"] == "free-form")
            .filter_map(|region| region["area"].as_f64())
            .sum::<f64>()
    };
    let whole = wall(&parsed(run(&["query", &part, &block, "--d-max", "1", "--json"])).1);
    for (pair, pose) in [([&part, &block], "--pose-a"), ([&block, &part], "--pose-b")] {
        let args = ["query", pair[0], pair[1], "--d-max", "1", "--json", pose, PRESSED];
        let (code, found) = parsed(run(&args));
        assert_eq!((code, &found["status"]), (0, &json!("touching")), "{found}");
        let [tolerance, at] = ["tolerance", "decided_at"].map(|key| found[key].as_f64().unwrap());
        assert!((tolerance - at).abs() < 1e-15 && at < 1e-4, "{tolerance} {at}");
        let common = wall(&found);
        assert!((common / whole - 1.0).abs() < 1e-6, "{common} {whole}");
    }
    let pose = format!("1={PRESSED}");
    let (code, found) = parsed(run(&["clearance", &part, &block, "--json", "-q", "--pose", &pose]));
    let row = &found["results"][0];
    assert_eq!((code, &row["status"], &row["finding"]), (0, &json!("touching"), &Value::Null));
    assert_eq!(row["decided_at"], row["tolerance"]);
}

/// An elliptic pin that is pressed into the wall of its hole: the deepest common point is half as deep. Up to
/// the default tolerance of 3.74e-6 mm the pin touches along its whole wall, whose area is the perimeter of
/// the ellipse with the semi-axes 9 and 5 mm, times 10 mm.
#[test]
fn a_pressed_pin_interferes_from_two_tolerances_on() {
    let [pin, block] = files();
    for (y, status) in
        [("7e-6", "touching"), ("7.4e-6", "touching"), ("7.7e-6", "interfering"), ("8e-6", "interfering")]
    {
        let pose = format!("0,{y},0");
        let (_, found) = parsed(run(&["query", &pin, &block, "--d-max", "1", "--json", "--pose-a", &pose]));
        assert_eq!((&found["status"], &found["decided_at"]), (&json!(status), &Value::Null), "{y}");
        if status == "touching" {
            let regions = found["contact_regions"].as_array().unwrap().iter();
            let area = regions
                .filter(|region| region["kind"] == "free-form")
                .filter_map(|r| r["area"].as_f64())
                .sum::<f64>();
            assert!((area / 448.845_708_7 - 1.0).abs() < 1e-8, "{y}: {area}");
        }
    }
}

#[test]
fn a_given_tolerance_is_kept_and_the_coarser_one_is_named() {
    let [part, block] = ellipsoid_files();
    let args = ["query", &part, &block, "--d-max", "1", "--tolerance", "1e-5", "--pose-a", PRESSED];
    let (code, found) = parsed(run(&[&args[..], &["--json"]].concat()));
    assert_eq!(
        (code, &found["status"], &found["coarser"]["status"]),
        (1, &json!("undecided"), &json!("touching"))
    );
    assert_eq!((&found["decided_at"], found["tolerance"].as_f64()), (&Value::Null, Some(1e-5)));
    // Twice the coarser tolerance.
    let bound = found["depth_bound"].as_f64().unwrap();
    assert!(bound > 0.0 && bound <= 6e-5 + 1e-12, "{bound}");
    let (code, out, _) = run(&args);
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("undecided: ")).collect();
    assert_eq!((code, lines.len()), (1, 3), "{out}");
    assert!(lines[1].starts_with("undecided: with --tolerance ") && lines[1].ends_with(" touching"), "{out}");
    let pose = format!("1={PRESSED}");
    let options = ["--tolerance", "1e-5", "--pose", &pose, "--json", "-q"];
    let (code, found) = parsed(run(&[&["clearance", &part, &block][..], &options].concat()));
    let row = &found["results"][0];
    assert_eq!(
        (code, &row["finding"], &row["coarser"]["status"]),
        (1, &json!("undecided"), &json!("touching"))
    );
}

#[test]
fn interference_within_the_accuracy_of_the_files_is_a_finding_of_its_own() {
    let [pin, block] = files();
    let folder = tempfile::tempdir().unwrap();
    let stated = folder.path().join("pin.step");
    let text = std::fs::read_to_string(&pin).unwrap();
    let coarse = text.replace("LENGTH_MEASURE(1.E-07)", "LENGTH_MEASURE(5.E-03)");
    assert_ne!(text, coarse);
    std::fs::write(&stated, coarse).unwrap();
    let stated = stated.to_str().unwrap();
    // The pin is pushed 0.002 mm into the wall of the hole.
    let finding = |pin: &str, options: &[&str]| {
        let args = ["clearance", pin, &block, "--pose", "1=0,0.002,0", "--json", "-q"];
        let (code, found) = parsed(run(&[&args[..], options].concat()));
        (code, found["results"][0].clone())
    };
    let (code, row) = finding(&pin, &[]);
    assert_eq!((code, &row["status"], &row["finding"]), (1, &json!("interfering"), &json!("interferes")));
    let (code, row) = finding(stated, &[]);
    assert_eq!(
        (code, &row["status"], &row["finding"]),
        (1, &json!("interfering"), &json!("within-accuracy"))
    );
    assert!((row["accuracy"].as_f64().unwrap() - 5e-3).abs() < 1e-9, "{row}");
    let (code, row) = finding(stated, &["--tolerance", "file"]);
    assert_eq!((code, &row["status"], row["tolerance"].as_f64()), (0, &json!("touching"), Some(5e-3)));
    // The uncertainty is stored in the prepared file.
    let prepared = folder.path().join("pin.feeler");
    let prepared = prepared.to_str().unwrap();
    assert_eq!(run(&["preprocess", stated, "-o", prepared, "-q"]).0, 0);
    assert_eq!(finding(prepared, &["--tolerance", "file"]).1["tolerance"].as_f64(), Some(5e-3));
    // A rule file states the same.
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "tolerance = \"file\"\n").unwrap();
    let (code, row) = finding(stated, &["--rules", rules.to_str().unwrap()]);
    assert_eq!((code, row["tolerance"].as_f64()), (0, Some(5e-3)));
    std::fs::write(&rules, "tolerance = \"fine\"\n").unwrap();
    let (code, _, err) = run(&["clearance", &pin, &block, "--rules", rules.to_str().unwrap()]);
    assert!(
        code == 2 && err.contains("tolerance is 'fine'; give a length in mm, or \"file\""),
        "{code} {err}"
    );
}

/// A free-form face that ends in a tip, 5e-5 mm in front of a plane: its normals are not bounded at the tip.
#[test]
fn a_tip_in_front_of_a_plane_is_decided() {
    let [a, b] = ["evaluation/hotstab-receptacle.step", "evaluation/hotstab-detailed.stpz"]
        .map(|f| data(f).display().to_string());
    let pose = "26.372768188244,8.535161505314,61.507221672036,\
                -0.005850028127,0.015413642256,0.036246277399,0.999206887575";
    let args = ["query", &a, &b, "--d-max", "1", "--tolerance", "1.4e-5", "--json", "--pose-b", pose];
    let (_, found) = parsed(run(&args));
    assert_eq!(found["status"], "separated", "{found}");
    assert!((found["min_distance"].as_f64().unwrap() - 5e-5).abs() < 1e-9, "{}", found["min_distance"]);
}
