//! The direction of two dilated polars in which two points are farthest apart.
//!
//! # Source
//! BREP (1.24).

use feeler_geom::{V3, math};
use smallvec::SmallVec;

/// Constraints above which no direction is searched for: a corner of so many edges is no corner of a part.
const MOST: usize = 48;
/// Rounding of products of unit vectors.
const ROUNDING: f64 = 1e-9;

/// The unit vector n with the largest `between`·n, subject to n·v ≤ sin `angle` for all unit vectors v along
/// `constraints`. `None` if no direction satisfies them.
pub(super) fn direction(constraints: &[V3], angle: f64, between: &V3) -> Option<V3> {
    if constraints.len() > MOST {
        return None;
    }
    let unit: SmallVec<[V3; 64]> = constraints.iter().map(|v| v.normalize()).collect();
    let sine = math::sin(angle);
    let mut best: Option<(f64, V3)> = None;
    let mut offer = |n: V3| {
        let along = between.dot(&n);
        if best.is_none_or(|(most, _)| along > most) && satisfies(&n, &unit, angle) {
            best = Some((along, n));
        }
    };
    // No constraint is active.
    if let Some(n) = between.try_normalize(f64::MIN_POSITIVE) {
        offer(n);
    }
    let height = (1.0 - sine * sine).sqrt();
    for (i, v) in unit.iter().enumerate() {
        // One is.
        if let Some(across) = (between - v * between.dot(v)).try_normalize(ROUNDING * between.norm()) {
            offer(v * sine + across * height);
        }
        for w in &unit[..i] {
            // Two are.
            let Some(ray) = v.cross(w).try_normalize(ROUNDING) else { continue };
            let base = (v + w) * (sine / (1.0 + v.dot(w)));
            let rest = 1.0 - base.norm_squared();
            if rest >= 0.0 {
                [ray, -ray].into_iter().for_each(|n| offer(base + n * rest.sqrt()));
            }
        }
    }
    best.map(|(_, n)| n)
}

/// Whether a unit vector n satisfies n·v ≤ sin `angle` for all unit vectors v along `constraints`.
pub(super) fn satisfies(n: &V3, constraints: &[V3], angle: f64) -> bool {
    let sine = math::sin(angle);
    constraints.iter().all(|v| n.dot(v) <= (sine + ROUNDING) * v.norm())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// No sampled direction of the dilated polars is better.
    #[test]
    fn no_direction_is_better() {
        let mut rng = SmallRng::seed_from_u64(47);
        let mut compared = 0;
        for _ in 0..300 {
            let mut unit = || loop {
                let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                if v.norm() > 0.1 && v.norm() < 1.0 {
                    return v.normalize();
                }
            };
            let middle = unit();
            // Cones around about one direction: their intersection is not empty.
            let cone: Vec<V3> = (0..6).map(|_| (unit() - middle * 1.2).normalize()).collect();
            let between = unit() * 0.3;
            let best = direction(&cone, 0.02, &between);
            let sine = math::sin(0.02);
            for _ in 0..400 {
                let n = (middle + unit() * 0.9).normalize();
                if cone.iter().all(|v| n.dot(v) <= sine) {
                    compared += 1;
                    let best = best.expect("a direction exists");
                    assert!(between.dot(&n) <= between.dot(&best) + 1e-9);
                }
            }
        }
        assert!(compared > 1_000, "{compared}");
    }

    #[test]
    fn opposite_polars_have_none() {
        let all = [V3::x(), -V3::x(), V3::y(), -V3::y(), V3::z(), -V3::z()];
        assert!(direction(&all, 1e-3, &V3::x()).is_none());
    }
}
