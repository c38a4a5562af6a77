//! Quasi-minima, and contacts at distance 0 between edges and vertices.

use crate::common::{at, body, query, turned};
use feeler_brep::fixtures;
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Contact, ContactKind, FeatureKind, QueryOptions};

/// A block tilted by one degree over another has a strict minimum at its lowest corner. With a
/// quasi-angle of two degrees, the other three lower corners have quasi-minima.
#[test]
fn tilted_block() {
    let a = body(&fixtures::block([-2.0, -2.0, -1.0], [2.0, 2.0, 0.0]));
    let b = body(&fixtures::block([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]));
    let pose = turned(0.0, 0.0, 0.25, 1.0, 0.5, 0.0);
    let exact = query(&a, &b, &at(0.0, 0.0, 0.0), &pose, &QueryOptions::within(0.5));
    assert_eq!(exact.len(), 1, "{exact:#?}");
    for (quasi_angle, count) in [(0.0_f64, 0), (0.2, 0), (2.0, 3)] {
        let options = QueryOptions { quasi_angle: quasi_angle.to_radians(), ..QueryOptions::within(0.5) };
        let l = query(&a, &b, &at(0.0, 0.0, 0.0), &pose, &options);
        let corners: Vec<&Contact> = l
            .iter()
            .filter(|l| l.kind == ContactKind::Quasi && l.feature_b.kind == FeatureKind::Vertex)
            .filter(|l| l.feature_a.kind == FeatureKind::Face)
            .collect();
        assert_eq!(corners.len(), count, "{quasi_angle}: {l:#?}");
        assert_eq!(l.iter().filter(|l| l.kind == ContactKind::Strict).count(), 1, "{quasi_angle}: {l:#?}");
    }
}

/// A slightly rotated stadium (straight sides joined smoothly to half cylinders) next to a wall. The
/// strict minimum is on a round end, quasi-minima are at the ends of the flat side.
#[test]
fn smooth_edges_have_quasi_minima_only() {
    let wall = body(&fixtures::block([-5.0, -1.0, -5.0], [5.0, 0.0, 5.0]));
    let stadium = body(&fixtures::stadium(2.0, 0.5, 1.0));
    let pose = turned(0.0, 0.75, 0.3, 3.0, 0.0, 2.0);
    let exact = query(&wall, &stadium, &Pose::identity(), &pose, &QueryOptions::within(0.5));
    assert!(exact.iter().all(|l| l.kind == ContactKind::Strict), "{exact:#?}");
    let options = QueryOptions { quasi_angle: 0.1, ..QueryOptions::within(0.5) };
    let quasi = query(&wall, &stadium, &Pose::identity(), &pose, &options);
    assert_eq!(quasi.iter().filter(|l| l.kind == ContactKind::Strict).count(), exact.len(), "{quasi:#?}");
    assert!(quasi.len() > exact.len(), "{quasi:#?}");
}

#[test]
fn touching_corners() {
    let a = body(&fixtures::block([-1.0; 3], [1.0; 3]));
    // A corner of B touches a corner of A; B is rotated about the diagonal.
    let diagonal = V3::new(1.0, 1.0, 1.0).normalize();
    let turn = nalgebra::UnitQuaternion::from_scaled_axis(diagonal * 0.7);
    let corner = P3::new(1.0, 1.0, 1.0);
    let t = corner.coords - turn * -corner.coords;
    let pose = Pose::from_parts(nalgebra::Translation3::from(t), turn);
    let l = query(&a, &a, &Pose::identity(), &pose, &QueryOptions::within(0.5));
    assert_eq!(l.len(), 1, "{l:#?}");
    // If a corner and an edge that ends there both have the minimum, the edge is reported.
    assert!(l[0].distance.abs() < 1e-13 && l[0].normal.min() > -1e-9, "{l:#?}");
    // A corner of B touches the middle of an edge of A.
    let t = V3::new(1.0, 1.0, 0.2) - turn * -corner.coords;
    let pose = Pose::from_parts(nalgebra::Translation3::from(t), turn);
    let l = query(&a, &a, &Pose::identity(), &pose, &QueryOptions::within(0.5));
    assert_eq!(l.len(), 1, "{l:#?}");
    assert_eq!(l[0].feature_a.kind, FeatureKind::Edge, "{l:#?}");
    assert!(l[0].distance.abs() < 1e-13 && l[0].normal.z.abs() < 1e-12, "{l:#?}");
}

/// Edges that cross at distance 0, in both orders.
#[test]
fn touching_edges() {
    let a = body(&fixtures::block([-1.0; 3], [1.0; 3]));
    let s = 2.0_f64.sqrt();
    let (lower, upper) = (turned(0.0, 0.0, 0.0, 0.0, 45.0, 0.0), turned(0.0, 0.0, 2.0 * s, 45.0, 0.0, 0.0));
    for (p, q, sign) in [(&lower, &upper, 1.0), (&upper, &lower, -1.0)] {
        let l = query(&a, &a, p, q, &QueryOptions::within(0.5));
        assert_eq!(l.len(), 1, "{l:#?}");
        assert!(l[0].distance.abs() < 1e-13 && (l[0].normal.z - sign).abs() < 1e-12, "{l:#?}");
    }
}
