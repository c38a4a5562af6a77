//! `feeler preprocess` on folders: files are independent of each other, results are in order, files that
//! are up to date are skipped, and an output is always complete or absent.
#![allow(clippy::unwrap_used, reason = "test code")]

use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

fn command(input: &Path, output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_feeler"));
    command.arg("preprocess").arg(input).arg("-o").arg(output).args(["--json", "--quiet"]);
    command
}

fn document(run: &Output) -> Value {
    serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&run.stderr)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every file below a folder with its bytes.
fn listing(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(f) = folders.pop() {
        for entry in std::fs::read_dir(&f).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Text of the document without the summary, durations and the path of the folder, which differ from run
/// to run.
fn timeless(mut v: Value, folder: &Path) -> String {
    v["summary"] = Value::Null;
    for i in v["inputs"].as_array_mut().unwrap() {
        i["wall_s"] = Value::Null;
    }
    v.to_string().replace(folder.to_str().unwrap(), "OUT")
}

/// Folder with a few models of `data`, one of them in a subfolder, and two invalid files.
fn folder(root: &Path) -> PathBuf {
    let input = root.join("in");
    std::fs::create_dir_all(input.join("sub")).unwrap();
    for name in ["bore.step", "cone.step", "plug.step", "torus-without-edges.step"] {
        std::fs::copy(data().join(name), input.join(name)).unwrap();
    }
    std::fs::copy(data().join("box.step"), input.join("sub/box.stp")).unwrap();
    std::fs::write(input.join("bad.step"), "nothing").unwrap();
    std::fs::write(input.join("sub/empty.step"), "").unwrap();
    std::fs::write(input.join("readme.txt"), "no model").unwrap();
    input
}

#[test]
fn bytes_and_order_do_not_depend_on_the_number_of_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let input = folder(dir.path());
    let mut before: Option<(BTreeMap<PathBuf, Vec<u8>>, String, String)> = None;
    for (jobs, memory) in [("1", "100000"), ("4", "100000"), ("4", "1")] {
        let output = dir.path().join(format!("out-{jobs}-{memory}"));
        let run = command(&input, &output).args(["--jobs", jobs, "--memory", memory]).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "two are bad: {}", text(&run.stderr));
        let v = document(&run);
        assert_eq!(v["summary"]["prepared"], 5, "{v}");
        assert_eq!(v["summary"]["failed"], 2, "{v}");
        let peak = &v["summary"]["peak_memory_bytes"];
        assert!(peak.is_null() || peak.as_u64().unwrap() > 1 << 20, "{v}");
        let now = (listing(&output), timeless(v, &output), text(&run.stderr));
        assert_eq!(now.0.len(), 5, "{:?}", now.0.keys());
        assert!(now.0.contains_key(Path::new("sub/box.feeler")), "the folders are mirrored");
        if let Some(before) = &before {
            assert!(before.0 == now.0, "bytes differ with {jobs} jobs");
            assert_eq!(before.1, now.1, "reports differ with {jobs} jobs");
            assert_eq!(before.2, now.2, "messages differ with {jobs} jobs");
        }
        before = Some(now);
    }
}

#[test]
fn outputs_that_are_up_to_date_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (folder(dir.path()), dir.path().join("out"));
    let report = dir.path().join("report.json");
    let run = |more: &[&str]| {
        let run = command(&input, &output).args(more).arg("--report").arg(&report).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "two are bad: {}", text(&run.stderr));
        let v = document(&run);
        let from_file: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        assert_eq!(v, from_file, "the report is the document");
        let unchanged: Vec<String> = v["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|i| i["unchanged"] == true)
            .map(|i| Path::new(i["path"].as_str().unwrap()).file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        (unchanged.join(" "), timeless(v, &output).replace("\"unchanged\":true", "\"unchanged\":false"))
    };
    let (unchanged, first) = run(&[]);
    assert_eq!(unchanged, "");
    let written = listing(&output);
    let modified = |name: &str| std::fs::metadata(output.join(name)).unwrap().modified().unwrap();
    let stamp = modified("cone.feeler");
    let (unchanged, again) = run(&[]);
    assert_eq!(unchanged, "bore cone plug box torus-without-edges");
    assert_eq!(first, again, "skipped inputs have the same facts as prepared ones");
    assert_eq!(modified("cone.feeler"), stamp, "written again");
    // An input changes, an output is damaged, an output is replaced by that of another input, and an
    // output is missing.
    let step = std::fs::read_to_string(input.join("cone.step")).unwrap();
    std::fs::write(input.join("cone.step"), step.replace("ENDSEC;", "ENDSEC; ")).unwrap();
    let mut damaged = written[Path::new("bore.feeler")].clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(output.join("bore.feeler"), damaged).unwrap();
    std::fs::write(output.join("plug.feeler"), &written[Path::new("bore.feeler")]).unwrap();
    std::fs::remove_file(output.join("sub/box.feeler")).unwrap();
    assert_eq!(run(&[]).0, "torus-without-edges");
    let mut now = listing(&output);
    assert_ne!(now[Path::new("cone.feeler")], written[Path::new("cone.feeler")], "another hash");
    now.insert("cone.feeler".into(), written[Path::new("cone.feeler")].clone());
    assert!(now == written, "bytes differ");
    // Other options, and `--force`, prepare all files again.
    assert_eq!(run(&["--flatness", "0.4"]).0, "");
    assert_eq!(run(&["--flatness", "0.4"]).0, "bore cone plug box torus-without-edges");
    assert_eq!(run(&["--flatness", "0.4", "--force"]).0, "");
}

#[test]
fn killed_runs_continue_to_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let input = folder(dir.path());
    let (undisturbed, output) = (dir.path().join("undisturbed"), dir.path().join("out"));
    let run = command(&input, &undisturbed).args(["--jobs", "2"]).output().unwrap();
    let whole = document(&run)["summary"]["wall_s"].as_f64().unwrap();
    let mut rng = SmallRng::seed_from_u64(11);
    for _ in 0..5 {
        let mut child = command(&input, &output)
            .args(["--jobs", "2", "--force"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..1.2 * whole)));
        child.kill().unwrap();
        child.wait().unwrap();
        for (name, bytes) in listing(&output) {
            if name.extension().is_some_and(|e| e == "feeler") {
                assert!(feeler_hierarchy::file::decode(&bytes).is_ok(), "{} is incomplete", name.display());
            }
        }
    }
    // A temporary file of a killed run, in case none of the runs above left one.
    std::fs::create_dir_all(&output).unwrap();
    std::fs::write(output.join(".box.feeler.4000000-0.tmp"), "half").unwrap();
    let run = command(&input, &output).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let (a, b) = (listing(&undisturbed), listing(&output));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "files");
    assert!(a == b, "bytes differ");
}

/// Ctrl-C while a file is being prepared: exit status 130, a message, and no temporary file.
#[cfg(unix)]
#[test]
fn interrupted_runs_leave_only_complete_files() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out"));
    std::fs::create_dir(&input).unwrap();
    // Enough copies that the run is not finished before the signal.
    for i in 0..2000 {
        std::fs::copy(data().join("bore.step"), input.join(format!("{i}.step"))).unwrap();
    }
    for signal in ["-INT", "-TERM"] {
        let child = command(&input, &output)
            .arg("--force")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = std::time::Instant::now();
        // Once the first files exist, the handler is installed. Only names are read, because temporary files
        // disappear.
        let is_whole = |e: &std::fs::DirEntry| e.path().extension().is_some_and(|x| x == "feeler");
        let whole = || std::fs::read_dir(&output).into_iter().flatten().flatten().filter(is_whole).count();
        while whole() < 3 && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let run = child.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(130), "{signal}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains("interrupted"), "{signal}: {}", text(&run.stderr));
        let left = listing(&output);
        assert!(left.len() < 2000, "the run finished before the signal");
        for (name, bytes) in left {
            assert_eq!(name.extension().unwrap(), "feeler", "{} was left behind", name.display());
            assert!(feeler_hierarchy::file::decode(&bytes).is_ok(), "{} is incomplete", name.display());
        }
        std::fs::remove_dir_all(&output).unwrap();
    }
}

#[test]
fn referenced_files_count() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in");
    std::fs::create_dir_all(input.join("parts")).unwrap();
    for name in ["frame.step", "rack.step", "parts/foot.stp"] {
        std::fs::copy(data().join("assemblies").join(name), input.join(name)).unwrap();
    }
    let output = dir.path().join("frame.feeler");
    let run = || {
        let run = command(&input.join("frame.step"), &output).output().unwrap();
        let v = document(&run);
        let i = &v["inputs"][0];
        (run.status.code().unwrap(), i["unchanged"] == true, i["solids"].as_u64().unwrap())
    };
    assert_eq!(run(), (1, false, 4), "one file is missing");
    assert_eq!(run(), (1, true, 4), "nothing has changed");
    // A referenced file changes, the missing file appears, and then another file disappears.
    std::fs::copy(data().join("box.step"), input.join("parts/foot.stp")).unwrap();
    assert_eq!(run(), (1, false, 4), "another foot");
    std::fs::copy(data().join("ball.step"), input.join("lost.stp")).unwrap();
    assert_eq!(run(), (0, false, 5), "complete");
    assert_eq!(run(), (0, true, 5), "nothing has changed");
    std::fs::remove_file(input.join("rack.step")).unwrap();
    assert_eq!(run(), (1, false, 2), "without the rack");
}

/// Outputs whose inputs no longer exist are listed, and deleted with `--prune`; other files are kept.
#[test]
fn stale_outputs_are_named_and_pruned() {
    let dir = tempfile::tempdir().unwrap();
    let [input, output] = ["in", "out"].map(|f| dir.path().join(f));
    std::fs::create_dir_all(input.join("sub")).unwrap();
    for name in ["pin.step", "sub/bore.step"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        std::fs::copy(from.join(Path::new(name).file_name().unwrap()), input.join(name)).unwrap();
    }
    let run = |args: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_feeler"))
            .arg("preprocess")
            .arg(&input)
            .arg("-o")
            .arg(&output)
            .args(args)
            .output()
            .unwrap();
        (run.status.code().unwrap(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    assert_eq!(run(&[]).0, 0, "the output folder is created");
    std::fs::write(output.join("mine.feeler"), "not a feeler file").unwrap();
    std::fs::remove_file(input.join("sub/bore.step")).unwrap();
    let (code, message) = run(&[]);
    assert!(code == 0 && message.contains("stale: ") && message.contains("bore.feeler"), "{message}");
    assert!(message.contains("--prune") && !message.contains("mine"), "{message}");
    assert!(output.join("sub/bore.feeler").exists());
    let (code, message) = run(&["--prune"]);
    assert!(code == 0 && message.contains("removed: "), "{message}");
    assert!(!output.join("sub/bore.feeler").exists() && output.join("pin.feeler").exists());
    assert!(output.join("mine.feeler").exists());
    assert!(!run(&[]).1.contains("stale"));
}

/// An expected failure does not count; a file that no longer fails must be removed from the list.
#[test]
fn expected_failures() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in");
    std::fs::create_dir_all(&input).unwrap();
    let pin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/pin.step");
    std::fs::copy(pin, input.join("pin.step")).unwrap();
    std::fs::write(input.join("broken.step"), "ISO-10303-21;").unwrap();
    let list = dir.path().join("known.txt");
    let run = |text: &str| {
        std::fs::write(&list, text).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_feeler"))
            .arg("preprocess")
            .arg(&input)
            .arg("--expect")
            .arg(&list)
            .output()
            .unwrap();
        (run.status.code().unwrap(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    assert_eq!(run("").0, 1);
    assert_eq!(run("broken.step # cut off\n").0, 0);
    let (code, message) = run("broken.step\npin.step\n");
    assert!(code == 1 && message.contains("'pin.step' is expected to fail"), "{message}");
    assert_eq!(run("[").0, 2);
}
