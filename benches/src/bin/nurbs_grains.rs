//! Concave NURBS grains: exact contacts compared with knots projected by DIRECT, and Newton's projection
//! of DIST §4.7.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --features evaluations --bin nurbs_grains -- [--pairs N]
//! ```
//!
//! Random pairs of concave grains are brought near contact, slightly apart or slightly into each other.
//! The smallest gap of the query is compared with that of knots of three densities: error, order of
//! convergence, and pairs in which a knot is deeper. It is also compared with a reference that minimises
//! over dense grids without a hierarchy. Evaluations of Bézier patches are counted in the evaluator
//! itself, for all methods alike. Exit status 1 if the query is not the deepest, or if it differs from
//! tracked contacts or from a query with a verdict.
#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use clap::Parser;
use feeler_benches::cpu_seconds;
use feeler_geom::bezier::{BezierSurface, patch_evaluations};
use feeler_geom::nurbs::NurbsCurve;
use feeler_geom::{P2, P3, Pose, V3, math};
use feeler_grains::nurbs::NurbsGrain;
use feeler_grains::nurbs::reference::projection::{Guess, guess, on_curve};
use feeler_grains::nurbs::reference::{DirectOptions, KnotOptions, Knots, deepest_gap, knots};
use feeler_import::prepare_grain;
use feeler_runtime::{Body, ContactFollower, ContactKind, ContactPair, FollowOptions, QueryOptions, Status};
use nalgebra::UnitQuaternion;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::process::ExitCode;
use std::sync::Arc;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
struct Args {
    /// Number of pairs of grains.
    #[arg(long, default_value_t = 500)]
    pairs: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Distances between knots, as fractions of the radius of a grain; the angle criterion is disabled.
const KNOT_DISTANCES: [f64; 3] = [0.2, 0.1, 0.05];
/// Approximate radius (mm) of the grains.
const RADIUS: f64 = 1.0;
/// Maximum difference (mm) of equal gaps.
const MAX_GAP_DIFFERENCE: f64 = 1e-9;

struct Grain {
    grid: BezierSurface,
    body: Arc<Body>,
    knots: Vec<Knots>,
}

fn grain(seed: u64) -> Fallible<Grain> {
    // Take the first rough grain that is concave.
    let mut shape = None;
    for k in 0..20 {
        let made = NurbsGrain::random(seed.wrapping_mul(1000).wrapping_add(k), RADIUS, 0.7)?;
        if made.curvature_range()[0] < -0.05 / RADIUS {
            shape = Some(made);
            break;
        }
    }
    let shape = shape.ok_or("no concave grain was found in 20 attempts")?;
    let model = prepare_grain("grain", shape.surface())?;
    let fineness = |d: &f64| knots(shape.grid(), &KnotOptions { distance: d * RADIUS, angle: 10.0 });
    Ok(Grain {
        grid: shape.grid().clone(),
        body: Arc::new(Body::from_model(&model, 0)?),
        knots: KNOT_DISTANCES.iter().map(fineness).collect(),
    })
}

fn direction(rng: &mut SmallRng) -> V3 {
    let z: f64 = rng.random_range(-1.0..1.0);
    let (s, c) = math::sin_cos(rng.random_range(0.0..std::f64::consts::TAU));
    let r = (1.0 - z * z).sqrt();
    V3::new(r * c, r * s, z)
}

/// Results of a query: smallest gap (mm), number of minima, evaluations, time (s) and status.
struct Found {
    gap: f64,
    minima: usize,
    evaluations: u64,
    seconds: f64,
    status: Option<Status>,
}

/// Queries the contacts up to the depth `reach`, or with `verdict` the contacts and the verdict.
fn query(pair: &mut ContactPair, pose: &Pose, reach: f64, verdict: bool) -> Fallible<Found> {
    let options = QueryOptions {
        penetration: 0.3 * RADIUS,
        detect_interference: verdict,
        ..QueryOptions::within(reach)
    };
    let (before, clock) = (patch_evaluations(), cpu_seconds());
    let minima = pair.query(&Pose::identity(), pose, &options)?;
    let (seconds, evaluations) = (cpu_seconds() - clock, patch_evaluations() - before);
    let gap = minima.iter().filter(|l| l.kind != ContactKind::Quasi).map(|l| l.distance);
    let gap = gap.fold(f64::INFINITY, f64::min);
    Ok(Found { gap, minima: minima.len(), evaluations, seconds, status: pair.status() })
}

/// Moves B along a random direction until the smallest gap is about `wanted` (mm); `None` if that fails.
fn placed(pair: &mut ContactPair, rng: &mut SmallRng, wanted: f64) -> Fallible<Option<Pose>> {
    let dir = direction(rng);
    let turn = UnitQuaternion::from_scaled_axis(direction(rng) * rng.random_range(0.0..3.0));
    let mut far = 3.5 * RADIUS;
    for _ in 0..12 {
        let pose = Pose::from_parts((dir * far).into(), turn);
        let gap = query(pair, &pose, 4.0 * RADIUS, false)?.gap;
        if !gap.is_finite() {
            return Ok(None);
        }
        if (gap - wanted).abs() < 2e-3 * RADIUS {
            return Ok(Some(pose));
        }
        far -= (gap - wanted).clamp(-0.1, 1.0);
    }
    Ok(None)
}

/// Smallest signed distance of points of B from A by the reference method: dense grids, then Newton
/// steps of the projection on A and a shrinking pattern search over B. It uses only the grids of
/// patches.
fn reference_gap(a: &BezierSurface, b: &BezierSurface, pose: &Pose, near: f64) -> f64 {
    let grid = |s: &BezierSurface, n: u32| -> Vec<(P2, P3)> {
        let d = s.domain();
        let share = |k: u32| (f64::from(k) + 0.5) / f64::from(n);
        let at = |i: u32, j: u32| P2::new(d.u0 + share(i) * d.width(), d.v0 + share(j) * d.height());
        (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .map(|(i, j)| at(i, j))
            .map(|uv| (uv, s.derivs(uv).p))
            .collect()
    };
    let (of_a, of_b) = (grid(a, 60), grid(b, 60));
    let gap = |uv: P2, hint: P2| {
        let x = pose * b.derivs(uv).p;
        let foot = a.descend(&x, hint).map_or(hint, |f| f.0);
        ((x - a.derivs(foot).p).dot(&a.normal(foot)), foot)
    };
    let mut starts: Vec<(f64, P2, P2)> = Vec::new();
    for (uv, p) in &of_b {
        let x = pose * p;
        let off = |q: &(P2, P3)| (q.1 - x).norm_squared();
        let Some(nearest) = of_a.iter().min_by(|p, q| off(p).total_cmp(&off(q))) else { continue };
        if off(nearest).sqrt() < near + 0.3 * RADIUS {
            let (value, foot) = gap(*uv, nearest.0);
            starts.push((value, *uv, foot));
        }
    }
    starts.sort_by(|p, q| p.0.total_cmp(&q.0));
    let domain = b.domain();
    let mut best = f64::INFINITY;
    for (value, uv, foot) in starts.into_iter().take(40) {
        let (mut value, mut uv, mut foot) = (value, uv, foot);
        let mut step = [domain.width() / 60.0, domain.height() / 60.0];
        while step[0] > 1e-9 * domain.width() {
            let mut better = None;
            for (i, j) in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)] {
                let next = P2::new(
                    uv.x + f64::from(i) * step[0],
                    (uv.y + f64::from(j) * step[1]).clamp(domain.v0, domain.v1),
                );
                let (there, at) = gap(next, foot);
                if there < better.map_or(value, |b: (f64, P2, P2)| b.0) {
                    better = Some((there, next, at));
                }
            }
            match better {
                Some(b) => (value, uv, foot) = b,
                None => step = step.map(|s| 0.5 * s),
            }
        }
        // A tracked footpoint need not be the nearest one, so the last one is searched for on the whole
        // of A.
        let x = pose * b.derivs(uv).p;
        let foot = a.invert(&x, None, None);
        best = best.min((x - a.derivs(foot).p).dot(&a.normal(foot)));
    }
    best
}

#[derive(Default)]
struct Sums {
    pairs: u64,
    pressed: u64,
    several: u64,
    off: [Vec<f64>; 3],
    deepest: f64,
    reference_deeper: u64,
    missed: Vec<String>,
    cold: u64,
    followed: u64,
    followed_seconds: f64,
    ours: u64,
    theirs: [u64; 3],
    projected: [u64; 3],
    seconds: [f64; 2],
    cold_seconds: f64,
    /// Evaluations of the next query, for pairs that are apart and for pairs that penetrate each other.
    by_side: [u64; 2],
    verdicts: u64,
    verdict_seconds: f64,
}

fn main() -> Fallible<ExitCode> {
    let args = Args::parse();
    let mut sums = Sums::default();
    let mut rng = SmallRng::seed_from_u64(args.seed);
    let mut tried = 0;
    while sums.pairs < args.pairs {
        tried += 1;
        let (a, b) = (grain(2 * tried)?, grain(2 * tried + 1)?);
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        let wanted = rng.random_range(-0.05..0.05) * RADIUS;
        let Some(pose) = placed(&mut pair, &mut rng, wanted)? else { continue };
        compare(&a, &b, &pose, tried, &mut sums)?;
    }
    Ok(report(&sums, tried))
}

fn compare(a: &Grain, b: &Grain, pose: &Pose, number: u64, sums: &mut Sums) -> Fallible<()> {
    let reach = 0.1 * RADIUS;
    // The bodies have been queried before, the pair is new.
    let fresh = || ContactPair::new(a.body.clone(), b.body.clone());
    let whole = query(&mut fresh(), pose, reach, true)?;
    let mut pair = fresh();
    let cold = query(&mut pair, pose, reach, false)?;
    let ours = cold.gap;
    let next = Pose::from_parts((pose.translation.vector * (1.0 + 1e-4)).into(), pose.rotation);
    let warm = query(&mut pair, &next, reach, false)?;
    let (evaluations, seconds) = followed(a, b, [pose, &next], warm.gap, reach, number, &mut sums.missed)?;
    sums.followed += evaluations;
    sums.followed_seconds += seconds;
    let side = usize::from(ours < 0.0);
    sums.by_side[side] += warm.evaluations;
    sums.verdicts += whole.evaluations;
    sums.verdict_seconds += whole.seconds;
    if (whole.gap - ours).abs() > MAX_GAP_DIFFERENCE {
        sums.missed.push(format!("pair {number}: {} with a verdict, {ours} without", whole.gap));
    }
    sums.pairs += 1;
    sums.pressed += u64::from(ours < 0.0);
    sums.several += u64::from(cold.minima > 1);
    sums.cold += cold.evaluations;
    sums.ours += warm.evaluations;
    sums.cold_seconds += cold.seconds;
    sums.seconds[0] += warm.seconds;
    for k in 0..KNOT_DISTANCES.len() {
        let clock = cpu_seconds();
        let gap = deepest_gap(&a.grid, &b.knots[k], pose, reach, &DirectOptions::default());
        if k == 0 {
            sums.seconds[1] += cpu_seconds() - clock;
        }
        sums.off[k].push(gap.gap - ours);
        sums.theirs[k] += gap.evaluations;
        sums.projected[k] += gap.projected;
        sums.deepest = sums.deepest.min(gap.gap - ours);
        if gap.gap < ours - MAX_GAP_DIFFERENCE {
            let by = ours - gap.gap;
            sums.missed
                .push(format!("pair {number}: knots are deeper by {by:.1e}, {ours} {:?}", whole.status));
        }
    }
    let reference = reference_gap(&a.grid, &b.grid, pose, ours.abs());
    if reference < ours - MAX_GAP_DIFFERENCE {
        sums.reference_deeper += 1;
        sums.missed.push(format!(
            "pair {number}: the reference is deeper: {reference}, not {ours}, {:?}",
            whole.status
        ));
    }
    Ok(())
}

/// Evaluations and time (s) for tracking a contact from one pose to the next. Its smallest gap must be
/// `gap`, that of a query.
fn followed(
    a: &Grain,
    b: &Grain,
    [pose, next]: [&Pose; 2],
    gap: f64,
    reach: f64,
    number: u64,
    missed: &mut Vec<String>,
) -> Fallible<(u64, f64)> {
    let here = Pose::identity();
    let options = FollowOptions { reach, penetration: reach, stride: 0.02 * RADIUS };
    let mut following = ContactFollower::default();
    following.query(&mut ContactPair::new(a.body.clone(), b.body.clone()), &here, pose, &options)?;
    let (before, clock) = (patch_evaluations(), cpu_seconds());
    let is_followed = following.follow(&a.body, &b.body, &here, next, &options)?;
    let (seconds, evaluations) = (cpu_seconds() - clock, patch_evaluations() - before);
    let min_gap = following.contacts().iter().map(|c| c.distance).fold(f64::INFINITY, f64::min);
    if !is_followed || (min_gap - gap).abs() > MAX_GAP_DIFFERENCE {
        missed.push(format!("pair {number}: tracked gap {min_gap}, queried gap {gap}"));
    }
    Ok((evaluations, seconds))
}

fn report(sums: &Sums, tried: u64) -> ExitCode {
    let n = sums.pairs as f64;
    println!(
        "{} pairs ({tried} tried), {} pressed, {} with several minima",
        sums.pairs, sums.pressed, sums.several
    );
    println!(
        "with verdict: {:.0} evaluations, {:.3} ms",
        sums.verdicts as f64 / n,
        sums.verdict_seconds / n * 1e3
    );
    println!("cold query: {:.0} evaluations, {:.3} ms", sums.cold as f64 / n, sums.cold_seconds / n * 1e3);
    println!("next query: {:.0} evaluations, {:.3} ms", sums.ours as f64 / n, sums.seconds[0] / n * 1e3);
    let followed = sums.followed as f64 / n;
    println!(
        "tracked: {followed:.1} evaluations, {:.2} µs with the clock; knots {} need {:.0} times as many",
        sums.followed_seconds / n * 1e6,
        KNOT_DISTANCES[0],
        sums.theirs[0] as f64 / sums.followed as f64
    );
    let [apart, pressed] = [(0, sums.pairs - sums.pressed), (1, sums.pressed)]
        .map(|(side, n)| sums.by_side[side] as f64 / n.max(1) as f64);
    println!("next query, apart: {apart:.0} evaluations, pressed: {pressed:.0}");
    let mut last: Option<f64> = None;
    for (k, e) in KNOT_DISTANCES.iter().enumerate() {
        let mut off = sums.off[k].clone();
        off.sort_by(f64::total_cmp);
        let mean = off.iter().sum::<f64>() / n;
        let order = last.map_or(f64::NAN, |l| math::ln(l / mean) / math::ln(2.0));
        last = Some(mean);
        println!(
            "knots {e}: mean error {mean:.3e}, median {:.3e}, largest {:.3e}, order {order:.2}; {:.0} \
             projected, {:.0} evaluations: {:.0} x the cold query, {:.0} x the next",
            off[off.len() / 2],
            off[off.len() - 1],
            sums.projected[k] as f64 / n,
            sums.theirs[k] as f64 / n,
            sums.theirs[k] as f64 / sums.cold as f64,
            sums.theirs[k] as f64 / sums.ours as f64,
        );
    }
    println!("knots {}: {:.3} ms", KNOT_DISTANCES[0], sums.seconds[1] / n * 1e3);
    println!("deepest knot below ours: {:.1e}; reference deeper: {}", -sums.deepest, sums.reference_deeper);
    sums.missed.iter().for_each(|m| println!("{m}"));
    projections();
    if sums.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Heights (mm) above the curve of a point that moves past it.
const HEIGHTS: [f64; 6] = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0];

/// DIST §4.7: projects a point that moves past a concave curve in 500 steps, with the curve as given and
/// with inserted knots.
fn projections() {
    let zigzag = [(0.0, 0.0), (1.0, 2.2), (2.0, -1.2), (3.2, 2.0), (4.0, -1.4), (5.2, 1.6), (6.0, 0.0)];
    let coarse = NurbsCurve {
        degree: 3,
        knots: vec![0., 0., 0., 0., 0.25, 0.5, 0.75, 1., 1., 1., 1.],
        points: zigzag.map(|(x, y)| P3::new(x, y, 0.0)).to_vec(),
        weights: Vec::new(),
    };
    let mut fine = coarse.clone();
    for t in [0.125, 0.375, 0.625, 0.875] {
        fine = with_knot(&fine, t);
    }
    for (name, curve) in [("as it is", &coarse), ("refined", &fine)] {
        let Ok(spline) = curve.to_bezier() else { continue };
        let dense: Vec<P3> = (0..=20_000).map(|i| spline.derivs(f64::from(i) / 20_000.0).p).collect();
        for kind in [Guess::Knots, Guess::Middles] {
            let (mut rates, mut own_rates, mut steps) = (Vec::new(), Vec::new(), Vec::new());
            for height in HEIGHTS {
                let (mut right, mut own, mut taken) = (0_u32, 0_u32, 0_u32);
                for k in 0..500 {
                    let q = P3::new(-0.5 + 7.0 * f64::from(k) / 499.0, height, 0.0);
                    let best = dense.iter().map(|p| (p - q).norm()).fold(f64::INFINITY, f64::min);
                    let (start, _) = guess(curve, &spline, &q, kind);
                    let found = on_curve(&spline, &q, start, 1e-4);
                    if found.distance <= best + 1e-4 {
                        right += 1;
                        taken += found.steps;
                    }
                    let ours = (spline.derivs(spline.project(&q, 0.0, 1.0)).p - q).norm();
                    own += u32::from(ours <= best + 1e-7);
                }
                rates.push(f64::from(right) / 5.0);
                own_rates.push(f64::from(own) / 5.0);
                steps.push(f64::from(taken) / f64::from(right.max(1)));
            }
            let mean = steps.iter().sum::<f64>() / steps.len() as f64;
            println!(
                "curve {name}, {kind:?}: % right at heights {HEIGHTS:?}: {rates:.0?} in {mean:.1} steps; \
                 ours {own_rates:.0?}"
            );
        }
    }
}

/// Returns the curve with an inserted knot at `t` (Boehm's algorithm).
fn with_knot(c: &NurbsCurve, t: f64) -> NurbsCurve {
    let p = c.degree as usize;
    let k = c.knots.partition_point(|x| *x <= t) - 1;
    let mut points = Vec::with_capacity(c.points.len() + 1);
    for i in 0..=c.points.len() {
        let share = if i + p <= k {
            1.0
        } else if i > k {
            0.0
        } else {
            (t - c.knots[i]) / (c.knots[i + p] - c.knots[i])
        };
        let before = if i > 0 { c.points[i - 1].coords * (1.0 - share) } else { V3::zeros() };
        let own = if i < c.points.len() { c.points[i].coords * share } else { V3::zeros() };
        points.push(P3::from(before + own));
    }
    let mut knots = c.knots.clone();
    knots.insert(k + 1, t);
    NurbsCurve { degree: c.degree, knots, points, weights: Vec::new() }
}
