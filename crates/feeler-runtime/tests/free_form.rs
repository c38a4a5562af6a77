//! Minima of solids with canonical geometry equal those of the same solids with Bézier geometry:
//! iterative solvers against closed forms.

mod common;

use common::{body, query, random_pose, traverse};
use feeler_brep::fixtures;
use feeler_brep::source::SolidSource;
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{Curve, Frame, P2, P3, Pose, Surface};
use feeler_runtime::{Body, Contact, ContactKind, QueryOptions};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

/// Replaces all curved surfaces and circles by rational Bézier geometry.
fn as_bezier(mut source: SolidSource) -> SolidSource {
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

fn assert_same(canonical: &[Contact], free: &[Contact], what: &str) {
    assert_eq!(canonical.len(), free.len(), "{what}\ncanonical {canonical:#?}\nfree {free:#?}");
    for l in canonical {
        let found = free.iter().any(|m| {
            (m.distance - l.distance).abs() < 1e-10
                && (m.point_a - l.point_a).norm() < 1e-6
                && (m.point_b - l.point_b).norm() < 1e-6
                && m.kind == l.kind
        });
        assert!(found, "{what}: {l:#?}\nnot in {free:#?}");
    }
}

#[test]
fn free_forms_agree_with_closed_forms() {
    let sources = [
        ("cylinder", fixtures::cylinder_without_seam(0.7, 1.5)),
        ("ball", fixtures::sphere(0.9)),
        ("torus", fixtures::torus(1.2, 0.4)),
        ("cone", fixtures::cone(0.8, 1.5)),
        ("drilled block", fixtures::block_with_hole(1.2, 0.8, 0.7)),
        ("spool", common::spool(1.5, 1.0, 0.866)),
    ];
    let solids: Vec<(&str, Arc<Body>, Arc<Body>)> =
        sources.into_iter().map(|(n, s)| (n, body(&s), body(&as_bezier(s)))).collect();
    let mut rng = SmallRng::seed_from_u64(17);
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(1.5) };
    let still = Pose::identity();
    let mut total = 0;
    for (i, (name_a, a, free_a)) in solids.iter().enumerate() {
        for (name_b, b, free_b) in &solids[i..] {
            for _ in 0..5 {
                let pose = random_pose(&mut rng, 2.2);
                let what = format!("{name_a} / {name_b} at {pose}");
                let exact = query(a, b, &still, &pose, &options);
                assert!(exact.iter().all(|l| l.kind == ContactKind::Strict), "{what}");
                assert_same(&exact, &traverse(free_a, b, &still, &pose, &options), &format!("free A {what}"));
                assert_same(&exact, &traverse(a, free_b, &still, &pose, &options), &format!("free B {what}"));
                assert_same(
                    &exact,
                    &traverse(free_a, free_b, &still, &pose, &options),
                    &format!("both free {what}"),
                );
                total += exact.len();
            }
        }
    }
    assert!(total > 60, "{total}");
}
