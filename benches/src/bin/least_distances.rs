//! Compares the minimum distance of a query with that of a certified query, at poses near contact of
//! pairs within their play.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin least_distances -- [SCENARIOS] [--mechanisms FOLDER]
//!     [--poses N] [--seed S] [--only NAME] [--from K] [--show N]
//! ```
//!
//! Pairs and starts are those of the program `tracking`; `--poses` (10^4 by default) are divided equally
//! among them. `--only NAME --from K --poses 1` repeats one pose; `--show N` prints at most N differences of
//! each pair (10 by default).
//!
//! Columns: poses; poses at which the certified query reports undecided minima, as it does for sets of
//! equal distance (the minimum distance is that of all minima); poses at which the two minimum distances
//! differ by more than 1e-9 of the larger body; the largest difference (nm), positive if the certified
//! distance is smaller; times (ms) of both queries, median and maximum.
//!
//! Exit status 1 if a minimum distance differs.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::tracked_pairs::tracked_pairs;
use feeler_benches::{Fallible, cpu_seconds, exit_code, number_after, spread};
use feeler_geom::Pose;
use feeler_runtime::{ContactKind, ContactPair, QueryOptions};
use feeler_tests::tracking::Scene;
use std::process::ExitCode;

/// Reach (mm) of the queries.
const REACH: f64 = 0.05;
/// Maximum difference of two minimum distances, as a fraction of the larger body.
const MAX_DIFFERENCE_REL: f64 = 1e-9;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}

const HEADER: &str = "pair                              poses  undecided  different   largest nm  \
    ms plain        certified";

/// Results for the poses of one pair.
#[derive(Default)]
struct Tally {
    poses: u64,
    undecided: u64,
    /// Output lines for the poses at which the distances differ.
    different: Vec<String>,
    /// Difference (mm) of two minimum distances with the largest absolute value.
    largest: f64,
    /// Times (ms) of plain queries and of certified queries.
    times: [Vec<f64>; 2],
}

fn run(args: &[String]) -> Fallible<bool> {
    let poses: u64 = number_after(args, "--poses").unwrap_or(10_000);
    let seed: u64 = number_after(args, "--seed").unwrap_or(1);
    let from: u64 = number_after(args, "--from").unwrap_or(0);
    let show: usize = number_after(args, "--show").unwrap_or(10);
    let scenes = tracked_pairs(args)?;
    let count = poses.div_ceil(scenes.len() as u64);
    println!("{HEADER}");
    let mut all = Tally::default();
    for scene in &scenes {
        let mut tally = Tally::default();
        for number in from..from + count {
            compare(scene, seed, number, &mut tally)?;
        }
        print_row(&scene.name, &tally);
        tally.different.iter().take(show).for_each(|line| println!("    {line}"));
        all.poses += tally.poses;
        all.undecided += tally.undecided;
        all.different.append(&mut tally.different);
        all.largest = if tally.largest.abs() > all.largest.abs() { tally.largest } else { all.largest };
        for (all, times) in all.times.iter_mut().zip(&mut tally.times) {
            all.append(times);
        }
    }
    print_row("all", &all);
    Ok(all.different.is_empty())
}

/// Compares the minimum distances of both queries at one start.
fn compare(scene: &Scene, seed: u64, number: u64, tally: &mut Tally) -> Fallible<()> {
    let Some(start) = scene.start(seed, number) else { return Ok(()) };
    let plain = QueryOptions { detect_interference: false, ..QueryOptions::within(REACH) };
    let mut min_distances = [f64::INFINITY; 2];
    let mut is_undecided = false;
    for (k, options) in [plain, QueryOptions { certified: true, ..plain }].iter().enumerate() {
        let mut pair = ContactPair::new(scene.a.clone(), scene.b.clone());
        let began = cpu_seconds();
        let found = pair.query(&Pose::identity(), &start.pose, options);
        let found = found.map_err(|e| format!("{} {number}: {e}", scene.name))?;
        tally.times[k].push(1e3 * (cpu_seconds() - began));
        let minima = found.iter().filter(|l| l.kind != ContactKind::Quasi);
        min_distances[k] = minima.map(|l| l.distance).fold(f64::INFINITY, f64::min);
        is_undecided |= found.iter().any(|l| l.undecided);
    }
    tally.poses += 1;
    tally.undecided += u64::from(is_undecided);
    // A minimum distance is infinite if no minimum within reach exists.
    let is_near = min_distances.iter().any(|distance| distance.is_finite());
    let difference = if is_near { min_distances[0] - min_distances[1] } else { 0.0 };
    if difference.abs() > tally.largest.abs() {
        tally.largest = difference;
    }
    if difference.abs() > MAX_DIFFERENCE_REL * scene.a.size().max(scene.b.size()) {
        let [plain, certified] = min_distances;
        tally.different.push(format!(
            "--only \"{}\" --from {number} --poses 1 ({:?}): plain {plain:+.9}, certified {certified:+.9}",
            scene.name, start.kind
        ));
    }
    Ok(())
}

fn print_row(name: &str, t: &Tally) {
    let [[plain, _, plain_max], [certified, _, certified_max]] =
        t.times.each_ref().map(|times| spread(&mut times.clone()));
    println!(
        "{name:32} {:6}  {:9}  {:9}  {:+11.2}  {plain:.2} {plain_max:.1}  \
            {certified:.2} {certified_max:.1}",
        t.poses,
        t.undecided,
        t.different.len(),
        1e6 * t.largest,
    );
}
