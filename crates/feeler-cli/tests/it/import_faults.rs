//! Faulty STEP files on the command line: either the intended solid is prepared, with a warning, or the
//! file is rejected.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler};
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs `inspect --json` on the text of a STEP file. Returns the volumes of the solids and the warnings,
/// or the error.
fn inspect(text: &str) -> Result<(Vec<f64>, Vec<String>), String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.step");
    std::fs::write(&path, text).unwrap();
    let run = feeler(&["inspect", path.to_str().unwrap(), "--json"]);
    if !run.status.success() {
        return Err(String::from_utf8(run.stderr).unwrap());
    }
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let volumes =
        report["solids"].as_array().unwrap().iter().map(|s| s["volume"].as_f64().unwrap()).collect();
    let warnings = report["warnings"].as_array().unwrap().iter();
    Ok((volumes, warnings.map(|w| w.as_str().unwrap().to_owned()).collect()))
}

/// Solids of `tools/models/make_swept.py`: every face is a swept surface, volumes are closed forms.
#[test]
fn swept_surfaces_have_the_volumes_of_closed_forms() {
    let facts: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(data("swept/swept.json")).unwrap()).unwrap();
    let run = feeler(&["inspect", data("swept/swept.step.gz").to_str().unwrap(), "--json"]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let warnings: Vec<&str> =
        report["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    let solids: BTreeMap<&str, f64> = report["solids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["name"].as_str().unwrap(), s["volume"].as_f64().unwrap()))
        .collect();
    assert_eq!(facts.len(), 60);
    for (name, fact) in &facts {
        let wanted = fact["volume"].as_f64().unwrap();
        let is_right = solids.get(name.as_str()).is_some_and(|v| (v - wanted).abs() <= 1e-6 * wanted);
        // If a file does not determine which half of a profile is meant, a warning says so.
        let id = format!("#{}", fact["id"]);
        let is_told = fact["open"] == true && warnings.iter().any(|w| w.contains(&id));
        assert!(
            is_right || is_told,
            "{name} ({}): {:?} instead of {wanted}",
            fact["what"],
            solids.get(name.as_str())
        );
    }
}

/// Splits a line with an entity of type `kind` into the text before the type and the attributes.
fn attributes<'a>(line: &'a str, kind: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (head, rest) = line.split_once(&format!("{kind}("))?;
    let rest = rest.strip_suffix(");")?;
    head.ends_with("= ").then(|| (head, rest.rsplitn(5, ',').collect::<Vec<_>>().into_iter().rev().collect()))
}

/// Applies a function to every line of a file; a line for which it returns `None` is unchanged.
fn edited(text: &str, edit: impl FnMut(&str) -> Option<String>) -> String {
    let mut edit = edit;
    text.lines().map(|l| edit(l).unwrap_or_else(|| l.to_owned()) + "\n").collect()
}

fn read(name: &str) -> (String, f64) {
    let text = std::fs::read_to_string(data(name)).unwrap();
    let (volumes, warnings) = inspect(&text).unwrap();
    assert_eq!((volumes.len(), warnings.len()), (1, 0), "{name}: {warnings:?}");
    (text, volumes[0])
}

/// Whether a damaged file is repaired to the given volume, with a warning that contains `says`. A file
/// that is not repaired must be rejected.
#[track_caller]
fn is_repaired(name: &str, text: &str, volume: f64, says: &str) -> bool {
    let Ok((volumes, warnings)) = inspect(text) else { return false };
    let is_same = volumes.len() == 1 && (volumes[0] - volume).abs() <= 1e-6 * volume;
    assert!(is_same, "{name}: {volumes:?}, not {volume}: {warnings:?}");
    warnings.iter().any(|w| w.contains(says) && w.contains('#'))
}

const PARTS: [&str; 6] =
    ["socket.step", "bayonet-plug.step", "bore.step", "spool.step", "race.step", "inch-bracket.step"];

#[test]
fn swapped_vertices() {
    let mut repaired = 0;
    for name in PARTS {
        let (text, volume) = read(name);
        for every in [1, 3, 7] {
            let mut k = 0;
            let damaged = edited(&text, |line| {
                let (head, a) = attributes(line, "EDGE_CURVE")?;
                k += 1;
                let [name, from, to, curve, sense] = a[..] else { return None };
                (from != to && k % every == 0)
                    .then(|| format!("{head}EDGE_CURVE({name},{to},{from},{curve},{sense});"))
            });
            repaired += usize::from(is_repaired(name, &damaged, volume, "vertices swapped"));
        }
    }
    assert!(repaired >= 12, "{repaired} repaired");
}

#[test]
fn edges_out_of_order() {
    let mut repaired = 0;
    for name in PARTS {
        let (text, volume) = read(name);
        let damaged = edited(&text, |line| {
            let (head, rest) = line.split_once("EDGE_LOOP('',(")?;
            let mut ids: Vec<&str> = rest.strip_suffix("));")?.split(',').collect();
            if ids.len() < 4 {
                return None;
            }
            ids.swap(1, 2);
            Some(format!("{head}EDGE_LOOP('',({}));", ids.join(",")))
        });
        repaired += usize::from(is_repaired(name, &damaged, volume, "out of order"));
    }
    assert!(repaired >= 3, "{repaired} repaired");
}

/// Inner bounds of faces, which are holes, get the wrong sense: one of them, or all.
#[test]
fn inner_bounds_turned() {
    let mut repaired = 0;
    for name in ["socket.step", "bore.step", "perforated-plate.step"] {
        let (text, volume) = read(name);
        // Long lists continue on the next line.
        let joined = text.replace("\n", "").replace(' ', "");
        let inner: Vec<&str> = joined
            .split(';')
            .filter_map(|l| l.split_once("ADVANCED_FACE('',(")?.1.split_once(')'))
            .flat_map(|(bounds, _)| bounds.split(',').skip(1))
            .collect();
        assert!(!inner.is_empty(), "{name}");
        for all in [false, true] {
            let damaged = edited(&text, |line| {
                let (id, rest) = line.split_once(" = FACE_BOUND(")?;
                let k = inner.iter().position(|i| *i == id)?;
                let (from, to) = if rest.contains(".T.") { (".T.", ".F.") } else { (".F.", ".T.") };
                (all || k == 0).then(|| format!("{id} = FACE_BOUND({}", rest.replace(from, to)))
            });
            repaired += usize::from(is_repaired(name, &damaged, volume, "was reversed"));
        }
    }
    assert!(repaired >= 3, "{repaired} repaired");
}

#[test]
fn arcs_the_other_way_round() {
    let mut repaired = 0;
    for name in PARTS {
        let (text, volume) = read(name);
        let n_edges = text.matches("= EDGE_CURVE(").count();
        for wrong in 0..n_edges {
            let mut k = 0;
            let damaged = edited(&text, |line| {
                let (head, a) = attributes(line, "EDGE_CURVE")?;
                k += 1;
                let [name, from, to, curve, sense] = a[..] else { return None };
                let other = if sense == ".T." { ".F." } else { ".T." };
                (k - 1 == wrong && from != to)
                    .then(|| format!("{head}EDGE_CURVE({name},{from},{to},{curve},{other});"))
            });
            // Only edges on circles can get this warning: an edge on a line is determined by its ends.
            repaired += usize::from(is_repaired(name, &damaged, volume, "around its circle"));
        }
    }
    assert!(repaired >= 6, "{repaired} repaired");
}

/// The orientation of one use of an edge is wrong: the loop does not connect, and the other loop of the edge
/// shows that its vertices are right, even if that loop has only two edges. A closed edge does not disconnect
/// its loop.
#[test]
fn flags_of_single_edges() {
    let (mut repaired, mut n) = (0, 0);
    for name in
        ["bore.step", "inch-bracket.step", "half-cone.step", "pin.step", "ring.step", "touching/rounded.step"]
    {
        let (text, volume) = read(name);
        let n_uses = text.matches("ORIENTED_EDGE(").count();
        for wrong in (0..n_uses).step_by(n_uses.div_ceil(12)) {
            let mut k = 0;
            let damaged = edited(&text, |line| {
                let (head, rest) = line.split_once("ORIENTED_EDGE(")?;
                k += 1;
                let other = if rest.contains(".T.") {
                    rest.replace(".T.", ".F.")
                } else {
                    rest.replace(".F.", ".T.")
                };
                (k - 1 == wrong).then(|| format!("{head}ORIENTED_EDGE({other}"))
            });
            n += 1;
            repaired += usize::from(is_repaired(name, &damaged, volume, ""));
        }
    }
    assert!(10 * repaired >= 9 * n, "{repaired} of {n} repaired");
}

/// A circle that touches a side of the block at a point is an edge with two vertices there. Two holes that
/// share an edge have two vertices at each of its ends.
#[test]
fn solids_that_touch_themselves() {
    let hole = 1000.0 - 40.0 * std::f64::consts::PI;
    for (name, volume) in [("touching/tangent-hole.step", hole), ("touching/touching-edge.step", 680.0)] {
        let text = std::fs::read_to_string(data(name)).unwrap();
        let (volumes, warnings) = inspect(&text).unwrap();
        assert!((volumes[0] - volume).abs() <= 1e-9 * volume, "{name}: {volumes:?}, {warnings:?}");
    }
}

/// The sense of a rounded corner, of one or of all, is wrong: the loops are consistent with both sides of its
/// sphere, and the tangent neighbours show which one is meant.
#[test]
fn senses_of_rounded_corners() {
    let (text, volume) = read("touching/rounded.step");
    let spheres: Vec<&str> =
        text.lines().filter_map(|l| Some(l.split_once(" = SPHERICAL_SURFACE(")?.0)).collect();
    assert_eq!(spheres.len(), 8);
    for damaged in [&spheres[..1], &spheres[5..6], &spheres[..]] {
        let text = edited(&text, |line| {
            let face =
                line.contains("ADVANCED_FACE(") && damaged.iter().any(|s| line.contains(&format!("),{s},")));
            face.then(|| {
                if line.ends_with(".T.);") {
                    line.replace(".T.);", ".F.);")
                } else {
                    line.replace(".F.);", ".T.);")
                }
            })
        });
        assert!(is_repaired("rounded", &text, volume, "fold back on its tangent neighbour"), "{damaged:?}");
    }
}
