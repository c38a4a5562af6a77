//! Nothing panics, whatever comes in.

mod common;

use common::{at, body};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_hierarchy::{Hierarchy, Node, SolidInfo};
use feeler_runtime::{Body, BodyError, ContactPair, QueryOptions, Status};
use std::sync::Arc;

fn empty() -> Hierarchy {
    Hierarchy {
        info: SolidInfo::default(),
        faces: vec![],
        edges: vec![],
        vertices: vec![],
        areas: vec![],
        nodes: vec![],
    }
}

#[test]
fn poses_and_options_that_are_no_numbers() {
    let a = body(&fixtures::sphere(1.0));
    let mut pair = ContactPair::new(a.clone(), a.clone());
    let nan = Pose::translation(f64::NAN, 0.0, 0.0);
    for (p, q) in [(&nan, &Pose::identity()), (&Pose::identity(), &nan)] {
        assert!(pair.query(p, q, &QueryOptions::within(1.0)).is_empty(), "no pose, no answer");
    }
    for d_max in [f64::NAN, -1.0, 0.0] {
        assert!(
            pair.query(&Pose::identity(), &at(3.0, 0.0, 0.0), &QueryOptions::within(d_max)).is_empty(),
            "{d_max}"
        );
    }
    let far = at(1e6, 0.0, 0.0);
    let l = pair.query(&Pose::identity(), &far, &QueryOptions::within(f64::INFINITY));
    assert!((l[0].distance - (1e6 - 2.0)).abs() < 1e-6, "{l:?}");
    let options = QueryOptions { alpha: f64::NAN, dilation_a: f64::INFINITY, ..QueryOptions::within(5.0) };
    let l = pair.query(&Pose::identity(), &at(3.0, 0.0, 0.0), &options);
    assert!((l[0].gap - 1.0).abs() < 1e-12, "{l:?}");
}

#[test]
fn empty_and_broken_hierarchies() {
    let nothing = Arc::new(Body::new(empty()).unwrap());
    let ball = body(&fixtures::sphere(1.0));
    let mut pair = ContactPair::new(nothing, ball.clone());
    for brute_force in [false, true] {
        let options = QueryOptions { brute_force, ..QueryOptions::within(1.0) };
        assert!(pair.query(&Pose::identity(), &Pose::identity(), &options).is_empty(), "nothing");
        assert_eq!(pair.status(), Status::Separated, "from nothing");
    }
    let good = ball.hierarchy().clone();
    let mut loops = good.clone();
    loops.nodes[0].link = 0;
    assert!(
        matches!(Body::new(loops), Err(BodyError::Reference { what: "node", .. })),
        "a root that is its own child"
    );
    let mut lost = good.clone();
    lost.nodes[0].link = Node::LEAF | 9999;
    assert!(matches!(Body::new(lost), Err(BodyError::Reference { .. })), "no such area");
    let mut wild = good.clone();
    wild.nodes[0].obb.center.x = f64::NAN;
    assert!(matches!(Body::new(wild), Err(BodyError::NotFinite { .. })), "not a number");
    let mut orphan = good;
    orphan.areas[0].feature = feeler_hierarchy::Feature::Edge(7);
    assert!(matches!(Body::new(orphan), Err(BodyError::Reference { what: "area", .. })), "no such edge");
}
