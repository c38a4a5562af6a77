//! Mechanisms with round parts, stepped in time: a bolt turned through its nut, a pin and a ball that roll in
//! a race.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin mechanisms \
//!     -- [--step SECONDS] [--parts NUT BOLT [--turns N] [--twice] [--list]]
//! ```
//!
//! With `--parts` the parts that `tools/models/make_threads.py` makes. Only the rotation of the bolt is
//! driven, a turn in a quarter of a second; along the axis and across it the bolt is held by contacts alone,
//! under gravity along the axis or across it. A row tells the time of a step, contacts of the solver and of
//! all within reach, how far the bolt has gone in parts of pitch times turns, how many contacts within
//! 0.05 mm are lost or new in a step (mean), and how far contact points of one identity move in one at most,
//! in parts of what the fastest point of the bolt does.
//!
//! Without it a pin, and a ball, let go beside the lowest place of the race of `data`. Without friction they
//! slide like a pendulum, with it they roll: the period against that of the closed form, and how much the
//! energy has grown at most and is lost at the end, in parts of that of the oscillation.
//!
//! Exit status 1 where a row misses what it prints as its aim, or with `--twice` the second time differs.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that reports"
)]

use feeler_benches::drive::STEEL;
use feeler_benches::exit_code;
use feeler_benches::number_after;
use feeler_dynamics::{BodyId, Coupling, RigidBody, Settings, World};
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

/// Time (s) of a turn of the bolt, and before it begins to turn.
const TURN: f64 = 0.25;
const SETTLE: f64 = 0.1;
/// mm.
const PITCH: f64 = 1.0;
/// Play along the axis (mm): flanks of 30 degrees, 0.05 mm of play across each.
const PLAY: f64 = 0.1155;
/// Gap (mm) up to which contacts are followed: those of the flanks in touch.
const NEAR: f64 = 0.05;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let step = number_after(&args, "--step").unwrap_or(1e-3);
    let turns = number_after(&args, "--turns").unwrap_or(10.0);
    let has = |name: &str| args.iter().any(|a| a == name);
    let passes = if has("--twice") { 2 } else { 1 };
    let told = match args.iter().position(|a| a == "--parts").map(|i| args.get(i + 1..i + 3)) {
        None => rolling(step),
        Some(Some([nut, bolt])) => {
            let [nut, bolt] = [nut, bolt].map(|f| feeler_tests::part(Path::new(f), 0).body);
            all_screwed(&nut, &bolt, (turns, step), passes, has("--list"))
        }
        Some(_) => Err("--parts needs the STEP files of nut and bolt".to_owned()),
    };
    exit_code(told)
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

/// What one drive of the bolt was like.
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
        // Across the axis the bolt hangs in its play, and comes straight as it is screwed in.
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
    let settings = Settings { gravity, ..Settings::default() };
    let mut world = World::new(settings);
    world.add(RigidBody::fixed(nut.clone(), Pose::identity()));
    // One turn is in the nut.
    let start = Pose::translation(0.0, 0.0, -8.0 * PITCH);
    let id = world.add(RigidBody::of_density(bolt.clone(), start, STEEL).map_err(|e| e.to_string())?);
    let mass = world.body(id).mass().unwrap_or_default();
    let held = Coupling::critical(id, start, mass, 3.0, 0.005);
    world.couplings.push(Coupling { stiffness: 0.0, damping: 0.0, ..held });
    let mut run = Screwed::default();
    let mut last: BTreeMap<u64, P3> = BTreeMap::new();
    let steps_of = |time: f64| (time / step).round() as usize;
    let (settle, turning) = (steps_of(SETTLE), steps_of(TURN * turns));
    let mut at_start = 0.0;
    for k in 0..2 * settle + turning {
        let turned = (k.saturating_sub(settle).min(turning)) as f64 * step * TAU / TURN;
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
        let near = world.contacts().iter().filter(|c| c.contact.gap <= NEAR);
        let now: BTreeMap<u64, P3> = near.map(|c| (c.contact.id, c.points[0])).collect();
        let fastest = step * (body.velocity.norm() + 3.0 * body.spin.norm());
        if k > settle {
            run.lost += last.keys().filter(|id| !now.contains_key(id)).count();
            run.born += now.keys().filter(|id| !last.contains_key(id)).count();
            let way = |(id, p): (&u64, &P3)| last.get(id).map(|q| (p - q).norm());
            let moved = now.iter().filter_map(way).fold(0.0, f64::max);
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

/// FNV-1a over the numbers of a pose.
fn folded(bits: u64, pose: &Pose) -> u64 {
    let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    numbers.fold(bits, |bits, x| (bits ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3))
}

/// Angle (rad) beside the lowest place where they are let go, and oscillations that are watched.
const RELEASED: f64 = 0.05;
const OSCILLATIONS: usize = 5;

/// A pin on the shoulders of the race, a ball in its groove.
fn rolling(step: f64) -> Result<bool, String> {
    println!("part  friction  period s  closed form  off      energy grown  lost   ms mean  contacts");
    let race = model("race").body;
    // Radius of the circle that the centre goes round, of the part, and its moment over mass times radius².
    let parts = [("pin-short", 14.0 - 9.95, 0.5), ("ball", 16.2 - 3.1, 0.4)];
    let mut is_right = true;
    for (name, length, moment) in parts {
        for friction in [0.0, 0.3] {
            let settings = Settings { gravity: V3::new(0.0, -9_810.0, 0.0), friction, ..Settings::default() };
            let mut world = World::new(settings);
            world.add(RigidBody::fixed(race.clone(), Pose::identity()));
            let (sin, cos) = math::sin_cos(RELEASED);
            let start = Pose::translation(length * sin, -length * cos, 0.0);
            let body = RigidBody::of_density(model(name).body, start, STEEL).map_err(|e| e.to_string())?;
            let id: BodyId = world.add(body);
            let rolls = if friction > 0.0 { 1.0 + moment } else { 1.0 };
            // The second term of the pendulum's series.
            let closed = TAU * (length * rolls / 9_810.0).sqrt() * (1.0 + RELEASED * RELEASED / 16.0);
            let mass = world.body(id).mass().unwrap_or_default();
            let lowest = -mass * 9_810.0 * length;
            let swing = world.energy() - lowest;
            let (mut crossings, mut last, mut t) = (Vec::new(), start.translation.x, 0.0);
            let (mut most, mut contacts, mut busy, mut steps) = (f64::MIN, 0, 0.0, 0.0);
            while crossings.len() < 2 * OSCILLATIONS + 1 && t < 20.0 * OSCILLATIONS as f64 * closed {
                let clock = Instant::now();
                let report = world.step(step).map_err(|e| format!("{name}: {t}: {e}"))?;
                busy += 1e3 * clock.elapsed().as_secs_f64();
                t += step;
                steps += 1.0;
                contacts = contacts.max(report.contacts);
                most = most.max(world.energy() - lowest - swing);
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
                most / swing,
                busy / steps
            );
            is_right &= off.abs() <= 1e-2;
        }
    }
    Ok(is_right)
}
