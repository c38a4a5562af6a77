//! Mechanisms with round parts, stepped in time: a bolt that is screwed through its nut, or a pin and a
//! ball that roll in a race.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin mechanisms \
//!     -- [--step SECONDS] [--parts NUT BOLT [--turns N] [--twice] [--list]]
//! ```
//!
//! `--parts` takes the parts that `tools/models/make_threads.py` makes. Only the rotation of the bolt is
//! driven, a full turn in 0.25 s. Contacts alone hold the bolt along and across the axis, under gravity
//! along the axis or across it. A row gives the time of a step, the contacts of the solver and all
//! contacts within reach, the relative error of the advance of the bolt against pitch times turns, the
//! mean number of contacts within 0.05 mm that are lost or new in a step, and the maximum displacement in
//! a step of contact points with the same identity, divided by that of the fastest point of the bolt.
//!
//! Without `--parts` a pin, and a ball, are released beside the lowest point of the race of `data`.
//! Without friction they slide like a pendulum; with friction they roll. The table compares the period
//! with that of the closed form, and gives the largest increase of the energy and its loss at the end, as
//! fractions of the energy of the oscillation.
//!
//! Exit status 1 if a row violates its limits (error of the advance or the period, contacts, unsolved
//! steps), or if with `--twice` the second run differs.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that reports"
)]

use feeler_benches::drive::STEEL_DENSITY;
use feeler_benches::exit_code;
use feeler_benches::number_after;
use feeler_dynamics::{Coupling, RigidBody, RigidBodyId, World, WorldSettings};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::Body;
use feeler_tests::model;
use nalgebra::UnitQuaternion;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Time (s) of a full turn of the bolt.
const TURN_TIME: f64 = 0.25;
/// Time (s) before the bolt starts to turn.
const SETTLING_TIME: f64 = 0.1;
/// Pitch (mm) of the thread.
const PITCH: f64 = 1.0;
/// Play (mm) of the bolt along the axis: the flanks are at 30 degrees and have a play of 0.05 mm normal
/// to each.
const PLAY: f64 = 0.1155;
/// Maximum gap (mm) of the contacts that are tracked, which are those of touching flanks.
const MAX_TRACKED_GAP: f64 = 0.05;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let step = number_after(&args, "--step").unwrap_or(1e-3);
    let turns = number_after(&args, "--turns").unwrap_or(10.0);
    let has = |name: &str| args.iter().any(|a| a == name);
    let passes = if has("--twice") { 2 } else { 1 };
    let outcome = match args.iter().position(|a| a == "--parts").map(|i| args.get(i + 1..i + 3)) {
        None => rolling(step),
        Some(Some([nut, bolt])) => {
            let [nut, bolt] = [nut, bolt].map(|f| feeler_tests::part(Path::new(f), 0).body);
            all_screwed(&nut, &bolt, (turns, step), passes, has("--list"))
        }
        Some(_) => Err("--parts needs the STEP files of nut and bolt".to_owned()),
    };
    exit_code(outcome)
}

fn all_screwed(
    nut: &Arc<Body>,
    bolt: &Arc<Body>,
    (turns, step): (f64, f64),
    passes: usize,
    list: bool,
) -> Result<bool, String> {
    println!(
        "gravity  turns  ms mean    95 %     max  rounds  solver  within  advance - 1  lost  new  moved  \
         deepest mm  interfering  unsolved"
    );
    let down = 9_810.0;
    let mut is_right = true;
    for (name, gravity) in [("along", V3::z() * -down), ("across", V3::x() * -down)] {
        let mut bits = None;
        for _ in 0..passes {
            let run = screwed(nut, bolt, gravity, turns, step, list)?;
            is_right &= run.print(name, turns);
            let is_same = bits.is_none_or(|b| b == run.bits);
            if bits.is_some() {
                println!("         {}", if is_same { "the same bits again" } else { "OTHER BITS" });
            }
            is_right &= is_same;
            bits = Some(run.bits);
        }
    }
    Ok(is_right)
}

/// Results of one run of the bolt.
#[derive(Debug, Default)]
struct Screwed {
    times: Vec<f64>,
    rounds: f64,
    solver: usize,
    within: usize,
    advance: f64,
    lost: usize,
    born: usize,
    moved: f64,
    deepest: f64,
    interfering: usize,
    unsolved: usize,
    bits: u64,
}

impl Screwed {
    fn print(&self, name: &str, turns: f64) -> bool {
        let n = self.times.len().max(1);
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        let off = self.advance / (PITCH * turns) - 1.0;
        println!(
            "{name:7}  {turns:5}  {:7.3}  {:6.3}  {:6.1}  {:6.2}  {:6}  {:6}  {off:11.2e}  {:4.2}  {:3.2}  \
             {:5.2}  {:10.2e}  {:11}  {:8}",
            sorted.iter().sum::<f64>() / n as f64,
            sorted[(n - 1) * 95 / 100],
            sorted[n - 1],
            self.rounds / n as f64,
            self.solver,
            self.within,
            self.lost as f64 / n as f64,
            self.born as f64 / n as f64,
            self.moved,
            self.deepest,
            self.interfering,
            self.unsolved
        );
        // Under gravity across the axis the bolt is tilted within its play at first, and is aligned as it
        // is screwed in.
        let play = if name == "across" { PLAY / (PITCH * turns) } else { 0.0 };
        off.abs() <= 1e-3 + play && self.solver <= 50 && self.unsolved == 0
    }
}

fn screwed(
    nut: &Arc<Body>,
    bolt: &Arc<Body>,
    gravity: V3,
    turns: f64,
    step: f64,
    list: bool,
) -> Result<Screwed, String> {
    let settings = WorldSettings { gravity, ..WorldSettings::default() };
    let mut world = World::new(settings);
    world.add(RigidBody::fixed(nut.clone(), Pose::identity()));
    // One turn of the bolt's thread is in the nut.
    let start = Pose::translation(0.0, 0.0, -8.0 * PITCH);
    let id = world.add(RigidBody::of_density(bolt.clone(), start, STEEL_DENSITY).map_err(|e| e.to_string())?);
    let mass = world.body(id).mass().unwrap_or_default();
    let held = Coupling::critical(id, start, mass, 3.0, 0.005);
    world.couplings.push(Coupling { stiffness: 0.0, damping: 0.0, ..held });
    let mut run = Screwed::default();
    let mut last: BTreeMap<u64, P3> = BTreeMap::new();
    let steps_of = |time: f64| (time / step).round() as usize;
    let (settle, turning) = (steps_of(SETTLING_TIME), steps_of(TURN_TIME * turns));
    let mut at_start = 0.0;
    for k in 0..2 * settle + turning {
        let turned = (k.saturating_sub(settle).min(turning)) as f64 * step * TAU / TURN_TIME;
        world.couplings[0].target = Pose::from_parts(
            start.translation,
            UnitQuaternion::from_axis_angle(&V3::z_axis(), turned.rem_euclid(TAU)),
        );
        if k == settle {
            at_start = world.body(id).pose.translation.z;
        }
        let clock = Instant::now();
        let report = world.step(step).map_err(|e| format!("step {k}: {e}"))?;
        let milliseconds = 1e3 * clock.elapsed().as_secs_f64();
        run.times.push(milliseconds);
        run.rounds += f64::from(report.rounds);
        run.solver = run.solver.max(report.contacts);
        run.within = run.within.max(world.contacts().len());
        run.deepest = run.deepest.min(report.smallest_gap);
        run.interfering += usize::from(report.interferes);
        run.unsolved += usize::from(report.unsolved);
        let body = world.body(id);
        run.bits = folded(run.bits, &body.pose);
        let near = world.contacts().iter().filter(|c| c.contact.gap <= MAX_TRACKED_GAP);
        let now: BTreeMap<u64, P3> = near.map(|c| (c.contact.id, c.contact.point_a)).collect();
        let fastest = step * (body.velocity.norm() + 3.0 * body.spin.norm());
        if k > settle {
            run.lost += last.keys().filter(|id| !now.contains_key(id)).count();
            run.born += now.keys().filter(|id| !last.contains_key(id)).count();
            let displacement = |(id, p): (&u64, &P3)| last.get(id).map(|q| (p - q).norm());
            let moved = now.iter().filter_map(displacement).fold(0.0, f64::max);
            if k < settle + turning {
                run.moved = run.moved.max(moved / fastest);
            }
        }
        if list && k % 25 == 0 {
            let t = body.pose.translation.vector;
            let lost = last.keys().filter(|id| !now.contains_key(id)).count();
            println!(
                "    {k} {milliseconds:.2} ms  {report:?} {} lost {lost}  at {:.6} {:.6} {:.6} turned {:.4}",
                now.len(),
                t.x,
                t.y,
                t.z,
                turned
            );
        }
        last = now;
    }
    run.advance = world.body(id).pose.translation.z - at_start;
    Ok(run)
}

/// Adds the numbers of a pose to an FNV-1a hash.
fn folded(bits: u64, pose: &Pose) -> u64 {
    let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    numbers.fold(bits, |bits, x| (bits ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3))
}

/// Angle (rad) from the lowest point at which bodies are released, and number of oscillations that are
/// measured.
const RELEASE_ANGLE: f64 = 0.05;
const OSCILLATIONS: usize = 5;

/// Releases a pin on the shoulders of the race, and a ball in its groove.
fn rolling(step: f64) -> Result<bool, String> {
    println!("part  friction  period s  closed form  off      energy grown  lost   ms mean  contacts");
    let race = model("race").body;
    // Length of the pendulum (radius of the circle of the centre), and moment of inertia over mass times
    // radius squared.
    let parts = [("pin-short", 14.0 - 9.95, 0.5), ("ball", 16.2 - 3.1, 0.4)];
    let mut is_right = true;
    for (name, length, moment) in parts {
        for friction in [0.0, 0.3] {
            let settings =
                WorldSettings { gravity: V3::new(0.0, -9_810.0, 0.0), friction, ..WorldSettings::default() };
            let mut world = World::new(settings);
            world.add(RigidBody::fixed(race.clone(), Pose::identity()));
            let (sin, cos) = math::sin_cos(RELEASE_ANGLE);
            let start = Pose::translation(length * sin, -length * cos, 0.0);
            let body =
                RigidBody::of_density(model(name).body, start, STEEL_DENSITY).map_err(|e| e.to_string())?;
            let id: RigidBodyId = world.add(body);
            let rolls = if friction > 0.0 { 1.0 + moment } else { 1.0 };
            // Include the second term of the series of the pendulum.
            let closed =
                TAU * (length * rolls / 9_810.0).sqrt() * (1.0 + RELEASE_ANGLE * RELEASE_ANGLE / 16.0);
            let mass = world.body(id).mass().unwrap_or_default();
            let lowest = -mass * 9_810.0 * length;
            let swing = world.energy() - lowest;
            let (mut crossings, mut last, mut t) = (Vec::new(), start.translation.x, 0.0);
            let (mut max_increase, mut contacts, mut busy, mut steps) = (f64::MIN, 0, 0.0, 0.0);
            while crossings.len() < 2 * OSCILLATIONS + 1 && t < 20.0 * OSCILLATIONS as f64 * closed {
                let clock = Instant::now();
                let report = world.step(step).map_err(|e| format!("{name}: {t}: {e}"))?;
                busy += 1e3 * clock.elapsed().as_secs_f64();
                t += step;
                steps += 1.0;
                contacts = contacts.max(report.contacts);
                max_increase = max_increase.max(world.energy() - lowest - swing);
                let x = world.body(id).center().x;
                if (x > 0.0) != (last > 0.0) {
                    crossings.push(t - step * x / (x - last));
                }
                last = x;
            }
            let period = match crossings[..] {
                [first, .., end] => 2.0 * (end - first) / (crossings.len() - 1) as f64,
                _ => f64::NAN,
            };
            let off = period / closed - 1.0;
            let lost = (swing - (world.energy() - lowest)) / swing;
            println!(
                "{name:9}  {friction:4}  {period:8.6}  {closed:8.6}  {off:9.1e}  {:9.1e}  {lost:6.3}  \
                 {:7.3}  {contacts:4}",
                max_increase / swing,
                busy / steps
            );
            is_right &= off.abs() <= 1e-2;
        }
    }
    Ok(is_right)
}
