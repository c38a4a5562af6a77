//! Closest points of two convex shapes.
//!
//! # Source
//! DIST §3.2, Algorithm 5, with [Signed Volumes](mod@crate::signed_volumes) as its sub-algorithm.
//!
//! # Deviations
//! - `continue` in Algorithm 5 means: leave the loop (MATH §12).
//! - Near contact the search direction is the simplex's normal, not the difference of the closest points.
//! - The loop also ends when a support point comes again or when a step brings nothing nearer; where rounding
//!   misled the sub-algorithm, all faces of the simplex are tried before a step counts as one that brings
//!   nothing.
//! - A distance that is small against the coordinates is computed again from the last simplex in doubled
//!   precision.
//! - An answer whose bounds stay further apart than rounding makes them is sought a second time, from its own
//!   direction.
//! - Coordinates outside the range in which their sixth powers are numbers are scaled by a power of two.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::simplex::{Pair, SMALL, Simplex};
pub use crate::types::{Answer, Outcome, Request, Start, Warm, Witness, WitnessVertex};

use crate::expansion::{Pulled, depth_of_contact};
use crate::signed_volumes::{Nearest, Newest, Signs, exhaustive, is_optimal, signed_volumes};
use crate::support::Support;
use arrayvec::ArrayVec;
use feeler_geom::{P3, V3};

/// Finds the point of a simplex nearest to the origin, inside a search.
pub trait SubAlgorithm {
    /// For two to four points, the last the newest; `None` when it has no answer.
    fn nearest(&self, simplex: &[V3]) -> Option<Nearest>;
}

/// Signed Volumes for the newest vertex.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignedVolumes {
    /// How signs are found.
    pub signs: Signs,
}

impl SubAlgorithm for SignedVolumes {
    #[inline]
    fn nearest(&self, simplex: &[V3]) -> Option<Nearest> {
        signed_volumes(simplex, self.signs, Newest::Last)
    }
}

/// The distance of two convex shapes in one frame.
#[must_use]
pub fn distance<A: Support + ?Sized, B: Support + ?Sized>(a: &A, b: &B, request: &Request) -> Answer {
    distance_with(a, b, request, &SignedVolumes::default())
}

/// The distance of two convex shapes in one frame, with a sub-algorithm of the caller's choice.
#[must_use]
pub fn distance_with<A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm>(
    a: &A,
    b: &B,
    request: &Request,
    sub_algorithm: &S,
) -> Answer {
    let pair = Pair { a, b, scale: 1.0 };
    let mut search = Search::new(&pair, request, sub_algorithm);
    let end = search.descend();
    if search.is_ordinary() && !search.is_doubtful(&end) {
        return search.answer(&end);
    }
    with_more_care(&search, &end)
}

/// Searches again where the numbers have left their range or the bounds are far apart.
#[cold]
fn with_more_care<A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm>(
    first: &Search<'_, '_, A, B, S>,
    end: &End,
) -> Answer {
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
    if !doubtful || answer.outcome != Outcome::Separated {
        return answer;
    }
    let again = Request { start: Start::Direction(answer.direction), ..*request };
    let mut search = Search::new(&pair, &again, sub_algorithm);
    let end = search.descend();
    let other = search.answer(&end);
    let rounding = DOUBT * size;
    let surer = other.distance < answer.distance - rounding
        || (other.distance < answer.distance + rounding && other.lower_bound > answer.lower_bound);
    let iterations = answer.iterations + other.iterations;
    Answer { iterations, ..if surer { other } else { answer } }
}

/// How the loop ended.
enum End {
    /// Nothing nearer is to be found.
    Converged,
    /// The nearest point is the origin, up to rounding, and the simplex is no tetrahedron around it.
    Contact,
    /// A tetrahedron around the origin.
    Inside,
    Beyond,
    Exhausted,
    Invalid,
}

struct Search<'s, 'p, A: ?Sized, B: ?Sized, S> {
    pair: &'s Pair<'p, A, B>,
    request: &'s Request,
    sub_algorithm: &'s S,
    simplex: Simplex,
    radius: f64,
    /// Largest coordinate met, scaled.
    size: f64,
    /// Of the cores' distance, scaled.
    lower_bound: f64,
    along: V3,
    iterations: u32,
}

/// Steps without gain before a search ends: with 4, one of 10⁵ hard pairs
/// (`benches/src/bin/convex_campaign.rs`) ended too early; with 16 none of 10⁷ does.
const MOST_MISSES: u32 = 16;

/// Rounding of a difference of coordinates, relative to these.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Bounds that are further apart than this, relative to the coordinates, are further apart than rounding
/// makes them.
const DOUBT: f64 = 64.0 * ROUNDING;

impl<'s, 'p, A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm> Search<'s, 'p, A, B, S> {
    #[inline]
    fn new(pair: &'s Pair<'p, A, B>, request: &'s Request, sub_algorithm: &'s S) -> Self {
        let radius = (pair.a.radius() + pair.b.radius()) * pair.scale;
        // A radius of one shape must not hide the other's being negative.
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

    /// Whether sixth powers of the coordinates are numbers, or no scale makes them so.
    #[inline]
    fn is_ordinary(&self) -> bool {
        (1e-40 < self.size && self.size < 1e40) || !(0.0 < self.size && self.size < f64::INFINITY)
    }

    /// Whether the bounds are further apart than asked for and than rounding makes them: the last simplex was
    /// a needle. Begun afresh along the direction found, the simplices are others.
    #[inline]
    fn is_doubtful(&self, end: &End) -> bool {
        let d = self.simplex.v.norm();
        matches!(end, End::Converged) && d - self.lower_bound > self.wanted(d).max(DOUBT * self.size)
    }

    /// The largest error asked for at a distance of the cores.
    #[inline]
    fn wanted(&self, d: f64) -> f64 {
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
            if !(d > ROUNDING * self.size) {
                return if d.is_finite() && self.size.is_finite() { End::Contact } else { End::Invalid };
            }
            // Most often the nearest point itself, whose length is known.
            let (along, length) = if d > SMALL * self.size {
                (self.simplex.v, d)
            } else {
                let along = self.simplex.direction(self.size);
                (along, along.norm())
            };
            self.along = along;
            let vertex = self.pair.take_near(&along, self.simplex.last());
            self.size = self.size.max(vertex.size(scale));
            let bound = along.dot(&vertex.w) / length;
            if !bound.is_finite() {
                // An overflow looks the same as an infinite point: the first is scaled away and tried again.
                return End::Invalid;
            }
            self.lower_bound = self.lower_bound.max(bound);
            if self.lower_bound > max_distance {
                return End::Beyond;
            }
            if d - self.lower_bound <= self.wanted(d) || self.simplex.holds(&vertex.w) {
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

    /// The new nearest point, given what the sub-algorithm found; `None` when it is not nearer than the last.
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
        // Not nearer, although the bound says there is more to gain. Near the optimum a distance changes with
        // the square of a step, and by less than its rounding: a few steps that keep it to that are still
        // steps; more are none.
        *misses += 1;
        let rounding = 2.0 * d_sq.sqrt() * ROUNDING * self.size;
        let level = |n: &Nearest| n.point().norm_squared() <= d_sq + rounding;
        quick.filter(|n| *misses <= MOST_MISSES && level(n))
    }

    #[inline]
    fn answer(&self, end: &End) -> Answer {
        let touch = (self.request.touch_tol * self.pair.scale).max(ROUNDING * self.size);
        match end {
            End::Invalid => self.finish(Outcome::Invalid, 0.0, V3::zeros()),
            End::Inside if clearance(self.simplex.points()) > touch => {
                self.finish(Outcome::Overlapping, 0.0, V3::zeros())
            }
            End::Contact | End::Inside => self.contact(touch),
            End::Converged | End::Exhausted | End::Beyond => {
                let small = self.simplex.v.norm_squared() < (SMALL * SMALL) * self.size * self.size;
                let v = if small { self.simplex.refined(self.pair.scale) } else { self.simplex.v };
                let d = v.norm();
                // The last digits of v may be lost; those of the direction need not be.
                let direction = if d > 0.0 { v / d } else { self.along / self.along.norm() };
                let core = d - self.radius;
                if d <= touch {
                    return self.contact(touch);
                }
                let outcome = if matches!(end, End::Beyond) {
                    Outcome::Beyond
                } else if core < -touch {
                    Outcome::Overlapping
                } else if core <= touch {
                    Outcome::Touching
                } else if self.has_converged(end, d) {
                    Outcome::Separated
                } else {
                    Outcome::Stalled
                };
                self.finish(outcome, core.max(0.0), direction)
            }
        }
    }

    /// Cores at a distance of zero: does a direction separate the shapes?
    fn contact(&self, touch: f64) -> Answer {
        if self.radius <= touch
            && let Some(n) =
                self.separating(touch).or_else(|| depth_of_contact(self.pair, &self.simplex, touch))
        {
            return self.finish(Outcome::Touching, 0.0, n);
        }
        self.finish(Outcome::Overlapping, 0.0, V3::zeros())
    }

    /// A direction along which the cores are no deeper than `touch`, where a few trials find one.
    fn separating(&self, touch: f64) -> Option<V3> {
        let depth = |n: &V3| -self.pair.take_near(n, self.simplex.last()).w.dot(n);
        let mut best = (f64::INFINITY, V3::zeros());
        // The normal of the face that is at the origin; the simplex's own direction, which at this distance
        // is its normal or noise; and the one before. A direction that separates has no point of the
        // difference behind it.
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
        // Pulled apart along the best of them and a little further, the closest points show a better one.
        for _ in 0..4 {
            let (deep, n) = best;
            let pulled = Pulled { shape: self.pair.b, by: n * (1.125 * deep / self.pair.scale) };
            let pair = Pair { a: self.pair.a, b: &pulled, scale: self.pair.scale };
            let request = Request { start: Start::Direction(n), max_iterations: 50, ..Request::default() };
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

    /// Whether the bounds close. They stay apart by half the digits where the simplex is a needle, or where
    /// the distance is small; what is left above that is a failure.
    fn has_converged(&self, end: &End, d: f64) -> bool {
        let gap = d - self.lower_bound;
        gap <= self.wanted(d) || (matches!(end, End::Converged) && gap <= 1e-7 * self.size.max(d))
    }

    #[inline]
    fn finish(&self, outcome: Outcome, distance: f64, direction: V3) -> Answer {
        let back = 1.0 / self.pair.scale;
        let apart = matches!(outcome, Outcome::Separated | Outcome::Beyond | Outcome::Stalled);
        let (distance, lower_bound) =
            if apart { (distance, self.lower_bound - self.radius) } else { (0.0, 0.0) };
        let origin = P3::new(0.0, 0.0, 0.0);
        let mut out = Answer {
            outcome,
            distance: distance * back,
            lower_bound: (lower_bound * back).min(distance * back).max(0.0),
            witness: Witness { point_a: origin, point_b: origin, vertices: ArrayVec::new_const() },
            direction,
            iterations: self.iterations,
        };
        self.simplex.tell(&mut out.witness);
        // From the cores to the surfaces.
        out.witness.point_a += direction * self.pair.a.radius();
        out.witness.point_b -= direction * self.pair.b.radius();
        out
    }
}

/// Distance of the origin from the nearest face of a tetrahedron around it; zero for a flat one.
fn clearance(s: &[V3]) -> f64 {
    nearest_plane(s).map_or(0.0, |(d, _)| d)
}

/// The distance of the origin from the nearest face of a tetrahedron, and the face's inward normal; `None`
/// when a face has none.
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

/// The first simplex.
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
        Start::Cold => simplex.set(&pair.take(&cold())),
        Start::Direction(d) => simplex.set(&pair.take(&if usable(d) { *d } else { cold() })),
        Start::Warm(warm) => {
            let vertex = |[i, j]: [u32; 2]| {
                let point = |p, index| crate::support::SupportPoint { point: p, index };
                Some(pair.vertex(point(pair.a.numbered(i)?, i), point(pair.b.numbered(j)?, j)))
            };
            for indices in &warm.indices[..warm.n.min(4)] {
                match vertex(*indices) {
                    None => {
                        let d = if usable(&warm.direction) { warm.direction } else { cold() };
                        return simplex.set(&pair.take_near(&d, *indices));
                    }
                    Some(v) if simplex.n == 0 => simplex.set(&v),
                    Some(v) if simplex.holds(&v.w) => {}
                    Some(v) => simplex.push(&v),
                }
            }
            if simplex.n == 0 {
                simplex.set(&pair.take(&cold()));
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
