//! Verdicts and witnesses depend only on the solids and their relative pose: they are invariant under
//! swapped roles, common motions, scaling, earlier poses, parallel queries and queries without hierarchy.

use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use feeler_tests::verdicts::Pool;
use feeler_tests::verdicts::generate::Case;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

/// Status, and the witness with its point (world) and its distances to both boundaries.
type Outcome = (Option<Status>, Option<(P3, [f64; 2])>);

fn fresh(bodies: [&Arc<Body>; 2], poses: [&Pose; 2], options: &QueryOptions) -> Outcome {
    let mut pair = ContactPair::new(bodies[0].clone(), bodies[1].clone());
    query(&mut pair, poses, options)
}

fn query(pair: &mut ContactPair, [pose_a, pose_b]: [&Pose; 2], options: &QueryOptions) -> Outcome {
    pair.query(pose_a, pose_b, options).expect("finite poses and options");
    let witness = pair.verdict().and_then(|v| v.witness);
    (pair.status(), witness.map(|w| (w.point, [w.inside_a, w.inside_b])))
}

/// Difference of the sums of the witnesses' distances, relative to the larger one; infinite if only one
/// has a witness. Points are not compared, because symmetric solids have many points of the same depth.
fn difference(x: &Outcome, y: &Outcome, scale: f64) -> f64 {
    let sum = |outcome: &Outcome| outcome.1.map(|(_, [a, b])| a + b);
    match (sum(x), sum(y)) {
        (Some(x), Some(y)) => (scale * x - y).abs() / y.max(scale * x),
        (None, None) => 0.0,
        _ => f64::INFINITY,
    }
}

#[test]
fn verdicts_depend_only_on_the_solids() {
    let mut pool = Pool::default();
    let mut rng = SmallRng::seed_from_u64(17);
    let mut wrong = Vec::new();
    let (mut interfering, mut compared, mut off) = (0, 0, 0);
    for number in 0..250 {
        let case = Case::new(9000 + number, &mut pool);
        let options = QueryOptions::within(case.d_max);
        let (a, b, pose_a, pose_b) = (&case.a.body, &case.b.body, &case.pose_a, &case.pose_b);
        let size = a.size().max(b.size());
        let outcome = fresh([a, b], [pose_a, pose_b], &options);
        interfering += usize::from(outcome.0 == Some(Status::Interfering));
        let mut differs = |what: &str, other: &Outcome, scale: f64| {
            // The search for the largest sum is local, and may find another maximum occasionally.
            let difference = difference(&outcome, other, scale);
            compared += usize::from(outcome.1.is_some());
            off += usize::from(difference > 1e-3);
            if outcome.0 != other.0 || difference > 0.1 {
                wrong.push(format!(
                    "{number}, {what}: {:?} / {:?}: {outcome:?}, {other:?}",
                    case.a.spec, case.b.spec
                ));
            }
        };
        differs("swapped", &fresh([b, a], [pose_b, pose_a], &options), 1.0);
        let mut vector = |length: f64| V3::from_fn(|_, _| length * rng.random_range(-1.0..1.0));
        let common =
            Pose::from_parts(Translation3::from(vector(size)), UnitQuaternion::from_scaled_axis(vector(2.0)));
        differs("moved together", &fresh([a, b], [&(common * pose_a), &(common * pose_b)], &options), 1.0);
        for k in [1e-3, 1000.0] {
            let scaled = |pose: &Pose| {
                Pose::from_parts(Translation3::from(pose.translation.vector * k), pose.rotation)
            };
            let [x, y] = [&case.a.spec, &case.b.spec].map(|spec| pool.get(&spec.scaled(k)));
            let options = QueryOptions::within(k * case.d_max);
            let other = fresh([&x.body, &y.body], [&scaled(pose_a), &scaled(pose_b)], &options);
            differs("scaled", &other, k);
        }
        let every = options.brute_force();
        differs("all pairs of areas", &fresh([a, b], [pose_a, pose_b], &every), 1.0);
        // The following results are equal to the bit.
        let parallel = fresh([a, b], [pose_a, pose_b], &QueryOptions { parallel: true, ..options });
        let mut pair = ContactPair::new(a.clone(), b.clone());
        for _ in 0..4 {
            let near = pose_b * Translation3::from(vector(1e-3 * size));
            query(&mut pair, [pose_a, &near], &options);
        }
        let warm = query(&mut pair, [pose_a, pose_b], &options);
        for (what, other) in [("parallel", parallel), ("after other poses", warm)] {
            if other != outcome {
                wrong.push(format!(
                    "{number}, {what}: {:?} / {:?}: {outcome:?}, {other:?}",
                    case.a.spec, case.b.spec
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(interfering > 80, "{interfering}");
    assert!(50 * off < compared, "{off} of {compared} witnesses differ");
}
