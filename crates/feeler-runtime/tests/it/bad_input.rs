//! Invalid input causes errors and never panics.

use crate::common::{at, body};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_hierarchy::{Hierarchy, Node, SolidInfo};
use feeler_runtime::{Body, BodyError, Contact, ContactPair, QueryError, QueryOptions, Stats, Status};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use std::sync::Arc;

fn empty() -> Hierarchy {
    Hierarchy {
        info: SolidInfo::default(),
        faces: vec![],
        edges: vec![],
        vertices: vec![],
        areas: vec![],
        nodes: vec![],
        hull: vec![],
    }
}

#[test]
fn invalid_poses_and_options_are_rejected() {
    let a = body(&fixtures::sphere(1.0));
    let mut pair = ContactPair::new(a.clone(), a.clone());
    let (here, there, base) = (Pose::identity(), at(3.0, 0.0, 0.0), QueryOptions::within(5.0));
    let expected = pair.query(&here, &there, &base).expect("valid input").to_vec();
    assert!((expected[0].distance - 1.0).abs() < 1e-12, "{expected:?}");
    let nan = at(f64::NAN, 0.0, 0.0);
    let far = |x: f64| at(x, 0.0, 0.0);
    let half_turn = UnitQuaternion::new_unchecked(Quaternion::new(f64::INFINITY, 0.0, 0.0, 0.0));
    let turned = Pose::from_parts(Translation3::identity(), half_turn);
    type IsExpected = fn(&QueryError) -> bool;
    let poses: [(Pose, Pose, IsExpected); 5] = [
        (nan, there, |e| matches!(e, QueryError::PoseA)),
        (nan, nan, |e| matches!(e, QueryError::PoseA)),
        (here, far(f64::INFINITY), |e| matches!(e, QueryError::PoseB)),
        (here, turned, |e| matches!(e, QueryError::PoseB)),
        (far(-1.5e308), far(1.5e308), |e| matches!(e, QueryError::PosesTooFarApart)),
    ];
    let options: [(QueryOptions, IsExpected); 19] = [
        (QueryOptions { d_max: f64::NAN, ..base }, |e| matches!(e, QueryError::DMax(_))),
        (QueryOptions { d_max: -1.0, ..base }, |e| matches!(e, QueryError::DMax(_))),
        (QueryOptions { d_max: f64::NEG_INFINITY, ..base }, |e| matches!(e, QueryError::DMax(_))),
        (QueryOptions { quasi_angle: f64::NAN, ..base }, |e| matches!(e, QueryError::QuasiAngle(_))),
        (QueryOptions { quasi_angle: f64::INFINITY, ..base }, |e| matches!(e, QueryError::QuasiAngle(_))),
        (QueryOptions { quasi_angle: -1e-9, ..base }, |e| matches!(e, QueryError::QuasiAngle(_))),
        (QueryOptions { quasi_angle: 0.8, ..base }, |e| matches!(e, QueryError::QuasiAngle(_))),
        (QueryOptions { dilation_a: f64::INFINITY, ..base }, |e| matches!(e, QueryError::DilationA(_))),
        (QueryOptions { dilation_b: f64::NAN, ..base }, |e| matches!(e, QueryError::DilationB(_))),
        (spacing(f64::NAN), |e| matches!(e, QueryError::ConformalSpacing(_))),
        (spacing(f64::INFINITY), |e| matches!(e, QueryError::ConformalSpacing(_))),
        (spacing(0.0), |e| matches!(e, QueryError::ConformalSpacing(_))),
        (spacing(-1.0), |e| matches!(e, QueryError::ConformalSpacing(_))),
        (tolerance(f64::NAN), |e| matches!(e, QueryError::Tolerance(_))),
        (tolerance(f64::INFINITY), |e| matches!(e, QueryError::Tolerance(_))),
        (tolerance(0.0), |e| matches!(e, QueryError::Tolerance(_))),
        (tolerance(-1e-3), |e| matches!(e, QueryError::Tolerance(_))),
        (tolerance(1e3), |e| matches!(e, QueryError::ToleranceTooLarge { .. })),
        (QueryOptions { d_max: f64::NAN, ..spacing(0.0) }, |e| matches!(e, QueryError::DMax(_))),
    ];
    let of_poses = poses.iter().map(|(p, q, is_expected)| (p, q, &base, is_expected));
    let cases = of_poses.chain(options.iter().map(|(o, is_expected)| (&here, &there, o, is_expected)));
    for (age, (p, q, options, is_expected)) in (1..).zip(cases) {
        let error = pair.query(p, q, options).expect_err("invalid input");
        assert!(is_expected(&error) && error.to_string().contains("; "), "states what to do: {error}");
        assert!(pair.contacts().is_empty() && pair.min_distance().is_none(), "no results: {error}");
        assert_eq!(pair.stats(), Stats::default(), "no work: {error}");
        // A rejected query has no effect on the next one.
        let again = pair.query(&here, &there, &base).expect("valid input");
        assert_eq!((again.len(), again[0].age), (1, age), "after {error}");
        assert_eq!(Contact { age: 0, ..again[0] }, expected[0], "after {error}");
    }
}

fn spacing(spacing: f64) -> QueryOptions {
    QueryOptions { conformal_spacing: Some(spacing), ..QueryOptions::within(5.0) }
}

fn tolerance(tolerance: f64) -> QueryOptions {
    QueryOptions { tolerance: Some(tolerance), ..QueryOptions::within(5.0) }
}

#[test]
fn limits_of_valid_options() {
    let a = body(&fixtures::sphere(1.0));
    let mut pair = ContactPair::new(a.clone(), a.clone());
    let near = at(3.0, 0.0, 0.0);
    assert!(
        pair.query(&Pose::identity(), &near, &QueryOptions::within(0.0)).expect("valid input").is_empty(),
        "no minimum at distance 0"
    );
    let (far, everything) = (at(1e6, 0.0, 0.0), QueryOptions::within(f64::INFINITY));
    let l = pair.query(&Pose::identity(), &far, &everything).expect("valid input");
    assert!((l[0].distance - (1e6 - 2.0)).abs() < 1e-6, "{l:?}");
    let widest = QueryOptions { quasi_angle: std::f64::consts::FRAC_PI_4, ..QueryOptions::within(5.0) };
    assert_eq!(
        pair.query(&Pose::identity(), &near, &widest).expect("valid input").len(),
        1,
        "pi/4 is in range"
    );
}

#[test]
fn empty_and_broken_hierarchies() {
    let nothing = Arc::new(Body::new(empty()).unwrap());
    let ball = body(&fixtures::sphere(1.0));
    let mut pair = ContactPair::new(nothing, ball.clone());
    for brute_force in [false, true] {
        let options = QueryOptions::within(1.0);
        let options = if brute_force { options.brute_force() } else { options };
        let found = pair.query(&Pose::identity(), &Pose::identity(), &options).expect("valid input");
        assert!(found.is_empty(), "an empty body has no minima");
        assert_eq!(pair.status(), Some(Status::Separated), "from an empty body");
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
    assert!(matches!(Body::new(lost), Err(BodyError::Reference { .. })), "an area that does not exist");
    let mut wild = good.clone();
    wild.nodes[0].obb.center.x = f64::NAN;
    assert!(matches!(Body::new(wild), Err(BodyError::NotFinite { .. })), "a coordinate that is NaN");
    let mut orphan = good;
    orphan.areas[0].feature = feeler_hierarchy::Feature::Edge(feeler_hierarchy::EdgeId(7));
    assert!(
        matches!(Body::new(orphan), Err(BodyError::Reference { what: "area", .. })),
        "an edge that does not exist"
    );
}
