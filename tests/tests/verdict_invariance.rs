//! A verdict and its witness are those of the solids: the same with the roles swapped, wherever both are
//! together, at any scale, after other poses, in parallel and without hierarchy.

use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use feeler_tests::verdicts::Pool;
use feeler_tests::verdicts::generate::Case;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

/// Status, and of the witness its place (world) and its distances to both boundaries.
type Answer = (Option<Status>, Option<(P3, [f64; 2])>);

fn ask(bodies: [&Arc<Body>; 2], poses: [&Pose; 2], options: &QueryOptions) -> Answer {
    let mut pair = ContactPair::new(bodies[0].clone(), bodies[1].clone());
    told(&mut pair, poses, options)
}

fn told(pair: &mut ContactPair, [pose_a, pose_b]: [&Pose; 2], options: &QueryOptions) -> Answer {
    pair.query(pose_a, pose_b, options).expect("finite poses and options");
    let witness = pair.verdict().and_then(|v| v.witness);
    (pair.status(), witness.map(|w| (w.point, [w.inside_a, w.inside_b])))
}

/// By how much the sums of the witnesses' distances differ, relative to the larger one; infinite where only
/// one has a witness. Symmetric solids have many places of the same depth, so places are not compared.
fn difference(x: &Answer, y: &Answer, scale: f64) -> f64 {
    let sum = |answer: &Answer| answer.1.map(|(_, [a, b])| a + b);
    match (sum(x), sum(y)) {
        (Some(x), Some(y)) => (scale * x - y).abs() / y.max(scale * x),
        (None, None) => 0.0,
        _ => f64::INFINITY,
    }
}

#[test]
fn verdicts_are_those_of_the_solids() {
    let mut pool = Pool::default();
    let mut rng = SmallRng::seed_from_u64(17);
    let mut wrong = Vec::new();
    let (mut met, mut compared, mut off) = (0, 0, 0);
    for number in 0..250 {
        let case = Case::new(9000 + number, &mut pool);
        let options = QueryOptions::within(case.d_max);
        let (a, b, pose_a, pose_b) = (&case.a.body, &case.b.body, &case.pose_a, &case.pose_b);
        let size = a.size().max(b.size());
        let answer = ask([a, b], [pose_a, pose_b], &options);
        met += usize::from(answer.0 == Some(Status::Interfering));
        let mut differs = |what: &str, other: &Answer, scale: f64| {
            // The search for the largest sum is local, and ends elsewhere now and then.
            let difference = difference(&answer, other, scale);
            compared += usize::from(answer.1.is_some());
            off += usize::from(difference > 1e-3);
            if answer.0 != other.0 || difference > 0.1 {
                wrong.push(format!(
                    "{number}, {what}: {:?} / {:?}: {answer:?}, {other:?}",
                    case.a.spec, case.b.spec
                ));
            }
        };
        differs("swapped", &ask([b, a], [pose_b, pose_a], &options), 1.0);
        let mut vector = |length: f64| V3::from_fn(|_, _| length * rng.random_range(-1.0..1.0));
        let common =
            Pose::from_parts(Translation3::from(vector(size)), UnitQuaternion::from_scaled_axis(vector(2.0)));
        differs("moved together", &ask([a, b], [&(common * pose_a), &(common * pose_b)], &options), 1.0);
        for k in [1e-3, 1000.0] {
            let scaled = |pose: &Pose| {
                Pose::from_parts(Translation3::from(pose.translation.vector * k), pose.rotation)
            };
            let [x, y] = [&case.a.spec, &case.b.spec].map(|spec| pool.get(&spec.scaled(k)));
            let options = QueryOptions::within(k * case.d_max);
            let other = ask([&x.body, &y.body], [&scaled(pose_a), &scaled(pose_b)], &options);
            differs("scaled", &other, k);
        }
        let every = options.brute_force();
        differs("all pairs of areas", &ask([a, b], [pose_a, pose_b], &every), 1.0);
        // What follows is the same to the bit.
        let parallel = ask([a, b], [pose_a, pose_b], &QueryOptions { parallel: true, ..options });
        let mut pair = ContactPair::new(a.clone(), b.clone());
        for _ in 0..4 {
            let near = pose_b * Translation3::from(vector(1e-3 * size));
            told(&mut pair, [pose_a, &near], &options);
        }
        let warm = told(&mut pair, [pose_a, pose_b], &options);
        for (what, other) in [("parallel", parallel), ("after other poses", warm)] {
            if other != answer {
                wrong.push(format!(
                    "{number}, {what}: {:?} / {:?}: {answer:?}, {other:?}",
                    case.a.spec, case.b.spec
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(met > 80, "{met}");
    assert!(50 * off < compared, "{off} of {compared} witnesses differ");
}
