//! Distance of convex polytopes: feeler-convex against parry3d-f64, in one run.
//!
//! `gjk [PAIRS]`: PAIRS pairs (200 by default) of hulls of 10, 100 and 1,000 points on spheres, distant,
//! near (gap 1e-4), touching and overlapping, cold and warm from the result at a slightly different pose.
//! Prints medians over the pairs of the time of a query, and the largest relative errors against exact
//! distances; then the mean time of the same queries in alternation. `gjk --one ours|parry N GAP TIMES`
//! makes TIMES cold queries (100 by default) of 20 pairs, to count instructions.

use feeler_convex::reference::cases::CaseRandom;
use feeler_convex::reference::exact;
use feeler_convex::{DistanceOutcome, DistanceRequest, Moved, Polytope, Start, distance};
use feeler_geom::{P3, Pose};
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query::details::distance_support_map_support_map_with_params;
use parry3d_f64::query::gjk::VoronoiSimplex;
use parry3d_f64::shape::ConvexPolyhedron;
use std::hint::black_box;
use std::time::Instant;

/// Names and gaps of the configurations, relative to hulls of radius 1.
const CONFIGURATIONS: [(&str, f64); 4] =
    [("distant", 1.0), ("near", 1e-4), ("touching", 0.0), ("overlapping", -0.3)];

struct Pair {
    ours: [Polytope; 2],
    parry: [ConvexPolyhedron; 2],
    pose: Pose,
    /// Pose of B in the previous query.
    before: Pose,
}

fn points_on_ball(rng: &mut CaseRandom, n: usize) -> Vec<P3> {
    (0..n)
        .map(|_| {
            loop {
                let v = rng.vector();
                if 0.01 < v.norm_squared() && v.norm_squared() < 1.0 {
                    return P3::from(v.normalize());
                }
            }
        })
        .collect()
}

fn hull(points: &[P3]) -> Option<ConvexPolyhedron> {
    let points: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    ConvexPolyhedron::from_convex_hull(&points)
}

fn parry_pose(pose: &Pose) -> ParryPose {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    ParryPose::from_parts(Vector::new(t.x, t.y, t.z), Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

fn ours(pair: &Pair, pose: &Pose, start: Start) -> feeler_convex::DistanceResult {
    let Ok(b) = Moved::new(&pair.ours[1], pose) else { unreachable!("finite poses") };
    distance(&pair.ours[0], &b, &DistanceRequest { start, ..DistanceRequest::default() })
}

fn parry(pair: &Pair, pose: &ParryPose, direction: Option<Vector>) -> f64 {
    let [a, b] = &pair.parry;
    distance_support_map_support_map_with_params(pose, a, b, &mut VoronoiSimplex::new(), direction)
}

/// Makes a pair with a gap along the line of the closest points; a negative gap makes it overlap.
fn make(rng: &mut CaseRandom, n: usize, gap: f64) -> Option<Pair> {
    let (p, q) = (points_on_ball(rng, n), points_on_ball(rng, n));
    let direction = rng.vector().normalize();
    let rotation = rng.vector() * 3.0;
    let (a, b) = (Polytope::new(&p).ok()?, Polytope::new(&q).ok()?);
    let mut pose = Pose::new(direction * 3.0, rotation);
    let pair = Pair { parry: [hull(&p)?, hull(&q)?], ours: [a, b], pose, before: pose };
    let answer = ours(&pair, &pose, Start::Cold);
    pose.translation.vector -= answer.direction * (answer.distance - gap);
    let turn = Pose::new(rng.vector() * 1e-3, rng.vector() * 1e-3);
    Some(Pair { pose, before: pose * turn, ..pair })
}

fn nanoseconds(mut query: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let mut n = 20;
    for _ in 0..6 {
        let start = Instant::now();
        for _ in 0..n {
            query();
        }
        #[expect(clippy::cast_precision_loss, reason = "a time")]
        let t = start.elapsed().as_nanos() as f64 / f64::from(n);
        best = best.min(t);
        // A round takes about 0.1 ms.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let more = (1e5 / t.max(1.0)) as u32;
        n = more.clamp(5, 1000);
    }
    best
}

/// Relative errors of both distances against the exact one, without a pose, so that all points are the
/// given doubles.
fn errors(pair: &Pair) -> [f64; 2] {
    let a: Vec<P3> = pair.ours[0].vertices().to_vec();
    let b: Vec<P3> = pair.ours[1].vertices().iter().map(|p| pair.pose * p).collect();
    let (Ok(pa), Ok(pb), Some(ha), Some(hb)) = (Polytope::new(&a), Polytope::new(&b), hull(&a), hull(&b))
    else {
        return [0.0; 2];
    };
    let answer = distance(&pa, &pb, &DistanceRequest::default());
    let start: Vec<(usize, usize)> =
        answer.witness.vertices.iter().map(|v| (v.a.index as usize, v.b.index as usize)).collect();
    let exact = exact::distance(&a, &b, &start);
    let there = ParryPose::IDENTITY;
    let t = pair.pose.translation.vector;
    let direction = Some(-Vector::new(t.x, t.y, t.z));
    let theirs =
        distance_support_map_support_map_with_params(&there, &ha, &hb, &mut VoronoiSimplex::new(), direction);
    [answer.distance, theirs].map(|d| exact.error(d).abs() / exact.upper.value())
}

#[expect(clippy::print_stdout, reason = "a program that prints a table")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|a| a == "--one") {
        one(&arguments);
        return;
    }
    let n_pairs: usize = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(200);
    println!(
        "| vertices | configuration | ours cold | parry cold | ratio | ours warm | parry warm | ratio | \
            steps cold, warm | error ours, parry | right outcome |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for n in [10, 100, 1000] {
        for (name, gap) in CONFIGURATIONS {
            let mut rng = CaseRandom(7);
            let mut t: [Vec<f64>; 4] = Default::default();
            let (mut steps, mut worst, mut right) = ([0.0_f64; 2], [0.0_f64; 2], 0);
            let mut made = 0;
            for _ in 0..n_pairs {
                let Some(pair) = make(&mut rng, n, gap) else { continue };
                made += 1;
                let there = parry_pose(&pair.pose);
                let last = ours(&pair, &pair.before, Start::Cold);
                // Parry starts from the direction with which its search would end; it points from B to A.
                let d = last.direction;
                let theirs = (d.norm() > 0.0).then(|| -Vector::new(d.x, d.y, d.z));
                let warm = Start::Warm(last.warm());
                let cold = ours(&pair, &pair.pose, Start::Cold);
                steps[0] += f64::from(cold.iterations);
                steps[1] += f64::from(ours(&pair, &pair.pose, warm).iterations);
                let expected = match name {
                    "touching" => DistanceOutcome::Touching,
                    "overlapping" => DistanceOutcome::Overlapping,
                    _ => DistanceOutcome::Separated,
                };
                right += usize::from(cold.outcome == expected);
                if gap > 0.0 {
                    let e = errors(&pair);
                    worst = [worst[0].max(e[0]), worst[1].max(e[1])];
                }
                // Results are passed by reference, so that the time does not include copies.
                t[0].push(nanoseconds(|| {
                    black_box(&ours(black_box(&pair), &pair.pose, Start::Cold));
                }));
                t[1].push(nanoseconds(|| {
                    black_box(parry(black_box(&pair), &there, None));
                }));
                t[2].push(nanoseconds(|| {
                    black_box(&ours(black_box(&pair), &pair.pose, warm));
                }));
                t[3].push(nanoseconds(|| {
                    black_box(parry(black_box(&pair), &there, theirs));
                }));
            }
            let [a, b, c, d] = t.each_mut().map(|t| feeler_benches::spread(t)[0]);
            let mean = steps.map(|s| s / f64::from(made));
            println!(
                "| {n} | {name} | {a:.0} | {b:.0} | {:.2} | {c:.0} | {d:.0} | {:.2} | {:.1}, {:.1} | \
                    {:.0e}, {:.0e} | {right} of {made} |",
                b / a,
                d / c,
                mean[0],
                mean[1],
                worst[0],
                worst[1]
            );
        }
    }
    in_turn(n_pairs);
}

/// Times the same queries in alternation: each pair once, then the next, so that branches cannot be
/// predicted and the bodies are not in the cache.
#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints a table")]
fn in_turn(n_pairs: usize) {
    println!(
        "\n| vertices | configuration | ours cold | parry cold | ratio | ours warm | parry warm | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for n in [10, 100, 1000] {
        for (name, gap) in CONFIGURATIONS {
            let mut rng = CaseRandom(7);
            let pairs: Vec<Pair> = (0..n_pairs).filter_map(|_| make(&mut rng, n, gap)).collect();
            let prepared: Vec<_> = pairs
                .iter()
                .map(|pair| {
                    let last = ours(pair, &pair.before, Start::Cold);
                    let d = last.direction;
                    let theirs = (d.norm() > 0.0).then(|| -Vector::new(d.x, d.y, d.z));
                    (pair, parry_pose(&pair.pose), Start::Warm(last.warm()), theirs)
                })
                .collect();
            let mut t = [f64::INFINITY; 4];
            for _ in 0..9 {
                let mut run = |k: usize, query: &dyn Fn(usize)| {
                    let start = Instant::now();
                    for i in 0..prepared.len() {
                        query(i);
                    }
                    t[k] = t[k].min(start.elapsed().as_nanos() as f64 / prepared.len() as f64);
                };
                run(0, &|i| {
                    black_box(&ours(prepared[i].0, &prepared[i].0.pose, Start::Cold));
                });
                run(1, &|i| {
                    black_box(parry(prepared[i].0, &prepared[i].1, None));
                });
                run(2, &|i| {
                    black_box(&ours(prepared[i].0, &prepared[i].0.pose, prepared[i].2));
                });
                run(3, &|i| {
                    black_box(parry(prepared[i].0, &prepared[i].1, prepared[i].3));
                });
            }
            let [a, b, c, d] = t;
            println!("| {n} | {name} | {a:.0} | {b:.0} | {:.2} | {c:.0} | {d:.0} | {:.2} |", b / a, d / c);
        }
    }
}

/// Runs `--one ENGINE N GAP TIMES`.
fn one(arguments: &[String]) {
    let n = arguments.get(3).and_then(|a| a.parse().ok()).unwrap_or(100);
    let gap = arguments.get(4).and_then(|a| a.parse().ok()).unwrap_or(1e-4);
    let times = arguments.get(5).and_then(|a| a.parse().ok()).unwrap_or(100);
    let mut rng = CaseRandom(7);
    for _ in 0..20 {
        let Some(pair) = make(&mut rng, n, gap) else { continue };
        let there = parry_pose(&pair.pose);
        for _ in 0..times {
            match arguments.get(2).map(String::as_str) {
                Some("parry") => {
                    black_box(parry(black_box(&pair), &there, None));
                }
                _ => {
                    black_box(&ours(black_box(&pair), &pair.pose, Start::Cold));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_find_the_same_distance() {
        let mut rng = CaseRandom(8);
        for _ in 0..20 {
            let Some(pair) = make(&mut rng, 20, 0.5) else { continue };
            let d = ours(&pair, &pair.pose, Start::Cold).distance;
            assert!((d - parry(&pair, &parry_pose(&pair.pose), None)).abs() < 1e-6, "{d}");
            assert!((d - 0.5).abs() < 1e-12, "{d}");
        }
    }
}
