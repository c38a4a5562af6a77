//! Closest points of two convex shapes.
//!
//! # Source
//! DIST §3.2, Algorithm 5, with [Signed Volumes](mod@crate::signed_volumes) as its sub-algorithm.
//!
//! # Deviations
//! - `continue` in Algorithm 5 is read as leaving the loop (MATH §12).
//! - At small distances, the search direction is the normal of the simplex instead of the difference of
//!   the closest points.
//! - The loop also ends if a support point repeats or if steps do not reduce the distance. If rounding
//!   may have misled the sub-algorithm, all faces of the simplex are tried before a step counts as one
//!   without progress.
//! - A distance that is small relative to the coordinates is recomputed from the last simplex in doubled
//!   precision.
//! - If the lower bound stays farther below the distance than rounding explains, the search is repeated
//!   from the direction found.
//! - Coordinates whose sixth powers overflow or underflow are scaled by a power of two.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

use crate::simplex::{Pair, REFINE_BELOW, Simplex};
pub use crate::types::{
    ClosestPoints, DistanceOutcome, DistanceRequest, DistanceResult, Start, Warm, WitnessVertex,
};

use crate::expansion::{Translated, depth_of_contact};
use crate::signed_volumes::{Nearest, Newest, Signs, exhaustive, is_optimal, signed_volumes};
use crate::support::Support;
use arrayvec::ArrayVec;
use feeler_geom::{P3, V3};

/// Finds the point of a simplex nearest to the origin, as a step of GJK.
pub trait SubAlgorithm {
    /// Returns the point of the simplex nearest to the origin. `simplex` has two to four vertices, the
    /// newest one last. Returns `None` if the sub-algorithm fails.
    fn nearest(&self, simplex: &[V3]) -> Option<Nearest>;
}

/// Signed Volumes ([`signed_volumes`]) as the sub-algorithm of GJK.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignedVolumes {
    /// Method of computing the signs of volumes and areas.
    pub signs: Signs,
}

impl SubAlgorithm for SignedVolumes {
    #[inline]
    fn nearest(&self, simplex: &[V3]) -> Option<Nearest> {
        signed_volumes(simplex, self.signs, Newest::Last)
    }
}

/// Computes the distance between two convex shapes, given in a common frame, with Signed Volumes as the
/// sub-algorithm.
#[must_use]
pub fn distance<A: Support + ?Sized, B: Support + ?Sized>(
    a: &A,
    b: &B,
    request: &DistanceRequest,
) -> DistanceResult {
    distance_with(a, b, request, &SignedVolumes::default())
}

/// Computes the distance between two convex shapes, given in a common frame, with the given
/// sub-algorithm.
#[must_use]
pub fn distance_with<A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm>(
    a: &A,
    b: &B,
    request: &DistanceRequest,
    sub_algorithm: &S,
) -> DistanceResult {
    let pair = Pair { a, b, scale: 1.0 };
    let mut search = Search::new(&pair, request, sub_algorithm);
    let end = search.descend();
    if search.is_ordinary() && !search.is_doubtful(&end) {
        return search.answer(&end);
    }
    search_again(&search, &end)
}

/// Repeats the search `first` with scaled coordinates if its coordinates are out of range, and from
/// another start if its bounds are too far apart. Returns the best result. `end` is the reason why
/// `first` ended.
#[cold]
fn search_again<A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm>(
    first: &Search<'_, '_, A, B, S>,
    end: &End,
) -> DistanceResult {
    let (request, sub_algorithm) = (first.request, first.sub_algorithm);
    let mut pair = Pair { a: first.pair.a, b: first.pair.b, scale: 1.0 };
    let (answer, doubtful, size) = if first.is_ordinary() {
        (first.answer(end), true, first.size)
    } else {
        pair.scale = crate::power_of_two((-crate::exponent(first.size)).clamp(-1020, 1020));
        let mut search = Search::new(&pair, request, sub_algorithm);
        let end = search.descend();
        (search.answer(&end), search.is_doubtful(&end), search.size / pair.scale)
    };
    if !doubtful || answer.outcome != DistanceOutcome::Separated {
        return answer;
    }
    let again = DistanceRequest { start: Start::Direction(answer.direction), ..*request };
    let mut search = Search::new(&pair, &again, sub_algorithm);
    let end = search.descend();
    let other = search.answer(&end);
    let rounding = MAX_BOUND_DIFFERENCE * size;
    let is_better = other.distance < answer.distance - rounding
        || (other.distance < answer.distance + rounding && other.lower_bound > answer.lower_bound);
    let iterations = answer.iterations + other.iterations;
    DistanceResult { iterations, ..if is_better { other } else { answer } }
}

/// Reason why the loop of a GJK search ended.
enum End {
    /// The distance is as accurate as requested, or cannot be reduced further.
    Converged,
    /// The cores touch or intersect: the simplex's nearest point is the origin up to rounding, and the
    /// simplex is not a tetrahedron around the origin.
    Contact,
    /// The cores intersect: the simplex is a tetrahedron around the origin.
    Inside,
    Beyond,
    Exhausted,
    Invalid,
}

struct Search<'s, 'p, A: ?Sized, B: ?Sized, S> {
    pair: &'s Pair<'p, A, B>,
    request: &'s DistanceRequest,
    sub_algorithm: &'s S,
    simplex: Simplex,
    radius: f64,
    /// Largest coordinate of the support points encountered so far, times [`Pair::scale`].
    size: f64,
    /// Lower bound of the distance between the cores (the shapes without their radii), times
    /// [`Pair::scale`].
    lower_bound: f64,
    along: V3,
    iterations: u32,
}

/// Maximum number of steps in one search after which the distance has not decreased, except by rounding;
/// then the search ends. With 4, one of 10⁵ hard pairs (`benches/src/bin/convex_campaign.rs`) ends too
/// early; with 16, none of 10⁷ does. A larger value costs steps without progress.
const MAX_MISSES: u32 = 16;

/// Bound of the rounding error of a difference of coordinates, relative to the coordinates. With a
/// larger value, shapes that are apart count as touching; with a smaller one, searches may not end.
const COORDINATE_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Maximum difference between the distance and its lower bound that rounding can explain, relative to
/// the coordinates. If it is exceeded, the search is repeated. A larger value accepts wrong results; a
/// smaller one is slower.
const MAX_BOUND_DIFFERENCE: f64 = 64.0 * COORDINATE_ROUNDING;

impl<'s, 'p, A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm> Search<'s, 'p, A, B, S> {
    #[inline]
    fn new(pair: &'s Pair<'p, A, B>, request: &'s DistanceRequest, sub_algorithm: &'s S) -> Self {
        let radius = (pair.a.radius() + pair.b.radius()) * pair.scale;
        // Each radius is checked, because their sum may hide a negative one.
        let valid = pair.a.radius() >= 0.0 && pair.b.radius() >= 0.0;
        let mut out = Self {
            pair,
            request,
            sub_algorithm,
            simplex: Simplex::empty(),
            radius: if valid { radius } else { f64::NAN },
            size: radius,
            lower_bound: 0.0,
            along: V3::zeros(),
            iterations: 1,
        };
        start(pair, &request.start, &mut out.simplex);
        out.size = out.simplex.vertices().fold(radius, |m: f64, v| m.max(v.size(pair.scale)));
        out.along = out.simplex.v;
        out
    }

    /// Returns whether the coordinates need no scaling: their sixth powers neither overflow nor
    /// underflow, or no scale could prevent it.
    #[inline]
    fn is_ordinary(&self) -> bool {
        (1e-40 < self.size && self.size < 1e40) || !(0.0 < self.size && self.size < f64::INFINITY)
    }

    /// Returns whether a converged search has to be repeated along the direction that it has found: its
    /// lower bound is farther below the distance than the request and rounding allow. The cause is a
    /// final simplex that is a needle; the repeated search uses other simplices.
    #[inline]
    fn is_doubtful(&self, end: &End) -> bool {
        let d = self.simplex.v.norm();
        matches!(end, End::Converged)
            && d - self.lower_bound > self.max_error(d).max(MAX_BOUND_DIFFERENCE * self.size)
    }

    /// Returns the maximum error (scaled) that the request allows at the distance `d` (scaled) between
    /// the cores.
    #[inline]
    fn max_error(&self, d: f64) -> f64 {
        (self.request.rel_tol * (d - self.radius).abs()).max(self.request.abs_tol * self.pair.scale)
    }

    #[inline]
    fn descend(&mut self) -> End {
        if !self.radius.is_finite() {
            return End::Invalid;
        }
        let scale = self.pair.scale;
        let max_distance = self.request.max_distance * scale + self.radius;
        let mut misses = 0;
        if self.simplex.n == 4 {
            return End::Inside;
        }
        let mut d_sq = self.simplex.v.norm_squared();
        self.iterations = 0;
        while self.iterations < self.request.max_iterations {
            self.iterations += 1;
            let d = d_sq.sqrt();
            if !(d > COORDINATE_ROUNDING * self.size) {
                return if d.is_finite() && self.size.is_finite() { End::Contact } else { End::Invalid };
            }
            // The direction is usually the nearest point itself, whose length is already computed.
            let (along, length) = if d > REFINE_BELOW * self.size {
                (self.simplex.v, d)
            } else {
                let along = self.simplex.direction(self.size);
                (along, along.norm())
            };
            self.along = along;
            let vertex = self.pair.support_near(&along, self.simplex.last());
            self.size = self.size.max(vertex.size(scale));
            let bound = along.dot(&vertex.w) / length;
            if !bound.is_finite() {
                // An overflow is indistinguishable from an infinite point. After the first attempt,
                // coordinates are scaled and the search is repeated.
                return End::Invalid;
            }
            self.lower_bound = self.lower_bound.max(bound);
            if self.lower_bound > max_distance {
                return End::Beyond;
            }
            if d - self.lower_bound <= self.max_error(d) || self.simplex.contains_vertex(&vertex.w) {
                return End::Converged;
            }
            let before = self.simplex.n;
            self.simplex.push(&vertex);
            let quick = self.sub_algorithm.nearest(self.simplex.points());
            match &quick {
                Some(n) if n.vertices().len() < 4 && n.point().norm_squared() < d_sq => {
                    self.simplex.reduce(n)
                }
                _ => {
                    let Some(n) = self.checked(quick, d_sq, &mut misses) else {
                        self.simplex.n = before;
                        return End::Converged;
                    };
                    self.simplex.reduce(&n);
                }
            }
            if self.simplex.n == 4 {
                return End::Inside;
            }
            d_sq = self.simplex.v.norm_squared();
        }
        End::Exhausted
    }

    /// Returns the point of the simplex that is nearest to the origin. `quick`, the result of the
    /// sub-algorithm, is used if it is nearer than before; otherwise all faces are tried. `d_sq` is the
    /// squared distance before this step, and `misses` counts the steps without progress. Returns `None`
    /// if the search must end because the distance does not decrease.
    fn checked(&self, quick: Option<Nearest>, d_sq: f64, misses: &mut u32) -> Option<Nearest> {
        let s = self.simplex.points();
        let quick = quick.filter(|n| n.vertices().len() < 4 || is_optimal(s, n));
        if let Some(n) = quick
            && n.point().norm_squared() < d_sq
        {
            return quick;
        }
        let best = exhaustive(s);
        if best.point().norm_squared() < d_sq {
            return Some(best);
        }
        // The point is not nearer, although the bound shows that the distance can decrease. Near the
        // optimum a distance changes with the square of a step, by less than its rounding. A few steps
        // that keep the distance within rounding are allowed.
        *misses += 1;
        let rounding = 2.0 * d_sq.sqrt() * COORDINATE_ROUNDING * self.size;
        let level = |n: &Nearest| n.point().norm_squared() <= d_sq + rounding;
        quick.filter(|n| *misses <= MAX_MISSES && level(n))
    }

    #[inline]
    fn answer(&self, end: &End) -> DistanceResult {
        let touch = (self.request.touch_tol * self.pair.scale).max(COORDINATE_ROUNDING * self.size);
        match end {
            End::Invalid => self.finish(DistanceOutcome::Invalid, 0.0, V3::zeros()),
            End::Inside if clearance(self.simplex.points()) > touch => {
                self.finish(DistanceOutcome::Overlapping, 0.0, V3::zeros())
            }
            End::Contact | End::Inside => self.contact(touch),
            End::Converged | End::Exhausted | End::Beyond => {
                let small =
                    self.simplex.v.norm_squared() < (REFINE_BELOW * REFINE_BELOW) * self.size * self.size;
                let v = if small { self.simplex.refined(self.pair.scale) } else { self.simplex.v };
                let d = v.norm();
                // The last digits of v may be lost to cancellation, but the direction can still be
                // computed.
                let direction = if d > 0.0 { v / d } else { self.along / self.along.norm() };
                let core = d - self.radius;
                if d <= touch {
                    return self.contact(touch);
                }
                let outcome = if matches!(end, End::Beyond) {
                    DistanceOutcome::Beyond
                } else if core < -touch {
                    DistanceOutcome::Overlapping
                } else if core <= touch {
                    DistanceOutcome::Touching
                } else if self.has_converged(end, d) {
                    DistanceOutcome::Separated
                } else {
                    DistanceOutcome::Stalled
                };
                self.finish(outcome, core.max(0.0), direction)
            }
        }
    }

    /// Returns the result for cores at distance zero: touching if a direction is found along which they
    /// penetrate by at most `touch` (scaled), otherwise overlapping.
    fn contact(&self, touch: f64) -> DistanceResult {
        if self.radius <= touch
            && let Some(n) =
                self.separating(touch).or_else(|| depth_of_contact(self.pair, &self.simplex, touch))
        {
            return self.finish(DistanceOutcome::Touching, 0.0, n);
        }
        self.finish(DistanceOutcome::Overlapping, 0.0, V3::zeros())
    }

    /// Returns a unit direction along which the cores penetrate each other by at most `touch` (scaled).
    /// It is found by trying a few directions; `None` means that none of them succeeds.
    fn separating(&self, touch: f64) -> Option<V3> {
        let depth = |n: &V3| -self.pair.support_near(n, self.simplex.last()).w.dot(n);
        let mut best = (f64::INFINITY, V3::zeros());
        // Candidates: the normal of the face at the origin, the simplex's own direction (its normal or
        // noise at this distance), and the previous direction. Behind a separating direction there is no
        // point of the difference.
        let inward = |n: V3| if n.dot(&self.along) < 0.0 { -n } else { n };
        let face = nearest_plane(self.simplex.points()).map_or_else(V3::zeros, |(_, n)| n);
        let own = inward(self.simplex.direction(self.size));
        for n in [face, own, self.along, -own] {
            let Some(n) = n.try_normalize(f64::MIN_POSITIVE) else { continue };
            let depth = depth(&n);
            if depth <= touch {
                return Some(n);
            }
            if depth < best.0 {
                best = (depth, n);
            }
        }
        // The shapes are pulled apart along the best candidate and slightly more; their closest points
        // give a better direction.
        for _ in 0..4 {
            let (deep, n) = best;
            let pulled = Translated { shape: self.pair.b, by: n * (1.125 * deep / self.pair.scale) };
            let pair = Pair { a: self.pair.a, b: &pulled, scale: self.pair.scale };
            let request = DistanceRequest {
                start: Start::Direction(n),
                max_iterations: 50,
                ..DistanceRequest::default()
            };
            let mut apart = Search::new(&pair, &request, self.sub_algorithm);
            if !matches!(apart.descend(), End::Converged) {
                return None;
            }
            let n = apart.simplex.direction(apart.size).try_normalize(f64::MIN_POSITIVE)?;
            let depth = depth(&n);
            if depth <= touch {
                return Some(n);
            }
            if !(depth < 0.75 * deep) {
                return None;
            }
            best = (depth, n);
        }
        None
    }

    /// Returns whether the lower bound confirms the distance `d` (scaled): their difference is within
    /// the requested error or, if the search ended as `Converged`, within 1e-7 of the coordinates. With
    /// a needle simplex or a small distance, the two agree only in half of the digits.
    fn has_converged(&self, end: &End, d: f64) -> bool {
        let gap = d - self.lower_bound;
        gap <= self.max_error(d) || (matches!(end, End::Converged) && gap <= 1e-7 * self.size.max(d))
    }

    #[inline]
    fn finish(&self, outcome: DistanceOutcome, distance: f64, direction: V3) -> DistanceResult {
        let back = 1.0 / self.pair.scale;
        let apart = matches!(
            outcome,
            DistanceOutcome::Separated | DistanceOutcome::Beyond | DistanceOutcome::Stalled
        );
        let (distance, lower_bound) =
            if apart { (distance, self.lower_bound - self.radius) } else { (0.0, 0.0) };
        let origin = P3::new(0.0, 0.0, 0.0);
        let mut out = DistanceResult {
            outcome,
            distance: distance * back,
            lower_bound: (lower_bound * back).min(distance * back).max(0.0),
            witness: ClosestPoints { point_a: origin, point_b: origin, vertices: ArrayVec::new_const() },
            direction,
            iterations: self.iterations,
        };
        self.simplex.write_witness(&mut out.witness);
        // Move the points from the cores to the surfaces.
        out.witness.point_a += direction * self.pair.a.radius();
        out.witness.point_b -= direction * self.pair.b.radius();
        out
    }
}

/// Returns the distance of the origin from the nearest plane of the faces of a tetrahedron that contains
/// it; zero for a flat tetrahedron and for a simplex with fewer vertices.
fn clearance(s: &[V3]) -> f64 {
    nearest_plane(s).map_or(0.0, |(d, _)| d)
}

/// Returns the distance of the origin from the nearest plane of the faces of a tetrahedron, and the
/// inward normal of that face, not normalised. Returns `None` if a face is degenerate or the simplex has
/// fewer than four vertices.
fn nearest_plane(s: &[V3]) -> Option<(f64, V3)> {
    let [a, b, c, d] = *s else { return None };
    let mut best = (f64::INFINITY, V3::zeros(), a);
    for [p, q, r, apex] in [[a, b, c, d], [a, b, d, c], [a, c, d, b], [b, c, d, a]] {
        let n = (q - p).cross(&(r - p));
        let height = (n.dot(&p) / n.norm()).abs();
        if !height.is_finite() {
            return None;
        }
        if height < best.0 {
            best = (height, n, apex - p);
        }
    }
    let (height, n, up) = best;
    Some((height, if n.dot(&up) < 0.0 { -n } else { n }))
}

/// Sets the empty `simplex` to the vertices with which a search begins, according to the [`Start`] of
/// the request.
#[inline]
fn start<A: Support + ?Sized, B: Support + ?Sized>(
    pair: &Pair<'_, A, B>,
    start: &Start,
    simplex: &mut Simplex,
) {
    let usable = |d: &V3| d.norm_squared() > 0.0 && d.norm_squared().is_finite();
    let cold = || {
        let d = pair.b.center() - pair.a.center();
        let size = d.amax();
        if size > 0.0 && size.is_finite() { d / size } else { V3::x() }
    };
    match start {
        Start::Cold => simplex.set(&pair.support(&cold())),
        Start::Direction(d) => simplex.set(&pair.support(&if usable(d) { *d } else { cold() })),
        Start::Warm(warm) => {
            let vertex = |[i, j]: [u32; 2]| {
                let point = |p, index| crate::support::SupportPoint { point: p, index };
                Some(pair.vertex(point(pair.a.numbered(i)?, i), point(pair.b.numbered(j)?, j)))
            };
            for indices in &warm.indices[..warm.n.min(4)] {
                match vertex(*indices) {
                    None => {
                        let d = if usable(&warm.direction) { warm.direction } else { cold() };
                        return simplex.set(&pair.support_near(&d, *indices));
                    }
                    Some(v) if simplex.n == 0 => simplex.set(&v),
                    Some(v) if simplex.contains_vertex(&v.w) => {}
                    Some(v) => simplex.push(&v),
                }
            }
            if simplex.n == 0 {
                simplex.set(&pair.support(&cold()));
            } else if simplex.n > 1
                && let Some(n) = crate::nearest_to_origin(simplex.points())
            {
                simplex.reduce(&n);
            }
        }
    }
}

#[cfg(test)]
mod tests;
