//! Minimum thickness of solids against closed forms: never above them, at most 1 % below.
#![expect(clippy::print_stdout, reason = "the test reports the compared values")]

use feeler_tests::membership::Spec;
use feeler_tests::{data_dir, part, part_of};

fn check(what: &str, found: f64, expected: f64) {
    println!("{what}: {found} of {expected}");
    if expected.is_finite() {
        assert!(found <= expected * (1.0 + 1e-12), "{what}: {found} is more than {expected}");
        assert!(found >= 0.99 * expected, "{what}: {found} is less than {expected}");
    } else {
        assert_eq!(
            found.to_bits(),
            expected.to_bits(),
            "{what}: {found}, but no faces are opposite to each other"
        );
    }
}

/// Length of the shortest normal segment through the material with its ends on faces or their borders.
fn closed_form(spec: &Spec) -> f64 {
    match *spec {
        Spec::Block { x, y, z } => x.min(y).min(z),
        Spec::Cylinder { r, h }
        | Spec::CylinderWithSeam { r, h }
        | Spec::CylinderHalves { r, h }
        | Spec::Stadium { r, h, .. } => h.min(2.0 * r),
        Spec::Frustum { h, .. } | Spec::Wedge { h, .. } => h,
        // Distance of opposite sides of a rhombus.
        Spec::DoubleCone { r, h } => r * h / (r * r + 0.25 * h * h).sqrt(),
        Spec::Ball { r } | Spec::BallWithSeam { r } => 2.0 * r,
        Spec::HalfBall { r } => r,
        Spec::Bullet { r, h } => (2.0 * r).min(h + r),
        Spec::Torus { minor, .. } | Spec::TorusWithSeams { minor, .. } | Spec::Apple { minor, .. } => {
            2.0 * minor
        }
        Spec::Tube { outer, inner, h } | Spec::Countersunk { outer, inner, h } => h.min(outer - inner),
        Spec::Cup { outer, inner, floor, .. } => floor.min(outer - inner),
        Spec::SteppedPin { low, high, h } => (0.5 * h).min(2.0 * low).min(2.0 * high),
        Spec::SharpPin { r, .. } => 2.0 * r,
        Spec::Spool { core, h, .. } => (0.25 * h).min(2.0 * core),
        Spec::HollowBall { outer, inner } => outer - inner,
        Spec::HollowCan { wall, .. } | Spec::HollowBox { wall, .. } => wall,
        Spec::BallInBox { a, r } => a - r,
        Spec::Drilled { a, h, r } => h.min(a - r),
        Spec::Blind { a, r, floor, .. } => floor.min(a - r),
        Spec::Plate { pitch, r, h, .. } => h.min(0.5 * pitch - r),
        Spec::LPrism { t, h, .. } => t.min(h),
        Spec::Channel { wall, h, .. } => wall.min(h),
        Spec::Notched { a } => 0.5 * a,
        Spec::Hexagon { r, h } => h.min(3.0_f64.sqrt() * r),
        Spec::Cone { .. } | Spec::ConeWithSeam { .. } | Spec::HalfCone { .. } | Spec::BallWedge { .. } => {
            f64::INFINITY
        }
    }
}

#[test]
fn closed_forms() {
    let specs = [
        Spec::Block { x: 3.0, y: 1.0, z: 7.0 },
        Spec::Block { x: 300.0, y: 200.0, z: 0.5 },
        Spec::Cylinder { r: 5.0, h: 3.0 },
        Spec::Cylinder { r: 0.5, h: 30.0 },
        Spec::CylinderWithSeam { r: 2.0, h: 9.0 },
        Spec::CylinderHalves { r: 2.0, h: 9.0 },
        Spec::Cone { r: 3.0, h: 8.0 },
        Spec::Cone { r: 0.5, h: 20.0 },
        Spec::ConeWithSeam { r: 3.0, h: 2.0 },
        Spec::HalfCone { r: 3.0, h: 2.0 },
        Spec::Frustum { low: 5.0, high: 4.9, h: 12.0 },
        Spec::DoubleCone { r: 4.0, h: 6.0 },
        Spec::Ball { r: 7.0 },
        Spec::BallWithSeam { r: 0.3 },
        Spec::HalfBall { r: 2.5 },
        Spec::Bullet { r: 2.0, h: 1.0 },
        Spec::Bullet { r: 2.0, h: 5.0 },
        Spec::Torus { major: 10.0, minor: 2.0 },
        Spec::TorusWithSeams { major: 10.0, minor: 4.0 },
        Spec::Apple { major: 2.0, minor: 5.0 },
        Spec::Tube { outer: 5.0, inner: 4.0, h: 20.0 },
        Spec::Tube { outer: 50.0, inner: 49.8, h: 40.0 },
        Spec::Tube { outer: 5.0, inner: 2.0, h: 1.0 },
        Spec::Countersunk { outer: 6.0, inner: 3.0, h: 5.0 },
        Spec::Cup { outer: 6.0, inner: 5.0, h: 10.0, floor: 0.7 },
        Spec::SteppedPin { low: 2.0, high: 3.0, h: 6.5 },
        Spec::SharpPin { r: 1.0, h: 8.0, tip: 2.0 },
        Spec::Spool { flange: 6.0, core: 1.0, h: 10.0 },
        Spec::HollowBall { outer: 5.0, inner: 4.5 },
        // Walls that are nearer to each other through air than through the material.
        Spec::HollowBall { outer: 5.0, inner: 0.2 },
        Spec::Channel { a: 6.0, wall: 5.8, h: 30.0 },
        Spec::HollowCan { r: 5.0, h: 9.0, wall: 0.4 },
        Spec::HollowBox { x: 9.0, y: 8.0, z: 7.0, wall: 0.3 },
        Spec::BallInBox { a: 5.0, r: 4.0 },
        Spec::Drilled { a: 5.0, h: 20.0, r: 3.0 },
        Spec::Drilled { a: 5.0, h: 1.0, r: 3.0 },
        Spec::Blind { a: 5.0, h: 20.0, r: 3.0, floor: 1.5 },
        Spec::Plate { pitch: 4.0, r: 1.5, h: 3.0, columns: 4, rows: 3 },
        Spec::LPrism { leg: 10.0, t: 1.5, h: 4.0 },
        Spec::Channel { a: 6.0, wall: 0.8, h: 30.0 },
        Spec::Notched { a: 4.0 },
        Spec::Stadium { length: 8.0, r: 1.0, h: 5.0 },
        Spec::Hexagon { r: 2.0, h: 9.0 },
        Spec::Wedge { x: 10.0, y: 0.5, h: 4.0 },
    ];
    for spec in specs {
        let found = part_of(&spec.shape().source, 0.8).body.hierarchy().info.min_thickness;
        check(&format!("{spec:?}"), found, closed_form(&spec));
    }
}

/// Compares shapes given as splines with their canonical versions.
#[test]
fn splines_have_the_thickness_of_their_canonical_shape() {
    for name in ["box", "cylinder", "cone", "sphere", "torus", "shaft"] {
        let thickness = |file: String| part(&data_dir().join(file), 0).body.hierarchy().info.min_thickness;
        check(name, thickness(format!("{name}-nurbs.step")), thickness(format!("{name}.step")));
    }
}
