//! Attempts to falsify the masks: for every pair of types, a search for the curvatures, the angle and
//! the distance that maximise (or minimise) the smallest eigenvalue of the Hessian.

use super::*;
use feeler_geom::{Frame, math};
use nalgebra::{DMatrix, Matrix2, Matrix2x1};
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Number of variables of a choice of two shapes and their position: three for each shape, the angle
/// between them and the distance.
const VARIABLES: usize = 8;
type Choice = [f64; VARIABLES];

/// Maps any number to a length between 0.01 and 100.
fn length(x: f64) -> f64 {
    let s = math::sin(x);
    math::powf(100.0, s)
}

/// Local shape of a feature type with principal curvatures.
enum Shape {
    Face(f64, f64),
    Edge(f64),
    Vertex,
}

fn shape(t: T, x: &[f64]) -> Shape {
    let r = length(x[0]);
    let torus = |sign: f64| {
        let (major, cos) = (length(x[1]), math::cos(x[2]));
        let rho = major + r * cos;
        // These are the outer sheet of ring and spindle tori, and the inner one with the outward normal
        // on the tube's side.
        Shape::Face(sign / r, if rho == 0.0 { 0.0 } else { sign * cos / rho })
    };
    match t {
        T::Plane => Shape::Face(0.0, 0.0),
        T::ConvexCylinder | T::ConvexCone => Shape::Face(1.0 / r, 0.0),
        T::ConcaveCylinder | T::ConcaveCone => Shape::Face(-1.0 / r, 0.0),
        T::ConvexSphere => Shape::Face(1.0 / r, 1.0 / r),
        T::ConcaveSphere => Shape::Face(-1.0 / r, -1.0 / r),
        T::ConvexTorus => torus(1.0),
        T::ConcaveTorus => torus(-1.0),
        T::StraightEdge => Shape::Edge(0.0),
        T::CurvedEdge => Shape::Edge(math::cos(x[1]) / r),
        T::Vertex => Shape::Vertex,
        T::FreeForm => Shape::Face(math::cos(x[1]) / r, math::cos(x[2]) / r),
    }
}

/// Smallest eigenvalue of the full Hessian of ½ distance² (MATH §2).
fn full_smallest(a: T, b: T, x: &Choice) -> f64 {
    let d = length(x[7]);
    let (sin, cos) = math::sin_cos(x[6]);
    let turn = Matrix2::new(cos, -sin, sin, cos);
    // Tangent directions, each with its curvature.
    let parts = |s: &Shape, turn: &Matrix2<f64>| -> Vec<(Matrix2x1<f64>, f64)> {
        match *s {
            Shape::Face(k1, k2) => vec![(turn.column(0).into(), k1), (turn.column(1).into(), k2)],
            Shape::Edge(k) => vec![(turn.column(0).into(), k)],
            Shape::Vertex => vec![],
        }
    };
    let mut all = parts(&shape(a, &x[0..3]), &Matrix2::identity());
    let n_a = all.len();
    all.extend(parts(&shape(b, &x[3..6]), &turn));
    if all.is_empty() {
        return 1.0;
    }
    DMatrix::from_fn(all.len(), all.len(), |i, j| match (i == j, (i < n_a) == (j < n_a)) {
        (true, _) => 1.0 + d * all[i].1,
        (_, true) => 0.0,
        _ => -all[i].0.dot(&all[j].0),
    })
    .symmetric_eigenvalues()
    .min()
}

/// Smallest eigenvalue of the Schur complement divided by d, `S_b + S_a (I + d S_a)⁻¹`, relative to the
/// size of the curvatures. Edges and vertices are represented by faces of vanishing radius. The distance
/// d may be exactly 0.
fn schur_smallest(a: T, b: T, x: &Choice) -> f64 {
    const SHARP: f64 = 1e6;
    let d = (length(x[7]) - 0.1).max(0.0);
    let curvatures = |s: Shape| match s {
        Shape::Face(k1, k2) => (k1, k2),
        // The curvatures along the edge and around it.
        Shape::Edge(k) => (k, SHARP),
        Shape::Vertex => (SHARP, SHARP),
    };
    let (a1, a2) = curvatures(shape(a, &x[0..3]));
    let (b1, b2) = curvatures(shape(b, &x[3..6]));
    let (p, q) = (1.0 + d * a1, 1.0 + d * a2);
    let block = p.min(q).min(1.0 + d * b1.min(b2));
    if block <= 0.0 {
        return block - 1.0;
    }
    let (sin, cos) = math::sin_cos(x[6]);
    let turn = Matrix2::new(cos, -sin, sin, cos);
    let m = Matrix2::new(a1 / p, 0.0, 0.0, a2 / q) + turn * Matrix2::new(b1, 0.0, 0.0, b2) * turn.transpose();
    let size = [a1, a2, b1, b2].iter().fold(0.0, |s: f64, k| s.max(k.abs())).max(1e-300);
    // The smaller eigenvalue without cancellation: M may be 1e6 in one direction and 0.01 in the other.
    let (half, diff) = (0.5 * (m.m11 + m.m22), math::hypot(0.5 * (m.m11 - m.m22), m.m12));
    let smaller = if half > 0.0 {
        let det = shifted_det((a1 / p, a2 / q), (b1, b2), sin, cos);
        det / (half + diff)
    } else {
        half - diff
    };
    smaller / size.min(100.0)
}

/// Computes det(diag(a) + R diag(b) Rᵀ), expanded so that only terms of opposite signs cancel.
fn shifted_det(a: (f64, f64), b: (f64, f64), sin: f64, cos: f64) -> f64 {
    let (s, c) = (sin * sin, cos * cos);
    a.0 * a.1 + b.0 * b.1 + a.0 * (b.0 * s + b.1 * c) + a.1 * (b.0 * c + b.1 * s)
}

/// Returns the largest value of `f` found by pattern searches from `restarts` random starts. The search
/// stops as soon as a value exceeds `enough`.
fn maximise(f: impl Fn(&Choice) -> f64, enough: f64, restarts: usize, rng: &mut SmallRng) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for _ in 0..restarts {
        let mut x: Choice = std::array::from_fn(|_| rng.random_range(-3.2..3.2));
        let mut value = f(&x);
        let mut step = 0.8;
        while step > 1e-7 && value <= enough {
            let before = value;
            for i in 0..VARIABLES {
                for sign in [1.0, -1.0] {
                    let mut y = x;
                    y[i] += sign * step;
                    let v = f(&y);
                    if v > value {
                        (x, value) = (y, v);
                    }
                }
            }
            if value <= before {
                step *= 0.5;
            }
        }
        best = best.max(value);
        if best > enough {
            break;
        }
    }
    best
}

fn pairs() -> impl Iterator<Item = (T, T)> {
    T::ALL.into_iter().flat_map(|a| T::ALL.into_iter().map(move |b| (a, b)))
}

#[test]
fn tables_are_symmetric_and_bits_are_in_order() {
    for (i, t) in T::ALL.iter().enumerate() {
        assert_eq!(*t as usize, i, "order of ALL");
    }
    for (a, b) in pairs() {
        assert_eq!(
            strict_compatible(a.bit(), b.bit()),
            strict_compatible(b.bit(), a.bit()),
            "strict {a:?} {b:?}"
        );
        assert_eq!(
            conformal_compatible(a.bit(), b.bit()),
            conformal_compatible(b.bit(), a.bit()),
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn strict_entries_are_cleared_exactly_where_no_choice_is_positive_definite() {
    let mut rng = SmallRng::seed_from_u64(21);
    for (a, b) in pairs().filter(|(a, b)| a <= b) {
        let set = strict_compatible(a.bit(), b.bit());
        let schur = maximise(|x| schur_smallest(a, b, x), 1e-4, if set { 200 } else { 40 }, &mut rng);
        let full = maximise(|x| full_smallest(a, b, x), 1e-4, if set { 200 } else { 10 }, &mut rng);
        if set {
            assert!(schur > 1e-4 && full > 1e-4, "{a:?} x {b:?} is set, but only {schur:e}, {full:e} found");
        } else {
            // The full Hessian has entries up to 1e4.
            assert!(
                schur < 1e-12 && full < 1e-10,
                "{a:?} x {b:?} is cleared, but {schur:e}, {full:e} was found"
            );
        }
    }
    // A positive control with numbers: two spools that cross neck in groove.
    assert!(strict_compatible(T::ConcaveTorus.bit(), T::ConcaveTorus.bit()), "crossed spools");
    let spools = Matrix2::new(-1.0, 0.0, 0.0, 2.0) + Matrix2::new(2.0, 0.0, 0.0, -1.0);
    assert!((spools - Matrix2::identity()).norm() < 1e-15, "diag(-1, 2) + diag(2, -1) = I");
}

#[test]
fn conformal_entries_are_cleared_exactly_where_no_singular_minimum_exists() {
    let mut rng = SmallRng::seed_from_u64(22);
    for (a, b) in pairs().filter(|(a, b)| a <= b) {
        let set = conformal_compatible(a.bit(), b.bit());
        let enough = if set { -1e-12 } else { 1e-6 };
        let largest = maximise(|x| full_smallest(a, b, x), enough, if set { 300 } else { 10 }, &mut rng);
        let smallest =
            -maximise(|x| -full_smallest(a, b, x), if set { -1e-12 } else { f64::INFINITY }, 10, &mut rng);
        // Curvatures here are 0 or at least 0.01, so an eigenvalue of either sign is clearly different
        // from 0.
        let singular = largest >= -1e-10 && smallest <= 1e-10;
        let clear = largest < -1e-7 || smallest > 1e-7;
        assert!(
            if set { singular } else { clear },
            "{a:?} x {b:?} (set: {set}): from {smallest:e} to {largest:e}"
        );
    }
}

#[test]
fn types_of_surfaces_and_curves() {
    let frame = Frame::identity();
    let of = |s: &Surface, outward, inner| T::of_surface(s, outward, inner);
    assert_eq!(of(&Surface::Plane { frame }, false, false), T::Plane, "plane");
    assert_eq!(of(&Surface::Cylinder { frame, radius: 1.0 }, true, false), T::ConvexCylinder, "pin");
    assert_eq!(of(&Surface::Cylinder { frame, radius: 1.0 }, false, false), T::ConcaveCylinder, "bore");
    assert_eq!(of(&Surface::Cone { frame, half_angle: 0.3 }, false, false), T::ConcaveCone, "cone");
    assert_eq!(of(&Surface::Sphere { frame, radius: 1.0 }, true, false), T::ConvexSphere, "ball");
    let ring = Surface::Torus { frame, major: 2.0, minor: 1.0 };
    assert_eq!(of(&ring, true, false), T::ConvexTorus, "inside of a ring");
    assert_eq!(of(&ring, false, false), T::ConcaveTorus, "groove");
    let spindle = Surface::Torus { frame, major: 1.0, minor: 2.0 };
    assert_eq!(of(&spindle, true, false), T::ConvexTorus, "outer sheet");
    assert_eq!(of(&spindle, false, true), T::ConvexTorus, "lemon");
    assert_eq!(T::of_curve(&Curve::Circle { frame, radius: 1.0 }), T::CurvedEdge, "circle");
    let line = Curve::Line { origin: frame.origin, dir: frame.z };
    assert_eq!(T::of_curve(&line), T::StraightEdge, "line");
    assert!(strict_compatible(1 << 15, T::Plane.bit()) && !strict_compatible(0, ALL), "unknown and empty");
}
