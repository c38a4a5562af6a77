//! Second-order contact geometry: decides whether a critical pair of footpoints is a strict local
//! minimum.
//!
//! # Source
//! MATH §2, a generalisation of BREP (2.6). With `n` from A to B and all quantities in one orthonormal
//! basis of the plane orthogonal to `n`, the Hessian of ½ distance² by the displacements of both
//! footpoints is
//!
//! ```text
//! [ J_aᵀ (I + d S_a) J_a    -J_aᵀ J_b            ]
//! [ -J_bᵀ J_a               J_bᵀ (I + d S_b) J_b ]
//! ```
//!
//! A face has J = I and its shape operator as S, an edge its unit tangent as J and its curvature as S. A
//! vertex has no block.
//!
//! # Deviations
//! At d = 0 this form is singular if the tangent spaces overlap. For pairs with a face the test
//! therefore uses the Schur complement divided by d: the Hessian of the *distance* by one footpoint
//! while the other one follows. It is regular at d = 0.
//!
//! # Negative distances
//! With `d < 0` the solids penetrate each other, and a contact is a minimum if the signed distance along
//! `n` grows with every displacement of the footpoints. For two faces this is so if any of three forms
//! is positive definite: the Schur complement by A's or by B's footpoint, or, if the penetration is
//! deeper than the radii of curvature of both, `S_a + S_b` together with `I + d S_a (S_a + S_b)⁻¹ S_b`.
//! If several forms apply, they agree. An edge and a face have two such forms. An edge against a vertex
//! and two vertices are not tested this way: they separate along one of their faces.
//!
//! # Thresholds
//! All thresholds are lengths. A form counts as semidefinite if a displacement of the footpoints by
//! `extent` (the size of the areas) in its weakest direction changes the distance by less than `tol`.
//! That is `|κ| extent² ≤ tol` for a second derivative κ of the distance, and `|λ| extent² ≤ tol² + 2 d
//! tol` for an eigenvalue λ of the Hessian of ½ distance² (since `√(d² + λ e²) ≤ d + tol`).

use crate::{P2, Surface, V3};
use nalgebra::{Matrix2, Vector2};

/// Local shape of one solid at its footpoint of a critical pair, in an orthonormal basis of the plane
/// orthogonal to the normal `n` of the pair. Curvatures (1/mm) are signed by the solid's *own* outward
/// direction (`n` for A, `-n` for B): positive if the feature bends away from the other solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SideShape {
    /// The footpoint is inside a face.
    Face {
        /// Shape operator (1/mm) with respect to the outward normal.
        shape: Matrix2<f64>,
    },
    /// The footpoint is on an edge.
    Edge {
        /// Unit tangent of the edge.
        tangent: Vector2<f64>,
        /// `-⟨k, outward⟩` (1/mm), with `k` the curvature vector of the edge and `outward` the outward
        /// direction.
        curvature: f64,
    },
    /// The footpoint is a vertex.
    Vertex,
}

impl SideShape {
    /// Creates the shape of an edge from its tangent (any length), its curvature vector `k` (1/mm) and
    /// the outward unit direction of its solid, in the given basis. The tangent should be orthogonal to
    /// `outward`.
    #[must_use]
    pub fn edge(tangent: &V3, k: &V3, outward: &V3, basis: &(V3, V3)) -> Self {
        let t = Vector2::new(tangent.dot(&basis.0), tangent.dot(&basis.1));
        let tangent = t.try_normalize(0.0).unwrap_or_else(Vector2::x);
        Self::Edge { tangent, curvature: -k.dot(outward) }
    }

    /// Creates the shape of a face from its [`shape_operator`] at the parameters `uv`. Returns `None`
    /// where the surface has no finite curvature.
    #[must_use]
    pub fn face(surface: &Surface, uv: P2, outward: bool, basis: &(V3, V3)) -> Option<Self> {
        shape_operator(surface, uv, outward, basis).map(|shape| Self::Face { shape })
    }
}

/// Outcome of the second-order test of a critical pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SecondOrder {
    /// The pair is a strict local minimum of the distance.
    Strict {
        /// Smallest second derivative of the distance (1/mm) by a displacement of a footpoint; infinite
        /// if the distance is not smooth (a vertex or crossing edges in contact).
        min_eig: f64,
    },
    /// The second derivative of the distance is 0 within the thresholds in some direction, and not
    /// negative in any. If the pair is a minimum, it is conformal, that is, not isolated.
    Semidefinite {
        /// Second derivative (1/mm) in the flat direction, of either sign; 0 at distance 0 if the
        /// distance is not smooth.
        min_eig: f64,
    },
    /// The pair is a saddle or a maximum of the distance.
    Indefinite,
}

/// Maximum eigenvalue of the (dimensionless) Hessian of ½ distance² at which a form may count as flat.
/// Without this limit all pairs of small features far apart would count as flat. With a larger value
/// such features count as flat; with a smaller one minima of flat contacts are lost as saddles.
const MAX_FLAT_LAMBDA: f64 = 1e-4;

/// Classifies a critical pair with the local shapes `a` and `b` at the signed distance `d` (mm; negative
/// for penetration) by the second derivatives of the distance. A direction counts as flat if a
/// displacement of the footpoints by `extent` (mm) along it changes the distance by less than `tol`
/// (mm); `extent` is usually the size of the smaller area. The module documentation derives the
/// thresholds.
#[must_use]
pub fn second_order(a: &SideShape, b: &SideShape, d: f64, extent: f64, tol: f64) -> SecondOrder {
    use SideShape::{Edge, Face, Vertex};
    let test = Test {
        d,
        tol_kappa: tol / (extent * extent),
        tol_lambda: (tol * (tol + 2.0 * d.max(0.0)) / (extent * extent)).min(MAX_FLAT_LAMBDA),
    };
    match (a, b) {
        (Face { shape: s_a }, Face { shape: s_b }) => test.face_face(s_a, s_b),
        (Face { shape }, Edge { tangent, curvature }) | (Edge { tangent, curvature }, Face { shape }) => {
            test.face_edge(shape, tangent, *curvature)
        }
        (Face { shape }, Vertex) | (Vertex, Face { shape }) => {
            let e = eigen(shape).eigenvalues;
            test.classify_lambda(1.0 + d * if d < 0.0 { e.max() } else { e.min() })
        }
        (Edge { tangent: t_a, curvature: k_a }, Edge { tangent: t_b, curvature: k_b }) => {
            test.edge_edge(t_a, *k_a, t_b, *k_b)
        }
        (Edge { curvature, .. }, Vertex) | (Vertex, Edge { curvature, .. }) => {
            test.classify_lambda(1.0 + d * curvature)
        }
        (Vertex, Vertex) => SecondOrder::Strict { min_eig: f64::INFINITY },
    }
}

/// Distance `d` (mm) and thresholds of the test of one pair.
struct Test {
    d: f64,
    /// Magnitude up to which second derivatives of the distance (1/mm) count as zero.
    tol_kappa: f64,
    /// Magnitude up to which eigenvalues of the Hessian of ½ distance² (dimensionless) count as zero.
    tol_lambda: f64,
}

impl Test {
    /// Tests two faces with shape operators `S_a` (`s_a`) and `S_b` (`s_b`) at the signed distance d by both
    /// Schur complements of the Hessian of the distance, `S_b + S_a (I + d S_a)⁻¹` and the one with A and
    /// B exchanged. They have the same signature; testing both makes the outcome independent of the order
    /// of A and B.
    fn face_face(&self, s_a: &Matrix2<f64>, s_b: &Matrix2<f64>) -> SecondOrder {
        let complement = |s: &Matrix2<f64>, other: &Matrix2<f64>| {
            let e = eigen(s);
            let stretched = e.eigenvalues.map(|k| 1.0 + self.d * k);
            // A singular block has a nonzero coupling to the other side, so the form is not
            // semidefinite.
            if stretched.min().is_nan() || stretched.min() <= 0.0 {
                return None;
            }
            let curved = Matrix2::from_diagonal(&e.eigenvalues.component_div(&stretched));
            Some(eigen(&(other + e.eigenvectors * curved * e.eigenvectors.transpose())).eigenvalues.min())
        };
        match (complement(s_a, s_b), complement(s_b, s_a)) {
            (Some(by_b), Some(by_a)) => self.classify_kappa(by_a.min(by_b)),
            (Some(kappa), None) | (None, Some(kappa)) if self.d < 0.0 => self.classify_kappa(kappa),
            (None, None) if self.d < 0.0 => self.pressed_faces(s_a, s_b),
            _ => SecondOrder::Indefinite,
        }
    }

    /// Tests two faces with shape operators `S_a` and `S_b` that penetrate each other deeper than the radii
    /// of curvature of both, at the signed distance d < 0. The pair is a minimum if `W = S_a + S_b ≻ 0`
    /// and `I + d S_a W⁻¹ S_b ≻ 0`.
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

    /// Tests a face with shape operator S (`s`) against an edge with unit tangent t (`t`) and curvature κ
    /// (`curvature`), as in [`SideShape`], at the signed distance d: the smallest eigenvalue λ of `I + d
    /// S` and the second derivative `κ + tᵀ S (I + d S)⁻¹ t` of the distance must both be positive.
    /// Returns the worse of the two outcomes. If the edge penetrates deeper than the smallest radius of
    /// curvature of the face, [`Test::pressed_edge`] is used instead.
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
                // The block vanishes but its coupling does not.
                return SecondOrder::Indefinite;
            }
        }
        self.worse(self.classify_lambda(lambda), self.classify_kappa(kappa))
    }

    /// Tests a face against an edge that penetrates it deeper than its smallest radius of curvature, at
    /// the signed distance d < 0. S (`s`) is the face's shape operator, t (`t`) the edge's unit tangent
    /// and κ (`curvature`) its curvature. The pair is a minimum if `w = κ + tᵀ S t > 0` and `I + d (S - S
    /// t tᵀ S / w) ≻ 0`.
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

    /// Tests two edges with unit tangents `t_a`, `t_b` and curvatures `κ_a` (`k_a`), `κ_b` (`k_b`) at the
    /// signed distance d, by the smallest eigenvalue of the Hessian `[1 + d κ_a, -c; -c, 1 + d κ_b]`,
    /// with c the cosine of the angle between the tangents.
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
        let outcome = self.classify_lambda(det / largest);
        // For tangent edges in contact the Hessian of ½ distance² vanishes, but that of the distance
        // need not.
        let kappa = bend / block_a.max(block_b);
        let flat = matches!(outcome, SecondOrder::Semidefinite { .. });
        if flat && block_a.min(block_b) > 0.0 && kappa > self.tol_kappa {
            return SecondOrder::Strict { min_eig: kappa };
        }
        outcome
    }

    /// Classifies a pair by the smallest eigenvalue (dimensionless) of the Hessian of ½ distance².
    fn classify_lambda(&self, lambda: f64) -> SecondOrder {
        if lambda > self.tol_lambda {
            let min_eig = if self.d > 0.0 { lambda / self.d } else { f64::INFINITY };
            SecondOrder::Strict { min_eig }
        } else if lambda >= -self.tol_lambda {
            SecondOrder::Semidefinite { min_eig: if self.d > 0.0 { lambda / self.d } else { 0.0 } }
        } else {
            SecondOrder::Indefinite
        }
    }

    /// Classifies a pair by the smallest second derivative (1/mm) of the distance.
    fn classify_kappa(&self, kappa: f64) -> SecondOrder {
        if kappa > self.tol_kappa {
            SecondOrder::Strict { min_eig: kappa }
        } else if kappa >= -self.tol_kappa {
            SecondOrder::Semidefinite { min_eig: kappa }
        } else {
            SecondOrder::Indefinite
        }
    }

    /// Returns the worse of two outcomes: indefinite before semidefinite before strict; of equal kinds,
    /// the one with the smaller eigenvalue.
    fn worse(&self, x: SecondOrder, y: SecondOrder) -> SecondOrder {
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

/// Eigenvalues of the symmetric part of a 2 × 2 matrix, the larger one first, and the unit eigenvectors
/// in the columns of a matrix.
struct Eigen {
    eigenvalues: Vector2<f64>,
    eigenvectors: Matrix2<f64>,
}

fn eigen(s: &Matrix2<f64>) -> Eigen {
    let (half_sum, half_diff) = (0.5 * (s[(0, 0)] + s[(1, 1)]), 0.5 * (s[(0, 0)] - s[(1, 1)]));
    let off = 0.5 * (s[(0, 1)] + s[(1, 0)]);
    let radius = (half_diff * half_diff + off * off).sqrt();
    // Two columns are multiples of the first eigenvector; the longer one is used.
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

/// Computes the shape operator (1/mm) of a surface at `uv` with respect to its outward normal, in an
/// orthonormal basis of the plane orthogonal to the pair's normal. It is positive where the material is
/// convex. `outward` is whether the outward normal is `∂u × ∂v`. Returns `None` where the surface has no
/// finite curvature (apex, singular point).
///
/// The plane of the basis may deviate from the tangent plane within tolerances; principal directions are
/// projected onto it.
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
mod tests;
