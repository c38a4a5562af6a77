//! Cold queries on insertion scenarios:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin scenarios \
//!     -- [FOLDER] [--every N] [--flatness RAD] [--warm] [--between N]
//! ```
//!
//! With `--warm` one pair of bodies is queried at all poses of a phase; otherwise each query has a new
//! pair. `--between` divides the motion between two poses into N equal steps, as a simulator would, and
//! measures all of them. FOLDER contains scenarios and their models; the default is `data`. One thread;
//! `d_max` = 2 × clearance.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{number_after, scenarios, spread};
use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let every = number_after(&args, "--every").unwrap_or(1);
    let warm = args.iter().any(|a| a == "--warm");
    let between = number_after(&args, "--between").unwrap_or(1).max(1);
    match scenarios(&args) {
        Ok(scenes) => {
            scenes.into_iter().for_each(|scene| run(scene, every, between, warm));
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}

fn run(scene: Insertion, every: usize, between: usize, warm: bool) {
    let name = &scene.name;
    println!(
        "{name}: {} and {} leaves",
        scene.a.0.hierarchy().areas.len(),
        scene.b.0.hierarchy().areas.len()
    );
    let options = QueryOptions::within(scene.d_max());
    let ((a, pose_a), (b, _)) = (scene.a, scene.b);
    for (phase, from, to) in &scene.scenario.phases {
        let (mut ms, mut count, mut nodes, mut pairs, mut solves) = (vec![], vec![], vec![], vec![], vec![]);
        let mut pair = ContactPair::new(a.clone(), b.clone());
        let poses: Vec<Pose> = scene.poses[*from..*to].iter().step_by(every).copied().collect();
        for pose in &divided(&poses, between) {
            if !warm {
                pair = ContactPair::new(a.clone(), b.clone());
            }
            let clock = Instant::now();
            pair.query(&pose_a, pose, &options).expect("finite poses and options");
            ms.push(clock.elapsed().as_secs_f64() * 1e3);
            count.push(f64::from(u32::try_from(pair.contacts().len()).unwrap_or(u32::MAX)));
            let st = pair.stats();
            nodes.push(to_f64(st.bvtt_nodes));
            pairs.push(to_f64(st.leaf_pairs));
            solves.push(to_f64(st.exact_solves));
        }
        let [median, p95, max] = spread(&mut ms);
        println!(
            "{name} {phase:12} {:3} poses: median {median:8.3} ms, p95 {p95:8.3}, max {max:8.3}; LMDs {:.0} \
                (max {:.0}); nodes {:.0}, leaf pairs {:.0}, solves {:.0} (medians; max {:.0})",
            ms.len(),
            spread(&mut count)[0],
            spread(&mut count)[2],
            spread(&mut nodes)[0],
            spread(&mut pairs)[0],
            spread(&mut solves)[0],
            spread(&mut solves)[2]
        );
    }
}

/// Divides the motion between consecutive poses into `n` steps.
fn divided(poses: &[Pose], n: usize) -> Vec<Pose> {
    let parts = |w: &[Pose]| -> Vec<Pose> {
        (0..n).map(|k| w[0].lerp_slerp(&w[1], to_f64(k as u64) / to_f64(n as u64))).collect()
    };
    poses.windows(2).flat_map(parts).chain(poses.last().copied()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts in a report")]
fn to_f64(n: u64) -> f64 {
    n as f64
}
