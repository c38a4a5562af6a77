//! Compares plain, deep and certified queries near contact, in both orders of the solids, with each other
//! and with the set gap.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin near_contact \
//!     -- FOLDER [--poses N] [--seed S] [--from K] [--gap MM] [--jsonl OUT] [--all]
//! ```
//!
//! Random pairs of the STEP solids of a folder, for example those of `tools/models/make_csg.py`, are
//! brought to a contact and then moved along its normal by a gap: 0, or ± a log-uniform length from 1e-9
//! to 1e-2 mm. At each pose a plain query, one with penetration and a certified one are made, and all
//! three with A and B swapped. The program compares the verdicts, the smallest distances (to 1e-9 of the
//! size) and the numbers of strict minima. It also checks that each query reports the gap (to 1e-9 of the
//! size) and a verdict that fits it. A negative gap need not be reported at a vertex on an edge or a
//! vertex, and between nearly parallel edges (MATH §16).
//!
//! Each pose with a disagreement is printed on one line, with its number (`--from K --poses 1` repeats it)
//! and the option of `feeler query`; `--gap` sets another gap for all poses. An asterisk marks queries with A
//! and B swapped. `--jsonl` writes these poses as JSON lines, with `--all` all poses. Tables give the counts
//! by features in contact and by gap:
//!
//! | column | number of poses at which |
//! |---|---|
//! | `approach` | the queries on the way to the contact contradict each other |
//! | `gap` | a query does not report the set gap |
//! | `verdict` | the verdicts differ |
//! | `wrong` | a verdict contradicts the set gap |
//! | `least`, `count` | the smallest distances or the numbers of strict minima differ |
//! | `inside` | `least` or `count` of solids that interfere, whose minima are not guaranteed: not a failure |
//! | `error` | a query or the search for a contact fails |
//! | `sharp` | an edge or vertex is deeper than 8 tolerances without an interference: not a failure |
//! | `undecided` | a verdict is undecided: not a failure |
//!
//! Exit status 1 if a pose fails.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::near_contact::check::{Category, Trial, depth_of};
use feeler_benches::near_contact::contact::RandomContact;
use feeler_benches::near_contact::solids::Folder;
use feeler_benches::{Fallible, exit_code, number_after};
use feeler_geom::{math, pose};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Probability of gap 0.
const ZERO_GAP_PROBABILITY: f64 = 0.2;
/// Decimal exponents of the gaps (mm).
const GAP_EXPONENTS: std::ops::Range<f64> = -9.0..-2.0;
/// Maximum depth of a set gap, as a fraction of the depth of deep queries.
const MAX_SET_DEPTH_REL: f64 = 0.9;
/// Number of poses computed in parallel before their results are printed.
const BATCH: u64 = 200;

/// Numbers of poses with each finding, in a row of a table.
#[derive(Default)]
struct Row {
    poses: u64,
    failed: u64,
    categories: BTreeMap<Category, u64>,
    sharp: u64,
    undecided: u64,
}

impl Row {
    fn add(&mut self, trial: &Trial) {
        self.poses += 1;
        self.failed += u64::from(trial.is_failure());
        let mut seen: Vec<Category> = trial.findings.iter().map(|f| f.category).collect();
        seen.sort();
        seen.dedup();
        for category in seen {
            *self.categories.entry(category).or_default() += 1;
        }
        self.sharp += u64::from(trial.is_sharp);
        self.undecided += u64::from(trial.is_undecided);
    }

    fn print(&self, name: &str) {
        print!("{name:36} {:>7} {:>7}", self.poses, self.failed);
        for category in Category::ALL {
            print!(" {:>8}", self.categories.get(&category).unwrap_or(&0));
        }
        println!(" {:>6} {:>9}", self.sharp, self.undecided);
    }
}

fn print_table(title: &str, rows: &BTreeMap<String, Row>) {
    print!("\n{title:36} {:>7} {:>7}", "poses", "failed");
    Category::ALL.iter().for_each(|c| print!(" {:>8}", c.name()));
    println!(" {:>6} {:>9}", "sharp", "undecided");
    rows.iter().for_each(|(name, row)| row.print(name));
}

/// Label of a gap's range: its sign and decade.
fn band(gap: f64) -> String {
    match gap.abs().log10().floor() {
        decade if decade.is_finite() => format!("{} 1e{decade:03}", if gap > 0.0 { '+' } else { '-' }),
        _ => "0".to_owned(),
    }
}

/// Examines pose number `number`. Returns the indices of both files, and `None` if one of them cannot be
/// prepared.
fn trial(
    solids: &Folder,
    seed: u64,
    number: u64,
    set_gap: Option<f64>,
) -> ([usize; 2], Option<Fallible<Trial>>) {
    let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    let [i, j] = [0; 2].map(|_| rng.random_range(0..solids.len()));
    let (Some(a), Some(b)) = (solids.solid(i), solids.solid(j)) else { return ([i, j], None) };
    let mut run = || {
        let contact = RandomContact::random(a, b, &mut rng)?;
        let gap = if rng.random_bool(ZERO_GAP_PROBABILITY) {
            0.0
        } else {
            let size = math::powf(10.0, rng.random_range(GAP_EXPONENTS));
            if rng.random_bool(0.5) { size } else { -size.min(MAX_SET_DEPTH_REL * depth_of(a, b)) }
        };
        Ok(Trial::new(a, b, &contact, set_gap.unwrap_or(gap)))
    };
    ([i, j], Some(run()))
}

fn run(args: &[String]) -> Fallible<bool> {
    let folder = args
        .first()
        .filter(|a| !a.starts_with("--"))
        .ok_or("an argument is needed: the folder of the STEP files")?;
    let poses: u64 = number_after(args, "--poses").unwrap_or(10_000);
    let seed: u64 = number_after(args, "--seed").unwrap_or(1);
    let from: u64 = number_after(args, "--from").unwrap_or(0);
    let set_gap: Option<f64> = number_after(args, "--gap");
    let writes_all = args.iter().any(|a| a == "--all");
    let mut out = match number_after::<String>(args, "--jsonl") {
        Some(path) => Some(std::fs::File::create(&path).map_err(|e| format!("{path}: {e}"))?),
        None => None,
    };
    let solids = Folder::new(Path::new(folder))?;
    println!("{} solids", solids.len());
    let clock = Instant::now();
    let (mut total, mut errors) = (Row::default(), 0_u64);
    let (mut by_contact, mut by_gap) = (BTreeMap::<String, Row>::new(), BTreeMap::<String, Row>::new());
    let mut first = from;
    while first < from + poses {
        let last = (first + BATCH).min(from + poses);
        let results: Vec<_> =
            (first..last).into_par_iter().map(|k| trial(&solids, seed, k, set_gap)).collect();
        for (number, (files, result)) in (first..).zip(results) {
            let Some(result) = result else { continue };
            let [a, b] = files.map(|i| solids.name(i));
            let trial = match result {
                Ok(trial) => trial,
                Err(message) => {
                    println!("#{number} {a} {b} error: {message}");
                    errors += 1;
                    continue;
                }
            };
            let mut kinds = trial.kinds.clone();
            kinds.sort();
            by_contact.entry(kinds.join(" / ")).or_default().add(&trial);
            by_gap.entry(band(trial.gap)).or_default().add(&trial);
            total.add(&trial);
            if !trial.findings.is_empty() {
                let values = pose::to_values(&trial.pose_b).map(|x| x.to_string()).join(",");
                let found = trial.findings.iter().map(|f| format!("{}: {}", f.category.name(), f.message));
                println!(
                    "#{number} {a} {b} --pose-b {values} gap {:e} ({}) | {}",
                    trial.gap,
                    trial.kinds.join(" / "),
                    found.collect::<Vec<_>>().join(" | ")
                );
            }
            if let Some(file) = out.as_mut().filter(|_| writes_all || !trial.findings.is_empty()) {
                let mut record = trial.to_json();
                record["number"] = json!(number);
                record["a"] = json!(a);
                record["b"] = json!(b);
                writeln!(file, "{record}").map_err(|e| e.to_string())?;
            }
        }
        first = last;
    }
    solids.refused().iter().for_each(|message| println!("skipped: {message}"));
    print_table("features in contact", &by_contact);
    print_table("gap (mm)", &by_gap);
    println!();
    total.print("all");
    println!("{} poses failed, no contact was found in {errors}", total.failed);
    #[expect(clippy::cast_precision_loss, reason = "a count in a report")]
    let rate = poses as f64 / clock.elapsed().as_secs_f64();
    eprintln!("{rate:.1} poses/s");
    if total.poses == 0 {
        return Err("no contact was found, so nothing was checked".to_owned());
    }
    Ok(total.failed + errors == 0)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}
