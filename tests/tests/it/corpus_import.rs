//! Area and volume of every solid of the shared corpus agree with those of an independent kernel.
//!
//! The tests are skipped unless a folder `shared` with the corpus is beside the repository. Run with
//! `--nocapture` for the table.
#![expect(clippy::print_stdout, reason = "the table is a result of the test")]

use std::path::{Path, PathBuf};

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::{Solid, SolidSource};
use serde::Deserialize;

/// Maximum relative difference of area and volume of solids whose faces are all canonical in the file.
const CANONICAL: f64 = 1e-6;
/// Maximum relative difference of area and volume of other solids.
const FREE_FORM: f64 = 1e-5;

/// Solids with larger differences, each with its cause. The list may only shrink.
const KNOWN_DIFFERENCES: &[(&str, u64, &str)] = &[
    (
        "boxed-sphere.step",
        11,
        "the other kernel is wrong: its parameter curves are 0.06 mm off the edges; refined meshes converge \
            to 210.05 mm3, feeler gives 210.0499, it gives 208.59",
    ),
    ("beer-bottle.step", 15, "free-form offset surfaces, approximated to 2e-4 mm: 1.0 mm3 of 58440"),
    (
        "satellite-body-catia.step",
        25,
        "edges are off their free-form faces by more than 1e-3 mm: 0.8 mm3 of 72808; meshes scatter by 3 mm3",
    ),
    (
        "ur-tool-coupler.step",
        2011,
        "edges are 1.4e-3 mm off their faces: the other kernel's sum includes the gaps and depends on its \
            reference point; 0.14 mm3 of 39100",
    ),
];

#[derive(Deserialize)]
struct Model {
    file: String,
    solids: Option<usize>,
    distinct_solids: Option<usize>,
    area_mm2: Option<f64>,
    volume_mm3: Option<f64>,
    #[serde(default)]
    solids_facts: Vec<Facts>,
}

#[derive(Deserialize)]
struct Facts {
    area_mm2: f64,
    volume_mm3: f64,
}

/// The corpus, if it is present.
fn corpus() -> Option<(PathBuf, Vec<Model>)> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models");
    let text = std::fs::read_to_string(models.join("manifest.json")).ok()?;
    Some((models, serde_json::from_str(&text).expect("the manifest is JSON")))
}

#[test]
fn every_solid_of_the_corpus_has_the_known_area_and_volume() {
    let Some((models, manifest)) = corpus() else { return };
    let mut failures: Vec<String> = vec![];
    let mut n_solids = 0;
    for model in &manifest {
        let file = &model.file;
        let import = match feeler_step::read_step(&models.join(file)) {
            Ok(import) => import,
            Err(e) => {
                println!("{file}: rejected: {e}");
                if model.solids.is_some_and(|n| n > 0) {
                    failures.push(format!("{file}: {e}"));
                }
                continue;
            }
        };
        if model.distinct_solids.is_some_and(|n| n != import.solids.len()) {
            failures.push(format!("{file}: wrong number of distinct solids: {}", import.solids.len()));
        }
        if model.solids.is_some_and(|n| n != import.instances.len()) {
            failures.push(format!("{file}: wrong number of placed solids: {}", import.instances.len()));
        }
        let mut built: Vec<Option<Solid>> = vec![];
        for source in &import.solids {
            n_solids += 1;
            match build_solid(source, &BuildOptions::default()) {
                Ok(solid) => {
                    check_solid(file, model, source, &solid, &mut failures);
                    built.push(Some(solid));
                }
                Err(e) => {
                    println!("{file} #{}: {e}", source.id);
                    failures.push(format!("{file}: {e}"));
                    built.push(None);
                }
            }
        }
        // For files with many solids the manifest has only sums.
        if model.solids_facts.is_empty() {
            let sum = |f: &dyn Fn(&Solid) -> f64| -> f64 {
                import.instances.iter().filter_map(|i| built[i.solid].as_ref()).map(f).sum()
            };
            let pairs = [(sum(&|s| s.area), model.area_mm2), (sum(&|s| s.volume), model.volume_mm3)];
            for (got, known) in pairs {
                if let Some(known) = known.filter(|k| *k > 0.0)
                    && (got / known - 1.0).abs() > FREE_FORM
                {
                    failures.push(format!("{file}: the sum over all solids is {got} instead of {known}"));
                }
            }
        }
    }
    println!("{n_solids} solids");
    assert!(n_solids > 400, "the corpus has more solids than {n_solids}");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn check_solid(file: &str, model: &Model, source: &SolidSource, solid: &Solid, failures: &mut Vec<String>) {
    let off = |f: &Facts| ((solid.area / f.area_mm2 - 1.0).abs(), (solid.volume / f.volume_mm3 - 1.0).abs());
    // Readers list the solids of a file in different orders, so the solid is identified by the nearest
    // values.
    let best = model.solids_facts.iter().min_by(|a, b| {
        let cost = |f: &Facts| off(f).0 + off(f).1;
        cost(a).total_cmp(&cost(b))
    });
    let Some(facts) = best else {
        println!("{file} #{}: area {:.6e} volume {:.6e}", solid.source, solid.area, solid.volume);
        return;
    };
    let (area, volume) = off(facts);
    // The surfaces in the file decide, because the other kernel integrates canonical shapes written as
    // splines numerically.
    let canonical = source.faces.iter().all(|f| f.surface.is_canonical());
    let tol = if canonical { CANONICAL } else { FREE_FORM };
    let known = KNOWN_DIFFERENCES.iter().find(|k| k.0 == file && k.1 == solid.source);
    let good = area <= tol && volume <= tol;
    println!(
        "{file} #{}: area off {area:.1e} volume off {volume:.1e} {}{}",
        solid.source,
        if good { "ok" } else { "DIFFERS" },
        known.map_or_else(String::new, |k| format!(" ({})", k.2)),
    );
    match (good, known) {
        (false, None) => failures.push(format!(
            "{file} #{}: area off {area:.2e}, volume off {volume:.2e}, allowed {tol:.0e}",
            solid.source
        )),
        (true, Some(_)) => {
            failures.push(format!("{file} #{}: agrees now; remove it from the list", solid.source));
        }
        _ => {}
    }
}

/// Solids of the imported files whose values differ from those of the other kernel: file, number of
/// faces, cause.
const KNOWN_OF_IMPORTS: &[(&str, usize, &str)] = &[
    (
        "connector-xt30pw-m.step",
        21,
        "the other kernel takes the other three quarters of a horn torus that bends a pin by a right angle: \
            it gives 6.22 mm3, the closed forms of the parts sum up to 25.96",
    ),
    (
        "keyswitch-mx.step",
        224,
        "a face is 3.4e-4 mm off all its edges, which leaves the volume undetermined to 1e-4; meshes, which \
            extend the face to its edges, converge to 294.8645 mm3, feeler gives 294.8689, the other kernel \
            294.8359",
    ),
    (
        "lqfp-48.step",
        764,
        "edges miss each other by 6e-4 mm at corners; meshes converge to 178.5282 mm2 and 66.4324 mm3, \
            feeler gives 178.5292 and 66.4325, the other kernel 178.5250 and 66.4276",
    ),
];

#[derive(Deserialize)]
struct Imported {
    file: String,
    solids: Vec<ImportedSolid>,
}

#[derive(Deserialize)]
struct ImportedSolid {
    area_mm2: f64,
    volume_mm3: f64,
    faces: usize,
    largest_edge_tolerance_mm: f64,
}

#[test]
fn files_of_other_systems_are_read_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/imports");
    let Ok(text) = std::fs::read_to_string(folder.join("facts.json")) else { return };
    let files: Vec<Imported> = serde_json::from_str(&text).expect("the facts are JSON");
    let mut failures: Vec<String> = vec![];
    for Imported { file, solids } in &files {
        let import = feeler_step::read_step(&folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        if import.instances.len() != solids.len() {
            failures.push(format!("{file}: wrong number of solids: {}", import.instances.len()));
        }
        for source in &import.solids {
            let solid = match build_solid(source, &BuildOptions::default()) {
                Ok(solid) => solid,
                Err(e) => {
                    failures.push(format!("{file}: {e}"));
                    continue;
                }
            };
            let off = |f: &ImportedSolid| {
                ((solid.area / f.area_mm2 - 1.0).abs(), (solid.volume / f.volume_mm3 - 1.0).abs())
            };
            let own = solids.iter().filter(|f| f.faces == source.faces.len()).min_by(|a, b| {
                let cost = |f: &ImportedSolid| off(f).0 + off(f).1;
                cost(a).total_cmp(&cost(b))
            });
            let Some(facts) = own else {
                failures.push(format!("{file}: no solid has {} faces", source.faces.len()));
                continue;
            };
            let (area, volume) = off(facts);
            let deviation =
                solid.edges.iter().flat_map(|e| &e.sides).fold(0.0, |m: f64, s| m.max(s.deviation));
            let is_rough = facts.largest_edge_tolerance_mm.max(deviation) > 1e-4;
            let good = area.max(volume) <= if is_rough { 1e-5 } else { 1e-6 };
            let known = KNOWN_OF_IMPORTS.iter().any(|k| k.0 == file && k.1 == source.faces.len());
            println!(
                "{file} #{}: area off {area:.1e} volume off {volume:.1e} edges off {deviation:.1e}",
                source.id
            );
            if good == known {
                failures.push(format!("{file} #{}: area off {area:.1e} volume off {volume:.1e}", source.id));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
