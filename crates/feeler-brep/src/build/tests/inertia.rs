//! Tests of volume, centroid and inertia of canonical solids against closed forms, in several poses.

use crate::SolidSource;
use crate::build::{BuildOptions, build_solid};
use crate::fixtures;
use feeler_geom::{P3, Pose, V3, math};
use nalgebra::{Matrix3, Translation3, UnitQuaternion};
use std::f64::consts::PI;

/// Volume, `∫ x dV` and `∫ x xᵀ dV` about the origin, in mm.
#[derive(Clone, Copy)]
struct Moments(f64, V3, Matrix3<f64>);

fn plus(a: Moments, b: Moments, sign: f64) -> Moments {
    Moments(a.0 + sign * b.0, a.1 + b.1 * sign, a.2 + b.2 * sign)
}

/// Moments of a body that is symmetric about the three planes through its centre; `second` contains
/// `∫ x² dV` about these planes.
fn symmetric(volume: f64, center: V3, second: V3) -> Moments {
    let central = Matrix3::from_diagonal(&second);
    Moments(volume, center * volume, central + center * center.transpose() * volume)
}

fn block(min: [f64; 3], max: [f64; 3]) -> Moments {
    let (a, b) = (V3::from(min), V3::from(max));
    let l = b - a;
    let volume = l.x * l.y * l.z;
    symmetric(volume, (a + b) * 0.5, l.component_mul(&l) * (volume / 12.0))
}

fn cylinder(r: f64, h: f64) -> Moments {
    let v = PI * r * r * h;
    symmetric(v, V3::new(0.0, 0.0, 0.5 * h), V3::new(0.25 * r * r, 0.25 * r * r, h * h / 12.0) * v)
}

fn cone(r: f64, h: f64) -> Moments {
    let v = PI * r * r * h / 3.0;
    symmetric(v, V3::new(0.0, 0.0, 0.25 * h), V3::new(0.15 * r * r, 0.15 * r * r, 0.0375 * h * h) * v)
}

fn half_cone(r: f64, h: f64) -> Moments {
    let Moments(v, m, s) = cone(r, h);
    let (y, yz) = (r * r * r * h / 6.0, r * r * r * h * h / 30.0);
    let cross = Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, yz, 0.0, yz, 0.0);
    Moments(0.5 * v, m * 0.5 + V3::new(0.0, y, 0.0), s * 0.5 + cross)
}

fn ball(r: f64) -> Moments {
    let v = 4.0 / 3.0 * PI * r * r * r;
    symmetric(v, V3::zeros(), V3::repeat(0.2 * r * r * v))
}

fn hemisphere(r: f64) -> Moments {
    let Moments(v, _, s) = ball(r);
    Moments(0.5 * v, V3::new(0.0, 0.0, 0.25 * PI * math::powi(r, 4)), s * 0.5)
}

fn wedge(r: f64, angle: f64) -> Moments {
    let (s, c) = math::sin_cos(angle);
    let f = 4.0 / 15.0 * math::powi(r, 5);
    let (xx, yy, xy) = (f * 0.5 * (angle + s * c), f * 0.5 * (angle - s * c), f * 0.5 * s * s);
    let m = V3::new(s, 1.0 - c, 0.0) * (PI * math::powi(r, 4) / 8.0);
    let zz = 2.0 / 15.0 * math::powi(r, 5) * angle;
    Moments(2.0 / 3.0 * math::powi(r, 3) * angle, m, Matrix3::new(xx, xy, 0.0, xy, yy, 0.0, 0.0, 0.0, zz))
}

fn torus(big: f64, r: f64) -> Moments {
    let v = 2.0 * PI * PI * big * r * r;
    let across = v * (0.5 * big * big + 0.375 * r * r);
    symmetric(v, V3::zeros(), V3::new(across, across, 0.25 * v * r * r))
}

fn stadium(l: f64, r: f64, h: f64) -> Moments {
    let area = 2.0 * r * l + PI * r * r;
    let xx = r * math::powi(l, 3) / 6.0
        + 0.25 * PI * r * r * l * l
        + 4.0 / 3.0 * l * math::powi(r, 3)
        + 0.25 * PI * math::powi(r, 4);
    let yy = 2.0 / 3.0 * l * math::powi(r, 3) + 0.25 * PI * math::powi(r, 4);
    symmetric(area * h, V3::new(0.0, 0.0, 0.5 * h), V3::new(h * xx, h * yy, area * math::powi(h, 3) / 12.0))
}

fn moved(source: &SolidSource, pose: &Pose) -> SolidSource {
    let mut out = source.clone();
    out.vertices.iter_mut().for_each(|v| v.point = pose * v.point);
    out.edges.iter_mut().for_each(|e| e.curve = e.curve.transformed(pose));
    out.faces.iter_mut().for_each(|f| f.surface = f.surface.transformed(pose));
    out
}

/// Returns the relative differences of volume, centroid (relative to the size) and inertia.
fn differences(source: &SolidSource, exact: &Moments, pose: &Pose) -> [f64; 3] {
    let solid = build_solid(&moved(source, pose), &BuildOptions::default())
        .unwrap_or_else(|e| panic!("{}: {e}", source.name));
    let got = solid.inertia.expect("it has a volume");
    let Moments(v, m, s) = exact;
    let c = m / *v;
    let central = s - c * c.transpose() * *v;
    let turn = pose.rotation.to_rotation_matrix();
    let tensor = turn * (Matrix3::from_diagonal_element(central.trace()) - central) * turn.transpose();
    let size = solid.bounds.diagonal();
    let off = (got.tensor - tensor).amax() / tensor.amax();
    let d = [(solid.volume / v - 1.0).abs(), (got.centroid - pose * P3::from(c)).norm() / size, off];
    assert!(got.tensor == got.tensor.transpose(), "{}", source.name);
    d
}

#[test]
fn canonical_solids_have_their_closed_forms() {
    let hole = |a: f64, h: f64, r: f64| plus(block([-a, -a, 0.0], [a, a, h]), cylinder(r, h), -1.0);
    let notch = plus(block([0.0; 3], [6.0; 3]), block([3.0; 3], [6.0; 3]), -1.0);
    let hollow = plus(ball(5.0), ball(2.0), -1.0);
    let cases = [
        (fixtures::block([-1.0, 2.0, 3.0], [4.0, 5.0, 11.0]), block([-1.0, 2.0, 3.0], [4.0, 5.0, 11.0])),
        (fixtures::notched_cube(6.0), notch),
        (fixtures::cylinder(2.0, 7.0), cylinder(2.0, 7.0)),
        (fixtures::cylinder_without_seam(2.0, 0.3), cylinder(2.0, 0.3)),
        (fixtures::cylinder_halves(0.5, 7.0), cylinder(0.5, 7.0)),
        (fixtures::cone(3.0, 5.0), cone(3.0, 5.0)),
        (fixtures::cone_with_seam(3.0, 5.0), cone(3.0, 5.0)),
        (fixtures::half_cone(3.0, 5.0), half_cone(3.0, 5.0)),
        (fixtures::sphere(2.5), ball(2.5)),
        (fixtures::sphere_with_seam(2.5), ball(2.5)),
        (fixtures::hemisphere(2.5), hemisphere(2.5)),
        (fixtures::ball_wedge(2.5, 0.7), wedge(2.5, 0.7)),
        (fixtures::ball_wedge(2.5, 4.4), wedge(2.5, 4.4)),
        (fixtures::hollow_sphere(5.0, 2.0), hollow),
        (fixtures::torus(5.0, 1.5), torus(5.0, 1.5)),
        (fixtures::torus_with_seams(5.0, 1.5), torus(5.0, 1.5)),
        (fixtures::block_with_hole(4.0, 3.0, 2.0), hole(4.0, 3.0, 2.0)),
        (fixtures::block_with_hole(4.0, 3.0, 3.9), hole(4.0, 3.0, 3.9)),
        (fixtures::stadium(6.0, 1.5, 2.0), stadium(6.0, 1.5, 2.0)),
    ];
    let turned = UnitQuaternion::from_scaled_axis(V3::new(0.3, -1.1, 0.7));
    let poses = [
        Pose::identity(),
        Pose::from_parts(Translation3::new(40.0, -70.0, 25.0), turned),
        Pose::from_parts(Translation3::new(-8.0, 3.0, 300.0), turned.inverse()),
    ];
    for (source, exact) in &cases {
        for pose in &poses {
            let d = differences(source, exact, pose);
            // Large coordinates have lost digits before anything is computed.
            let far = 1.0 + pose.translation.vector.norm() / 30.0;
            assert!(d.iter().all(|d| *d < 1e-12 * far), "{}: {d:?} at {pose}", source.name);
        }
    }
}

#[test]
fn a_part_far_away_keeps_its_inertia() {
    // With powers of two, the coordinates of the moved block are exact.
    let source = fixtures::block([0.0; 3], [1.0, 2.0, 4.0]);
    let exact = block([0.0; 3], [1.0, 2.0, 4.0]);
    let there = Pose::translation(f64::from(1 << 24), -f64::from(1 << 22), 0.5);
    let d = differences(&source, &exact, &there);
    assert!(d[0] < 1e-13 && d[2] < 1e-13, "{d:?}");
}
