//! Sufficiency of the set of a contact tracker for a step: frictionless steps obey the linear gaps of the
//! active contacts of the set, and the solids are queried at their ends.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin tracking -- [SCENARIOS] [--mechanisms FOLDER]
//!     [--steps N] [--seed S] [--only NAME] [--from K] [--show N]
//! ```
//!
//! Pairs are those of `data`, two obtuse concave corners, those of the scenarios `s1.json` and `s2.json`
//! in the folder `SCENARIOS`, and neighbours in the scenes of `FOLDER/mechanisms.json`. `--steps` (10^5
//! by default) are divided equally among them. `--only NAME --from K --steps 1` repeats one step; `--show
//! N` prints at most N lines of each kind for each pair (10 by default).
//!
//! Sizes of steps are log-uniform in 0.001 to 0.2 mm and 1e-5 to 1e-2 rad; among each nine steps of a
//! pair there is one for every combination of thirds of both ranges. Steps below 0.02 mm and 1e-3 rad
//! are *small*. Every third step begins at a new start: a random pose pushed along a random twist, a
//! pose of the scene pushed without turning (flush), pushed along an axis (coaxial), tilted by at most
//! 0.01 rad. Pushes end at gaps of 0 to 5 µm.
//!
//! Columns of the first table:
//!
//! - steps; set, active: numbers of contacts, and of active contacts, in the sets that the motions obey,
//!   median and maximum;
//! - again: steps (%) whose motion the first set did not cover; left: steps that are not accepted, since
//!   after five updates no set covers the motion or a linear gap is violated;
//! - ends deeper than 1 µm; ends of small and of larger steps deeper than 2ε + θd + ½θ²ρ, with the
//!   bound of the motion made and half the diagonal ρ of B's box, the largest distance of its corners
//!   from the centre of rotation; the deepest end (µm);
//! - ms: wall time of an update, median and 95th percentile.
//!
//! Columns of the second table:
//!
//! - free: steps whose straight path is free, by verdicts at eight poses along it; short: steps of these
//!   that are shortened by more than ε; ext: those shortened by extended contacts alone;
//! - strict: strict contacts of new queries at the starts; replaced: those that a contact on a
//!   neighbouring feature or a sample replaces; differ: contacts that the tracker lacks, or has in
//!   addition to those of the query;
//! - motions and updates of slow motions from starts, their faults: gaps that change by more than the motion,
//!   numbers that return, contacts that begin, end or move at rest, other bits in a second run;
//! - starts that were not found.
//!
//! The exit status is 1 if a limit is exceeded: at most 10 exceptions in 10^5 small steps and 100 in 10^5
//! larger ones, at most 30 % of the steps of a pair updated again, at most 1 % of free motions shortened,
//! none of them by an extension, and neither differences nor faults.
#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that reports")]

use feeler_benches::tracked_pairs::tracked_pairs;
use feeler_benches::{Fallible, exit_code, number_after, spread};
use feeler_tests::tracking::{STEPS_PER_START, Tally};
use std::process::ExitCode;

/// Maximum numbers of exceptions in 10^5 small and 10^5 larger steps.
const MAX_EXCEPTIONS: [f64; 2] = [10.0, 100.0];
/// Maximum fraction of the steps of a pair whose set is updated again.
const MAX_UPDATED_AGAIN: f64 = 0.3;
/// Maximum fraction of free motions that are shortened.
const MAX_SHORTENED: f64 = 0.01;
/// Number of starts per slow motion.
const STARTS_PER_MOTION: usize = 4;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}

fn run(args: &[String]) -> Fallible<bool> {
    let steps: u64 = number_after(args, "--steps").unwrap_or(100_000);
    let seed: u64 = number_after(args, "--seed").unwrap_or(1);
    let from: u64 = number_after(args, "--from").unwrap_or(0);
    let show: usize = number_after(args, "--show").unwrap_or(10);
    let scenes = tracked_pairs(args)?;
    let count = steps.div_ceil(scenes.len() as u64);
    let mut tallies = Vec::new();
    println!("{FIRST}");
    for scene in &scenes {
        let mut tally = Tally::default();
        scene.run(seed, from..from + count, &mut tally);
        let starts = from / STEPS_PER_START..(from + count).div_ceil(STEPS_PER_START);
        for start in starts.step_by(STARTS_PER_MOTION) {
            scene.follow(seed, start, &mut tally);
        }
        println!("{}", first_row(&scene.name, &tally));
        tally.exceptions.iter().take(show).for_each(|e| println!("    deep: {e}"));
        tallies.push(tally);
    }
    println!("\n{SECOND}");
    let mut all = Tally::default();
    let mut missed = Vec::new();
    for (scene, mut tally) in scenes.iter().zip(tallies) {
        println!("{}", second_row(&scene.name, &tally));
        tally.shortened.iter().take(show).for_each(|e| println!("    short: {e}"));
        tally.disagreements.iter().take(show).for_each(|e| println!("    differ: {e}"));
        tally.discontinuities.iter().take(show).for_each(|e| println!("    fault: {e}"));
        let updated_again = tally.outcomes.iter().filter(|o| o.is_updated_again).count();
        if updated_again as f64 > MAX_UPDATED_AGAIN * tally.outcomes.len() as f64 {
            missed.push(format!("{}: steps updated again", scene.name));
        }
        all.outcomes.append(&mut tally.outcomes);
        all.times.append(&mut tally.times);
        all.exceptions.append(&mut tally.exceptions);
        all.shortened.append(&mut tally.shortened);
        all.disagreements.append(&mut tally.disagreements);
        all.discontinuities.append(&mut tally.discontinuities);
        all.no_starts += tally.no_starts;
        all.strict += tally.strict;
        all.replaced += tally.replaced;
        all.motions += tally.motions;
        all.updates += tally.updates;
    }
    println!("\n{FIRST}\n{}\n\n{SECOND}\n{}", first_row("all", &all), second_row("all", &all));
    for (is_small, most, name) in [(true, MAX_EXCEPTIONS[0], "small"), (false, MAX_EXCEPTIONS[1], "larger")] {
        let of = all.outcomes.iter().filter(|o| o.is_small == is_small);
        let deep = of.clone().filter(|o| o.is_accepted && o.depth > o.allowed).count();
        if 1e5 * deep as f64 > most * of.count() as f64 {
            missed.push(format!("{deep} exceptions of {name} steps"));
        }
    }
    let free = all.outcomes.iter().filter(|o| o.is_path_free);
    let by_extension = free.clone().filter(|o| o.is_by_extension).count();
    if all.shortened.len() as f64 > MAX_SHORTENED * free.count() as f64 {
        missed.push("motions on free paths shortened".to_owned());
    }
    if by_extension > 0 {
        missed.push(format!("{by_extension} motions on free paths shortened by extensions"));
    }
    if !all.disagreements.is_empty() {
        missed.push(format!("{} contacts differ from those of queries", all.disagreements.len()));
    }
    if !all.discontinuities.is_empty() {
        missed.push(format!("{} faults of slow motions", all.discontinuities.len()));
    }
    println!("\nlimits exceeded: {}", if missed.is_empty() { "none".to_owned() } else { missed.join("; ") });
    Ok(missed.is_empty())
}

const FIRST: &str = "pair                              steps  set         active     again %  left   > 1 um  \
    > allowed small  larger  deepest um  ms";
const SECOND: &str = "pair                               free  short   ext    strict  replaced  differ  \
    motions  updates  faults  no starts";

fn first_row(name: &str, t: &Tally) -> String {
    let all = &t.outcomes;
    let count = |is: &dyn Fn(&&feeler_tests::tracking::Outcome) -> bool| all.iter().filter(is).count();
    let sizes = |k: usize| {
        let [median, _, most] = spread(&mut all.iter().map(|o| o.sizes[k] as f64).collect::<Vec<_>>());
        format!("{median:.0} {most:.0}")
    };
    let deep = |is_small: bool| count(&|o| o.is_accepted && o.depth > o.allowed && o.is_small == is_small);
    let [median, high, _] = spread(&mut t.times.clone());
    format!(
        "{name:32} {:6}  {:10}  {:10} {:7.1} {:5}  {:7}  {:15}  {:6}  {:10.2}  {median:.2} {high:.2}",
        all.len(),
        sizes(0),
        sizes(1),
        100.0 * count(&|o| o.is_updated_again) as f64 / all.len().max(1) as f64,
        count(&|o| !o.is_accepted),
        count(&|o| o.is_accepted && o.depth > 1e-3),
        deep(true),
        deep(false),
        1e3 * all.iter().filter(|o| o.is_accepted).map(|o| o.depth).fold(0.0, f64::max),
    )
}

fn second_row(name: &str, t: &Tally) -> String {
    let free = t.outcomes.iter().filter(|o| o.is_path_free);
    format!(
        "{name:32} {:6}  {:5}  {:4}  {:8}  {:8}  {:6}  {:7}  {:7}  {:6}  {:9}",
        free.clone().count(),
        t.shortened.len(),
        free.filter(|o| o.is_by_extension).count(),
        t.strict,
        t.replaced,
        t.disagreements.len(),
        t.motions,
        t.updates,
        t.discontinuities.len(),
        t.no_starts
    )
}
