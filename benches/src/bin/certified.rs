//! The certified mode: proofs, minima that the ordinary mode misses, and cost.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin certified \
//!     -- [SCENARIOS] [--rounds N] [--every N] [--no-oracle] [--only NAME]
//! ```
//!
//! Each pair of models of `data` with free-form features is queried at random poses (the same number
//! again in each round), with and without certificates. In the first round both results are compared
//! with a brute-force search, unless that takes hours. SCENARIOS is a folder of insertion scenarios,
//! which are queried in place, with and without certificates. One thread, processor time, cold queries.
//! Exit status 1 if the certified mode loses a minimum that the brute force finds, without reporting
//! that it is undecided.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, cpu_seconds, number_after, scenarios};
use feeler_geom::Pose;
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryOptions, Stats, Status};
use feeler_tests::brute_force::{Minimum, all_minima};
use feeler_tests::cases::{Case, case, cases};
use feeler_tests::insertion::Insertion;
use feeler_tests::{Part, model, random_pose};
use std::f64::consts::PI;
use std::process::ExitCode;
use std::sync::Arc;

/// Pairs with free-form features on one or both sides, in addition to those of the completeness test.
fn extra_cases() -> Vec<Case> {
    vec![
        case(("wave", "torus"), [0.0, 0.0, 24.0], [0.0; 3], 5.0, PI, 8.0, 12),
        case(("loft", "swept"), [60.0, 0.0, 0.0], [0.0; 3], 12.0, PI, 20.0, 12),
        case(("loft", "wave"), [0.0, 0.0, 50.0], [0.0; 3], 10.0, PI, 12.0, 12),
        case(("wave", "wave"), [0.0, 0.0, 17.0], [PI, 0.0, 0.0], 3.0, 0.4, 6.0, 12),
        case(("bayonet-socket", "bayonet-plug"), [0.0, 0.0, 0.0], [0.0; 3], 0.04, 1e-3, 0.3, 12),
    ]
}

#[derive(Default)]
struct Counts {
    poses: u64,
    stats: Stats,
    /// Number of queries with an undecided solve.
    undecided: u64,
    minima: u64,
    /// Descriptions of the minima that only the certified mode reports.
    new: Vec<String>,
    /// Number of lines of `new` that explain the previous line.
    explanations: usize,
    /// Number of minima of the brute-force search that are not borderline.
    expected: u64,
    lost: u64,
    lost_certified: Vec<String>,
    /// Number of minima that are lost in queries that report to be undecided.
    lost_undecided: u64,
    seconds: [f64; 2],
}

struct Query<'a> {
    a: (&'a Arc<Body>, Pose),
    b: (&'a Arc<Body>, Pose),
    d_max: f64,
}

impl Query<'_> {
    /// Runs a cold query twice; returns the pair and the shorter time (s).
    fn run(&self, certified: bool) -> (ContactPair, f64) {
        let options = QueryOptions { certified, ..QueryOptions::within(self.d_max) };
        let mut best = f64::INFINITY;
        let mut last = None;
        for _ in 0..2 {
            let mut pair = ContactPair::new(self.a.0.clone(), self.b.0.clone());
            let clock = cpu_seconds();
            pair.query(&self.a.1, &self.b.1, &options).expect("finite poses and options");
            best = best.min(cpu_seconds() - clock);
            last = Some(pair);
        }
        (last.expect("two queries were made"), best)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = number_after(&args, "--rounds").unwrap_or(1);
    let every = number_after(&args, "--every").unwrap_or(1);
    let oracle = !args.iter().any(|a| a == "--no-oracle");
    let only = args.iter().position(|a| a == "--only").and_then(|k| args.get(k + 1));
    let mut bad = 0;
    println!("{}", HEADER);
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (i, c) in cases().iter().chain(&extra_cases()).enumerate() {
        let name = format!("{} / {}", c.a, c.b);
        if only.is_some_and(|o| !name.contains(o.as_str())) {
            continue;
        }
        let counts = run(i, c, rounds, oracle && c.a != "bayonet-socket");
        if counts.stats.certified_pairs == 0 {
            continue;
        }
        print(&name, &counts, oracle);
        bad += counts.lost_certified.len();
    }
    let scenes = scenarios(&args).and_then(|all| {
        let counted = |s: &Insertion| Ok((s.name.clone(), scenario(s, every)?));
        all.iter().map(counted).collect::<Fallible<Vec<_>>>()
    });
    match scenes {
        Ok(scenes) => scenes.iter().for_each(|(name, c)| print(&format!("{name}, in place"), c, false)),
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    }
    ExitCode::from(u8::from(bad > 0))
}

const HEADER: &str = "| pair | poses | minima | solves examined | undecided | queries with an undecided \
    solve | cells a solve | new minima | decided minima of the brute force | lost by the ordinary mode \
    | lost by the certified mode | time with and without (ms), ratio |";

#[expect(clippy::cast_precision_loss, reason = "counts in a report")]
fn print(name: &str, c: &Counts, oracle: bool) {
    let s = &c.stats;
    let cells = s.effort().certified_cells as f64 / s.certified_pairs.max(1) as f64;
    let [plain, certified] = c.seconds.map(|t| 1e3 * t / c.poses.max(1) as f64);
    let compared = if oracle {
        format!(
            "{} | {} | {} (+ {} in undecided queries)",
            c.expected,
            c.lost,
            c.lost_certified.len(),
            c.lost_undecided
        )
    } else {
        "– | – | –".to_owned()
    };
    println!(
        "| {name} | {} | {} | {} | {} | {} | {cells:.1} | {} | {compared} | {certified:.3}, {plain:.3}, \
            {:.2} |",
        c.poses,
        c.minima,
        s.certified_pairs,
        s.undecided_pairs,
        c.undecided,
        c.new.len() - c.explanations,
        certified / plain,
    );
    for line in c.new.iter().chain(&c.lost_certified).take(20) {
        println!("    {line}");
    }
}

fn run(index: usize, c: &Case, rounds: u64, oracle: bool) -> Counts {
    let (a, b) = (model(c.a), model(c.b));
    let mut counts = Counts::default();
    for (round, k) in (0..rounds).flat_map(|r| (0..c.poses).map(move |k| (r, k))) {
        let seed = Case::seed(index, k, round);
        let pose = random_pose(seed, &c.base, c.dt, c.dr);
        let query = Query { a: (&a.body, a.pose), b: (&b.body, pose * b.pose), d_max: c.d_max };
        let what = format!("seed {seed}, --d-max {} --pose-b {}", c.d_max, shown(&pose));
        let (plain, certified) = compare(&query, &what, &mut counts);
        // Without free-form features the certified mode equals the ordinary one.
        if oracle
            && round == 0
            && certified.stats().certified_pairs > 0
            && plain.status() == Some(Status::Separated)
        {
            compare_with_brute_force((&a, &b), (&pose, c.d_max), (&plain, &certified), &what, &mut counts);
        }
    }
    counts
}

/// Formats a pose for the command line.
fn shown(pose: &Pose) -> String {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    format!("{},{},{},{},{},{},{}", t.x, t.y, t.z, q.x, q.y, q.z, q.w)
}

fn compare(query: &Query<'_>, what: &str, counts: &mut Counts) -> (ContactPair, ContactPair) {
    // The first query of a body computes its samples, which is not timed.
    query.run(true);
    let ((plain, t0), (certified, t1)) = (query.run(false), query.run(true));
    counts.poses += 1;
    counts.seconds[0] += t0;
    counts.seconds[1] += t1;
    let s = certified.stats();
    counts.stats.add(&s);
    counts.undecided += u64::from(s.undecided_pairs > 0);
    counts.minima += certified.contacts().len() as u64;
    let same = plain.tolerances().same;
    let equal = |l: &Contact, m: &Contact| {
        (l.point_a - m.point_a).norm() <= 3.0 * same && (l.point_b - m.point_b).norm() <= 3.0 * same
    };
    for l in certified.contacts().iter().filter(|l| !plain.contacts().iter().any(|m| equal(l, m))) {
        counts.new.push(format!(
            "new, {what}: {:?} {:.9} {:?} {} and {:?} {} at {:.6?}, undecided {}",
            l.kind,
            l.distance,
            l.feature_a.kind,
            l.feature_a.index,
            l.feature_b.kind,
            l.feature_b.index,
            <[f64; 3]>::from(l.point_a),
            l.undecided,
        ));
    }
    for l in plain.contacts().iter().filter(|l| !certified.contacts().iter().any(|m| equal(l, m))) {
        counts.lost_certified.push(format!(
            "gone, {what}: {:?} {:.9} {:?} {} and {:?} {}",
            l.kind, l.distance, l.feature_a.kind, l.feature_a.index, l.feature_b.kind, l.feature_b.index
        ));
    }
    (plain, certified)
}

/// Compares the results of both modes with the brute-force search.
fn compare_with_brute_force(
    (a, b): (&Part, &Part),
    (pose, d_max): (&Pose, f64),
    (plain, certified): (&ContactPair, &ContactPair),
    what: &str,
    counts: &mut Counts,
) {
    let pose_b = a.pose.inverse() * pose * b.pose;
    let expected = all_minima(&a.solid, &b.solid, &pose_b, d_max);
    let size = a.solid.bounds.diagonal().max(b.solid.bounds.diagonal());
    let to_a = a.pose.inverse();
    let near = |m: &Minimum, l: &Contact| {
        (m.p_a - to_a * l.point_a).norm() < 1e-5 * size && (m.p_b - to_a * l.point_b).norm() < 1e-5 * size
    };
    for m in expected.iter().filter(|m| m.borderline.is_none()) {
        counts.expected += 1;
        let has = |pair: &ContactPair| pair.contacts().iter().any(|l| near(m, l));
        counts.lost += u64::from(!has(plain));
        if !has(certified) {
            if certified.stats().undecided_pairs > 0 {
                counts.lost_undecided += 1;
            } else {
                let line = format!("lost, {what}: {:.9} {} and {}", m.distance, m.feature_a, m.feature_b);
                counts.lost_certified.push(line);
            }
        }
    }
    let is_new = |l: &&Contact| {
        let same = 3.0 * plain.tolerances().same;
        !plain
            .contacts()
            .iter()
            .any(|m| (l.point_a - m.point_a).norm() <= same && (l.point_b - m.point_b).norm() <= same)
    };
    for l in certified.contacts().iter().filter(is_new) {
        let verdict = match expected.iter().find(|m| near(m, l)) {
            None => "does not have it".to_owned(),
            Some(m) => format!(
                "has it too, eigenvalue {:.2e}{}",
                m.min_eigenvalue,
                m.borderline.map_or(String::new(), |why| format!(", borderline: {why}"))
            ),
        };
        counts.new.push(format!("    the brute force {verdict}: {:.9}", l.distance));
        counts.explanations += 1;
    }
    for l in certified.contacts().iter().filter(|l| l.kind == ContactKind::Strict) {
        if !expected.iter().any(|m| near(m, l)) {
            counts.lost_certified.push(format!("invented, {what}: {:.9}", l.distance));
        }
    }
}

fn scenario(scene: &Insertion, every: usize) -> Fallible<Counts> {
    let mut counts = Counts::default();
    for k in scene.phase("inplace")?.step_by(every) {
        let query =
            Query { a: (&scene.a.0, scene.a.1), b: (&scene.b.0, scene.poses[k]), d_max: scene.d_max() };
        compare(&query, &format!("pose {k}"), &mut counts);
    }
    Ok(counts)
}
