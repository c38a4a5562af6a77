//! Scenes as engines use them: parts at rest, and bodies that fall while others are added and removed.
//!
//!     cargo run --release -p feeler-benches --bin scenes -- STEP_FILE [--bodies N] [--steps N] [--seed N]
//!
//! First all parts of the file are at rest, and the time of a step is measured. Then spheres, boxes, pins
//! and cones of `data/` fall past each other; at random steps one is removed and a new one added. This
//! runs with one thread and with two: a hash of all bits of all contacts and events must be equal.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use clap::Parser;
use feeler_benches::{first_body, prepare};
use feeler_geom::Pose;
use feeler_runtime::{Body, BodyId, QueryOptions, Scene};
use nalgebra::{Translation3, UnitQuaternion, Vector3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
struct Args {
    /// STEP file of an assembly.
    file: PathBuf,
    #[arg(long, default_value_t = 1000)]
    bodies: usize,
    #[arg(long, default_value_t = 10_000)]
    steps: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Fallible<()> {
    let args = Args::parse();
    at_rest(&args.file)?;
    let kinds = ["sphere", "box", "pin", "cone"].map(|name| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{name}.step"));
        Ok(first_body(&prepare(&file)?)?.0)
    });
    let kinds = kinds.into_iter().collect::<Fallible<Vec<_>>>()?;
    let mut sums = Vec::new();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let clock = Instant::now();
        let fallen = pool.install(|| fall(&kinds, &args))?;
        let ms = 1e3 * clock.elapsed().as_secs_f64() / f64::from(args.steps);
        println!("{threads} threads: {fallen:?}, {ms:.3} ms a step");
        sums.push(fallen.sum);
    }
    println!("{}", if sums[0] == sums[1] { "the same bits" } else { "DIFFERENT BITS" });
    Ok(())
}

/// Measures the time of a step in a scene in which nothing moves, and in one that moves as a whole.
fn at_rest(file: &Path) -> Fallible<()> {
    const STEPS: u32 = 1000;
    let model = prepare(file)?;
    let mut scene = Scene::new(QueryOptions::within(0.1))?;
    let ids = scene.add_model(&model)?;
    let clock = Instant::now();
    scene.update()?;
    let first = clock.elapsed();
    let clock = Instant::now();
    for _ in 0..STEPS {
        // Set all poses in every step, as an engine does.
        for id in &ids {
            scene.set_pose(*id, *scene.pose(*id)?)?;
        }
        scene.update()?;
    }
    let each = clock.elapsed() / STEPS;
    let along = Pose::translation(1.0, 0.25, -3.0);
    let clock = Instant::now();
    for _ in 0..STEPS {
        for id in &ids {
            scene.set_pose(*id, along * *scene.pose(*id)?)?;
        }
        scene.update()?;
    }
    let moved = clock.elapsed() / STEPS;
    let (parts, near, contacts) = (ids.len(), scene.near().count(), scene.contacts().len());
    println!(
        "{parts} parts, {near} near pairs, {contacts} contacts: first step {first:?}, at rest \
         {each:?}, moving as one {moved:?}"
    );
    Ok(())
}

#[derive(Debug, Default)]
struct Fallen {
    sum: u64,
    contacts: usize,
    events: usize,
    added: usize,
    held: usize,
}

impl Fallen {
    fn add(&mut self, bits: u64) {
        self.sum = (self.sum ^ bits).wrapping_mul(0x0100_0000_01b3);
    }
}

struct Falling {
    id: BodyId,
    place: Vector3<f64>,
    turn: UnitQuaternion<f64>,
    speed: Vector3<f64>,
    spin: UnitQuaternion<f64>,
}

impl Falling {
    fn pose(&self) -> Pose {
        Pose::from_parts(Translation3::from(self.place), self.turn)
    }
}

/// Drops bodies in a box whose size grows with their number, and hashes contacts and events.
fn fall(kinds: &[Arc<Body>], args: &Args) -> Fallible<Fallen> {
    let mut rng = SmallRng::seed_from_u64(args.seed);
    let size = kinds.iter().map(|b| b.size()).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a number of bodies")]
    let side = size * (args.bodies as f64).cbrt() * 1.5;
    let mut scene = Scene::new(QueryOptions::within(0.02 * size))?;
    let mut fallen = Fallen::default();
    let drop = |rng: &mut SmallRng, scene: &mut Scene| -> Fallible<Falling> {
        let mut v = |s: f64| Vector3::from_fn(|_, _| rng.random_range(-s..s));
        let (place, turn, spin) = (v(0.5 * side), v(3.0), v(2e-3));
        let speed = v(1e-3 * size) - Vector3::z() * (2e-3 * size);
        let turn = UnitQuaternion::from_scaled_axis(turn);
        let body = kinds[rng.random_range(0..kinds.len())].clone();
        let id = scene.add(body, Pose::from_parts(Translation3::from(place), turn))?;
        Ok(Falling { id, place, turn, speed, spin: UnitQuaternion::from_scaled_axis(spin) })
    };
    let mut all = Vec::new();
    for _ in 0..args.bodies {
        all.push(drop(&mut rng, &mut scene)?);
    }
    for _ in 0..args.steps {
        if rng.random_bool(0.1) {
            let k = rng.random_range(0..all.len());
            scene.remove(all[k].id)?;
            all[k] = drop(&mut rng, &mut scene)?;
            fallen.added += 1;
        }
        for body in &mut all {
            body.place += body.speed;
            if body.place.z < -0.5 * side {
                body.place.z += side;
            }
            body.turn = body.spin * body.turn;
            scene.set_pose(body.id, body.pose())?;
        }
        scene.update()?;
        fallen.contacts += scene.contacts().len();
        fallen.events += scene.events().len();
        for c in scene.contacts() {
            let l = &c.contact;
            let numbers = [l.distance, l.point_a.x, l.point_b.y, l.normal.z, l.local_b.x];
            numbers.iter().for_each(|x| fallen.add(x.to_bits()));
            [u64::from(c.bodies[0].0), u64::from(c.bodies[1].0), l.id, u64::from(l.age)]
                .iter()
                .for_each(|x| fallen.add(*x));
        }
        for e in scene.events() {
            fallen.add(e.id ^ e.kind as u64);
        }
    }
    fallen.held = scene.held_pairs();
    Ok(fallen)
}
