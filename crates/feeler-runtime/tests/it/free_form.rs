//! Minima of solids with canonical geometry equal those of the same solids with Bézier geometry:
//! iterative solvers against closed forms.

use crate::common::{as_bezier, body, query, random_pose, traverse};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_runtime::{Body, Contact, ContactKind, QueryOptions};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::sync::Arc;

fn assert_same(canonical: &[Contact], free: &[Contact], what: &str) {
    assert_eq!(canonical.len(), free.len(), "{what}\ncanonical {canonical:#?}\nfree {free:#?}");
    for l in canonical {
        let found = free.iter().any(|m| {
            (m.distance - l.distance).abs() < 1e-10
                && (m.point_a - l.point_a).norm() < 1e-6
                && (m.point_b - l.point_b).norm() < 1e-6
                && m.kind == l.kind
        });
        assert!(found, "{what}: {l:#?}\nnot in {free:#?}");
    }
}

#[test]
fn free_forms_agree_with_closed_forms() {
    let sources = [
        ("cylinder", fixtures::cylinder_without_seam(0.7, 1.5)),
        ("ball", fixtures::sphere(0.9)),
        ("torus", fixtures::torus(1.2, 0.4)),
        ("cone", fixtures::cone(0.8, 1.5)),
        ("drilled block", fixtures::block_with_hole(1.2, 0.8, 0.7)),
        ("spool", crate::common::spool(1.5, 1.0, 0.866)),
    ];
    let solids: Vec<(&str, Arc<Body>, Arc<Body>)> =
        sources.into_iter().map(|(n, s)| (n, body(&s), body(&as_bezier(s)))).collect();
    let mut rng = SmallRng::seed_from_u64(17);
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(1.5) };
    let still = Pose::identity();
    let mut total = 0;
    for (i, (name_a, a, free_a)) in solids.iter().enumerate() {
        for (name_b, b, free_b) in &solids[i..] {
            for _ in 0..5 {
                let pose = random_pose(&mut rng, 2.2);
                let what = format!("{name_a} / {name_b} at {pose}");
                let exact = query(a, b, &still, &pose, &options);
                assert!(exact.iter().all(|l| l.kind == ContactKind::Strict), "{what}");
                assert_same(&exact, &traverse(free_a, b, &still, &pose, &options), &format!("free A {what}"));
                assert_same(&exact, &traverse(a, free_b, &still, &pose, &options), &format!("free B {what}"));
                assert_same(
                    &exact,
                    &traverse(free_a, free_b, &still, &pose, &options),
                    &format!("both free {what}"),
                );
                total += exact.len();
            }
        }
    }
    assert!(total > 60, "{total}");
}
