//! `feeler view` and pages with pictures; tools/view tests them in browsers.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::feeler_in_data as feeler;
use serde_json::Value;
use std::path::Path;

/// Runs the program, which must succeed, and returns its messages.
fn done(args: &[&str]) -> String {
    let run = feeler(args);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{args:?}: {text}");
    text
}

/// Runs the program, which must fail with exit status 2, and returns its messages.
fn refused(args: &[&str]) -> String {
    let run = feeler(args);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{args:?}: {text}");
    text
}

/// Path of the file `name` in a temporary folder.
fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_page_is_one_file_and_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let [first, second] = ["a.html", "b.html"].map(|n| path(&dir, n));
    let message = done(&["view", "assemblies/rack.step", "-o", &first]);
    assert!(message.contains("7 parts") && message.contains("2 pairs"), "{message}");
    done(&["view", "assemblies/rack.step", "-o", &second]);
    let pages = [&first, &second].map(|p| std::fs::read_to_string(p).unwrap());
    assert_eq!(pages[0], pages[1]);
    assert!(pages[0].contains("id=\"picture\"") && pages[0].ends_with("</html>\n"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing beside them");
    done(&["view", "assemblies/rack.step", "--plain", "-o", &second]);
    assert!(std::fs::metadata(&second).unwrap().len() < std::fs::metadata(&first).unwrap().len());
}

#[test]
fn gltf_has_all_parts() {
    let dir = tempfile::tempdir().unwrap();
    let file = path(&dir, "rack.glb");
    done(&["view", "assemblies/rack.step", "-o", &file]);
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(&bytes[..4], b"glTF");
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    // The parts, and the node that rotates and scales them.
    assert_eq!(document["nodes"].as_array().unwrap().len(), 8);
    let finer = path(&dir, "fine.glb");
    let message = done(&["view", "assemblies/rack.step", "-o", &finer, "--chord", "0.001"]);
    assert!(std::fs::metadata(&finer).unwrap().len() > bytes.len() as u64, "{message}");
}

#[test]
fn a_sweep_is_played_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let [json, direct, later] = ["sweep.json", "direct.html", "later.html"].map(|n| path(&dir, n));
    let sweep = ["sweep", "-q", "socket.step", "plug.step", "--d-max", "2", "--joint", "0,0,0,0,0,1"];
    let sweep = [&sweep[..], &["--slide", "20,1", "--steps", "7", "--json", "--html", &direct]].concat();
    let run = feeler(&sweep);
    std::fs::write(&json, &run.stdout).unwrap();
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    let heights: Vec<f64> =
        document["frames"].as_array().unwrap().iter().map(|f| f["pose_b"][2].as_f64().unwrap()).collect();
    assert!(heights.len() == 8 && (heights[0] - 20.0).abs() < 1e-12 && (heights[7] - 1.0).abs() < 1e-12);
    assert_eq!(document["b"]["file"], "plug.step");
    assert!(
        std::fs::read_to_string(&direct).unwrap().matches("data-show=").count() >= 8,
        "a row for each step"
    );
    done(&["view", "-q", "socket.step", "plug.step", "--sweep", &json, "-o", &later]);

    let message = refused(&["view", "socket.step", "--sweep", &json, "-o", &later]);
    assert!(message.contains("give the two files that were swept"), "{message}");
    let message = refused(&["view", "socket.step", "plug.step", "--sweep", "bayonet.json", "-o", &later]);
    assert!(message.contains("bayonet.json") && message.contains("sweep --json"), "{message}");
}

#[test]
fn pages_of_reports_show_what_their_rows_are_about() {
    let dir = tempfile::tempdir().unwrap();
    let page = |name: &str, args: &[&str]| {
        let file = path(&dir, name);
        let run = feeler(&[args, &["-q", "--html", &file]].concat());
        assert!(matches!(run.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&run.stderr));
        let page = std::fs::read_to_string(file).unwrap();
        assert!(page.contains("id=\"picture\""), "{name}: no picture");
        page.matches("data-show=\"").count()
    };
    // The style and the script of the page contain the attribute too, but in other forms.
    assert_eq!(page("clearance.html", &["clearance", "assemblies/rack.step"]), 2);
    assert!(page("diff.html", &["diff", "pin.step", "pin-short.step"]) >= 3);
    assert_eq!(page("mechanism.html", &["mechanism", "arm/arm.toml", "--no-proof", "--steps", "5"]), 20);
    let prepared = path(&dir, "prepared");
    assert!(page("import.html", &["preprocess", "plug.step", "socket.step", "-o", &prepared]) >= 2);
    assert!(page("regress.html", &["regress", "suite.toml", "--only", "*plug*"]) >= 1);
}

#[test]
fn nothing_to_show_is_no_picture() {
    let dir = tempfile::tempdir().unwrap();
    let file = path(&dir, "same.html");
    done(&["diff", "-q", "pin.step", "pin.step", "--html", &file]);
    assert!(!std::fs::read_to_string(file).unwrap().contains("id=\"picture\""));
}

#[test]
fn errors_name_the_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let page = path(&dir, "page.html");
    let cases: [(&[&str], &str); 8] = [
        (&["view", "plug.step", "-o", "plug.png"], "ends with .html or .glb"),
        (&["view", "plug.step", "-o", "nowhere/plug.html"], "the folder does not exist"),
        (&["view", "none.step", "-o", &page], "none.step"),
        (&["view", "plug.step", "-o", &page, "--chord", "0"], "not above 0"),
        (&["view", "plug.step", "-o", &page, "--live", "nowhere"], "feeler.js"),
        (&["view", "plug.step", "-o", &page, "--sweep", "nowhere.json"], "nowhere.json: cannot read"),
        (&["view", "plug.step", "-o", &page, "--pose", "1=0,0,0"], "numbered from 0"),
        (
            &["view", "plug.step", "-o", &path(&dir, "plug.glb"), "--live", "nowhere"],
            "--live is only for pages",
        ),
    ];
    for (args, what) in cases {
        let message = refused(args);
        assert!(message.contains(what), "{args:?}: {message}");
    }
    assert!(!Path::new(&page).exists(), "half a page");
}
