//! Depths of the witnesses of interference, and lengths of the separating translations, against closed
//! forms.

use feeler_convex::{
    Ball, Cuboid, Cylinder, Moved, PenetrationOutcome, PenetrationRequest, Support, penetration,
};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{ContactPair, QueryOptions, Status};
use feeler_tests::membership::Spec;
use feeler_tests::random_pose;
use feeler_tests::verdicts::generate::Case;
use feeler_tests::verdicts::judge::{Fault, check};
use feeler_tests::verdicts::{Model, Pool, query};
use nalgebra::Translation3;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// Large sum of the depths of a point inside both solids, from closed forms: many starts, the best of
/// which are improved by steps in random directions.
fn largest_sum(a: &Model, b: &Model, pose_b: &Pose, rng: &mut SmallRng) -> f64 {
    let inverse = pose_b.inverse();
    let sum = |p: &P3| {
        let (x, y) = (a.shape.form.depth(p), b.shape.form.depth(&(inverse * p)));
        if x > 0.0 && y > 0.0 { x + y } else { x.min(y).min(0.0) - 1e3 * a.size() }
    };
    let bounds = a.body.bounds();
    let mut starts: Vec<(f64, P3)> = (0..4000)
        .map(|_| {
            let p = P3::from(bounds.min.coords.zip_map(&bounds.max.coords, |l, h| rng.random_range(l..=h)));
            (sum(&p), p)
        })
        .collect();
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = f64::NEG_INFINITY;
    for (mut value, mut p) in starts.into_iter().take(6) {
        let mut step = 0.1 * a.size();
        while step > 1e-5 * a.size() {
            let mut risen = false;
            for _ in 0..60 {
                let q = p + V3::from_fn(|_, _| rng.random_range(-step..step));
                let v = sum(&q);
                if v > value {
                    (value, p, risen) = (v, q, true);
                }
            }
            step *= if risen { 1.0 } else { 0.5 };
        }
        best = best.max(value);
    }
    best
}

fn convex(spec: &Spec) -> Box<dyn Support> {
    let lifted =
        |h: f64| Pose::from_parts(Translation3::new(0.0, 0.0, 0.5 * h), nalgebra::UnitQuaternion::identity());
    match *spec {
        Spec::Block { x, y, z } => Box::new(
            Moved::new(
                Cuboid::new(V3::new(0.5 * x, 0.5 * y, 0.5 * z)).expect("finite poses, options and shapes"),
                &lifted(z),
            )
            .expect("finite poses, options and shapes"),
        ),
        Spec::Cylinder { r, h } => Box::new(
            Moved::new(Cylinder::new(r, 0.5 * h).expect("finite poses, options and shapes"), &lifted(h))
                .expect("finite poses, options and shapes"),
        ),
        Spec::Ball { r } => Box::new(Ball::new(P3::origin(), r).expect("finite poses, options and shapes")),
        _ => unreachable!("the solid has no convex form"),
    }
}

/// Two balls: the sum of the radii minus the distance of the centres, also with a centre in the other
/// ball and with one ball inside the other.
#[test]
fn depths_of_balls_agree_with_the_formula() {
    let mut pool = Pool::default();
    let mut rng = SmallRng::seed_from_u64(11);
    for i in 0..60 {
        let (r, s): (f64, f64) = (rng.random_range(1.0..10.0), rng.random_range(1.0..10.0));
        let (a, b) = (pool.get(&Spec::Ball { r }), pool.get(&Spec::Ball { r: s }));
        let direction = V3::from_fn(|_, _| rng.random_range(-1.0..1.0_f64)).normalize();
        let apart = match i % 3 {
            0 => rng.random_range((r - s).abs()..r + s),
            1 => (r + s) * (1.0 - math::powf(10.0, rng.random_range(-5.0..-1.0))),
            _ => rng.random_range(0.0..1.0) * (r - s).abs(),
        };
        let pose =
            Pose::from(Translation3::from(direction * apart)) * random_pose(i, &Pose::identity(), 0.0, 3.0);
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        pair.query(&Pose::identity(), &pose, &QueryOptions::within(0.0))
            .expect("finite poses, options and shapes");
        let witness = pair.verdict().expect("a verdict").witness.expect("an interfering pair");
        let (found, right) = (witness.inside_a + witness.inside_b, r + s - apart);
        let size = a.size().max(b.size());
        assert!(
            (found - right).abs() < 1e-6 * size,
            "{i}: {found} instead of {right} for radii {r}, {s} at a distance of {apart}"
        );
    }
}

/// Overlapping blocks, cylinders and balls: at least 0.95 of the largest sum that a search over closed
/// forms finds.
#[test]
fn depths_of_convex_solids_agree_with_a_search() {
    let mut pool = Pool::default();
    let mut rng = SmallRng::seed_from_u64(12);
    let (mut n, mut lowest, mut share, mut mean) = (0, f64::INFINITY, f64::INFINITY, 0.0);
    let mut longest = (0.0_f64, 0.0);
    for i in 0..400_u32 {
        let spec = |rng: &mut SmallRng| {
            let mut l = || math::powf(10.0, rng.random_range(0.0..1.3));
            let (x, y, z) = (l(), l(), l());
            match rng.random_range(0..5) {
                0 | 1 => Spec::Block { x, y, z },
                2 | 3 => Spec::Cylinder { r: x, h: y },
                _ => Spec::Ball { r: x },
            }
        };
        let (a, b) = (pool.get(&spec(&mut rng)), pool.get(&spec(&mut rng)));
        let turn = [0.0, 1e-3, 3.0][i as usize % 3];
        let pose = random_pose(u64::from(i), &Pose::identity(), 0.45 * (a.size() + b.size()), turn);
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        pair.query(&Pose::identity(), &pose, &QueryOptions::within(0.0))
            .expect("finite poses, options and shapes");
        if pair.status() != Some(Status::Interfering) {
            continue;
        }
        let witness = pair.verdict().expect("a verdict").witness.expect("an interfering pair");
        let found = witness.inside_a + witness.inside_b;
        let best = largest_sum(&a, &b, &pose, &mut rng);
        n += 1;
        assert!(
            found >= 0.95 * best,
            "{i}: the depth is {found} instead of {best} for {:?} in {:?}",
            b.spec,
            a.spec
        );
        lowest = lowest.min(found / best);
        let (of_a, of_b) = (convex(&a.spec), convex(&b.spec));
        let depth = penetration(
            &*of_a,
            &Moved::new(&*of_b, &pose).expect("finite poses, options and shapes"),
            &PenetrationRequest::default(),
        );
        if depth.outcome == PenetrationOutcome::Found {
            share = share.min(found / depth.depth);
            mean += found / depth.depth;
            let options = QueryOptions::within(0.0);
            let length = pair
                .separating_translation(&Pose::identity(), &pose, &options)
                .expect("finite poses, options and shapes")
                .expect("an interfering pair")
                .norm();
            assert!(
                length >= depth.lower_bound - 5.0 * pair.tolerances().tol,
                "{i}: the translation {length} is shorter than the depth {}",
                depth.depth
            );
            assert!(found <= length, "{i}: the depth {found} is larger than the translation {length}");
            assert!(
                length <= 1.05 * depth.depth,
                "{i}: the translation is {length} for a depth of {}",
                depth.depth
            );
            longest = (longest.0.max(length / depth.depth), longest.1 + length / depth.depth);
        }
    }
    assert!(n > 80, "{n} pairs");
    let (mean, mean_length) = (mean / f64::from(n), longest.1 / f64::from(n));
    let found = format!(
        "{lowest} of the search, {share} (mean {mean}) of the depth; translations {} (mean {mean_length})",
        longest.0
    );
    assert!(lowest > 0.99 && mean > 0.9 && mean_length < 1.01, "{found}");
}

/// Solids of all kinds after the separating translation: by their closed forms they no longer interfere.
#[test]
fn translations_separate_the_solids() {
    let mut pool = Pool::default();
    let (mut n, mut total) = (0, 0);
    for seed in 0..150 {
        let Case { a, b, pose_a, pose_b, d_max, .. } = Case::new(seed, &mut pool);
        let options = QueryOptions::within(d_max);
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        pair.query(&pose_a, &pose_b, &options).expect("finite poses, options and shapes");
        let translation = pair
            .separating_translation(&pose_a, &pose_b, &options)
            .expect("finite poses, options and shapes");
        total += 1;
        let Some(witness) = pair.verdict().expect("a verdict").witness else {
            assert_eq!(translation, None, "{seed}: {:?}", pair.status());
            continue;
        };
        n += 1;
        let translation = translation.expect("interfering solids");
        assert!(
            witness.inside_a + witness.inside_b <= translation.norm(),
            "{seed}: {witness:?} {translation}"
        );
        let moved = Translation3::from(translation) * pose_b;
        let checked = check(&a, &b, &pose_a, &moved, d_max, &query(&a.body, &b.body, &pose_a, &moved, d_max));
        assert!(checked.faults.iter().all(|(f, _)| *f != Fault::Missed), "{seed}: {:?}", checked.faults);
    }
    assert!(n > 50, "{n} of {total}");
}
