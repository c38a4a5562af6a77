//! The contact of two grains, apart or overlapping.
//!
//! # Source
//! POLY §3.5.5; the errata of `solve.rs`, `second.rs`.
//! # Deviations
//! - The contact point is the middle of both points; POLY prints a minus. d goes from A to B: of grains apart
//!   d·n is above 0.
//! - POLY takes what Levenberg–Marquardt converges to. Here it has to be the best direction of all, proven
//!   by balls inside both grains that touch them from within at the two points (`inner.rs`). With r the sum
//!   of their radii, g the gap along the normal and f the part of d across it, the balls' gap is
//!   `√((r + g)² + f²) − r`; that of the grains is no larger, along no direction. Where r + g ≥ 0 the
//!   direction's own gap is right up to f²/(r + g); where r + g < 0 other directions may be better, and
//!   [`penetration`] is asked. That takes depths beyond the radii of curvature.
//! - POLY falls back to GJK with eroded shapes, which needs radii of curvature above the erosion.

use super::placed::Placed;
use super::solve::{At, End, Found, Pair};
use feeler_convex::{Depth, Outcome, PenetrationRequest, Request, Support, distance, penetration};
use feeler_geom::{P3, V3};

/// How two grains are to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Distance (mm) of the grains; where they overlap minus the smallest way that separates them.
    pub gap: f64,
    /// Unit normal from A to B; B moved along it by `-gap` only touches. For the next step it is the best
    /// guess.
    pub normal: V3,
    /// The contact point (mm): midway between the two points.
    pub point: P3,
    /// The point of A's surface, where its normal is `normal`.
    pub point_a: P3,
    /// The point of B's surface, where its normal is opposite.
    pub point_b: P3,
    /// Pairs of support points evaluated by Newton's method.
    pub iterations: u32,
    /// Whether GJK and the expanding polytope had to be asked.
    pub fell_back: bool,
    /// How far the gap may be from the true one (mm), beside rounding: 0 unless the fallback ran out of
    /// steps.
    pub uncertainty: f64,
}

/// Part of the smaller size up to which bounds of a gap agree.
const AGREED: f64 = 1e-9;
/// Cosine of the angle between normals of one contact.
const NORMAL_AGREED: f64 = 0.999;

/// The contact of two grains, or none where their gap is above `reach` (mm), which bounds prove early.
///
/// `warm`: the normal of the last step, or any guess; without one the search starts along the centres. The
/// answer does not depend on it beside rounding. Exchanging A and B gives the same contact seen from the
/// other side, to the bit where no fallback is needed and centres differ. No memory is allocated but by the
/// fallback.
#[must_use]
pub fn contact(a: &Placed<'_>, b: &Placed<'_>, reach: f64, warm: Option<V3>) -> Option<Contact> {
    let pair = Pair::new(a, b);
    let layers = a.grain.dilation + b.grain.dilation;
    let between = b.center() - a.center();
    let cold = between.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(V3::x);
    let start = warm.and_then(|n| n.try_normalize(1e-6)).unwrap_or(cold);
    let limit = reach + layers;
    let mut found = pair.climb(start, limit, f64::INFINITY);
    let mut iterations = found.evaluations;
    // A second search goes for the last digits, or starts elsewhere where the first one ended nowhere.
    let again = match found.end {
        End::Nowhere if warm.is_some() => Some((cold, f64::INFINITY)),
        End::Converged => pair.closer(&found.at).map(|across| (found.at.n, across)),
        End::Nowhere | End::Beyond => None,
    };
    if let Some((from, across)) = again {
        found = pair.climb(from, limit, across);
        iterations += found.evaluations;
    }
    match found.end {
        End::Beyond => None,
        End::Converged if pair.room(&found.at).is_some_and(|r| off(r, &found.at) <= pair.agreed()) => {
            Some(pair.tell(&found.at, iterations)).filter(|c| c.gap <= reach)
        }
        _ => pair.fall_back(&found, iterations, reach),
    }
}

/// How far the true gap may be above that of a direction, given the room there.
#[inline]
fn off(room: f64, at: &At) -> f64 {
    let across = at.across();
    if across <= 0.0 {
        return 0.0;
    }
    across * across / ((room * room + across * across).sqrt() + room)
}

impl Pair<'_> {
    fn agreed(&self) -> f64 {
        AGREED * self.fine
    }

    /// The radii of balls inside both grains that touch them from within at the points of a normal, and the
    /// gap: how far their centres are apart along the normal. None where that is negative: the grains may be
    /// nearer along another normal.
    #[inline]
    fn room(&self, at: &At) -> Option<f64> {
        if at.gap > 0.0 && off(at.gap, at) <= self.agreed() {
            return Some(at.gap);
        }
        let [sa, sb] = &at.seconds;
        let room = self.a.grain.ball_at(sa) + self.b.grain.ball_at(sb) + at.gap;
        // What is touched by rounding is touched.
        (room > -f64::EPSILON * self.size).then_some(room.max(0.0))
    }

    /// How small the part of d across the normal must become so that the direction is proven to be the best,
    /// where it is too large for that.
    #[inline]
    fn closer(&self, at: &At) -> Option<f64> {
        let room = self.room(at)?;
        // Half of it: what the search ends at has other balls.
        (off(room, at) > self.agreed()).then(|| (self.agreed() * (room + 0.5 * self.agreed())).sqrt())
    }

    fn tell(&self, at: &At, iterations: u32) -> Contact {
        let layers = [self.a.grain.dilation, self.b.grain.dilation];
        let point_a = self.a.origin + (at.points[0] + at.n * layers[0]);
        let point_b = self.b.origin + (at.points[1] - at.n * layers[1]);
        Contact {
            gap: at.gap - (layers[0] + layers[1]),
            normal: at.n,
            // From the one or the other origin it is the same but for rounding: the mean of both, so that it
            // does not depend on the order.
            point: P3::from((point_a.coords + point_b.coords) * 0.5),
            point_a,
            point_b,
            iterations,
            fell_back: false,
            uncertainty: 0.0,
        }
    }

    /// Asks the algorithms that need nothing but support points, then climbs the last digits from their
    /// direction.
    #[cold]
    fn fall_back(&self, best: &Found, iterations: u32, reach: f64) -> Option<Contact> {
        // About A's origin, where coordinates are smallest.
        let a = Placed { origin: P3::origin(), ..*self.a };
        let b = Placed { origin: P3::from(self.offset), ..*self.b };
        let request = PenetrationRequest { rel_tol: 1e-8, ..PenetrationRequest::default() };
        let depth = penetration(&a, &b, &request);
        let (gap, direction, uncertainty, points) = if depth.outcome == Depth::Separated {
            let answer = distance(&a, &b, &Request::default());
            let off =
                if answer.outcome == Outcome::Stalled { answer.distance - answer.lower_bound } else { 0.0 };
            (answer.distance, answer.direction, off, [answer.witness.point_a, answer.witness.point_b])
        } else {
            let off = if depth.outcome == Depth::Found { 0.0 } else { depth.depth - depth.lower_bound };
            (-depth.depth, depth.direction, off, [depth.point_a, depth.point_b])
        };
        let polished = direction.try_normalize(0.5).map(|n| self.climb(n, f64::INFINITY, f64::INFINITY));
        let mut out = Contact {
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
        // Every direction's gap is a lower bound: the larger, the better. The last one found may be, too.
        for found in polished.iter().chain([best]) {
            let better = self.tell(&found.at, iterations);
            let is_as_good = better.gap >= out.gap - AGREED * self.fine;
            let is_same = found.at.n.dot(&out.normal) > NORMAL_AGREED;
            if found.end == End::Converged && is_as_good && (better.gap >= out.gap || is_same) {
                out = Contact { fell_back: true, uncertainty, ..better };
            }
        }
        (out.gap <= reach).then_some(out)
    }
}
