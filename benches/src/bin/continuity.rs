//! Small steps along smooth random motions: results must not jump or flicker (MATH §14.4).
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin continuity -- data [--steps N] [--seed N]
//! ```
//!
//! B swings about a pose near contact, in steps of about 1e-4 of the size. At each step
//!
//! - the smallest distance changes by at most the largest displacement of a point;
//! - a strict minimum that exists in one step and in the second step after it, at about the same point,
//!   exists in the step between; otherwise it is a *flicker*;
//! - a pair with cached results and a new pair give equal results, bit by bit (every 50th step).
//!
//! Exit status 1 if one of these conditions is violated.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, first_body, number_after, prepare};
use feeler_geom::{P3, Pose, math};
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryOptions, Status};
use feeler_tests::moving_pairs::{MOVING_PAIRS, MovingPair};
use nalgebra::{Translation3, UnitQuaternion, Vector3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Number of steps of one motion.
const STEPS_PER_MOTION: u32 = 500;

#[derive(Default)]
struct Counts {
    steps: u64,
    minima: u64,
    flickers: Vec<String>,
    jumps: Vec<String>,
    differences: Vec<String>,
    events: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = args.first() else {
        eprintln!("an argument is needed: the folder of the models (data)");
        return ExitCode::from(2);
    };
    let steps: u64 = number_after(&args, "--steps").unwrap_or(100_000);
    let seed: u64 = number_after(&args, "--seed").unwrap_or(1);
    let mut bad = 0;
    println!(
        "{:36} {:>7} {:>9} {:>7} {:>6} {:>9} {:>12}",
        "pair", "steps", "minima", "events", "jumps", "flickers", "differences"
    );
    for (i, case) in MOVING_PAIRS.iter().enumerate() {
        match run(Path::new(dir), case, steps / MOVING_PAIRS.len() as u64, seed * 1000 + i as u64) {
            Ok(c) => {
                let name = format!("{} / {}", case.0, case.1);
                println!(
                    "{name:36} {:7} {:9} {:7} {:6} {:9} {:12}",
                    c.steps,
                    c.minima,
                    c.events,
                    c.jumps.len(),
                    c.flickers.len(),
                    c.differences.len()
                );
                for x in c.jumps.iter().chain(&c.flickers).chain(&c.differences).take(5) {
                    println!("    {x}");
                }
                if c.minima == 0 {
                    eprintln!("{}: no minimum was found, so nothing was checked", case.0);
                    return ExitCode::from(2);
                }
                bad += c.jumps.len() + c.flickers.len() + c.differences.len();
            }
            Err(e) => {
                eprintln!("{} / {}: {e}", case.0, case.1);
                return ExitCode::from(2);
            }
        }
    }
    println!("{bad} failures");
    ExitCode::from(u8::from(bad > 0))
}

fn run(dir: &Path, &(a, b, t, mm, rad, d_max): &MovingPair, steps: u64, seed: u64) -> Fallible<Counts> {
    let body = |name: &str| first_body(&prepare(&dir.join(format!("{name}.step")))?);
    let ((body_a, own_a), (body_b, own_b)) = (body(a)?, body(b)?);
    let mut rng = SmallRng::seed_from_u64(seed);
    let options = QueryOptions::within(d_max);
    let mut counts = Counts::default();
    while counts.steps < steps {
        motion((&body_a, &own_a), (&body_b, &own_b), (t, mm, rad), &options, &mut rng, &mut counts);
    }
    Ok(counts)
}

/// Runs one motion of B, with sums of three sines for the position and for the rotation.
fn motion(
    (a, own_a): (&Arc<Body>, &Pose),
    (b, own_b): (&Arc<Body>, &Pose),
    (t, mm, rad): ([f64; 3], f64, f64),
    options: &QueryOptions,
    rng: &mut SmallRng,
    counts: &mut Counts,
) {
    let waves: [[f64; 2]; 6] =
        std::array::from_fn(|_| [rng.random_range(0.0..6.3), rng.random_range(0.3..1.0)]);
    let start = rng.random_range(0.0..6.3);
    let pose_at = |k: u32| {
        let s = start + f64::from(k) * 4e-4;
        let w: [f64; 6] = std::array::from_fn(|i| math::sin(waves[i][0] + waves[i][1] * 6.0 * s));
        let place = Vector3::from(t) + Vector3::new(w[0], w[1], w[2]) * (0.6 * mm);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(w[3], w[4], w[5]) * (0.6 * rad));
        Pose::from_parts(Translation3::from(place), turn) * own_b
    };
    let size = a.size().max(b.size());
    let corner = b.bounds().max.coords.abs().sup(&b.bounds().min.coords.abs()).norm();
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let mut past: Vec<(Vec<Contact>, Option<Status>)> = Vec::new();
    let mut last: Option<(Pose, Option<f64>)> = None;
    for k in 0..STEPS_PER_MOTION {
        let pose = pose_at(k);
        pair.query(own_a, &pose, options).expect("finite poses and options");
        counts.steps += 1;
        let now: Vec<Contact> = pair
            .contacts()
            .iter()
            .filter(|l| l.kind == ContactKind::Strict && !l.undecided)
            .copied()
            .collect();
        counts.minima += now.len() as u64;
        let status = pair.status();
        if k % 50 == 7 {
            let mut cold = ContactPair::new(a.clone(), b.clone());
            cold.query(own_a, &pose, options).expect("finite poses and options");
            let timeless = |l: &[Contact]| -> Vec<Contact> {
                l.iter().map(|l| Contact { id: 0, age: 0, ..*l }).collect()
            };
            if timeless(cold.contacts()) != timeless(pair.contacts()) || cold.status() != status {
                counts.differences.push(format!("warm and cold differ at step {k}, {}", shown(&pose)));
            }
        }
        let moved = last.map_or(0.0, |(old, _)| {
            let change = old.inverse() * pose;
            change.translation.vector.norm() + change.rotation.angle() * corner
        });
        let free = |s: Option<Status>| s == Some(Status::Separated);
        if let Some((old_pose, old_min)) = last
            && free(status)
            && past.last().is_some_and(|p| free(p.1))
        {
            let slack = moved * (1.0 + 1e-9) + 2e-7 * size;
            let ok = match (old_min, pair.min_distance()) {
                (Some(x), Some(y)) => (x - y).abs() <= slack,
                (Some(x), None) | (None, Some(x)) => x >= options.d_max - slack,
                (None, None) => true,
            };
            if !ok {
                let found = (old_min, pair.min_distance());
                counts.jumps.push(format!(
                    "{found:?}, but no point moved more than {moved:.2e}, step {k}, {} and {}",
                    shown(&old_pose),
                    shown(&pose)
                ));
            }
        }
        if let [.., (before, s0), (between, s1)] = past.as_slice()
            && free(*s0)
            && free(*s1)
            && free(status)
        {
            counts.events += u64::from(between.len() != now.len());
            // At flat contacts footpoints move faster than the solids, so the maximum distance of
            // footpoints that count as the same is generous.
            let near = 20.0 * moved + 1e-6 * size;
            let inside = |l: &Contact| l.distance < options.d_max - 4.0 * moved - 1e-6 * size;
            let at = |set: &[Contact], p: &P3, q: &P3, within: f64| {
                set.iter().any(|o| (o.point_a - p).norm() < within && (o.point_b - q).norm() < within)
            };
            for l in before.iter().filter(|l| inside(l)) {
                let (p, q) = (&l.point_a, &l.point_b);
                if at(&now, p, q, 2.0 * near) && !at(between, p, q, 4.0 * near) {
                    counts.flickers.push(format!(
                        "{:.6} {:?} {} / {:?} {} is gone for one step, {k}, before {}",
                        l.distance,
                        l.feature_a.kind,
                        l.feature_a.index,
                        l.feature_b.kind,
                        l.feature_b.index,
                        shown(&pose)
                    ));
                }
            }
        }
        past.push((now, status));
        if past.len() > 2 {
            past.remove(0);
        }
        last = Some((pose, pair.min_distance()));
    }
}

/// Formats a pose for the command line.
fn shown(pose: &Pose) -> String {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    format!("{},{},{},{},{},{},{}", t.x, t.y, t.z, q.x, q.y, q.z, q.w)
}
