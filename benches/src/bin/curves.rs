//! Deformable curves: checks that each local minimum is reported exactly once, against a brute-force
//! search that shares no code.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin curves [-- --cases N] [--from N] [--poses N]
//!     [--solid STEP] [--all]
//! ```
//!
//! N pairs of curves (10,000) with radii, and N curves with themselves, of the kinds of
//! [`feeler_tests::curves::cases`] in turn: cubics, degrees 1 to 5, several pieces, nearly parallel,
//! crossing, arcs, shared ends, planar, on a lattice, smooth and with corners, of small and large scales;
//! loops, coils, knots, cusps, rings. The search of [`feeler_tests::curves`] is the reference. If the two
//! differ, the search is repeated on a grid eight times as fine. `--all` prints each fault.
//!
//! N poses (200) of each scenario of [`feeler_tests::curve_scenes`] are checked as curves with themselves
//! as well. Those with a solid are also checked against distances of densely sampled curves
//! ([`feeler_tests::curve_solids`]); with `--solid STEP` the hose is laid on that solid too.
//!
//! Exit status 1 if a minimum is lost, invented or reported twice, if one of its values is wrong, or if
//! the brute-force search does not find one.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, number_after};
use feeler_curves::{Curve, CurveOptions, Obstacle};
use feeler_geom::{P3, Pose};
use feeler_runtime::Body;
use feeler_tests::curve_scenes::{CURVE_SCENES, CurveScene};
use feeler_tests::curve_solids;
use feeler_tests::curves::cases::{LOOPS, PAIRS, itself, pair};
use feeler_tests::curves::compare::{Shape, Verdict, compare, compare_itself};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Sums over the cases of one kind.
#[derive(Clone, Copy, Default)]
struct Sum {
    cases: usize,
    agreed: usize,
    faults: [usize; 5],
    weak: usize,
    degenerate: usize,
    in_sets: usize,
    undecided: usize,
    footpoint: f64,
}

impl Sum {
    fn add(&mut self, v: &Verdict) {
        self.cases += 1;
        self.agreed += v.agreed;
        for (sum, n) in self.faults.iter_mut().zip(v.counts()) {
            *sum += n;
        }
        self.weak += v.weak;
        self.degenerate += v.degenerate;
        self.in_sets += v.in_sets;
        self.undecided += usize::from(v.is_open);
        self.footpoint = self.footpoint.max(v.footpoint);
    }

    fn print(&self, name: &str) {
        let [lost, invented, twice, wrong, missed] = self.faults;
        println!(
            "| {name} | {} | {} | {lost} | {invented} | {twice} | {wrong} | {missed} | {} | {} | {} | {} | \
                {:.0e} |",
            self.cases, self.agreed, self.weak, self.degenerate, self.in_sets, self.undecided, self.footpoint
        );
    }
}

/// Compares the case with a given number with the reference.
type Comparison<'a> = dyn Fn(u64) -> Verdict + Sync + 'a;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let cases = number_after(&args, "--cases").unwrap_or(10_000_u64);
    let from = number_after(&args, "--from").unwrap_or(0_u64);
    let list_all = args.iter().any(|a| a == "--all");
    let mut is_right = true;
    println!(
        "| kind | cases | minima | lost | invented | twice | wrong values | \
            missing in the reference | weak | nearly degenerate | \
            in sets | undecided cases | worst footpoint |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let by_pair = |n: u64| {
        let (a, b, options) = pair(n);
        compare(&a, &b, &options)
    };
    let by_loop = |n: u64| {
        let (a, options) = itself(n);
        compare_itself(&a, &options)
    };
    let kinds: [(&str, &[&str], &Comparison<'_>); 2] =
        [("pairs", &PAIRS, &by_pair), ("with itself", &LOOPS, &by_loop)];
    let mut faults = Vec::new();
    for (what, names, comparison) in kinds {
        let verdicts: Vec<Verdict> = (from..from + cases).into_par_iter().map(comparison).collect();
        let mut sums = vec![Sum::default(); names.len()];
        let mut all = Sum::default();
        for (n, verdict) in (from..).zip(&verdicts) {
            let kind = usize::try_from(n % names.len() as u64).expect("a number of few kinds");
            sums[kind].add(verdict);
            all.add(verdict);
            if !verdict.is_right() {
                is_right = false;
                faults.push(format!("{what} {n} ({}): {verdict:?}", names[kind]));
            }
        }
        for (name, sum) in names.iter().zip(&sums) {
            sum.print(&format!("{what}: {name}"));
        }
        all.print(&format!("**{what}**"));
    }
    let poses = number_after(&args, "--poses").unwrap_or(200_u32);
    for scene in CURVE_SCENES {
        let in_pose = |k: u32| {
            let time = f64::from(k) / f64::from(poses.max(2) - 1);
            let points = scene.points(time, &P3::new(-20.0, -20.0, 0.0), &P3::new(20.0, 20.0, 30.0));
            let shape = Shape {
                degree: 3,
                points: points.iter().map(|p| p.coords).collect(),
                radius: scene.radius(),
                is_closed: scene.is_closed(),
            };
            compare_itself(&shape, &CurveOptions { d_max: scene.d_max(), ..CurveOptions::default() })
        };
        let verdicts: Vec<Verdict> = (0..poses).into_par_iter().map(in_pose).collect();
        let mut sum = Sum::default();
        for (k, verdict) in verdicts.iter().enumerate() {
            sum.add(verdict);
            if !verdict.is_right() {
                is_right = false;
                faults.push(format!("{} {k}: {verdict:?}", scene.name()));
            }
        }
        sum.print(&format!("scenario: {}", scene.name()));
    }
    println!("\n| curve and solid | poses | minima | lost | twice | wrong values | behind nearer ones |");
    println!("|---|---|---|---|---|---|---|");
    let own = CURVE_SCENES.into_iter().filter_map(|scene| Some((scene, scene.solid()?)));
    let other = number_after::<PathBuf>(&args, "--solid").map(|file| (CurveScene::Hose, file));
    for (scene, file) in own.chain(other) {
        match with_solid(scene, &file, poses) {
            Ok(wrong) => {
                is_right &= wrong.is_empty();
                faults.extend(wrong);
            }
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::from(2);
            }
        }
    }
    let max_shown = if list_all { usize::MAX } else { 5 };
    for fault in faults.iter().take(max_shown) {
        println!("{fault}");
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares poses of a scenario with a solid, prints the sums, and returns descriptions of the faults.
fn with_solid(scene: CurveScene, file: &Path, poses: u32) -> Fallible<Vec<String>> {
    let model = feeler_import::prepare_step(file).map_err(|e| e.to_string())?;
    let solid = Obstacle::new(Arc::new(Body::from_model(&model, 0).map_err(|e| e.to_string())?));
    let bounds = *solid.body().bounds();
    let in_pose = |k: u32| {
        let time = f64::from(k) / f64::from(poses.max(2) - 1);
        let points = scene.points(time, &bounds.min, &bounds.max);
        let curve = Curve::new(3, &points, scene.radius(), scene.is_closed()).expect("scenarios are valid");
        let options = CurveOptions { d_max: scene.d_max(), ..CurveOptions::default() };
        curve_solids::compare(&curve, &solid, &Pose::identity(), &options)
    };
    let verdicts: Vec<_> = (0..poses).into_par_iter().map(in_pose).collect();
    let sum = |number: &dyn Fn(&curve_solids::Verdict) -> usize| verdicts.iter().map(number).sum::<usize>();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    println!(
        "| {} and {name} | {poses} | {} | {} | {} | {} | {} |",
        scene.name(),
        sum(&|v| v.agreed),
        sum(&|v| v.lost.len()),
        sum(&|v| v.twice.len()),
        sum(&|v| v.wrong.len()),
        sum(&|v| v.behind)
    );
    let wrong = |(k, v): (usize, &curve_solids::Verdict)| {
        (!v.is_right()).then(|| format!("{} and {name}, pose {k}: {v:?}", scene.name()))
    };
    Ok(verdicts.iter().enumerate().filter_map(wrong).collect())
}
