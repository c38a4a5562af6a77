//! Exact polars of tangent cones at footpoints.
//!
//! # Source
//! BREP §4.4.2 with (1.23), §1.3.1.4 (quasi-LMDs), MATH §4 (signed dihedral angle), §7 (polar of a vertex).
//!
//! # Deviations
//! Along an edge everything is an angle about its tangent: with ω the signed angle from one face's normal to
//! the other's (positive where convex), a direction is in the polar when it is within ω/2 of their bisector.
//! The normals are those of the faces at the edge point inverted to their surfaces, so an edge off its faces
//! is judged by its faces.

use crate::body::edge_normals::EdgeNormals;
use feeler_geom::{V3, math};
use feeler_hierarchy::Vertex;
use smallvec::SmallVec;

/// Outcome of a polar test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Polar {
    /// The direction is in the polar up to the exact slack.
    Exact,
    /// Only within the user's angle.
    Dilated,
    /// Outside.
    Outside,
}

/// Length of the sum of two normals above which it plainly has a direction.
const PLAIN: f64 = 0.1;
/// Sine to the plane across the tangent below which normals, of an edge off its faces, make no more than
/// [`DOUBT`] of it: the square counts, by the length of the sum.
const LEANING: f64 = 1e-3;
/// Angle (rad) beyond the polar from which on a direction is refused without its angle.
const DOUBT: f64 = 1e-4;

impl EdgeNormals {
    /// Whether an outward direction `n` is so far outside the polar, widened by `slack` (rad), that no angles
    /// are needed to tell. The cosine of half the angle between the normals is half the length of their sum,
    /// and cosines fall by no more than angles grow.
    fn is_refused(&self, n: &V3, slack: f64) -> bool {
        let [left, right] = &self.normals;
        let between = left + right;
        let of_middle = between.norm();
        let leaning = [left, right].map(|v| v.dot(&self.tangent).abs());
        let is_plain = of_middle > PLAIN && leaning.iter().all(|lean| *lean < LEANING);
        is_plain && between.dot(n) < of_middle * (0.5 * of_middle - slack - DOUBT)
    }

    /// The angle (rad) by which `n` is inside, given the signed dihedral angle; on a concave edge, whose
    /// polar is {0}, it is negative everywhere.
    fn margin(&self, n: &V3, omega: f64) -> f64 {
        // Measured from the bisector: at a razor edge the two normals are opposite, and angles from one of
        // them jump.
        let (bisector, _) = self.middle();
        let phi = math::atan2(bisector.cross(n).dot(&self.tangent), bisector.dot(n));
        0.5 * omega - phi.abs()
    }

    /// Where the outward direction `n` (unit, across the tangent) stands to the polar.
    pub(crate) fn test(&self, n: &V3, slack: f64, alpha: f64) -> Polar {
        if self.is_refused(n, slack + alpha) {
            return Polar::Outside;
        }
        let omega = self.dihedral();
        let margin = self.margin(n, omega);
        if margin >= -slack {
            Polar::Exact
        } else if alpha > 0.0 && omega >= -slack.max(alpha) && margin >= -slack - alpha {
            Polar::Dilated
        } else {
            Polar::Outside
        }
    }
}

/// Where the outward direction `n` (unit) stands to the polar of a vertex.
pub(crate) fn test_vertex(vertex: &Vertex, n: &V3, slack: f64, alpha: f64) -> Polar {
    if vertex.constraints.iter().all(|v| n.dot(v) <= slack * v.norm()) {
        return Polar::Exact;
    }
    if alpha > 0.0 && angle_to_polar(&vertex.constraints, n) <= slack + alpha {
        return Polar::Dilated;
    }
    Polar::Outside
}

/// Constraints of a vertex; more of them than a solid's corner usually has are put on the heap.
pub(crate) type Few = SmallVec<[V3; 64]>;

/// Angle (rad) between `n` and the cone `{d : ⟨d, v⟩ ≤ 0}`; π/2 when the nearest point of the cone is its
/// apex.
fn angle_to_polar(constraints: &[V3], n: &V3) -> f64 {
    let unit: Few = constraints.iter().filter_map(|v| v.try_normalize(f64::MIN_POSITIVE)).collect();
    let feasible = |d: &V3| unit.iter().all(|v| d.dot(v) <= 1e-12 * (1.0 + d.norm()));
    // The projection lies inside, on one plane or on the line of two: the longest feasible one is the
    // nearest.
    let mut longest = 0.0_f64;
    let mut offer = |d: V3| {
        if feasible(&d) && d.dot(n) > 0.0 {
            longest = longest.max(d.norm());
        }
    };
    offer(*n);
    for (i, v) in unit.iter().enumerate() {
        offer(n - v * n.dot(v));
        for w in &unit[..i] {
            if let Some(ray) = v.cross(w).try_normalize(f64::MIN_POSITIVE) {
                offer(ray * n.dot(&ray));
            }
        }
    }
    math::acos(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// What is refused at once is outside by angles, also where normals lean along the tangent.
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
            let (slack, alpha) = (1e-9, [0.0, 0.05][rng.random_range(0..2)]);
            if edge.is_refused(&n, slack + alpha) {
                refused += 1;
                let margin = edge.margin(&n, edge.dihedral());
                assert!(margin < -slack - alpha, "{margin} of {omega}, leaning {leaning:?}");
            }
        }
        assert!(refused > 10_000, "{refused}");
    }
}
