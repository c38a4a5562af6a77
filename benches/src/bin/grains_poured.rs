//! Grains poured into a box: rest, packing, and cost of a step.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin grains_poured -- [--grains N] [--time S] [--shape NAME]
//! ```
//!
//! Spheres, ellipsoids, superellipsoids and poly-superellipsoids, and bumpy NURBS grains, rings and dice
//! as solids, all with the volume of a ball of 4 mm diameter, fall into a box of planes. The floor grows
//! with the number of grains, so that the height of the heap is constant. The program prints the kinetic
//! energy over time, and at the end the largest speed, contacts of a grain with others and with walls,
//! and the filled fraction of the volume (from random points away from walls and the top; not for
//! solids). The values in brackets are the processor time of a step, of all threads, and the number of
//! pairs in contact. The exit status is 1 if grains have left the box or are not at rest, that is, if
//! their mean kinetic energy exceeds that of a fall by a thousandth of their diameter.
#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use clap::Parser;
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::Grain;
use feeler_grains::mass::poly_superellipsoid;
use feeler_grains::nurbs::{NurbsGrain, NurbsGrainError};
use feeler_import::{MeshOptions, prepare_grain, prepare_mesh};
use feeler_particles::{
    Amount, Distribution, FillRegion, Law, Particle, ParticleId, PlaneWall, Simulation, SimulationSettings,
    fill,
};
use feeler_runtime::Body;
use nalgebra::{Quaternion, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::PI;
use std::process::ExitCode;
use std::sync::Arc;

/// Result whose error ends the program.
type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 1_000)]
    grains: usize,
    /// Simulated time (s); shorter runs only measure the time of a step.
    #[arg(long, default_value_t = 0.8)]
    time: f64,
    /// Shape to pour; `None` for all of them.
    #[arg(long)]
    shape: Option<String>,
}

/// Diameter (mm) of the ball with the volume of a grain.
const DIAMETER: f64 = 4.0;
/// Density (kg/m³) of the grains.
const DENSITY: f64 = 2_500.0;
/// Gravity (mm/s²).
const GRAVITY: f64 = 9_810.0;
/// Time step (s).
const STEP: f64 = 2e-5;
/// Contact law of all contacts (stiffnesses in N/m).
const LAW: Law = Law::Linear { normal: 1_000.0, shear: 500.0, restitution: 0.5, friction: 0.4 };
/// Simulated time (s) from which on grains must be at rest; shorter runs only measure times.
const MIN_TIME_TO_REST: f64 = 0.3;

/// Shape of the poured grains.
enum Shape {
    Sphere,
    Smooth(Grain),
    Solid(Arc<Body>),
}

/// Makes a smooth grain from its semi-axes in both directions and its exponents, scaled to the common
/// volume.
fn smooth([plus, minus]: [[f64; 3]; 2], exponents: [f64; 2]) -> Fallible<Shape> {
    let given = Grain::new(V3::from(plus), V3::from(minus), exponents)?;
    let by = math::powf(volume() / poly_superellipsoid(given.shape())?.volume, 1.0 / 3.0);
    Ok(Shape::Smooth(Grain::new(V3::from(plus) * by, V3::from(minus) * by, exponents)?))
}

/// Makes a NURBS grain scaled to the common volume.
fn solid(of: impl Fn(f64) -> Result<NurbsGrain, NurbsGrainError>) -> Fallible<Shape> {
    let by = math::powf(volume() / of(1.0)?.mass().volume, 1.0 / 3.0);
    let model = prepare_grain("grain", of(by)?.surface())?;
    Ok(Shape::Solid(Arc::new(Body::from_model(&model, 0)?)))
}

/// Makes a cube with the common volume.
fn dice() -> Fallible<Shape> {
    let half = 0.5 * math::powf(volume(), 1.0 / 3.0);
    let of = |k: u32, bit: u32| if k & bit == 0 { -half } else { half };
    let points: Vec<P3> = (0..8).map(|k| P3::new(of(k, 1), of(k, 2), of(k, 4))).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> =
        sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let model = prepare_mesh("die", &points, &triangles, MeshOptions::default())?;
    Ok(Shape::Solid(Arc::new(Body::from_model(&model, 0)?)))
}

const NAMES: [&str; 7] =
    ["spheres", "ellipsoids", "superellipsoids", "poly-superellipsoids", "bumpy", "rings", "dice"];

fn shape(name: &str) -> Fallible<Shape> {
    match name {
        "ellipsoids" => smooth([[1.0, 1.0, 1.7]; 2], [1.0, 1.0]),
        "superellipsoids" => smooth([[1.0, 0.9, 1.3]; 2], [0.6, 0.7]),
        "poly-superellipsoids" => smooth([[1.0, 0.8, 0.7], [0.7, 1.1, 0.5]], [0.8, 0.9]),
        "bumpy" => solid(|r| NurbsGrain::random(3, r, 0.5)),
        "dice" => dice(),
        "rings" => solid(|r| NurbsGrain::torus(r, 0.4 * r)),
        _ => Ok(Shape::Sphere),
    }
}

/// Common volume (mm³) of the grains.
fn volume() -> f64 {
    PI / 6.0 * DIAMETER * DIAMETER * DIAMETER
}

fn main() -> Fallible<ExitCode> {
    let args = Args::parse();
    let mut all_rest = true;
    if args.shape.as_deref().is_some_and(|s| !NAMES.contains(&s)) {
        return Err(format!("--shape: the shapes are {}", NAMES.join(", ")).into());
    }
    for name in NAMES {
        if args.shape.as_ref().is_none_or(|s| s == name) {
            all_rest &= pour(name, &shape(name)?, &args)?;
        }
    }
    Ok(if all_rest { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn pour(name: &str, shape: &Shape, args: &Args) -> Fallible<bool> {
    let around = match shape {
        Shape::Sphere => 0.5 * DIAMETER,
        Shape::Smooth(grain) => grain.radius(),
        Shape::Solid(body) => 0.5 * body.bounds().diagonal(),
    };
    let n = args.grains;
    // The number of grains per area of the floor does not depend on the number of grains.
    let side = 12.0 * DIAMETER * (n as f64 / 1_000.0).sqrt();
    let bounding = 4.0 / 3.0 * PI * around * around * around;
    let height = n as f64 * bounding / (0.22 * side * side);
    let mut world = Simulation::new(SimulationSettings { gravity: V3::z() * -GRAVITY, between: Some(LAW) })?;
    // Normals of the floor and of the four sides.
    let inwards = [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)];
    for (x, y, z) in inwards {
        let inwards = V3::new(x, y, z);
        let at = -inwards * if z > 0.0 { 0.0 } else { 0.5 * side };
        let wall = PlaneWall::new(P3::from(at), inwards)?;
        world.add_wall(wall.into(), LAW)?;
    }
    let half = 0.5 * side;
    let region = FillRegion::Box { min: P3::new(-half, -half, 0.0), max: P3::new(half, half, height) };
    let balls = fill(&region, &Distribution::Same(2.0 * around), Amount::Number(n), 1, |_| true)?;
    let mut rng = SmallRng::seed_from_u64(1);
    for b in &balls {
        let mut part = || rng.random_range(-1.0..1.0_f64);
        let turn = loop {
            let q = Quaternion::new(part(), part(), part(), part());
            if (0.1..1.0).contains(&q.norm()) {
                break UnitQuaternion::new_normalize(q);
            }
        };
        let particle = match shape {
            Shape::Sphere => Particle::sphere(0.5 * DIAMETER, DENSITY)?,
            Shape::Smooth(g) => Particle::grain(g, DENSITY)?,
            Shape::Solid(body) => Particle::solid(body, DENSITY)?,
        };
        world.add(particle, &Pose::from_parts(b.center.coords.into(), turn), V3::zeros(), V3::zeros())?;
    }
    let mass = world.mass(ParticleId::new(0)).unwrap_or(0.0);
    print!("{name}: {n} in {side:.0} mm; kinetic energy (µJ a grain) at s:");
    let (mut shown, mut steps, mut before) = (0.0, 0_u32, process_seconds());
    while world.time() < args.time - 0.5 * STEP {
        world.step(STEP)?;
        steps += 1;
        if world.time() >= shown + 0.05 - 0.5 * STEP {
            shown = world.time();
            print!(" {shown:.2}: {:.3e}", world.kinetic_energy() / n as f64);
            let ms = 1e3 * (process_seconds() - before) / f64::from(steps);
            print!(" ({ms:.2} ms, {} pairs)", world.pair_count());
            (steps, before) = (0, process_seconds());
            let _ = std::io::Write::flush(&mut std::io::stdout());
        }
    }
    println!();
    let places: Vec<(Pose, f64)> = world
        .particle_ids()
        .filter_map(|k| Some((world.pose(k)?, world.motion(k)?.velocity.norm())))
        .collect();
    let fastest = places.iter().map(|p| p.1).fold(0.0, f64::max);
    let is_in = |p: &Pose| {
        let v = p.translation.vector;
        v.x.abs() < half && v.y.abs() < half && v.z > 0.0
    };
    let lost = places.iter().filter(|p| !is_in(&p.0)).count();
    let rests = world.kinetic_energy() / n as f64 <= mass * GRAVITY * 1e-3 * DIAMETER;
    let filled = match shape {
        Shape::Sphere => Some(filled(&places, None, half, around, &mut rng)),
        Shape::Smooth(grain) => Some(filled(&places, Some(grain), half, around, &mut rng)),
        Shape::Solid(_) => None,
    };
    println!(
        "  at the end: fastest {fastest:.2} mm/s, a grain touches {:.2} others, {:.3} contacts with walls, \
         {}{lost} lost, {}",
        2.0 * world.pair_count() as f64 / n as f64,
        world.wall_contact_count() as f64 / n as f64,
        filled.map_or_else(String::new, |part| format!("filled {part:.3}, ")),
        if rests { "at rest" } else { "not at rest" }
    );
    Ok(lost == 0 && (rests || args.time < MIN_TIME_TO_REST))
}

/// Fraction of the volume that is filled by grains, away from the walls and below the highest quarter.
fn filled(places: &[(Pose, f64)], grain: Option<&Grain>, half: f64, around: f64, rng: &mut SmallRng) -> f64 {
    let mut heights: Vec<f64> = places.iter().map(|p| p.0.translation.vector.z).collect();
    heights.sort_by(f64::total_cmp);
    let (low, top) = (1.5 * DIAMETER, heights[heights.len() * 3 / 4]);
    let wide = half - 1.5 * DIAMETER;
    let (mut hit, points) = (0_u32, 40_000_u32);
    for _ in 0..points {
        let at = |rng: &mut SmallRng, a: f64, b: f64| rng.random_range(a..b.max(a + 1e-9));
        let p = P3::new(at(rng, -wide, wide), at(rng, -wide, wide), at(rng, low, top));
        let is_inside = places.iter().any(|(pose, _)| {
            let near = (pose.translation.vector - p.coords).norm();
            near < around && grain.is_none_or(|g| is_in_grain(g, &pose.inverse_transform_point(&p).coords))
        });
        hit += u32::from(is_inside);
    }
    f64::from(hit) / f64::from(points)
}

/// Processor time (s) of all threads of this program.
fn process_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Whether a point is in a grain, by the implicit equation of its surface.
fn is_in_grain(grain: &Grain, p: &V3) -> bool {
    let shape = grain.shape();
    let side = |i: usize| if p[i] < 0.0 { shape.negative()[i] } else { shape.positive()[i] };
    let u = V3::from_fn(|i, _| (p[i] / side(i)).abs());
    let [e1, e2] = shape.exponents();
    let around = math::powf(u.x, 2.0 / e1) + math::powf(u.y, 2.0 / e1);
    math::powf(around, e1 / e2) + math::powf(u.z, 2.0 / e2) <= 1.0
}
