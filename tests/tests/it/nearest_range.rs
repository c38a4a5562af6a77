//! Queries whose range follows the smallest distance find the distance and the verdict of queries with the
//! full range.

use feeler_geom::{Pose, V3};
use feeler_runtime::{ContactPair, NearestRange, QueryOptions, Status};
use feeler_tests::model;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

#[test]
fn ranges_that_follow_the_distance_lose_no_smallest_distance() {
    let full = 8.0;
    let mut rng = SmallRng::seed_from_u64(9);
    let (mut within, mut beyond, mut interfering) = (0, 0, 0);
    for (a, b) in [("plug", "socket"), ("sphere-nurbs", "box"), ("shaft", "bore"), ("torus", "loft")] {
        let (a, b) = (model(a).body, model(b).body);
        let (center_a, center_b) = (a.bounds().center(), b.bounds().center());
        let mut pair = ContactPair::new(a.clone(), b.clone());
        let mut reference = ContactPair::new(a.clone(), b.clone());
        let mut range = NearestRange::new();
        let mut vector = |size: f64| V3::from_fn(|_, _| size * rng.random_range(-1.0..1.0));
        let mut place = (vector(20.0), vector(1.0));
        for step in 0..60 {
            // Steps from a thousandth of a millimetre to jumps.
            let size = [1e-3, 0.1, 1.0, 10.0][step % 4];
            place = (place.0 + vector(size), place.1 + vector(0.05 * size));
            // B stays near A.
            place.0 *= (30.0 / place.0.norm()).min(1.0);
            let rotation = UnitQuaternion::from_scaled_axis(place.1);
            let to = Translation3::from(center_a.coords + place.0);
            let pose = Pose::from_parts(to, rotation) * Translation3::from(-center_b.coords);
            let options = QueryOptions::within(full);
            range.query(&mut pair, &Pose::identity(), &pose, &options).expect("a valid query");
            reference.query(&Pose::identity(), &pose, &options).expect("a valid query");
            assert_eq!(pair.status(), reference.status());
            match (pair.min_distance(), reference.min_distance()) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
                    within += 1;
                }
                (found, expected) => {
                    assert_eq!(found, expected);
                    beyond += 1;
                }
            }
            interfering += u32::from(pair.status() == Some(Status::Interfering));
        }
    }
    // Near, far and interfering solids are among the cases.
    assert!(within > 30 && beyond > 10 && interfering > 20, "{within} {beyond} {interfering}");
}
