//! Exact polars of tangent cones at footpoints.
//!
//! # Source
//! BREP §4.4.2 with (1.23), §1.3.1.4 (quasi-LMDs), MATH §4 (signed dihedral angle), §7 (polar of a vertex).
//!
//! # Deviations
//! At an edge, directions are represented by their angle about the tangent. ω is the signed angle
//! between the normals of the two faces, positive where the edge is convex. A direction is in the polar
//! if it is within ω/2 of the bisector of the normals. The normals are those of the face surfaces at the
//! inverted edge point, so the polar of an edge that deviates from its faces is that of the faces.

use crate::body::edge_normals::EdgeNormals;
use feeler_geom::{V3, math};
use feeler_hierarchy::Vertex;
use smallvec::SmallVec;
use std::f64::consts::FRAC_PI_2;

/// Result of a polar test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Polar {
    /// The direction is in the exact polar, up to the slack of the test.
    Exact,
    /// The direction is outside the exact polar, but in the polar dilated by the quasi angle.
    Dilated,
    /// The direction is outside the dilated polar.
    Outside,
}

/// Length of the sum of two unit normals above which the direction of the sum is accurate. A larger
/// value needs more exact tests; with a smaller one, the direction is dominated by rounding.
const MIN_NORMAL_SUM: f64 = 0.1;
/// Sine of the angle between a normal and the plane across the tangent below which this angle changes
/// the result by at most [`REFUSAL_MARGIN`]: its effect is the square, divided by the length of the sum
/// of both normals. Normals of an edge that deviates from its faces are not orthogonal to its tangent.
/// With a larger value, quick results are wrong; a smaller one needs more exact tests.
const MAX_NORMAL_LEAN: f64 = 1e-3;
/// Angle (rad) beyond the polar above which a direction is refused without computing its angle. A larger
/// value needs more exact tests; with a smaller one, minima at the border of a polar are lost.
const REFUSAL_MARGIN: f64 = 1e-4;

impl EdgeNormals {
    /// Whether an outward direction `n` is so far outside the polar, dilated by `slack` (rad), that no
    /// angles need to be computed. The cosine of half the angle between the normals is half the length of
    /// their sum, and cosines decrease by at most the increase of the angle.
    fn is_refused(&self, n: &V3, slack: f64) -> bool {
        let [left, right] = &self.normals;
        let between = left + right;
        let of_middle = between.norm();
        let leaning = [left, right].map(|v| v.dot(&self.tangent).abs());
        let is_accurate = of_middle > MIN_NORMAL_SUM && leaning.iter().all(|lean| *lean < MAX_NORMAL_LEAN);
        is_accurate && between.dot(n) < of_middle * (0.5 * of_middle - slack - REFUSAL_MARGIN)
    }

    /// Angle (rad) from `n` to the nearest end of the polar, positive inside; `omega` is the signed
    /// dihedral angle (rad). It is negative everywhere on a concave edge, whose polar is {0}.
    fn margin(&self, n: &V3, omega: f64) -> f64 {
        // Measured from the bisector: at a razor edge the normals are opposite, and angles from one of them
        // are discontinuous.
        let (bisector, _) = self.middle();
        let phi = math::atan2(bisector.cross(n).dot(&self.tangent), bisector.dot(n));
        0.5 * omega - phi.abs()
    }

    /// Position of the outward direction `n` (unit, across the tangent) relative to the polar of the
    /// edge. `slack` (rad) is added to the exact polar, and `quasi_angle` (rad) dilates it further.
    pub(crate) fn test(&self, n: &V3, slack: f64, quasi_angle: f64) -> Polar {
        if self.is_refused(n, slack + quasi_angle) {
            return Polar::Outside;
        }
        let omega = self.dihedral();
        let margin = self.margin(n, omega);
        if margin >= -slack {
            Polar::Exact
        } else if quasi_angle > 0.0 && omega >= -slack.max(quasi_angle) && margin >= -slack - quasi_angle {
            Polar::Dilated
        } else {
            Polar::Outside
        }
    }
}

/// Position of the outward direction `n` (unit) relative to the polar of a vertex, with the slack and
/// dilation (rad) of [`EdgeNormals::test`].
pub(crate) fn test_vertex(vertex: &Vertex, n: &V3, slack: f64, quasi_angle: f64) -> Polar {
    if vertex.constraints.iter().all(|v| n.dot(v) <= slack * v.norm()) {
        return Polar::Exact;
    }
    if quasi_angle > 0.0 && angle_to_polar(&vertex.constraints, n) <= slack + quasi_angle {
        return Polar::Dilated;
    }
    Polar::Outside
}

/// Rounding of the product of two unit vectors that are computed from other products. A larger value
/// accepts directions just outside polars; a smaller one refuses exact directions.
const PRODUCT_ROUNDING: f64 = 2e-12;

/// List of the constraints of a polar. The inline capacity suffices for usual corners; longer lists are
/// allocated on the heap.
pub(crate) type Few = SmallVec<[V3; 64]>;

/// Angle (rad) between `n` and the cone of the vectors d with ⟨d, v⟩ ≤ 0 for all v in `constraints`; π/2
/// if the nearest point of the cone is its apex.
fn angle_to_polar(constraints: &[V3], n: &V3) -> f64 {
    let nearest = farthest_direction(constraints, 0.0, n);
    nearest.map_or(FRAC_PI_2, |d| math::acos(d.dot(n).clamp(0.0, 1.0)))
}

/// Unit vector d with the largest ⟨`along`, d⟩, subject to ⟨d, v⟩ ≤ sin `angle` for the unit
/// vectors v along all `constraints`. `None` if no direction satisfies them.
///
/// At the maximum, at most two constraints are active. All such combinations are enumerated (BREP 1.24).
pub(crate) fn farthest_direction(constraints: &[V3], angle: f64, along: &V3) -> Option<V3> {
    let unit: Few = constraints.iter().filter_map(|v| v.try_normalize(f64::MIN_POSITIVE)).collect();
    let (sine, cosine) = math::sin_cos(angle);
    let mut best: Option<(f64, V3)> = None;
    let mut offer = |d: V3| {
        let reached = along.dot(&d);
        if best.is_none_or(|(other, _)| reached > other) && satisfies(&d, &unit, angle) {
            best = Some((reached, d));
        }
    };
    if let Some(d) = along.try_normalize(f64::MIN_POSITIVE) {
        offer(d);
    }
    for (i, v) in unit.iter().enumerate() {
        if let Some(across) = (along - v * along.dot(v)).try_normalize(f64::MIN_POSITIVE) {
            offer(v * sine + across * cosine);
        }
        for w in &unit[..i] {
            let Some(ray) = v.cross(w).try_normalize(f64::MIN_POSITIVE) else { continue };
            let base = (v + w) * (sine / (1.0 + v.dot(w)));
            let rest = 1.0 - base.norm_squared();
            if rest >= 0.0 {
                [ray, -ray].into_iter().for_each(|d| offer(base + d * rest.sqrt()));
            }
        }
    }
    best.map(|(_, d)| d)
}

/// Whether a unit vector d satisfies ⟨d, v⟩ ≤ sin `angle` for the unit vectors v along all
/// `constraints`, up to rounding.
pub(crate) fn satisfies(d: &V3, constraints: &[V3], angle: f64) -> bool {
    let limit = math::sin(angle) + PRODUCT_ROUNDING;
    constraints.iter().all(|v| d.dot(v) <= limit * v.norm())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Directions that are refused without angles are outside by angles, even if normals lean along the
    /// tangent.
    #[test]
    fn quick_refusals_are_right() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut refused = 0;
        for _ in 0..200_000 {
            let tangent = V3::z();
            let lean = [0.0, 1e-4, 9e-4, 5e-3][rng.random_range(0..4)];
            let leaning = [rng.random_range(-lean..=lean), rng.random_range(-lean..=lean)];
            let omega = [rng.random_range(-3.0..3.1), rng.random_range(3.0..3.13)][rng.random_range(0..2)];
            let across = |angle: f64| {
                let (s, c) = math::sin_cos(angle);
                V3::new(c, s, 0.0)
            };
            let normals = [
                (across(0.0) + tangent * leaning[0]).normalize(),
                (across(omega) + tangent * leaning[1]).normalize(),
            ];
            let edge = EdgeNormals { tangent, normals };
            let off = [1e-9, 1e-5, 1e-3, 0.1][rng.random_range(0..4)] * rng.random_range(-1.0..1.0);
            let n = across([-off, omega + off][rng.random_range(0..2)]);
            let (slack, quasi_angle) = (1e-9, [0.0, 0.05][rng.random_range(0..2)]);
            if edge.is_refused(&n, slack + quasi_angle) {
                refused += 1;
                let margin = edge.margin(&n, edge.dihedral());
                assert!(margin < -slack - quasi_angle, "{margin} of {omega}, leaning {leaning:?}");
            }
        }
        assert!(refused > 10_000, "{refused}");
    }

    /// No sampled direction that satisfies the constraints has a larger product than that of
    /// `farthest_direction`.
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
            // Cones around nearly the same direction, so that their intersection is not empty.
            let cone: Vec<V3> = (0..6).map(|_| (unit() - middle * 1.2).normalize()).collect();
            let between = unit() * 0.3;
            let best = farthest_direction(&cone, 0.02, &between);
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
    fn opposite_polars_have_no_common_direction() {
        let all = [V3::x(), -V3::x(), V3::y(), -V3::y(), V3::z(), -V3::z()];
        assert!(farthest_direction(&all, 1e-3, &V3::x()).is_none());
    }
}
