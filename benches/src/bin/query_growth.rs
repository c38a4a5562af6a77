//! Growth of the cost of a query with the number of faces far from the contact: a plate with 10, 100,
//! 1,000 and 10,000 holes, and a pin or a ball that moves in one of them, with a play of 0.1 mm.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin query_growth [-- MAX_HOLES]
//! ```
//!
//! Prints the median time of warm queries (one pair of bodies, small steps) and of cold ones (a new pair
//! for each), with and without detecting interference, and the exponents between consecutive sizes. The
//! minima must be equal in all plates.
#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use feeler_benches::{Fallible, plate, plate_hole, spread};
use feeler_brep::SolidSource;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures::{cylinder, sphere};
use feeler_geom::Pose;
use feeler_hierarchy::Options;
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use nalgebra::{Translation3, UnitQuaternion, Vector3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Radius (mm) of the pin and the ball; the radius of the holes is 3 mm.
const RADIUS: f64 = 2.9;
/// Number of poses of the motion.
const STEPS: usize = 300;
const KINDS: [&str; 4] = ["warm", "cold", "warm, minima only", "cold, minima only"];

fn main() -> ExitCode {
    let max = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    for (name, source) in [("pin", cylinder(RADIUS, 12.0)), ("ball", sphere(RADIUS))] {
        if let Err(e) = run(name, &source, max) {
            println!("{name}: {e}");
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}

fn run(name: &str, source: &SolidSource, max: u32) -> Fallible<()> {
    println!("| {name}: holes | faces | {} µs | node pairs warm, cold | minima |", KINDS.join(" µs | "));
    println!("|---|---|---|---|---|---|---|---|");
    let moving = body(source)?;
    let mut before: Option<(f64, [f64; 4])> = None;
    let mut first: Option<Vec<Vec<f64>>> = None;
    let mut holes = 10;
    while holes <= max {
        let source = plate(holes);
        let faces = source.faces.len() as f64;
        let fixed = body(&source)?;
        let poses = walk(holes, name == "pin");
        let (mut us, mut nodes) = ([0.0; 4], [0.0; 4]);
        let mut minima = Vec::new();
        for k in 0..4 {
            let (time, visited, found) = pass(&fixed, &moving, &poses, k % 2 == 1, k < 2)?;
            (us[k], nodes[k]) = (time, visited);
            minima = found;
            let reference = first.get_or_insert_with(|| minima.clone());
            check(reference, &minima).map_err(|e| format!("{holes} holes, {}: {e}", KINDS[k]))?;
        }
        let counts = spread(&mut minima.iter().map(|m| m.len() as f64).collect::<Vec<_>>());
        let cells: Vec<String> = (0..4)
            .map(|k| match before {
                Some((n, old)) => format!("{:.1} ({:.2})", us[k], exponent(us[k] / old[k], faces / n)),
                None => format!("{:.1}", us[k]),
            })
            .collect();
        println!(
            "| {holes} | {faces} | {} | {:.0}, {:.0} | {:.0}, {:.0} |",
            cells.join(" | "),
            nodes[0],
            nodes[1],
            counts[0],
            counts[2]
        );
        before = Some((faces, us));
        holes *= 10;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a logarithm in a report")]
fn exponent(time: f64, size: f64) -> f64 {
    time.ln() / size.ln()
}

fn body(source: &SolidSource) -> Fallible<Arc<Body>> {
    let solid = build_solid(source, &BuildOptions::default()).map_err(|e| e.to_string())?;
    let options = Options { flatness: feeler_import::DEFAULT_FLATNESS };
    let hierarchy = feeler_prepare::prepare_solid(&solid, &options).map_err(|e| e.to_string())?;
    Ok(Arc::new(Body::new(hierarchy).map_err(|e| e.to_string())?))
}

/// Poses near the axis of a hole in the middle, each near the previous one; equal for all plates.
fn walk(holes: u32, upright: bool) -> Vec<Pose> {
    let mut rng = SmallRng::seed_from_u64(4);
    let [x, y] = plate_hole(holes);
    let height = if upright { -3.0 } else { 2.5 };
    let (mut shift, mut tilt) = (Vector3::new(0.02, 0.01, 0.0), Vector3::new(1e-3, -2e-3, 0.0));
    let mut near = |v: &mut Vector3<f64>, step: f64, most: f64| {
        *v = (*v + Vector3::from_fn(|_, _| rng.random_range(-step..step))).map(|c| c.clamp(-most, most));
    };
    (0..STEPS)
        .map(|_| {
            near(&mut shift, 0.005, 0.04);
            near(&mut tilt, 2e-4, 4e-3);
            let place = Translation3::from(Vector3::new(x, y, height) + shift);
            Pose::from_parts(place, UnitQuaternion::from_scaled_axis(tilt))
        })
        .collect()
}

/// Queries all poses. Returns the median time (µs), the median number of node pairs, and the distances of
/// the minima for each pose.
fn pass(
    a: &Arc<Body>,
    b: &Arc<Body>,
    poses: &[Pose],
    cold: bool,
    detect_interference: bool,
) -> Fallible<(f64, f64, Vec<Vec<f64>>)> {
    let options = QueryOptions { detect_interference, ..QueryOptions::within(0.2) };
    let (mut us, mut nodes, mut minima) = (Vec::new(), Vec::new(), Vec::new());
    let mut pair = ContactPair::new(a.clone(), b.clone());
    for pose in poses {
        if cold {
            pair = ContactPair::new(a.clone(), b.clone());
        }
        let clock = Instant::now();
        pair.query(&Pose::identity(), pose, &options).expect("finite poses and options");
        us.push(clock.elapsed().as_secs_f64() * 1e6);
        nodes.push(pair.stats().bvtt_nodes as f64);
        if pair.status().is_some_and(|s| s != Status::Separated) {
            return Err(format!("the parts are in contact at {pose}"));
        }
        minima.push(pair.contacts().iter().map(|l| l.distance).collect());
    }
    Ok((spread(&mut us)[0], spread(&mut nodes)[0], minima))
}

/// Compares minima of all poses: their numbers must be equal, and their distances equal except for
/// rounding.
fn check(expected: &[Vec<f64>], found: &[Vec<f64>]) -> Fallible<()> {
    for (i, (e, f)) in expected.iter().zip(found).enumerate() {
        // The tolerance of 1e-9 mm covers rounding, because coordinates in the largest plate are up to 1
        // m.
        if e.len() != f.len() || e.iter().zip(f).any(|(e, f)| (e - f).abs() > 1e-9) {
            return Err(format!("pose {i}: minima {f:?} instead of {e:?}"));
        }
    }
    Ok(())
}
