//! First contacts and free motions: random motions of pairs of solids, compared with samples and
//! bisection ([`feeler_tests::passages`]).
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin passages \
//!     -- [--motions N] [--seed S] [--samples N] [--list]
//! cargo run --profile dist -p feeler-benches --bin passages -- --scenario FILE...
//! ```
//!
//! The table has a row for each pair: motions, outcomes, queries and pairs of nodes per motion, faults.
//! Exit status 1 if a contact is missed, late or false. `--scenario` proves that trajectories of
//! insertion scenarios are free between their poses, and measures the time of the proof.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::number_after;
use feeler_runtime::{
    ContactPair, PassageOptions, PassageOutcome, Path as MotionPath, QueryOptions, time_of_contact,
};
use feeler_tests::cases::{Case, cases};
use feeler_tests::insertion::Insertion;
use feeler_tests::model;
use feeler_tests::passages::{Motion, check};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * percent / 100).min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(k) = args.iter().position(|a| a == "--scenario") {
        for file in &args[k + 1..] {
            if let Err(e) = scenario(Path::new(file)) {
                eprintln!("{e}");
                return ExitCode::from(2);
            }
        }
        return ExitCode::SUCCESS;
    }
    let motions: u64 = number_after(&args, "--motions").unwrap_or(10_000);
    let seed: u64 = number_after(&args, "--seed").unwrap_or(1);
    let samples: u32 = number_after(&args, "--samples").unwrap_or(1000);
    let list = args.iter().any(|a| a == "--list");
    let cases = cases();
    let each = motions.div_ceil(cases.len() as u64);
    println!(
        "{:32} {:>7} {:>6} {:>8} {:>7} {:>7} {:>6} {:>8} {:>6} {:>6} {:>9} {:>6}",
        "pair",
        "motions",
        "free",
        "contact",
        "grazing",
        "started",
        "stuck",
        "queries",
        "95 %",
        "max",
        "pairs",
        "faults"
    );
    let (mut all, mut faults) = (Vec::new(), 0);
    for (i, case) in cases.iter().enumerate() {
        match run(case, each, seed * 1_000_000 + i as u64 * 10_000, samples, list) {
            Ok((queries, bad)) => {
                all.extend(queries);
                faults += bad;
            }
            Err(e) => {
                eprintln!("{} / {}: {e}", case.a, case.b);
                return ExitCode::from(2);
            }
        }
    }
    let median = percentile(&mut all, 50);
    println!(
        "{} motions, queries a motion: median {median}, 95 % {}, max {}; {faults} faults",
        all.len(),
        percentile(&mut all, 95),
        percentile(&mut all, 100)
    );
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(case: &Case, motions: u64, seed: u64, samples: u32, list: bool) -> Result<(Vec<f64>, usize), String> {
    let parts = [model(case.a), model(case.b)];
    let parts = [&parts[0], &parts[1]];
    let (mut queries, mut pairs) = (Vec::new(), Vec::new());
    let (mut free, mut contact, mut grazing, mut started, mut stuck, mut faults) = (0, 0, 0, 0, 0, 0);
    for k in 0..motions {
        let motion = Motion::new(case, parts, seed + k);
        let checked = check(&motion, parts, samples)?;
        let passage = checked.passage;
        match passage.outcome {
            PassageOutcome::Free => free += 1,
            PassageOutcome::Contact(c) => {
                contact += 1;
                grazing += usize::from(c.grazing);
            }
            PassageOutcome::InContact => {}
            PassageOutcome::Undecided(t) => {
                stuck += 1;
                if list {
                    println!("  stuck: seed {} at {t}", seed + k);
                }
            }
        }
        if passage.left.is_some() || passage.outcome == PassageOutcome::InContact {
            started += 1;
        } else {
            queries.push(f64::from(passage.queries));
            pairs.push(passage.pairs as f64);
        }
        if let Some(fault) = checked.fault {
            faults += 1;
            if list {
                println!("  seed {}: {fault}", seed + k);
            }
        }
    }
    let median = percentile(&mut queries, 50);
    println!(
        "{:32} {motions:7} {free:6} {contact:8} {grazing:7} {started:7} {stuck:6} {median:8} {:6} {:6} {:9} \
         {faults:6}",
        format!("{} / {}", case.a, case.b),
        percentile(&mut queries, 95),
        percentile(&mut queries, 100),
        percentile(&mut pairs, 50),
    );
    Ok((queries, faults))
}

/// Examines a trajectory whose poses are joined by screw motions.
fn scenario(file: &Path) -> Result<(), String> {
    let insertion = Insertion::load(file, feeler_import::DEFAULT_FLATNESS)?;
    let times: Vec<f64> = (0..insertion.poses.len()).map(|i| i as f64).collect();
    let path_b = MotionPath::through(&times, &insertion.poses).map_err(|e| e.to_string())?;
    let path_a = MotionPath::still(insertion.a.1);
    let query = QueryOptions { d_max: 2.0 * insertion.scenario.clearance, ..QueryOptions::default() };
    let options = PassageOptions { query, ..PassageOptions::default() };
    let mut times = Vec::new();
    for _ in 0..5 {
        let mut pair = ContactPair::new(insertion.a.0.clone(), insertion.b.0.clone());
        let clock = Instant::now();
        let passage = time_of_contact(&mut pair, &path_a, &path_b, &options).map_err(|e| e.to_string())?;
        times.push(clock.elapsed().as_secs_f64());
        if times.len() == 1 {
            println!("{}: {passage:?}", insertion.name);
        }
    }
    println!("{}: {:.3} s (median of 5)", insertion.name, percentile(&mut times, 50));
    Ok(())
}
