//! Second-order contact geometry: is a critical pair of footpoints a strict local minimum?
//!
//! # Source
//! MATH §2, the generalisation of BREP (2.6): with `n` from A to B and everything written in one orthonormal basis
//! of the plane orthogonal to it, the Hessian of ½ distance² by the displacements of both footpoints is
//!
//! ```text
//! [ J_aᵀ (I + d S_a) J_a    -J_aᵀ J_b            ]      face: J = I, S its shape operator;
//! [ -J_bᵀ J_a               J_bᵀ (I + d S_b) J_b ]      edge: J = unit tangent, S its curvature; vertex: no block.
//! ```
//!
//! # Deviations
//! At d = 0 that form is singular wherever tangent spaces overlap, so with a face we decide by its Schur complement,
//! divided by d: the Hessian of the *distance* itself by one footpoint, the other one following. It is regular at d = 0.
//!
//! # Negative distances
//! With `d < 0` the footpoints are pressed into the other side, and the distance along `n` grows with every displacement of a
//! contact. With both faces that is so if any of three forms is positive definite: the complement by either side, or, deeper than
//! both are curved, `S_a + S_b` together with `I + d S_a (S_a + S_b)⁻¹ S_b`; where several apply they agree. An edge has two such
//! forms likewise. An edge against a vertex, or two vertices, are never pressed: they come apart along one of their faces.
//!
//! # Thresholds
//! All are lengths. A form counts as semidefinite when, moving the footpoints by `extent` (the size of the areas), its
//! weakest direction changes the distance by less than `tol`: `|κ| extent² ≤ tol` for a second derivative κ of the
//! distance, `|λ| extent² ≤ tol² + 2 d tol` for an eigenvalue λ of the Hessian of ½ distance²
//! (since `√(d² + λ e²) ≤ d + tol`).

use crate::{P2, Surface, V3};
use nalgebra::{Matrix2, Vector2};

/// The local shape of one side, in an orthonormal basis of the plane orthogonal to the normal of the pair. Curvatures
/// are signed against the side's *own* outward direction (`n` for A, `-n` for B): positive where the side bends
/// away from the other one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SideShape {
    /// A face.
    Face {
        /// Shape operator against the outward normal.
        shape: Matrix2<f64>,
    },
    /// An edge.
    Edge {
        /// Unit tangent.
        tangent: Vector2<f64>,
        /// `-⟨k, outward⟩` with `k` the curvature vector.
        curvature: f64,
    },
    /// A vertex.
    Vertex,
}

impl SideShape {
    /// The shape of an edge from its tangent (any length), its curvature vector `k` (1/mm) and the side's outward unit
    /// direction; `basis` as everywhere. The tangent should be orthogonal to `outward`.
    #[must_use]
    pub fn edge(tangent: &V3, k: &V3, outward: &V3, basis: &(V3, V3)) -> Self {
        let t = Vector2::new(tangent.dot(&basis.0), tangent.dot(&basis.1));
        let tangent = t.try_normalize(0.0).unwrap_or_else(Vector2::x);
        Self::Edge { tangent, curvature: -k.dot(outward) }
    }

    /// The shape of a face, see [`shape_operator`].
    #[must_use]
    pub fn face(surface: &Surface, uv: P2, outward: bool, basis: &(V3, V3)) -> Option<Self> {
        shape_operator(surface, uv, outward, basis).map(|shape| Self::Face { shape })
    }
}

/// Outcome of the second-order test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SecondOrder {
    /// A strict local minimum.
    Strict {
        /// Smallest second derivative of the distance (1/mm) by the displacement of a footpoint; infinite where the
        /// distance is not smooth (a vertex or crossing edges in contact).
        min_eig: f64,
    },
    /// Flat within the tolerance in some direction, and nowhere falling: conformal, if a minimum at all.
    Semidefinite {
        /// As of a strict minimum, of either sign: what is known of the flat direction. 0 in contact, where the distance
        /// is not smooth.
        min_eig: f64,
    },
    /// A saddle or a maximum.
    Indefinite,
}

/// Above this an eigenvalue of the (dimensionless) Hessian of ½ distance² is never taken for zero: small features far
/// apart would otherwise all be "flat" in terms of length.
const FLATTEST: f64 = 1e-4;

/// Second-order test of a critical pair at distance `d` (mm; negative where the sides are pressed into one another). `extent` is the
/// size of the areas, `tol` the tolerance, see the module's text.
#[must_use]
pub fn second_order(a: &SideShape, b: &SideShape, d: f64, extent: f64, tol: f64) -> SecondOrder {
    use SideShape::{Edge, Face, Vertex};
    let test = Test {
        d,
        tol_kappa: tol / (extent * extent),
        tol_lambda: (tol * (tol + 2.0 * d.max(0.0)) / (extent * extent)).min(FLATTEST),
    };
    match (a, b) {
        (Face { shape: s_a }, Face { shape: s_b }) => test.face_face(s_a, s_b),
        (Face { shape }, Edge { tangent, curvature }) | (Edge { tangent, curvature }, Face { shape }) => {
            test.face_edge(shape, tangent, *curvature)
        }
        (Face { shape }, Vertex) | (Vertex, Face { shape }) => {
            let e = eigen(shape).eigenvalues;
            test.of_lambda(1.0 + d * if d < 0.0 { e.max() } else { e.min() })
        }
        (Edge { tangent: t_a, curvature: k_a }, Edge { tangent: t_b, curvature: k_b }) => {
            test.edge_edge(t_a, *k_a, t_b, *k_b)
        }
        (Edge { curvature, .. }, Vertex) | (Vertex, Edge { curvature, .. }) => {
            test.of_lambda(1.0 + d * curvature)
        }
        (Vertex, Vertex) => SecondOrder::Strict { min_eig: f64::INFINITY },
    }
}

/// Distance and thresholds of one test.
struct Test {
    d: f64,
    /// For second derivatives of the distance (1/mm).
    tol_kappa: f64,
    /// For eigenvalues of the Hessian of ½ distance².
    tol_lambda: f64,
}

impl Test {
    /// Both Schur complements `S_b + S_a (I + d S_a)⁻¹` and the mirrored one: they have the same signature, and asking
    /// both makes the outcome independent of the order of the sides.
    fn face_face(&self, s_a: &Matrix2<f64>, s_b: &Matrix2<f64>) -> SecondOrder {
        let complement = |s: &Matrix2<f64>, other: &Matrix2<f64>| {
            let e = eigen(s);
            let stretched = e.eigenvalues.map(|k| 1.0 + self.d * k);
            // A singular block has a nonzero coupling to the other side: not semidefinite.
            if stretched.min().is_nan() || stretched.min() <= 0.0 {
                return None;
            }
            let curved = Matrix2::from_diagonal(&e.eigenvalues.component_div(&stretched));
            Some(eigen(&(other + e.eigenvectors * curved * e.eigenvectors.transpose())).eigenvalues.min())
        };
        match (complement(s_a, s_b), complement(s_b, s_a)) {
            (Some(by_b), Some(by_a)) => self.of_kappa(by_a.min(by_b)),
            (Some(kappa), None) | (None, Some(kappa)) if self.d < 0.0 => self.of_kappa(kappa),
            (None, None) if self.d < 0.0 => self.pressed_faces(s_a, s_b),
            _ => SecondOrder::Indefinite,
        }
    }

    /// Faces pressed deeper into each other than either is curved: `W = S_a + S_b ≻ 0` and `I + d S_a W⁻¹ S_b ≻ 0`.
    fn pressed_faces(&self, s_a: &Matrix2<f64>, s_b: &Matrix2<f64>) -> SecondOrder {
        let sum = s_a + s_b;
        let kappa = eigen(&sum).eigenvalues.min();
        match sum.try_inverse() {
            Some(inverse) if kappa > self.tol_kappa => {
                let joint = Matrix2::identity() + s_a * inverse * s_b * self.d;
                let lambda = eigen(&joint).eigenvalues.min();
                if lambda > 0.0 {
                    SecondOrder::Strict { min_eig: kappa * lambda }
                } else {
                    SecondOrder::Indefinite
                }
            }
            _ => SecondOrder::Indefinite,
        }
    }

    /// `I + d S ≻ 0` (λ) and `κ + tᵀ S (I + d S)⁻¹ t > 0`; of an edge pressed deeper into a face than that is curved, see
    /// [`Test::pressed_edge`].
    fn face_edge(&self, s: &Matrix2<f64>, t: &Vector2<f64>, curvature: f64) -> SecondOrder {
        let e = eigen(s);
        if self.d < 0.0 && 1.0 + self.d * e.eigenvalues.max() <= 0.0 {
            return self.pressed_edge(s, t, curvature);
        }
        let mut kappa = curvature;
        let mut lambda = f64::INFINITY;
        for i in 0..2 {
            let k = e.eigenvalues[i];
            let stretched = 1.0 + self.d * k;
            let share = t.dot(&e.eigenvectors.column(i));
            let pull = share * share * k;
            lambda = lambda.min(stretched);
            if stretched > self.tol_lambda {
                kappa += pull / stretched;
            } else if stretched.is_nan() || pull.abs() > self.tol_kappa {
                // A vanishing block with a coupling.
                return SecondOrder::Indefinite;
            }
        }
        self.both(self.of_lambda(lambda), self.of_kappa(kappa))
    }

    /// `w = κ + tᵀ S t > 0` and `I + d (S - S t tᵀ S / w) ≻ 0`.
    fn pressed_edge(&self, s: &Matrix2<f64>, t: &Vector2<f64>, curvature: f64) -> SecondOrder {
        let along = s * t;
        let w = curvature + t.dot(&along);
        if w.is_nan() || w <= self.tol_kappa {
            return SecondOrder::Indefinite;
        }
        let joint = Matrix2::identity() + (s - along * along.transpose() / w) * self.d;
        let lambda = eigen(&joint).eigenvalues.min();
        if lambda > 0.0 { SecondOrder::Strict { min_eig: w * lambda } } else { SecondOrder::Indefinite }
    }

    /// `[1 + d κ_a, -c; -c, 1 + d κ_b]`, c the cosine of the tangents' angle.
    fn edge_edge(&self, t_a: &Vector2<f64>, k_a: f64, t_b: &Vector2<f64>, k_b: f64) -> SecondOrder {
        let sin = t_a.perp(t_b);
        let cos = t_a.dot(t_b);
        let d = self.d;
        let bend = k_a + k_b + d * k_a * k_b;
        let (block_a, block_b) = (1.0 + d * k_a, 1.0 + d * k_b);
        let det = sin * sin + d * bend;
        let half_diff = 0.5 * (block_a - block_b);
        let largest = 0.5 * (block_a + block_b) + (half_diff * half_diff + cos * cos).sqrt();
        if largest.is_nan() || largest <= 0.0 {
            return SecondOrder::Indefinite;
        }
        let outcome = self.of_lambda(det / largest);
        // Tangent edges in contact: the Hessian of ½ distance² vanishes, that of the distance need not.
        let kappa = bend / block_a.max(block_b);
        let flat = matches!(outcome, SecondOrder::Semidefinite { .. });
        if flat && block_a.min(block_b) > 0.0 && kappa > self.tol_kappa {
            return SecondOrder::Strict { min_eig: kappa };
        }
        outcome
    }

    /// By an eigenvalue of the Hessian of ½ distance².
    fn of_lambda(&self, lambda: f64) -> SecondOrder {
        if lambda > self.tol_lambda {
            let min_eig = if self.d > 0.0 { lambda / self.d } else { f64::INFINITY };
            SecondOrder::Strict { min_eig }
        } else if lambda >= -self.tol_lambda {
            SecondOrder::Semidefinite { min_eig: if self.d > 0.0 { lambda / self.d } else { 0.0 } }
        } else {
            SecondOrder::Indefinite
        }
    }

    /// By a second derivative of the distance.
    fn of_kappa(&self, kappa: f64) -> SecondOrder {
        if kappa > self.tol_kappa {
            SecondOrder::Strict { min_eig: kappa }
        } else if kappa >= -self.tol_kappa {
            SecondOrder::Semidefinite { min_eig: kappa }
        } else {
            SecondOrder::Indefinite
        }
    }

    /// The worse of two.
    fn both(&self, x: SecondOrder, y: SecondOrder) -> SecondOrder {
        use SecondOrder::{Indefinite, Semidefinite, Strict};
        match (x, y) {
            (Indefinite, _) | (_, Indefinite) => Indefinite,
            (Semidefinite { min_eig: p }, Semidefinite { min_eig: q }) => {
                Semidefinite { min_eig: if p.abs() < q.abs() { p } else { q } }
            }
            (flat @ Semidefinite { .. }, _) | (_, flat @ Semidefinite { .. }) => flat,
            (Strict { min_eig: p }, Strict { min_eig: q }) => Strict { min_eig: p.min(q) },
        }
    }
}

/// Eigenvalues of the symmetric part of a matrix, the larger one first, and its eigenvectors in columns; in closed form.
struct Eigen {
    eigenvalues: Vector2<f64>,
    eigenvectors: Matrix2<f64>,
}

fn eigen(s: &Matrix2<f64>) -> Eigen {
    let (half_sum, half_diff) = (0.5 * (s[(0, 0)] + s[(1, 1)]), 0.5 * (s[(0, 0)] - s[(1, 1)]));
    let off = 0.5 * (s[(0, 1)] + s[(1, 0)]);
    let radius = (half_diff * half_diff + off * off).sqrt();
    // Across the other one: the longer of the two columns that both are multiples of the first eigenvector.
    let v = if half_diff >= 0.0 {
        Vector2::new(half_diff + radius, off)
    } else {
        Vector2::new(off, radius - half_diff)
    };
    let v = v.try_normalize(0.0).unwrap_or_else(Vector2::x);
    Eigen {
        eigenvalues: Vector2::new(half_sum + radius, half_sum - radius),
        eigenvectors: Matrix2::new(v.x, -v.y, v.y, v.x),
    }
}

/// Shape operator of a surface against its outward normal (`outward`: the natural one), in an orthonormal basis of
/// the plane orthogonal to the pair's normal; positive where the material is convex. `None` where the surface
/// has no finite curvature (apex, singular point).
///
/// The basis may be off the tangent plane by what tolerances allow: curvature directions are projected on it.
#[must_use]
pub fn shape_operator(surface: &Surface, uv: P2, outward: bool, basis: &(V3, V3)) -> Option<Matrix2<f64>> {
    let p = surface.principal(uv);
    let sign = if outward { 1.0 } else { -1.0 };
    let part = |k: f64, dir: &V3| {
        let e = Vector2::new(dir.dot(&basis.0), dir.dot(&basis.1));
        e * e.transpose() * (sign * k)
    };
    let s = part(p.k1, &p.dir1) + part(p.k2, &p.dir2);
    s.iter().all(|v| v.is_finite()).then_some(s)
}

#[cfg(test)]
mod tests {
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

    /// Displacement of a footpoint along the osculating paraboloid (parabola): in the plane, and outward.
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
        let ((va, ha), (vb, hb)) =
            (displaced(a, &q.as_slice()[..na]), displaced(b, &q.as_slice()[na..na + nb]));
        let gap = d - ha - hb;
        ((va - vb).norm_squared() + gap * gap).sqrt()
    }

    /// Hessian of ½ distance² by central differences.
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

    /// Eigenvalues and eigenvectors make up the symmetric part, equal and very different ones too.
    #[test]
    fn eigenvectors_make_up_the_matrix() {
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
            let made = e.eigenvectors * Matrix2::from_diagonal(&e.eigenvalues) * e.eigenvectors.transpose();
            assert!((made - (s + s.transpose()) * 0.5).norm() <= 1e-15 * (1.0 + s.norm()), "{made} of {s}");
            assert!(
                (e.eigenvectors.transpose() * e.eigenvectors - Matrix2::identity()).norm() < 1e-15,
                "{s}"
            );
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
            assert_eq!(
                std::mem::discriminant(&got),
                std::mem::discriminant(&swapped),
                "round {round}: order"
            );
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
        assert!(counts.iter().all(|&c| c > 100), "all outcomes met: {counts:?}");
    }

    #[test]
    fn the_smallest_eigenvalue_is_that_of_the_distance() {
        // Minimise over A's footpoint for given displacements of B's: what min_eig promises for face against face.
        let mut rng = SmallRng::seed_from_u64(6);
        let mut met = 0;
        while met < 200 {
            let (a, b) = (random_side(&mut rng), random_side(&mut rng));
            let d = rng.random_range(0.2..2.0);
            if !matches!((a, b), (SideShape::Face { .. }, SideShape::Face { .. })) {
                continue;
            }
            let SecondOrder::Strict { min_eig } = second_order(&a, &b, d, EXTENT, TOL) else { continue };
            met += 1;
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
        // A ball of radius 9.95 in a bore of radius 10, and the crossed and parallel pins, at d from 0 to 0.04 (0.05 is concentric).
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
            // The larger footpoint displacement has the smaller derivative.
            assert!(d > 0.03 || (got - exact).abs() < 1e-5, "{got} {exact}");
            assert!(flat(second_order(&pin(1.0 / 9.95), &bore, d, 20.0, 1e-6)), "parallel");
            assert_eq!(second_order(&pin(0.05), &bore, d, 20.0, 1e-6), SecondOrder::Indefinite, "too thick");
            let spool = SideShape::Face { shape: Matrix2::new(-1.0, 0.0, 0.0, 2.0) };
            let across = SideShape::Face { shape: Matrix2::new(2.0, 0.0, 0.0, -1.0) };
            strict(&spool, &across);
        }
        // Crossed spools lose the minimum at 0.5: (1 - d)(1 + 2d) = 1.
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
        // Straight edges in a bore of radius 1: on its axis all directions around are equal; off the axis, along the
        // bore, it slides.
        let bore = SideShape::Face { shape: Matrix2::new(0.0, 0.0, 0.0, -1.0) };
        assert!(flat(test(&bore, &edge(0.0, 0.0), 1.0)), "on the axis");
        assert!(flat(test(&bore, &edge(0.0, 0.0), 0.5)), "along the bore");
        assert_eq!(test(&bore, &edge(0.0, 0.0), 1.5), SecondOrder::Indefinite, "beyond the axis");
        assert_eq!(test(&bore, &edge(0.3, 0.0), 0.5), SecondOrder::Indefinite, "across");
        assert!(flat(test(&bore, &SideShape::Vertex, 1.0)), "vertex on the axis");
        assert_eq!(test(&bore, &SideShape::Vertex, 1.1), SecondOrder::Indefinite, "vertex beyond the axis");
        let inside = test(&bore, &SideShape::Vertex, 0.0);
        assert_eq!(inside, SecondOrder::Strict { min_eig: f64::INFINITY }, "vertex in contact");
        let far =
            second_order(&SideShape::Face { shape: Matrix2::zeros() }, &SideShape::Vertex, 1e3, 1e-3, 1e-6);
        assert!(matches!(far, SecondOrder::Strict { .. }), "a small face far from a vertex is no family");
    }

    /// Convex sides: the signed distance is the largest over all directions of the gap between supporting planes, whose second
    /// derivatives are minus the radii of curvature of both and the distance. Edges are tubes, vertices balls of almost no radius.
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
        let mut met = [0; 2];
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
            met[usize::from(least > 0.0)] += 1;
        }
        assert!(met.iter().all(|n| *n > 2000), "{met:?}");
    }

    /// Forms of any signs: the gap over points of one side with their feet on the other one, wherever those are regular.
    #[test]
    fn pressed_forms_are_those_of_the_distance() {
        let mut rng = SmallRng::seed_from_u64(8);
        let mut met = [0; 2];
        for _ in 0..20_000 {
            let (a, b) = (random_side(&mut rng), random_side(&mut rng));
            let (SideShape::Face { shape }, false) = (a, matches!(b, SideShape::Vertex)) else { continue };
            let d = -rng.random_range(0.05..1.0);
            let e = shape.symmetric_eigen();
            if e.eigenvalues.iter().any(|k| 1.0 + d * k < 0.05) {
                continue;
            }
            // The height of A's offset over its tangent plane is as curved as A, moved by the distance.
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
            met[usize::from(least > 0.0)] += 1;
        }
        assert!(met.iter().all(|n| *n > 1000), "{met:?}");
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
                // dn = S dp along every parameter direction.
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
}
