//! The clearance of an assembly from C: the program of docs/BINDINGS.md, compiled by the C compiler, has the
//! findings of `feeler_assembly`, which the command `feeler clearance` prints; and invalid arguments.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls the C interface as C does")]

use feeler::assembly::{Assembly, ClearanceOptions, Rules, clearance};
use feeler_c::*;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};

const RULES: &str = "[[rule]]\nname = 'play'\na = 'pin*'\nb = 'block'\nmin = 0.2";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn error() -> String {
    unsafe { CStr::from_ptr(feeler_last_error()) }.to_string_lossy().into_owned()
}

/// Findings of the library for Rust, in the format of the C program.
fn expected() -> Vec<String> {
    let model = feeler::prepare_step(root().join("data/assemblies/rack.step")).expect("a model");
    let assembly = Assembly::from_model(&model).expect("an assembly");
    let rules = Rules::from_toml(RULES).expect("valid rules");
    let report = clearance(assembly.parts(), &rules, &ClearanceOptions::default()).expect("a report");
    let line = |pair: &feeler::assembly::ClearancePair| {
        let [a, b] = pair.parts.map(|i| &assembly.parts()[i].path);
        let kind = pair.finding.map_or(-1, |f| FeelerFindingKind::from(f) as i32);
        let measured = pair.measurement.as_ref().expect("a measured pair");
        let point = measured.nearest.as_ref().expect("a minimum").points[0];
        let rule = pair.rule.as_deref().unwrap_or("");
        let distance = pair.distance().expect("a distance");
        format!(
            "{a} / {b}: kind {kind} ({rule}), {distance:.9} mm at {:.6} {:.6} {:.6}",
            point.x, point.y, point.z
        )
    };
    report.findings().map(line).collect()
}

/// The library that cargo has built for this test.
fn library() -> PathBuf {
    let folder = std::env::current_exe().expect("this test").parent().expect("a folder").to_owned();
    let name = format!("{}feeler_c{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let found = [folder.join(&name), folder.parent().expect("a folder").join(&name)];
    found.into_iter().find(|p| p.exists()).expect("cargo builds the shared library of the crate")
}

#[cfg(unix)]
#[test]
fn the_program_of_the_guide_has_the_findings_of_the_library() {
    let guide = std::fs::read_to_string(root().join("docs/BINDINGS.md")).expect("the guide");
    let mut programs = guide.split("```c\n").skip(1).map(|block| block.split("```").next().unwrap_or(""));
    let program = programs.find(|code| code.contains("feeler_clearance_new")).expect("the program");
    let folder = tempfile::tempdir().expect("a folder");
    let (source, binary) = (folder.path().join("clearance.c"), folder.path().join("clearance"));
    std::fs::write(&source, program).expect("a file");
    let library = library();
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root().join("crates/feeler-capi/include"))
        .args([&source, &library])
        .arg("-o")
        .arg(&binary)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let done = Command::new(&binary)
        .current_dir(root())
        .env("LD_LIBRARY_PATH", library.parent().expect("a folder"))
        .env("DYLD_LIBRARY_PATH", library.parent().expect("a folder"))
        .output()
        .expect("the program runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    let (lines, expected) = (printed.lines().collect::<Vec<_>>(), expected());
    assert_eq!(expected.len(), 2, "the pins have a play of 0.1 mm");
    assert_eq!(lines, expected);
}

#[test]
fn invalid_arguments_are_errors() {
    let rules = |text: &str| CString::new(text).expect("no null character");
    let (mut assembly, mut result) = (null_mut(), null_mut());
    unsafe {
        assert_eq!(feeler_assembly_new(&raw mut assembly), FeelerResult::Ok);
        assert_eq!(feeler_assembly_add(assembly, null(), null(), null()), FeelerResult::Argument);
        assert_eq!(error(), "model is NULL");
        let check =
            |rules: *const _, options: *const _, out| feeler_clearance_new(assembly, rules, options, out);
        let text = rules("[[rule]]\nmax = 1");
        assert_eq!(check(text.as_ptr(), null(), &raw mut result), FeelerResult::Argument);
        assert!(error().contains("max"), "{}", error());
        let text = rules(RULES);
        let mut options = FeelerClearanceOptions { struct_size: 0, reserved: 0, d_max: 0.1, tolerance: 0.0 };
        assert_eq!(check(text.as_ptr(), &raw const options, &raw mut result), FeelerResult::Argument);
        options.struct_size = u32::try_from(size_of::<FeelerClearanceOptions>()).expect("a small struct");
        assert_eq!(check(text.as_ptr(), &raw const options, &raw mut result), FeelerResult::Query);
        assert!(error().contains("d_max is 0.1 mm"), "{}", error());
        // An assembly without parts has no findings.
        assert_eq!(check(null(), null(), &raw mut result), FeelerResult::Ok, "{}", error());
        let mut count = 1;
        assert_eq!(feeler_clearance_finding_count(result, &raw mut count), FeelerResult::Ok);
        assert_eq!(count, 0);
        let out = &raw mut count;
        assert_eq!(
            feeler_clearance_finding(result, 0, out.cast(), null_mut(), null_mut(), null_mut()),
            FeelerResult::Argument
        );
        assert!(error().contains("no finding 0"), "{}", error());
        feeler_clearance_free(result);
        feeler_clearance_free(null_mut());
        feeler_assembly_free(assembly);
    }
}
