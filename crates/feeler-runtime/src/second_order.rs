//! Is a critical pair of footpoints a strict local minimum?
//!
//! The rise of the distance over a displacement `x` on A and `y` on B (arc lengths along orthonormal tangents) is
//! half of
//!
//! ```text
//! xᵀ S_A x + yᵀ S_B y + |T_B y − T_A x|² / d
//! ```
//!
//! with shape forms against the outward normals, positive where the material is convex. One side is eliminated; what
//! remains is regular at d = 0. An edge has one tangent and the form −⟨k, n⟩ of its curvature vector k, a vertex has
//! none.
//!
//! # Source
//! MATH §2.
//!
//! # Deviations
//! The side of the higher dimension is eliminated: its tangents then span those of the other one unless both are
//! edges, whose single term is written with the squared sine between them.

use crate::tolerance::Tolerances;
use feeler_geom::V3;

/// Tangents and shape form of one side at a footpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LocalForm {
    /// Principal directions and curvatures against the outward normal.
    Face { dirs: [V3; 2], k: [f64; 2] },
    /// Unit tangent and −⟨k, n⟩, n being the outward direction.
    Edge { tangent: V3, k: f64 },
    /// No tangent.
    Vertex,
}

/// What the second order says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definiteness {
    /// A strict minimum.
    Strict,
    /// Flat within the tolerance in some direction, rising in all others.
    Semidefinite,
    /// Falls in some direction.
    Indefinite,
}

/// Turn of the normal (rad) over the extent of a feature below which the feature is flat, however small it is.
const FLAT_ANGLE: f64 = 1e-6;

impl LocalForm {
    fn dim(&self) -> usize {
        match self {
            Self::Face { .. } => 2,
            Self::Edge { .. } => 1,
            Self::Vertex => 0,
        }
    }

    /// Smallest curvature; nothing for a vertex.
    fn smallest(&self) -> Option<f64> {
        match self {
            Self::Face { k, .. } => Some(k[0].min(k[1])),
            Self::Edge { k, .. } => Some(*k),
            Self::Vertex => None,
        }
    }

    /// The form `S (I + d S)⁻¹` of a face applied to a direction and another.
    fn relaxed(dirs: &[V3; 2], k: &[f64; 2], d: f64, x: &V3, y: &V3) -> f64 {
        (0..2).map(|i| k[i] / (1.0 + d * k[i]) * dirs[i].dot(x) * dirs[i].dot(y)).sum()
    }
}

/// Smallest curvature (1/mm) of the rise of the distance over all displacements of one side, the other one
/// following; +∞ for two vertices.
pub(crate) fn smallest_eigenvalue(a: &LocalForm, b: &LocalForm, d: f64) -> f64 {
    let d = d.max(0.0);
    // Both orders are right; this one is regular, and the same whichever solid is called A.
    let (big, small) = match a.dim().cmp(&b.dim()) {
        std::cmp::Ordering::Greater => (a, b),
        std::cmp::Ordering::Less => (b, a),
        std::cmp::Ordering::Equal if a.smallest() >= b.smallest() => (a, b),
        std::cmp::Ordering::Equal => (b, a),
    };
    let Some(k_big) = big.smallest() else { return f64::INFINITY };
    // The eliminated side alone: I + d S must be positive definite.
    let alone = 1.0 / d + k_big;
    if alone <= 0.0 {
        return alone;
    }
    let reduced = match (big, small) {
        (_, LocalForm::Vertex) => return alone,
        (LocalForm::Face { dirs, k }, LocalForm::Edge { tangent, k: k_small }) => {
            k_small + LocalForm::relaxed(dirs, k, d, tangent, tangent)
        }
        (LocalForm::Face { dirs, k }, LocalForm::Face { dirs: e, k: k_small }) => {
            let xx = k_small[0] + LocalForm::relaxed(dirs, k, d, &e[0], &e[0]);
            let yy = k_small[1] + LocalForm::relaxed(dirs, k, d, &e[1], &e[1]);
            let xy = LocalForm::relaxed(dirs, k, d, &e[0], &e[1]);
            0.5 * (xx + yy) - feeler_geom::math::hypot(0.5 * (xx - yy), xy)
        }
        (LocalForm::Edge { tangent, k }, LocalForm::Edge { tangent: t, k: k_small }) => {
            let sine_sq = tangent.cross(t).norm_squared();
            let cosine = tangent.dot(t);
            let crossing = if sine_sq > 0.0 { sine_sq / d } else { 0.0 };
            k_small + crossing + k * cosine * cosine / (1.0 + d * k)
        }
        _ => unreachable!("the side of the higher dimension comes first"),
    };
    // A nearly singular eliminated side is flat in its own right.
    reduced.min(alone)
}

/// Decides with a threshold in length: the rise over half the `extent` (mm) of the smaller feature against the
/// tolerance.
pub(crate) fn definiteness(a: &LocalForm, b: &LocalForm, d: f64, extent: f64, tol: &Tolerances) -> Definiteness {
    let lambda = smallest_eigenvalue(a, b, d);
    if lambda == f64::INFINITY {
        return Definiteness::Strict;
    }
    let threshold = tol.tol.min(FLAT_ANGLE * extent);
    let rise = 0.5 * lambda * extent * extent;
    if rise > threshold {
        Definiteness::Strict
    } else if rise < -threshold || rise.is_nan() {
        Definiteness::Indefinite
    } else {
        Definiteness::Semidefinite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face(k: [f64; 2]) -> LocalForm {
        LocalForm::Face { dirs: [V3::x(), V3::y()], k }
    }

    /// The closed form of a pin of radius 19.9 in a bore of 20, and balls.
    #[test]
    fn closed_forms() {
        let pin = face([1.0 / 19.9, 0.0]);
        let bore = face([-1.0 / 20.0, 0.0]);
        let lambda = smallest_eigenvalue(&pin, &bore, 0.05);
        assert!(lambda.abs() < 1e-15, "flat along the axis: {lambda}");
        let ball = face([0.5, 0.5]);
        let lambda = smallest_eigenvalue(&ball, &bore, 0.3);
        assert!((lambda - (0.5 / 1.15 - 0.05)).abs() < 1e-15, "{lambda}");
        assert!((smallest_eigenvalue(&ball, &LocalForm::Vertex, 0.5) - 2.5).abs() < 1e-15, "vertex");
        assert_eq!(smallest_eigenvalue(&LocalForm::Vertex, &LocalForm::Vertex, 0.5), f64::INFINITY, "vertices");
    }

    /// Against the smallest eigenvalue sign of the 4×4 form for random curvatures.
    #[test]
    fn schur_form_agrees_with_the_full_hessian() {
        use rand::{Rng as _, SeedableRng as _};
        let mut rng = rand::rngs::SmallRng::seed_from_u64(3);
        for _ in 0..2000 {
            let mut k = || rng.random_range(-1.0..1.0);
            let (ka, kb) = ([k(), k()], [k(), k()]);
            let (s, c) = feeler_geom::math::sin_cos(rng.random_range(0.0..6.3));
            let d = rng.random_range(0.01..2.0);
            let e = [V3::x() * c + V3::y() * s, V3::y() * c - V3::x() * s];
            let a = face(ka);
            let b = LocalForm::Face { dirs: e, k: kb };
            let mut full = nalgebra::Matrix4::zeros();
            for i in 0..2 {
                full[(i, i)] = 1.0 + d * ka[i];
                full[(i + 2, i + 2)] = 1.0 + d * kb[i];
                for j in 0..2 {
                    let x = if i == 0 { V3::x() } else { V3::y() };
                    full[(i, j + 2)] = -x.dot(&e[j]);
                    full[(j + 2, i)] = -x.dot(&e[j]);
                }
            }
            let expected = full.symmetric_eigenvalues().min();
            if expected.abs() > 1e-9 {
                let got = smallest_eigenvalue(&a, &b, d);
                assert_eq!(got > 0.0, expected > 0.0, "{got} {expected}");
                assert!((got - smallest_eigenvalue(&b, &a, d)).abs() < 1e-12, "symmetric");
            }
        }
    }
}
