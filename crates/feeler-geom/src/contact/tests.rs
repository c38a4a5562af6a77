use super::*;
use crate::frame::complete_basis;
use crate::{Frame, P3, math};
use nalgebra::{DMatrix, DVector};
use rand::{Rng, SeedableRng, rngs::SmallRng};

const EXTENT: f64 = 10.0;
const TOL: f64 = 1e-9;

fn flat(order: SecondOrder) -> bool {
    matches!(order, SecondOrder::Semidefinite { .. })
}

fn random_side(rng: &mut SmallRng) -> SideShape {
    let mut kappa = || [0.0, 0.1, -0.1, rng.random_range(-2.0..2.0)][rng.random_range(0..4)];
    let (k1, k2, k) = (kappa(), kappa(), kappa());
    let (s, c) = math::sin_cos(rng.random_range(0.0..7.0));
    match rng.random_range(0..5) {
        0 | 1 => {
            let q = Matrix2::new(c, -s, s, c);
            SideShape::Face { shape: q * Matrix2::new(k1, 0.0, 0.0, k2) * q.transpose() }
        }
        2 | 3 => SideShape::Edge { tangent: Vector2::new(c, s), curvature: k },
        _ => SideShape::Vertex,
    }
}

fn freedoms(x: &SideShape) -> usize {
    match x {
        SideShape::Face { .. } => 2,
        SideShape::Edge { .. } => 1,
        SideShape::Vertex => 0,
    }
}

/// Returns the displacement of a footpoint along the osculating paraboloid of a face or parabola of an
/// edge: its component in the plane orthogonal to the normal, and its outward component.
fn displaced(x: &SideShape, q: &[f64]) -> (Vector2<f64>, f64) {
    match x {
        SideShape::Face { shape } => {
            let v = Vector2::new(q[0], q[1]);
            (v, -0.5 * v.dot(&(shape * v)))
        }
        SideShape::Edge { tangent, curvature } => (tangent * q[0], -0.5 * curvature * q[0] * q[0]),
        SideShape::Vertex => (Vector2::zeros(), 0.0),
    }
}

fn distance(a: &SideShape, b: &SideShape, d: f64, q: &DVector<f64>) -> f64 {
    let (na, nb) = (freedoms(a), freedoms(b));
    let ((va, ha), (vb, hb)) = (displaced(a, &q.as_slice()[..na]), displaced(b, &q.as_slice()[na..na + nb]));
    let gap = d - ha - hb;
    ((va - vb).norm_squared() + gap * gap).sqrt()
}

/// Computes the Hessian of ½ distance² by central differences.
fn full_hessian(a: &SideShape, b: &SideShape, d: f64) -> DMatrix<f64> {
    let n = freedoms(a) + freedoms(b);
    let h = 1e-3;
    let f = |q: &DVector<f64>| 0.5 * distance(a, b, d, q) * distance(a, b, d, q);
    DMatrix::from_fn(n, n, |i, j| {
        let at = |p: f64, q: f64| {
            let mut x = DVector::zeros(n);
            x[i] += p * h;
            x[j] += q * h;
            f(&x)
        };
        (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * h * h)
    })
}

/// Eigenvalues and eigenvectors reproduce the symmetric part, including nearly equal and very different
/// eigenvalues.
#[test]
fn eigenvectors_reproduce_the_matrix() {
    for (a, b, c, d) in [
        (1.0, 0.0, 0.0, 1.0),
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 2.0, 0.5, -3.0),
        (-3.0, -0.1, -0.1, 1.0),
        (1e-9, 1.0, 1.0, 1e-9),
        (5.0, 1e-12, 1e-12, -1e9),
        (2.0, 0.0, 0.0, 7.0),
    ] {
        let s = Matrix2::new(a, b, c, d);
        let e = eigen(&s);
        let rebuilt = e.eigenvectors * Matrix2::from_diagonal(&e.eigenvalues) * e.eigenvectors.transpose();
        assert!((rebuilt - (s + s.transpose()) * 0.5).norm() <= 1e-15 * (1.0 + s.norm()), "{rebuilt} of {s}");
        assert!((e.eigenvectors.transpose() * e.eigenvectors - Matrix2::identity()).norm() < 1e-15, "{s}");
        assert!(e.eigenvalues.x >= e.eigenvalues.y, "the larger one first");
    }
}

#[test]
fn agrees_with_the_full_hessian_by_differences() {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut counts = [0; 3];
    for round in 0..20_000 {
        let (a, b) = (random_side(&mut rng), random_side(&mut rng));
        let d = [0.3, 1.0, rng.random_range(0.1..5.0)][rng.random_range(0..3)];
        let got = second_order(&a, &b, d, EXTENT, TOL);
        let swapped = second_order(&b, &a, d, EXTENT, TOL);
        assert_eq!(std::mem::discriminant(&got), std::mem::discriminant(&swapped), "round {round}: order");
        if freedoms(&a) + freedoms(&b) == 0 {
            assert_eq!(got, SecondOrder::Strict { min_eig: f64::INFINITY }, "two vertices");
            continue;
        }
        let least = full_hessian(&a, &b, d).symmetric_eigenvalues().min();
        match got {
            SecondOrder::Strict { min_eig } => {
                assert!(min_eig > 0.0 && least > -1e-7, "round {round}: {a:?} {b:?} {d} {least}");
                counts[0] += 1;
            }
            SecondOrder::Semidefinite { .. } => {
                assert!(least.abs() < 1e-7, "round {round}: {a:?} {b:?} {d} {least}");
                counts[1] += 1;
            }
            SecondOrder::Indefinite => {
                assert!(least < 1e-7, "round {round}: {a:?} {b:?} {d} {least}");
                counts[2] += 1;
            }
        }
        if least.abs() > 1e-6 {
            let strict = matches!(got, SecondOrder::Strict { .. });
            assert_eq!(strict, least > 0.0, "round {round}: {a:?} {b:?} {d} {least} {got:?}");
        }
    }
    assert!(counts.iter().all(|&c| c > 100), "every outcome must occur: {counts:?}");
}

#[test]
fn the_smallest_eigenvalue_is_that_of_the_distance() {
    // `min_eig` of two faces is the second derivative of the distance minimised over A's footpoint for
    // given displacements of B's.
    let mut rng = SmallRng::seed_from_u64(6);
    let mut count = 0;
    while count < 200 {
        let (a, b) = (random_side(&mut rng), random_side(&mut rng));
        let d = rng.random_range(0.2..2.0);
        if !matches!((a, b), (SideShape::Face { .. }, SideShape::Face { .. })) {
            continue;
        }
        let SecondOrder::Strict { min_eig } = second_order(&a, &b, d, EXTENT, TOL) else { continue };
        count += 1;
        let full = full_hessian(&a, &b, d);
        let reduced = |keep: usize| {
            let drop = 2 - keep;
            let block = |r: usize, c: usize| full.view((r, c), (2, 2)).into_owned();
            let inverse = block(drop, drop).try_inverse().unwrap();
            let schur = block(keep, keep) - block(keep, drop) * inverse * block(drop, keep);
            schur.symmetric_eigenvalues().min() / d
        };
        let expected = reduced(0).min(reduced(2));
        assert!((min_eig - expected).abs() < 1e-4 * (1.0 + expected), "{min_eig} {expected}");
    }
}

#[test]
fn contact_and_clearance_of_a_pin_in_a_bore() {
    // A ball of radius 9.95 in a bore of radius 10, then crossed and parallel pins, at d from 0 to 0.04
    // (0.05 is concentric).
    let bore = SideShape::Face { shape: Matrix2::new(-0.1, 0.0, 0.0, 0.0) };
    let ball = SideShape::Face { shape: Matrix2::identity() / 9.95 };
    let pin = |k: f64| SideShape::Face { shape: Matrix2::new(k, 0.0, 0.0, 0.0) };
    for d in [-1e-9, 0.0, 1e-12, 1e-6, 0.04] {
        let strict = |x: &SideShape, y: &SideShape| match second_order(x, y, d, 20.0, 1e-6) {
            SecondOrder::Strict { min_eig } => min_eig,
            other => panic!("{other:?} at {d}"),
        };
        let got = strict(&ball, &bore);
        let exact = 1.0 / 9.95 / (1.0 + d / 9.95) - 0.1;
        // The side whose footpoint moves farther has the smaller derivative.
        assert!(d > 0.03 || (got - exact).abs() < 1e-5, "{got} {exact}");
        assert!(flat(second_order(&pin(1.0 / 9.95), &bore, d, 20.0, 1e-6)), "parallel");
        assert_eq!(second_order(&pin(0.05), &bore, d, 20.0, 1e-6), SecondOrder::Indefinite, "pin too thick");
        let spool = SideShape::Face { shape: Matrix2::new(-1.0, 0.0, 0.0, 2.0) };
        let across = SideShape::Face { shape: Matrix2::new(2.0, 0.0, 0.0, -1.0) };
        strict(&spool, &across);
    }
    // Crossed spools lose the minimum at d = 0.5, where (1 - d)(1 + 2d) = 1.
    let spools = |d: f64| {
        let a = SideShape::Face { shape: Matrix2::new(-1.0, 0.0, 0.0, 2.0) };
        let b = SideShape::Face { shape: Matrix2::new(2.0, 0.0, 0.0, -1.0) };
        second_order(&a, &b, d, 1.0, 1e-9)
    };
    assert!(matches!(spools(0.499), SecondOrder::Strict { .. }), "below");
    assert!(flat(spools(0.5)), "at the fold");
    assert_eq!(spools(0.501), SecondOrder::Indefinite, "above");
}

#[test]
fn edges_in_special_positions() {
    let edge = |angle: f64, curvature: f64| {
        let (s, c) = math::sin_cos(angle);
        SideShape::Edge { tangent: Vector2::new(c, s), curvature }
    };
    let test = |a: &SideShape, b: &SideShape, d: f64| second_order(a, b, d, 10.0, 1e-6);
    for d in [0.0, 1e-9, 1.0] {
        assert!(flat(test(&edge(0.0, 0.0), &edge(0.0, 0.0), d)), "parallel");
        assert!(flat(test(&edge(0.0, 0.0), &edge(1e-9, 0.0), d)), "nearly parallel");
        let crossing = test(&edge(0.0, 0.0), &edge(1.0, 0.0), d);
        assert!(matches!(crossing, SecondOrder::Strict { .. }), "crossing");
        let rolling = test(&edge(0.0, 0.2), &edge(0.0, -0.1), d);
        assert!(
            matches!(rolling, SecondOrder::Strict { .. }),
            "tangent, one inside the other at {d}: {rolling:?}"
        );
    }
    assert_eq!(test(&edge(0.0, 0.1), &edge(0.0, -0.2), 1.0), SecondOrder::Indefinite, "tangent, outside");
    // Straight edges in a bore of radius 1: on the axis all directions around are equal; off the axis
    // the edge slides along the bore.
    let bore = SideShape::Face { shape: Matrix2::new(0.0, 0.0, 0.0, -1.0) };
    assert!(flat(test(&bore, &edge(0.0, 0.0), 1.0)), "on the axis");
    assert!(flat(test(&bore, &edge(0.0, 0.0), 0.5)), "along the bore");
    assert_eq!(test(&bore, &edge(0.0, 0.0), 1.5), SecondOrder::Indefinite, "beyond the axis");
    assert_eq!(test(&bore, &edge(0.3, 0.0), 0.5), SecondOrder::Indefinite, "across");
    assert!(flat(test(&bore, &SideShape::Vertex, 1.0)), "vertex on the axis");
    assert_eq!(test(&bore, &SideShape::Vertex, 1.1), SecondOrder::Indefinite, "vertex beyond the axis");
    let inside = test(&bore, &SideShape::Vertex, 0.0);
    assert_eq!(inside, SecondOrder::Strict { min_eig: f64::INFINITY }, "vertex in contact");
    let far = second_order(&SideShape::Face { shape: Matrix2::zeros() }, &SideShape::Vertex, 1e3, 1e-3, 1e-6);
    assert!(matches!(far, SecondOrder::Strict { .. }), "a small face far from a vertex must not be flat");
}

/// For convex shapes the signed distance is the maximum over all directions of the gap between
/// supporting planes. Its second derivatives are minus the sum of the radii of curvature of both and the
/// distance. Edges are represented by tubes, vertices by balls of tiny radius.
#[test]
fn pressed_convex_sides_stay_up_to_the_sum_of_their_radii() {
    let mut rng = SmallRng::seed_from_u64(7);
    let mut radii = |thin: usize| {
        let (s, c) = math::sin_cos(rng.random_range(0.0..7.0));
        let q = Matrix2::new(c, -s, s, c);
        let mut r = [rng.random_range(0.2..3.0), rng.random_range(0.2..3.0)];
        r.iter_mut().take(thin).for_each(|r| *r = 0.0);
        let form = q * Matrix2::new(r[0], 0.0, 0.0, r[1]) * q.transpose();
        let shape = match thin {
            0 => SideShape::Face { shape: form.try_inverse().expect("round") },
            1 => SideShape::Edge { tangent: q.column(1).into(), curvature: 1.0 / r[1] },
            _ => SideShape::Vertex,
        };
        (form, shape)
    };
    let mut counts = [0; 2];
    for k in 0..20_000 {
        let ((r_a, a), (r_b, b)) = (radii(k % 3), radii(k / 3 % 2));
        let d = -0.3 * f64::from(u32::try_from(k % 17).expect("small"));
        let least = (r_a + r_b).symmetric_eigenvalues().min() + d;
        if least.abs() < 1e-6 || matches!((&a, &b), (SideShape::Vertex, SideShape::Edge { .. })) {
            continue;
        }
        let (one, other) = (second_order(&a, &b, d, EXTENT, TOL), second_order(&b, &a, d, EXTENT, TOL));
        let strict = |o: SecondOrder| matches!(o, SecondOrder::Strict { .. });
        assert_eq!(strict(one), least > 0.0, "{one:?} of {a:?} {b:?} at {d}, {least}");
        assert_eq!(strict(other), least > 0.0, "swapped: {other:?} of {a:?} {b:?} at {d}, {least}");
        counts[usize::from(least > 0.0)] += 1;
    }
    assert!(counts.iter().all(|n| *n > 2000), "{counts:?}");
}

/// For a face with curvatures of any signs against a face or an edge, the outcome agrees with the
/// curvature of the gap between the offset of the face and the other shape, if the offset is regular.
#[test]
fn pressed_forms_are_those_of_the_distance() {
    let mut rng = SmallRng::seed_from_u64(8);
    let mut counts = [0; 2];
    for _ in 0..20_000 {
        let (a, b) = (random_side(&mut rng), random_side(&mut rng));
        let (SideShape::Face { shape }, false) = (a, matches!(b, SideShape::Vertex)) else { continue };
        let d = -rng.random_range(0.05..1.0);
        let e = shape.symmetric_eigen();
        if e.eigenvalues.iter().any(|k| 1.0 + d * k < 0.05) {
            continue;
        }
        // The offset of A by the distance has a shifted curvature, and the gap is measured against its
        // tangent plane.
        let curved = e.eigenvalues.map(|k| k / (1.0 + d * k));
        let offset = e.eigenvectors * Matrix2::from_diagonal(&curved) * e.eigenvectors.transpose();
        let least = match b {
            SideShape::Face { shape } => (offset + shape).symmetric_eigenvalues().min(),
            SideShape::Edge { tangent, curvature } => curvature + tangent.dot(&(offset * tangent)),
            SideShape::Vertex => continue,
        };
        if least.abs() < 1e-6 {
            continue;
        }
        for order in [second_order(&a, &b, d, EXTENT, TOL), second_order(&b, &a, d, EXTENT, TOL)] {
            let strict = matches!(order, SecondOrder::Strict { .. });
            assert_eq!(strict, least > 0.0, "{order:?} of {a:?} {b:?} at {d}, {least}");
        }
        counts[usize::from(least > 0.0)] += 1;
    }
    assert!(counts.iter().all(|n| *n > 1000), "{counts:?}");
}

#[test]
fn shape_operators_match_the_change_of_the_normal() {
    let frame = Frame::from_z(P3::new(1.0, 2.0, 3.0), V3::new(1.0, -2.0, 0.5), None).unwrap();
    let surfaces = [
        Surface::Plane { frame },
        Surface::Cylinder { frame, radius: 2.0 },
        Surface::Cone { frame, half_angle: 0.4 },
        Surface::Sphere { frame, radius: 3.0 },
        Surface::Torus { frame, major: 4.0, minor: 1.5 },
        Surface::Torus { frame, major: 1.0, minor: 1.5 },
    ];
    let mut rng = SmallRng::seed_from_u64(8);
    for (surface, outward) in surfaces.iter().flat_map(|s| [(s, true), (s, false)]) {
        for _ in 0..50 {
            let uv = P2::new(rng.random_range(-3.0..3.0), rng.random_range(0.2..1.4));
            let n = surface.normal(uv) * if outward { 1.0 } else { -1.0 };
            let basis = complete_basis(&n);
            let s = shape_operator(surface, uv, outward, &basis).unwrap();
            // dn = S dp must hold along every parameter direction.
            for step in [Vector2::new(1e-5, 0.0), Vector2::new(3e-6, -1e-5)] {
                let sign = if outward { 1.0 } else { -1.0 };
                let dn = (surface.normal(uv + step) - surface.normal(uv - step)) * sign;
                let dp = surface.point(uv + step) - surface.point(uv - step);
                let in_plane = |v: &V3| Vector2::new(v.dot(&basis.0), v.dot(&basis.1));
                let error = (in_plane(&dn) - s * in_plane(&dp)).norm() / step.norm();
                assert!(error < 1e-7, "{surface:?} {uv:?}: {error}");
            }
        }
    }
    let pole = shape_operator(
        &surfaces[3],
        P2::new(0.7, std::f64::consts::FRAC_PI_2),
        true,
        &complete_basis(&frame.z),
    );
    assert!((pole.unwrap() - Matrix2::identity() / 3.0).norm() < 1e-14, "pole of a sphere");
    assert!(
        shape_operator(&surfaces[2], P2::new(0.0, 0.0), true, &complete_basis(&frame.z)).is_none(),
        "apex"
    );
}
