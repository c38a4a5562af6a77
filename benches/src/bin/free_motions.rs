//! First contacts and free motions: translations and screws of random solids through, along and past a
//! contact, compared with dense samples.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin free_motions \
//!     -- FOLDER [--motions N] [--seed S] [--from K] [--certified] [--jsonl OUT] [--all] [--unsampled]
//! ```
//!
//! Random pairs of the STEP solids of a folder are brought to a contact, as in `near_contact`. In a
//! third of the motions B passes the contact tangentially with a gap of 1e-6 to 1e-2 of the size, in a
//! third B passes it with a depth of that range, and in the others it enters A at the contact.
//! `time_of_contact` is compared with the first contact at 400 samples, refined where the speed allows a
//! contact between them, and bisected. A motion lasts 1 s, and times must agree to 1e-6 s. A difference
//! counts only if the solids penetrate each other by more than two tolerances between the two times;
//! `grazing` counts the other differences.
//!
//! Each failure is printed on one line, with the pose of B at the start and the axis of its motion (angle
//! in rad/s, shift in mm/s); `--from K --motions 1` repeats it. `--jsonl` writes these motions as JSON
//! lines for `tools/oracle/near_contact.py`, with `--all` all motions. `--unsampled` writes all motions
//! without comparing them with dense samples, which take most of the time: the other kernel is then the
//! only reference. Exit status 1 if one motion fails.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::near_contact::contact::RandomContact;
use feeler_benches::near_contact::passing::{Checks, Family, Outcome, Passing};
use feeler_benches::near_contact::solids::Folder;
use feeler_benches::{Fallible, exit_code, number_after};
use feeler_geom::pose::to_values;
use feeler_runtime::PassageOutcome;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Number of motions computed in parallel before their results are printed.
const BATCH: u64 = 100;
/// Number of equal intervals of a motion at whose ends its poses are written for another kernel.
const WRITTEN_INTERVALS: u32 = 40;

/// Numbers of motions of one family.
#[derive(Default)]
struct Row {
    motions: u64,
    /// Number of motions that are skipped because the solids are not apart at the start.
    started: u64,
    free: u64,
    contact: u64,
    undecided: u64,
    grazing: u64,
    failed: u64,
}

impl Row {
    fn add(&mut self, outcome: Option<&Outcome>) {
        self.motions += 1;
        let Some(outcome) = outcome else {
            self.started += 1;
            return;
        };
        match outcome.passage.outcome {
            PassageOutcome::Free => self.free += 1,
            PassageOutcome::Contact(_) | PassageOutcome::InContact => self.contact += 1,
            PassageOutcome::Undecided(_) => self.undecided += 1,
        }
        self.grazing += u64::from(outcome.is_grazing);
        self.failed += u64::from(outcome.fault.is_some());
    }

    fn print(&self, name: &str) {
        println!(
            "{name:22} {:>7} {:>7} {:>7} {:>7} {:>9} {:>7} {:>7}",
            self.motions, self.started, self.free, self.contact, self.undecided, self.grazing, self.failed
        );
    }
}

type Checked = (Passing, Option<Outcome>);

/// Runs motion number `number`. Returns the indices of both files, and `None` if one of them cannot be
/// prepared.
fn check(solids: &Folder, seed: u64, number: u64, checks: Checks) -> ([usize; 2], Option<Fallible<Checked>>) {
    let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    let [i, j] = [0; 2].map(|_| rng.random_range(0..solids.len()));
    let (Some(a), Some(b)) = (solids.solid(i), solids.solid(j)) else { return ([i, j], None) };
    let run = AssertUnwindSafe(|| {
        let contact = RandomContact::random(a, b, &mut rng)?;
        let passing = Passing::random(a, b, &contact, &mut rng);
        let outcome = passing.check(a, b, checks)?;
        Ok((passing, outcome))
    });
    ([i, j], Some(catch_unwind(run).unwrap_or_else(|_| Err("panic".to_owned()))))
}

fn family_name(passing: &Passing) -> String {
    let family = match passing.family {
        Family::Through => "through",
        Family::Graze => "graze",
        Family::Past => "past",
    };
    format!("{} {family}", if passing.is_screw { "screw" } else { "translation" })
}

/// Name and time (s) of an outcome.
fn end_of(outcome: &Outcome) -> (&'static str, Option<f64>) {
    match outcome.passage.outcome {
        PassageOutcome::Free => ("free", None),
        PassageOutcome::Contact(c) => ("contact", Some(c.time)),
        PassageOutcome::InContact => ("in contact", Some(0.0)),
        PassageOutcome::Undecided(time) => ("undecided", Some(time)),
    }
}

fn record(number: u64, (a, b): (&str, &str), passing: &Passing, outcome: &Outcome) -> Value {
    let (name, time) = end_of(outcome);
    let even = (0..=WRITTEN_INTERVALS).map(|i| f64::from(i) / f64::from(WRITTEN_INTERVALS));
    let after = outcome.sampled.iter().flat_map(|t| [t + 1e-5, t + 1e-4, t + 1e-3]);
    let before = time.iter().flat_map(|t| [t - 1e-5, t - 1e-4, t - 1e-3]);
    let mut times: Vec<f64> = even.chain(after).chain(before).chain([passing.contact_time]).collect();
    times.retain(|t| (0.0..=1.0).contains(t));
    times.sort_by(f64::total_cmp);
    let samples: Vec<_> = times.iter().map(|t| json!([t, to_values(&passing.pose_b(*t))])).collect();
    json!({
        "number": number,
        "a": a,
        "b": b,
        "family": family_name(passing),
        "contact": passing.kinds,
        "gap": passing.gap,
        "passes": passing.contact_time,
        "outcome": name,
        "time": time,
        "sampled": outcome.sampled,
        "tolerance": outcome.tolerance,
        "fault": outcome.fault,
        "samples": samples,
    })
}

fn run(args: &[String]) -> Fallible<bool> {
    let folder = args
        .first()
        .filter(|a| !a.starts_with("--"))
        .ok_or("an argument is needed: the folder of the STEP files")?;
    let motions: u64 = number_after(args, "--motions").unwrap_or(10_000);
    let seed: u64 = number_after(args, "--seed").unwrap_or(1);
    let from: u64 = number_after(args, "--from").unwrap_or(0);
    let [writes_all, certified, unsampled] =
        ["--all", "--certified", "--unsampled"].map(|name| args.iter().any(|a| a == name));
    let (writes_all, checks) = (writes_all || unsampled, Checks { certified, sampled: !unsampled });
    let mut out = match number_after::<String>(args, "--jsonl") {
        Some(path) => Some(std::fs::File::create(&path).map_err(|e| format!("{path}: {e}"))?),
        None => None,
    };
    if unsampled && out.is_none() {
        return Err("--unsampled compares nothing: add --jsonl OUT for another kernel".to_owned());
    }
    let solids = Folder::new(Path::new(folder))?;
    println!("{} solids", solids.len());
    let clock = Instant::now();
    let (mut rows, mut total, mut errors) = (BTreeMap::<String, Row>::new(), Row::default(), 0_u64);
    let mut first = from;
    while first < from + motions {
        let last = (first + BATCH).min(from + motions);
        let one = |k| check(&solids, seed, k, checks);
        let results: Vec<_> = (first..last).into_par_iter().map(one).collect();
        for (number, (files, result)) in (first..).zip(results) {
            let Some(result) = result else { continue };
            let [a, b] = files.map(|i| solids.name(i));
            let (passing, outcome) = match result {
                Ok(checked) => checked,
                Err(message) => {
                    println!("#{number} {a} {b} error: {message}");
                    errors += 1;
                    continue;
                }
            };
            rows.entry(family_name(&passing)).or_default().add(outcome.as_ref());
            total.add(outcome.as_ref());
            let Some(outcome) = outcome else { continue };
            if let Some(fault) = &outcome.fault {
                let joint = &passing.motion.joints[1][0];
                let values = to_values(&passing.pose_b(0.0)).map(|x| x.to_string()).join(",");
                println!(
                    "#{number} {a} {b} {} --pose-b {values} axis {},{},{} through {},{},{} turn {} shift {}, \
                     gap {:e} \
                     at {} ({}), tolerance {:.2e} | {fault}",
                    family_name(&passing),
                    joint.axis.x,
                    joint.axis.y,
                    joint.axis.z,
                    joint.point.x,
                    joint.point.y,
                    joint.point.z,
                    joint.turn,
                    joint.shift,
                    passing.gap,
                    passing.contact_time,
                    passing.kinds.join(" / "),
                    outcome.tolerance,
                );
            }
            if let Some(file) = out.as_mut().filter(|_| writes_all || outcome.fault.is_some()) {
                let line = record(number, (&a, &b), &passing, &outcome);
                writeln!(file, "{line}").map_err(|e| e.to_string())?;
            }
        }
        first = last;
    }
    solids.refused().iter().for_each(|message| println!("skipped: {message}"));
    println!(
        "\n{:22} {:>7} {:>7} {:>7} {:>7} {:>9} {:>7} {:>7}",
        "family", "motions", "started", "free", "contact", "undecided", "grazing", "failed"
    );
    rows.iter().for_each(|(name, row)| row.print(name));
    total.print("all");
    if unsampled {
        println!("no motion was compared with samples, {errors} errors");
    } else {
        println!("{} motions failed, {errors} errors", total.failed);
    }
    #[expect(clippy::cast_precision_loss, reason = "a count in a report")]
    let rate = motions as f64 / clock.elapsed().as_secs_f64();
    eprintln!("{rate:.1} motions/s");
    if total.motions == total.started {
        return Err("no motion started with the solids apart, so nothing was checked".to_owned());
    }
    Ok(total.failed + errors == 0)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}
