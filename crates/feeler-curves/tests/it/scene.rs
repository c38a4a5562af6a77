//! Tests of curves and solids in one scene.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::sync::Arc;

use feeler_curves::{Curve, CurveContact, CurveError, CurveOptions, CurveScene, CurveSceneError, P3};
use feeler_geom::{Pose, V3, math};
use feeler_runtime::{Body, BodyId, QueryOptions, Scene, SceneError, Status};

fn solid(name: &str) -> Arc<Body> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    Arc::new(Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap())
}

fn line(from: V3, to: V3, radius: f64) -> Curve {
    Curve::new(1, &[P3::from(from), P3::from(to)], radius, false).unwrap()
}

#[test]
fn two_cables_over_a_box() {
    let body = solid("box");
    let bounds = *body.bounds();
    let (c, top) = (bounds.center(), bounds.max.z);
    let mut scene =
        CurveScene::new(Scene::new(QueryOptions::default()).unwrap(), CurveOptions::default()).unwrap();
    scene.detect_interference(true);
    let id = scene.solids_mut().add(body, Pose::identity()).unwrap();
    let (x, y) = (V3::x() * 100.0, V3::y() * 100.0);
    let low = V3::new(c.x, c.y, top + 1.5);
    let a = scene.add(line(low - x, low + x, 1.0));
    let b = scene.add(line(low + V3::z() * 2.25 - y, low + V3::z() * 2.25 + y, 1.0));
    scene.update().unwrap();
    let between: Vec<_> =
        scene.contacts().iter().filter(|c| matches!(c, CurveContact::Curves { .. })).copied().collect();
    assert_eq!(between.len(), 1);
    assert!((between[0].gap() - 0.25).abs() < 1e-12);
    let on_box = scene.contacts().iter().filter(|c| matches!(c, CurveContact::Solid { .. }));
    assert!(on_box.clone().count() >= 2 && on_box.clone().all(|c| (c.gap() - 0.5).abs() < 1e-12));
    assert_eq!(scene.interferes(a, id).unwrap(), Some(false));
    assert!(!scene.curves_interfere(a, b).unwrap());
    // The upper cable moves down to the lower one, which is pressed into the box.
    let identity = between[0].id();
    let down = |h: f64| {
        let at = low + V3::z() * h;
        [P3::from(at - y), P3::from(at + y)]
    };
    scene.update_curve(b, &down(1.9)).unwrap();
    scene.update_curve(a, &[P3::from(low - V3::z() - x), P3::from(low - V3::z() + x)]).unwrap();
    scene.update().unwrap();
    assert_eq!(scene.interferes(a, id).unwrap(), Some(true));
    assert_eq!(scene.interferes(a, BodyId(7)), Err(CurveSceneError::Solids(SceneError::NoBody(BodyId(7)))));
    assert!(!scene.curves_interfere(a, b).unwrap());
    assert!(scene.contacts().iter().any(|c| c.id() == identity && (c.gap() - 0.9).abs() < 1e-12));
    scene.update_curve(b, &down(0.5)).unwrap();
    scene.update().unwrap();
    assert!(scene.curves_interfere(a, b).unwrap());
    scene.remove(b).unwrap();
    assert_eq!(scene.update_curve(b, &down(0.5)), Err(CurveSceneError::NoCurve(b)));
    scene.update().unwrap();
    assert!(scene.contacts().iter().all(|c| matches!(c, CurveContact::Solid { .. })));
}

/// A status is reported only for pairs that the last update decided.
#[test]
fn undecided_pairs_have_no_status() {
    let body = solid("box");
    let bounds = *body.bounds();
    let (c, top) = (bounds.center(), bounds.max.z);
    let mut scene =
        CurveScene::new(Scene::new(QueryOptions::default()).unwrap(), CurveOptions::default()).unwrap();
    let id = scene.solids_mut().add(body, Pose::identity()).unwrap();
    let up = |h: f64| V3::new(c.x, c.y, top + h);
    let across = |h: f64| line(up(h) - V3::x() * 100.0, up(h) + V3::x() * 100.0, 1.0);
    let a = scene.add(across(0.5));
    scene.update().unwrap();
    assert_eq!(scene.status(a, id).unwrap(), None, "detection is disabled");
    scene.detect_interference(true);
    assert_eq!(scene.status(a, id).unwrap(), None, "no update since detection was enabled");
    scene.update().unwrap();
    assert_eq!(scene.status(a, id).unwrap(), Some(Status::Interfering));
    let others = [
        (1.0 - 1e-6, Status::Interfering),
        (1.0, Status::Touching),
        (1.0 + 1e-6, Status::Separated),
        (1.5, Status::Separated),
        (50.0, Status::Separated),
    ];
    let others = others.map(|(h, status)| (scene.add(across(h)), status));
    assert_eq!(scene.status(others[0].0, id).unwrap(), None, "added after the last update");
    scene.update().unwrap();
    for (curve, status) in others {
        assert_eq!(scene.status(curve, id).unwrap(), Some(status));
    }
}

/// A bend of radius 2 admits a tube of radius 1.9 but not one of 2.1; a bend with a cusp admits no tube.
#[test]
fn bends_that_are_too_tight() {
    let k = 4.0 / 3.0 * math::tan(std::f64::consts::FRAC_PI_8) * 2.0;
    let quarter =
        [P3::new(2.0, 0.0, 0.0), P3::new(2.0, k, 0.0), P3::new(k, 2.0, 0.0), P3::new(0.0, 2.0, 0.0)];
    let mut bends = Vec::new();
    for (radius, n) in [(1.9, 0), (2.1, 1)] {
        Curve::new(3, &quarter, radius, false).unwrap().tight_bends(&mut bends);
        assert_eq!(bends.len(), n, "{bends:?}");
    }
    assert!(
        (bends[0].curvature - 0.5).abs() < 0.01 && bends[0].range[1] - bends[0].range[0] >= 1.0,
        "{bends:?}"
    );
    let cusp = [[0.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0]].map(P3::from);
    Curve::new(3, &cusp, 1e-3, false).unwrap().tight_bends(&mut bends);
    assert_eq!(bends.len(), 1, "{bends:?}");
    assert!((bends[0].u - 0.5).abs() < 1e-3);
}

/// Points of curves are given in the world: beyond some distance from its origin, their rounding is
/// refused.
#[test]
fn curves_far_from_the_origin() {
    let body = solid("box");
    let (c, top) = (body.bounds().center(), body.bounds().max.z);
    for k in 3..=300 {
        let x = power_of_ten(k);
        let mut scene =
            CurveScene::new(Scene::new(QueryOptions::default()).unwrap(), CurveOptions::default()).unwrap();
        scene.solids_mut().add(body.clone(), Pose::translation(x, 0.0, 0.0)).unwrap();
        let middle = V3::new(x + c.x, c.y, top + 1.5);
        scene.add(line(middle - V3::y() * 100.0, middle + V3::y() * 100.0, 1.0));
        match scene.update() {
            Ok(()) => {
                let gaps: Vec<f64> = scene.contacts().iter().map(CurveContact::gap).collect();
                assert!(
                    k <= 9 && gaps.len() > 1 && gaps.iter().all(|g| (g - 0.5).abs() < 1e-6),
                    "1e{k}: {gaps:?}"
                );
            }
            Err(error) => {
                assert!(k > 9 && scene.contacts().is_empty(), "1e{k}: {error}");
                let CurveSceneError::Curve { error: CurveError::Coordinates { limit, .. }, .. } = error
                else {
                    panic!("1e{k}: {error}");
                };
                assert!(error.to_string().contains(&format!("{limit:.3e}")), "{error}");
            }
        }
    }
}

fn power_of_ten(k: i32) -> f64 {
    math::powf(10.0, f64::from(k))
}
