use super::{FaceIntegrals, face_integrals};
use crate::bezier::{BezierSurface, homogeneous};
use crate::trim::{TrimCells, TrimDomain, TrimPiece};
use crate::{Frame, P2, P3, Rect, Surface, V3, math};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

const TOL: f64 = 1e-11;

fn frame(rng: &mut SmallRng) -> Frame {
    let mut v =
        || V3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
    Frame::from_z(P3::from(v() * 5.0), v(), Some(v())).unwrap()
}

fn cells(surface: &Surface, pieces: &[TrimPiece], origin: P2) -> TrimCells {
    let d = TrimDomain::new(pieces, surface.natural_domain(), surface.u_period(), surface.v_period(), origin);
    let (c, reports) = TrimCells::build(&d);
    assert!(reports.is_empty(), "{reports:?}");
    c
}

/// Returns a straight loop of constant `v` over one period of u, in the direction of +u if `forward`.
fn around(v: f64, forward: bool) -> TrimPiece {
    let l = TrimPiece::line(P2::new(0.7, v), P2::new(0.7 + TAU, v), 0);
    if forward { l } else { l.reversed() }
}

/// Cubic arcs along an ellipse, counter-clockwise.
fn ellipse(c: P2, ru: f64, rv: f64, n: i32) -> Vec<TrimPiece> {
    let h = TAU / f64::from(n);
    let k = 4.0 / 3.0 * math::tan(h / 4.0);
    (0..n)
        .map(|i| {
            let ((s0, c0), (s1, c1)) =
                (math::sin_cos(h * f64::from(i)), math::sin_cos(h * f64::from((i + 1) % n)));
            let at = |x: f64, y: f64| P2::new(c.x + ru * x, c.y + rv * y);
            TrimPiece::new(
                [at(c0, s0), at(c0 - k * s0, s0 + k * c0), at(c1 + k * s1, s1 - k * c1), at(c1, s1)],
                0,
            )
        })
        .collect()
}

fn sum(faces: &[(Surface, bool, Vec<TrimPiece>)], reference: &P3, origin: P2) -> FaceIntegrals {
    let mut total = FaceIntegrals::default();
    for (s, outward, pieces) in faces {
        total += face_integrals(s, *outward, &cells(s, pieces, origin), &|_| None, reference, TOL);
    }
    total
}

/// Checks the integrals of a solid of revolution against closed forms, with several reference points and
/// seams.
fn check(faces: &[(Surface, bool, Vec<TrimPiece>)], area: f64, volume: f64, centroid: P3, tol: f64) {
    let size = volume / area;
    for reference in [centroid, centroid + V3::new(2.0, -3.0, 1.0) * size, P3::origin()] {
        for origin in [P2::new(0.0, 0.0), P2::new(-2.0, 4.0)] {
            let got = sum(faces, &reference, origin);
            let far = 1.0 + (reference - centroid).norm() / size;
            assert!((got.area - area).abs() < tol * area, "area {} {area}", got.area);
            assert!((got.volume - volume).abs() < tol * far * volume, "volume {} {volume}", got.volume);
            let m = got.moment - (centroid - reference) * volume;
            assert!(m.norm() < tol * far * far * volume * size, "moment off by {m}");
        }
    }
}

#[test]
fn solids_of_revolution_have_their_closed_forms() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..4 {
        let f = frame(&mut rng);
        let disc = |z: f64, r: f64, up: bool| {
            let frame = Frame { origin: f.point(0.0, 0.0, z), ..f };
            (Surface::Plane { frame }, up, ellipse(P2::origin(), r, r, 64))
        };
        let (r, h) = (1.7, 3.0);
        let cylinder = Surface::Cylinder { frame: f, radius: r };
        let side = (cylinder, true, vec![around(0.0, true), around(h, false)]);
        check(
            &[side, disc(0.0, r, false), disc(h, r, true)],
            TAU * r * (r + h),
            PI * r * r * h,
            f.point(0.0, 0.0, h / 2.0),
            1e-9,
        );
        // A whole cone with its apex on the border of the domain, and a frustum.
        let phi = 0.4;
        let (tan, cos) = (math::tan(phi), math::cos(phi));
        let cone = Surface::Cone { frame: f, half_angle: phi };
        let r = h * tan;
        check(
            &[(cone.clone(), true, vec![around(h, false)]), disc(h, r, true)],
            PI * r * (r + h / cos),
            PI * r * r * h / 3.0,
            f.point(0.0, 0.0, 0.75 * h),
            1e-9,
        );
        let (z1, r1) = (1.0, tan);
        let volume = PI / 3.0 * (r * r * h - r1 * r1 * z1);
        let z = (PI / 3.0 * (r * r * h * 0.75 * h - r1 * r1 * z1 * 0.75 * z1)) / volume;
        check(
            &[(cone, true, vec![around(h, false), around(z1, true)]), disc(h, r, true), disc(z1, r1, false)],
            PI * (r * h - r1 * z1) / cos + PI * (r * r + r1 * r1),
            volume,
            f.point(0.0, 0.0, z),
            1e-9,
        );
        // Sphere, hemisphere.
        let r = 2.5;
        let sphere = Surface::Sphere { frame: f, radius: r };
        check(
            &[(sphere.clone(), true, vec![])],
            4.0 * PI * r * r,
            4.0 / 3.0 * PI * r * r * r,
            f.origin,
            1e-12,
        );
        check(
            &[(sphere, true, vec![around(0.0, true)]), disc(0.0, r, false)],
            3.0 * PI * r * r,
            2.0 / 3.0 * PI * r * r * r,
            f.point(0.0, 0.0, 0.375 * r),
            1e-9,
        );
        // A torus; its outer half, closed by a cylinder; its upper half, closed by a ring.
        let (big, small) = (4.0, 1.2);
        let torus = Surface::Torus { frame: f, major: big, minor: small };
        check(
            &[(torus.clone(), true, vec![])],
            TAU * TAU * big * small,
            0.5 * TAU * TAU * big * small * small,
            f.origin,
            1e-12,
        );
        let inner = Surface::Cylinder { frame: f, radius: big };
        let half = vec![around(-FRAC_PI_2, true), around(FRAC_PI_2, false)];
        check(
            &[(torus.clone(), true, half), (inner, false, vec![around(-small, true), around(small, false)])],
            TAU * (PI * small * big + 2.0 * small * small) + TAU * big * 2.0 * small,
            PI * small * small / 2.0 * TAU * (big + 4.0 * small / (3.0 * PI)),
            f.origin,
            1e-11,
        );
        let mut ring = ellipse(P2::origin(), big + small, big + small, 64);
        ring.extend(
            ellipse(P2::origin(), big - small, big - small, 64).iter().rev().map(TrimPiece::reversed),
        );
        check(
            &[
                (torus, true, vec![around(0.0, true), around(PI, false)]),
                (Surface::Plane { frame: f }, false, ring),
            ],
            TAU * PI * big * small + 2.0 * TAU * big * small,
            PI * small * small / 2.0 * TAU * big,
            f.point(0.0, 0.0, 4.0 * small / (3.0 * PI)),
            1e-9,
        );
    }
}

#[test]
fn a_window_in_a_sphere() {
    // An octant: three right angles, with exact straight trims.
    let f = Frame::identity();
    let p = |u, v| P2::new(u, v);
    let octant = vec![
        TrimPiece::line(p(0.0, 0.0), p(FRAC_PI_2, 0.0), 0),
        TrimPiece::line(p(FRAC_PI_2, 0.0), p(FRAC_PI_2, FRAC_PI_2), 1),
        TrimPiece::line(p(0.0, FRAC_PI_2), p(0.0, 0.0), 2),
    ];
    let s = Surface::Sphere { frame: f, radius: 2.0 };
    for origin in [0.0, 0.3, 1.0, FRAC_PI_2] {
        let got =
            face_integrals(&s, true, &cells(&s, &octant, p(origin, 0.0)), &|_| None, &P3::origin(), TOL);
        assert!((got.area - TAU).abs() < 1e-12 && (got.volume - 2.0 / 3.0 * TAU).abs() < 1e-12);
        // ¼ r² ∫ n dA, each component of which is a quarter disc's area
        let m = PI;
        assert!((got.moment - V3::new(m, m, m)).norm() < 1e-11, "{}", got.moment);
    }
}

/// Returns the graph of a bicubic polynomial `height(x, y)` over the unit square as a grid of `n × n`
/// patches, each of which represents the polynomial exactly.
fn graph(n: usize, height: &dyn Fn(f64, f64) -> f64, weight: f64) -> Surface {
    let at = |i: usize| {
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let x = i as f64 / (3 * n) as f64;
        x
    };
    let breaks: Vec<f64> = (0..=n).map(|i| at(3 * i)).collect();
    let mut control = Vec::new();
    // Bernstein coefficients of the cubic through four equidistant values.
    let fit = |y: [f64; 4]| {
        let b = (-5.0 * y[0] + 18.0 * y[1] - 9.0 * y[2] + 2.0 * y[3]) / 6.0;
        let c = (2.0 * y[0] - 9.0 * y[1] + 18.0 * y[2] - 5.0 * y[3]) / 6.0;
        [y[0], b, c, y[3]]
    };
    for i in 0..n {
        for j in 0..n {
            let z: [[f64; 4]; 4] =
                std::array::from_fn(|a| std::array::from_fn(|b| height(at(3 * i + a), at(3 * j + b))));
            let rows = z.map(fit);
            let columns: [[f64; 4]; 4] = std::array::from_fn(|b| fit(std::array::from_fn(|a| rows[a][b])));
            for k in 0..16 {
                let (a, b) = (k / 4, k % 4);
                let p = P3::new(at(3 * i + a), at(3 * j + b), columns[b][a]);
                control.push(homogeneous(&p, weight));
            }
        }
    }
    Surface::Bezier(BezierSurface {
        u_degree: 3,
        v_degree: 3,
        u_breaks: breaks.clone(),
        v_breaks: breaks,
        control,
        u_periodic: false,
        v_periodic: false,
    })
}

fn square() -> Vec<TrimPiece> {
    let p = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| P2::new(x, y));
    (0..4).map(|i| TrimPiece::line(p[i], p[(i + 1) % 4], 0)).collect()
}

#[test]
fn grids_have_the_integrals_of_their_polynomials() {
    // z = 1 + x y³ - x²: flux of (0, 0, z) through the graph is ∬ z; ⅓ d·n is ⅓ (z - x z_x - y z_y).
    let z = |x: f64, y: f64| 1.0 + x * y * y * y - x * x;
    let g = |p: P2| {
        let (x, y) = (p.x, p.y);
        let (zx, zy) = (y * y * y - 2.0 * x, 3.0 * x * y * y);
        let flux = z(x, y) - x * zx - y * zy;
        [
            (1.0 + zx * zx + zy * zy).sqrt(),
            flux / 3.0,
            0.25 * x * flux,
            0.25 * y * flux,
            0.25 * z(x, y) * flux,
        ]
    };
    for (n, weight) in [(1, 1.0), (5, 0.7)] {
        let s = graph(n, &z, weight);
        let mut holed = square();
        let hole = ellipse(P2::new(0.55, 0.45), 0.31, 0.22, 12);
        holed.extend(hole.iter().rev().map(TrimPiece::reversed));
        for pieces in [square(), hole, holed] {
            let c = cells(&s, &pieces, P2::origin());
            let got = face_integrals(&s, true, &c, &|_| None, &P3::origin(), 1e-10);
            // The same integrals over the parameter plane, with other cells.
            let exact = c.integrate_density(&g, (&[0.37], &[0.61, 0.8]), 1e-12, [0.0; 5]);
            let all = [got.area, got.volume, got.moment.x, got.moment.y, got.moment.z];
            for k in 0..5 {
                assert!((all[k] - exact[k]).abs() < 1e-10, "{n} {k}: {} {}", all[k], exact[k]);
            }
            if pieces.len() == 4 {
                // ∬ z - x z_x - y z_y = 1 + (1 - 1 - 3) / 8 + (2 - 1) / 3
                assert!((3.0 * got.volume - (1.0 - 3.0 / 8.0 + 1.0 / 3.0)).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn a_large_grid_takes_a_fraction_of_a_second() {
    let s = graph(50, &|x, y| 0.2 * math::sin(5.0 * x) * math::cos(4.0 * y), 1.0);
    let mut pieces = square();
    for i in 0..5 {
        for j in 0..5 {
            let c = P2::new(0.1 + 0.2 * f64::from(i), 0.1 + 0.2 * f64::from(j));
            pieces.extend(ellipse(c, 0.07, 0.06, 4).iter().rev().map(TrimPiece::reversed));
        }
    }
    let c = cells(&s, &pieces, P2::origin());
    let start = std::time::Instant::now();
    let got = face_integrals(&s, true, &c, &|_| None, &P3::origin(), 1e-9);
    let time = start.elapsed();
    let fine = face_integrals(&s, true, &c, &|_| None, &P3::origin(), 1e-13);
    assert!((got.area - fine.area).abs() < 1e-9 && (got.volume - fine.volume).abs() < 1e-9);
    assert!(time.as_secs_f64() < 3.0, "{time:?}");
}

#[test]
fn unbounded_domains_have_no_integrals() {
    let s = Surface::Plane { frame: Frame::identity() };
    let c = cells(&s, &[], P2::origin());
    assert!(face_integrals(&s, true, &c, &|_| None, &P3::origin(), TOL).area.is_nan());
    let r = Rect { u0: 0.0, u1: 0.0, v0: 0.0, v1: 0.0 };
    let (c, _) =
        TrimCells::build(&TrimDomain { rect: r, natural: r, u_period: None, v_period: None, pieces: vec![] });
    assert!(face_integrals(&s, true, &c, &|_| None, &P3::origin(), TOL).area.abs() < f64::MIN_POSITIVE);
}
