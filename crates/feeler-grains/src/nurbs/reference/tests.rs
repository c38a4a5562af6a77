use super::projection::{Guess, guess, on_curve, on_surface};
use super::*;
use crate::nurbs::NurbsGrain;
use feeler_geom::nurbs::NurbsCurve;
use feeler_geom::{P2, P3, Pose, V3, math};
use std::f64::consts::TAU;

/// Reference counts: 112 knots on the sphere; 352 on the ellipsoid with angles as parameters.
#[test]
fn knots_cover_closed_surfaces() {
    let half = KnotOptions { distance: 0.5, angle: 0.5 };
    let mut counts = Vec::new();
    for grain in [
        NurbsGrain::sphere(1.0).unwrap(),
        NurbsGrain::ellipsoid([3.0, 1.0, 1.0]).unwrap(),
        NurbsGrain::torus(2.0, 1.0).unwrap(),
    ] {
        let found = knots(grain.grid(), &half);
        let d = grain.grid().domain();
        let mut covering = 0.0_f64;
        for i in 0..80 {
            for j in 0..=80 {
                let uv =
                    P2::new(d.u0 + d.width() * f64::from(i) / 80.0, d.v0 + d.height() * f64::from(j) / 80.0);
                let p = grain.at(uv).0;
                let near = found.points.iter().map(|k| (k - p).norm()).fold(f64::INFINITY, f64::min);
                covering = covering.max(near);
            }
        }
        counts.push((found.points.len(), covering));
    }
    assert_eq!(counts.iter().map(|c| c.0).collect::<Vec<_>>(), [112, 368, 640]);
    assert!(counts.iter().all(|c| c.1 < 0.29), "no holes: {counts:?}");
}

#[test]
fn direct_finds_the_closest_points_of_ellipsoids_and_tori() {
    let grains = [NurbsGrain::ellipsoid([3.0, 2.0, 1.0]).unwrap(), NurbsGrain::torus(3.0, 1.0).unwrap()];
    let (mut right, mut all, mut evaluations) = (0, 0, 0);
    for grain in &grains {
        for k in 0..60 {
            let (s, c) = math::sin_cos(f64::from(k) * TAU * 0.618_033_988_749_895);
            let z = 2.0 * (f64::from(k) + 0.5) / 60.0 - 1.0;
            let r = 4.5 * (1.0 - z * z).sqrt();
            let x = P3::new(r * c, r * s, 3.0 * z);
            let found = closest(grain.grid(), &x, &DirectOptions::default());
            let exact = grain.grid().derivs(grain.grid().invert(&x, None, None)).p;
            all += 1;
            evaluations += found.evaluations;
            right += u32::from(((found.point - x).norm() - (exact - x).norm()).abs() < 1e-9);
        }
    }
    assert_eq!(right, all);
    let mean = evaluations / u64::from(all);
    assert!((100..300).contains(&mean), "{mean} evaluations per projection");
}

#[test]
fn gaps_of_knots_are_those_of_spheres() {
    let sphere = NurbsGrain::sphere(1.0).unwrap();
    let mut last = f64::INFINITY;
    for distance in [0.4, 0.2, 0.1] {
        let slave = knots(sphere.grid(), &KnotOptions { distance, angle: 10.0 });
        let pose = Pose::translation(1.2, 1.3, 0.9);
        let exact = V3::new(1.2, 1.3, 0.9).norm() - 2.0;
        let found = deepest_gap(sphere.grid(), &slave, &pose, 0.3, &DirectOptions::default());
        let off = found.gap - exact;
        assert!(-1e-9 < off && off < 0.3 * distance * distance, "{distance}: {off:e}");
        assert!(off < last);
        last = off;
    }
}

#[test]
fn newton_finds_the_foot_from_a_good_guess() {
    let curve = NurbsCurve {
        degree: 3,
        knots: vec![0., 0., 0., 0., 0.25, 0.5, 0.75, 1., 1., 1., 1.],
        points: [(0., 0.), (1., 2.), (2., -1.), (3., 2.), (4., -1.), (5., 1.), (6., 0.)]
            .map(|(x, y)| P3::new(x, y, 0.0))
            .to_vec(),
        weights: Vec::new(),
    };
    let spline = curve.to_bezier().unwrap();
    let q = P3::new(3.0, 1.5, 0.0);
    let (start, evaluations) = guess(&curve, &spline, &q, Guess::Middles);
    assert_eq!(evaluations, 9);
    let found = on_curve(&spline, &q, start, 1e-10);
    let exact = spline.project(&q, 0.0, 1.0);
    assert!((found.at - exact).abs() < 1e-6, "{} {exact}", found.at);
    let sphere = NurbsGrain::sphere(1.0).unwrap();
    let on = on_surface(sphere.grid(), &P3::new(1.0, 2.0, 0.5), P2::new(0.7, 1.2), 1e-12);
    assert!((on.distance - (5.25_f64.sqrt() - 1.0)).abs() < 1e-12);
}
