//! Kills a simulation of particles at random moments and compares the final state with that of an
//! uninterrupted run:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin particles_interrupted -- [--kills N] [--steps N]
//! ```
//!
//! Balls and clumps fall into a moving trough of triangles; the state is written every 100 steps. Each
//! run except the last one is killed (SIGKILL) at a random moment, and the next run resumes from the
//! state that it finds. The last state must have the bytes of the uninterrupted run. Exit status 1 if it
//! has not.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, number_after};
use feeler_geom::{P3, Pose, V3, math};
use feeler_hierarchy::whole::write_whole;
use feeler_particles::{
    FacetWall, Law, Particle, Resolution, Simulation, SimulationError, SimulationSettings, Sphere, WallMotion,
};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// First argument of the processes that this program starts and kills.
const WORKER: &str = "--worker";

/// Number of steps between two written states.
const STEPS_PER_STATE: u64 = 100;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let steps = number_after(&args, "--steps").unwrap_or(20_000_u64);
    let outcome = match (args.first().map(String::as_str), args.get(1)) {
        (Some(WORKER), Some(file)) => work(Path::new(file), steps),
        _ => campaign(number_after(&args, "--kills").unwrap_or(20), steps),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(1)
        }
    }
}

/// Makes the simulation of all runs in its initial state.
fn world() -> Result<Simulation, Box<dyn std::error::Error>> {
    let n = 40;
    let place = |i: u32, j: u32| {
        let (x, y) = (3.0 * f64::from(i), 3.0 * f64::from(j));
        P3::new(x, y, 0.01 * (x - 60.0) * (x - 60.0) + 0.01 * (y - 60.0) * (y - 60.0) + math::sin(0.3 * x))
    };
    let points: Vec<P3> = (0..=n).flat_map(|i| (0..=n).map(move |j| place(i, j))).collect();
    let at = |i: u32, j: u32| i * (n + 1) + j;
    let triangles: Vec<[u32; 3]> = (0..n)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .flat_map(|(i, j)| {
            [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
        })
        .collect();
    let mut wall = FacetWall::new(&points, &triangles)?;
    wall.set_resolution(Resolution::Proximity { cutoff: 0.5 })?;
    let (velocity, spin) = (V3::new(20.0, 0.0, 0.0), V3::new(0.0, 0.0, 0.8));
    wall.set_motion(WallMotion::Rigid { velocity, spin, center: P3::new(60.0, 60.0, 0.0) })?;
    let law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.6, friction: 0.4 };
    let mut world = Simulation::new(SimulationSettings { gravity: V3::z() * -9_810.0, between: Some(law) })?;
    world.add_wall(wall.into(), law)?;
    for k in 0..100_u32 {
        let start = Pose::translation(
            35.0 + 5.5 * f64::from(k % 10),
            35.0 + 5.5 * f64::from(k / 10),
            25.0 + 0.1 * f64::from(k),
        );
        let sphere = |x: f64| Sphere { center: P3::new(x, 0.0, 0.0), radius: 1.5 };
        let particle = if k % 3 == 0 {
            Particle::clump(&[sphere(-1.0), sphere(1.0)], 2600.0)?
        } else {
            Particle::sphere(2.5, 2600.0)?
        };
        world.add(particle, &start, V3::new(0.0, 0.0, -200.0), V3::new(3.0, 0.0, 1.0))?;
    }
    Ok(world)
}

fn work(file: &Path, steps: u64) -> Fallible<()> {
    let mut world = world().map_err(|e| e.to_string())?;
    // Before the first state is written, there is no file.
    if let Ok(bytes) = std::fs::read(file) {
        world.restore(&bytes).map_err(|e| e.to_string())?;
    }
    while world.step_count() < steps {
        let many = STEPS_PER_STATE.min(steps - world.step_count());
        (0..many).try_for_each(|_| world.step(1e-5)).map_err(|e: SimulationError| e.to_string())?;
        write_whole(file, &world.save()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn campaign(kills: u32, steps: u64) -> Fallible<()> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (undisturbed, disturbed) = (dir.path().join("undisturbed.state"), dir.path().join("state"));
    let clock = Instant::now();
    let status = start(&undisturbed, steps)?.wait().map_err(|e| e.to_string())?;
    let whole = clock.elapsed().as_secs_f64();
    let expected = std::fs::read(&undisturbed).map_err(|e| format!("undisturbed run: {e}"))?;
    println!("undisturbed: {} bytes after {steps} steps in {whole:.1} s, {status}", expected.len());
    let mut rng = SmallRng::seed_from_u64(25);
    let mut killed = 0;
    for _ in 0..10 * kills {
        if killed == kills {
            break;
        }
        let mut child = start(&disturbed, steps)?;
        std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..2.0 * whole / f64::from(kills))));
        let is_done = child.try_wait().map_err(|e| e.to_string())?.is_some();
        // A run that has just ended cannot be killed; the error is ignored.
        let _ = child.kill();
        child.wait().map_err(|e| e.to_string())?;
        if is_done {
            break;
        }
        killed += 1;
        let at = std::fs::read(&disturbed).ok().map(|bytes| {
            let restored = world().map_err(|e| e.to_string()).and_then(|mut w| {
                w.restore(&bytes).map_err(|e| e.to_string())?;
                Ok(w.step_count())
            });
            restored.map_or_else(|e| e, |steps| format!("step {steps}"))
        });
        println!("kill {killed}: {}", at.unwrap_or_else(|| "no state yet".to_owned()));
    }
    start(&disturbed, steps)?.wait().map_err(|e| e.to_string())?;
    let found = std::fs::read(&disturbed).map_err(|e| e.to_string())?;
    if found == expected {
        println!("after {killed} kills: the same {} bytes", found.len());
        return Ok(());
    }
    Err(format!(
        "after {killed} kills: {} bytes that differ from the {} of the undisturbed run",
        found.len(),
        expected.len()
    ))
}

fn start(file: &Path, steps: u64) -> Fallible<Child> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    Command::new(program)
        .arg(WORKER)
        .arg(file)
        .args(["--steps", &steps.to_string()])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())
}
