//! Tests of nets, exact shapes, mass properties and fits.

use super::make::{CIRCLE, CIRCLE_KNOTS};
use super::*;
use feeler_geom::nurbs::{NurbsCurve, NurbsError, NurbsSurface};
use feeler_geom::{P2, P3, V3, math};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::{PI, TAU};

/// NURBS Table 3.1 with (3.8).
#[test]
fn the_circle_of_the_source_is_round() {
    let circle = NurbsCurve {
        degree: 2,
        knots: CIRCLE_KNOTS.to_vec(),
        points: CIRCLE.iter().map(|(x, y, _)| P3::new(*x, *y, 0.0)).collect(),
        weights: CIRCLE.iter().map(|c| c.2).collect(),
    };
    let spline = circle.to_bezier().unwrap();
    assert!(spline.periodic, "the circle is closed");
    let mut worst = 0.0_f64;
    for k in 0..=4000 {
        let p = spline.derivs(f64::from(k) / 1000.0).p;
        worst = worst.max((math::hypot(p.x, p.y) - 1.0).abs());
    }
    assert!(worst <= 2.3e-16, "{worst:e}");
}

/// All basis functions by de Boor's recursion (3.2).
fn basis(knots: &[f64], degree: usize, t: f64) -> Vec<f64> {
    let mut n: Vec<f64> = knots.windows(2).map(|k| if k[0] <= t && t < k[1] { 1.0 } else { 0.0 }).collect();
    for p in 1..=degree {
        for i in 0..knots.len() - p - 1 {
            let part = |x: f64, width: f64, n: f64| if width > 0.0 { x / width * n } else { 0.0 };
            n[i] = part(t - knots[i], knots[i + p] - knots[i], n[i])
                + part(knots[i + p + 1] - t, knots[i + p + 1] - knots[i + 1], n[i + 1]);
        }
    }
    n.truncate(knots.len() - degree - 1);
    n
}

#[test]
fn wrapping_closes_at_the_end_of_its_domain() {
    let mut rng = StdRng::seed_from_u64(1);
    for degree in 1..=5_u32 {
        let n = 9;
        let points: Vec<P3> = (0..n)
            .map(|_| P3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random::<f64>()))
            .collect();
        let curve = wrapped_curve(degree, &points, &[]).unwrap();
        let p = degree as usize;
        for i in 0..p {
            assert_eq!(curve.points[i], curve.points[n + i], "the first points are the last ones");
        }
        let at = |t: f64| {
            let weights = basis(&curve.knots, p, t);
            weights.iter().zip(&curve.points).map(|(w, p)| p.coords * *w).sum::<V3>()
        };
        let m = curve.knots.len() - 1;
        let (begin, end) = (curve.knots[p], curve.knots[m - p]);
        assert!((at(begin) - at(end - 1e-12)).norm() < 1e-11, "degree {degree}");
        let spline = curve.to_bezier().unwrap();
        assert_eq!(spline.range(), (begin, end));
        assert_eq!(spline.periodic, degree > 1, "polygons have a corner at the seam");
        for k in 0..50 {
            let t = begin + (end - begin) * (f64::from(k) + 0.3) / 50.0;
            assert!((spline.derivs(t).p.coords - at(t)).norm() < 1e-13, "degree {degree} at {t}");
        }
        // The text ends the domain at u_(n−p), where n is the number of control points minus 1.
        let text_end = curve.knots[curve.points.len() - 1 - p];
        assert!((at(begin) - at(text_end)).norm() > 1e-3, "the text's domain is not closed");
    }
}

fn largest_residual(grain: &NurbsGrain, off: impl Fn(&P3) -> f64) -> f64 {
    let d = grain.grid().domain();
    let mut worst = 0.0_f64;
    for i in 0..=60 {
        for j in 0..=60 {
            let (u, v) = (d.u0 + d.width() * f64::from(i) / 60.0, d.v0 + d.height() * f64::from(j) / 60.0);
            worst = worst.max(off(&grain.at(P2::new(u, v)).0).abs());
        }
    }
    worst
}

#[test]
fn exact_shapes_are_exact() {
    let sphere = NurbsGrain::sphere(2.0).unwrap();
    assert_eq!(sphere.topology(), Topology::Sphere);
    assert!(largest_residual(&sphere, |p| p.coords.norm() - 2.0) < 1e-15 * 2.0);
    let ellipsoid = NurbsGrain::ellipsoid([3.0, 2.0, 1.0]).unwrap();
    let level = |p: &P3| V3::new(p.x / 3.0, p.y / 2.0, p.z).norm() - 1.0;
    assert!(largest_residual(&ellipsoid, level) < 1e-15);
    let torus = NurbsGrain::torus(3.0, 1.0).unwrap();
    assert_eq!(torus.topology(), Topology::Torus);
    assert!(largest_residual(&torus, |p| math::hypot(math::hypot(p.x, p.y) - 3.0, p.z) - 1.0) < 2e-15);
    // Normals point outwards, also at poles.
    let d = sphere.grid().domain();
    for v in [d.v0, 0.5 * (d.v0 + d.v1), d.v1] {
        let (p, n) = sphere.at(P2::new(0.3, v));
        assert!((n - p.coords / 2.0).norm() < 1e-15, "{n} at {p}");
    }
}

#[test]
fn masses_are_those_of_closed_forms() {
    let [a, b, c] = [3.0, 2.0, 1.5];
    let ellipsoid = *NurbsGrain::ellipsoid([a, b, c]).unwrap().mass();
    let volume = 4.0 / 3.0 * PI * a * b * c;
    let moments = [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| volume * s / 5.0);
    assert!((ellipsoid.volume - volume).abs() < 1e-13 * volume, "{}", ellipsoid.volume - volume);
    assert!(ellipsoid.centroid.coords.norm() < 1e-14);
    for (k, expected) in moments.iter().enumerate() {
        let off = ellipsoid.tensor[(k, k)] - expected;
        assert!(off.abs() < 1e-13 * expected, "{off:e}");
    }
    let [major, minor] = [3.0, 1.0];
    let torus = *NurbsGrain::torus(major, minor).unwrap().mass();
    let volume = TAU * PI * major * minor * minor;
    assert!((torus.volume - volume).abs() < 1e-13 * volume);
    assert!((torus.area - TAU * TAU * major * minor).abs() < 1e-9 * torus.area);
    let about_axis = volume * (major * major + 0.75 * minor * minor);
    let across = volume * (0.5 * major * major + 0.625 * minor * minor);
    for (k, expected) in [across, across, about_axis].iter().enumerate() {
        assert!((torus.tensor[(k, k)] - expected).abs() < 1e-13 * expected, "{k}");
    }
}

/// The reference shares no integrals with the code: it uses radii along rays from the origin.
#[test]
fn masses_of_random_grains_are_those_of_samples() {
    let mut rng = StdRng::seed_from_u64(5);
    for seed in [3, 8] {
        let grain = NurbsGrain::random(seed, 2.0, 0.6).unwrap();
        assert!(grain.is_star_shaped(&P3::origin()));
        let mass = grain.mass();
        // The grain is star-shaped, so Newton's method computes the radius along each direction, and one
        // integral over directions remains, which a lattice approximates.
        let n = 40_000;
        let (mut volume, mut first) = (0.0, V3::zeros());
        let shift = rng.random::<f64>();
        for k in 0..n {
            let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(n);
            let (s, c) = math::sin_cos(TAU * (f64::from(k) * 0.618_033_988_749_895 + shift));
            let r = (1.0 - z * z).sqrt();
            let d = V3::new(r * c, r * s, z);
            let rho = radius(&grain, &d);
            volume += rho * rho * rho / 3.0;
            first += d * (rho * rho * rho * rho / 4.0);
        }
        let solid_angle = 4.0 * PI / f64::from(n);
        volume *= solid_angle;
        let centroid = first * solid_angle / volume;
        assert!((mass.volume - volume).abs() < 1e-4 * volume, "{} {volume}", mass.volume);
        assert!((mass.centroid.coords - centroid).norm() < 2e-4, "{} {centroid}", mass.centroid);
    }
}

/// Distance of the grain's surface from the origin along the direction `d`: solves `S(u, v) = rho d` by
/// Newton's method, which starts at the parameters that the fit assigns to the direction.
fn radius(grain: &NurbsGrain, d: &V3) -> f64 {
    let domain = grain.grid().domain();
    let u = math::turn(math::atan2(d.y, d.x)) / TAU * domain.u1;
    let v = (math::asin(d.z) + PI / 2.0) / PI * domain.v1;
    let mut uv = P2::new(u, v.clamp(1e-6, domain.v1 - 1e-6));
    for _ in 0..30 {
        let s = grain.grid().derivs(uv);
        let rho = s.p.coords.dot(d);
        let miss = s.p.coords - d * rho;
        if miss.norm() < 1e-9 {
            return rho;
        }
        let m = nalgebra::Matrix3::from_columns(&[s.du, s.dv, -d]);
        let Some(step) = m.lu().solve(&-miss) else { break };
        let share = (0.3 / step.xy().norm()).min(1.0);
        uv += step.xy() * share;
        uv.y = uv.y.clamp(1e-9, domain.v1 - 1e-9);
    }
    grain.grid().derivs(uv).p.coords.norm()
}

#[test]
fn invalid_surfaces_are_refused_with_a_reason() {
    let good = NurbsGrain::sphere(1.0).unwrap().surface().clone();
    let mut zero = good.clone();
    zero.weights[7] = 0.0;
    assert_eq!(NurbsGrain::new(zero), Err(NurbsGrainError::Net(NurbsError::NonPositiveWeight)));
    let mut negative = good.clone();
    negative.weights[7] = -1.0;
    assert_eq!(NurbsGrain::new(negative), Err(NurbsGrainError::Net(NurbsError::NonPositiveWeight)));
    let mut open = good.clone();
    open.points.truncate(40);
    open.weights.truncate(40);
    open.u_knots = [0., 0., 0., 1., 1., 2., 2., 3., 4., 4., 4.].to_vec();
    let error = NurbsGrain::new(open).unwrap_err();
    assert!(matches!(error, NurbsGrainError::Open { direction: Direction::U, .. }), "{error}");
    let mut tip = good.clone();
    // One point next to the south pole leaves its plane.
    tip.points[2 * 5 + 1].z -= 0.4;
    let error = NurbsGrain::new(tip).unwrap_err();
    assert!(matches!(error, NurbsGrainError::Tip { direction: Direction::V, end: "start", .. }), "{error}");
    let mut creased = good.clone();
    for j in 1..4 {
        creased.points[5 + j].y *= 0.2;
        creased.points[5 + j].x *= 1.5;
    }
    let error = NurbsGrain::new(creased).unwrap_err();
    assert!(matches!(error, NurbsGrainError::Crease { direction: Direction::U, .. }), "{error}");
    // The equator is contracted, so its two halves have a crease between them.
    let mut waisted = good.clone();
    for p in waisted.points.iter_mut().skip(2).step_by(5) {
        (p.x, p.y) = (0.6 * p.x, 0.6 * p.y);
    }
    let error = NurbsGrain::new(waisted).unwrap_err();
    assert!(matches!(error, NurbsGrainError::Crease { direction: Direction::V, .. }), "{error}");
    let mut flat = good.clone();
    flat.points.iter_mut().for_each(|p| p.z = 0.0);
    assert!(NurbsGrain::new(flat).is_err());
    let few = ControlNet {
        u: Along::Wrapped(3),
        v: Along::Clamped(3),
        n_v: 3,
        points: vec![P3::origin(); 18],
        weights: vec![],
    };
    let error = NurbsGrain::of_net(&few).unwrap_err();
    assert!(matches!(error, NurbsGrainError::TooFewPoints { direction: Direction::V, .. }), "{error}");
    assert!(NurbsGrain::sphere(-1.0).is_err() && NurbsGrain::torus(1.0, 2.0).is_err());
    assert!(NurbsGrain::random(0, f64::NAN, 0.5).is_err() && NurbsGrain::random(0, 1.0, 2.0).is_err());
}

#[test]
fn surfaces_that_point_inwards_are_reversed() {
    let sphere = NurbsGrain::sphere(1.5).unwrap();
    let s = sphere.surface();
    let mirrored =
        NurbsSurface { points: s.points.iter().map(|p| P3::new(p.x, -p.y, p.z)).collect(), ..s.clone() };
    let turned = NurbsGrain::new(mirrored).unwrap();
    assert!((turned.mass().volume - sphere.mass().volume).abs() < 1e-13);
    let (p, n) = turned.at(P2::new(-0.3, 0.4));
    assert!(n.dot(&p.coords) > 0.0);
}

#[test]
fn self_intersections_are_detected() {
    // The cap at the south pole is pushed up, into a dent or through the other cap.
    for (to, crosses) in [(-0.3, false), (0.5, false), (2.0, true), (3.0, true)] {
        let profile =
            [(0.0, to), (0.3, to), (0.5, -0.2), (1.0, -0.6), (1.2, 0.0), (1.0, 0.8), (0.5, 1.2), (0.0, 1.2)];
        let ring = |k: i32| math::sin_cos(TAU * f64::from(k) / 10.0);
        let row = |(s, c): (f64, f64)| profile.map(|(r, z)| P3::new(r * c, r * s, z));
        let points = (0..10).flat_map(|k| row(ring(k))).collect();
        let (u, v) = (Along::Wrapped(3), Along::Clamped(3));
        let grain = NurbsGrain::of_net(&ControlNet { u, v, n_v: 8, points, weights: vec![] }).unwrap();
        assert_eq!(grain.check_embedded().is_err(), crosses, "a dent up to {to}");
    }
    let ring = NurbsGrain::torus(3.0, 1.0).unwrap();
    for seed in 0..3 {
        assert_eq!(NurbsGrain::random(seed, 2.0, 0.7).unwrap().check_embedded(), Ok(()));
    }
    assert_eq!(NurbsGrain::ellipsoid([3.0, 1.0, 0.3]).unwrap().check_embedded(), Ok(()));
    assert_eq!(ring.check_embedded(), Ok(()));
}

#[test]
fn wrapped_nets_make_tori() {
    let (n_u, n_v) = (16, 12);
    let mut points = Vec::new();
    for i in 0..n_u {
        for j in 0..n_v {
            let (su, cu) = math::sin_cos(TAU * f64::from(i) / f64::from(n_u));
            let (sv, cv) = math::sin_cos(TAU * f64::from(j) / f64::from(n_v));
            points.push(P3::new((3.0 + cv) * cu, (3.0 + cv) * su, sv));
        }
    }
    let net = ControlNet { u: Along::Wrapped(3), v: Along::Wrapped(3), n_v: 12, points, weights: vec![] };
    let grain = NurbsGrain::of_net(&net).unwrap();
    assert_eq!(grain.topology(), Topology::Torus);
    let smaller = grain.mass().volume / (TAU * PI * 3.0);
    assert!(0.8 < smaller && smaller < 1.0, "inside the net: {smaller}");
}

#[test]
fn fits_recover_the_grain_of_their_points() {
    // An ellipsoid is not a cubic surface: the deviation falls with the fourth power of the mesh size.
    let mut rng = StdRng::seed_from_u64(2);
    let points: Vec<P3> = (0..4000)
        .map(|_| {
            let z: f64 = rng.random_range(-1.0..1.0);
            let (s, c) = math::sin_cos(rng.random_range(0.0..TAU));
            let r = (1.0 - z * z).sqrt();
            P3::new(2.0 * r * c + 7.0, 1.5 * r * s, 1.2 * z)
        })
        .collect();
    let coarse = fit(&points, &FitOptions { around: 8, rows: 8, ..FitOptions::default() }).unwrap();
    let fine = fit(&points, &FitOptions { around: 16, rows: 13, ..FitOptions::default() }).unwrap();
    assert!(coarse.largest < 0.03, "{:e}", coarse.largest);
    assert!(fine.rms < coarse.rms / 8.0 && fine.largest < 2e-3, "{:e} {:e}", fine.rms, coarse.rms);
    let volume = 4.0 / 3.0 * PI * 2.0 * 1.5 * 1.2;
    assert!((fine.grain.mass().volume - volume).abs() < 1e-3 * volume);
    assert!((fine.grain.mass().centroid.x - 7.0).abs() < 1e-3);
    // Points of a random grain, which has such a net.
    let grain = NurbsGrain::random(4, 2.0, 0.5).unwrap();
    let domain = grain.grid().domain();
    let of_grain: Vec<P3> = (0..3000)
        .map(|_| {
            let v = math::acos(rng.random_range(-1.0..1.0)) / PI * domain.v1;
            grain.at(P2::new(rng.random_range(0.0..domain.u1), v)).0
        })
        .collect();
    let again = fit(&of_grain, &FitOptions::default()).unwrap();
    assert!(again.largest < 0.02, "{:e} {:e}", again.rms, again.largest);
    assert!(fit(&points[..50], &FitOptions::default()).is_err(), "too few");
}
