//! Times of the phases of a query, with one thread and with several, on the insertion scenarios while the
//! plug is in place.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin phases \
//!     -- [FOLDER] [--poses N] [--passes N] [--threads N] [--plot FILE.svg]
//! ```
//!
//! One pair of bodies is queried N times (3) at the first N poses (all) of the phase. The program prints
//! medians over all queries except those of a first pass, in sequence and with 1 … N threads (2). Each
//! row must find the minima of the first one, bit by bit.
//!
//! # Source
//! BREP Figures 5.9 to 5.11.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::bars::{Group, chart};
use feeler_benches::{Fallible, number_after, scenarios, spread};
use feeler_runtime::{Contact, ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

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
    let passes = number_after(&args, "--passes").unwrap_or(3_usize).max(1);
    let threads = number_after(&args, "--threads").unwrap_or(2);
    let mut groups = Vec::new();
    let mut same = true;
    for scene in &scenes {
        let name = &scene.name;
        match run(scene, (poses, passes, threads), &mut groups) {
            Ok(equal) => same &= equal,
            Err(e) => {
                eprintln!("{name}: {e}");
                return ExitCode::from(2);
            }
        }
    }
    if let Some(file) = number_after::<String>(&args, "--plot")
        && let Err(e) =
            std::fs::write(&file, chart(&groups, "median time of the phases of a warm query (ms)"))
    {
        eprintln!("{file}: {e}");
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(!same))
}

/// Columns of the table.
const PHASES: [&str; 5] = ["traversal", "exact solves", "filtering", "interference", "whole query"];

/// Prints the table of a scenario; returns whether all rows agree.
fn run(
    scene: &Insertion,
    (poses, passes, threads): (usize, usize, usize),
    groups: &mut Vec<Group>,
) -> Fallible<bool> {
    let name = &scene.name;
    let mut range = scene.phase("inplace")?;
    range.end = range.end.min(range.start.saturating_add(poses));
    println!("| {name}, medians in ms | {} | equal to the first row |", PHASES.join(" | "));
    println!("|---|---|---|---|---|---|---|");
    let mut first: Option<Vec<Vec<Contact>>> = None;
    let mut all_equal = true;
    let mut of_newton = [0.0; 2];
    for shared in std::iter::once(None).chain((1..=threads).map(Some)) {
        let (mut ms, evaluations, contacts) = match shared {
            None => pass(scene, &range, passes, false),
            Some(n) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
                pool.map_err(|e| e.to_string())?.install(|| pass(scene, &range, passes, true))
            }
        };
        let equal = *first.get_or_insert_with(|| contacts.clone()) == contacts;
        all_equal &= equal;
        let label = match shared {
            None => "in sequence".to_owned(),
            Some(1) => "1 thread".to_owned(),
            Some(n) => format!("{n} threads"),
        };
        let medians = ms.each_mut().map(|values| spread(values)[0]);
        let cells: Vec<String> = medians.iter().map(|m| format!("{m:.3}")).collect();
        println!("| {label} | {} | {} |", cells.join(" | "), if equal { "yes" } else { "NO" });
        if shared.is_none() {
            of_newton = evaluations;
        }
        let bars = PHASES.iter().map(|p| (*p).to_owned()).zip(medians).collect();
        groups.push(Group { title: format!("{name} in place, {label}"), bars });
    }
    let [all, to_minima] = of_newton;
    println!(
        "\n{name}: {all:.1} Newton evaluations a query, {to_minima:.1} of them in runs that end in a \
            minimum\n"
    );
    Ok(all_equal)
}

/// Times (ms) of each phase of each warm query; evaluations per query of all Newton runs, and of those
/// that end in a minimum; and the minima of the last pass.
fn pass(
    scene: &Insertion,
    poses: &Range<usize>,
    passes: usize,
    parallel: bool,
) -> ([Vec<f64>; 5], [f64; 2], Vec<Vec<Contact>>) {
    let options = QueryOptions { parallel, ..QueryOptions::within(scene.d_max()) };
    let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    let mut ms: [Vec<f64>; 5] = Default::default();
    let mut contacts = Vec::new();
    let mut evaluations = [0; 2];
    for round in 0..=passes {
        contacts.clear();
        for pose in &scene.poses[poses.clone()] {
            let clock = Instant::now();
            pair.query(&scene.a.1, pose, &options).expect("finite poses and options");
            let whole = clock.elapsed();
            contacts.push(pair.contacts().to_vec());
            if round > 0 {
                let stats = pair.stats();
                evaluations[0] += stats.effort().evaluations;
                evaluations[1] += stats.effort().evaluations_to_minima;
                let t = pair.phase_times();
                let all = [t.traversal, t.solves, t.filtering, t.interference, whole];
                for (values, time) in ms.iter_mut().zip(all) {
                    values.push(milliseconds(time));
                }
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let each = evaluations.map(|n| n as f64 / ms[0].len() as f64);
    (ms, each, contacts)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
