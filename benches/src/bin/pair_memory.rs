//! Memory of a pair after many different poses.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin pair_memory [-- POSES]
//! ```
//!
//! Pairs of models of `data/` are queried alternately with the default options and with signed contacts.
//! Poses are random: translations and rotations of all sizes, from 1e-6 of the size of the solids to the
//! whole size, about a pose at which they touch or overlap. Prints the memory of a pair after 0.1 %, 1
//! %, 10 % and all of the poses; bodies are not counted. Exit status 1 if the last 90 % of the poses
//! enlarge a pair by more than a quarter.
#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryOptions};
use feeler_tests::{model, random_pose};
use peak_alloc::PeakAlloc;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const PAIRS: [(&str, &str, [f64; 3]); 6] = [
    ("socket", "plug", [0.0, 0.0, 0.1]),
    ("stepped-seat", "stepped-cone", [0.0, 0.0, 0.2]),
    ("bayonet-socket", "bayonet-plug", [0.0, 0.0, 0.0]),
    ("perforated-plate", "pin-short", [4.0, 4.0, 16.0]),
    ("wave", "torus", [0.0, 0.0, 24.0]),
    ("box", "half-cone", [0.0, 0.0, 5.0]),
];

fn main() -> ExitCode {
    let poses: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let mut code = ExitCode::SUCCESS;
    println!("| pair | {} poses | {} | {} | {poses} |", poses / 1000, poses / 100, poses / 10);
    println!("|---|---|---|---|---|");
    for (a, b, t) in PAIRS {
        let kilobytes = run(a, b, t, poses);
        let columns: Vec<String> = kilobytes.iter().map(|k| format!("{k:.0} kB")).collect();
        println!("| {a} / {b} | {} |", columns.join(" | "));
        if kilobytes[3] > 1.25 * kilobytes[2] {
            code = ExitCode::from(1);
        }
    }
    code
}

/// Memory (kB) of the pair after a thousandth, a hundredth, a tenth and all of the poses.
fn run(a: &str, b: &str, t: [f64; 3], poses: u64) -> [f64; 4] {
    let (a, b) = (model(a).body, model(b).body);
    let size = a.size().min(b.size());
    let base = Pose::translation(t[0], t[1], t[2]);
    // Data that bodies compute at the first query belongs to them, so query twice before measuring.
    let query = |pair: &mut ContactPair, pose: &Pose, k: u64| {
        let penetration = if k.is_multiple_of(2) { 0.0 } else { 1e-3 * size };
        let options = QueryOptions { penetration, ..QueryOptions::within(0.02 * size) };
        pair.query(&Pose::identity(), pose, &options).expect("finite poses and options");
    };
    for k in 0..2 {
        query(&mut ContactPair::new(a.clone(), b.clone()), &base, k);
    }
    let before = ALLOCATOR.current_usage();
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let mut rng = SmallRng::seed_from_u64(5);
    let mut out = [0.0; 4];
    for k in 0..poses {
        let scale = (0..rng.random_range(0..7)).fold(1.0, |x, _| 0.1 * x);
        query(&mut pair, &random_pose(k, &base, scale * size, 3.0 * scale), k);
        for (part, kilobytes) in [1000, 100, 10, 1].into_iter().zip(&mut out) {
            if (k + 1) * part == poses {
                *kilobytes = (ALLOCATOR.current_usage() - before) as f64 / 1024.0;
            }
        }
    }
    out
}
