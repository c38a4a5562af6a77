use super::*;
use crate::Solid;
use crate::build::{BuildOptions, build_solid};
use std::f64::consts::PI;
use truck_modeling::{InnerSpace as _, builder};

fn built(solid: &truck::Solid) -> Solid {
    let source = solid_source("made", solid).unwrap();
    build_solid(&source, &BuildOptions::default()).unwrap()
}

fn check(what: &str, solid: &truck::Solid, area: f64, volume: f64) -> Solid {
    let s = built(solid);
    assert!((s.area / area - 1.0).abs() < 1e-8, "{what}: area {} is not {area}", s.area);
    assert!((s.volume / volume - 1.0).abs() < 1e-8, "{what}: volume {} is not {volume}", s.volume);
    s
}

fn circle(x: f64, radius: f64) -> truck::Wire {
    let v = builder::vertex(truck::Point3::new(x + radius, 0.0, 0.0));
    builder::rsweep(&v, truck::Point3::new(x, 0.0, 0.0), truck::Vector3::unit_z(), truck::Rad(7.0))
}

fn count_of(s: &Solid, is: impl Fn(&Surface) -> bool) -> usize {
    s.shell.faces.iter().filter(|f| is(&f.surface)).count()
}

#[test]
fn a_box() {
    let v = builder::vertex(truck::Point3::new(1.0, 2.0, 3.0));
    let e = builder::tsweep(&v, truck::Vector3::new(2.0, 0.0, 0.0));
    let f = builder::tsweep(&e, truck::Vector3::new(0.0, 3.0, 0.0));
    let s = check("box", &builder::tsweep(&f, truck::Vector3::new(0.0, 0.0, 4.0)), 52.0, 24.0);
    assert_eq!((s.shell.faces.len(), s.shell.edges.len(), s.shell.vertices.len()), (6, 12, 8));
    assert_eq!(count_of(&s, |f| matches!(f, Surface::Plane { .. })), 6);
}

#[test]
fn a_plate_with_a_hole() {
    let square = {
        let v = builder::vertex(truck::Point3::new(-5.0, -5.0, 0.0));
        let e = builder::tsweep(&v, truck::Vector3::new(10.0, 0.0, 0.0));
        builder::tsweep(&e, truck::Vector3::new(0.0, 10.0, 0.0)).boundaries().pop().unwrap()
    };
    let plate = builder::try_attach_plane(&[square, circle(0.0, 2.0).inverse()]).unwrap();
    let solid = builder::tsweep(&plate, truck::Vector3::new(0.0, 0.0, 3.0));
    let (area, volume) = (2.0 * (100.0 - 4.0 * PI) + 120.0 + 12.0 * PI, 3.0 * (100.0 - 4.0 * PI));
    check("plate", &solid, area, volume);
}

#[test]
fn turned_parts() {
    // A cylinder: sides of a rectangle rotated about z, including the discs.
    let at = |x: f64, z: f64| builder::vertex(truck::Point3::new(x, 0.0, z));
    let profile = |points: &[(f64, f64)]| -> truck::Wire {
        let v: Vec<_> = points.iter().map(|p| at(p.0, p.1)).collect();
        v.windows(2).map(|w| builder::line(&w[0], &w[1])).collect()
    };
    let turned = |points: &[(f64, f64)]| {
        truck::Solid::new(vec![builder::cone(&profile(points), truck::Vector3::unit_z(), truck::Rad(7.0))])
    };
    let s =
        check("cylinder", &turned(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0), (0.0, 4.0)]), 42.0 * PI, 36.0 * PI);
    assert!(count_of(&s, |f| matches!(f, Surface::Cylinder { .. })) >= 1, "no cylinder");
    assert!(s.shell.faces.iter().all(|f| f.surface.is_canonical()), "free-form faces");
    // Cones opening either way, of half-angle 45° (radius 3, height 3).
    let area = PI * 9.0 + PI * 9.0 * 2.0_f64.sqrt();
    let s = check("cone", &turned(&[(0.0, 0.0), (3.0, 0.0), (0.0, 3.0)]), area, 9.0 * PI);
    assert!(count_of(&s, |f| matches!(f, Surface::Cone { .. })) >= 1, "no cone");
    check("cone upside down", &turned(&[(0.0, -3.0), (3.0, 0.0), (0.0, 0.0)]), area, 9.0 * PI);
}

#[test]
fn a_ring() {
    // A circle of radius 1 in the x–z plane, 4 off the axis.
    let v = builder::vertex(truck::Point3::new(5.0, 0.0, 0.0));
    let tube: truck::Wire =
        builder::rsweep(&v, truck::Point3::new(4.0, 0.0, 0.0), truck::Vector3::unit_y(), truck::Rad(7.0));
    let shell =
        builder::rsweep(&tube, truck::Point3::new(0.0, 0.0, 0.0), truck::Vector3::unit_z(), truck::Rad(7.0));
    let s = built(&truck::Solid::new(vec![shell]));
    assert!((s.area / (16.0 * PI * PI) - 1.0).abs() < 1e-8, "area {}", s.area);
    assert!((s.volume / (8.0 * PI * PI) - 1.0).abs() < 1e-8, "volume {}", s.volume);
}

#[test]
fn moved_and_turned_solids() {
    let disc = builder::try_attach_plane(&[circle(6.0, 1.5)]).unwrap();
    let body = builder::tsweep(&disc, truck::Vector3::new(0.0, 0.0, 2.0));
    let axis = truck::Vector3::new(1.0, 1.0, 0.3).normalize();
    let moved = builder::rotated(&body, truck::Point3::new(1.0, 0.0, 0.0), axis, truck::Rad(0.7));
    check("moved", &moved, 2.0 * PI * 2.25 + 6.0 * PI, 4.5 * PI);
}

#[test]
fn intersection_curves_are_refused() {
    let plane = |x, z| truck::Plane::new(truck::Point3::new(0.0, 0.0, 0.0), x, z);
    let a = plane(truck::Point3::new(1.0, 0.0, 0.0), truck::Point3::new(0.0, 1.0, 0.0));
    let b = plane(truck::Point3::new(1.0, 0.0, 0.0), truck::Point3::new(0.0, 0.0, 1.0));
    let polyline =
        truck::PolylineCurve(vec![truck::Point3::new(0.0, 0.0, 0.0), truck::Point3::new(1.0, 0.0, 0.0)]);
    let c = truck::IntersectionCurve::new_unchecked(
        Box::new(a.into()),
        Box::new(b.into()),
        truck::Leader::Polyline(polyline),
        1e-6,
    );
    assert!(curve(&truck::Curve::IntersectionCurve(c)).unwrap_err().contains("intersection"));
}
