//! Effect of each optimisation: warm queries on the insertion scenarios while the plug is in place, with
//! one optimisation more in each row.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin ablation \
//!     -- [FOLDER] [--poses N] [--threads N] [--plot FILE.svg]
//! ```
//!
//! One pair of bodies is queried at the first N poses (all) of the phase. The last row uses N threads
//! (2). Each row must find the minima of the first one.
//!
//! # Source
//! BREP Figures 5.12 and 5.13.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::bars::{Group, chart};
use feeler_benches::{Fallible, number_after, scenarios, spread};
use feeler_runtime::diagnostics::Savings;
use feeler_runtime::{ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
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
    let poses = number_after(&args, "--poses").unwrap_or(usize::MAX);
    let threads = number_after(&args, "--threads").unwrap_or(2);
    let mut groups = Vec::new();
    for scene in &scenes {
        let name = &scene.name;
        match run(scene, poses, threads) {
            Ok(bars) => groups.push(Group { title: format!("{name}, in place"), bars }),
            Err(e) => {
                eprintln!("{name}: {e}");
                return ExitCode::from(1);
            }
        }
    }
    if let Some(file) = number_after::<String>(&args, "--plot")
        && let Err(e) = std::fs::write(&file, chart(&groups, "median time of a query for the minima (ms)"))
    {
        eprintln!("{file}: {e}");
        return ExitCode::from(1);
    }
    ExitCode::SUCCESS
}

/// Rows of the table: the optimisation that is added, all optimisations that are enabled, and whether
/// the queries are parallel.
fn rows() -> [(&'static str, Savings, bool); 6] {
    let disabled = Savings {
        cones_of_revolution: false,
        polyhedral_cones: false,
        supermaximal: false,
        coherence: false,
    };
    let cones = Savings { cones_of_revolution: true, ..disabled };
    let polyhedral = Savings { polyhedral_cones: true, ..cones };
    let supermaximal = Savings { supermaximal: true, ..polyhedral };
    let all = Savings { coherence: true, ..supermaximal };
    [
        ("masks and boxes", disabled, false),
        ("+ cones of revolution", cones, false),
        ("+ polyhedral cones", polyhedral, false),
        ("+ supermaximal", supermaximal, false),
        ("+ coherence", all, false),
        ("+ threads", all, true),
    ]
}

/// Times, effort and results of the queries of one row.
#[derive(Default)]
struct Pass {
    ms: Vec<f64>,
    nodes: Vec<f64>,
    leaf_pairs: Vec<f64>,
    solves: Vec<f64>,
    /// Distances of the minima, pose by pose.
    minima: Vec<Vec<f64>>,
}

/// Runs all rows; returns the label and the median time (ms) of each row.
fn run(scene: &Insertion, poses: usize, threads: usize) -> Fallible<Vec<(String, f64)>> {
    let name = &scene.name;
    let mut range = scene.phase("inplace")?;
    range.end = range.end.min(range.start.saturating_add(poses));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| e.to_string())?;
    println!(
        "| {name} | median ms | 95 % | with interference: median ms | node pairs | leaf pairs | exact \
            solves | minima equal to the first row |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    // Bodies cache the samples of their free-form areas at the first query, which is not timed.
    pass(scene, range.clone(), &QueryOptions::within(scene.d_max()));
    let mut bars = Vec::new();
    let mut first: Option<Vec<Vec<f64>>> = None;
    for (label, savings, parallel) in rows() {
        let options =
            QueryOptions { parallel, detect_interference: false, ..QueryOptions::within(scene.d_max()) }
                .with_savings(savings);
        let whole = QueryOptions { detect_interference: true, ..options };
        let go = |options: &QueryOptions| {
            if parallel {
                pool.install(|| pass(scene, range.clone(), options))
            } else {
                pass(scene, range.clone(), options)
            }
        };
        let (mut minima, mut with) = (go(&options), go(&whole));
        let same = agreement(first.get_or_insert_with(|| minima.minima.clone()), &minima.minima);
        let [median, p95, _] = spread(&mut minima.ms);
        println!(
            "| {label} | {median:.2} | {p95:.2} | {:.2} | {:.0} | {:.0} | {:.0} | {same} |",
            spread(&mut with.ms)[0],
            spread(&mut minima.nodes)[0],
            spread(&mut minima.leaf_pairs)[0],
            spread(&mut minima.solves)[0]
        );
        bars.push((label.to_owned(), median));
    }
    Ok(bars)
}

fn pass(scene: &Insertion, poses: std::ops::Range<usize>, options: &QueryOptions) -> Pass {
    let mut out = Pass::default();
    let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    for pose in &scene.poses[poses] {
        let clock = Instant::now();
        pair.query(&scene.a.1, pose, options).expect("finite poses and options");
        out.ms.push(clock.elapsed().as_secs_f64() * 1e3);
        let stats = pair.stats();
        out.nodes.push(to_f64(stats.bvtt_nodes));
        out.leaf_pairs.push(to_f64(stats.leaf_pairs));
        out.solves.push(to_f64(stats.exact_solves));
        out.minima.push(pair.contacts().iter().map(|l| l.distance).collect());
    }
    out
}

/// Formats the number of poses at which the numbers of minima are equal, and the largest difference of
/// the distances there.
fn agreement(first: &[Vec<f64>], now: &[Vec<f64>]) -> String {
    let equal: Vec<_> = first.iter().zip(now).filter(|(a, b)| a.len() == b.len()).collect();
    let apart = equal.iter().flat_map(|(a, b)| a.iter().zip(*b)).map(|(a, b)| (a - b).abs());
    format!("{} of {} poses, to {:.0e} mm", equal.len(), first.len(), apart.fold(0.0, f64::max))
}

#[expect(clippy::cast_precision_loss, reason = "counts in a report")]
fn to_f64(n: u64) -> f64 {
    n as f64
}
