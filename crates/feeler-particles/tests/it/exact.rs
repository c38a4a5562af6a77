//! Spheres and exact walls: closed forms, equal results with and without caches and for any number of
//! threads, errors.

use feeler_geom::{P3, Pose, V3, math};
use feeler_particles::{ExactWall, ProximityCache, Sphere, WallContacts, WallError};
use feeler_runtime::Body;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::sync::Arc;

fn body(name: &str) -> Arc<Body> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    let model = feeler_import::prepare_step(&file).expect("imports");
    Arc::new(Body::from_model(&model, 0).expect("well formed"))
}

fn contacts(wall: &ExactWall, center: P3, radius: f64, reach: f64) -> Vec<feeler_particles::WallContact> {
    let mut out = WallContacts::new();
    wall.contacts(&[Sphere { center, radius }], reach, &mut Vec::new(), &mut out).expect("finite");
    out.of(0).to_vec()
}

/// Spheres beside a face, an edge and a vertex of a box, and inside the box, where the contact is the
/// shortest way out.
#[test]
fn closed_forms_beside_a_box() {
    let wall = ExactWall::new(body("box.step"));
    let bounds = *wall.body().bounds();
    let (top, middle) = (bounds.max, bounds.center());
    let one = contacts(&wall, P3::new(middle.x, middle.y, top.z + 0.4), 0.5, 0.1);
    assert_eq!(one.len(), 1, "{one:?}");
    assert!((one[0].gap + 0.1).abs() < 1e-12 && (one[0].normal - V3::z()).norm() < 1e-12, "{one:?}");
    assert!(one[0].curvatures.iter().all(|k| k.abs() < 1e-12), "{one:?}");
    let edge = contacts(&wall, P3::new(top.x + 0.3, middle.y, top.z + 0.4), 0.5, 0.1);
    assert_eq!(edge.len(), 1, "{edge:?}");
    let [across, along] = edge[0].curvatures;
    assert!(edge[0].gap.abs() < 1e-12 && across.is_infinite() && along.abs() < 1e-12, "{edge:?}");
    assert!((edge[0].normal - V3::new(0.6, 0.0, 0.8)).norm() < 1e-12, "{edge:?}");
    let corner = contacts(&wall, top + V3::new(0.3, 0.3, 0.3), 0.6, 0.1);
    assert!(corner.len() == 1 && corner[0].curvatures.iter().all(|k| k.is_infinite()), "{corner:?}");
    let deep = contacts(&wall, P3::new(middle.x, middle.y, top.z - 0.01), 0.001, 0.0);
    assert_eq!(deep.len(), 1, "{deep:?}");
    assert!((deep[0].gap + 0.011).abs() < 1e-12 && (deep[0].normal - V3::z()).norm() < 1e-12, "{deep:?}");
}

/// A sphere in a bore has one contact off the axis, and evenly placed samples on the axis.
#[test]
fn bores_and_corners() {
    let wall = ExactWall::new(body("blind-bore.step"));
    let h = wall.body().hierarchy();
    let bore = h.faces.iter().find_map(|f| match f.surface {
        feeler_geom::Surface::Cylinder { frame, radius } if !f.outward => Some((frame, radius, f.trim.rect)),
        _ => None,
    });
    let (frame, radius, rect) = bore.expect("a bore");
    let middle = 0.5 * (rect.v0 + rect.v1);
    let axis = frame.point(0.0, 0.0, middle);
    let on_axis = contacts(&wall, axis, 0.9 * radius, 0.2 * radius);
    assert!(on_axis.len() == 4, "{on_axis:?}");
    let sum: V3 = on_axis.iter().map(|c| c.normal).sum();
    assert!(sum.norm() < 1e-9, "evenly placed: {sum}");
    let aside = contacts(&wall, axis + frame.x * (0.2 * radius), 0.7 * radius, 0.2 * radius);
    assert_eq!(aside.len(), 1, "the far side is a saddle: {aside:?}");
    assert!((aside[0].gap - 0.1 * radius).abs() < 1e-12 && (aside[0].normal + frame.x).norm() < 1e-12);
    assert!((aside[0].curvatures[1] + 1.0 / radius).abs() < 1e-12, "{aside:?}");
}

fn cloud(body: &Body, n: usize, rng: &mut SmallRng) -> Vec<Sphere> {
    let (lo, d) = (body.bounds().min, body.bounds().max - body.bounds().min);
    let size = body.size();
    (0..n)
        .map(|_| Sphere {
            center: lo + V3::from_fn(|i, _| d[i] * rng.random_range(-0.1..1.1)),
            radius: size * rng.random_range(0.005..0.03),
        })
        .collect()
}

/// Spheres and the wall move. Neither caches nor the number of threads change a bit.
#[test]
fn warm_is_cold_for_any_number_of_threads() {
    for name in ["socket.step", "bayonet-socket.step", "torus-nurbs.step"] {
        let mut wall = ExactWall::new(body(name));
        let mut rng = SmallRng::seed_from_u64(7);
        let mut spheres = cloud(wall.body(), 3000, &mut rng);
        let size = wall.body().size();
        let reach = 0.01 * size;
        let pools =
            [1, 2, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool"));
        let mut warm = [0; 3].map(|_| (Vec::<ProximityCache>::new(), WallContacts::new()));
        let mut n_contacts = 0;
        for step in 0..12 {
            let mut cold = WallContacts::new();
            wall.contacts(&spheres, reach, &mut Vec::new(), &mut cold).expect("finite");
            for (pool, (caches, out)) in pools.iter().zip(&mut warm) {
                pool.install(|| wall.contacts(&spheres, reach, caches, out)).expect("finite");
                assert_eq!(out.offsets(), cold.offsets(), "{name}, step {step}");
                for (a, b) in out.contacts().iter().zip(cold.contacts()) {
                    assert_eq!(format!("{a:?}"), format!("{b:?}"), "{name}, step {step}");
                }
            }
            n_contacts += cold.contacts().len();
            for s in &mut spheres {
                s.center += V3::from_fn(|_, _| rng.random_range(-1.0..1.0) * 0.002 * size);
            }
            let turn = UnitQuaternion::from_scaled_axis(V3::new(0.0, 0.001, 0.002) * f64::from(step));
            wall.set_pose(&Pose::from_parts(Translation3::new(0.0, 0.0, 0.01 * f64::from(step)), turn))
                .expect("finite");
        }
        assert!(n_contacts > 1000, "{name}: {n_contacts}");
    }
}

#[test]
fn errors_name_the_invalid_particle() {
    let mut wall = ExactWall::new(body("box.step"));
    let mut out = WallContacts::new();
    let mut caches = Vec::new();
    let good = Sphere { center: P3::origin(), radius: 1.0 };
    let mut query = |s: Sphere, reach: f64| wall.contacts(&[good, s], reach, &mut caches, &mut out);
    let at = P3::new(f64::NAN, 0.0, 0.0);
    assert_eq!(query(Sphere { center: at, radius: 1.0 }, 0.0), Err(WallError::Position { index: 1 }));
    assert_eq!(query(Sphere { radius: -1.0, ..good }, 0.0), Err(WallError::Radius { index: 1, value: -1.0 }));
    assert_eq!(query(good, -0.5), Err(WallError::Reach { value: -0.5 }));
    assert_eq!(query(good, 0.5), Ok(()));
    let nowhere = Pose::from_parts(Translation3::new(f64::NAN, 0.0, 0.0), UnitQuaternion::identity());
    assert_eq!(wall.set_pose(&nowhere), Err(WallError::Pose));
}

/// A common offset of spheres and wall has no effect. Spheres far from the wall have no contacts; a large
/// one that may reach the wall is refused.
#[test]
fn large_coordinates() {
    let mut wall = ExactWall::new(body("box.step"));
    let bounds = *wall.body().bounds();
    let (top, middle) = (bounds.max, bounds.center());
    let turn = UnitQuaternion::from_scaled_axis(V3::new(0.3, -0.2, 0.9));
    let on_top = P3::new(middle.x, middle.y, top.z + 0.5);
    for exponent in [0, 30, 52, 60, 120, 900] {
        let offset =
            V3::new(math::powf(2.0, f64::from(exponent)), -math::powf(2.0, f64::from(exponent)), 0.0);
        wall.set_pose(&Pose::from_parts(offset.into(), turn)).expect("finite");
        let center = wall.pose() * on_top;
        // The rounded position in the frame of the wall.
        let left = turn.inverse() * (center.coords - offset);
        let expected = left.z - top.z;
        let one = contacts(&wall, center, 1.0, 0.1);
        if (left - on_top.coords).norm() < 0.2 {
            assert!(one.len() == 1 && (one[0].gap - (expected - 1.0)).abs() < 1e-12, "{exponent}: {one:?}");
        }
    }
    wall.set_pose(&Pose::identity()).expect("finite");
    let mut out = WallContacts::new();
    for k in 3..=300 {
        let far = Sphere { center: P3::new(0.0, power_of_ten(k), 0.0), radius: 1.0 };
        wall.contacts(&[far], 1.0, &mut Vec::new(), &mut out).expect("far from the wall");
        assert!(out.contacts().is_empty(), "1e{k}");
        let large = Sphere { radius: far.center.y, ..far };
        let answer = wall.contacts(&[far, large], 1.0, &mut Vec::new(), &mut out);
        let is_refused = matches!(answer, Err(WallError::Coordinates { index: 1, .. }));
        assert_eq!(is_refused, k > 9, "1e{k}: {answer:?}");
        if let Err(error) = answer {
            assert!(error.to_string().contains("particle 1: the coordinates reach"), "{error}");
        }
    }
}

fn power_of_ten(k: i32) -> f64 {
    math::powf(10.0, f64::from(k))
}
