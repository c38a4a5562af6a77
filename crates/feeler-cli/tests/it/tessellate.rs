//! `feeler tessellate` from images to cells: JSON, files, checkpoints, and messages of invalid input.

#![expect(clippy::unwrap_used, reason = "an error fails the test")]

use crate::common::feeler;
use feeler_geom::{P3, V3};
use feeler_tessellation::{Domain, Site, SiteIndex, VoxelImage};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Writes an image of eight cells with 24³ voxels as NRRD.
fn image(folder: &Path) -> PathBuf {
    let domain = Domain { lengths: V3::repeat(24.0), periodic: [false; 3] };
    let sites: Vec<Site> = (0..8)
        .map(|k| {
            let f = |axis: u32| {
                f64::from(5 + 13 * (k >> axis & 1))
                    + f64::from((k * (axis + 3)) % 5) * 0.73
                    + 0.11 * f64::from(k)
            };
            Site { position: P3::new(f(0), f(1), f(2)), weight: 1.37 * f64::from(k) }
        })
        .collect();
    let mut image = VoxelImage::of_tessellation(&SiteIndex::new(&domain, &sites).unwrap(), [24; 3]);
    image.labels.iter_mut().for_each(|l| *l *= 10);
    let file = folder.join("grains.nrrd");
    image.save_nrrd(&file).unwrap();
    file
}

fn tessellate(args: &[&str]) -> Output {
    feeler(&[&["tessellate"], args].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn cells_of_an_image_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path());
    let image = image.to_str().unwrap();
    let files = ["cells.vtu", "cells.stl", "cells.geo", "cells.html"].map(|n| folder.path().join(n));
    let [vtu, stl, geo, html] = files.each_ref().map(|f| f.to_str().unwrap());
    let output =
        tessellate(&[image, "-o", vtu, "-o", stl, "-o", geo, "--html", html, "--min-edge", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["schema"], &document["converged"]), (&1.into(), &true.into()));
    assert!(document["rms_voxels"].as_f64().unwrap() < 0.01, "{}", document["rms_voxels"]);
    assert!(document["rand_index"].as_f64().unwrap() > 0.999, "{}", document["rand_index"]);
    let cells = document["cells"].as_array().unwrap();
    let labels: Vec<u64> = cells.iter().map(|c| c["label"].as_u64().unwrap()).collect();
    assert_eq!(labels, [10, 20, 30, 40, 50, 60, 70, 80]);
    for cell in cells {
        let [voxels, volume] = ["voxels", "volume_voxels"].map(|k| cell[k].as_f64().unwrap());
        assert!((voxels - volume).abs() < 0.03 * voxels, "{cell}");
        assert!(cell["neighbours"].as_array().unwrap().len() >= 3, "{cell}");
    }
    assert!(std::fs::read_to_string(vtu).unwrap().contains("NumberOfCells=\"8\""));
    assert_eq!(std::fs::read_to_string(stl).unwrap().matches("endsolid grain_").count(), 8);
    assert_eq!(std::fs::read_to_string(geo).unwrap().matches("Physical Volume(").count(), 8);
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("<h1>grains.nrrd</h1>") && page.contains("merged"), "the page has a summary");
    assert_eq!(page.matches("<tr data-show=").count(), 8, "a row for each cell");
    // The table and other threads.
    let table = tessellate(&[image, "--threads", "1"]);
    assert!(String::from_utf8_lossy(&table.stdout).contains("Rand index"), "{}", stderr(&table));
    let again = tessellate(&[image, "--threads", "3", "--min-edge", "1", "--json"]);
    let mut again: Value = serde_json::from_slice(&again.stdout).unwrap();
    again["wall_s"] = document["wall_s"].clone();
    assert_eq!(again, document, "threads");
}

#[test]
fn a_fit_continues_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path());
    let image = image.to_str().unwrap();
    let checkpoint = folder.path().join("fit.checkpoint");
    let checkpoint = checkpoint.to_str().unwrap();
    let whole = tessellate(&[image, "--json"]);
    let part = tessellate(&[image, "--json", "--checkpoint", checkpoint, "--max-iterations", "2"]);
    assert_eq!(part.status.code(), Some(1));
    assert!(
        stderr(&part).contains("not converged after 2 iterations (--max-iterations)"),
        "{}",
        stderr(&part)
    );
    let rest = tessellate(&[image, "--json", "--checkpoint", checkpoint]);
    assert_eq!(rest.status.code(), Some(0), "{}", stderr(&rest));
    let [mut a, b] = [&whole, &rest].map(|o| serde_json::from_slice::<Value>(&o.stdout).unwrap());
    a["wall_s"] = b["wall_s"].clone();
    assert_eq!(a, b, "the fit continues with the same bits");
    let other = tessellate(&[image, "--voronoi", "--checkpoint", checkpoint]);
    assert_eq!(other.status.code(), Some(2));
    assert!(
        stderr(&other).contains("fit.checkpoint: is of another image or of other options"),
        "{}",
        stderr(&other)
    );
}

#[test]
fn messages_name_the_file_and_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let raw = folder.path().join("grains.raw");
    std::fs::write(&raw, [1, 1, 2, 2, 3, 3, 4, 4]).unwrap();
    let raw = raw.to_str().unwrap();
    for (args, expected) in [
        (vec![raw], "grains.raw: a raw file needs its size"),
        (vec![raw, "--size", "3,3,3"], "has 8 bytes of voxels, but 27 are expected"),
        (vec![raw, "--size", "3,3"], "give the numbers of voxels along three axes"),
        (vec![raw, "--size", "2,2,2", "--type", "u12"], "is not a type of voxels"),
        (vec![raw, "--size", "2,2,2", "-o", "cells.obj"], "cells.obj: the format is not known"),
        (vec![raw, "--size", "2,2,2", "--periodic", "xw"], "'w' is not an axis"),
        (vec!["none.nrrd"], "none.nrrd: cannot be read"),
        (vec![raw, "--size", "2,2,2", "--html", "nowhere/cells.html"], "the folder does not exist"),
    ] {
        let output = tessellate(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}
