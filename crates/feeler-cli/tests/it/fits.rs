//! Standard fits of `feeler clearance`: diameters against those of the models, and rules by fit.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, wider_bore};
use serde_json::{Value, json};
use std::process::Command;

/// Exit status and first result of a clearance check.
fn first(args: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_feeler"));
    let run = command.arg("clearance").args(args).args(["--json", "-q"]).output().unwrap();
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    (run.status.code().unwrap(), document["results"][0].clone())
}

#[test]
fn diameters_of_shaft_and_hole_decide_the_fit() {
    let folder = tempfile::tempdir().unwrap();
    let pin = data("pin.step").display().to_string();
    // The bore has the diameter 20 mm, and the pin 19.9 mm.
    for (by, kind, code) in [(0.0, "running", 0), (-0.06, "press", 1)] {
        let bore = folder.path().join("bore.step");
        std::fs::write(&bore, wider_bore(by)).unwrap();
        let bore = bore.to_str().unwrap();
        for (files, hole_in) in [([bore, &pin], "a"), ([&pin, bore], "b")] {
            let (status, row) = first(&files);
            let fit = &row["fit"];
            assert_eq!(
                (status, &fit["kind"], &fit["hole_in"]),
                (code, &json!(kind), &json!(hole_in)),
                "{row}"
            );
            let [hole, shaft, play] = ["hole", "shaft", "play"].map(|key| fit[key].as_f64().unwrap());
            let of_hole = 20.0 + 2.0 * by;
            assert!((hole - of_hole).abs() < 1e-9 && (shaft - 19.9).abs() < 1e-9, "{fit}");
            assert!((play - (of_hole - 19.9)).abs() < 1e-9, "{fit}");
        }
        // Only the rule for this fit applies.
        let rules = folder.path().join("rules.toml");
        std::fs::write(&rules, format!("[[rule]]\nfit = '{kind}'\ninterfering = 'allowed'\n")).unwrap();
        let rules = rules.to_str().unwrap();
        assert_eq!(first(&[bore, &pin, "--rules", rules]).0, 0, "{kind}");
        std::fs::write(rules, "[[rule]]\nfit = 'thread'\ninterfering = 'allowed'\n").unwrap();
        assert_eq!(first(&[bore, &pin, "--rules", rules]).0, code, "{kind}");
        // A pin across the hole has no fit with it.
        let (_, row) = first(&[bore, &pin, "--pose", "1=0,0,0,0.7071067811865476,0,0,0.7071067811865476"]);
        assert_eq!(row["fit"], Value::Null);
    }
    let bore = data("bore.step").display().to_string();
    let text = String::from_utf8(
        Command::new(env!("CARGO_BIN_EXE_feeler")).args(["clearance", &bore, &pin]).output().unwrap().stdout,
    );
    assert!(text.unwrap().contains("running fit, play 0.1000"));
}

#[test]
fn helical_flanks_are_a_thread() {
    let files = ["thread/bolt.step", "thread/nut.step"].map(|f| data(f).display().to_string());
    let (_, row) = first(&[&files[0], &files[1]]);
    assert_eq!((&row["fit"]["kind"], &row["fit"]["hole_in"]), (&json!("thread"), &json!("b")), "{row}");
}

#[test]
fn wrong_rules_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    let bore = data("bore.step").display().to_string();
    for (text, message) in [
        ("[[rule]]\nfit = 'loose'", "unknown variant `loose`"),
        ("[[rule]]\nmin = 1", "`a` is missing; give a pattern of names"),
        ("[[rule]]\nfit = 'press'\ntouching = 'required'", "`fit` cannot be combined with touching"),
    ] {
        std::fs::write(&rules, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_feeler"));
        let run = command.args(["clearance", &bore, "--rules", rules.to_str().unwrap()]).output().unwrap();
        let err = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(2) && err.contains(message), "{text}: {err}");
    }
}
