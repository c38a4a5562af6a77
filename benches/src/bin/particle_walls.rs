//! Particles against exact walls: completeness of the minima, spheres per second, and cost of additional
//! faces.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin particle_walls -- compare [--points N] [STEP...]
//! cargo run --profile dist -p feeler-benches --bin particle_walls -- speed [--spheres N] [STEP...]
//! cargo run --profile dist -p feeler-benches --bin particle_walls -- growth [--holes N]
//! ```
//!
//! `compare` compares the minima of points beside faces, edges, vertices, axes and planes of symmetry with
//! those of the brute-force reference (`feeler_tests::particle_walls`); exit status 1 if they differ.
//! `speed` moves spheres, 5 % of them near the wall, and queries all contacts in each step, on one
//! thread. `growth` does so with spheres in one hole of plates with up to 10,000 holes, all of them near
//! the wall, and prints the exponents of the time over the number of faces.
#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use clap::Parser;
use feeler_benches::{Fallible, cpu_seconds, exit_code, first_body, plate, plate_hole, prepare, step_files};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_geom::{P3, V3};
use feeler_hierarchy::Options;
use feeler_particles::{ExactWall, Sphere, SuperellipsoidParticle, WallContacts};
use feeler_runtime::{Body, Boundary, PointMinima};
use feeler_tests::particle_walls::{Tally, check};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Compares minima with the brute-force reference.
    Compare {
        /// Total number of points of all solids.
        #[arg(long, default_value_t = 20_000)]
        points: usize,
        /// Maximum distance of minima, as a fraction of the size.
        #[arg(long, default_value_t = 0.03)]
        reach: f64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        files: Vec<PathBuf>,
    },
    /// Measures warm queries per second on one thread.
    Speed {
        #[arg(long, default_value_t = 200_000)]
        spheres: usize,
        #[arg(long, default_value_t = 50)]
        steps: usize,
        files: Vec<PathBuf>,
    },
    /// Measures the growth of times with the number of faces.
    Growth {
        #[arg(long, default_value_t = 10_000)]
        holes: u32,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Compare { points, reach, seed, files } => compare_all(points, reach, seed, &files),
        Command::Speed { spheres, steps, files } => speed(spheres, steps, &files).map(|()| true),
        Command::Growth { holes } => growth(holes).map(|()| true),
    };
    exit_code(done)
}

fn files_of(given: &[PathBuf]) -> Vec<PathBuf> {
    let own = vec![feeler_tests::data_dir()];
    step_files((if given.is_empty() { &own } else { given }).iter().map(PathBuf::as_path))
}

fn compare_all(points: usize, reach: f64, seed: u64, files: &[PathBuf]) -> Fallible<bool> {
    let files = files_of(files);
    let n = points.div_ceil(files.len().max(1));
    let of_file = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Skip files that cannot be imported; the program `corpus` reports them.
        let part = std::panic::catch_unwind(|| feeler_tests::part(file, 0)).ok()?;
        if part.body.hierarchy().info.volume <= 0.0 {
            return None;
        }
        let tally = check(&name, &part, reach * part.body.size(), n, seed);
        println!(
            "{name}: {} points, {} inside, {} without a side; {} agreed, {} undecided, {} samples, \
             {} several; {} wrong",
            tally.points[0],
            tally.points[1],
            tally.sideless,
            tally.agreed,
            tally.undecided,
            tally.samples,
            tally.several,
            tally.wrong.len()
        );
        for wrong in tally.wrong.iter().take(3) {
            println!("  {wrong}");
        }
        Some(tally)
    };
    let all = files.iter().filter_map(of_file).fold(Tally::default(), Tally::and);
    println!(
        "all: {} points, {} inside, {} without a side; {} agreed, {} undecided, {} samples, \
         {} several; {} wrong",
        all.points[0],
        all.points[1],
        all.sideless,
        all.agreed,
        all.undecided,
        all.samples,
        all.several,
        all.wrong.len()
    );
    Ok(all.wrong.is_empty() && all.points[0] > 0)
}

fn one_thread<T: Send>(run: impl FnOnce() -> T + Send) -> Fallible<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| e.to_string())?;
    Ok(pool.install(run))
}

/// Fraction of the spheres that are near the wall.
const NEAR_FRACTION: f64 = 0.05;

fn speed(n: usize, steps: usize, files: &[PathBuf]) -> Fallible<()> {
    let default =
        ["socket.step", "bayonet-socket.step", "perforated-plate.step", "torus-nurbs.step", "wave.step"];
    let files = if files.is_empty() {
        default.iter().map(|name| feeler_tests::data_dir().join(name)).collect()
    } else {
        step_files(files.iter().map(PathBuf::as_path))
    };
    println!(
        "| wall | faces | spheres | contacts | cold M/s | warm M/s | all near M/s | superellipsoids k/s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for file in files {
        let model = prepare(&file)?;
        let (body, _) = first_body(&model)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = one_thread(|| {
            let wall = ExactWall::new(body.clone());
            let mut spheres = spheres_about(&body, n);
            let reach = 0.1 * spheres[0].radius;
            let (cold, warm, contacts) = timed(&wall, &mut spheres, reach, steps);
            let boundary = Boundary::new(body.clone());
            let mut query = PointMinima::new();
            let mut near: Vec<Sphere> = spheres.clone();
            near.retain(|s| query.position(&boundary, &s.center).distance <= s.radius + reach);
            near.truncate(10_000);
            let (_, all_near, _) = timed(&wall, &mut near, reach, steps);
            let shapes: Vec<_> = near.iter().take(1000).map(shape_of).collect();
            let (mut states, mut out) = (Vec::new(), WallContacts::new());
            wall.superellipsoid_contacts(&shapes, reach, &mut states, &mut out).expect("finite");
            let clock = cpu_seconds();
            wall.superellipsoid_contacts(&shapes, reach, &mut states, &mut out).expect("finite");
            let others = shapes.len() as f64 / (cpu_seconds() - clock);
            format!(
                "| {name} | {} | {} | {contacts} | {:.2} | {:.2} | {:.2} | {:.1} |",
                body.hierarchy().faces.len(),
                spheres.len(),
                cold * 1e-6,
                warm * 1e-6,
                all_near * 1e-6,
                others * 1e-3
            )
        })?;
        println!("{line}");
    }
    Ok(())
}

/// Makes a superellipsoid at the position of a sphere.
fn shape_of(s: &Sphere) -> SuperellipsoidParticle {
    SuperellipsoidParticle {
        center: s.center,
        orientation: nalgebra::UnitQuaternion::from_scaled_axis(s.center.coords),
        semi: V3::new(1.0, 0.8, 0.6) * s.radius,
        exponents: [0.7, 0.8],
    }
}

/// Makes spheres outside a solid, a fraction of them near it.
fn spheres_about(body: &Arc<Body>, n: usize) -> Vec<Sphere> {
    let mut rng = SmallRng::seed_from_u64(3);
    let boundary = Boundary::new(body.clone());
    let mut query = PointMinima::new();
    let (center, half) = (body.bounds().center(), (body.bounds().max - body.bounds().min) * 0.6);
    let radius = 0.005 * body.size();
    let wanted = NEAR_FRACTION * n as f64;
    let (mut near, mut far) = (0.0, 0.0);
    let mut out = Vec::with_capacity(n);
    while out.len() < n {
        let p = center + V3::from_fn(|i, _| half[i] * rng.random_range(-1.0..1.0));
        let standing = query.position(&boundary, &p);
        if standing.is_inside || standing.distance < 0.95 * radius {
            continue;
        }
        let is_near = standing.distance <= 1.1 * radius;
        // Few random spheres are near, so others are moved to the wall.
        let becomes_near = is_near || (near < wanted && standing.distance < 4.0 * radius);
        let (count, max) = if becomes_near { (&mut near, wanted) } else { (&mut far, n as f64 - wanted) };
        if *count >= max {
            continue;
        }
        *count += 1.0;
        let nearest = query.query(&boundary, &p, standing.distance * 1.001).first().copied();
        let center = match nearest {
            Some(m) if becomes_near => m.point + m.normal * (radius * rng.random_range(0.99..1.1)),
            _ => p,
        };
        out.push(Sphere { center, radius });
    }
    out
}

/// Number of spheres per second in the first query, and in later queries between which the spheres move
/// by 1/500 of their radius; and the number of contacts of the last step.
fn timed(wall: &ExactWall, spheres: &mut [Sphere], reach: f64, steps: usize) -> (f64, f64, usize) {
    let mut rng = SmallRng::seed_from_u64(9);
    let (mut states, mut out) = (Vec::new(), WallContacts::new());
    let clock = cpu_seconds();
    wall.contacts(spheres, reach, &mut states, &mut out).expect("finite");
    let cold = cpu_seconds() - clock;
    let mut warm = 0.0;
    let velocities: Vec<V3> = spheres
        .iter()
        .map(|s| V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * (0.002 * s.radius))
        .collect();
    for step in 0..steps {
        // The spheres move back and forth, so that near ones stay near.
        let sign = if step / 10 % 2 == 0 { 1.0 } else { -1.0 };
        for (s, v) in spheres.iter_mut().zip(&velocities) {
            s.center += v * sign;
        }
        let clock = cpu_seconds();
        wall.contacts(spheres, reach, &mut states, &mut out).expect("finite");
        warm += cpu_seconds() - clock;
    }
    let n = spheres.len() as f64;
    (n / cold, n * steps as f64 / warm, out.contacts().len())
}

fn growth(max_holes: u32) -> Fallible<()> {
    println!("| holes | faces | cold µs | warm µs | contacts |");
    println!("|---|---|---|---|---|");
    let mut lines: Vec<[f64; 3]> = Vec::new();
    let mut holes = 10;
    while holes <= max_holes {
        let solid = build_solid(&plate(holes), &BuildOptions::default()).map_err(|e| e.to_string())?;
        let options = Options { flatness: feeler_import::DEFAULT_FLATNESS };
        let hierarchy = feeler_prepare::prepare_solid(&solid, &options).map_err(|e| e.to_string())?;
        let faces = hierarchy.faces.len() as f64;
        let body = Arc::new(Body::new(hierarchy).map_err(|e| e.to_string())?);
        let [x, y] = plate_hole(holes);
        let (cold, warm, contacts) = one_thread(|| {
            let mut rng = SmallRng::seed_from_u64(5);
            let radius = 0.3;
            let mut spheres: Vec<Sphere> = (0..20_000)
                .map(|_| {
                    let (s, c) = feeler_geom::math::sin_cos(rng.random_range(0.0..std::f64::consts::TAU));
                    let off = 3.0 - radius * rng.random_range(0.98..1.1);
                    Sphere { center: P3::new(x + off * c, y + off * s, rng.random_range(0.0..5.0)), radius }
                })
                .collect();
            timed(&ExactWall::new(body), &mut spheres, 0.1 * radius, 20)
        })?;
        let us = [cold, warm].map(|rate| 1e6 / rate);
        println!("| {holes} | {faces} | {:.3} | {:.3} | {contacts} |", us[0], us[1]);
        lines.push([faces, us[0], us[1]]);
        holes *= 10;
    }
    for (k, name) in [(1, "cold"), (2, "warm")] {
        println!("exponent, {name}: {:.3}", slope(&lines, k));
    }
    Ok(())
}

/// Exponent of the power law of column `k` through all sizes, by least squares of logarithms.
#[expect(clippy::disallowed_methods, reason = "logarithms in a report")]
fn slope(lines: &[[f64; 3]], k: usize) -> f64 {
    let points: Vec<(f64, f64)> = lines.iter().map(|l| (l[0].ln(), l[k].ln())).collect();
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (xy, xx) =
        points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + (x - mx) * (y - my), b + (x - mx) * (x - mx)));
    xy / xx
}
