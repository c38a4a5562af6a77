use super::*;
use crate::expansion::normal;
use crate::{Ball, Capsule, Cuboid, Ellipsoid, Moved, PointSet, Polytope, Segment};
use feeler_geom::Pose;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn vector(rng: &mut SmallRng) -> V3 {
    V3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// Checks that moving B by the depth along the direction makes the shapes touch, and that no shorter
/// translation in many other directions does.
fn check<A: Support, B: Support>(a: &A, b: &B, tol: f64) -> Penetration {
    let found = penetration(a, b, &PenetrationRequest::default());
    assert_eq!(found.outcome, PenetrationOutcome::Found, "{found:?}");
    let height = |u: &V3| {
        let along = a.support(u).point.coords.dot(u) - b.support(&-u).point.coords.dot(u);
        along + a.radius() + b.radius()
    };
    let u = found.direction;
    assert!((u.norm() - 1.0).abs() < 1e-14, "the direction must be a unit vector");
    assert!((height(&u) - found.depth).abs() < tol, "{} {}", height(&u), found.depth);
    assert!(found.lower_bound <= found.depth, "bounds");
    let witness = found.point_a - found.point_b;
    assert!(
        (witness - u * found.depth).norm() < tol.max(1e-7).sqrt() * 0.1,
        "{witness:?} {u:?} {}",
        found.depth
    );
    let mut rng = SmallRng::seed_from_u64(61);
    for i in 0..400 {
        // Directions everywhere and near the result.
        let v = if i % 2 == 0 { vector(&mut rng) } else { u + vector(&mut rng) * 1e-3 };
        let v = v.normalize();
        assert!(height(&v) >= found.depth - tol, "{v:?}: {} < {}", height(&v), found.depth);
    }
    found
}

#[test]
fn boxes_and_balls_in_closed_form() {
    let (a, b) = (Cuboid::new(V3::new(1.0, 2.0, 3.0)).unwrap(), Cuboid::new(V3::new(0.5, 0.5, 0.5)).unwrap());
    let moved = Moved::new(b, &Pose::translation(1.25, 0.25, -0.5)).unwrap();
    let found = check(&a, &moved, 1e-13);
    assert!((found.depth - 0.25).abs() < 1e-14 && (found.direction - V3::x()).norm() < 1e-14, "{found:?}");
    let (p, q) = (P3::new(0.0, 0.0, 0.0), P3::new(0.3, 0.0, 0.4));
    let found = check(&Ball::new(p, 1.0).unwrap(), &Ball::new(q, 0.75).unwrap(), 1e-14);
    assert!((found.depth - 1.25).abs() < 1e-15, "{found:?}");
    // A common centre: every direction is valid.
    let found = check(&Ball::new(p, 1.0).unwrap(), &Ball::new(p, 0.75).unwrap(), 1e-14);
    assert!((found.depth - 1.75).abs() < 1e-15, "{found:?}");
    // Intersecting axes: the direction is orthogonal to both.
    let capsule = |e: V3| Capsule::new([P3::from(-e), P3::from(e)], 0.25).unwrap();
    let found = check(&capsule(V3::x()), &capsule(V3::y()), 1e-14);
    assert!((found.depth - 0.5).abs() < 1e-15 && (found.direction.z.abs() - 1.0).abs() < 1e-15, "{found:?}");
    let far = Ball::new(P3::new(5.0, 0.0, 0.0), 1.0).unwrap();
    let apart = penetration(&Ball::new(p, 1.0).unwrap(), &far, &PenetrationRequest::default());
    assert!(apart.outcome == PenetrationOutcome::Separated && apart.depth == 0.0, "{apart:?}");
}

#[test]
fn polytopes_against_all_facets_of_their_difference() {
    let mut rng = SmallRng::seed_from_u64(62);
    let mut deep = 0;
    for round in 0..150 {
        let n = [4, 6, 12][round % 3];
        let cloud = |rng: &mut SmallRng, shift: V3| -> Vec<P3> {
            (0..n)
                .map(|_| {
                    let v = vector(rng);
                    P3::from(shift + if round % 2 == 0 { v } else { v.map(|c| (2.0 * c).round()) })
                })
                .collect()
        };
        let p = cloud(&mut rng, V3::zeros());
        let shift = vector(&mut rng);
        let q = cloud(&mut rng, shift);
        let difference: Vec<P3> = p.iter().flat_map(|a| q.iter().map(move |b| P3::from(b - a))).collect();
        let Ok(hull) = Polytope::new(&difference) else { continue };
        let depth = hull
            .facets()
            .iter()
            .map(|f| {
                let [a, b, c] = f.map(|i| difference[i as usize].coords);
                // Normals are computed at the widest corner, because facets may have nearly collinear
                // corners.
                normal(&a, &b, &c).map_or(f64::INFINITY, |n| n.dot(&a))
            })
            .fold(f64::INFINITY, f64::min);
        if !(depth > 1e-9) || !depth.is_finite() {
            continue;
        }
        deep += 1;
        let (a, b) = (PointSet::new(&p).unwrap(), PointSet::new(&q).unwrap());
        let found = check(&a, &b, 1e-12);
        assert!((found.depth - depth).abs() < 1e-12, "{round}: {} {depth}", found.depth);
        assert!((found.lower_bound - depth).abs() < 1e-5, "{round}: {found:?} {depth}");
    }
    assert!(deep > 60, "{deep}");
}

#[test]
fn round_shapes_are_found_to_all_digits() {
    let mut rng = SmallRng::seed_from_u64(63);
    for _ in 0..12 {
        let semi = V3::from_fn(|_, _| rng.random_range(0.4..1.6));
        let pose = Pose::new(vector(&mut rng) * 0.8, vector(&mut rng));
        let a = Ellipsoid::new(semi).unwrap();
        let b = Moved::new(Ellipsoid::new(V3::new(1.0, 0.5, 0.7)).unwrap(), &pose).unwrap();
        if distance(&a, &b, &DistanceRequest::default()).outcome == DistanceOutcome::Overlapping {
            check(&a, &b, 1e-6);
        }
    }
    // A ball as an ellipsoid: the depth has a closed form.
    let a = Ellipsoid::new(V3::repeat(1.0)).unwrap();
    let b = Moved::new(a, &Pose::translation(0.6, 0.0, 1.7)).unwrap();
    let found = check(&a, &b, 1e-12);
    let centres = V3::new(0.6, 0.0, 1.7).norm();
    assert!((found.depth - (2.0 - centres)).abs() < 1e-13, "{}", found.depth);
}

#[test]
fn hostile_input() {
    struct NanSupport;
    impl Support for NanSupport {
        fn support(&self, _: &V3) -> SupportPoint {
            SupportPoint::plain(P3::new(f64::NAN, 0.0, 0.0))
        }
    }
    struct Negative;
    impl Support for Negative {
        fn support(&self, _: &V3) -> SupportPoint {
            SupportPoint::plain(P3::origin())
        }
        fn radius(&self) -> f64 {
            -1.0
        }
    }
    let ball = Ball::new(P3::origin(), 2.0).unwrap();
    let cube = Cuboid::new(V3::repeat(1.0)).unwrap();
    let request = PenetrationRequest::default();
    assert_eq!(penetration(&cube, &NanSupport, &request).outcome, PenetrationOutcome::Invalid, "NaN");
    assert_eq!(penetration(&ball, &Negative, &request).outcome, PenetrationOutcome::Invalid, "radius");
    assert_eq!(
        distance(&cube, &NanSupport, &DistanceRequest::default()).outcome,
        DistanceOutcome::Invalid,
        "NaN"
    );
    assert_eq!(
        distance(&ball, &Negative, &DistanceRequest::default()).outcome,
        DistanceOutcome::Invalid,
        "radius"
    );
    // Two coincident points have a depth of zero.
    let point = Ball::new(P3::origin(), 0.0).unwrap();
    let found = penetration(&point, &point, &request);
    assert!(found.outcome == PenetrationOutcome::Found && found.depth == 0.0, "{found:?}");
    // Flat differences: two crossing segments, and a segment along a face.
    let segment = |e: V3| Segment::new([P3::from(-e), P3::from(e)]).unwrap();
    let found = penetration(&segment(V3::x()), &segment(V3::y()), &request);
    assert!(found.outcome == PenetrationOutcome::Found && found.depth < 1e-15, "{found:?}");
    let found = penetration(&cube, &segment(V3::x() * 0.5), &request);
    assert!(found.outcome == PenetrationOutcome::Found && (found.depth - 1.0).abs() < 1e-15, "{found:?}");
    let no_steps = PenetrationRequest { max_iterations: 0, ..request };
    assert_eq!(
        penetration(&cube, &Moved::new(cube, &Pose::translation(0.3, 0.2, 0.1)).unwrap(), &no_steps).outcome,
        PenetrationOutcome::Stalled,
        "without steps"
    );
}
