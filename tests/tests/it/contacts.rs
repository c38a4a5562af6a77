//! Contact regions of touching solids, against closed forms.

use feeler_geom::{Pose, V3, math};
use feeler_runtime::{ContactPair, ContactRegion, QueryOptions, RegionKind, Status};
use feeler_tests::membership::Spec;
use feeler_tests::verdicts::Pool;
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::{FRAC_PI_2, PI};

fn moved(x: f64, y: f64, z: f64) -> Pose {
    Pose::from(Translation3::new(x, y, z))
}

fn turned(axis: V3, angle: f64) -> Pose {
    Pose::from_parts(Translation3::identity(), UnitQuaternion::from_scaled_axis(axis * angle))
}

/// Contact regions of two solids, with a common motion of both; checked against those with swapped roles.
fn contacts(a: &Spec, b: &Spec, pose_b: &Pose) -> Vec<ContactRegion> {
    let mut pool = Pool::default();
    let common = Pose::from_parts(
        Translation3::new(3.0, -5.0, 7.0),
        UnitQuaternion::from_scaled_axis(V3::new(0.3, -0.7, 1.1)),
    );
    let (x, y) = (pool.get(a), pool.get(b));
    let (pose_x, pose_y) = (common, common * pose_b);
    let regions = |x: &std::sync::Arc<feeler_runtime::Body>,
                   y: &std::sync::Arc<feeler_runtime::Body>,
                   p: &Pose,
                   q: &Pose| {
        let options = QueryOptions::within(0.1);
        let mut pair = ContactPair::new(x.clone(), y.clone());
        pair.query(p, q, &options).expect("finite poses, options and shapes");
        assert_eq!(pair.status(), Some(Status::Touching), "{a:?} {b:?}");
        pair.contact_regions(p, q, &options).expect("finite poses, options and shapes")
    };
    let found = regions(&x.body, &y.body, &pose_x, &pose_y);
    let swapped = regions(&y.body, &x.body, &pose_y, &pose_x);
    let sums = |list: &[ContactRegion]| {
        list.iter().fold([0.0; 2], |[a, l], c| [a + c.area.unwrap_or(0.0), l + c.length.unwrap_or(0.0)])
    };
    let (one, other) = (sums(&found), sums(&swapped));
    for k in 0..2 {
        assert!((one[k] - other[k]).abs() < 1e-7 * (1.0 + one[k]), "{a:?} {b:?}: {found:?} {swapped:?}");
    }
    found
}

/// Total area or length of the regions of one kind.
fn total(list: &[ContactRegion], kind: RegionKind) -> f64 {
    list.iter().filter(|c| c.kind == kind).map(|c| c.area.or(c.length).unwrap_or(0.0)).sum()
}

#[track_caller]
fn close(found: f64, right: f64, relative: f64) {
    assert!((found - right).abs() <= relative * right, "{found}, not {right}");
}

/// Area of a disc between two parallel lines at `x0` and `x1` from its centre.
fn slice(r: f64, x0: f64, x1: f64) -> f64 {
    let upto = |x: f64| {
        let x = x.clamp(-r, r);
        x * (r * r - x * x).sqrt() + r * r * math::asin(x / r)
    };
    upto(x1) - upto(x0)
}

#[test]
fn plates() {
    let plate = Spec::Block { x: 4.0, y: 3.0, z: 1.0 };
    // Overlap of 2.5 × 1.2, then a square of 2 rotated by 45° in the middle of 4 × 3.
    let list = contacts(&plate, &plate, &moved(1.5, 1.8, 1.0));
    close(total(&list, RegionKind::Plane), 2.5 * 1.2, 1e-9);
    let square = Spec::Block { x: 2.0, y: 2.0, z: 1.0 };
    let list = contacts(&plate, &square, &(moved(0.0, 0.0, 1.0) * turned(V3::z(), PI / 4.0)));
    close(total(&list, RegionKind::Plane), 4.0, 1e-9);
    let list = contacts(&plate, &square, &(moved(1.2, 0.0, 1.0) * turned(V3::z(), PI / 4.0)));
    // The corner beyond x = 2 is a right angle of height √2 + 1.2 - 2.
    close(total(&list, RegionKind::Plane), 4.0 - math::powi(2.0_f64.sqrt() - 0.8, 2), 1e-9);
    // A round foot on the edge of a plate, upright and upside down.
    let foot = Spec::Cylinder { r: 1.0, h: 2.0 };
    let list = contacts(&plate, &foot, &moved(1.7, 0.0, 1.0));
    close(total(&list, RegionKind::Plane), slice(1.0, -1.0, 0.3), 1e-8);
    let list = contacts(&plate, &foot, &(moved(1.7, 0.0, 0.0) * turned(V3::x(), PI)));
    close(total(&list, RegionKind::Plane), slice(1.0, -1.0, 0.3), 1e-8);
    // A plate on a plate with holes.
    let drilled = Spec::Drilled { a: 6.0, h: 1.0, r: 1.0 };
    let list = contacts(&drilled, &plate, &moved(0.0, 0.0, 1.0));
    close(total(&list, RegionKind::Plane), 12.0 - PI, 1e-8);
}

#[test]
fn bores_and_seats() {
    // A pin that fills its bore to half its height, also upside down.
    let drilled = Spec::Drilled { a: 6.0, h: 2.0, r: 1.0 };
    for spec in [
        Spec::Cylinder { r: 1.0, h: 3.0 },
        Spec::CylinderWithSeam { r: 1.0, h: 3.0 },
        Spec::CylinderHalves { r: 1.0, h: 3.0 },
    ] {
        let list = contacts(&drilled, &spec, &(moved(0.0, 0.0, 0.7) * turned(V3::z(), 0.4)));
        close(total(&list, RegionKind::Cylinder), 2.0 * PI * 1.3, 1e-8);
        let list = contacts(&drilled, &spec, &(moved(0.0, 0.0, 1.3) * turned(V3::x(), PI)));
        close(total(&list, RegionKind::Cylinder), 2.0 * PI * 1.3, 1e-8);
    }
    // A stub in a countersink: only the cone.
    let seat = Spec::Countersunk { outer: 4.0, inner: 1.0, h: 2.0 };
    let list = contacts(&seat, &Spec::Frustum { low: 1.0, high: 2.5, h: 1.0 }, &moved(0.0, 0.0, 1.0));
    close(total(&list, RegionKind::Cone), PI * 3.5 * 3.25_f64.sqrt(), 1e-8);
    let lower = Spec::Frustum { low: 1.0, high: 1.75, h: 0.5 };
    let list = contacts(&seat, &lower, &(moved(0.0, 0.0, 1.0) * turned(V3::z(), 1.0)));
    close(total(&list, RegionKind::Cone), PI * 2.75 * 0.8125_f64.sqrt(), 1e-8);
}

#[test]
fn balls() {
    // A ball in a hollow ball of the same radius: the whole sphere.
    let hollow = Spec::HollowBall { outer: 3.0, inner: 2.0 };
    let list = contacts(&hollow, &Spec::Ball { r: 2.0 }, &turned(V3::new(0.3, 0.2, 0.1), 1.0));
    close(total(&list, RegionKind::Sphere), 16.0 * PI, 1e-9);
    let list = contacts(&hollow, &Spec::HalfBall { r: 2.0 }, &turned(V3::x(), 1.0));
    close(total(&list, RegionKind::Sphere), 8.0 * PI, 1e-7);
    // A ball on a plate: a point. In a bore of its radius: a circle. A cylinder on a plate: a line.
    let plate = Spec::Block { x: 4.0, y: 3.0, z: 1.0 };
    let list = contacts(&plate, &Spec::Ball { r: 2.0 }, &moved(0.5, 0.25, 3.0));
    assert_eq!(list.len(), 1);
    assert_eq!((list[0].kind, list[0].area, list[0].length), (RegionKind::Point, None, None));
    let drilled = Spec::Drilled { a: 6.0, h: 2.0, r: 1.0 };
    let list = contacts(&drilled, &Spec::Ball { r: 1.0 }, &moved(0.0, 0.0, 1.0));
    close(total(&list, RegionKind::Line), 2.0 * PI, 1e-9);
    let lying = moved(0.5, 1.0, 2.0) * turned(V3::x(), FRAC_PI_2);
    let list = contacts(&plate, &Spec::Cylinder { r: 1.0, h: 5.0 }, &lying);
    assert_eq!(list.len(), 1, "{list:?}");
    // From y = 1 to the plate's edge at -1.5.
    close(total(&list, RegionKind::Line), 2.5, 1e-8);
    // A ring on a plate: a circle.
    let list = contacts(&plate, &Spec::Torus { major: 1.0, minor: 0.25 }, &moved(0.0, 0.0, 1.25));
    close(total(&list, RegionKind::Line), 2.0 * PI, 1e-9);
    // A box's edge on a plate.
    let list = contacts(
        &plate,
        &Spec::Block { x: 1.0, y: 1.0, z: 1.0 },
        &(moved(1.75, 0.0, 1.0) * turned(V3::y(), -PI / 4.0) * moved(0.5, 0.0, 0.0)),
    );
    close(total(&list, RegionKind::Line), 1.0, 1e-8);
}

/// The point of a pin in the tip of a conical hole touches it there, in any common pose and in both orders.
/// At the tip, the circle of footpoints of a vertex on the axis of a cone is a point.
#[test]
fn a_point_touches_the_tip_of_its_hole() {
    let [hole, pin] = ["touching/drilled", "touching/point"].map(feeler_tests::model);
    for (k, offset) in
        [[0.0; 3], [0.0, 0.0, 1e-9], [1e-12, 0.0, 0.0], [0.0, 0.0, -1e-7]].into_iter().enumerate()
    {
        let world = feeler_tests::random_pose(k as u64, &Pose::identity(), 20.0, 3.0);
        let tip = moved(offset[0], offset[1], offset[2]) * turned(V3::z(), 0.3 * k as f64);
        for world in [Pose::identity(), world] {
            for penetration in [0.0, 0.1] {
                let options = QueryOptions { penetration, ..QueryOptions::within(0.1) };
                let (first, second) = (world, world * tip);
                for pair in [
                    feeler_tests::query(&hole, &pin, &first, &second, &options),
                    feeler_tests::query(&pin, &hole, &second, &first, &options),
                ] {
                    assert_eq!(pair.status(), Some(Status::Touching), "{offset:?}");
                    let nearest =
                        pair.contacts().iter().map(|c| c.distance.abs()).fold(f64::INFINITY, f64::min);
                    assert!(nearest <= 2e-7, "{offset:?}: {nearest}");
                }
            }
        }
    }
}
