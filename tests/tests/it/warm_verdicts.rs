//! Cached results of earlier poses do not change verdicts: one pair through small and large steps about
//! poses near contact, against a fresh pair at each pose.

use feeler_geom::{Pose, V3};
use feeler_runtime::{ContactPair, QueryOptions, Status};
use feeler_tests::model;
use feeler_tests::verdicts::Pool;
use feeler_tests::verdicts::generate::Case;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// A small motion about the origin of B: its length is at most `scale` of the solid's size and its angle
/// at most `scale` rad in each component.
fn motion(rng: &mut SmallRng, size: f64, scale: f64) -> Pose {
    let mut vector = |length: f64| V3::from_fn(|_, _| length * rng.random_range(-1.0..1.0));
    let shift = Translation3::from(vector(size * scale));
    Pose::from_parts(shift, UnitQuaternion::from_scaled_axis(vector(scale)))
}

#[test]
fn earlier_poses_change_no_verdict() {
    let mut pool = Pool::default();
    let mut rng = SmallRng::seed_from_u64(11);
    let mut seen = [0; 3];
    let mut changes = 0;
    for number in 0..220 {
        let case = Case::new(5000 + number, &mut pool);
        let options = QueryOptions::within(case.d_max);
        let size = case.b.body.size();
        let mut warm = ContactPair::new(case.a.body.clone(), case.b.body.clone());
        let (mut pose, mut last) = (case.pose_b, None);
        // A drift of equal steps, a walk of steps of all sizes, then poses near the start.
        let drift = motion(&mut rng, size, 3e-3);
        for k in 0..24 {
            pose = match k {
                0 => pose,
                1..10 => pose * drift,
                10..20 => pose * motion(&mut rng, size, [1e-7, 1e-5, 1e-3, 1e-2, 0.1][k % 5]),
                _ => case.pose_b * motion(&mut rng, size, 1e-4),
            };
            let mut cold = ContactPair::new(case.a.body.clone(), case.b.body.clone());
            for pair in [&mut warm, &mut cold] {
                pair.query(&case.pose_a, &pose, &options).expect("finite poses and options");
            }
            let what = format!("{number}, step {k}: {:?} / {:?} at {pose}", case.a.spec, case.b.spec);
            assert_eq!(warm.status(), cold.status(), "{what}");
            match cold.status() {
                Some(Status::Separated) => seen[0] += 1,
                Some(Status::Touching) => seen[1] += 1,
                Some(Status::Interfering) => seen[2] += 1,
                _ => {}
            }
            changes += usize::from(last.is_some_and(|last| last != cold.status()));
            last = Some(cold.status());
        }
    }
    assert!(seen[0] > 1000 && seen[2] > 1000 && changes > 200, "{seen:?}, {changes} changes");
}

/// Parts that are moved to their seats in blocks, along free-form faces, have the status of a fresh pair in
/// each pose, although tests that failed at earlier poses are not repeated in each query.
#[test]
fn parts_moved_to_their_seats_are_decided() {
    for name in ["raised", "turned", "ellipsoid"] {
        let [a, b] = ["part", "block"].map(|role| model(&format!("flush/{name}-{role}")));
        let options = QueryOptions { tolerance: Some(1e-5), ..QueryOptions::within(0.1) };
        let mut warm = ContactPair::new(a.body.clone(), b.body.clone());
        for shift in [20.0, 2.0, 0.4, 0.0] {
            let pose = Pose::translation(shift * 1e-5, 0.0, 0.0) * a.pose;
            let mut cold = ContactPair::new(a.body.clone(), b.body.clone());
            for pair in [&mut warm, &mut cold] {
                pair.query(&pose, &b.pose, &options).expect("finite poses and options");
            }
            assert_eq!(warm.status(), cold.status(), "{name}, moved by {shift} tolerances");
        }
        assert_eq!(warm.status(), Some(Status::Touching), "{name}");
    }
}
