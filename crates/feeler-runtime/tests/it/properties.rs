//! Properties of queries of any two solids in any pose.

use crate::common::{at, body, query, random_pose, random_rotation};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_runtime::diagnostics::Savings;
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryOptions};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::sync::Arc;

fn solids() -> Vec<(&'static str, Arc<Body>)> {
    vec![
        ("block", body(&fixtures::block([-1.0, -0.8, -0.5], [1.0, 0.8, 0.5]))),
        ("notched cube", body(&fixtures::notched_cube(1.6))),
        ("L prism", body(&fixtures::l_prism(1.5, 0.4, 1.0))),
        ("cylinder", body(&fixtures::cylinder_without_seam(0.7, 1.5))),
        ("ball", body(&fixtures::sphere(0.9))),
        ("torus", body(&fixtures::torus_with_seams(1.2, 0.4))),
        ("cone", body(&fixtures::cone(0.8, 1.5))),
        ("half cone", body(&fixtures::half_cone(0.9, 1.4))),
        ("drilled block", body(&fixtures::block_with_hole(1.2, 0.8, 0.7))),
        ("stadium", body(&fixtures::stadium(1.0, 0.5, 0.6))),
        ("spool", body(&crate::common::spool(1.5, 1.0, 0.866))),
        ("apple", body(&fixtures::apple(0.5, 0.7))),
        ("wedge", body(&fixtures::ball_wedge(1.0, 2.0))),
        ("hemisphere", body(&fixtures::hemisphere(1.0))),
    ]
}

fn assert_same(x: &[Contact], y: &[Contact], moved: &Pose, swapped: bool, what: &str) {
    assert_eq!(x.len(), y.len(), "{what}\n{x:#?}\n{y:#?}");
    for l in x {
        let (p, q) = if swapped { (l.point_b, l.point_a) } else { (l.point_a, l.point_b) };
        let (p, q) = (moved * p, moved * q);
        let found = y.iter().any(|m| {
            (m.point_a - p).norm() < 1e-7
                && (m.point_b - q).norm() < 1e-7
                && (m.distance - l.distance).abs() < 1e-10
        });
        assert!(found, "{what}: {l:#?} not in {y:#?}");
    }
}

/// Compares traversal with brute force (in `query`), and queries after a common motion and a swap.
#[test]
fn any_pose() {
    let solids = solids();
    let mut rng = SmallRng::seed_from_u64(11);
    let options = QueryOptions::within(1.5);
    let mut total = 0;
    for (i, (name_a, a)) in solids.iter().enumerate() {
        for (name_b, b) in &solids[i..] {
            for _ in 0..3 {
                let pose = random_pose(&mut rng, 2.2);
                let what = format!("{name_a} / {name_b} at {pose}");
                let still = query(a, b, &at(0.0, 0.0, 0.0), &pose, &options);
                let common =
                    Pose::from_parts(nalgebra::Translation3::new(5.0, -3.0, 8.0), random_rotation(&mut rng));
                assert_same(&still, &query(a, b, &common, &(common * pose), &options), &common, false, &what);
                assert_same(
                    &still,
                    &query(b, a, &pose, &at(0.0, 0.0, 0.0), &options),
                    &Pose::identity(),
                    true,
                    &what,
                );
                assert!(still.iter().all(|l| l.kind == ContactKind::Strict), "{what}: {still:#?}");
                total += still.len();
            }
        }
    }
    assert!(total > 150, "{total}");
}

/// Optimisations do not change results.
#[test]
fn savings() {
    let solids = solids();
    let mut rng = SmallRng::seed_from_u64(12);
    let all = Savings::default();
    for (i, (name_a, a)) in solids.iter().enumerate() {
        for (name_b, b) in &solids[i..] {
            let mut pair = ContactPair::new(a.clone(), b.clone());
            let pose = random_pose(&mut rng, 2.2);
            let options = QueryOptions::within(1.5);
            let expected =
                pair.query(&Pose::identity(), &pose, &options).expect("finite poses and options").to_vec();
            for savings in [
                Savings { masks: false, ..all },
                Savings { boxes: false, ..all },
                Savings { cones_of_revolution: false, ..all },
                Savings { polyhedral_cones: false, ..all },
                Savings { boxes_along_normals: false, ..all },
                Savings { supermaximal: false, ..all },
                Savings { front: false, ..all },
                Savings { deadlines: false, ..all },
                Savings { cached_axes: false, ..all },
                Savings::LEAST,
            ] {
                pair.forget();
                let found = pair
                    .query(&Pose::identity(), &pose, &options.with_savings(savings))
                    .expect("finite poses and options");
                assert_eq!(found, expected, "{name_a} / {name_b}: {savings:?}");
            }
        }
    }
}
