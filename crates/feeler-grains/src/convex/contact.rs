//! Contact of two grains that are apart or overlap.
//!
//! # Source
//! POLY §3.5.5; the errata are listed in `solve.rs` and `second.rs`.
//! # Deviations
//! - The contact point is the midpoint of the support points of both grains; POLY prints a minus. d, the
//!   vector between these points, leads from A to B, so d·n is positive for grains that are apart.
//! - POLY accepts the direction that Levenberg–Marquardt converges to. Here the direction must be the
//!   best of all, which is proven by balls inside both grains that touch them from within at the two
//!   points (`inner.rs`). With the sum r of their radii, the gap g along the normal and the component f
//!   of d across it, the gap of the balls is `√((r + g)² + f²) − r`, and the gap of the grains along any
//!   direction is at most that. If r + g ≥ 0, the gap of the direction is exact up to f²/(r + g). If r +
//!   g < 0, which requires a depth beyond the radii of curvature, other directions may be better, and
//!   [`penetration`] is called.
//! - POLY falls back to GJK with eroded shapes, which needs radii of curvature above the erosion.

use super::placed::Placed;
use super::solve::{End, Evaluation, Found, Pair};
use feeler_convex::{
    DistanceOutcome, DistanceRequest, PenetrationOutcome, PenetrationRequest, Support, distance, penetration,
};
use feeler_geom::{P3, V3};

/// Contact of two grains A and B: signed gap, normal and points, in the coordinates in which the grains
/// are placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainContact {
    /// Signed gap (mm): the distance of the grains, or, if they overlap, minus the length of the
    /// shortest translation that separates them.
    pub gap: f64,
    /// Unit normal from A to B; B translated along it by `-gap` only touches A. It is the best guess for
    /// the normal in the next step.
    pub normal: V3,
    /// Contact point (mm): the midpoint of `point_a` and `point_b`.
    pub point: P3,
    /// Point of A's surface at which the outward normal is `normal`.
    pub point_a: P3,
    /// Point of B's surface at which the outward normal is `-normal`.
    pub point_b: P3,
    /// Number of directions for which Newton's method evaluated the support points of both grains, apart
    /// from the refinement of a result of the fallback.
    pub iterations: u32,
    /// Whether the fallback was used, which is GJK and the expanding polytope algorithm.
    pub fell_back: bool,
    /// Upper bound of the error of the gap (mm), apart from rounding: 0 unless the fallback exhausted
    /// its iterations.
    pub uncertainty: f64,
}

/// Result of [`proximity`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Proximity {
    /// The grains are within the reach.
    Contact(GrainContact),
    /// The grains are farther apart than the reach. The value is a lower bound (mm) of their distance, up to
    /// rounding.
    Apart(f64),
}

/// Largest accepted difference between the gap along a direction and the proven upper bound of the true
/// gap, relative to [`Pair::fine`]. A larger value gives less exact gaps, a smaller one causes more
/// fallbacks between flat faces.
const GAP_TOLERANCE: f64 = 1e-9;
/// Smallest cosine of the angle between the normals of the fallback and of Newton's method at which both
/// found the same contact. A larger value keeps the digits of the fallback, a smaller one accepts the
/// normal of another contact.
const SAME_NORMAL_COS: f64 = 0.999;

/// Computes the contact of two grains. Returns `None` if their gap exceeds `reach` (mm), which is often
/// proven before the gap is computed exactly.
///
/// `warm` is the normal of the previous step, or any guess; without it the search starts along the line
/// of centres. The result depends on `warm` only by rounding. Exchanging A and B gives the same contact
/// seen from the other side, to the bit if no fallback is needed and the centres differ. Only the
/// fallback allocates memory.
#[must_use]
pub fn contact(a: &Placed<'_>, b: &Placed<'_>, reach: f64, warm: Option<V3>) -> Option<GrainContact> {
    match proximity(a, b, reach, warm) {
        Proximity::Contact(contact) => Some(contact),
        Proximity::Apart(_) => None,
    }
}

/// Like [`contact`], with a lower bound of the distance of grains that are farther apart than `reach` (mm):
/// the gap along the last direction of the search, which separates them.
#[must_use]
pub fn proximity(a: &Placed<'_>, b: &Placed<'_>, reach: f64, warm: Option<V3>) -> Proximity {
    let pair = Pair::new(a, b);
    let layers = a.grain.dilation + b.grain.dilation;
    let between = b.center() - a.center();
    let cold = between.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(V3::x);
    let start = warm.and_then(|n| n.try_normalize(1e-6)).unwrap_or(cold);
    let limit = reach + layers;
    let mut found = pair.climb(start, limit, f64::INFINITY);
    let mut iterations = found.evaluations;
    // A second search refines the last digits, or starts from the centres if the first one did not
    // converge.
    let again = match found.end {
        End::NotConverged if warm.is_some() => Some((cold, f64::INFINITY)),
        End::Converged => pair.required_across(&found.at).map(|across| (found.at.n, across)),
        End::NotConverged | End::BeyondReach => None,
    };
    if let Some((from, across)) = again {
        found = pair.climb(from, limit, across);
        iterations += found.evaluations;
    }
    match found.end {
        End::BeyondReach => Proximity::Apart(found.at.gap - layers),
        End::Converged
            if pair.ball_gap(&found.at).is_some_and(|r| gap_error(r, &found.at) <= pair.tolerance()) =>
        {
            within(pair.build_contact(&found.at, iterations), reach)
        }
        _ => within(pair.fall_back(&found, iterations), reach),
    }
}

/// Returns the contact if its gap is within `reach` (mm).
fn within(contact: GrainContact, reach: f64) -> Proximity {
    if contact.gap <= reach {
        return Proximity::Contact(contact);
    }
    Proximity::Apart(contact.gap - contact.uncertainty)
}

/// Upper bound of the difference (mm) between the true gap and the gap along the normal of `at`.
/// `ball_gap` is the result of [`Pair::ball_gap`] for that normal.
#[inline]
fn gap_error(ball_gap: f64, at: &Evaluation) -> f64 {
    let across = at.across();
    if across <= 0.0 {
        return 0.0;
    }
    across * across / ((ball_gap * ball_gap + across * across).sqrt() + ball_gap)
}

impl Pair<'_> {
    /// Largest error (mm) at which the gap along a normal is accepted as the gap of the grains.
    fn tolerance(&self) -> f64 {
        GAP_TOLERANCE * self.fine
    }

    /// Computes a distance (mm) from which [`gap_error`] bounds the error of the gap along the normal of
    /// `at`. It is the distance along the normal between the centres of two balls that touch the grains
    /// from within at the support points: the sum of the radii plus the gap. If the gap alone, which is
    /// a lower bound of that distance, proves an error within the tolerance, the gap is returned. `None`
    /// if the distance is negative, because another normal may then have a larger gap.
    #[inline]
    fn ball_gap(&self, at: &Evaluation) -> Option<f64> {
        if at.gap > 0.0 && gap_error(at.gap, at) <= self.tolerance() {
            return Some(at.gap);
        }
        let [sa, sb] = &at.seconds;
        let ball_gap = self.a.grain.ball_at(sa) + self.b.grain.ball_at(sb) + at.gap;
        // A value that is negative only by rounding counts as 0.
        (ball_gap > -f64::EPSILON * self.size).then_some(ball_gap.max(0.0))
    }

    /// Returns the length (mm) to which the component of d across the normal has to be reduced by
    /// further steps, so that the gap is proven within the tolerance; d is the vector between the
    /// support points. `None` if it is proven already, or if no length suffices.
    #[inline]
    fn required_across(&self, at: &Evaluation) -> Option<f64> {
        let ball_gap = self.ball_gap(at)?;
        // Half of the admissible square, because the balls at the final normal differ.
        let tolerance = self.tolerance();
        (gap_error(ball_gap, at) > tolerance).then(|| (tolerance * (ball_gap + 0.5 * tolerance)).sqrt())
    }

    fn build_contact(&self, at: &Evaluation, iterations: u32) -> GrainContact {
        let layers = [self.a.grain.dilation, self.b.grain.dilation];
        let point_a = self.a.origin + (at.points[0] + at.n * layers[0]);
        let point_b = self.b.origin + (at.points[1] - at.n * layers[1]);
        GrainContact {
            gap: at.gap - (layers[0] + layers[1]),
            normal: at.n,
            // Computed from either origin, the point differs by rounding; the mean does not depend on
            // the order.
            point: P3::from((point_a.coords + point_b.coords) * 0.5),
            point_a,
            point_b,
            iterations,
            fell_back: false,
            uncertainty: 0.0,
        }
    }

    /// Computes the contact by the fallback (the expanding polytope algorithm, or GJK for grains that
    /// are apart), which needs only support points, and refines it by Newton's method. `best` is the
    /// result of the previous search by Newton's method, and `iterations` is stored in the contact.
    #[cold]
    fn fall_back(&self, best: &Found, iterations: u32) -> GrainContact {
        // Relative to A's origin, where coordinates are smallest.
        let a = Placed { origin: P3::origin(), ..*self.a };
        let b = Placed { origin: P3::from(self.offset), ..*self.b };
        let request = PenetrationRequest { rel_tol: 1e-8, ..PenetrationRequest::default() };
        let depth = penetration(&a, &b, &request);
        let mut is_proven = depth.outcome == PenetrationOutcome::Found;
        let (gap, direction, uncertainty, points) = if depth.outcome == PenetrationOutcome::Separated {
            let answer = distance(&a, &b, &DistanceRequest::default());
            is_proven = answer.outcome != DistanceOutcome::Stalled;
            let off = answer.distance - answer.lower_bound;
            (answer.distance, answer.direction, off, [answer.witness.point_a, answer.witness.point_b])
        } else {
            let off = if depth.outcome == PenetrationOutcome::Found {
                0.0
            } else {
                depth.depth - depth.lower_bound
            };
            (-depth.depth, depth.direction, off, [depth.point_a, depth.point_b])
        };
        let polished = direction.try_normalize(0.5).map(|n| self.climb(n, f64::INFINITY, f64::INFINITY));
        let mut out = GrainContact {
            gap,
            normal: direction,
            point: P3::origin(),
            point_a: points[0] + self.a.origin.coords,
            point_b: points[1] + self.a.origin.coords,
            iterations,
            fell_back: true,
            uncertainty,
        };
        out.point = P3::from((out.point_a.coords + out.point_b.coords) * 0.5);
        // The gap along any direction is a lower bound, so the largest one is the best, even if Newton's
        // method found it before the fallback.
        for found in polished.iter().chain([best]) {
            let better = self.build_contact(&found.at, iterations);
            let is_as_good = better.gap >= out.gap - GAP_TOLERANCE * self.fine;
            let is_same = found.at.n.dot(&out.normal) > SAME_NORMAL_COS;
            if found.end == End::Converged && is_as_good && (better.gap >= out.gap || is_same) {
                let uncertainty = if is_proven { better.uncertainty } else { uncertainty };
                out = GrainContact { fell_back: true, uncertainty, ..better };
            }
        }
        out
    }
}
