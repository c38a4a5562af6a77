//! Minima with known closed forms.

use crate::common::{at, body, query, spool, turned};
use feeler_brep::fixtures;
use feeler_runtime::{ContactKind, ContactPair, FeatureKind, QueryOptions};

fn within(d_max: f64) -> QueryOptions {
    QueryOptions::within(d_max)
}

#[test]
fn two_balls() {
    let (a, b) = (body(&fixtures::sphere(2.0)), body(&fixtures::sphere_with_seam(3.0)));
    let l = query(&a, &b, &at(0.0, 0.0, 0.0), &turned(3.0, 4.0, 5.0, 20.0, 30.0, 40.0), &within(5.0));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - (50.0_f64.sqrt() - 5.0)).abs() < 1e-13, "{l:?}");
    assert_eq!(l[0].kind, ContactKind::Strict, "{l:?}");
    assert!(query(&a, &b, &at(0.0, 0.0, 0.0), &at(20.0, 0.0, 0.0), &within(5.0)).is_empty(), "far apart");
}

#[test]
fn balls_in_balls() {
    let (hollow, ball) = (body(&fixtures::hollow_sphere(5.0, 3.0)), body(&fixtures::sphere(1.0)));
    let l = query(&hollow, &ball, &at(0.0, 0.0, 0.0), &at(0.5, 0.0, 0.0), &within(5.0));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 1.5).abs() < 1e-13, "{l:?}");
    let l = query(&hollow, &ball, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 0.0), &within(5.0));
    assert!(!l.is_empty() && l.iter().all(|l| l.kind == ContactKind::Conformal), "{l:?}");
    assert!((l[0].distance - 2.0).abs() < 1e-13, "{l:?}");
}

#[test]
fn crossed_cylinders() {
    let a = body(&fixtures::cylinder(1.0, 10.0));
    let l = query(&a, &a, &at(0.0, 0.0, -5.0), &turned(2.5, 5.0, 0.0, 90.0, 0.0, 0.0), &within(1.0));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 0.5).abs() < 1e-13, "{l:?}");
    assert_eq!(l[0].feature_a.kind, FeatureKind::Face, "{l:?}");
}

#[test]
fn cone_over_a_block() {
    let (cone, block) = (body(&fixtures::cone(1.0, 2.0)), body(&fixtures::block([-5.0; 3], [5.0; 3])));
    // The cone is upside down: its apex points down at the block.
    let l = query(&block, &cone, &at(0.0, 0.0, 0.0), &turned(0.3, 0.2, 7.25, 180.0, 0.0, 0.0), &within(1.0));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 0.25).abs() < 1e-13, "{l:?}");
    assert_eq!((l[0].feature_a.kind, l[0].feature_b.kind), (FeatureKind::Face, FeatureKind::Vertex), "{l:?}");
}

#[test]
fn torus_and_ball() {
    let (torus, ball) = (body(&fixtures::torus(5.0, 1.0)), body(&fixtures::sphere(0.5)));
    let l = query(&torus, &ball, &at(0.0, 0.0, 0.0), &at(3.0, 4.0, 1.75), &within(1.0));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 0.25).abs() < 1e-13, "{l:?}");
    // Off-centre in the hole, only one side of the hole is within d_max.
    let l = query(&torus, &ball, &at(0.0, 0.0, 0.0), &at(2.9, 0.0, 0.0), &within(1.0));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 0.6).abs() < 1e-13, "{l:?}");
    // In the centre of the hole, there is a circle of minima.
    let l = query(&torus, &ball, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 0.0), &within(4.0));
    assert!(l.len() > 2 && l.iter().all(|l| l.kind == ContactKind::Conformal), "{l:?}");
    assert!((l[0].distance - 3.5).abs() < 1e-12, "{l:?}");
}

/// A strict minimum of two concave sides of tori, which BREP Table 2.2 excludes (MATH §4).
#[test]
fn crossed_spools() {
    let a = body(&spool(1.5, 1.0, 0.866));
    for d in [0.05, 0.2, 0.4] {
        let l = query(&a, &a, &at(0.0, 0.0, 0.0), &turned(1.0 + d, 0.0, 0.0, 90.0, 0.0, 0.0), &within(0.5));
        let faces: Vec<_> = l.iter().filter(|l| (l.distance - d).abs() < 1e-12).collect();
        assert_eq!(faces.len(), 1, "{d}: {l:?}");
        assert_eq!(faces[0].kind, ContactKind::Strict, "{l:?}");
        assert_eq!(faces[0].feature_a.kind, FeatureKind::Face, "{l:?}");
    }
}

#[test]
fn corner_over_a_face_and_edges_across() {
    let a = body(&fixtures::block([-1.0; 3], [1.0; 3]));
    // The cube is balanced on a corner, so that its height is its diagonal.
    let up = nalgebra::UnitQuaternion::rotation_between(
        &feeler_geom::V3::new(1.0, 1.0, 1.0),
        &feeler_geom::V3::z(),
    )
    .unwrap();
    let pose =
        feeler_geom::Pose::from_parts(nalgebra::Translation3::new(0.1, 0.2, 1.25 + 3.0_f64.sqrt()), up);
    let l = query(&a, &a, &at(0.0, 0.0, 0.0), &pose, &within(0.5));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 0.25).abs() < 1e-13, "{l:?}");
    assert_eq!((l[0].feature_a.kind, l[0].feature_b.kind), (FeatureKind::Face, FeatureKind::Vertex), "{l:?}");
    // Two edges across: A turned about y, B about x, by 45 degrees.
    let s = 2.0_f64.sqrt();
    let l = query(
        &a,
        &a,
        &turned(0.0, 0.0, 0.0, 0.0, 45.0, 0.0),
        &turned(0.0, 0.0, 2.0 * s + 0.1, 45.0, 0.0, 0.0),
        &within(0.5),
    );
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - 0.1).abs() < 1e-13, "{l:?}");
    assert_eq!((l[0].feature_a.kind, l[0].feature_b.kind), (FeatureKind::Edge, FeatureKind::Edge), "{l:?}");
    // The solids face each other corner to corner.
    let l = query(&a, &a, &at(0.0, 0.0, 0.0), &turned(2.3, 2.2, 2.1, 0.0, 0.0, 0.0), &within(0.5));
    assert_eq!(l.len(), 1, "{l:?}");
    assert!((l[0].distance - (0.09_f64 + 0.04 + 0.01).sqrt()).abs() < 1e-13, "{l:?}");
    assert_eq!(
        (l[0].feature_a.kind, l[0].feature_b.kind),
        (FeatureKind::Vertex, FeatureKind::Vertex),
        "{l:?}"
    );
}

/// Concave edges and vertices have no minima.
#[test]
fn reentrant_corners() {
    let a = body(&fixtures::notched_cube(2.0));
    let b = body(&fixtures::sphere(0.2));
    // In the notch, each of the three walls is at a distance of 0.3.
    let l = query(&a, &b, &at(0.0, 0.0, 0.0), &at(1.5, 1.5, 1.5), &within(0.35));
    assert_eq!(l.len(), 3, "{l:?}");
    for l in &l {
        assert!((l.distance - 0.3).abs() < 1e-13, "{l:?}");
        assert_eq!(l.feature_a.kind, FeatureKind::Face, "{l:?}");
    }
}

#[test]
fn dilations_only_change_the_gap() {
    let a = body(&fixtures::sphere(1.0));
    let options = QueryOptions { dilation_a: 0.1, dilation_b: 0.2, ..within(2.0) };
    let l = query(&a, &a, &at(0.0, 0.0, 0.0), &at(0.0, 2.5, 0.0), &options);
    assert!((l[0].distance - 0.5).abs() < 1e-14 && (l[0].gap - 0.2).abs() < 1e-14, "{l:?}");
    assert!((l[0].normal - feeler_geom::V3::y()).norm() < 1e-15, "{l:?}");
}

/// Without a limit of the distance, the smallest distance is found in both orders of the solids, also
/// for a solid in the void of another one.
#[test]
fn nearest_distances() {
    let (ball, hollow) = (body(&fixtures::sphere(2.0)), body(&fixtures::hollow_sphere(50.0, 40.0)));
    let block = body(&fixtures::block([-1.0; 3], [1.0; 3]));
    let cases = [
        (&ball, &ball, at(1e4, 0.0, 0.0), 1e4 - 4.0),
        (&ball, &block, at(0.0, 300.0, 400.0), (299.0_f64 * 299.0 + 399.0 * 399.0).sqrt() - 2.0),
        (&hollow, &ball, at(3.0, 4.0, 0.0), 33.0),
        (&hollow, &block, at(10.0, 0.0, 0.0), 40.0 - 123.0_f64.sqrt()),
        (&ball, &block, at(3.0, 0.0, 0.0), 0.0),
    ];
    for (a, b, pose, expected) in cases {
        for (a, b, pose_a, pose_b) in [(a, b, at(0.0, 0.0, 0.0), pose), (b, a, pose, at(0.0, 0.0, 0.0))] {
            let pair = ContactPair::new(a.clone(), b.clone());
            let nearest =
                pair.nearest_distance(&pose_a, &pose_b, &within(0.1)).expect("finite poses").expect("bodies");
            assert!((nearest - expected).abs() <= 1e-13 * expected.max(100.0), "{nearest}, not {expected}");
        }
    }
}
