//! Motions in contact against closed forms: whether penetration is found, excluded, and at the right time.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin contact_motions \
//!     -- [--motions N] [--from SEED] [--family INDEX]
//! ```
//!
//! N motions of each family of `feeler_tests::contact_motions` (default 20). The table has, for each family,
//! the number of motions proven to be in contact only, with penetration, undecided and wrong, and queries and
//! milliseconds of a motion, mean and largest. Each fault and each undecided motion is printed on one line.
//! Exit status 1 if one result is wrong.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, exit_code, number_after};
use feeler_runtime::{PenetrationOptions, PenetrationOutcome};
use feeler_tests::contact_motions::{ContactMotionCase, FAMILIES};
use rayon::prelude::*;
use std::process::ExitCode;
use std::time::Instant;

/// Result of one motion.
struct Row {
    kind: usize,
    queries: u32,
    ms: f64,
    fault: Option<String>,
    /// Text about an undecided motion.
    undecided: Option<String>,
}

fn run_one(family: usize, seed: u64) -> Result<Row, String> {
    let case = ContactMotionCase::new(family, seed);
    let clock = Instant::now();
    let found = case.run(&PenetrationOptions::default())?;
    let ms = clock.elapsed().as_secs_f64() * 1e3;
    let kind = match found.outcome {
        PenetrationOutcome::Free => 0,
        PenetrationOutcome::Penetration(_) => 1,
        PenetrationOutcome::Undecided(_) => 2,
    };
    let fault = case.fault(&found).map(|fault| format!("{} {seed}: {fault}", case.family));
    let undecided = match found.outcome {
        PenetrationOutcome::Undecided(until) => Some(format!(
            "{} {seed}: undecided from {until} after {} queries, smallest distance {:?}",
            case.family, found.queries, found.smallest
        )),
        _ => None,
    };
    Ok(Row { kind, queries: found.queries, ms, fault, undecided })
}

fn run() -> Fallible<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let motions = number_after(&arguments, "--motions").unwrap_or(20);
    let from = number_after(&arguments, "--from").unwrap_or(0);
    println!(
        "{:26} {:>7} {:>8} {:>5} {:>9} {:>5} {:>8} {:>8} {:>9} {:>9}",
        "family", "motions", "contact", "pen.", "undecided", "wrong", "queries", "worst", "ms", "worst"
    );
    let mut is_right = true;
    let only: Option<usize> = number_after(&arguments, "--family");
    for (family, name) in FAMILIES.iter().enumerate().filter(|(i, _)| only.is_none_or(|only| only == *i)) {
        let rows: Vec<Row> = (from..from + motions)
            .into_par_iter()
            .map(|seed| run_one(family, seed))
            .collect::<Result<_, _>>()?;
        let count = |kind| rows.iter().filter(|r| r.kind == kind).count();
        let wrong = rows.iter().filter_map(|r| r.fault.as_ref());
        let number = wrong.clone().count();
        is_right &= number == 0;
        #[expect(clippy::cast_precision_loss, reason = "a count of motions")]
        let n = rows.len().max(1) as f64;
        println!(
            "{name:26} {motions:>7} {:>8} {:>5} {:>9} {number:>5} {:>8.0} {:>8} {:>9.2} {:>9.2}",
            count(0),
            count(1),
            count(2),
            rows.iter().map(|r| f64::from(r.queries)).sum::<f64>() / n,
            rows.iter().map(|r| r.queries).max().unwrap_or(0),
            rows.iter().map(|r| r.ms).sum::<f64>() / n,
            rows.iter().map(|r| r.ms).fold(0.0, f64::max),
        );
        for line in wrong.chain(rows.iter().filter_map(|r| r.undecided.as_ref())) {
            eprintln!("{line}");
        }
    }
    Ok(is_right)
}

fn main() -> ExitCode {
    exit_code(run())
}
