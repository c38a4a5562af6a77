//! Plugs inserted by forces. A target follows the path of a scenario, displaced and tilted by multiples
//! of the clearance, and pulls the plug along; only contacts keep the plug out of the socket.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin insertions \
//!     -- FILE... [--step SECONDS] [--friction MU] [--rounds N] [--list] [--twice] [--held SECONDS]
//!     [--beside PART] [--record FOLDER]
//! ```
//!
//! The table has a row for each scenario and displacement: distance from the target in place and at the
//! end, mean and 95th percentile of the processor time of a step, rounds, contacts, the smallest gap, and
//! steps that interfere or are unsolved. With `--twice` each run is repeated and all poses are compared
//! bit by bit. `--beside` selects one displacement (in clearances). With `--record` each run is written
//! step by step: FOLDER/SCENARIO-PART.csv for `figures` and `engines --along`, and the motion as
//! SCENARIO-PART.json for `feeler sweep --html`.
//!
//! In a scenario with a `dilation` (mm) the plug was eroded by that length and is dilated by it.
//!
//! Exit status 1 if a plug without friction does not seat or come out, a gap is below −1e-6 mm, or the
//! second run differs.
//!
//! With `--held` plugs are released in their sockets under tilted gravity instead, and a pin of 19.9 mm
//! in a blind bore of 20 mm. The table then contains the largest excess of the energy over that at the
//! start, as a fraction of weight times size, and for the last fifth of the run the largest displacement
//! in a step of contact points with the same identity, and the RMS of the angular acceleration.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program that reports"
)]

use feeler_benches::drive::{self, MAX_SEATED_DISTANCE, Target};
use feeler_benches::inserted::{self, world};
use feeler_benches::record::Recording;
use feeler_benches::{cpu_seconds, number_after};
use feeler_dynamics::{RigidBodyId, StepReport, World, WorldContact, WorldSettings};
use feeler_geom::{P3, Pose, V3};
use feeler_tests::insertion::Insertion;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Default)]
struct Run {
    times: Vec<f64>,
    rounds: Vec<f64>,
    contacts: usize,
    deepest: f64,
    interfering: usize,
    unsolved: usize,
    /// Distance (mm) along z of the plug from the target when the target is seated.
    seated: f64,
    /// Distance (mm) along z of the plug from the target at the end.
    out: f64,
    /// Hash of the bits of all poses of the run.
    bits: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let step = number_after(&args, "--step").unwrap_or(1e-3);
    let friction = number_after(&args, "--friction").unwrap_or(0.0);
    let rounds = number_after(&args, "--rounds").unwrap_or(4);
    let list = args.iter().any(|a| a == "--list");
    let files: Vec<PathBuf> = args.iter().filter(|a| a.ends_with(".json")).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("an argument is needed: the JSON files of scenarios");
        return ExitCode::from(2);
    }
    let is_twice = args.iter().any(|a| a == "--twice");
    println!("friction {friction}, steps of {step} s, at most {rounds} rounds");
    println!(
        "scenario  beside  tilt rad  ms mean    95 %  rounds  contacts  deepest mm  interfering  unsolved  \
         in place  out"
    );
    let mut is_right = true;
    if let Some(time) = number_after(&args, "--held") {
        return held(&files, time, step, WorldSettings { friction, rounds, ..WorldSettings::default() });
    }
    let record: Option<PathBuf> = number_after(&args, "--record");
    let parts = number_after(&args, "--beside").map_or_else(|| vec![0.0, 0.5, 1.0, 2.0], |part| vec![part]);
    for file in files {
        for &part in &parts {
            let settings =
                WorldSettings { gravity: V3::zeros(), friction, rounds, ..WorldSettings::default() };
            let mut steps = Recording::default();
            match run(&file, part, step, settings, list, &mut steps) {
                Ok((insertion, tilt, mut r)) => {
                    let name = insertion.name;
                    if let Some(folder) = &record {
                        let file = format!("{name}-{part}");
                        let written = steps.write(folder, &file);
                        if let Err(e) =
                            written.and_then(|()| steps.write_motion(folder, &file, &insertion.b.1))
                        {
                            eprintln!("{e}");
                            return ExitCode::from(2);
                        }
                    }
                    let (time, high, rounds) = r.times();
                    println!(
                        "{name:8}  {part:6}  {tilt:8.5}  {time:7.3}  {high:6.3}  {rounds:6.2}  {:8}  \
                         {:10.2e}  {:11}  {:8}  {:8.4}  {:.4}",
                        r.contacts, r.deepest, r.interfering, r.unsolved, r.seated, r.out
                    );
                    if is_twice {
                        let mut again = Recording::default();
                        let again = run(&file, part, step, settings, false, &mut again).map(|r| r.2.bits);
                        let is_same = again.as_ref() == Ok(&r.bits);
                        println!("          {}", if is_same { "the same bits again" } else { "OTHER BITS" });
                        is_right &= is_same;
                    }
                    is_right &= r.stays()
                        && (friction > 0.0 || r.seated.abs().max(r.out.abs()) <= MAX_SEATED_DISTANCE);
                }
                Err(e) => {
                    eprintln!("{e}");
                    return ExitCode::from(2);
                }
            }
        }
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Releases parts in one scene after the other and prints the table.
fn held(files: &[PathBuf], time: f64, step: f64, settings: WorldSettings) -> ExitCode {
    println!(
        "name      ms mean    95 %  rounds  contacts  deepest mm  interfering  unsolved   energy  points um  \
         rad/s2"
    );
    let settings = WorldSettings { gravity: drive::tilted_gravity(), ..settings };
    let mut worlds: Vec<(String, World)> = Vec::new();
    for file in files {
        match Insertion::load(file, feeler_import::DEFAULT_FLATNESS) {
            Ok(i) => {
                let mut one = world(i.a.clone(), (i.b.0.clone(), drive::seated_pose(&i)), settings);
                one.body_mut(RigidBodyId(1)).dilation = i.scenario.dilation;
                worlds.push((i.name.clone(), one));
            }
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::from(2);
            }
        }
    }
    let [bore, pin] = ["blind-bore", "pin"].map(|name| feeler_tests::model(name).body);
    worlds.push(("peg".to_owned(), world((bore, Pose::identity()), (pin, drive::above_bore()), settings)));
    let mut is_right = true;
    for (name, mut world) in worlds {
        let id = RigidBodyId(1);
        let (begin, size) = (world.energy(), world.body(id).body().size());
        let weight = world.body(id).mass().unwrap_or_default() * 9_810.0;
        let (mut run, mut excess, mut moved, mut shaken) = (Run::default(), f64::MIN, 0.0_f64, Vec::new());
        let mut points: BTreeMap<u64, P3> = BTreeMap::new();
        let mut t = 0.0;
        while t < time {
            t += step;
            let spin = world.body(id).spin;
            let begun = cpu_seconds();
            let report = match world.step(step) {
                Ok(report) => report,
                Err(e) => {
                    eprintln!("{name}: {t}: {e}");
                    return ExitCode::from(2);
                }
            };
            run.add(1e3 * (cpu_seconds() - begun), &report);
            excess = excess.max((world.energy() - begin) / (weight * size));
            let number_and_place = |c: &WorldContact| (c.contact.id, c.contact.point_a);
            let now: BTreeMap<u64, P3> = world.contacts().iter().map(number_and_place).collect();
            if t > 0.8 * time {
                shaken.push((world.body(id).spin - spin).norm_squared() / (step * step));
                let displacement = |(id, p): (&u64, &P3)| points.get(id).map(|q| (p - q).norm());
                moved = now.iter().filter_map(displacement).fold(moved, f64::max);
            }
            points = now;
        }
        let rms = (shaken.iter().sum::<f64>() / shaken.len().max(1) as f64).sqrt();
        let (mean, high, rounds) = run.times();
        println!(
            "{name:8}  {mean:7.3}  {high:6.3}  {rounds:6.2}  {:8}  {:10.2e}  {:11}  {:8}  {excess:7.0e}  \
             {:9.3}  {rms:6.2}",
            run.contacts,
            run.deepest,
            run.interfering,
            run.unsolved,
            1e3 * moved
        );
        is_right &= run.stays() && excess <= 1e-4;
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Adds the numbers of a pose to an FNV-1a hash.
fn folded(bits: u64, pose: &Pose) -> u64 {
    let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    numbers.fold(bits, |bits, x| (bits ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3))
}

impl Run {
    fn add(&mut self, milliseconds: f64, report: &StepReport) {
        self.times.push(milliseconds);
        self.rounds.push(f64::from(report.rounds));
        self.contacts = self.contacts.max(report.contacts);
        self.deepest = self.deepest.min(report.smallest_gap);
        self.interfering += usize::from(report.interferes);
        self.unsolved += usize::from(report.unsolved);
    }

    /// Mean and 95th percentile of the processor times (ms) of a step, and mean number of rounds.
    fn times(&mut self) -> (f64, f64, f64) {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
        let (time, rounds) = (mean(&self.times), mean(&self.rounds));
        self.times.sort_by(f64::total_cmp);
        let high = self.times.get(self.times.len() * 95 / 100).copied().unwrap_or_default();
        (time, high, rounds)
    }

    fn stays(&self) -> bool {
        self.deepest >= -1e-6 && self.interfering + self.unsolved == 0
    }
}

fn run(
    file: &Path,
    part: f64,
    step: f64,
    settings: WorldSettings,
    list: bool,
    steps: &mut Recording,
) -> Result<(Insertion, f64, Run), String> {
    let insertion = Insertion::load(file, feeler_import::DEFAULT_FLATNESS)?;
    let target = Target::new(&insertion, part)?;
    let mut out = Run::default();
    let mut before = 0.0;
    *steps = inserted::insert(&insertion, &target, step, settings, |recorded, report| {
        let t = recorded.time;
        out.add(recorded.step_ms, report);
        if list && (report.smallest_gap < -1e-6 || report.interferes || report.unsolved) {
            println!("    {t:.4}: {report:?}");
        }
        out.bits = folded(out.bits, &recorded.pose);
        let off = recorded.pose.translation.z - target.pose(t).translation.z;
        if before < target.seat_time && t >= target.seat_time {
            out.seated = off;
        }
        out.out = off;
        before = t;
    })?;
    Ok((insertion, target.tilt, out))
}
