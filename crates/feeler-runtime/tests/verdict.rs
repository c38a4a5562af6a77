//! What a pair says of how its solids stand: when there is a status, and with what tolerance.

mod common;

use common::{at, body};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, Lmd, QueryOptions, Scene, SceneError, Status};
use std::sync::Arc;

fn two_balls() -> ContactPair {
    let ball = body(&fixtures::sphere(1.0));
    ContactPair::new(ball.clone(), ball)
}

fn ask(pair: &mut ContactPair, x: f64, options: &QueryOptions) -> Option<Status> {
    pair.query(&Pose::identity(), &at(x, 0.0, 0.0), options).expect("finite poses and options");
    assert_eq!(pair.status(), pair.verdict().map(|v| v.status), "one status");
    pair.status()
}

fn with(tolerance: Option<f64>) -> QueryOptions {
    QueryOptions { tolerance, ..QueryOptions::within(0.5) }
}

#[test]
fn a_status_is_claimed_where_it_was_asked_for() {
    let mut pair = two_balls();
    assert_eq!(pair.status(), None, "before the first query");
    let options = with(None);
    assert_eq!(ask(&mut pair, 2.1, &options), Some(Status::Separated));
    assert!(pair.query(&Pose::identity(), &at(f64::NAN, 0.0, 0.0), &options).is_err());
    assert_eq!((pair.status(), pair.verdict()), (None, None), "after an error");
    assert_eq!(ask(&mut pair, 1.5, &options), Some(Status::Interfering));
    let unasked = QueryOptions { detect_interference: false, ..options };
    for x in [1.5, 2.0, 2.1] {
        assert_eq!(ask(&mut pair, x, &unasked), None, "{x}");
    }
    // Steps so small that what was found apart would stay apart, with a step without an answer in between.
    assert_eq!(ask(&mut pair, 2.01, &options), Some(Status::Separated));
    assert_eq!(ask(&mut pair, 1.99, &unasked), None);
    assert_eq!(ask(&mut pair, 1.98, &options), Some(Status::Interfering));
}

#[test]
fn the_tolerance_is_what_was_asked_for() {
    let mut pair = two_balls();
    let size = pair.body_a().size();
    // (gap, tolerance, status), with one pair: what was found with another tolerance does not count.
    for (gap, tolerance, expected) in [
        (0.01, None, Status::Separated),
        (0.01, Some(0.02), Status::Touching),
        (0.01, None, Status::Separated),
        (0.01, Some(0.005), Status::Separated),
        (1e-5, Some(1e-4), Status::Touching),
        (1e-5, Some(1e-6), Status::Separated),
        (1e-5, None, Status::Separated),
        (-0.1, Some(0.02), Status::Interfering),
        (-0.1, None, Status::Interfering),
        (0.1, None, Status::Separated),
        (0.1, Some(0.2), Status::Touching),
    ] {
        let found = ask(&mut pair, 2.0 + gap, &with(tolerance));
        assert_eq!(found, Some(expected), "gap {gap}, tolerance {tolerance:?}");
        let tol = pair.tolerances().tol;
        let asked = tolerance.unwrap_or(1e-7 * size);
        assert!((tol - asked).abs() <= 1e-5 * asked, "{tol} instead of {asked}");
    }
    ask(&mut pair, 2.1, &with(Some(1e-300)));
    let tol = pair.tolerances().tol;
    assert!(1e-10 * size < tol && tol < 1e-8 * size, "never below rounding: {tol}");
}

/// Strict minima well apart do not depend on the tolerance.
#[test]
fn a_tolerance_keeps_the_minima() {
    let (block, ring) = (body(&fixtures::block([-1.0; 3], [1.0; 3])), body(&fixtures::torus(1.2, 0.4)));
    let pose = common::turned(3.0, 0.4, 0.2, 20.0, 35.0, 10.0);
    let minima = |tolerance: Option<f64>| -> Vec<Lmd> {
        let options = QueryOptions { tolerance, ..QueryOptions::within(4.0) };
        let mut pair = ContactPair::new(block.clone(), ring.clone());
        pair.query(&Pose::identity(), &pose, &options).expect("finite poses and options").to_vec()
    };
    let expected = minima(None);
    assert!(!expected.is_empty(), "something to compare");
    for tolerance in [1e-12, 1e-8, 1e-5, 1e-3] {
        let found = minima(Some(tolerance));
        assert_eq!(found.len(), expected.len(), "{tolerance}");
        for (f, e) in found.iter().zip(&expected) {
            assert!((f.distance - e.distance).abs() < 1e-9, "{tolerance}: {f:?} {e:?}");
        }
    }
}

#[test]
fn a_scene_passes_errors_on() {
    let bodies: Vec<Arc<Body>> = (0..3).map(|_| body(&fixtures::sphere(1.0))).collect();
    let refused = Scene::new(bodies.clone(), QueryOptions { alpha: 2.0, ..QueryOptions::within(1.0) });
    assert!(matches!(refused, Err(SceneError::Query(_))), "{refused:?}");
    let mut scene = Scene::new(bodies, QueryOptions::within(0.5)).expect("sound options");
    let poses = [at(0.0, 0.0, 0.0), at(2.1, 0.0, 0.0), at(4.2, 0.0, 0.0)];
    scene.step_pairs(&poses, &[(0, 1)]).expect("sound poses");
    let mut bad = poses;
    bad[2] = at(f64::NAN, 0.0, 0.0);
    assert!(matches!(scene.step_pairs(&bad, &[(1, 2)]), Err(SceneError::BroadPhase(_))), "a pose");
    let near: Vec<_> = scene.near().map(|n| (n.bodies, n.contacts.status())).collect();
    assert_eq!(near, [((0, 1), Some(Status::Separated))], "the last step stays");
    let far = [at(-1.5e308, 0.0, 0.0), at(1.5e308, 0.0, 0.0), at(0.0, 0.0, 0.0)];
    assert!(matches!(scene.step_pairs(&far, &[(0, 1)]), Err(SceneError::Query(_))), "too far apart");
    assert!(
        scene.near().all(|n| n.contacts.status().is_none() && n.contacts.lmds().is_empty()),
        "no results"
    );
    scene.step_pairs(&poses, &[(0, 1), (1, 2)]).expect("sound poses");
    assert!(scene.near().all(|n| n.contacts.lmds().len() == 1), "as before");
}
