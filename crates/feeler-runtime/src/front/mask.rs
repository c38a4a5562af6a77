//! Which types of features can meet in a minimum at all.
//!
//! # Source
//! BREP §2.2 (Table 2.2), MATH §4. With shape operators against the outward normals, a minimum needs
//! `S_B + S_A (I + d S_A)⁻¹ ⪰ 0`; the second term has the signs of `S_A`'s curvatures, so a pair of types is impossible
//! exactly when no choice of curvatures with their signs and no angle between the principal frames gives a
//! semidefinite sum.
//!
//! # Deviations
//! One mask instead of two: a bit is clear only where neither a strict nor a semidefinite (conformal) minimum exists,
//! and nothing else may be culled. Concave torus against concave torus stays (crossed spools, MATH §4).

use feeler_geom::skeleton::Primitive;
use feeler_hierarchy::Feature;

/// Type of a feature, as far as signs of curvatures go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum FeatureType {
    Plane,
    ConvexRuled,
    ConcaveRuled,
    ConvexSphere,
    ConcaveSphere,
    ConvexTorus,
    ConcaveTorus,
    StraightEdge,
    CircularEdge,
    Vertex,
    Free,
}

use FeatureType as T;

/// Pairs of types without any minimum, strict or not.
///
/// Signs of the principal curvatures: plane (0, 0); convex cylinder and cone (+, 0), concave (−, 0); spheres (+, +)
/// and (−, −); convex torus (+, any), concave torus (−, any); a straight edge is (+∞, 0), a circular one (+∞, any), a
/// vertex (+∞, +∞).
const IMPOSSIBLE: [(T, T); 14] = [
    (T::Plane, T::ConcaveRuled),
    (T::Plane, T::ConcaveSphere),
    (T::Plane, T::ConcaveTorus),
    (T::ConcaveRuled, T::ConcaveRuled),
    (T::ConcaveRuled, T::ConcaveSphere),
    (T::ConcaveRuled, T::ConcaveTorus),
    (T::ConcaveSphere, T::ConvexRuled),
    (T::ConcaveSphere, T::ConcaveSphere),
    (T::ConcaveSphere, T::ConcaveTorus),
    (T::ConcaveSphere, T::StraightEdge),
    // The mirrored entries of the first column, so that a lookup needs no ordering.
    (T::ConcaveRuled, T::Plane),
    (T::ConcaveSphere, T::Plane),
    (T::ConcaveTorus, T::Plane),
    (T::ConcaveSphere, T::ConcaveRuled),
];

/// Number of types.
const N: usize = 11;

const COMPATIBLE: [u16; N] = {
    let all = (1 << N) - 1;
    let mut table = [all; N];
    let mut i = 0;
    while i < IMPOSSIBLE.len() {
        let (a, b) = IMPOSSIBLE[i];
        table[a as usize] &= !b.bit();
        table[b as usize] &= !a.bit();
        i += 1;
    }
    table
};

impl FeatureType {
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// The type of a feature.
    pub(crate) fn of(feature: Feature, primitive: Option<&Primitive>) -> Self {
        let is_face = matches!(feature, Feature::Face(_));
        match primitive {
            None => T::Free,
            Some(Primitive::Plane { .. }) => T::Plane,
            Some(Primitive::Point { sigma, .. }) => match (is_face, *sigma > 0.0) {
                (false, _) => T::Vertex,
                (true, true) => T::ConvexSphere,
                (true, false) => T::ConcaveSphere,
            },
            // The origin is rebased to the feature, where the radius has its sign.
            Some(Primitive::Line { sigma, .. }) => match (is_face, *sigma > 0.0) {
                (false, _) => T::StraightEdge,
                (true, true) => T::ConvexRuled,
                (true, false) => T::ConcaveRuled,
            },
            Some(Primitive::Circle { sigma, .. }) => match (is_face, *sigma > 0.0) {
                (false, _) => T::CircularEdge,
                (true, true) => T::ConvexTorus,
                (true, false) => T::ConcaveTorus,
            },
        }
    }
}

/// Whether any type of one set can meet any of the other in a minimum.
pub(crate) fn compatible(a: u16, b: u16) -> bool {
    let mut rest = a;
    while rest != 0 {
        if COMPATIBLE[rest.trailing_zeros() as usize] & b != 0 {
            return true;
        }
        rest &= rest - 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    const ALL: [T; N] = [
        T::Plane,
        T::ConvexRuled,
        T::ConcaveRuled,
        T::ConvexSphere,
        T::ConcaveSphere,
        T::ConvexTorus,
        T::ConcaveTorus,
        T::StraightEdge,
        T::CircularEdge,
        T::Vertex,
        T::Free,
    ];

    fn curvatures(t: T, rng: &mut SmallRng) -> (f64, f64) {
        let mut size = || feeler_geom::math::exp(rng.random_range(-4.0..4.0_f64));
        let (a, b) = (size(), size());
        let any = if rng.random_bool(0.5) { b } else { -b };
        match t {
            T::Plane => (0.0, 0.0),
            T::ConvexRuled => (a, 0.0),
            T::ConcaveRuled => (-a, 0.0),
            T::ConvexSphere => (a, a),
            T::ConcaveSphere => (-a, -a),
            T::ConvexTorus => (a, any),
            T::ConcaveTorus => (-a, any),
            T::StraightEdge => (1e6, 0.0),
            T::CircularEdge => (1e6, any),
            T::Vertex => (1e6, 1e6),
            T::Free => (any, a),
        }
    }

    /// Smallest eigenvalue of `diag(a) + R diag(b) Rᵀ`, `(c, s)` being the rotation.
    fn smallest(a: (f64, f64), b: (f64, f64), c: f64, s: f64) -> f64 {
        let xx = a.0 + b.0 * c * c + b.1 * s * s;
        let yy = a.1 + b.0 * s * s + b.1 * c * c;
        let xy = (b.0 - b.1) * c * s;
        0.5 * (xx + yy) - feeler_geom::math::hypot(0.5 * (xx - yy), xy)
    }

    /// For every pair the largest smallest eigenvalue over random curvatures of the right signs, at aligned, crossed
    /// and random frames. The part of `d` is in the curvatures: κ / (1 + dκ) has κ's sign and any size.
    #[test]
    fn impossible_pairs_have_no_minimum_and_possible_pairs_have_one() {
        let mut rng = SmallRng::seed_from_u64(7);
        for (i, &a) in ALL.iter().enumerate() {
            for &b in &ALL[i..] {
                let mut best = f64::NEG_INFINITY;
                for k in 0..4000 {
                    let (ka, kb) = (curvatures(a, &mut rng), curvatures(b, &mut rng));
                    let (c, s) = match k % 3 {
                        0 => (1.0, 0.0),
                        1 => (0.0, 1.0),
                        _ => feeler_geom::math::sin_cos(rng.random_range(0.0..7.0)),
                    };
                    let scale = ka.0.abs() + ka.1.abs() + kb.0.abs() + kb.1.abs();
                    best = best.max(smallest(ka, kb, c, s) / scale.max(1e-300));
                }
                let claimed = compatible(a.bit(), b.bit());
                assert_eq!(claimed, best > -1e-15, "{a:?} {b:?}: best {best}");
                assert_eq!(claimed, compatible(b.bit(), a.bit()), "symmetric");
            }
        }
        assert!(compatible(T::ConcaveTorus.bit(), T::ConcaveTorus.bit()), "crossed spools");
    }
}
