//! Invalid input: an error on stderr, the right exit status, no output file, no panic.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler};
use std::path::{Path, PathBuf};
use std::process::Output;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Preprocesses `content` and expects an error that contains all `words`.
fn refused(file: &str, content: &[u8], words: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join(file);
    std::fs::write(&input, content).unwrap();
    let run = feeler(&["preprocess", input.to_str().unwrap()]);
    let message = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{file}: {message}");
    assert!(message.contains(file), "{file}: the message does not name the file: {message}");
    assert!(!message.contains("panicked"), "{file}: {message}");
    for word in words {
        assert!(message.to_lowercase().contains(&word.to_lowercase()), "{file}: no '{word}' in: {message}");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 1, "{file}: files were left behind: {left:?}");
}

fn box_step() -> String {
    std::fs::read_to_string(data("box.step")).unwrap()
}

/// Returns the text of the first entity of type `word` in a STEP file, up to its semicolon.
fn entity(step: &str, word: &str) -> String {
    step.split_inclusive(';')
        .find(|e| e.contains(&format!("={word}(")) || e.contains(&format!("= {word}(")))
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn not_step() {
    refused("letter.step", b"Dear sir or madam,\n", &["not a STEP file"]);
    refused("picture.step", &[0x89, b'P', b'N', b'G', 0, 1, 2, 3, 255, 254], &["not a STEP file"]);
}

#[test]
fn empty() {
    refused("empty.step", b"", &["empty"]);
}

#[test]
fn truncated_in_the_middle() {
    let step = box_step();
    refused("half.step", &step.as_bytes()[..step.len() / 2], &["cut off"]);
}

#[test]
fn a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let run = feeler(&["preprocess", dir.path().to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("folder"), "{}", text(&run.stderr));
}

#[test]
fn unreadable() {
    let run = feeler(&["preprocess", "no/such/file.step"]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("no/such/file.step"), "{}", text(&run.stderr));
}

#[test]
fn no_solids() {
    let step = box_step();
    let solid = entity(&step, "MANIFOLD_SOLID_BREP");
    let (id, _) = solid.split_once('=').unwrap();
    let without = step.replace(&solid, &format!("{id}=CARTESIAN_POINT('',(0.,0.,0.));"));
    refused("nosolid.step", without.as_bytes(), &["no solid"]);
}

#[test]
fn only_an_open_shell() {
    let step = box_step();
    let solid = entity(&step, "MANIFOLD_SOLID_BREP");
    let shell = entity(&step, "CLOSED_SHELL");
    let (id, _) = solid.split_once('=').unwrap();
    let (shell_id, _) = shell.split_once('=').unwrap();
    let open = step
        .replace(&solid, &format!("{id}=SHELL_BASED_SURFACE_MODEL('',({shell_id}));"))
        .replace("CLOSED_SHELL", "OPEN_SHELL");
    refused("open.step", open.as_bytes(), &["shell"]);
}

#[test]
fn a_missing_face() {
    // A closed shell that lacks a face is open along four edges.
    let step = box_step();
    let shell = entity(&step, "CLOSED_SHELL");
    let (head, tail) = shell.split_once("',(").unwrap();
    let (_, rest) = tail.split_once(',').unwrap();
    refused("five.step", step.replace(&shell, &format!("{head}',({rest}")).as_bytes(), &["open", "#"]);
}

#[test]
fn an_edge_used_by_three_faces() {
    let step = box_step();
    let shell = entity(&step, "CLOSED_SHELL");
    let (head, tail) = shell.split_once("',(").unwrap();
    let (first, _) = tail.split_once(',').unwrap();
    // A copy of the first face is added under another number, so that the edges of the face are used
    // three times.
    let face = step
        .split_inclusive(';')
        .find(|e| {
            e.trim_start().starts_with(&format!("{first} ="))
                || e.trim_start().starts_with(&format!("{first}="))
        })
        .unwrap()
        .trim()
        .to_owned();
    let copy = face.replacen(first, "#99999", 1);
    let three = step.replace(&shell, &format!("{head}',(#99999,{tail}")).replacen(
        &face,
        &format!("{face}\n{copy}"),
        1,
    );
    refused("three.step", three.as_bytes(), &["edge", "#"]);
}

#[test]
fn invalid_numbers() {
    let step = box_step();
    let point =
        step.split_inclusive(';').filter(|e| e.contains("CARTESIAN_POINT")).nth(6).unwrap().trim().to_owned();
    let (head, tail) = point.rsplit_once("',(").unwrap();
    let (_, rest) = tail.split_once(',').unwrap();
    let id = head.split_whitespace().next().unwrap().trim_end_matches('=').split('=').next().unwrap();
    refused("huge.step", step.replace(&point, &format!("{head}',(1.E300,{rest}")).as_bytes(), &[id]);
    refused("nan.step", step.replace(&point, &format!("{head}',(NaN,{rest}")).as_bytes(), &["nan.step"]);
}

#[test]
fn a_face_without_surface() {
    let step = box_step();
    let plane = entity(&step, "PLANE");
    refused("nosurface.step", step.replace(&plane, "").as_bytes(), &["#"]);
}

#[test]
fn one_bad_file_does_not_stop_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("bad.step");
    std::fs::write(&bad, "nothing").unwrap();
    let run = feeler(&[
        "preprocess",
        data("box.step").to_str().unwrap(),
        bad.to_str().unwrap(),
        "-o",
        dir.path().to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    assert!(dir.path().join("box.feeler").is_file(), "the good one was not written");
    assert!(!dir.path().join("bad.feeler").exists(), "the bad one was written");
}

fn prepared(dir: &Path) -> PathBuf {
    let out = dir.join("box.feeler");
    let run = feeler(&["preprocess", data("box.step").to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    out
}

#[test]
fn feeler_files_cut_or_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let whole = std::fs::read(prepared(dir.path())).unwrap();
    // Thousands of damaged files are read by the function of the library that the program uses.
    for k in 0..50 {
        let cut = whole.len() * k / 50;
        assert!(feeler_hierarchy::file::decode(&whole[..cut]).is_err(), "cut at {cut} of {}", whole.len());
    }
    for i in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[i] ^= 1 << (i % 8);
        assert!(feeler_hierarchy::file::decode(&bytes).is_err(), "byte {i} flipped");
    }
    // A few damaged files are read by the program.
    for (name, bytes) in [
        ("cut.feeler", whole[..whole.len() / 2].to_vec()),
        ("flip.feeler", {
            let mut b = whole.clone();
            let n = b.len();
            b[n - 9] ^= 4;
            b
        }),
    ] {
        let file = dir.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let run = feeler(&["inspect", file.to_str().unwrap()]);
        let message = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{message}");
        assert!(message.contains(name) && !message.contains("panicked"), "{message}");
    }
}

#[test]
fn a_newer_format_version() {
    let dir = tempfile::tempdir().unwrap();
    let file = prepared(dir.path());
    let newer = feeler_hierarchy::file::with_version(
        &std::fs::read(&file).unwrap(),
        feeler_hierarchy::file::FORMAT_VERSION + 1,
    );
    std::fs::write(&file, newer).unwrap();
    let run = feeler(&["inspect", file.to_str().unwrap()]);
    let message = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(message.contains("version") && message.contains("newer"), "{message}");
}

/// Files in `data/format`, named after their format version and model, give the same results as the models.
/// Those of past versions are refused: when the version rises, files of the new one are added.
#[test]
fn stored_files_are_read_or_called_older() {
    let distances = |a: &Path, b: &Path| -> Vec<f64> {
        let [a, b] = [a, b].map(|p| p.to_str().unwrap());
        let run = feeler(&["query", a, b, "--d-max", "100", "--pose-b", "3,-2,60,0,0.6,0,0.8", "--json"]);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let contacts = document["contacts"].as_array().unwrap();
        contacts.iter().map(|c| c["distance"].as_f64().unwrap()).collect()
    };
    let current = feeler_hierarchy::file::FORMAT_VERSION;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(data("format")).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let (version, model) = name.split_once('-').unwrap();
        if version.parse::<u32>().unwrap() != current {
            let message = text(&feeler(&["inspect", file.to_str().unwrap()]).stderr);
            assert!(message.contains("older"), "{name}: {message}");
            continue;
        }
        let run = feeler(&["inspect", file.to_str().unwrap(), "--json"]);
        let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let solids = document["solids"].as_array().unwrap();
        assert!(solids.iter().all(|s| s["volume"].as_f64().unwrap() > 0.0), "{name}: {document}");
        if model != "frame" {
            let fresh = data(&format!("{model}.step"));
            let other = data("sphere.step");
            let (stored, fresh) = (distances(&file, &other), distances(&fresh, &other));
            assert!(!stored.is_empty() && stored.len() == fresh.len(), "{name}: {stored:?}, {fresh:?}");
            let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
            assert!(stored.iter().zip(&fresh).all(is_same), "{name}: {stored:?}, {fresh:?}");
        }
        found.push(model.to_owned());
    }
    found.sort();
    assert_eq!(found, ["cone", "frame", "wave"], "files of version {current} in data/format");
}

#[test]
fn wrong_usage() {
    let (a, b) = (data("box.step"), data("sphere.step"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    for args in [
        vec!["query", a, b],
        vec!["query", a, b, "--d-max", "-1"],
        vec!["query", a, b, "--d-max", "nan"],
        vec!["query", a, b, "--d-max", "1", "--pose-b", "1,2"],
        vec!["query", a, b, "--d-max", "1", "--solid-a", "7"],
        vec!["query", a, b, "--d-max", "1", "--solid-b", "no such name"],
        vec!["query", a, b, "--d-max", "1", "--tolerance", "0"],
        vec!["preprocess"],
        vec!["preprocess", a, b, "-o", "one.feeler"],
        vec!["frobnicate"],
    ] {
        let run = feeler(&args);
        assert_eq!(run.status.code(), Some(2), "{args:?}: {}", text(&run.stderr));
        assert!(!run.stderr.is_empty() && run.stdout.is_empty(), "{args:?}");
    }
}

/// Poses whose rounding exceeds a tenth of the tolerance are rejected with the limit, unless the solids are
/// farther apart than `--d-max` or share the offset.
#[test]
fn poses_far_away() {
    let (a, b) = (data("box.step"), data("sphere.step"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let query = |more: &[&str]| feeler(&[&["query", a, b], more].concat());
    for pose_b in ["1e13,0,0", "0,-1e155,1e155", "0,0,1e300"] {
        let run = query(&["--d-max", "inf", "--pose-b", pose_b]);
        let message = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{pose_b}: {message}");
        assert!(run.stdout.is_empty(), "{pose_b}");
        for words in ["box.step", "the coordinates reach", "allows at most", "give a larger tolerance"] {
            assert!(message.contains(words), "{pose_b}: {message}");
        }
        let run = query(&["--d-max", "1", "--pose-b", pose_b]);
        assert_eq!(run.status.code(), Some(0), "{pose_b}: {}", text(&run.stderr));
    }
    let near = query(&["--d-max", "inf", "--pose-b", "64,0,0", "--json"]);
    let far =
        query(&["--d-max", "inf", "--pose-a", "1e15,0,0", "--pose-b", "1000000000000064,0,0", "--json"]);
    let distance = |run: &Output| -> f64 {
        let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        document["contacts"][0]["distance"].as_f64().unwrap()
    };
    assert!((distance(&near) - distance(&far)).abs() < 1e-12, "{}", text(&far.stderr));
    let steps = tempfile::tempdir().unwrap();
    let steps = steps.path().join("steps.json");
    std::fs::write(&steps, r#"{"poses_b":[[100,0,0,0,0,0,1],[1e13,0,0,0,0,0,1]]}"#).unwrap();
    let run = feeler(&["sweep", a, b, "--d-max", "1e14", "--trajectory", steps.to_str().unwrap()]);
    let message = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(message.contains("step 1") && message.contains("allows at most"), "{message}");
}

/// Numbers that are not finite or out of range are rejected before a file is read; the error states what to
/// give.
#[test]
fn numbers_out_of_range() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = dir.path().join("far.json");
    std::fs::write(&matrix, "[[1,0,0,1e999],[0,1,0,0],[0,0,1,0],[0,0,0,1]]").unwrap();
    let matrix = format!("@{}", matrix.display());
    let steps = dir.path().join("steps.json");
    std::fs::write(&steps, r#"{"poses_b":[[0,0,0,0,0,0,1],[1e999,0,0,0,0,0,1]]}"#).unwrap();
    let steps = steps.to_str().unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["query", "--d-max", "1", "--pose-b", "1,nan,0"], "millimetres"),
        (&["query", "--d-max", "1", "--pose-a", "inf,0,0,0,0,0,1"], "millimetres"),
        (&["query", "--d-max", "1", "--pose-b", "0,0,0,0,0,0,-inf"], "unit quaternion"),
        (&["query", "--d-max", "1", "--pose-b", &matrix], "far.json"),
        (&["query", "--d-max", "nan"], "give a number"),
        (&["query", "--d-max=-1"], "give 0 or more"),
        (&["query", "--d-max", "1", "--quasi-angle", "1"], "pi/4"),
        (&["query", "--d-max", "1", "--quasi-angle", "nan"], "give a number"),
        (&["query", "--d-max", "1", "--tolerance", "nan"], "give a number"),
        (&["query", "--d-max", "1", "--tolerance", "0"], "give a length"),
        (&["query", "--d-max", "1", "--tolerance=-0.1"], "give a length"),
        (&["query", "--d-max", "1", "--dilation-a", "inf"], "give a number"),
        (&["query", "--d-max", "1", "--dilation-b", "nan"], "give a number"),
        (&["query", "--d-max", "1", "--conformal-spacing", "0"], "give a length"),
        (&["sweep", "--d-max", "1", "--trajectory", steps], "steps.json"),
        (&["sweep", "--d-max", "1", "--trajectory", steps, "--tolerance", "inf"], "give a number"),
    ];
    for (args, remedy) in cases {
        let files = ["/nonexistent/a.step", "/nonexistent/b.step"];
        let run = feeler(&[&args[..1], &files[..], &args[1..]].concat());
        let message = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(remedy) && !message.contains("panicked"), "{args:?}: {message}");
        assert!(run.stdout.is_empty(), "{args:?}");
    }
}
