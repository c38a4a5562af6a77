//! Solids and checks that several test files share.

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures::SourceBuilder;
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{Curve, Frame, P2, P3, Pose, Surface, V3};
use feeler_hierarchy::Options;
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryOptions};
use nalgebra::{Translation3, UnitQuaternion};
use rand::Rng as _;
use rand::rngs::SmallRng;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

pub(crate) fn body(source: &SolidSource) -> Arc<Body> {
    let solid = build_solid(source, &BuildOptions::default()).expect("a valid solid");
    let hierarchy = feeler_prepare::prepare_solid(&solid, &Options { flatness: 0.5 }).expect("a hierarchy");
    Arc::new(Body::new(hierarchy).expect("a body"))
}

pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// Pose with a translation and a rotation vector in degrees, applied before the translation.
pub(crate) fn turned(x: f64, y: f64, z: f64, rx: f64, ry: f64, rz: f64) -> Pose {
    let r = V3::new(rx.to_radians(), ry.to_radians(), rz.to_radians());
    Pose::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_scaled_axis(r))
}

pub(crate) fn random_rotation(rng: &mut SmallRng) -> UnitQuaternion<f64> {
    let axis = V3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
    UnitQuaternion::from_scaled_axis(axis * 3.0)
}

pub(crate) fn random_pose(rng: &mut SmallRng, reach: f64) -> Pose {
    let mut x = || rng.random_range(-reach..reach);
    let t = Translation3::new(x(), x(), x());
    Pose::from_parts(t, random_rotation(rng))
}

/// Queries two bodies by traversal and by brute force, asserts that the results are equal, and returns
/// the contacts.
pub(crate) fn query(
    a: &Arc<Body>,
    b: &Arc<Body>,
    pose_a: &Pose,
    pose_b: &Pose,
    options: &QueryOptions,
) -> Vec<Contact> {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let slow = options.brute_force();
    let expected = pair.query(pose_a, pose_b, &slow).expect("finite poses and options").to_vec();
    let found = pair.query(pose_a, pose_b, options).expect("finite poses and options").to_vec();
    assert_eq!(found.len(), expected.len(), "traversal {found:#?}\nbrute force {expected:#?}");
    for (f, e) in found.iter().zip(&expected) {
        if f.kind != ContactKind::Conformal {
            assert!((f.point_a - e.point_a).norm() < 1e-6, "{f:?} {e:?}");
            assert!((f.point_b - e.point_b).norm() < 1e-6, "{f:?} {e:?}");
        }
    }
    check_contracts(&found, options);
    found
}

/// Queries two bodies by traversal only and returns the contacts.
pub(crate) fn traverse(
    a: &Arc<Body>,
    b: &Arc<Body>,
    pose_a: &Pose,
    pose_b: &Pose,
    options: &QueryOptions,
) -> Vec<Contact> {
    let found = ContactPair::new(a.clone(), b.clone())
        .query(pose_a, pose_b, options)
        .expect("finite poses and options")
        .to_vec();
    check_contracts(&found, options);
    found
}

/// Checks the properties that each contact has by itself, and that contacts are sorted.
pub(crate) fn check_contracts(contacts: &[Contact], options: &QueryOptions) {
    for l in contacts {
        assert!((l.normal.norm() - 1.0).abs() < 1e-12, "unit normal {l:?}");
        assert!(
            (l.point_b - l.point_a - l.normal * l.distance).norm() < 1e-9 * (1.0 + l.point_a.coords.norm()),
            "{l:?}"
        );
        assert!(l.distance <= options.d_max, "{l:?}");
        assert!((l.gap - (l.distance - options.dilation_a - options.dilation_b)).abs() < 1e-15, "{l:?}");
    }
    assert!(contacts.windows(2).all(|w| w[0].distance <= w[1].distance), "sorted");
}

/// A spool: a concave torus (tube radius `minor`, ring radius `major`) around z, cut off at `± cut`.
pub(crate) fn spool(major: f64, minor: f64, cut: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let r = major - (minor * minor - cut * cut).sqrt();
    let level = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
    let (low, high) = (b.vertex(r, 0.0, -cut), b.vertex(r, 0.0, cut));
    let bottom = b.circle(level(-cut), r, low);
    let top = b.circle(level(cut), r, high);
    let forward = |e: u32| LoopSource::Edges(vec![(e, true)]);
    let backward = |e: u32| LoopSource::Edges(vec![(e, false)]);
    let neck = Surface::Torus { frame: level(0.0), major, minor };
    b.face(neck, false, vec![forward(bottom), backward(top)]);
    b.face(Surface::Plane { frame: level(-cut) }, false, vec![backward(bottom)]);
    b.face(Surface::Plane { frame: level(cut) }, true, vec![forward(top)]);
    b.finish("spool")
}

/// Replaces all curved surfaces and circles by rational Bézier geometry.
pub(crate) fn as_bezier(mut source: SolidSource) -> SolidSource {
    let points: Vec<P3> = source.vertices.iter().map(|v| v.point).collect();
    for face in &mut source.faces {
        let range = |frame: &Frame| {
            let z = points.iter().map(|p| frame.local(p).z);
            let (lo, hi) = z.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), z| (l.min(z), h.max(z)));
            (lo, hi)
        };
        // Profiles in the half-plane x > 0, as a frame whose y is the axis.
        let (frame, profile) = match &face.surface {
            Surface::Cylinder { frame, radius } => {
                let (lo, hi) = range(frame);
                (
                    *frame,
                    BezierSpline::segment(
                        &frame.point(*radius, 0.0, lo),
                        &frame.point(*radius, 0.0, hi),
                        lo,
                        hi,
                    ),
                )
            }
            Surface::Cone { frame, half_angle } => {
                let (_, hi) = range(frame);
                let tan = feeler_geom::math::tan(*half_angle);
                (*frame, BezierSpline::segment(&frame.origin, &frame.point(hi * tan, 0.0, hi), 0.0, hi))
            }
            Surface::Sphere { frame, radius } => {
                let upright = Frame { y: frame.z, z: -frame.y, ..*frame };
                (*frame, BezierSpline::arc(&upright, *radius, *radius, -FRAC_PI_2, FRAC_PI_2))
            }
            Surface::Torus { frame, major, minor } => {
                let upright =
                    Frame { origin: frame.point(*major, 0.0, 0.0), y: frame.z, z: -frame.y, ..*frame };
                (*frame, BezierSpline::arc(&upright, *minor, *minor, 0.0, TAU))
            }
            _ => continue,
        };
        let bezier = Surface::Bezier(BezierSurface::revolution(&profile, &frame.origin, &frame.z, 0.0, TAU));
        // The normals of both surfaces can be opposite.
        let uv = P2::new(0.3, {
            let d = bezier.natural_domain();
            0.3 * d.v0 + 0.7 * d.v1
        });
        let p = bezier.point(uv);
        let same = bezier.normal(uv).dot(&face.surface.normal(face.surface.invert(&p, None, None))) > 0.0;
        face.outward = face.outward == same;
        face.surface = bezier;
    }
    for edge in &mut source.edges {
        if let Curve::Circle { .. } = edge.curve {
            edge.curve = Curve::Bezier(BezierSpline::of_curve(&edge.curve, 0.0, TAU));
        }
    }
    source
}
