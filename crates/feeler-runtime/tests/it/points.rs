//! Queries of many points, rays and poses, and derivatives of gaps, against closed forms and single queries.

use crate::common::{at, body, turned};
use feeler_brep::fixtures;
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{BatchError, ContactPair, PointQuery, QueryError, QueryOptions};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

fn points(n: usize, seed: u64) -> Vec<P3> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..n).map(|_| P3::from(V3::from_fn(|_, _| rng.random_range(-4.0..4.0)))).collect()
}

#[test]
fn hollow_ball() {
    let hollow = body(&fixtures::hollow_sphere(3.0, 1.5));
    let points = points(3000, 1);
    let distances = hollow.signed_distances(&points).expect("valid");
    let nearest = hollow.nearest_points(&points).expect("valid");
    let inside = hollow.contains_points(&points).expect("valid");
    for (i, p) in points.iter().enumerate() {
        let r = p.coords.norm();
        let expected = (r - 3.0).max(1.5 - r);
        assert!((distances[i] - expected).abs() < 1e-12, "{p}: {} {expected}", distances[i]);
        assert_eq!(inside[i], expected < 0.0, "{p}");
        assert!((nearest[i].foot + nearest[i].normal * distances[i] - p).norm() < 1e-12, "{p}");
    }
    // Four crossings of rays through the void, two beside it, none beside the ball.
    for (height, count) in [(0.0, 4), (1.0, 4), (2.0, 2), (1.5, 2), (3.0, 0), (3.5, 0)] {
        let ray = (P3::new(-5.0, height, 0.0), V3::new(2.0, 0.0, 0.0));
        let found = hollow.ray_intersections(&[ray, ray]).expect("valid");
        assert_eq!(found.offsets, [0, count, 2 * count], "height {height}: {found:?}");
        for (i, hit) in found.intersections[..count].iter().enumerate() {
            assert_eq!(hit.is_entering, i % 2 == 0, "{hit:?}");
            assert!((hit.point - (ray.0 + ray.1 * hit.t)).norm() < 1e-12, "{hit:?}");
        }
    }
}

#[test]
fn errors_state_the_first_item() {
    let ball = body(&fixtures::sphere(2.0));
    let mut points = points(1000, 2);
    points[700].x = f64::NAN;
    points[900].x = f64::INFINITY;
    let error = ball.signed_distances(&points).expect_err("not finite");
    assert_eq!(error, BatchError { item: "point", index: 700, error: QueryError::Point });
    assert!(error.to_string().starts_with("point 700: "), "{error}");
    let rays = [(P3::origin(), V3::x()), (P3::origin(), V3::zeros())];
    let error = ball.ray_intersections(&rays).expect_err("no direction");
    assert_eq!(error, BatchError { item: "ray", index: 1, error: QueryError::Direction });
}

#[test]
fn many_poses_have_the_bits_of_new_pairs() {
    let (a, b) = (body(&fixtures::cylinder(1.0, 4.0)), body(&fixtures::sphere(1.0)));
    let pair = ContactPair::new(Arc::clone(&a), Arc::clone(&b));
    let mut rng = SmallRng::seed_from_u64(3);
    let mut angle = || rng.random_range(-180.0..180.0);
    let posed =
        |p: P3| [at(1.0, 2.0, 3.0), turned(p.x + 1.0, p.y + 2.0, p.z + 3.0, angle(), angle(), angle())];
    let poses: Vec<[Pose; 2]> = points(200, 4).into_iter().map(posed).collect();
    let options = QueryOptions { penetration: 0.1, ..QueryOptions::within(2.0) };
    let found =
        pair.query_poses(&poses, &options, |pair| (pair.contacts().to_vec(), pair.verdict().cloned()));
    let distances = pair.distances(&poses, &options).expect("valid");
    for (([pose_a, pose_b], (contacts, verdict)), distance) in
        poses.iter().zip(found.expect("valid")).zip(distances)
    {
        let mut single = ContactPair::new(Arc::clone(&a), Arc::clone(&b));
        assert_eq!(single.query(pose_a, pose_b, &options).expect("valid"), contacts);
        assert_eq!(single.verdict().map(|v| v.status), verdict.map(|v| v.status), "{contacts:?}");
        let smallest = single.min_distance().unwrap_or(f64::INFINITY);
        let is_expected = |x: &f64| x.total_cmp(&distance).is_eq();
        assert!([smallest, f64::NEG_INFINITY].iter().any(is_expected), "{distance} {smallest}");
    }
    assert!(pair.contacts().is_empty(), "the pair itself was not queried");
}

/// The gap of two balls is the distance of their centres minus both radii.
#[test]
fn derivatives_of_two_balls() {
    let (a, b) = (body(&fixtures::sphere(2.0)), body(&fixtures::sphere(1.0)));
    let mut pair = ContactPair::new(a, b);
    assert!(pair.gap_gradients().is_empty() && pair.gap_hessians().is_empty(), "no query");
    let center = V3::new(2.0, 1.0, 3.0);
    let pose_b = turned(center.x, center.y, center.z, 10.0, 20.0, 30.0);
    pair.query(&Pose::identity(), &pose_b, &QueryOptions::within(2.0)).expect("valid");
    let n = center.normalize();
    let [gradient] = pair.gap_gradients()[..] else { panic!("one contact") };
    let expected = [n.x, n.y, n.z, 0.0, 0.0, 0.0];
    assert!(gradient.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-12), "{gradient:?}");
    let [Some(hessian)] = pair.gap_hessians()[..] else { panic!("one isolated contact") };
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let expected = (f64::from(u8::from(i == j)) - n[i] * n[j]) / center.norm();
        assert!((hessian[(i, j)] - expected).abs() < 1e-12, "{i} {j}: {hessian}");
    }
}

/// Signed distances in a solid inside the outer sheet of a spindle torus agree with the closed form: beside
/// the axis, where the opposite longitude of the tube is nearer to the foot of the normal, and in the cones
/// of points that are nearest to a tip.
#[test]
fn signed_distances_in_apples() {
    let mut r = SmallRng::seed_from_u64(54);
    for (major, minor) in [(1.0, 1.1), (1.0, 2.0), (2.0, 5.0), (3.0, 12.0), (0.1, 10.0)] {
        let apple = body(&fixtures::apple(major, minor));
        let h = f64::sqrt(minor * minor - major * major);
        let mut points = PointQuery::new();
        for k in 0..3000 {
            let spread = minor * math::powf(10.0, r.random_range(-4.0..0.3));
            let center = P3::new(0.0, 0.0, [0.0, h, -h][k % 3]);
            let p = center + V3::from_fn(|_, _| r.random_range(-spread..spread));
            let rho = math::hypot(p.x, p.y);
            // Nearest point of the arc of the tube in the plane of the axis and the point.
            let (x, z) = (rho - major, p.z);
            let on_sheet = major + minor * x / math::hypot(x, z) >= 0.0;
            let to_tip = math::hypot(rho, z.abs() - h);
            let distance = if on_sheet { (math::hypot(x, z) - minor).abs() } else { to_tip };
            let is_inside = math::hypot(x, z) < minor;
            let exact = if is_inside { -distance } else { distance };
            let found = points.signed(&apple, &p).expect("finite").expect("the solid has faces");
            assert!(
                (found.signed_distance - exact).abs() <= 1e-9 * minor,
                "{major}/{minor} at {p}: {} instead of {exact}",
                found.signed_distance
            );
        }
    }
}
