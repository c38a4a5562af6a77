//! Time of an update of a contact tracker compared with a query of all minima, on the insertion
//! scenarios.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin tracked_steps \
//!     -- [FOLDER] [--scenario NAME] [--path NAME] [--rotation RAD] [--displacement MM] [--repeats N]
//! ```
//!
//! Paths:
//!
//! - *in place*: the phase of that name in steps of a sixteenth;
//! - *±x, ±y, ±z*: pressed by 1 µm along an axis from the middle pose of the phase in place, followed by
//!   100 poses that differ by at most 5e-4 mm and 5e-5 rad; omitted if the solid is free along this
//!   axis;
//! - *own steps*: all poses of the scenario.
//!
//! Each path is run by a new query pair and by two new trackers: one with a bound of 0, whose contacts
//! are the minima, and one with the bound of `--rotation` (1e-3) and `--displacement` (1/32), whose
//! contacts are the whole set of a step. The reach is twice the play; the query dilates polars by the
//! same rotation and detects no interference. Times are processor times of the thread: the minimum of N
//! runs (3) for each pose, of which the median and the maximum are printed, without the first pose.
//! *Feature pairs*, *candidates* and *contacts* are means, and the phases (traversal, solves, acceptance)
//! medians.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::{Fallible, cpu_seconds, exit_code, number_after, scenarios, spread};
use feeler_geom::{Pose, V3};
use feeler_runtime::diagnostics::PhaseTimes;
use feeler_runtime::{ContactPair, ContactTracker, QueryOptions, Stats, StepBound, TrackerOptions};
use feeler_tests::insertion::Insertion;
use std::process::ExitCode;

/// Number of parts into which a step of the phase in place is divided.
const PARTS: u32 = 16;
/// Number of poses of a path on which the solid is pressed.
const PRESSED: u32 = 100;
/// Depth (mm) to which the solid is pressed.
const DEPTH: f64 = 1e-3;
/// Depth (mm) down to which queries search, as trackers do near contact.
const PENETRATION: f64 = 0.05;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args).map(|()| true))
}

fn run(args: &[String]) -> Fallible<()> {
    let rotation = number_after(args, "--rotation").unwrap_or(1e-3);
    let displacement = number_after(args, "--displacement").unwrap_or(1.0 / 32.0);
    let repeats: u32 = number_after(args, "--repeats").unwrap_or(3);
    let only: Option<String> = number_after(args, "--path");
    let whole = StepBound { rotation, displacement };
    println!(
        "scenario, path         poses  what          median us  worst us  pairs  solved  candidates  \
         contacts  traversal  solves  acceptance us"
    );
    for scene in scenarios(args)? {
        let reach = scene.d_max();
        let is_chosen = |path: &str| only.as_ref().is_none_or(|only| only == path);
        for (path, poses) in paths(&scene)?.into_iter().filter(|(path, _)| is_chosen(path)) {
            let title = format!("{}, {path}", scene.name);
            let options = QueryOptions {
                detect_interference: false,
                quasi_angle: rotation,
                penetration: PENETRATION,
                ..QueryOptions::within(reach)
            };
            let query = measure(&poses, repeats, || {
                let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
                move |pose: &Pose| {
                    let found = pair.query(&scene.a.1, pose, &options).map_err(|e| e.to_string())?.len();
                    Ok((found, pair.stats(), pair.phase_times()))
                }
            })?;
            println!("{title:21}  {:5}  {}", poses.len(), query.row("query"));
            for (what, bound) in [("minima", StepBound::default()), ("whole set", whole)] {
                let tracked = measure(&poses, repeats, || {
                    let options = TrackerOptions { reach, ..TrackerOptions::default() };
                    let mut tracker = ContactTracker::new(scene.a.0.clone(), scene.b.0.clone(), options);
                    move |pose: &Pose| {
                        tracker.update(&scene.a.1, pose, bound).map_err(|e| e.to_string())?;
                        Ok((tracker.contacts().len(), tracker.stats(), tracker.phase_times()))
                    }
                })?;
                println!("{:28}  {}", "", tracked.row(what));
            }
        }
    }
    Ok(())
}

/// Paths of the moving solid in a scenario, with their names.
fn paths(scene: &Insertion) -> Fallible<Vec<(String, Vec<Pose>)>> {
    let range = scene.phase("inplace")?;
    let middle = scene.poses[range.start.midpoint(range.end)];
    let steps = scene.poses[range].windows(2);
    let part = |k: u32| f64::from(k) / f64::from(PARTS);
    let fine = steps.flat_map(|w| (0..PARTS).map(move |k| w[0].lerp_slerp(&w[1], part(k)))).collect();
    let mut all = vec![("in place".to_owned(), fine)];
    for (name, axis) in ["x", "y", "z"].into_iter().zip([V3::x(), V3::y(), V3::z()]) {
        for (sign, direction) in [("+", axis), ("-", -axis)] {
            let Some(pressed) = press(scene, &middle, &direction)? else { continue };
            let near = |k: u32| {
                let t = f64::from(k) - 0.5 * f64::from(PRESSED);
                let shift = V3::new(1.0, 0.5, 0.0) * (1e-5 * t);
                let turn = nalgebra::UnitQuaternion::from_scaled_axis(V3::new(0.3, 1.0, 0.2) * (1e-6 * t));
                let rotation = turn * pressed.rotation;
                Pose::from_parts((pressed.translation.vector + shift).into(), rotation)
            };
            all.push((format!("{sign}{name}"), (0..PRESSED).map(near).collect()));
        }
    }
    all.push(("own steps".to_owned(), scene.poses.clone()));
    Ok(all)
}

/// Pose at which the moving solid, moved along `direction`, penetrates by [`DEPTH`]; `None` if it is
/// free along this direction.
fn press(scene: &Insertion, from: &Pose, direction: &V3) -> Fallible<Option<Pose>> {
    let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    let options = QueryOptions {
        detect_interference: false,
        penetration: PENETRATION,
        ..QueryOptions::within(4.0 * scene.d_max())
    };
    let moved = |s: f64| Pose::from_parts((from.translation.vector + direction * s).into(), from.rotation);
    let mut distance = 0.0;
    // Steps by the minimum distance cannot pass a contact; the last ones approach the depth.
    for _ in 0..200 {
        let found = pair.query(&scene.a.1, &moved(distance), &options).map_err(|e| e.to_string())?;
        let min_distance = found.first().map_or(f64::INFINITY, |l| l.distance);
        if (min_distance + DEPTH).abs() < 1e-5 {
            return Ok(Some(moved(distance)));
        }
        distance += min_distance + DEPTH;
    }
    Ok(None)
}

/// Measurements of a path.
struct Measurements {
    us: Vec<f64>,
    phases: [Vec<f64>; 3],
    /// Numbers of feature pairs, solves, candidates and contacts, summed over all updates.
    counts: [u64; 4],
}

impl Measurements {
    fn row(mut self, what: &str) -> String {
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
        let [pairs, solved, candidates, contacts] =
            self.counts.map(|n| n as f64 / (self.us.len() + 1) as f64);
        let [median, _, worst] = spread(&mut self.us);
        let [traversal, solves, acceptance] = self.phases.each_mut().map(|values| spread(values)[0]);
        format!(
            "{what:12}  {median:9.1}  {worst:8.1}  {pairs:5.0}  {solved:6.0}  {candidates:10.0}  \
             {contacts:8.1}  {traversal:9.1}  {solves:6.1}  {acceptance:13.1}"
        )
    }
}

/// Runs a path several times, each time with a new update function made by `begin`.
fn measure<F>(poses: &[Pose], repeats: u32, begin: impl Fn() -> F) -> Fallible<Measurements>
where
    F: FnMut(&Pose) -> Fallible<(usize, Stats, PhaseTimes)>,
{
    let mut measured =
        Measurements { us: vec![f64::INFINITY; poses.len()], phases: Default::default(), counts: [0; 4] };
    for repeat in 0..repeats {
        let mut update = begin();
        for (k, pose) in poses.iter().enumerate() {
            let clock = cpu_seconds();
            let (contacts, stats, times) = update(pose)?;
            measured.us[k] = measured.us[k].min(1e6 * (cpu_seconds() - clock));
            if repeat == 0 {
                let effort = stats.effort();
                let now = [effort.feature_pairs, stats.exact_solves, effort.candidates, contacts as u64];
                measured.counts.iter_mut().zip(now).for_each(|(sum, n)| *sum += n);
            }
            if k > 0 {
                let phases = [times.traversal, times.solves, times.filtering];
                let us = phases.map(|t| 1e6 * t.as_secs_f64());
                measured.phases.iter_mut().zip(us).for_each(|(values, t)| values.push(t));
            }
        }
    }
    measured.us.remove(0);
    Ok(measured)
}
