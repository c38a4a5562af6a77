//! Free-form solids that nearly touch over large areas, and solids that penetrate each other by at most
//! two tolerances, keep their minima. The reference does not use splines: distances of ellipsoids are
//! minimised by their implicit equations.

use crate::common::{body, random_rotation};
use feeler_brep::fixtures;
use feeler_brep::source::SolidSource;
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::frame::complete_basis;
use feeler_geom::{Curve, Frame, P2, P3, Pose, Surface, V3, math};
use feeler_runtime::{Body, Contact, ContactPair, PointQuery, QueryOptions, Status};
use nalgebra::{Matrix3, Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

/// An ellipsoid about the origin as an exact rational Bézier surface.
fn grid(half: &V3) -> BezierSurface {
    let upright = Frame { origin: P3::origin(), x: V3::x(), y: V3::z(), z: -V3::y() };
    let profile = BezierSpline::arc(&upright, 1.0, 1.0, -FRAC_PI_2, FRAC_PI_2);
    let mut grid = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
    for h in &mut grid.control {
        (h.x, h.y, h.z) = (h.x * half.x, h.y * half.y, h.z * half.z);
    }
    grid
}

/// Replaces the spherical faces of a solid by ellipsoids with the given semi-axes.
fn with_ellipsoids(mut source: SolidSource, halves: &[V3]) -> Arc<Body> {
    for (face, half) in source.faces.iter_mut().zip(halves) {
        let surface = Surface::Bezier(grid(half));
        let uv = P2::new(0.4, 0.3);
        let away = surface.normal(uv).dot(&surface.point(uv).coords) > 0.0;
        face.outward = face.outward == away;
        face.surface = surface;
    }
    body(&source)
}

/// Distance (mm) of a point from the boundary of an ellipsoid, positive inside and negative outside.
fn depth(half: &V3, p: &P3) -> f64 {
    let sq = half.component_mul(half);
    let level = |t: f64| V3::from_fn(|i, _| half[i] * p[i] / (t + sq[i])).norm_squared() - 1.0;
    let (mut lo, mut hi) = (-sq.min(), half.max() * p.coords.norm());
    for _ in 0..200 {
        let t = 0.5 * (lo + hi);
        if level(t) > 0.0 { lo = t } else { hi = t }
    }
    let t = 0.5 * (lo + hi);
    let foot = P3::from(V3::from_fn(|i, _| sq[i] * p[i] / (t + sq[i])));
    (foot - p).norm() * if t > 0.0 { -1.0 } else { 1.0 }
}

/// Smallest gap between a posed ellipsoid and the cavity around it, by a search on a grid that is refined
/// at its six lowest points.
fn smallest_gap(cavity: &V3, ball: &V3, pose: &Pose) -> f64 {
    let gap = |u: &V3| depth(cavity, &(pose * P3::from(ball.component_mul(u))));
    let mut samples: Vec<(f64, V3)> = (0..48)
        .flat_map(|i| (0..24).map(move |j| (PI / 24.0 * f64::from(i), PI / 24.0 * (f64::from(j) + 0.5))))
        .map(|(u, v)| V3::new(math::cos(u) * math::sin(v), math::sin(u) * math::sin(v), math::cos(v)))
        .map(|u| (gap(&u), u))
        .collect();
    samples.sort_by(|x, y| x.0.total_cmp(&y.0));
    let refined = samples.iter().take(6).map(|&(mut least, mut u)| {
        let mut step = 0.1;
        while step > 1e-8 {
            let (s, t) = complete_basis(&u);
            let around = (0..8)
                .map(|k| PI / 4.0 * f64::from(k))
                .map(|a| (u + (s * math::cos(a) + t * math::sin(a)) * step).normalize());
            let best = around.map(|w| (gap(&w), w)).min_by(|x, y| x.0.total_cmp(&y.0)).expect("eight");
            if best.0 < least { (least, u) = best } else { step *= 0.5 }
        }
        least
    });
    refined.fold(f64::INFINITY, f64::min)
}

#[test]
fn ellipsoids_in_their_sockets() {
    let mut rng = SmallRng::seed_from_u64(41);
    let mut lost = Vec::new();
    let mut n = 0;
    for case in 0..10 {
        let ball = V3::from_fn(|_, _| rng.random_range(5.0..12.0));
        let cavity = ball.add_scalar(rng.random_range(0.02..0.2));
        let (a, b) = (
            with_ellipsoids(fixtures::hollow_sphere(20.0, 10.0), &[V3::repeat(20.0), cavity]),
            with_ellipsoids(fixtures::sphere(1.0), &[ball]),
        );
        let tol = 1e-7 * a.size().max(b.size());
        // Displacement along an axis or a random direction; seams coincide, are opposite, or are next to
        // each other.
        let dir =
            if case % 2 == 0 { V3::ith(case / 2 % 3, 1.0) } else { random_rotation(&mut rng) * V3::x() };
        let turn = [0.0, PI, PI + 2e-4][case % 3];
        let turn = UnitQuaternion::from_scaled_axis(V3::z() * turn);
        for target in [2e-3, 1e-4, 0.0, -1.5 * tol] {
            let pose = |s: f64| Pose::from_parts(Translation3::from(dir * s), turn);
            let off = |s: f64| smallest_gap(&cavity, &ball, &pose(s)) - target;
            // The gap is a smooth function of the displacement, so the secant method converges.
            let (mut s, mut t) = (0.0, 0.01);
            let (mut at_s, mut at_t) = (off(s), off(t));
            for _ in 0..12 {
                if at_t.abs() < 1e-11 {
                    break;
                }
                let next = t - at_t * (t - s) / (at_t - at_s);
                (s, at_s, t) = (t, at_t, next);
                at_t = off(t);
            }
            assert!(at_t.abs() < 1e-9, "the pose is found: {at_t}");
            let world = Pose::from_parts(Translation3::new(3.0, -2.0, 1.0), random_rotation(&mut rng));
            let options = QueryOptions { detect_interference: false, ..QueryOptions::within(1.0) };
            for swap in [false, true] {
                let (p, q) = (world, world * pose(t));
                let mut pair = if swap {
                    ContactPair::new(b.clone(), a.clone())
                } else {
                    ContactPair::new(a.clone(), b.clone())
                };
                let found = if swap { pair.query(&q, &p, &options) } else { pair.query(&p, &q, &options) };
                let least = found.expect("finite poses and options").first().map(|l| l.distance);
                n += 1;
                if least.is_none_or(|d| (d - target).abs() > 1e-8) {
                    lost.push(format!("{case}: {least:?} instead of {target:e}, swapped: {swap}"));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} of {n}: {lost:#?}", lost.len());
}

/// A solid pressed into a plane by at most two tolerances has its minimum; a deeper one does not.
#[test]
fn pressed_by_tolerances() {
    let plate = body(&fixtures::block([-10.0; 3], [10.0, 10.0, 0.0]));
    let half = V3::new(2.0, 1.5, 1.0);
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(1.0) };
    for (name, solid, reach) in [
        ("ball", body(&fixtures::sphere(1.0)), 1.0),
        ("ring", body(&fixtures::torus(2.0, 0.5)), 0.5),
        ("block", body(&fixtures::block([-1.0; 3], [1.0; 3])), 1.0),
        ("ellipsoid", with_ellipsoids(fixtures::sphere(1.0), &[half]), 1.0),
    ] {
        let tol = 1e-7 * plate.size().max(solid.size());
        for (depth, is_minimum) in [(0.5, true), (1.5, true), (1.99, true), (2.5, false)] {
            let pose = Pose::translation(0.3, -0.2, reach - depth * tol);
            for swap in [false, true] {
                let still = Pose::identity();
                let found = if swap {
                    ContactPair::new(solid.clone(), plate.clone())
                        .query(&pose, &still, &options)
                        .expect("finite")
                        .to_vec()
                } else {
                    ContactPair::new(plate.clone(), solid.clone())
                        .query(&still, &pose, &options)
                        .expect("finite")
                        .to_vec()
                };
                let is_found = found.iter().any(|l| (l.distance + depth * tol).abs() < 1e-10);
                assert_eq!(
                    is_found, is_minimum,
                    "{name} pressed by {depth} tolerances, swapped: {swap}: {found:#?}"
                );
            }
        }
    }
}

/// Gaps (mm) of a contact from separation through 0 to penetration.
const GAPS: [f64; 17] = [
    1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 0.0, -1e-9, -1e-8, -1e-7, -1e-6, -1e-5, -1e-4, -1e-3,
    -1e-2,
];
/// Value (mm) of `penetration` in the queries.
const MAX_DEPTH: f64 = 0.02;

/// A point of a convex solid and a direction in its polar there.
fn support(kind: usize, rng: &mut SmallRng) -> (P3, V3) {
    let within = |rng: &mut SmallRng| rng.random_range(-0.8..0.8);
    let out = |rng: &mut SmallRng| rng.random_range(0.3..1.0);
    let (p, n) = match kind {
        // A face, an edge and a vertex of a block, the rim and the lateral face of a cylinder.
        0 => (P3::new(1.0, within(rng), within(rng)), V3::x()),
        1 => (P3::new(1.0, within(rng), 1.0), V3::new(out(rng), 0.0, out(rng))),
        2 => (P3::new(1.0, 1.0, 1.0), V3::new(out(rng), out(rng), out(rng))),
        _ => {
            let (sin, cos) = math::sin_cos(rng.random_range(-PI..PI));
            let radial = V3::new(cos, sin, 0.0);
            let lift = if kind == 3 { out(rng) } else { 0.0 };
            let z = if kind == 3 { 1.0 } else { rng.random_range(0.2..0.8) };
            (P3::from(radial + V3::z() * z), radial * out(rng) + V3::z() * lift)
        }
    };
    (p, n.normalize())
}

/// A pair after a query of two bodies, the second one at the given pose; `swap` exchanges the roles of A
/// and B.
fn queried([a, b]: [&Arc<Body>; 2], pose_b: &Pose, swap: bool, options: &QueryOptions) -> ContactPair {
    let still = Pose::identity();
    let ([a, b], [pose_a, pose_b]) =
        if swap { ([b, a], [pose_b, &still]) } else { ([a, b], [&still, pose_b]) };
    let mut pair = ContactPair::new(a.clone(), b.clone());
    pair.query(pose_a, pose_b, options).expect("finite poses");
    pair
}

/// Contact of an ellipsoid, whose face is a spline, with a face, an edge, a vertex, a rim or a lateral
/// face, from a gap of 0.01 mm to a depth of 0.01 mm. Both solids are convex, so the distance equals the
/// gap. Every kind of query in both orders finds the contact, and the verdict is consistent with the gap.
#[test]
fn contacts_exist_at_all_gaps() {
    let mut rng = SmallRng::seed_from_u64(45);
    let half = V3::new(1.3, 0.8, 2.1);
    let ellipsoid = with_ellipsoids(fixtures::sphere(1.0), &[half]);
    let solids = [body(&fixtures::block([-1.0; 3], [1.0; 3])), body(&fixtures::cylinder(1.0, 1.0))];
    let modes = [
        ("plain", QueryOptions::within(0.1)),
        ("deep", QueryOptions { penetration: MAX_DEPTH, ..QueryOptions::within(0.1) }),
        ("certified", QueryOptions { certified: true, ..QueryOptions::within(0.1) }),
    ];
    for case in 0..60 {
        let kind = case % 5;
        let solid = &solids[usize::from(kind > 2)];
        let (p, n) = support(kind, &mut rng);
        let turn = random_rotation(&mut rng);
        // The ellipsoid's point with the opposite normal.
        let u = turn.inverse_transform_vector(&-n);
        let foot = half.component_mul(&half).component_mul(&u) / half.component_mul(&u).norm();
        for gap in GAPS {
            let pose = Pose::from_parts((p.coords + n * gap - turn * foot).into(), turn);
            for (mode, options) in &modes {
                for swap in [false, true] {
                    let pair = queried([solid, &ellipsoid], &pose, swap, options);
                    let found = pair.contacts();
                    let tol = pair.tolerances().tol;
                    let context = || format!("case {case}, gap {gap:e}, {mode}, swapped {swap}: {found:?}");
                    let status = pair.status().expect("a verdict");
                    if gap > tol {
                        assert_eq!(status, Status::Separated, "{}", context());
                    } else if gap >= -tol {
                        assert_eq!(status, Status::Touching, "{}", context());
                    } else if gap < -20.0 * tol {
                        assert_eq!(status, Status::Interfering, "{}", context());
                    }
                    let is_guaranteed = gap >= -1.9 * tol || *mode == "deep";
                    if is_guaranteed {
                        assert_eq!(found.len(), 1, "{}", context());
                        assert!((found[0].distance - gap).abs() < 1e-12, "{}", context());
                    }
                }
            }
        }
    }
}

/// Edges that touch an ellipsoid, whose face is a spline, near a pole, where all meridians of its patches
/// intersect. The parameters of footpoints vary over a length equal to their distance from the pole. Both
/// solids are convex, so the distance equals the gap.
#[test]
fn edges_touch_beside_poles() {
    let mut rng = SmallRng::seed_from_u64(451);
    let solids = [body(&fixtures::block([-1.0; 3], [1.0; 3])), body(&fixtures::cylinder(1.0, 1.0))];
    let halves = [V3::new(1.3, 0.8, 2.1), V3::new(2.0, 2.0, 0.4), V3::new(1.0, 1.5, 1.2)];
    let ellipsoids = halves.map(|half| with_ellipsoids(fixtures::sphere(1.0), &[half]));
    let mut lost = Vec::new();
    for case in 0..500 {
        let kind = if case % 2 == 0 { 1 } else { 3 };
        let (solid, half, ellipsoid) = (&solids[case % 2], &halves[case % 3], &ellipsoids[case % 3]);
        let (p, n) = support(kind, &mut rng);
        // A point near a pole, and its normal.
        let (sin, cos) = math::sin_cos(rng.random_range(-PI..PI));
        let beside = math::powf(10.0, rng.random_range(-5.0..-0.5));
        let (ring, up) =
            (math::sin(beside), math::cos(beside) * if rng.random_bool(0.5) { 1.0 } else { -1.0 });
        let on_ball = V3::new(cos * ring, sin * ring, up);
        let foot = half.component_mul(&on_ball);
        let outwards = on_ball.component_div(half).normalize();
        let turn = UnitQuaternion::rotation_between(&outwards, &-n).expect("no half turn");
        let turn = UnitQuaternion::from_scaled_axis(n * rng.random_range(-PI..PI)) * turn;
        let gap = [0.0, -1e-9, 1e-8][case / 6 % 3];
        let pose = Pose::from_parts((p.coords + n * gap - turn * foot).into(), turn);
        for swap in [false, true] {
            let pair = queried([solid, ellipsoid], &pose, swap, &QueryOptions::within(0.1));
            let found = pair.contacts();
            let status = pair.status();
            let is_found = found.first().is_some_and(|l| (l.distance - gap).abs() < 1e-12);
            if !is_found || found.len() != 1 || status != Some(Status::Touching) {
                let distances: Vec<f64> = found.iter().map(|l| l.distance).collect();
                lost.push(format!(
                    "case {case}, {beside:e} beside, {gap:e}, swapped {swap}: {status:?} {distances:?}"
                ));
            }
        }
    }
    assert!(lost.is_empty(), "{}: {:#?}", lost.len(), &lost[..lost.len().min(30)]);
}

/// A vertex in front of a convex edge whose faces deviate from it by a stored length: the contact is that
/// of the edge at all gaps, although the footpoints of the vertex on both faces are inside them up to the
/// deviation.
#[test]
fn vertices_in_front_of_edges() {
    let mut rng = SmallRng::seed_from_u64(452);
    let tip = body(&fixtures::block([-1.0; 3], [1.0; 3]));
    for off in [0.0, 1e-7, 3e-6] {
        let mut source = fixtures::block([-1.0; 3], [1.0; 3]);
        // All faces are moved inwards, so the edges are outside them.
        for face in &mut source.faces {
            if let Surface::Plane { frame } = &mut face.surface {
                frame.origin -= frame.z * if face.outward { off } else { -off };
            }
        }
        let block = body(&source);
        for case in 0..200 {
            let angle = rng.random_range(0.2..FRAC_PI_2 - 0.2);
            let n = V3::new(math::cos(angle), 0.0, math::sin(angle));
            let p = P3::new(1.0, rng.random_range(-0.8..0.8), 1.0);
            // The corner (-1, -1, -1) points against n, with a random rotation about n.
            let turn = UnitQuaternion::rotation_between(&V3::repeat(1.0), &n).expect("no half turn");
            let turn = UnitQuaternion::from_scaled_axis(n * rng.random_range(-PI..PI)) * turn;
            let gap = math::powf(10.0, rng.random_range(-9.0..-2.0));
            let pose = Pose::from_parts((p.coords + n * gap - turn * V3::repeat(-1.0)).into(), turn);
            for swap in [false, true] {
                let mut pair = if swap {
                    ContactPair::new(tip.clone(), block.clone())
                } else {
                    ContactPair::new(block.clone(), tip.clone())
                };
                let still = Pose::identity();
                let (pose_a, pose_b) = if swap { (&pose, &still) } else { (&still, &pose) };
                let found = pair.query(pose_a, pose_b, &QueryOptions::within(0.1)).expect("finite").to_vec();
                let tol = pair.tolerances();
                let context = || format!("off {off:e}, case {case}, gap {gap:e}, swapped {swap}: {found:#?}");
                assert_eq!(found.len(), 1, "{}", context());
                assert!((found[0].distance - gap).abs() <= tol.trim, "{}", context());
                let expected = if gap <= tol.tol { Status::Touching } else { Status::Separated };
                assert_eq!(pair.status(), Some(expected), "{}", context());
            }
        }
    }
}

/// Points five micrometres inside and outside a solid of revolution with a cubic profile, near its poles,
/// where patches are degenerate.
#[test]
fn points_beside_poles_are_on_their_side() {
    let pieces = [
        [(0.0, -3.67), (3.4, -3.67), (4.6, -2.2), (3.8, -0.5)],
        [(3.8, -0.5), (3.0, 1.2), (2.8, 3.67), (0.0, 3.67)],
    ];
    let control = pieces.iter().flatten().map(|(r, z)| homogeneous(&P3::new(*r, 0.0, *z), 1.0)).collect();
    let profile = BezierSpline { degree: 3, breaks: vec![0.0, 1.0, 2.0], control, periodic: false };
    let surface = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
    let mut source = fixtures::sphere(1.0);
    source.faces[0].surface = Surface::Bezier(surface);
    let away = source.faces[0].surface.normal(P2::new(0.4, 0.3)).dot(&V3::new(0.1, 0.0, -1.0)) > 0.0;
    source.faces[0].outward = away;
    let solid = body(&source);
    let profile = Curve::Bezier(profile);
    let mut rng = SmallRng::seed_from_u64(45);
    let mut query = PointQuery::new();
    let (mut wrong, mut open) = (Vec::new(), 0);
    for _ in 0..POINTS {
        let from_pole = math::powf(10.0, rng.random_range(-2.5..-1.0));
        let s = if rng.random_bool(0.5) { from_pole } else { 2.0 - from_pole };
        let (point, tangent) = (profile.point(s), profile.tangent(s).expect("regular"));
        let inside = rng.random_bool(0.5);
        let outwards = V3::new(tangent.z, 0.0, -tangent.x) * if inside { -5e-3 } else { 5e-3 };
        let turn = UnitQuaternion::from_scaled_axis(V3::z() * rng.random_range(0.0..TAU));
        let p = turn * (point + outwards);
        match query.contains(&solid, &p, 5e-8).expect("a finite point") {
            Some(found) if found != inside => wrong.push((s, p, inside)),
            Some(_) => {}
            None => open += 1,
        }
    }
    assert!(wrong.is_empty(), "{}: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
    assert!(open <= POINTS / 100, "{open} points are undecided");
}

/// Number of random points that a test classifies.
const POINTS: usize = 250_000;

/// The verdict computed after a query equals that of a query with a verdict, at random poses from a gap
/// of 0.01 mm to a depth of 0.01 mm, for canonical and free-form solids.
#[test]
fn verdicts_on_demand_are_those_of_queries() {
    let half = V3::new(2.0, 1.5, 1.0);
    let plate = body(&fixtures::block([-10.0; 3], [10.0, 10.0, 0.0]));
    let parts = [
        (body(&fixtures::sphere(1.0)), 1.0),
        (body(&fixtures::torus(2.0, 0.5)), 0.5),
        (body(&fixtures::block([-1.0; 3], [1.0; 3])), 1.0),
        (with_ellipsoids(fixtures::sphere(1.0), &[half]), 1.0),
    ];
    let mut rng = SmallRng::seed_from_u64(47);
    let mut seen = [0; 3];
    for case in 0..400 {
        let (part, reach) = &parts[case % parts.len()];
        let gap =
            math::powf(10.0, rng.random_range(-9.0..-2.0)) * if rng.random_bool(0.5) { 1.0 } else { -1.0 };
        let gap = if case % 5 == 0 { 0.0 } else { gap };
        let pose = Pose::translation(rng.random_range(-5.0..5.0), rng.random_range(-5.0..5.0), reach + gap);
        let world = Pose::from_parts(Translation3::new(3.0, -2.0, 1.0), random_rotation(&mut rng));
        let poses = [world, world * pose];
        let options = QueryOptions { penetration: 0.05, ..QueryOptions::within(0.5) };
        let mut whole = ContactPair::new(plate.clone(), part.clone());
        whole.query(&poses[0], &poses[1], &options).expect("finite poses and options");
        let expected = whole.status().expect("a verdict");
        seen[match expected {
            Status::Separated => 0,
            Status::Touching => 1,
            _ => 2,
        }] += 1;
        for options in [
            QueryOptions { detect_interference: false, ..options },
            QueryOptions { verdict_unless_pressed: true, ..options },
        ] {
            let mut pair = ContactPair::new(plate.clone(), part.clone());
            let minima =
                pair.query(&poses[0], &poses[1], &options).expect("finite poses and options").to_vec();
            let is_pressed = minima.iter().any(|l| l.gap < 0.0);
            assert_eq!(pair.status().is_some(), options.detect_interference && !is_pressed, "{case}");
            let found = pair.decide().expect("a query before").status;
            assert_eq!(found, expected, "{case} at {gap:e}");
            assert_eq!(pair.contacts(), minima, "{case}");
            assert_eq!(pair.status(), Some(expected), "{case}");
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
    assert!(ContactPair::new(plate.clone(), plate).decide().is_none(), "before any query");
}

/// A right cylinder over an ellipse with semi-axes along x and y. Its lateral face is free-form unless
/// they are equal.
fn elliptic_cylinder(semi_x: f64, semi_y: f64, height: f64) -> Arc<Body> {
    let mut source = fixtures::cylinder_without_seam(semi_x, height);
    if semi_x > semi_y {
        let level = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
        for (edge, z) in source.edges.iter_mut().zip([0.0, height]) {
            edge.curve = Curve::Ellipse { frame: level(z), semi_x, semi_y };
        }
        let outline = BezierSpline::arc(&level(0.0), semi_x, semi_y, 0.0, TAU);
        source.faces[0].surface = Surface::Bezier(BezierSurface::extrusion(&outline, &V3::z(), 0.0, height));
    }
    body(&source)
}

/// Edges with parallel tangents at the contact have no unique common normal: a rim next to a straight
/// edge or another rim, at an angle of 45° between their faces.
#[test]
fn edges_along_one_another_touch() {
    let mut rng = SmallRng::seed_from_u64(46);
    let rims = [elliptic_cylinder(2.0, 2.0, 3.0), elliptic_cylinder(2.0, 1.2, 3.0)];
    // The lower edge of each solid passes through the origin along y, with material above it at larger x.
    let others = [
        (body(&fixtures::block([0.0, -1.0, 0.0], [2.0, 1.0, 2.0])), 0.0),
        (elliptic_cylinder(1.5, 1.5, 1.0), 1.5),
        (elliptic_cylinder(1.5, 0.8, 1.0), 1.5),
    ];
    let gaps = [0.0, 1e-9, 1e-8, 1e-7, 1e-5, 1e-3, -1e-9, -1e-8, -1e-7];
    for (i, a) in rims.iter().enumerate() {
        for (j, (b, beyond)) in others.iter().enumerate() {
            for gap in gaps {
                let away = V3::new(1.0, 0.0, 1.0).normalize();
                let point = V3::new(2.0 + beyond, 0.0, 3.0) + away * gap;
                let turn = random_rotation(&mut rng);
                let pose_a = Pose::from_parts(Translation3::new(0.3, -0.2, 0.1), turn);
                let pose_b = pose_a * Translation3::from(point);
                for is_swapped in [false, true] {
                    let ((a, pose_a), (b, pose_b)) = match is_swapped {
                        false => ((a, &pose_a), (b, &pose_b)),
                        true => ((b, &pose_b), (a, &pose_a)),
                    };
                    let mut pair = ContactPair::new(a.clone(), b.clone());
                    let found = pair.query(pose_a, pose_b, &QueryOptions::within(0.01)).unwrap().to_vec();
                    let case = format!("{i} {j} {gap:e} {is_swapped}");
                    let tol = pair.tolerances().tol;
                    // Within the tolerance, the contact can be one of the adjacent faces, at a distance
                    // of gap / √2.
                    let off = if gap.abs() <= tol { 0.3 * gap.abs() } else { 0.0 };
                    let is_contact = |l: &Contact| (l.distance - gap).abs() <= off + 1e-13;
                    assert!(!found.is_empty() && found.iter().all(is_contact), "{case}: {found:?}");
                    let expected = if gap <= tol { Status::Touching } else { Status::Separated };
                    assert_eq!(pair.status(), Some(expected), "{case}, tolerance {tol:e}");
                }
            }
        }
    }
}

/// A barrel about the z axis whose profile leaves its poles, at z = ±0.7, at an angle (rad) to the
/// horizontal.
fn barrel(slope: f64) -> Arc<Body> {
    let control = [[0.0, -0.7], [2.0, -0.7 + 2.0 * slope], [2.0, 0.7 - 2.0 * slope], [0.0, 0.7]];
    let control = control.map(|[r, z]| homogeneous(&P3::new(r, 0.0, z), 1.0)).to_vec();
    let profile = BezierSpline { degree: 3, breaks: vec![0.0, 1.0], control, periodic: false };
    let mut source = fixtures::sphere(1.0);
    let surface = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
    source.faces[0].surface = Surface::Bezier(surface);
    body(&source)
}

/// The pole of a surface of revolution opposite a plane. If the profile leaves the pole at an angle of
/// rounding to the horizontal, the equations of the surface have their minimum next to the pole or beyond
/// it.
#[test]
fn poles_opposite_planes_are_found() {
    let floor = body(&fixtures::block([-3.0, -3.0, -1.0], [3.0, 3.0, 0.0]));
    let mut rng = SmallRng::seed_from_u64(47);
    for slope in [0.0, 1e-10, 1e-9, 5e-9, 2e-8, -1e-9, -5e-9] {
        let ball = barrel(slope);
        for case in 0..60 {
            let mut random = |scale: f64| scale * rng.random_range(-1.0..1.0);
            let tilt = if case % 4 == 0 { 1e-10 * random(1.0) } else { 0.0 };
            let spin = if case % 3 == 0 { FRAC_PI_2 * f64::from(case % 4) } else { random(PI) };
            let upside_down = if case % 2 == 0 { PI } else { 0.0 };
            let axis = V3::new(random(1.0), random(1.0), 0.0).normalize();
            let turn = UnitQuaternion::from_scaled_axis(axis * tilt)
                * UnitQuaternion::from_scaled_axis(V3::x() * upside_down)
                * UnitQuaternion::from_scaled_axis(V3::z() * spin);
            let gap = math::powf(10.0, random(3.0) - 3.0);
            let pose = Pose::from_parts(Translation3::new(random(0.5), random(0.5), 0.7 + gap), turn);
            let mut pair = ContactPair::new(floor.clone(), ball.clone());
            let found = pair.query(&Pose::identity(), &pose, &QueryOptions::within(1.2)).unwrap();
            let is_gap = |l: &Contact| (l.distance - gap).abs() < 1e-12;
            let case = format!("slope {slope:e}, tilt {tilt:e}, gap {gap:e}, turned by {spin}");
            assert!(!found.is_empty() && found.iter().all(is_gap), "{case}: {found:?}");
        }
    }
}

/// An edge of a block on an edge whose faces have a gap, because one of them deviates from it. The
/// overlap of the solids is within the deviation, so they touch, and the verdict reports the point.
/// Solids that are twice as deep interfere.
#[test]
fn borders_that_miss_each_other_touch() {
    let block = fixtures::block([-10.0; 3], [10.0; 3]);
    let upper = body(&block);
    let tol = ContactPair::new(upper.clone(), upper.clone()).tolerances().tol;
    let miss = 30.0 * tol;
    // An edge of the upper block crosses the lower block's edge along y at its middle.
    let turn = UnitQuaternion::from_scaled_axis(V3::y() * (0.25 * PI))
        * UnitQuaternion::from_scaled_axis(V3::x() * (0.25 * PI));
    let outward = V3::new(1.0, 0.0, 1.0) / 2.0_f64.sqrt();
    for (axis, off) in [(V3::z(), miss), (V3::x(), miss), (V3::z(), -miss), (V3::x(), -miss)] {
        let mut source = block.clone();
        for face in &mut source.faces {
            let Surface::Plane { frame } = &mut face.surface else { panic!("a plane") };
            let out = frame.z * if face.outward { 1.0 } else { -1.0 };
            if out.dot(&axis) > 0.5 {
                frame.origin += out * off;
            }
        }
        let lower = body(&source);
        for (gap, expected) in [(0.0, Status::Touching), (-2.0 * miss, Status::Interfering)] {
            let middle = outward * (2.0 * 200.0_f64.sqrt() + gap);
            let pose = Pose::from_parts(Translation3::from(middle), turn);
            let none = Pose::identity();
            for ([a, b], [pose_a, pose_b]) in
                [([&lower, &upper], [none, pose]), ([&upper, &lower], [pose, none])]
            {
                let mut pair = ContactPair::new(a.clone(), b.clone());
                pair.query(&pose_a, &pose_b, &QueryOptions::within(1.0)).unwrap();
                let verdict = pair.verdict().unwrap();
                assert_eq!(verdict.status, expected, "{axis:?} {off} {gap}");
                let is_reported = verdict.widened.iter().any(|x| x.by > 0.9 * miss);
                assert_eq!(
                    is_reported,
                    gap == 0.0 && off > 0.0,
                    "{axis:?} {off} {gap}: {:?}",
                    verdict.widened
                );
            }
        }
    }
}

/// The edge of a wedge of half angle α is pressed into a torus by d. The common part is a lens, which
/// contains a point deeper than the tolerance in both solids if d > tol (1 + 1/sin α). The status does
/// not depend on the order of the solids.
#[test]
fn thin_lenses_have_one_status() {
    let torus = body(&fixtures::torus(6.0, 2.0));
    let mut random = SmallRng::seed_from_u64(24_732);
    let mut statuses = [0; 2];
    for case in 0..400 {
        let slope = random.random_range(0.4..2.0);
        let wedge = body(&fixtures::prism(&[[0.0, 0.0], [8.0, -8.0 * slope], [8.0, 8.0 * slope]], 20.0));
        let tol = ContactPair::new(torus.clone(), wedge.clone()).tolerances().tol;
        let part = random.random_range(0.9..1.2);
        let depth = part * tol * (1.0 + 1.0 / math::sin(math::atan2(slope, 1.0)));
        // The wedge's edge is tangent to the tube at the angle v, rotated by w in the tangent plane.
        let (v, w) = (random.random_range(-1.0..1.0), random.random_range(-PI..PI));
        let n = V3::new(math::cos(v), 0.0, math::sin(v));
        let (s, t) = complete_basis(&n);
        let along = s * math::cos(w) + t * math::sin(w);
        let turn = UnitQuaternion::from_matrix(&Matrix3::from_columns(&[n, along.cross(&n), along]));
        let at = V3::x() * 6.0 + n * (2.0 - depth) - along * 10.0;
        let (none, pose) = (Pose::identity(), Pose::from_parts(Translation3::from(at), turn));
        let expected = if part > 1.0 { Status::Interfering } else { Status::Touching };
        for ([a, b], [pose_a, pose_b]) in [([&torus, &wedge], [none, pose]), ([&wedge, &torus], [pose, none])]
        {
            let mut pair = ContactPair::new(a.clone(), b.clone());
            pair.query(&pose_a, &pose_b, &QueryOptions::within(1.0)).unwrap();
            let is_clear = (part - 1.0).abs() > 0.03;
            assert!(
                !is_clear || pair.status() == Some(expected),
                "{case}: {part}, {slope}, {v}, {w}: {:?}",
                pair.status()
            );
        }
        statuses[usize::from(part > 1.0)] += 1;
    }
    assert!(statuses.iter().all(|n| *n > 100), "{statuses:?}");
}
