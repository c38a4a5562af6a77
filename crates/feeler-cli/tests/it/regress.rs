//! `feeler regress`: unchanged models have no differences, and planted changes are found.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler, plate_with_moved_hole, socket_with_a_hole, wider_bore};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SUITE: &str = "
[[model]]
file = '*.step'

[[pair]]
name = 'pin in its bore'
a = 'bore.step'
b = 'pin.step'
d_max = 1
poses_b = ['0,0,0', '0.01,0,0', '20,0,0']
";

/// Folder with models and a suite whose golden results have been recorded, and path of the suite.
fn blessed(suite: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    for name in ["bore.step", "pin.step", "socket.step", "perforated-plate.step"] {
        std::fs::copy(data(name), dir.path().join(name)).unwrap();
    }
    let file = dir.path().join("suite.toml");
    std::fs::write(&file, suite).unwrap();
    let run = feeler(&["regress", file.to_str().unwrap(), "--bless"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    (dir, file)
}

/// Exit status and JSON document of a run.
fn json(suite: &Path, args: &[&str]) -> (i32, Value) {
    let all = [&["regress", suite.to_str().unwrap(), "--json", "--quiet"], args].concat();
    let run = feeler(&all);
    let document = serde_json::from_slice(&run.stdout);
    let message = String::from_utf8_lossy(&run.stderr);
    (run.status.code().unwrap(), document.unwrap_or_else(|e| panic!("{e}: {message}")))
}

/// All differences of an entry of the suite, each as one line.
fn differences(document: &Value, entry: &str) -> Vec<String> {
    let all = document["entries"].as_array().unwrap();
    let entry = all.iter().find(|e| e["name"] == entry).unwrap();
    let line = |d: &Value| format!("{} {}", d["kind"].as_str().unwrap(), d["what"].as_str().unwrap());
    entry["differences"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn models_of_the_project_have_no_differences() {
    let (code, found) = json(&data("suite.toml"), &[]);
    let differing: Vec<&Value> = found["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| !e["differences"].as_array().unwrap().is_empty())
        .collect();
    assert_eq!(code, 0, "{differing:#?}");
    assert_eq!(found["stale"].as_array().unwrap().len(), 0, "{found}");
}

#[test]
fn nothing_changes_with_threads() {
    let (dir, suite) = blessed(SUITE);
    let golden = dir.path().join("suite.golden.json");
    let first = std::fs::read(&golden).unwrap();
    for threads in ["1", "2", "3"] {
        let (code, found) = json(&suite, &["--threads", threads]);
        assert_eq!((code, &found["differing"]), (0, &Value::from(0)), "{found}");
        let run = feeler(&["regress", suite.to_str().unwrap(), "--bless", "-q", "--threads", threads]);
        assert!(run.status.success() && run.stderr.is_empty() && run.stdout.is_empty());
        assert_eq!(std::fs::read(&golden).unwrap(), first, "{threads} threads");
    }
}

#[test]
fn planted_changes_are_named() {
    let (dir, suite) = blessed(SUITE);
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    write("bore.step", wider_bore(1e-3));
    write("perforated-plate.step", plate_with_moved_hole(0.01));
    write("socket.step", socket_with_a_hole());
    let (code, found) = json(&suite, &[]);
    assert_eq!((code, &found["differing"]), (1, &Value::from(4)), "{found}");
    let has = |entry: &str, parts: &[&str]| {
        let all = differences(&found, entry);
        assert!(all.iter().any(|d| parts.iter().all(|p| d.contains(p))), "{entry}: {parts:?} in {all:#?}");
    };
    // A radius is one micrometre larger.
    has("bore.step", &["face", "cylinder", "radius 10 -> 10.001 mm"]);
    has("bore.step", &["mass", "volume"]);
    has("pin in its bore", &["minimum", "conformal 0.051 mm"]);
    has("perforated-plate.step", &["face", "cylinder", "moved by (0.01, 0, 0)"]);
    has("perforated-plate.step", &["mass", "centroid"]);
    has("socket.step", &["import", "fails now", "the shell is open"]);
    assert!(differences(&found, "pin.step").is_empty());
    // Changes within the tolerances of the suite are not reported.
    std::fs::write(dir.path().join("bore.step"), wider_bore(1e-3)).unwrap();
    let loose = format!("[tolerance]\nlength = 0.1\nrelative = 0.1\n{SUITE}");
    std::fs::write(&suite, loose).unwrap();
    let (_, found) = json(&suite, &["--only", "pin*"]);
    assert_eq!(found["entries"].as_array().unwrap().len(), 2);
    assert!(differences(&found, "pin in its bore").is_empty(), "{found}");
}

#[test]
fn verdicts_lost_and_gained_minima() {
    let (_dir, suite) = blessed(SUITE);
    let other = SUITE.replace("'0,0,0', '0.01,0,0', '20,0,0'", "'0,0,0', '5,0,0', '0,0,100'");
    std::fs::write(&suite, other).unwrap();
    let (code, found) = json(&suite, &["--only", "pin in*"]);
    let all = differences(&found, "pin in its bore");
    assert_eq!(code, 1);
    assert!(all.iter().any(|d| d == "verdict separated -> interfering"), "{all:#?}");
    assert!(all.iter().any(|d| d == "verdict interfering -> separated"), "{all:#?}");
    assert!(all.iter().any(|d| d.starts_with("minimum lost")), "{all:#?}");
}

/// Times are compared as multiples of the time of a reference workload. The test records a thousandth of
/// the measured time; the difference exceeds any noise.
#[test]
fn slower_programs_are_found() {
    let timed = "[time]\nratio = 50\nat_least_ms = 0\n[[model]]\nfile = 'perforated-plate.step'\n";
    let (dir, suite) = blessed(timed);
    let golden = dir.path().join("suite.golden.json");
    let mut results: Value = serde_json::from_slice(&std::fs::read(&golden).unwrap()).unwrap();
    let time = &mut results["entries"]["perforated-plate.step"]["time"];
    *time = Value::from(time.as_f64().unwrap() / 1000.0);
    std::fs::write(&golden, results.to_string()).unwrap();
    let (code, found) = json(&suite, &[]);
    let all = differences(&found, "perforated-plate.step");
    assert!(code == 1 && all.len() == 1 && all[0].starts_with("time takes "), "{all:#?}");
}

#[test]
fn entries_come_and_go() {
    let (dir, suite) = blessed(SUITE);
    std::fs::copy(data("torus.step"), dir.path().join("torus.step")).unwrap();
    std::fs::remove_file(dir.path().join("socket.step")).unwrap();
    let run = feeler(&["regress", suite.to_str().unwrap()]);
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(1));
    assert!(out.contains("torus.step") && out.contains("has no golden result"), "{out}");
    assert!(err.contains("entries without golden results: 1; --bless records them"), "{err}");
    assert!(err.contains("'socket.step' has golden results"), "{err}");
    // If only some entries are blessed, the results of the others are kept.
    let run = feeler(&["regress", suite.to_str().unwrap(), "--bless", "--only", "torus*"]);
    assert!(run.status.success());
    let (code, found) = json(&suite, &[]);
    assert_eq!((code, found["stale"].as_array().unwrap().len()), (0, 1), "{found}");
}

#[test]
fn results_of_another_version_are_compared() {
    let (dir, suite) = blessed(SUITE);
    let golden = dir.path().join("suite.golden.json");
    let text = std::fs::read_to_string(&golden).unwrap();
    let program = concat!("feeler ", env!("CARGO_PKG_VERSION"));
    std::fs::write(&golden, text.replace(program, "feeler 0.0.9")).unwrap();
    let run = feeler(&["regress", suite.to_str().unwrap()]);
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{err}");
    assert!(err.contains("feeler 0.0.9, which is another version"), "{err}");
}

#[test]
fn reports_are_written() {
    let (dir, suite) = blessed(SUITE);
    std::fs::write(dir.path().join("bore.step"), wider_bore(1e-3)).unwrap();
    let [xml, html] = ["out.xml", "out.html"].map(|f| dir.path().join(f).display().to_string());
    let run = feeler(&["regress", suite.to_str().unwrap(), "--junit", &xml, "--html", &html]);
    assert_eq!(run.status.code(), Some(1));
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(xml.contains("tests=\"5\"") && xml.contains("failures=\"2\""), "{xml}");
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains("radius 10 -&gt; 10.001 mm") && html.contains("no differences"), "{html}");
}

#[test]
fn errors_name_the_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let suite = dir.path().join("suite.toml");
    let fails = |text: Option<&str>, args: &[&str], message: &str| {
        if let Some(text) = text {
            std::fs::write(&suite, text).unwrap();
        }
        let run = feeler(&[&["regress", suite.to_str().unwrap()], args].concat());
        let err = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{err}");
        assert!(err.contains(message), "{message}: {err}");
    };
    fails(None, &[], "the suite cannot be read");
    fails(Some("[[model]]\nfile = 'x.step'\n"), &[], "--bless writes them");
    fails(Some("[[model]]\nfile = '*.step'\n"), &[], "no file matches this pattern");
    fails(Some("[[model]]\nfile = 3\n"), &[], "suite.toml");
    std::fs::write(dir.path().join("suite.golden.json"), "{\"schema\":9,\"program\":\"\",\"entries\":{}}")
        .unwrap();
    fails(Some("[[model]]\nfile = 'x.step'\n"), &[], "have version 9");
    std::fs::write(dir.path().join("suite.golden.json"), "{").unwrap();
    fails(Some("[[model]]\nfile = 'x.step'\n"), &[], "suite.golden.json");
    std::fs::remove_file(dir.path().join("suite.golden.json")).unwrap();
    // A missing file is a recorded result as well.
    let run = feeler(&["regress", suite.to_str().unwrap(), "--bless"]);
    assert_eq!(run.status.code(), Some(0));
    let golden = std::fs::read_to_string(dir.path().join("suite.golden.json")).unwrap();
    assert!(golden.contains("failed") && !golden.contains(dir.path().to_str().unwrap()), "{golden}");
    fails(None, &["--only", "y*"], "no entry of the suite");
    fails(None, &["--junit", "/nowhere/at/all.xml"], "the folder does not exist");
}
