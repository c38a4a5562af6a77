//! Queries whose range follows the smallest distance find the distance and the verdict of queries with the
//! full range.

use feeler_geom::{Pose, V3};
use feeler_runtime::{Body, ContactPair, NearestRange, QueryOptions, Status};
use feeler_tests::model;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

/// Largest distance (mm) of the queries.
const FULL: f64 = 8.0;

/// Numbers of poses with a distance within [`FULL`], with a larger one, of those that interfere, and of those
/// that touch.
#[derive(Debug, Default)]
struct Counts {
    within: u32,
    beyond: u32,
    interfering: u32,
    touching: u32,
}

/// Queries two bodies at a sequence of poses of B in A's frame in both ways. Distances must agree to 1e-9 mm,
/// or to the tolerance if the pose is marked as one of a set that is slightly tilted, because its samples
/// differ.
fn compare(a: &Arc<Body>, b: &Arc<Body>, poses: impl Iterator<Item = (Pose, bool)>, counts: &mut Counts) {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let mut reference = ContactPair::new(a.clone(), b.clone());
    let mut range = NearestRange::new();
    let options = QueryOptions::within(FULL);
    for (pose, is_tilted) in poses {
        range.query(&mut pair, &Pose::identity(), &pose, &options).expect("a valid query");
        reference.query(&Pose::identity(), &pose, &options).expect("a valid query");
        assert_eq!(pair.status(), reference.status(), "{pose}");
        match (pair.min_distance(), reference.min_distance()) {
            (Some(found), Some(expected)) => {
                let limit = if is_tilted { pair.tolerances().tol } else { 1e-9 };
                assert!((found - expected).abs() < limit, "{found} {expected} {pose}");
                counts.within += 1;
            }
            (found, expected) => {
                assert_eq!(found, expected, "{pose}");
                counts.beyond += 1;
            }
        }
        counts.interfering += u32::from(pair.status() == Some(Status::Interfering));
        counts.touching += u32::from(pair.status() == Some(Status::Touching));
    }
}

#[test]
fn ranges_that_follow_the_distance_lose_no_smallest_distance() {
    let mut rng = SmallRng::seed_from_u64(9);
    let mut counts = Counts::default();
    for (a, b) in [("plug", "socket"), ("sphere-nurbs", "box"), ("shaft", "bore"), ("torus", "loft")] {
        let (a, b) = (model(a).body, model(b).body);
        let (center_a, center_b) = (a.bounds().center(), b.bounds().center());
        let mut vector = |size: f64| V3::from_fn(|_, _| size * rng.random_range(-1.0..1.0));
        let mut place = (vector(20.0), vector(1.0));
        let poses = (0..60).map(|step| {
            // Steps from a thousandth of a millimetre to jumps.
            let size = [1e-3, 0.1, 1.0, 10.0][step % 4];
            place = (place.0 + vector(size), place.1 + vector(0.05 * size));
            // B stays near A.
            place.0 *= (30.0 / place.0.norm()).min(1.0);
            let rotation = UnitQuaternion::from_scaled_axis(place.1);
            let to = Translation3::from(center_a.coords + place.0);
            (Pose::from_parts(to, rotation) * Translation3::from(-center_b.coords), false)
        });
        compare(&a, &b, poses, &mut counts);
    }
    // Near, far and interfering solids are among the cases.
    let Counts { within, beyond, interfering, .. } = counts;
    assert!(within > 30 && beyond > 10 && interfering > 20, "{counts:?}");
}

/// Aligned bodies have families of equal minima, most of which are not sampled: axes and planes are parallel,
/// exactly or within a small angle, and coordinates are multiples of half a millimetre.
#[test]
fn aligned_bodies_keep_their_smallest_distance() {
    let mut rng = SmallRng::seed_from_u64(11);
    let mut counts = Counts::default();
    for (a, b) in [
        ("plug", "socket"),
        ("shaft", "bore"),
        ("box", "box"),
        ("box", "plug"),
        ("shaft", "torus"),
        ("cone", "box"),
    ] {
        let (a, b) = (model(a).body, model(b).body);
        let reach = 0.5 * (a.bounds().max - a.bounds().min + (b.bounds().max - b.bounds().min));
        let (center_a, center_b) = (a.bounds().center(), b.bounds().center());
        let poses = (0..120).map(|step| {
            let turn = std::f64::consts::FRAC_PI_2 * f64::from(rng.random_range(0..4_u8));
            let axis = [V3::x(), V3::y(), V3::z()][rng.random_range(0..3)];
            let angle = [0.0, 0.0, 1e-12, 1e-9, 1e-7, 1e-5][rng.random_range(0..6)];
            let tilt = angle * V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            let rotation =
                UnitQuaternion::from_scaled_axis(tilt) * UnitQuaternion::from_scaled_axis(axis * turn);
            // One or two coordinates are 0 (coaxial), the third one is near or beyond contact.
            let k = rng.random_range(0..3);
            let mut at = V3::from_fn(|_, _| 0.5 * f64::from(rng.random_range(-8..=8_i8)));
            at[(k + 1) % 3] *= f64::from(step % 2);
            at[k] = (reach[k] + 0.5 * f64::from(rng.random_range(-2..=8_i8))).copysign(at[k]);
            let to = Translation3::from(center_a.coords + at);
            (Pose::from_parts(to, rotation) * Translation3::from(-center_b.coords), angle > 1e-10)
        });
        compare(&a, &b, poses, &mut counts);
    }
    let Counts { within, beyond, interfering, touching } = counts;
    assert!(within > 300 && beyond > 10 && interfering > 20 && touching > 10, "{counts:?}");
}
