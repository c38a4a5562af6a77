//! `feeler diff`: two versions of a model or of a folder.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler, plate_with_moved_hole, socket_with_a_hole, wider_bore};
use serde_json::{Value, json};
use std::path::Path;

fn path(p: &Path) -> String {
    p.display().to_string()
}

/// Exit status and JSON document of a run.
fn json_of(old: &Path, new: &Path, args: &[&str]) -> (i32, Value) {
    let run = feeler(&[&["diff", &path(old), &path(new), "--json", "--quiet"], args].concat());
    let document = serde_json::from_slice(&run.stdout);
    let message = String::from_utf8_lossy(&run.stderr);
    (run.status.code().unwrap(), document.unwrap_or_else(|e| panic!("{e}: {message}")))
}

fn lines(document: &Value, file: usize) -> Vec<String> {
    let all = document["files"][file]["differences"].as_array().unwrap();
    let text = |d: &Value, key: &str| d[key].as_str().unwrap().to_owned();
    all.iter().map(|d| format!("{} {} {}", text(d, "kind"), text(d, "subject"), text(d, "what"))).collect()
}

#[test]
fn faces_are_matched_by_their_geometry() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new.step");
    let old = data("bore.step");
    assert_eq!(
        json_of(&old, &old, &[]),
        (
            0,
            json!({
                "schema": 2, "unit": "mm",
                "files": [{ "name": path(&old), "status": "same", "differences": [], "volumes": [], "parts": {
                    "same": 0, "added": 0, "removed": 0, "renamed": 0, "moved": 0, "changed": 0 } }]
            })
        )
    );
    // Entity numbers and line endings are not compared.
    let text = std::fs::read_to_string(&old).unwrap();
    let data_at = text.find("DATA;").unwrap();
    let renumbered: String = text[data_at..].replace('#', "#9");
    std::fs::write(&file, format!("{}{renumbered}", &text[..data_at]).replace('\n', "\r\n")).unwrap();
    let (code, found) = json_of(&old, &file, &[]);
    assert_eq!((code, &found["files"][0]["parts"]["same"]), (0, &json!(1)), "{found}");

    std::fs::write(&file, wider_bore(1e-3)).unwrap();
    let (code, found) = json_of(&old, &file, &[]);
    let all = lines(&found, 0);
    assert_eq!(code, 1);
    assert!(all.iter().any(|l| l.contains("face 'bore' cylinder #410: radius 10 -> 10.001 mm")), "{all:#?}");
    assert_eq!(all.iter().filter(|l| l.starts_with("face ") && l.contains("radius")).count(), 1, "{all:#?}");

    std::fs::write(&file, plate_with_moved_hole(0.01)).unwrap();
    let (_, found) = json_of(&data("perforated-plate.step"), &file, &["--skip-volumes"]);
    assert_eq!(found["files"][0]["volumes"], json!([]));
    let all = lines(&found, 0);
    let moved: Vec<_> = all.iter().filter(|l| l.contains("moved by (0.01, 0, 0)")).collect();
    assert_eq!(moved.len(), 1, "one hole of a hundred: {all:#?}");

    // The two solids have no face in common.
    let (_, found) = json_of(&data("torus.step"), &data("sphere.step"), &[]);
    let all = lines(&found, 0);
    assert!(all.iter().any(|l| l.contains("gone: torus 20 x 5")), "{all:#?}");
    assert!(all.iter().any(|l| l.contains("new: sphere 10")), "{all:#?}");
}

#[test]
fn parts_come_go_and_move() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (data("assemblies/rack.step"), dir.path().join("rack.step"));
    let text = std::fs::read_to_string(&old).unwrap();
    let (code, found) = json_of(&old, &data("assemblies/frame.step"), &[]);
    assert_eq!(code, 1);
    let parts = &found["files"][0]["parts"];
    assert!(parts["added"].as_u64().unwrap() > 0 && parts["removed"].as_u64().unwrap() > 0, "{found}");

    // A product has another name.
    std::fs::write(&new, text.replace("pin_left", "PIN")).unwrap();
    let (code, found) = json_of(&old, &new, &[]);
    let parts = &found["files"][0]["parts"];
    assert_eq!((code, &parts["added"], &parts["removed"]), (1, &json!(0), &json!(0)), "{found}");
    assert!(parts["renamed"].as_u64().unwrap() > 0, "{found}");
    assert!(lines(&found, 0).iter().all(|l| l.contains("is called '")), "{found}");
}

#[test]
fn folders_are_compared_file_by_file() {
    let dir = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|f| dir.path().join(f));
    for folder in [&old, &new] {
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::copy(data("pin.step"), folder.join("sub/pin.step")).unwrap();
        std::fs::copy(data("bore.step"), folder.join("bore.step")).unwrap();
        std::fs::copy(data("socket.step"), folder.join("socket.step")).unwrap();
    }
    let both = [path(&old), path(&new)];
    let run = feeler(&["diff", &both[0], &both[1]]);
    assert_eq!((run.status.code(), run.stdout.len()), (Some(0), 0));
    assert!(String::from_utf8_lossy(&run.stderr).contains("files: 3 the same"));

    std::fs::write(new.join("bore.step"), wider_bore(0.01)).unwrap();
    std::fs::write(new.join("socket.step"), socket_with_a_hole()).unwrap();
    std::fs::rename(new.join("sub/pin.step"), new.join("sub/bolt.step")).unwrap();
    let (code, found) = json_of(&old, &new, &[]);
    let status = |k: usize| {
        let f = &found["files"][k];
        (f["name"].as_str().unwrap().to_owned(), f["status"].as_str().unwrap().to_owned())
    };
    let message: Vec<_> = (0..4).map(status).collect();
    let expected = [
        ("bore.step", "different"),
        ("socket.step", "failed"),
        ("sub/bolt.step", "added"),
        ("sub/pin.step", "removed"),
    ];
    assert_eq!(message, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(code, 1);
    let html = path(&dir.path().join("out.html"));
    let run = feeler(&["diff", &both[0], &both[1], "--html", &html]);
    let out = String::from_utf8_lossy(&run.stdout);
    assert!(out.contains("cannot be read any more") && out.contains("radius 10 -> 10.01 mm"), "{out}");
    assert!(std::fs::read_to_string(&html).unwrap().contains("radius 10 -&gt; 10.01 mm"));
}

#[test]
fn errors_name_the_mistake() {
    let fails = |old: &Path, new: &Path, message: &str| {
        let run = feeler(&["diff", &path(old), &path(new)]);
        let err = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{err}");
        assert!(err.contains(message), "{message}: {err}");
    };
    let dir = tempfile::tempdir().unwrap();
    let bore = data("bore.step");
    fails(&bore, &dir.path().join("nothing.step"), "the file or folder does not exist");
    fails(&bore, dir.path(), "give two files or two folders");
    fails(dir.path(), dir.path(), "neither folder contains");
    let bad = dir.path().join("bad.step");
    std::fs::write(&bad, "nothing").unwrap();
    fails(&bore, &bad, "cannot be read any more");
}

/// Revisions of bores, plates and blocks, of whose differences closed forms are known.
#[test]
fn the_volume_of_the_symmetric_difference_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    // A block of 50 × 50 × 40 mm is drilled: the bore without its hole is the block.
    let old = data("bore.step");
    let file = dir.path().join("block.step");
    let text = std::fs::read_to_string(&old).unwrap();
    let block = text.replace(",#410)", ")").replace("(#214,#262)", "(#214)").replace("(#347,#373)", "(#347)");
    std::fs::write(&file, block).unwrap();
    let value = |v: &Value, key: &str| v[key].as_f64().unwrap_or_else(|| panic!("{key}: {v}"));
    let hole = std::f64::consts::PI * 4000.0;
    for (a, b) in [(&file, &old), (&old, &file)] {
        let (_, found) = json_of(a, b, &[]);
        let [volume] = found["files"][0]["volumes"].as_array().unwrap().as_slice() else { panic!("{found}") };
        let (measured, error) = (value(volume, "volume"), value(volume, "error"));
        assert!((measured - hole).abs() <= 1e-10 * hole && error <= 1e-3, "{measured} ± {error}, {hole}");
        assert!((value(volume, "common") - (1e5 - hole)).abs() <= 1e-4, "{volume}");
    }
    let table = feeler(&["diff", &path(&file), &path(&old)]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("symmetric difference 12566.3706144 mm3"), "{table}");
    // A ring 1e-3 mm thin is below what the common volume is accurate to, and the error says so.
    std::fs::write(&file, wider_bore(1e-3)).unwrap();
    let (_, found) = json_of(&old, &file, &[]);
    let volume = &found["files"][0]["volumes"][0];
    let ring = std::f64::consts::PI * 40.0 * (10.001 * 10.001 - 100.0);
    let (measured, error) = (value(volume, "volume"), value(volume, "error"));
    assert!((measured - ring).abs() <= error, "{measured} ± {error} instead of {ring}");
    // A block of 40 × 30 mm with a void, whose trims deviate by 2e-7 mm, becomes higher.
    let text = std::fs::read_to_string(data("void.step")).unwrap();
    for height in [1e-3, 1e-4, 1e-5] {
        std::fs::write(&file, text.replace(",15.))", &format!(",{}))", 15.0 + height))).unwrap();
        let (_, found) = json_of(&data("void.step"), &file, &[]);
        let volume = &found["files"][0]["volumes"][0];
        let (measured, error, exact) = (value(volume, "volume"), value(volume, "error"), 1200.0 * height);
        assert!((measured - exact).abs() <= error, "{measured} ± {error} instead of {exact}");
    }
    // Identical solids differ by nothing.
    let (_, found) = json_of(&old, &old, &[]);
    assert_eq!(found["files"][0]["volumes"], json!([]));
    // A closed form: the part of a box outside a ball inside it, and a ball.
    let (_, found) = json_of(&data("box.step"), &data("sphere.step"), &[]);
    let volume = &found["files"][0]["volumes"][0];
    let exact = 24_000.0 - 4000.0 * std::f64::consts::PI / 3.0;
    let (measured, error) = (value(volume, "volume"), value(volume, "error"));
    assert!((measured - exact).abs() <= error && error < 1e-4, "{measured} ± {error} instead of {exact}");
}
