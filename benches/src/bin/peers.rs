//! feeler compared with parry3d-f64 on triangles, on the same trajectory, one thread each.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin peers \
//!     -- [FOLDER] [--scenario s2] [--every N] [--parts 1,4,10]
//!     [--manifolds-only] [--json]
//! ```
//!
//! feeler queries all poses of a phase in sequence with one `ContactPair`, `d_max` = 2 × clearance, with
//! and without detecting interference. parry gets triangles of the same solids made by feeler, with chord
//! errors of the clearance divided by each of `--parts`, and computes `distance` and `contact_manifolds`
//! (prediction = `d_max`, manifolds and workspace kept from pose to pose) at each Nth pose (10) and at
//! the poses whose distance the scenario contains.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::triangles::{self, Manifolds, parry_pose};
use feeler_benches::{Fallible, number_after, scenarios, spread};
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use feeler_tests::insertion::Insertion;
use parry3d_f64::query;
use parry3d_f64::shape::TriMesh;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let scenes = match scenarios(&args) {
        Ok(scenes) => scenes,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    };
    let every = number_after(&args, "--every").unwrap_or(10);
    let parts = number_after::<String>(&args, "--parts").unwrap_or_else(|| "1,4,10".into());
    let Ok(parts) = parts.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>() else {
        eprintln!("--parts needs numbers separated by commas");
        return ExitCode::from(2);
    };
    let distance = !args.iter().any(|a| a == "--manifolds-only");
    let json = args.iter().any(|a| a == "--json");
    let mut out = Vec::new();
    for scene in &scenes {
        let name = &scene.name;
        match run(scene, (every.max(1), distance), &parts) {
            Ok(result) => {
                if !json {
                    print(&result);
                }
                out.push(result);
            }
            Err(e) => {
                eprintln!("{name}: {e}");
                return ExitCode::from(1);
            }
        }
    }
    if json {
        println!("{}", Value::Array(out));
    }
    ExitCode::SUCCESS
}

/// One query of one engine.
struct Measurement {
    us: f64,
    /// Number of contacts; `None` if the query computes only the distance.
    contacts: Option<usize>,
    /// Smallest distance (mm); `None` if no contact within reach exists.
    distance: Option<f64>,
    /// Whether the engine reports that the parts touch or overlap, which they never do.
    collides: bool,
}

/// A phase with the distances that feeler found in it.
struct Phase<'a> {
    name: &'a str,
    scene: &'a Insertion,
    /// Smallest distance (mm) found by feeler, by index of the pose.
    feeler: BTreeMap<usize, f64>,
}

/// Formats the results of one engine in one phase.
fn row(
    phase: &Phase<'_>,
    engine: &str,
    chord: Option<f64>,
    measurements: &[(usize, Measurement)],
    reach: f64,
) -> Value {
    let [median, p95, max] = spread(&mut measurements.iter().map(|(_, a)| a.us).collect::<Vec<_>>());
    let mut contacts: Vec<f64> = measurements.iter().filter_map(|(_, a)| a.contacts).map(to_f64).collect();
    let [usual, _, most] = spread(&mut contacts);
    let (mut compared, mut worst) = (0, 0.0_f64);
    for (pose, measurement) in measurements {
        let Some(&exact) = phase.scene.scenario.reference_min_distance.get(pose) else { continue };
        compared += 1;
        // If the distance exceeds the reach, the engine must report no contact.
        worst = worst.max(match measurement.distance {
            Some(d) => (d - exact).abs(),
            None if exact > reach => 0.0,
            None => f64::INFINITY,
        });
    }
    let apart = |(i, measurement): &(usize, Measurement)| Some(measurement.distance? - phase.feeler.get(i)?);
    let apart: Vec<f64> = measurements.iter().filter_map(apart).collect();
    json!({
        "phase": phase.name, "engine": engine, "chord_mm": chord, "poses": measurements.len(),
        "us_median": median, "us_p95": p95, "us_max": max,
        "contacts_median": if contacts.is_empty() { Value::Null } else { json!(usual) },
        "contacts_max": if contacts.is_empty() { Value::Null } else { json!(most) },
        "reference_poses": compared,
        "largest_error_mm": if compared > 0 && worst.is_finite() { json!(worst) } else { Value::Null },
        "colliding_poses": measurements.iter().filter(|(_, a)| a.collides).count(),
        "minus_feeler_poses": apart.len(),
        "minus_feeler_min_mm": apart.iter().copied().min_by(f64::total_cmp),
        "minus_feeler_max_mm": apart.iter().copied().max_by(f64::total_cmp),
        "missed": worst.is_infinite(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts in a report")]
fn to_f64(n: usize) -> f64 {
    n as f64
}

fn timed<T>(query: impl FnOnce() -> T) -> (f64, T) {
    let clock = Instant::now();
    let result = query();
    (clock.elapsed().as_secs_f64() * 1e6, result)
}

fn run(scene: &Insertion, (every, distance): (usize, bool), parts: &[f64]) -> Fallible<Value> {
    let name = &scene.name;
    let clearance = scene.scenario.clearance;
    let d_max = scene.d_max();
    let mut meshes = Vec::new();
    let mut facts = Vec::new();
    for part in parts {
        let chord = clearance / part;
        let pair = [
            trimesh(&scene.a.0, &scene.scenario.a, chord, &mut facts)?,
            trimesh(&scene.b.0, &scene.scenario.b, chord, &mut facts)?,
        ];
        meshes.push((chord, pair));
    }
    let mut rows = Vec::new();
    for (phase, from, to) in &scene.scenario.phases {
        let mut phase = Phase { name: phase, scene, feeler: BTreeMap::new() };
        for (engine, detect_interference) in [("feeler", true), ("feeler, minima only", false)] {
            let options = QueryOptions { detect_interference, ..QueryOptions::within(d_max) };
            let measurements = ours(scene, *from..*to, &options);
            phase.feeler = measurements.iter().filter_map(|(i, a)| Some((*i, a.distance?))).collect();
            rows.push(row(&phase, engine, None, &measurements, d_max));
        }
        let of_reference = |i: &usize| scene.scenario.reference_min_distance.contains_key(i);
        let some: Vec<usize> = (*from..*to).filter(|i| (i - from) % every == 0 || of_reference(i)).collect();
        for (chord, pair) in &meshes {
            let measurements = manifolds(scene, pair, &some, d_max)?;
            rows.push(row(&phase, "parry contact_manifolds", Some(*chord), &measurements, d_max));
            if distance {
                let measurements = distances(scene, pair, &some)?;
                rows.push(row(&phase, "parry distance", Some(*chord), &measurements, f64::INFINITY));
            }
        }
    }
    Ok(json!({
        "scenario": name, "clearance_mm": clearance, "d_max_mm": d_max, "every": every,
        "meshes": facts, "rows": rows,
    }))
}

fn trimesh(body: &Body, file: &str, chord: f64, facts: &mut Vec<Value>) -> Fallible<TriMesh> {
    let solid = body.hierarchy();
    let mesh = feeler_view::mesh::mesh(solid, chord).map_err(|e| e.to_string())?;
    let relative = |ours: f64, exact: f64| (ours - exact) / exact;
    facts.push(json!({
        "solid": file, "chord_mm": chord, "triangles": mesh.triangles.len(),
        "area_error": relative(mesh.area(), solid.info.area),
        "volume_error": relative(mesh.volume(), solid.info.volume),
        "crossings": mesh.crossings,
    }));
    triangles::shape(mesh)
}

fn ours(
    scene: &Insertion,
    poses: std::ops::Range<usize>,
    options: &QueryOptions,
) -> Vec<(usize, Measurement)> {
    let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    poses
        .map(|i| {
            let (us, contacts) = timed(|| {
                pair.query(&scene.a.1, &scene.poses[i], options).expect("finite poses and options").len()
            });
            (
                i,
                Measurement {
                    us,
                    contacts: Some(contacts),
                    distance: pair.min_distance(),
                    collides: pair.status().map_or_else(
                        || pair.min_distance().is_some_and(|d| d <= pair.tolerances().tol),
                        |s| s != Status::Separated,
                    ),
                },
            )
        })
        .collect()
}

fn manifolds(
    scene: &Insertion,
    pair: &[TriMesh; 2],
    poses: &[usize],
    prediction: f64,
) -> Fallible<Vec<(usize, Measurement)>> {
    let mut manifolds = Manifolds::default();
    let mut out = Vec::new();
    for &i in poses {
        let pose = parry_pose(&scene.a.1.inv_mul(&scene.poses[i]));
        let (us, found) = timed(|| manifolds.update(&pose, pair, prediction));
        let (contacts, distance) = found?;
        let collides = distance.is_some_and(|d| d <= 0.0);
        out.push((i, Measurement { us, contacts: Some(contacts), distance, collides }));
    }
    Ok(out)
}

fn distances(
    scene: &Insertion,
    [a, b]: &[TriMesh; 2],
    poses: &[usize],
) -> Fallible<Vec<(usize, Measurement)>> {
    let pose_a = parry_pose(&scene.a.1);
    let one = |&i: &usize| {
        let pose_b = parry_pose(&scene.poses[i]);
        let (us, distance) = timed(|| query::distance(&pose_a, a, &pose_b, b));
        let distance = distance.map_err(|e| e.to_string())?.distance;
        Ok((i, Measurement { us, contacts: None, distance: Some(distance), collides: distance <= 0.0 }))
    };
    poses.iter().map(one).collect()
}

fn print(result: &Value) {
    let text = |v: &Value| match v {
        Value::Null => "-".to_owned(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let number =
        |v: &Value, digits: usize| v.as_f64().map_or_else(|| "-".into(), |x| format!("{x:.digits$}"));
    println!("{}, every {} poses for parry:", text(&result["scenario"]), result["every"]);
    for m in result["meshes"].as_array().into_iter().flatten() {
        println!(
            "  {}: chord error {} mm: {} triangles, area {:+.1e}, volume {:+.1e}, {} crossings",
            text(&m["solid"]),
            number(&m["chord_mm"], 4),
            m["triangles"],
            m["area_error"].as_f64().unwrap_or(f64::NAN),
            m["volume_error"].as_f64().unwrap_or(f64::NAN),
            m["crossings"]
        );
    }
    println!(
        "| phase | engine | chord mm | poses | median µs | 95 % | max | contacts (median, max) | distance \
            error (mm; poses) | minus feeler's (mm; poses) | colliding |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for r in result["rows"].as_array().into_iter().flatten() {
        let error = match (&r["missed"], r["largest_error_mm"].as_f64()) {
            (Value::Bool(true), _) => "missed".into(),
            (_, Some(e)) => format!("{e:.1e}"),
            _ => "-".into(),
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {}, {} | {error}; {} | {}, {}; {} | {} |",
            text(&r["phase"]),
            text(&r["engine"]),
            number(&r["chord_mm"], 4),
            r["poses"],
            number(&r["us_median"], 0),
            number(&r["us_p95"], 0),
            number(&r["us_max"], 0),
            number(&r["contacts_median"], 0),
            number(&r["contacts_max"], 0),
            r["reference_poses"],
            number(&r["minus_feeler_min_mm"], 4),
            number(&r["minus_feeler_max_mm"], 4),
            r["minus_feeler_poses"],
            r["colliding_poses"]
        );
    }
}
