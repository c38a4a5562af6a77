use super::*;
use crate::GrainError;
use feeler_convex::{PolySuperellipsoid, Support};
use feeler_geom::math::powf;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.01..1.0).contains(&v.norm_squared()) {
            return v.normalize();
        }
    }
}

struct True {
    shape: PolySuperellipsoid,
    pose: Pose,
    points: Vec<[f64; 3]>,
}

/// Random shape in a random pose, with points on rays from its origin.
fn random(rng: &mut SmallRng, n: usize) -> True {
    let mut semi = || V3::from_fn(|_, _| rng.random_range(0.4..2.0));
    let (plus, minus) = (semi(), semi());
    let e = [rng.random_range(0.4..1.6), rng.random_range(0.4..1.6)];
    let shape = PolySuperellipsoid::new(plus, minus, e).expect("a shape");
    let at = direction(rng) * rng.random_range(0.0..20.0);
    let turn = direction(rng) * rng.random_range(0.0..3.0);
    let pose = Pose::from_parts(Translation3::from(at), UnitQuaternion::from_scaled_axis(turn));
    let ray = |d: V3| {
        let u = V3::from_fn(|i, _| (d[i] / if d[i] < 0.0 { minus[i] } else { plus[i] }).abs());
        let around = powf(u.x, 2.0 / e[0]) + powf(u.y, 2.0 / e[0]);
        let gauge = powf(powf(around, e[0] / e[1]) + powf(u.z, 2.0 / e[1]), 0.5 * e[1]);
        (pose * feeler_geom::P3::from(d / gauge)).into()
    };
    let points = (0..n).map(|_| ray(direction(rng))).collect();
    True { shape, pose, points }
}

/// Largest distance of the fitted surface from the known one: for convex bodies the largest difference
/// of their support functions, here over random directions.
fn apart(rng: &mut SmallRng, known: &True, fit: &ShapeFit) -> f64 {
    let (grain, pose) = (fit.grain().expect("a grain"), fit.pose());
    let height = |shape: &PolySuperellipsoid, pose: &Pose, n: &V3| {
        let local = pose.rotation.inverse_transform_vector(n);
        (pose * shape.support(&local).point).coords.dot(n)
    };
    (0..2000)
        .map(|_| direction(rng))
        .map(|n| (height(&known.shape, &known.pose, &n) - height(grain.shape(), &pose, &n)).abs())
        .fold(0.0, f64::max)
}

#[test]
fn shapes_are_recovered_from_points() {
    let mut rng = SmallRng::seed_from_u64(11);
    for _ in 0..6 {
        let known = random(&mut rng, 2000);
        let fit = fit(&known.points).expect("a fit");
        let off = apart(&mut rng, &known, &fit) / fit.size;
        assert!(off < 1e-6, "{off} {:?} {fit:?}", known.shape);
        assert!(fit.rms <= fit.largest && fit.largest < 1e-6 * fit.size, "{fit:?}");
    }
}

#[test]
fn residuals_report_noise() {
    let mut rng = SmallRng::seed_from_u64(12);
    let mut known = random(&mut rng, 1500);
    for p in &mut known.points {
        for c in p {
            *c += rng.random_range(-0.01..0.01);
        }
    }
    let fit = fit(&known.points).expect("a fit");
    // The component along the normal of noise in a cube has the mean square of one coordinate.
    let noise = 0.01 / 3.0_f64.sqrt();
    assert!((fit.rms / noise - 1.0).abs() < 0.1, "{} {noise}", fit.rms);
    assert!(fit.largest < 0.02 && apart(&mut rng, &known, &fit) < 0.01, "{fit:?}");
}

#[test]
fn unsuitable_points_are_refused() {
    let mut rng = SmallRng::seed_from_u64(13);
    let message = |points: &[[f64; 3]]| match fit(points) {
        Err(e @ GrainError::Points(_)) => e.to_string(),
        other => panic!("{other:?}"),
    };
    let known = random(&mut rng, 400);
    assert!(message(&known.points[..13]).contains("too few"));
    assert!(message(&[]).contains("too few"));
    let mut bad = known.points.clone();
    bad[7][1] = f64::NAN;
    assert!(message(&bad).contains("finite"));
    let flat: Vec<[f64; 3]> = known.points.iter().map(|p| [p[0], p[1], 2.0 * p[0] - p[1]]).collect();
    assert!(message(&flat).contains("plane"));
    assert!(message(&[[1.0, 2.0, 3.0]; 50]).contains("coincide"));
    // The points are only those of a cap.
    let cap: Vec<[f64; 3]> =
        (0..400).map(|_| direction(&mut rng)).filter(|d| d.z > 0.7).map(|d| [d.x, d.y, d.z]).collect();
    assert!(fit(&cap).is_err_and(|e| e.to_string().contains("octant")), "{} points", cap.len());
}
