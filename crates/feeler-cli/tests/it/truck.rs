//! Solids of truck-modeling in JSON files, where the program reads STEP files. The feature `truck` is
//! enabled by a dependency of the tests.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use truck_modeling::{Point3, Solid, Vector3, builder};

fn feeler(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().expect("the program runs")
}

fn brick() -> Solid {
    let corner = builder::vertex(Point3::new(0.0, 0.0, 0.0));
    let edge = builder::tsweep(&corner, 3.0 * Vector3::unit_x());
    let face = builder::tsweep(&edge, 4.0 * Vector3::unit_y());
    builder::tsweep(&face, 5.0 * Vector3::unit_z())
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("a writable folder");
    file.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn a_solid_in_json_is_inspected_and_queried() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = serde_json::to_string(&brick().compress()).expect("a serializable solid");
    let file = write(folder.path(), "brick.json", &json);
    for (unit, volume) in [(None, 60.0), (Some("cm"), 60_000.0)] {
        let mut args = vec!["inspect", &file, "--json"];
        args.extend(unit.into_iter().flat_map(|unit| ["--unit", unit]));
        let out = feeler(&args);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let value: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let found = value["solids"][0]["volume"].as_f64().expect("a volume");
        assert!((found - volume).abs() < 1e-9 * volume, "{found}");
    }
    let out = feeler(&["query", &file, &file, "--pose-b", "3.25,0,0", "--d-max", "1", "--json"]);
    let value: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(value["status"], "separated", "{value}");
    assert!((value["min_distance"].as_f64().expect("a distance") - 0.25).abs() < 1e-12, "{value}");
}

#[test]
fn other_json_is_refused_with_the_name_of_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = serde_json::to_string(&brick().compress()).expect("a serializable solid");
    let open = {
        let mut solid = brick().compress();
        solid.boundaries[0].faces.pop();
        serde_json::to_string(&solid).expect("a serializable solid")
    };
    let index = json.replace("\"index\":0", "\"index\":99");
    for (name, text, reason) in [
        ("pose.json", "{\"poses_b\": []}", "not a solid of truck-modeling"),
        ("broken.json", "{\"boundaries\": [", "not a solid of truck-modeling"),
        ("open.json", &open, "repair the solid in truck"),
        ("index.json", &index, "that is not in the file"),
    ] {
        let file = write(folder.path(), name, text);
        let out = feeler(&["inspect", &file]);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && message.contains(name) && message.contains(reason), "{message}");
    }
}
