//! Exact polars of tangent cones at footpoints.
//!
//! # Source
//! BREP §4.4.2 with (1.23), §1.3.1.4 (quasi-LMDs), MATH §4 (signed dihedral angle), §7 (polar of a vertex).
//!
//! # Deviations
//! Along an edge everything is an angle about its tangent: with ω the signed angle from one face's normal to the
//! other's (positive where convex), a direction is in the polar when it is within ω/2 of their bisector. The normals are those
//! of the faces at the edge point inverted to their surfaces, so an edge off its faces is judged by its faces.

use crate::Body;
use feeler_geom::{P2, P3, V3, math};
use feeler_hierarchy::{Side, Vertex};
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

/// Normals of both faces at the edge point with parameter `t`, the one whose face lies to the left of the curve first,
/// and the unit tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeNormals {
    /// Unit tangent.
    pub tangent: V3,
    /// Outward normals.
    pub normals: [V3; 2],
}

/// Angles nearer to π than this (rad) have no certain sign.
const RAZOR: f64 = std::f64::consts::PI - 1e-6;

/// Length of the sum of two normals above which it plainly has a direction.
const PLAIN: f64 = 0.1;
/// Sine to the plane across the tangent below which normals, of an edge off its faces, make no more than [`DOUBT`] of it: the square
/// counts, by the length of the sum.
const LEANING: f64 = 1e-3;
/// Angle (rad) beyond the polar from which on a direction is refused without its angle.
const DOUBT: f64 = 1e-4;

/// Normals beside edge `index` at `t`; `None` at a singular point of the curve.
pub(crate) fn edge_normals(body: &Body, index: u32, t: f64) -> Option<EdgeNormals> {
    let edge = body.edge(index);
    let d = edge.curve.derivs(t);
    let tangent = edge.curve.tangent_of(t, &d)?;
    let p = d.p;
    let normals = [0, 1].map(|i| side_normal(body, &edge.sides[i], &p, t));
    let left_first = edge.sides[0].forward || !edge.sides[1].forward;
    Some(EdgeNormals { tangent, normals: if left_first { normals } else { [normals[1], normals[0]] } })
}

fn side_normal(body: &Body, side: &Side, p: &P3, t: f64) -> V3 {
    let face = body.face(side.face);
    let n = face.surface.normal_beside(p, guide_at(&side.guide, t));
    if face.outward { n } else { -n }
}

/// Parameters on the face interpolated from the guide.
fn guide_at(guide: &[[f64; 3]], t: f64) -> Option<P2> {
    let (first, last) = (guide.first()?, guide.last()?);
    let i = guide.partition_point(|g| g[0] <= t);
    if i == 0 {
        return Some(P2::new(first[1], first[2]));
    }
    if i == guide.len() {
        return Some(P2::new(last[1], last[2]));
    }
    let (a, b) = (guide[i - 1], guide[i]);
    let s = if b[0] > a[0] { (t - a[0]) / (b[0] - a[0]) } else { 0.0 };
    Some(P2::new(a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])))
}

impl EdgeNormals {
    /// Signed dihedral angle ω: from the left face's normal to the right one's about the tangent, positive where convex.
    pub(crate) fn dihedral(&self) -> f64 {
        let [left, right] = &self.normals;
        let omega = math::atan2(left.cross(right).dot(&self.tangent), left.dot(right));
        // Of opposite normals the sign is noise. Concave edges carry nothing: what is here is a razor.
        if omega < -RAZOR { -omega } else { omega }
    }

    /// The middle of the polar and the angle (rad) from it to its ends: of a concave edge, whose polar is {0}, 0.
    pub(crate) fn middle(&self) -> (V3, f64) {
        let half = 0.5 * self.dihedral();
        let (s, c) = math::sin_cos(half);
        (self.normals[0] * c + self.tangent.cross(&self.normals[0]) * s, half.max(0.0))
    }

    /// Whether an outward direction `n` is so far outside the polar, widened by `slack` (rad), that no angles are needed to tell. The
    /// cosine of half the angle between the normals is half the length of their sum, and cosines fall by no more than angles grow.
    fn is_refused(&self, n: &V3, slack: f64) -> bool {
        let [left, right] = &self.normals;
        let between = left + right;
        let of_middle = between.norm();
        let leaning = [left, right].map(|v| v.dot(&self.tangent).abs());
        let is_plain = of_middle > PLAIN && leaning.iter().all(|lean| *lean < LEANING);
        is_plain && between.dot(n) < of_middle * (0.5 * of_middle - slack - DOUBT)
    }

    /// The angle (rad) by which `n` is inside, given the signed dihedral angle; on a concave edge, whose polar is {0}, it is negative
    /// everywhere.
    fn margin(&self, n: &V3, omega: f64) -> f64 {
        // Measured from the bisector: at a razor edge the two normals are opposite, and angles from one of them jump.
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

/// Angle (rad) between `n` and the cone `{d : ⟨d, v⟩ ≤ 0}`; π/2 when the nearest point of the cone is its apex.
fn angle_to_polar(constraints: &[V3], n: &V3) -> f64 {
    let unit: Few = constraints.iter().filter_map(|v| v.try_normalize(f64::MIN_POSITIVE)).collect();
    let feasible = |d: &V3| unit.iter().all(|v| d.dot(v) <= 1e-12 * (1.0 + d.norm()));
    // The projection lies inside, on one plane or on the line of two: the longest feasible one is the nearest.
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
