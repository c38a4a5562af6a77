//! Walls of triangles: a ball dragged over increasing numbers of them, a ball that rolls in a race of
//! them, and the rate of queries.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin facets [-- --steps N] [--balls N] [--seconds S]
//! ```
//!
//! Drag: 1,000 steps (`--steps`) over a tilted floor of 2, 200 and 20,000 triangles, with infinite
//! friction. The table compares the shear force at the end with that of a single facet, and gives the
//! time of a step.
//!
//! Race: a ball of radius 3 mm with a play of 0.2 mm moves on its steady circle through the groove of
//! `race.step` for `--seconds`, over its exact face and over triangles with a chord error of a quarter of
//! the play and less. The table gives the relative error of the normal force against the closed form,
//! with which the ball is in balance: root mean square and maximum. The first row uses the closed form of
//! the groove.
//!
//! Speed: `--balls` in a layer over a hilly floor, 5 % of them overlapping it, are queried repeatedly
//! while they move by a thousandth of their radius. Times are processor times of one thread.
//!
//! Exit status 1 if the error of full or proximity mode in the drag exceeds 1e-12, or that of reduced
//! mode does not.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that reports"
)]

use feeler_benches::{Fallible, cpu_seconds, number_after};
use feeler_geom::{P3, Pose, V3, math};
use feeler_particles::{
    ContactKinematics, ExactWall, FacetHistory, FacetWall, Law, Particle, ParticleId, Resolution, ShearState,
    Simulation, SimulationSettings, Wall, WallId,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::path::Path;
use std::process::ExitCode;

/// Names of the ways in which contacts with several triangles are resolved.
const MODES: [(&str, Resolution); 3] = [
    ("reduced", Resolution::Reduced),
    ("full", Resolution::Full { cutoff: 0.5 }),
    ("proximity", Resolution::Proximity { cutoff: 0.5 }),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let steps = number_after(&args, "--steps").unwrap_or(1_000_u32);
    let balls = number_after(&args, "--balls").unwrap_or(10_000_usize);
    let seconds = number_after(&args, "--seconds").unwrap_or(2.0);
    match drag(steps).and_then(|missed| race(seconds).and_then(|()| speed(balls)).map(|()| missed)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            println!("{missed} limits are exceeded");
            ExitCode::from(1)
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}

/// A floor of 2 n² triangles over a square, with heights given by `z`.
fn floor(n: u32, size: f64, pose: &Pose, z: impl Fn(f64, f64) -> f64) -> Fallible<FacetWall> {
    let step = size / f64::from(n);
    let places = (0..=n).flat_map(|i| (0..=n).map(move |j| (f64::from(i) * step, f64::from(j) * step)));
    let points: Vec<P3> = places.map(|(x, y)| pose * P3::new(x, y, z(x, y))).collect();
    let at = |i: u32, j: u32| i * (n + 1) + j;
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let triangles: Vec<[u32; 3]> = cells
        .flat_map(|(i, j)| {
            [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
        })
        .collect();
    FacetWall::new(&points, &triangles).map_err(|e| e.to_string())
}

fn empty_world(gravity: V3) -> Fallible<Simulation> {
    Simulation::new(SimulationSettings { gravity, between: None }).map_err(|e| e.to_string())
}

fn drag(steps: u32) -> Fallible<usize> {
    let pose = Pose::new(V3::new(3.0, -7.0, 11.0), V3::new(0.4, -0.8, 0.3));
    let law = Law::Linear { normal: 10.0, shear: 7.0, restitution: 1.0, friction: f64::INFINITY };
    let along = pose.rotation * V3::new(0.8, 0.6, 0.0);
    let run = |mut wall: FacetWall, resolution: Resolution| -> Fallible<(V3, f64)> {
        wall.set_resolution(resolution).map_err(|e| e.to_string())?;
        let mut world = empty_world(V3::zeros())?;
        let wall = world.add_wall(wall.into(), law).map_err(|e| e.to_string())?;
        let ball = Particle::sphere(1.0, 2600.0).map_err(|e| e.to_string())?;
        let start = pose * Pose::translation(1.03, 2.01, 0.9);
        // The ball moves 5 mm in total.
        let velocity = along * (5e3 / f64::from(steps));
        let ball = world.add(ball, &start, velocity, V3::zeros()).map_err(|e| e.to_string())?;
        world.set_driven(ball, true);
        let begin = cpu_seconds();
        for _ in 0..steps {
            world.step(1e-3).map_err(|e| e.to_string())?;
        }
        let time = (cpu_seconds() - begin) / f64::from(steps);
        let force = world.shear_states(ball, 0, wall).first().map_or(V3::zeros(), |(_, state)| state.force);
        Ok((force, time))
    };
    let corners = [(-20.0, -20.0), (40.0, -20.0), (0.0, 40.0)].map(|(x, y)| pose * P3::new(x, y, 0.0));
    let single = FacetWall::new(&corners, &[[0, 1, 2]]).map_err(|e| e.to_string())?;
    let (expected, time) = run(single, Resolution::Reduced)?;
    println!(
        "| triangles | mode | shear force | relative difference from one facet | µs a step |\n\
         |---|---|---|---|---|"
    );
    println!("| 1 | reduced | {:.6} mN | | {:.2} |", expected.norm(), 1e6 * time);
    let mut missed = 0;
    for n in [1, 10, 100] {
        let wall = floor(n, 10.0, &pose, |_, _| 0.0)?;
        for (name, mode) in MODES {
            let (force, time) = run(wall.clone(), mode)?;
            let off = (force - expected).norm() / expected.norm();
            missed += usize::from((off <= 1e-12) == (name == "reduced"));
            println!(
                "| {} | {name} | {:.6} mN | {off:.1e} | {:.2} |",
                wall.facets(),
                force.norm(),
                1e6 * time
            );
        }
    }
    Ok(missed)
}

/// Groove of `race.step`: radii (mm) of the tube, of the circle through the middle of the tube, and of
/// the ball. The tube is open to the axis of the ring, and its front is inside.
const TUBE_RADIUS: f64 = 3.2;
const CIRCLE_RADIUS: f64 = 13.0;
const BALL_RADIUS: f64 = 3.0;
/// Half angle (rad) of the groove about the middle of the tube: it ends at a radius of 14 mm.
const GROOVE_HALF_ANGLE: f64 = 1.25;

fn groove(chord: f64) -> Fallible<FacetWall> {
    let cells = |radius: f64, angle: f64| (angle / (2.0 * math::acos(1.0 - chord / radius))).ceil() as u32;
    let (n, m) = (cells(CIRCLE_RADIUS + TUBE_RADIUS, TAU), cells(TUBE_RADIUS, 2.0 * GROOVE_HALF_ANGLE));
    let mut points = Vec::new();
    for i in 0..n {
        let (sin, cos) = math::sin_cos(TAU * f64::from(i) / f64::from(n));
        for j in 0..=m {
            let (s, c) =
                math::sin_cos(FRAC_PI_2 + GROOVE_HALF_ANGLE * (2.0 * f64::from(j) / f64::from(m) - 1.0));
            let r = CIRCLE_RADIUS + TUBE_RADIUS * s;
            points.push(P3::new(r * cos, r * sin, -TUBE_RADIUS * c));
        }
    }
    let at = |i: u32, j: u32| i % n * (m + 1) + j;
    let triangles: Vec<[u32; 3]> = (0..n)
        .flat_map(|i| (0..m).map(move |j| (i, j)))
        .flat_map(|(i, j)| {
            [[at(i, j), at(i, j + 1), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i + 1, j)]]
        })
        .collect();
    FacetWall::new(&points, &triangles).map_err(|e| e.to_string())
}

fn race(seconds: f64) -> Fallible<()> {
    /// Gravity (mm/s²).
    const G: f64 = 9_810.0;
    /// Time step (s).
    const STEP: f64 = 5e-6;
    let law = Law::Linear { normal: 1e5, shear: 0.0, restitution: 0.5, friction: 0.0 };
    let ball = Particle::sphere(BALL_RADIUS, 7850.0).map_err(|e| e.to_string())?;
    let (mass, speed) = (ball.mass(), 500.0);
    // Balance: the force points from the ball to the circle of the tube, and balances the weight and the
    // centripetal acceleration.
    let mut depth = 0.0;
    let (mut out, mut down, mut force) = (0.0, 0.0, 0.0);
    for _ in 0..50 {
        let (sin, cos) = {
            let across = speed * speed / (CIRCLE_RADIUS + out);
            let all = math::hypot(across, G);
            force = mass * all;
            (across / all, G / all)
        };
        depth = force / 1e5;
        (out, down) = ((TUBE_RADIUS - BALL_RADIUS + depth) * sin, (TUBE_RADIUS - BALL_RADIUS + depth) * cos);
    }
    println!(
        "\n| groove | triangles | mode | rms | largest | contacts a step | µs a step |\n{}",
        "|---".repeat(7) + "|"
    );
    let run = |label: &str, mode: &str, count: usize, wall: Option<Wall>| -> Fallible<()> {
        let mut world = empty_world(V3::z() * -G)?;
        let is_closed_form = wall.is_none();
        if let Some(wall) = wall {
            world.add_wall(wall, law).map_err(|e| e.to_string())?;
        }
        let start = Pose::translation(CIRCLE_RADIUS + out, 0.0, -down);
        world.add(ball.clone(), &start, V3::y() * speed, V3::zeros()).map_err(|e| e.to_string())?;
        let (mut sum, mut max, mut contacts, mut n) = (0.0, 0.0_f64, 0, 0.0);
        let begin = cpu_seconds();
        for k in 0..(seconds / STEP) as u64 {
            let step = world.step_with(STEP, |motions, loads| {
                if is_closed_form {
                    loads[0].force += in_groove(&law, motions[0].center, motions[0].velocity, mass, STEP);
                }
                let off = loads[0].force.norm() / force - 1.0;
                // The start of the motion is omitted.
                if k as f64 * STEP > 0.25 * seconds {
                    (sum, max, n) = (sum + off * off, max.max(off.abs()), n + 1.0);
                }
            });
            step.map_err(|e| e.to_string())?;
            contacts += if is_closed_form {
                1
            } else {
                world.shear_states(ParticleId::new(0), 0, WallId::new(0)).len()
            };
        }
        let time = (cpu_seconds() - begin) / (seconds / STEP);
        println!(
            "| {label} | {count} | {mode} | {:.1e} | {max:.1e} | {:.2} | {:.2} |",
            (sum / n).sqrt(),
            contacts as f64 * STEP / seconds,
            1e6 * time
        );
        Ok(())
    };
    run("closed form", "", 0, None)?;
    let race = feeler_benches::prepare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/race.step"))?;
    let exact = ExactWall::new(feeler_benches::first_body(&race)?.0);
    run("exact face of `race.step`", "", 0, Some(exact.into()))?;
    for chord in [0.25 * (TUBE_RADIUS - BALL_RADIUS), 0.01, 0.001] {
        for (name, mode) in MODES {
            let mut wall = groove(chord)?;
            wall.set_resolution(mode).map_err(|e| e.to_string())?;
            run(&format!("chord error {chord:.3} mm"), name, wall.facets(), Some(wall.into()))?;
        }
    }
    println!("\nDepth of the ball in balance: {:.1e} mm", depth);
    Ok(())
}

/// Force on a ball by the closed form of the groove.
fn in_groove(law: &Law, center: P3, velocity: V3, mass: f64, step: f64) -> V3 {
    let around = V3::new(center.x, center.y, 0.0);
    let to_circle = around * (CIRCLE_RADIUS / around.norm()) - center.coords;
    let distance = to_circle.norm();
    let overlap = BALL_RADIUS + distance - TUBE_RADIUS;
    if overlap <= 0.0 {
        return V3::zeros();
    }
    let normal = to_circle / distance;
    let meeting = ContactKinematics { overlap, normal, velocity, twist: 0.0, radius: BALL_RADIUS, mass };
    law.force(&meeting, &mut ShearState::new(normal), step)
}

fn speed(balls: usize) -> Fallible<()> {
    println!("\n| triangles | mode | balls over it | touching | queries a second |\n|---|---|---|---|---|");
    for n in [10_u32, 100, 300] {
        let wall = floor(n, 100.0, &Pose::identity(), |x, y| 2.0 * math::sin(0.1 * x) * math::cos(0.13 * y))?;
        for (name, mode) in MODES {
            let mut wall = wall.clone();
            wall.set_resolution(mode).map_err(|e| e.to_string())?;
            let mut rng = SmallRng::seed_from_u64(34);
            let radius = 0.5;
            let mut places: Vec<P3> = (0..balls)
                .map(|k| {
                    let (x, y) = (rng.random_range(2.0..98.0), rng.random_range(2.0..98.0));
                    let z = 2.0 * math::sin(0.1 * x) * math::cos(0.13 * y);
                    P3::new(
                        x,
                        y,
                        z + if k % 20 == 0 { 0.95 * radius } else { rng.random_range(2.0..20.0) * radius },
                    )
                })
                .collect();
            let mut memories = vec![FacetHistory::default(); balls];
            let mut touching = 0;
            let rounds = 200;
            let mut begin = 0.0;
            for round in 0..=rounds {
                // The first round is cold.
                if round == 1 {
                    (begin, touching) = (cpu_seconds(), 0);
                }
                for (place, memory) in places.iter_mut().zip(&mut memories) {
                    place.x += 1e-3 * radius;
                    touching += usize::from(!wall.contacts(memory, place, radius).is_empty());
                }
            }
            let queries = (rounds * balls) as f64;
            println!(
                "| {} | {name} | {balls} | {:.1} % | {:.2} M |",
                wall.facets(),
                100.0 * touching as f64 / queries,
                1e-6 * queries / (cpu_seconds() - begin)
            );
        }
    }
    Ok(())
}
