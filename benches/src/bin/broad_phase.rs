//! Broad phase: number of distances computed for falling grains (DIST §4.4), and time of a step for up to
//! 10⁵ bodies.
//!
//! `broad_phase [MAX]`: drops of 3, 100 and 1,000 grains for 4,000 steps, each compared with all pairs;
//! then up to MAX bodies (100,000 by default), spread sparsely in a cube, each with its own velocity and
//! spin. Exit status 1 if a near pair is missed.

use feeler_convex::reference::Drop;
use feeler_convex::reference::cases::CaseRandom;
use feeler_convex::{BroadPhase, BroadPhaseRequest, DistanceRequest, Moved, Polytope, distance};
use feeler_geom::{P3, Pose, V3};
use std::process::ExitCode;
use std::time::Instant;

/// Maximum distance of near pairs, and margin of the boxes; bodies have sizes of 1 to 2.
const REQUEST: BroadPhaseRequest = BroadPhaseRequest { d_max: 0.02, margin: 0.05 };

/// Returns the number of pairs at most `d_max` apart, and the number of those that are not in `near`.
/// Computes the distance of each pair whose bounding spheres are close enough.
fn check(drop: &Drop, near: &[(u32, u32)]) -> (usize, usize) {
    let (mut near_count, mut missed) = (0, 0);
    for i in 0..drop.shapes.len() {
        for j in i + 1..drop.shapes.len() {
            let (p, q) = (&drop.poses[i], &drop.poses[j]);
            let centers = (q.translation.vector - p.translation.vector).norm();
            if centers - drop.radii[i] - drop.radii[j] > REQUEST.d_max {
                continue;
            }
            let (Ok(a), Ok(b)) = (Moved::new(&drop.shapes[i], p), Moved::new(&drop.shapes[j], q)) else {
                continue;
            };
            if distance(&a, &b, &DistanceRequest::default()).distance <= REQUEST.d_max {
                near_count += 1;
                #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
                let pair = (i as u32, j as u32);
                missed += usize::from(near.binary_search(&pair).is_err());
            }
        }
    }
    (near_count, missed)
}

#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints a table")]
fn grains() -> bool {
    println!(
        "| grains | steps | near pairs, mean | reported, mean | distances / (pairs × steps) | missed | µs a \
            step |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut complete = true;
    for n in [3, 100, 1000] {
        let steps = 4000_u32;
        let mut drop = Drop::new(71, n);
        let Ok(mut broad) = BroadPhase::new(drop.shapes.clone(), REQUEST) else { return false };
        let (mut near_count, mut missed, mut reported, mut seconds) = (0, 0, 0, 0.0);
        for _ in 0..steps {
            let start = Instant::now();
            let Ok(near) = broad.step(&drop.poses) else { return false };
            seconds += start.elapsed().as_secs_f64();
            reported += near.len();
            let (m, x) = check(&drop, near);
            near_count += m;
            missed += x;
            drop.step(1e-3);
        }
        complete &= missed == 0;
        let all = f64::from(steps) * (n * (n - 1) / 2) as f64;
        println!(
            "| {n} | {steps} | {:.1} | {:.1} | {:.3} % | {missed} | {:.1} |",
            near_count as f64 / f64::from(steps),
            reported as f64 / f64::from(steps),
            100.0 * broad.counts().distances as f64 / all,
            1e6 * seconds / f64::from(steps)
        );
    }
    complete
}

/// Bodies that move independently in a cube and are reflected at its sides. The volume of the cube grows
/// with their number: each has a cube of 10 times its size.
struct Swarm {
    poses: Vec<Pose>,
    velocities: Vec<V3>,
    spins: Vec<V3>,
    half: f64,
}

impl Swarm {
    #[expect(clippy::cast_precision_loss, reason = "a number of bodies")]
    fn new(rng: &mut CaseRandom, n: usize) -> Self {
        let half = 5.0 * feeler_geom::math::powf(n as f64, 1.0 / 3.0);
        let mut vectors = |f: f64| -> Vec<V3> { (0..n).map(|_| rng.vector() * f).collect() };
        let (places, turns) = (vectors(half), vectors(3.0));
        let poses = places.into_iter().zip(turns).map(|(p, t)| Pose::new(p, t)).collect();
        Self { poses, velocities: vectors(1.0), spins: vectors(1.0), half }
    }

    fn step(&mut self, dt: f64) {
        for ((pose, v), spin) in self.poses.iter_mut().zip(&mut self.velocities).zip(&self.spins) {
            pose.translation.vector += *v * dt;
            for k in 0..3 {
                if pose.translation.vector[k].abs() > self.half {
                    v[k] = v[k].abs() * -pose.translation.vector[k].signum();
                }
            }
            pose.rotation = nalgebra::UnitQuaternion::from_scaled_axis(spin * dt) * pose.rotation;
        }
    }
}

#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints a table")]
fn sparse(max: usize) {
    println!(
        "\n| bodies | µs a step | ns a step and body | pairs kept | distances a step | boxes compared every \
            | exponent |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut last: Option<(f64, f64)> = None;
    let mut n = 100;
    while n <= max {
        let mut rng = CaseRandom(74);
        let shapes: Vec<Polytope> = (0..32)
            .filter_map(|_| {
                let points: Vec<P3> = (0..12).map(|_| P3::from(rng.vector().normalize() * 0.5)).collect();
                Polytope::new(&points).ok()
            })
            .collect();
        let each: Vec<&Polytope> = shapes.iter().cycle().take(n).collect();
        let mut swarm = Swarm::new(&mut rng, n);
        let Ok(mut broad) = BroadPhase::new(each, REQUEST) else { return };
        // The broad phase adapts to the speeds during the first steps.
        let mut settle = |steps: u32| {
            let mut seconds = 0.0;
            for _ in 0..steps {
                swarm.step(5e-3);
                let start = Instant::now();
                let found = broad.step(&swarm.poses).map(<[_]>::len);
                seconds += start.elapsed().as_secs_f64();
                if found.is_err() {
                    return (f64::NAN, broad.counts());
                }
            }
            (seconds / f64::from(steps), broad.counts())
        };
        let (_, before) = settle(32);
        let (seconds, after) = settle(256);
        let exponent = last.map_or_else(String::new, |(m, t): (f64, f64)| {
            let ln = feeler_geom::math::ln;
            format!("{:.2}", ln(seconds / t) / ln(n as f64 / m))
        });
        println!(
            "| {n} | {:.1} | {:.0} | {} | {:.1} | {:.0} steps | {exponent} |",
            1e6 * seconds,
            1e9 * seconds / n as f64,
            after.pairs,
            (after.distances - before.distances) as f64 / 256.0,
            256.0 / (after.rebuilds - before.rebuilds).max(1) as f64
        );
        last = Some((n as f64, seconds));
        n *= 10;
    }
}

fn main() -> ExitCode {
    let max = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(100_000);
    let complete = grains();
    sparse(max);
    ExitCode::from(u8::from(!complete))
}
