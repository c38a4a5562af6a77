//! Verdicts of queries: random pairs of solids near contact, checked against their closed forms.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin verdicts \
//!     -- [--pairs N] [--seed S] [--swap] [--octree] [--list] [--case NUMBER]
//! cargo run --profile dist -p feeler-benches --bin verdicts -- --spline data [--pairs N] [--seed S] [--list]
//! ```
//!
//! The reference shares no code with the runtime: formulas give the depth of a point in each solid, and
//! it searches for the point that is deepest in both ([`feeler_tests::verdicts`]). Depth is the radius of
//! the largest ball in both solids, which for two planes is half of their overlap. A verdict is wrong if
//!
//! - it denies an interference of more than two tolerances (*missed*), or reports one although the best
//!   search finds no common point (*invented*) or one of less than half a tolerance (*hasty*);
//! - the solids touch or interfere slightly, and it is `Separated` (*unseen*);
//! - the smallest distance of solids that do not interfere is too large (*far*), too small (*near*),
//!   belongs to points that are not on the solids (*astray*), or contradicts the verdict (*against*);
//! - the witness of an interference is less deep in both solids than reported, or not deeper than the
//!   tolerance (*untrue*);
//! - with `--swap`: B with A gives another verdict than A with B (*swapped*).
//!
//! With `--octree` an octree of 40,000 cells over the common box proves an upper bound of the depth of
//! common points for solids that do not interfere. A table counts the pairs by that bound, in sizes.
//!
//! `--spline` uses free-form solids of a folder instead, with rays as the reference: a point that is
//! inside both solids by several rays proves an interference, and sampled points bound the distance from
//! above. A table by decades of the gap (of interfering pairs the depth) in tolerances follows.
//!
//! `--list` prints all wrong pairs, `--case` all details of one pair. Exit status 1 if a verdict is
//! wrong.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::number_after;
use feeler_geom::Pose;
use feeler_runtime::QueryOptions;
use feeler_tests::verdicts::freeform::{self, Free};
use feeler_tests::verdicts::generate::{Case, Category};
use feeler_tests::verdicts::judge::{Checked, Fault, check, proven};
use feeler_tests::verdicts::{Pool, QueryResult, Verdict, query, query_with};
use feeler_tests::{Part, part};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

#[derive(Default)]
struct Tally {
    verdicts: BTreeMap<Verdict, u64>,
    faults: BTreeMap<Fault, u64>,
    swapped: u64,
    times: Vec<f64>,
}

/// Number of cells of an octree. More cells give closer bounds and take proportionally longer.
const OCTREE_CELLS: usize = 40_000;

/// Exponent of the power of ten below a number; `i32::MIN` for numbers that are not positive.
#[expect(clippy::cast_possible_truncation, reason = "a small exponent")]
fn decade(x: f64) -> i32 {
    if x > 0.0 { x.log10().floor() as i32 } else { i32::MIN }
}

/// Wall time (s) above which `--list` shows a pair.
const SLOW_SECONDS: f64 = 0.05;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| args.iter().any(|a| a == name);
    let pairs: u64 = number_after(&args, "--pairs").unwrap_or(100_000);
    let seed: u64 = number_after(&args, "--seed").unwrap_or(1);
    if let Some(dir) = number_after::<PathBuf>(&args, "--spline") {
        return splines(&dir, pairs, seed, flag("--list"));
    }
    let mut pool = Pool::default();
    if let Some(number) = number_after(&args, "--case") {
        let (case, answer, checked) = run(number, &mut pool);
        print(number, &case, &answer, &checked);
        let all = QueryOptions::within(case.d_max).brute_force();
        let all = query_with(&case.a.body, &case.b.body, &case.pose_a, &case.pose_b, &all);
        println!("    by all pairs of features: {:?}, distance {:?}", all.verdict, all.distance);
        let back = query(&case.b.body, &case.a.body, &case.pose_b, &case.pose_a, case.d_max);
        println!("    B with A: {:?}, distance {:?}", back.verdict, back.distance);
        return ExitCode::from(u8::from(!checked.faults.is_empty()));
    }
    let clock = Instant::now();
    let mut tallies: BTreeMap<Category, Tally> = BTreeMap::new();
    let mut shown = 0;
    let mut bounds: BTreeMap<i32, u64> = BTreeMap::new();
    for i in 0..pairs {
        let number = (seed << 32) + i;
        let (case, answer, checked) = run(number, &mut pool);
        let tally = tallies.entry(case.category).or_default();
        *tally.verdicts.entry(answer.verdict).or_default() += 1;
        tally.times.push(answer.seconds);
        for (fault, _) in &checked.faults {
            *tally.faults.entry(*fault).or_default() += 1;
        }
        let mut wrong = !checked.faults.is_empty();
        if flag("--swap") {
            let back = query(&case.b.body, &case.a.body, &case.pose_b, &case.pose_a, case.d_max);
            if back.verdict != answer.verdict {
                tally.swapped += 1;
                wrong = true;
                if flag("--list") {
                    println!("{number}: {:?}, swapped {:?}", answer.verdict, back.verdict);
                }
            }
        }
        if flag("--octree") && matches!(answer.verdict, Verdict::Separated | Verdict::Touching) {
            let bound = proven(&case.a, &case.b, &case.pose_a, &case.pose_b, OCTREE_CELLS);
            let size = case.a.size().max(case.b.size());
            *bounds.entry(decade(bound / size)).or_default() += 1;
        }
        if flag("--list") && (answer.verdict == Verdict::Undecided || answer.seconds > SLOW_SECONDS) && !wrong
        {
            println!(
                "{:?} in {:.0} ms: {:?} {:?} --case {number}",
                answer.verdict,
                1e3 * answer.seconds,
                case.a.spec,
                case.b.spec
            );
        }
        if wrong && (flag("--list") || shown < 10) {
            shown += 1;
            print(number, &case, &answer, &checked);
        }
        if (i + 1) % 5000 == 0 {
            eprintln!("{} pairs, {} wrong, {:.0} s", i + 1, total(&tallies), clock.elapsed().as_secs_f64());
        }
    }
    table(&mut tallies);
    for (decade, pairs) in &bounds {
        match decade {
            &i32::MIN => println!("no common point, proven: {pairs}"),
            decade => println!("common points no deeper than 1e{} sizes, proven: {pairs}", decade + 1),
        }
    }
    let wrong = total(&tallies);
    println!("{pairs} pairs, {wrong} wrong, {:.0} s", clock.elapsed().as_secs_f64());
    ExitCode::from(u8::from(wrong > 0))
}

/// Names of the solids of `data` for `--spline`.
const SPLINES: [&str; 10] = [
    "box-nurbs",
    "cone-nurbs",
    "cylinder-nurbs",
    "shaft-nurbs",
    "sphere-nurbs",
    "torus-nurbs",
    "wave",
    "loft",
    "swept",
    "ring",
];

fn splines(dir: &Path, pairs: u64, seed: u64, list: bool) -> ExitCode {
    let parts: Vec<Part> = SPLINES.iter().map(|name| part(&dir.join(format!("{name}.step")), 0)).collect();
    let solids: Vec<Free<'_>> = parts.iter().map(Free::new).collect();
    let (mut verdicts, mut faults) = (BTreeMap::<Verdict, u64>::new(), BTreeMap::<Fault, u64>::new());
    let (mut times, mut in_both, mut shown_so_far) = (Vec::new(), 0, 0);
    let mut by_gap: BTreeMap<i32, (BTreeMap<Verdict, u64>, f64)> = BTreeMap::new();
    for i in 0..pairs {
        let number = (seed << 32) + i;
        // Derive two indices from one number, so that all pairs occur.
        let n = SPLINES.len() as u64;
        let [ia, ib] =
            [number % (n - 1), number / (n - 1) % n].map(|k| usize::try_from(k).unwrap_or_default());
        let (a, b) = (&solids[ia], &solids[ib]);
        let poses = freeform::poses(a, b, number);
        let size = a.part.body.size().max(b.part.body.size());
        let d_max = 0.1 * size;
        let answer = query(&a.part.body, &b.part.body, &poses[0], &poses[1], d_max);
        let seen = freeform::check(a, b, &poses, d_max, &answer);
        *verdicts.entry(answer.verdict).or_default() += 1;
        in_both += u64::from(answer.verdict == Verdict::Interfering && seen.common.is_some());
        let gap = answer.witness.map_or(answer.distance.unwrap_or(d_max), |(_, [a, b])| a + b);
        let row = by_gap.entry(decade(gap.abs() / (1e-7 * size))).or_default();
        *row.0.entry(answer.verdict).or_default() += 1;
        row.1 = row.1.max(answer.seconds);
        times.push(answer.seconds);
        for (fault, why) in &seen.faults {
            *faults.entry(*fault).or_default() += 1;
            if list || shown_so_far < 10 {
                shown_so_far += 1;
                println!(
                    "{number}: {} / {}, {:?}, distance {:?}",
                    SPLINES[ia], SPLINES[ib], answer.verdict, answer.distance
                );
                println!("    A at {}", shown(&poses[0]));
                println!("    B at {}", shown(&poses[1]));
                println!("    {fault:?}: {why}");
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |q: usize| times.get((times.len() * q / 100).min(times.len() - 1)).copied().unwrap_or(0.0) * 1e6;
    println!("{pairs} pairs: {verdicts:?}, {in_both} interferences proven by a point, wrong {faults:?}");
    println!("median {:.0} µs, p99 {:.0} µs, max {:.0} µs", at(50), at(99), at(100));
    println!("gap or depth in tolerances   apart  touching   meeting undecided    max ms");
    for (decade, (verdicts, slowest)) in &by_gap {
        let v = |v: Verdict| verdicts.get(&v).copied().unwrap_or(0);
        let name =
            if *decade == i32::MIN { "0".to_owned() } else { format!("1e{decade} … 1e{}", decade + 1) };
        let counts = [Verdict::Separated, Verdict::Touching, Verdict::Interfering, Verdict::Undecided].map(v);
        let [apart, touching, meeting, undecided] = counts;
        println!("{name:26} {apart:7} {touching:9} {meeting:9} {undecided:9} {:9.1}", 1e3 * slowest);
    }
    ExitCode::from(u8::from(!faults.is_empty()))
}

fn total(tallies: &BTreeMap<Category, Tally>) -> u64 {
    tallies.values().map(|t| t.faults.values().sum::<u64>() + t.swapped).sum()
}

fn run(number: u64, pool: &mut Pool) -> (Case, QueryResult, Checked) {
    let case = Case::new(number, pool);
    let answer = query(&case.a.body, &case.b.body, &case.pose_a, &case.pose_b, case.d_max);
    let checked = check(&case.a, &case.b, &case.pose_a, &case.pose_b, case.d_max, &answer);
    (case, answer, checked)
}

fn print(number: u64, case: &Case, answer: &QueryResult, checked: &Checked) {
    println!("--case {number}: {:?}, {:?}, distance {:?}", case.category, answer.verdict, answer.distance);
    println!("    A {:?} at {}", case.a.spec, shown(&case.pose_a));
    println!("    B {:?} at {}", case.b.spec, shown(&case.pose_b));
    println!("    B from A {}", shown(&case.pose_a.inv_mul(&case.pose_b)));
    let d = &checked.deepest;
    println!(
        "    deepest {:.6e} at {:?} (A's frame), at most {:.1e}, tolerance {:.2e}",
        d.depth,
        d.at.coords.as_slice(),
        d.bound,
        checked.tol
    );
    for (fault, why) in &checked.faults {
        println!("    {fault:?}: {why}");
    }
}

/// Formats a pose for the command line.
fn shown(pose: &Pose) -> String {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    format!("{},{},{},{},{},{},{}", t.x, t.y, t.z, q.x, q.y, q.z, q.w)
}

fn table(tallies: &mut BTreeMap<Category, Tally>) {
    println!(
        "{:12} {:>7} {:>9} {:>9} {:>9} {:>9} | {:>7} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>7} {:>7} \
            | {:>9} {:>9} {:>9}",
        "category",
        "pairs",
        "apart",
        "touching",
        "meeting",
        "undecided",
        "missed",
        "invented",
        "hasty",
        "unseen",
        "far",
        "near",
        "astray",
        "against",
        "untrue",
        "swapped",
        "median µs",
        "p99 µs",
        "max µs"
    );
    for (category, t) in tallies {
        t.times.sort_by(f64::total_cmp);
        let at = |q: usize| t.times[(t.times.len() * q / 100).min(t.times.len() - 1)] * 1e6;
        let v = |v: Verdict| t.verdicts.get(&v).copied().unwrap_or(0);
        let f = |f: Fault| t.faults.get(&f).copied().unwrap_or(0);
        println!(
            "{:12} {:7} {:9} {:9} {:9} {:9} | {:7} {:8} {:6} {:6} {:6} {:6} {:6} {:7} {:7} {:7} | {:9.0} \
                {:9.0} {:9.0}",
            format!("{category:?}"),
            t.times.len(),
            v(Verdict::Separated),
            v(Verdict::Touching),
            v(Verdict::Interfering),
            v(Verdict::Undecided),
            f(Fault::Missed),
            f(Fault::Invented),
            f(Fault::Hasty),
            f(Fault::Unnoticed),
            f(Fault::TooFar),
            f(Fault::TooNear),
            f(Fault::Astray),
            f(Fault::Contradiction),
            f(Fault::Untrue),
            t.swapped,
            at(50),
            at(99),
            at(100)
        );
    }
}
