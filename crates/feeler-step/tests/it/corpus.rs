//! Compares every model of the shared collection with an independent kernel and a count of its entities.
//!
//! The collection is located beside the repository and is not part of it; without it the test passes
//! without comparing anything.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use feeler_step::{StepError, read_step};

/// Models without solids, for which the error `NoSolids` is correct.
const WITHOUT_SOLIDS: [&str; 5] = [
    "wind-turbine-blade-15mw.step",
    "race-car-nose.step",
    "spindle-torus.step",
    "external-refs-assembly-catia.step",
    "malformed-representation.step",
];

/// Models that cannot be read yet, with the reason.
const KNOWN_FAILURES: [(&str, &str); 0] = [];

fn models() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    dir.join("manifest.json").is_file().then_some(dir)
}

/// Paths of the instances whose vertices do not lie in any box that the other kernel found for a solid in
/// world coordinates.
fn misplaced(import: &feeler_step::Import, entry: &serde_json::Value) -> Vec<String> {
    let boxes: Vec<Vec<f64>> = entry["solids_facts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|s| s["bbox_mm"].as_array())
        .map(|b| b.iter().map(|x| x.as_f64().expect("not a number")).collect())
        .collect();
    let inside = |b: &Vec<f64>, p: &feeler_geom::P3| {
        let tol = 1e-4 * (b[3] - b[0] + b[4] - b[1] + b[5] - b[2]);
        (0..3).all(|k| b[k] - tol <= p[k] && p[k] <= b[k + 3] + tol)
    };
    let mut free: Vec<bool> = vec![true; boxes.len()];
    let mut out = Vec::new();
    for instance in &import.instances {
        let points: Vec<_> =
            import.solids[instance.solid].vertices.iter().map(|v| instance.pose * v.point).collect();
        let found =
            boxes.iter().enumerate().position(|(i, b)| free[i] && points.iter().all(|p| inside(b, p)));
        match found {
            Some(i) => free[i] = false,
            None if boxes.is_empty() => {}
            None => out.push(instance.path.clone()),
        }
    }
    out
}

#[test]
#[allow(clippy::print_stderr, reason = "the test prints a table for developers")]
fn counts_agree_with_the_manifest() {
    let Some(dir) = models() else {
        eprintln!("no model collection beside the repository: nothing compared");
        return;
    };
    let text = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    let manifest: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut table = String::new();
    let mut failures = Vec::new();
    for entry in &manifest {
        let file = entry["file"].as_str().unwrap();
        let expected = ["distinct_solids", "solids", "file_faces", "file_edge_curves"]
            .map(|key| entry[key].as_u64().map(|n| usize::try_from(n).unwrap()));
        let clock = std::time::Instant::now();
        let result = read_step(&dir.join(file));
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        let outcome = match &result {
            Ok(import) => {
                let found =
                    [import.solids.len(), import.instances.len(), import.file_faces, import.file_edge_curves];
                let agrees = found.map(Some) == expected;
                writeln!(table, "{file:42} {ms:7.1} ms {found:?} {}", if agrees { "" } else { "DIFFERS" })
                    .unwrap();
                if import.instances.len() > 1 && import.instances.len() < 40 {
                    for i in &import.instances {
                        writeln!(
                            table,
                            "    {} {:?} {:.2?}",
                            i.path,
                            i.name,
                            i.pose.translation.vector.as_slice()
                        )
                        .unwrap();
                    }
                }
                for p in import.problems.iter().take(4) {
                    writeln!(table, "    {:?} {p}", p.severity).unwrap();
                }
                let misplaced = misplaced(import, entry);
                if !misplaced.is_empty() {
                    writeln!(table, "    misplaced: {misplaced:?}").unwrap();
                    failures.push(format!("{file}: misplaced {misplaced:?}"));
                }
                if agrees { Ok(()) } else { Err(format!("{file}: {found:?}, expected {expected:?}")) }
            }
            Err(e) => {
                writeln!(table, "{file:42} {ms:7.1} ms {e}").unwrap();
                let rightly = matches!(e, StepError::NoSolids { .. }) && WITHOUT_SOLIDS.contains(&file);
                if rightly { Ok(()) } else { Err(format!("{file}: {e}")) }
            }
        };
        if let Err(message) = outcome
            && !KNOWN_FAILURES.iter().any(|(f, _)| *f == file)
        {
            failures.push(message);
        }
    }
    eprintln!("{table}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
