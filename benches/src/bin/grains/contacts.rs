//! Contacts of random grains, compared with distance and penetration depth of the convex crate.
//!
//! Kinds of pairs: generic, deep, touching, apart, and nearly aligned. If the two methods differ by more
//! than 1e-9 of the size, a dense search of directions decides which one is wrong.

use crate::direction;
use feeler_convex::{
    DistanceOutcome, DistanceRequest, PenetrationOutcome, PenetrationRequest, Support, distance, penetration,
};
use feeler_geom::{Pose, V3, math};
use feeler_grains::convex::{Grain, GrainContact, Placed, contact};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use std::time::Instant;

const KINDS: [&str; 5] = ["generic", "deep", "touching", "apart", "aligned"];
/// Difference of gaps above which a dense search decides, as a fraction of the size.
const MAX_DIFFERENCE_REL: f64 = 1e-9;

fn grain(rng: &mut SmallRng, e: [f64; 2]) -> Grain {
    let mut semi = || V3::from_fn(|_, _| rng.random_range(0.3..1.5));
    let (plus, minus) = (semi(), semi());
    let minus = if rng.random_bool(0.2) { plus } else { minus };
    let e = [rng.random_range(e[0]..e[1]), rng.random_range(e[0]..e[1])];
    let grain = Grain::new(plus, minus, e).expect("semi-axes and exponents are right");
    if rng.random_bool(0.1) { grain.dilated(rng.random_range(0.0..0.3)).expect("thick") } else { grain }
}

fn placed_by(place: V3, turn: V3) -> Pose {
    Pose::from_parts(Translation3::from(place), UnitQuaternion::from_scaled_axis(turn))
}

/// Two grains with their poses.
struct Pair {
    grains: [Grain; 2],
    poses: [Pose; 2],
}

impl Pair {
    fn random(rng: &mut SmallRng, kind: usize, e: [f64; 2]) -> Self {
        let grains = [grain(rng, e), grain(rng, e)];
        let size = grains[0].radius() + grains[1].radius();
        let aligned = kind == 4;
        let turn = |rng: &mut SmallRng| {
            if !aligned {
                return direction(rng) * rng.random_range(0.0..3.1);
            }
            let small = math::powf(10.0, -rng.random_range(1.0..12.0));
            let quarter = f64::from(rng.random_range(0..4_u8)) * std::f64::consts::FRAC_PI_2;
            V3::ith(rng.random_range(0..3), quarter) + direction(rng) * small
        };
        let at = direction(rng) * rng.random_range(0.0..10.0);
        let first = placed_by(at, turn(rng));
        let toward = if aligned {
            let small = math::powf(10.0, -rng.random_range(0.0..12.0));
            (V3::ith(rng.random_range(0..3), if rng.random_bool(0.5) { 1.0 } else { -1.0 })
                + direction(rng) * small)
                .normalize()
        } else {
            direction(rng)
        };
        let far = match kind {
            1 => rng.random_range(0.0..0.4),
            3 => rng.random_range(0.6..1.6),
            _ => rng.random_range(0.3..1.0),
        };
        let mut out = Self { grains, poses: [first, placed_by(at + toward * (far * size), turn(rng))] };
        if kind == 2 || kind == 4 {
            // Move to a gap or a depth that is a small fraction of the size.
            let small = math::powf(10.0, -rng.random_range(1.5..14.0)) * size;
            let gap = if rng.random_bool(0.5) { small } else { -small };
            for _ in 0..3 {
                let [a, b] = out.placed();
                if let Some(c) = contact(&a, &b, f64::INFINITY, None) {
                    out.poses[1].translation.vector += c.normal * (gap - c.gap);
                }
            }
        }
        out
    }

    fn placed(&self) -> [Placed<'_>; 2] {
        let of = |i: usize| Placed::new(&self.grains[i], &self.poses[i]).expect("finite");
        [of(0), of(1)]
    }

    fn size(&self) -> f64 {
        self.grains[0].radius() + self.grains[1].radius()
    }
}

/// Gap computed by the convex crate; negative for a penetration depth.
fn reference_gap(a: &Placed<'_>, b: &Placed<'_>) -> f64 {
    let d = distance(a, b, &DistanceRequest::default());
    if d.outcome == DistanceOutcome::Separated {
        return d.distance;
    }
    let p = penetration(a, b, &PenetrationRequest::default());
    match p.outcome {
        PenetrationOutcome::Separated => d.distance,
        _ => -p.depth,
    }
}

/// Gap of the supports of A and B along a direction: a lower bound of the gap.
fn gap_along(a: &Placed<'_>, b: &Placed<'_>, n: &V3) -> f64 {
    (b.support(&-n).point - a.support(n).point).dot(n) - a.radius() - b.radius()
}

/// Largest gap along any of many directions, each improved by a search in shrinking steps. The search
/// uses only support points.
fn dense_search(a: &Placed<'_>, b: &Placed<'_>, directions: u32) -> f64 {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let mut starts: Vec<(f64, V3)> = (0..directions)
        .map(|i| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(directions);
            let (s, c) = math::sin_cos(golden * f64::from(i));
            let r = (1.0 - z * z).sqrt();
            let n = V3::new(r * c, r * s, z);
            (gap_along(a, b, &n), n)
        })
        .collect();
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = f64::NEG_INFINITY;
    for (g, n) in starts.into_iter().take(40) {
        let (mut g, mut n) = (g, n);
        let mut step = 0.1;
        while step > 1e-9 {
            let (e, f) = feeler_geom::frame::complete_basis(&n);
            let better = (0..8).find_map(|k| {
                let (s, c) = math::sin_cos(f64::from(k) * std::f64::consts::FRAC_PI_4);
                let to = (n + (e * c + f * s) * step).normalize();
                let there = gap_along(a, b, &to);
                (there > g).then_some((there, to))
            });
            match better {
                Some(b) => (g, n) = b,
                None => step *= 0.5,
            }
        }
        best = best.max(g);
    }
    best
}

#[derive(Default)]
struct Row {
    pairs: u64,
    apart: u64,
    fell_back: u64,
    cold: u64,
    warm: u64,
    many_cold: u64,
    many_warm: u64,
    warm_fell_back: u64,
    uncertain: u64,
    worst: f64,
    swapped: u64,
    swap: f64,
    other: u64,
    wrong: u64,
}

pub(super) fn run(n: u32, e: [f64; 2]) -> bool {
    const CHUNK: u32 = 1000;
    let rows = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut rng = SmallRng::seed_from_u64(u64::from(chunk));
            let mut rows: [Row; 5] = Default::default();
            for round in 0..CHUNK.min(n - chunk * CHUNK) {
                let kind = (round % 5) as usize;
                let pair = Pair::random(&mut rng, kind, e);
                rows[kind].compare(&pair, kind, &mut rng);
            }
            rows
        })
        .reduce(Default::default, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| a.add(&b));
            a
        });
    println!(
        "| kind | pairs | apart | evaluations cold | warm | over ten: cold | warm | fallbacks: cold | \
         warm | uncertain | largest difference / size | swapped: other bits | by / size | reference wrong | \
         ours wrong |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (r, kind) in rows.iter().zip(KINDS) {
        let mean = |x: u64| x as f64 / r.pairs.max(1) as f64;
        println!(
            "| {kind} | {} | {} | {:.2} | {:.2} | {} | {} | {} | {} | {} | {:.1e} | {} | {:.1e} | {} | {} |",
            r.pairs,
            r.apart,
            mean(r.cold),
            mean(r.warm),
            r.many_cold,
            r.many_warm,
            r.fell_back,
            r.warm_fell_back,
            r.uncertain,
            r.worst,
            r.swapped,
            r.swap,
            r.other,
            r.wrong
        );
    }
    let many: u64 = rows.iter().map(|r| r.many_warm).sum();
    let wrong: u64 = rows.iter().map(|r| r.wrong).sum();
    println!("warm contacts of more than ten evaluations: {many} of {n}; wrong: {wrong}");
    for kind in [0, 2, 3, 4] {
        timed(kind, e);
    }
    wrong == 0
}

impl Row {
    fn add(&mut self, o: &Self) {
        self.pairs += o.pairs;
        self.apart += o.apart;
        self.fell_back += o.fell_back;
        self.cold += o.cold;
        self.warm += o.warm;
        self.many_cold += o.many_cold;
        self.many_warm += o.many_warm;
        self.warm_fell_back += o.warm_fell_back;
        self.uncertain += o.uncertain;
        self.worst = self.worst.max(o.worst);
        self.swapped += o.swapped;
        self.swap = self.swap.max(o.swap);
        self.other += o.other;
        self.wrong += o.wrong;
    }

    fn compare(&mut self, pair: &Pair, kind: usize, rng: &mut SmallRng) {
        let [a, b] = pair.placed();
        let size = pair.size();
        let Some(c) = contact(&a, &b, f64::INFINITY, None) else { return };
        self.pairs += 1;
        self.apart += u64::from(c.gap > 0.0);
        self.fell_back += u64::from(c.fell_back);
        self.cold += u64::from(c.iterations);
        self.many_cold += u64::from(c.iterations > 10);
        self.uncertain += u64::from(c.uncertainty > 1e-8 * size);
        let reference = reference_gap(&a, &b);
        let off = (reference - c.gap).abs() / size;
        if off > MAX_DIFFERENCE_REL {
            // The gap along a direction is at most the true one; the search may only fail to reach it.
            let best = dense_search(&a, &b, 20_000);
            let ours = gap_along(&a, &b, &c.normal);
            let is_ours = ours >= best - 1e-10 * size && (ours - c.gap).abs() < 1e-10 * size;
            // If the other method finds a larger gap, this counts against ours, whether the dense search
            // finds it or not.
            if is_ours && ours > reference {
                self.other += 1;
            } else {
                self.wrong += 1;
            }
            if self.wrong + self.other < 6 {
                println!(
                    "{}: {c:?}\n convex crate {reference}, dense search {best}, along our normal \
                     {ours}\n {:?} {:?}",
                    KINDS[kind], pair.grains, pair.poses
                );
            }
        } else {
            self.worst = self.worst.max(off);
        }
        if let Some(s) = contact(&b, &a, f64::INFINITY, None) {
            let same = |c: &GrainContact, s: &GrainContact| {
                c.gap.to_bits() == s.gap.to_bits() && c.normal == -s.normal && c.point == s.point
            };
            self.swapped += u64::from(!c.fell_back && !same(&c, &s));
            let off = (c.gap - s.gap).abs() / size;
            self.swap = self.swap.max(off);
        }
        // Repeat the contact after a small step, with the previous normal.
        let mut pair = Pair { grains: pair.grains, poses: pair.poses };
        let shift = direction(rng) * (1e-3 * size);
        let turn = UnitQuaternion::from_scaled_axis(direction(rng) * 1e-3);
        pair.poses[1].translation.vector += shift;
        pair.poses[1].rotation = turn * pair.poses[1].rotation;
        let [a, b] = pair.placed();
        if let Some(w) = contact(&a, &b, f64::INFINITY, Some(c.normal)) {
            self.warm += u64::from(w.iterations);
            self.many_warm += u64::from(w.iterations > 10);
            self.warm_fell_back += u64::from(w.fell_back);
        }
    }
}

/// Measures the time of contacts that start from the normal of the previous step, for steps of 1e-3 of
/// the size and 1e-3 rad.
fn timed(kind: usize, e: [f64; 2]) {
    let mut rng = SmallRng::seed_from_u64(3);
    let mut pairs = Vec::new();
    for _ in 0..2000 {
        let pair = Pair::random(&mut rng, kind, e);
        let [a, b] = pair.placed();
        let Some(c) = contact(&a, &b, f64::INFINITY, None) else { continue };
        let mut later = Pair { grains: pair.grains, poses: pair.poses };
        later.poses[1].translation.vector += direction(&mut rng) * (1e-3 * pair.size());
        let turn = UnitQuaternion::from_scaled_axis(direction(&mut rng) * 1e-3);
        later.poses[1].rotation = turn * later.poses[1].rotation;
        pairs.push((later, c.normal));
    }
    // Pairs for which the method falls back take a hundred times as long, so they are timed separately.
    let (plain, falling): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(pair, warm)| {
        let [a, b] = pair.placed();
        contact(&a, &b, f64::INFINITY, Some(*warm)).is_none_or(|c| !c.fell_back)
    });
    let time = |pairs: &[(Pair, V3)]| {
        let mut best = f64::INFINITY;
        let mut evaluations = 0;
        for _ in 0..7 {
            evaluations = 0;
            let start = Instant::now();
            for (pair, warm) in pairs {
                let [a, b] = pair.placed();
                evaluations += contact(&a, &b, f64::INFINITY, Some(*warm)).map_or(0, |c| c.iterations);
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        let n = pairs.len().max(1) as f64;
        (best / n * 1e9, f64::from(evaluations) / n)
    };
    let ((plain_ns, evaluations), (falling_ns, _)) = (time(&plain), time(&falling));
    println!(
        "{}: warm contact {plain_ns:.0} ns with {evaluations:.2} evaluations; {} of {} fall back \
         and take {falling_ns:.0} ns",
        KINDS[kind],
        falling.len(),
        plain.len() + falling.len()
    );
}
