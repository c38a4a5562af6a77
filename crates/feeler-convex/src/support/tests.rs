use super::*;
use feeler_geom::Pose;
use nalgebra::Matrix3;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn vector(rng: &mut SmallRng) -> V3 {
    V3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

fn cloud(rng: &mut SmallRng, n: usize) -> Vec<P3> {
    (0..n).map(|_| P3::from(vector(rng))).collect()
}

/// Checks that the support point along random directions is at least as far as the farthest of dense
/// samples of the surface, and at most `near` farther.
fn against_samples(shape: &dyn Support, samples: &[P3], near: f64) {
    let mut rng = SmallRng::seed_from_u64(51);
    for round in 0..200 {
        let d = match round {
            0..6 => V3::ith(round % 3, if round < 3 { 1.0 } else { -1.0 }),
            _ => vector(&mut rng).normalize(),
        };
        let h = shape.support(&d).point.coords.dot(&d) + shape.radius();
        let best = samples.iter().map(|p| p.coords.dot(&d)).fold(f64::NEG_INFINITY, f64::max);
        assert!(best <= h + 1e-12, "{d:?}: a sample is {} beyond the support point", best - h);
        assert!(h - best <= near, "{d:?}: the support point is {} beyond all samples", h - best);
        let scaled = shape.support(&(d * 1e-200)).point.coords.dot(&d) + shape.radius();
        assert!((scaled - h).abs() < 1e-9, "short directions: {scaled} {h}");
    }
}

/// Returns the points of a surface at a grid of two angles.
fn grid(point: impl Fn(f64, f64) -> P3) -> Vec<P3> {
    let n = 240;
    let angle = |i: i32| f64::from(i) * std::f64::consts::PI / f64::from(n);
    (0..2 * n)
        .flat_map(|i| (-n / 2..=n / 2).map(move |j| (angle(i), angle(j))))
        .map(|(u, v)| point(u, v))
        .collect()
}

#[test]
fn quadrics_against_samples_of_their_surfaces() {
    use feeler_geom::math::{cos, sin};
    let ball = Ball::new(P3::new(0.5, 0.0, 1.0), 2.0).unwrap();
    let on_ball =
        grid(|u, v| P3::new(0.5 + 2.0 * cos(u) * cos(v), 2.0 * sin(u) * cos(v), 1.0 + 2.0 * sin(v)));
    against_samples(&ball, &on_ball, 1e-3);
    let ends = [P3::new(0.0, 0.0, -1.0), P3::new(0.0, 0.0, 1.0)];
    let capsule = Capsule::new(ends, 0.5).unwrap();
    let on_capsule = grid(|u, v| {
        P3::new(0.5 * cos(u) * cos(v), 0.5 * sin(u) * cos(v), 0.5 * sin(v) + if v < 0.0 { -1.0 } else { 1.0 })
    });
    against_samples(&capsule, &on_capsule, 1e-3);
    let ellipsoid = Ellipsoid::new(V3::new(1.0, 2.0, 0.5)).unwrap();
    let on_ellipsoid = grid(|u, v| P3::new(cos(u) * cos(v), 2.0 * sin(u) * cos(v), 0.5 * sin(v)));
    against_samples(&ellipsoid, &on_ellipsoid, 1e-3);
    let rim = |u: f64, r: f64, z: f64| P3::new(r * cos(u), r * sin(u), z);
    let cylinder = Cylinder::new(1.5, 0.7).unwrap();
    against_samples(&cylinder, &grid(|u, v| rim(u, 1.5, if v < 0.0 { -0.7 } else { 0.7 })), 1e-3);
    let cone = Cone::new(1.5, 0.7).unwrap();
    let on_cone = grid(|u, v| if v < 0.0 { rim(u, 1.5, -0.7) } else { rim(u, 0.0, 0.7) });
    against_samples(&cone, &on_cone, 1e-3);
    let cuboid = Cuboid::new(V3::new(1.0, 2.0, 3.0)).unwrap();
    let corners: Vec<P3> = (0..8).map(|i| cuboid.numbered(i).unwrap()).collect();
    against_samples(&cuboid, &corners, 1e-12);
}

#[test]
fn superellipsoids_against_samples_of_their_surfaces() {
    use feeler_geom::math::{cos, powf, sin};
    let power = |x: f64, e: f64| powf(x.abs(), e).copysign(x);
    for e in [[0.4, 1.5], [1.0, 1.0], [1.5, 1.5], [0.2, 0.3], [2.0, 2.0], [1.9, 0.6]] {
        let (plus, minus) = (V3::new(1.0, 0.8, 0.4), V3::new(0.5, 0.9, 0.6));
        let shape = PolySuperellipsoid::new(plus, minus, e).unwrap();
        // (3.30), with the semi-axis of the octant.
        let samples = grid(|u, v| {
            let unit = V3::new(
                power(cos(u), e[0]) * power(cos(v), e[1]),
                power(sin(u), e[0]) * power(cos(v), e[1]),
                power(sin(v), e[1]),
            );
            P3::from(unit.map_with_location(|i, _, x| x * if x < 0.0 { minus[i] } else { plus[i] }))
        });
        against_samples(&shape, &samples, 6e-3);
    }
    let semi = V3::new(1.0, 2.0, 0.5);
    let (one, ellipsoid) = (Superellipsoid::new(semi, [1.0, 1.0]).unwrap(), Ellipsoid::new(semi).unwrap());
    let mut rng = SmallRng::seed_from_u64(52);
    for _ in 0..100 {
        let d = vector(&mut rng);
        assert!((one.support(&d).point - ellipsoid.support(&d).point).norm() < 1e-14, "exponents of 1");
    }
}

#[test]
fn walking_agrees_with_linear_search() {
    let mut rng = SmallRng::seed_from_u64(53);
    for round in 0..120 {
        let n = [5, 30, 100, 400][round % 4];
        let mut p = cloud(&mut rng, n);
        match round % 5 {
            0 => p.iter_mut().for_each(|v| v.coords = v.coords.normalize()),
            1 => p.iter_mut().for_each(|v| v.coords = v.coords.map(|c| (c * 3.0).round())),
            2 => p
                .iter_mut()
                .for_each(|v| v.coords = v.coords.normalize().component_mul(&V3::new(1.0, 1e-6, 1.0))),
            3 => p.iter_mut().for_each(|v| v.coords = v.coords.normalize() + V3::new(1e6, 0.0, 0.0)),
            _ => p.iter_mut().for_each(|v| v.z = (v.z * 1.5).round()),
        }
        let polytope = Polytope::new(&p).unwrap();
        let all = PointSet::new(&p).unwrap();
        let size = p.iter().fold(0.0, |m: f64, p| m.max(p.coords.amax()));
        let mut last = polytope.support(&V3::x()).index;
        for _ in 0..200 {
            let d = vector(&mut rng);
            let best = all.support(&d).point.coords.dot(&d);
            for found in [polytope.support(&d), polytope.support_near(&d, last)] {
                assert_eq!(found.point, p[found.index as usize], "index of the point");
                assert_eq!(polytope.numbered(found.index), Some(found.point), "point of the index");
                let h = found.point.coords.dot(&d);
                assert!(best - h <= 8.0 * f64::EPSILON * size, "{round}: {}", best - h);
                last = found.index;
            }
        }
    }
}

#[test]
fn compounds_are_made_of_their_parts() {
    let mut rng = SmallRng::seed_from_u64(54);
    let (p, q) = (cloud(&mut rng, 20), cloud(&mut rng, 9));
    let (a, b) = (PointSet::new(&p).unwrap(), PointSet::new(&q).unwrap());
    let pose = Pose::new(vector(&mut rng), vector(&mut rng) * 3.0);
    let linear = Matrix3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let shift = vector(&mut rng);
    let sums: Vec<P3> = p.iter().flat_map(|x| q.iter().map(move |y| x + y.coords)).collect();
    let differences: Vec<P3> = p.iter().flat_map(|x| q.iter().map(move |y| x - y.coords)).collect();
    let moved: Vec<P3> = p.iter().map(|x| pose * x).collect();
    let images: Vec<P3> = p.iter().map(|x| linear * x + shift).collect();
    against_samples(&Sum(a, b), &sums, 1e-12);
    against_samples(&MinkowskiDifference(a, b), &differences, 1e-12);
    against_samples(&Moved::new(a, &pose).unwrap(), &moved, 1e-12);
    against_samples(&Affine::new(a, linear, shift).unwrap(), &images, 1e-12);
    let dilated = Dilated::new(Dilated::new(a, 0.25).unwrap(), 0.5).unwrap();
    assert!((dilated.radius() - 0.75).abs() < 1e-16, "the radii must add up");
    assert!((Sum(dilated, dilated).radius() - 1.5).abs() < 1e-16, "the radii of a sum must add up");
}

#[test]
fn invalid_shapes_are_refused() {
    let nan = P3::new(0.0, f64::NAN, 0.0);
    assert_eq!(PointSet::new(&[]).unwrap_err(), ConvexShapeError::Empty, "no points");
    assert_eq!(Polytope::new(&[]).unwrap_err(), ConvexShapeError::Empty, "no points");
    assert_eq!(Polytope::new(&[nan]).unwrap_err(), ConvexShapeError::NotFinite, "NaN");
    assert_eq!(Segment::new([P3::origin(), nan]).unwrap_err(), ConvexShapeError::NotFinite, "NaN");
    assert_eq!(Ball::new(P3::origin(), -1.0).unwrap_err(), ConvexShapeError::NegativeLength, "radius");
    assert_eq!(Ball::new(P3::origin(), f64::INFINITY).unwrap_err(), ConvexShapeError::NotFinite, "radius");
    assert_eq!(Capsule::new([nan; 2], 1.0).unwrap_err(), ConvexShapeError::NotFinite, "ends");
    assert_eq!(
        Cuboid::new(V3::new(1.0, -1.0, 1.0)).unwrap_err(),
        ConvexShapeError::NegativeLength,
        "half length"
    );
    assert_eq!(Ellipsoid::new(V3::repeat(f64::NAN)).unwrap_err(), ConvexShapeError::NotFinite, "semi-axes");
    assert_eq!(Cylinder::new(1.0, -0.1).unwrap_err(), ConvexShapeError::NegativeLength, "height");
    assert_eq!(Cone::new(-1.0, 0.1).unwrap_err(), ConvexShapeError::NegativeLength, "radius");
    assert_eq!(Superellipsoid::new(V3::x(), [0.0, 1.0]).unwrap_err(), ConvexShapeError::Exponent, "exponent");
    assert_eq!(Superellipsoid::new(V3::x(), [1.0, 2.5]).unwrap_err(), ConvexShapeError::Exponent, "exponent");
    assert_eq!(
        Dilated::new(Cuboid::new(V3::x()).unwrap(), -1.0).unwrap_err(),
        ConvexShapeError::NegativeLength,
        "radius"
    );
    let h = nalgebra::Vector4::new(0.0, 0.0, 0.0, -1.0);
    assert_eq!(ControlHull::of_homogeneous(&[h]).unwrap_err(), ConvexShapeError::Weight, "weight");
}
