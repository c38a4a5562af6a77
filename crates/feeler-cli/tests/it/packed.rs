//! STEP files that are compressed by gzip or come from standard input.
#![allow(clippy::unwrap_used, reason = "test code")]

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program with bytes on its standard input.
fn feeler(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_feeler"));
    let run = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = run.spawn().unwrap();
    // If the program rejects its arguments, it does not read the input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn volumes(run: &Output) -> Vec<Value> {
    let v: Value = serde_json::from_slice(&run.stdout).unwrap();
    v["solids"].as_array().unwrap().iter().map(|s| s["volume"].clone()).collect()
}

#[test]
fn packed_or_piped_it_is_the_same_solid() {
    let step = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/bore.step")).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&step).unwrap();
    let packed = gzip.finish().unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.stpz"), &packed).unwrap();
    std::fs::write(dir.path().join("b.step.gz"), &packed).unwrap();
    let folder = dir.path().to_str().unwrap();
    let run = feeler(&["preprocess", folder, "--quiet"], b"");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let right = volumes(&feeler(&["inspect", "-", "--json"], &step));
    assert_eq!(right.len(), 1);
    let piped = dir.path().join("piped.feeler").to_str().unwrap().to_owned();
    assert_eq!(feeler(&["preprocess", "-", "-o", &piped], &packed).status.code(), Some(0), "piped");
    for name in ["a.feeler", "b.feeler", "piped.feeler"] {
        let file = format!("{folder}/{name}");
        assert_eq!(volumes(&feeler(&["inspect", &file, "--json"], b"")), right, "{name}");
    }
}

#[test]
fn standard_input_needs_a_file_for_the_result() {
    for args in [
        &["preprocess", "-"][..],
        &["preprocess", "-", "-o", "somewhere/"],
        &["preprocess", "-", "x.step", "-o", "y"],
    ] {
        let run = feeler(args, b"");
        let says = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code() == Some(2) && says.contains("-o FILE"), "{args:?}: {says}");
    }
    let run = feeler(&["inspect", "-"], b"nothing");
    let says = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(says.contains("standard input: is not a STEP file"), "{says}");
}
