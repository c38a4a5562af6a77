//! Closest points of two convex shapes.
//!
//! # Source
//! DIST §3.2, Algorithm 5, with [Signed Volumes](mod@crate::signed_volumes) as its sub-algorithm.
//!
//! # Deviations
//! - `continue` in Algorithm 5 means: leave the loop (MATH §12).
//! - Near contact the search direction is the simplex's normal, not the difference of the closest points.
//! - The loop also ends when a support point comes again or when a step brings nothing nearer; where rounding misled
//!   the sub-algorithm, all faces of the simplex are tried before a step counts as one that brings nothing.
//! - A distance that is small against the coordinates is computed again from the last simplex in doubled precision.
//! - An answer whose bounds stay further apart than rounding makes them is sought a second time, from its own direction.
//! - Coordinates outside the range in which their sixth powers are numbers are scaled by a power of two.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

mod simplex;
mod types;

pub(crate) use simplex::{Pair, Simplex, Vertex};
pub use types::{Answer, Outcome, Request, Start, Warm, Witness, WitnessVertex};

use crate::penetration::depth_of_contact;
use crate::signed_volumes::{Nearest, Newest, Signs, exhaustive, is_optimal, signed_volumes};
use crate::support::Support;
use feeler_geom::V3;

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
    let mut pair = Pair { a, b, scale: 1.0 };
    let mut search = Search::new(&pair, request, sub_algorithm);
    let mut answer = search.run();
    let mut size = search.size;
    let ordinary = 1e-40 < size && size < 1e40;
    if !ordinary && 0.0 < size && size < f64::INFINITY {
        pair.scale = crate::power_of_two((-crate::exponent(size)).clamp(-1020, 1020));
        search = Search::new(&pair, request, sub_algorithm);
        answer = search.run();
        size = search.size / pair.scale;
    }
    let rounding = 64.0 * ROUNDING * size;
    let asked = (request.rel_tol * answer.distance).max(request.abs_tol);
    if answer.outcome == Outcome::Separated && answer.distance - answer.lower_bound > asked.max(rounding) {
        // The bounds are further apart than asked for and than rounding makes them: the last simplex was a needle.
        // Begun afresh along the direction found, the simplices are others.
        let again = Request { start: Start::Direction(answer.direction), ..*request };
        let other = Search::new(&pair, &again, sub_algorithm).run();
        let iterations = answer.iterations + other.iterations;
        let surer = other.distance < answer.distance - rounding
            || (other.distance < answer.distance + rounding && other.lower_bound > answer.lower_bound);
        answer = Answer { iterations, ..if surer { other } else { answer } };
    }
    answer
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

/// Steps without gain before a search ends: with 4, one of 10⁵ hard pairs (`benches/src/bin/convex_campaign.rs`) ended too
/// early; with 16 none of 10⁷ does.
const MOST_MISSES: u32 = 16;

/// Rounding of a difference of coordinates, relative to these.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl<'s, 'p, A: Support + ?Sized, B: Support + ?Sized, S: SubAlgorithm> Search<'s, 'p, A, B, S> {
    #[inline]
    fn new(pair: &'s Pair<'p, A, B>, request: &'s Request, sub_algorithm: &'s S) -> Self {
        let simplex = start(pair, &request.start);
        let size = simplex.vertices[..simplex.n].iter().fold(0.0, |m: f64, v| m.max(v.size(pair.scale)));
        let radius = (pair.a.radius() + pair.b.radius()) * pair.scale;
        let size = size.max(radius);
        // A radius of one shape must not hide the other's being negative.
        let valid = pair.a.radius() >= 0.0 && pair.b.radius() >= 0.0;
        Self {
            pair,
            request,
            sub_algorithm,
            along: simplex.v,
            simplex,
            radius: if valid { radius } else { f64::NAN },
            size,
            lower_bound: 0.0,
            iterations: 1,
        }
    }

    #[inline]
    fn run(&mut self) -> Answer {
        let end = if self.radius.is_finite() { self.descend() } else { End::Invalid };
        self.answer(&end)
    }

    #[inline]
    fn descend(&mut self) -> End {
        let scale = self.pair.scale;
        let (rel_tol, abs_tol) = (self.request.rel_tol, self.request.abs_tol * scale);
        let max_distance = self.request.max_distance * scale + self.radius;
        let mut misses = 0;
        if self.simplex.n == 4 {
            return End::Inside;
        }
        let mut d_sq = self.simplex.v.norm_squared();
        for iteration in 1..=self.request.max_iterations {
            self.iterations = iteration;
            let d = d_sq.sqrt();
            if !(d > ROUNDING * self.size) {
                return if d.is_nan() { End::Invalid } else { End::Contact };
            }
            // Most often the nearest point itself, whose length is known.
            let (along, length) = if d > 1e-3 * self.size {
                (self.simplex.v, d)
            } else {
                let along = self.simplex.direction(self.size);
                (along, along.norm())
            };
            self.along = along;
            let last = self.simplex.vertices[self.simplex.n - 1];
            let vertex = self.pair.take_near(&along, [last.a.index, last.b.index]);
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
            if d - self.lower_bound <= (rel_tol * (d - self.radius).abs()).max(abs_tol)
                || self.simplex.holds(&vertex.w)
            {
                return End::Converged;
            }
            let before = self.simplex.n;
            self.simplex.push(vertex);
            let Some(nearest) = self.nearest(d_sq, &mut misses) else {
                self.simplex.n = before;
                return End::Converged;
            };
            self.simplex.reduce(&nearest);
            if self.simplex.n == 4 {
                return End::Inside;
            }
            d_sq = self.simplex.v.norm_squared();
        }
        End::Exhausted
    }

    /// The new nearest point, `None` when it is not nearer than the last.
    #[inline]
    fn nearest(&self, d_sq: f64, misses: &mut u32) -> Option<Nearest> {
        let s = self.simplex.points();
        let sound = |n: &Nearest| n.vertices().len() < 4 || is_optimal(s, n);
        let quick = self.sub_algorithm.nearest(s).filter(sound);
        if let Some(n) = quick
            && n.point().norm_squared() < d_sq
        {
            return quick;
        }
        let best = exhaustive(s);
        if best.point().norm_squared() < d_sq {
            return Some(best);
        }
        // Not nearer, although the bound says there is more to gain. Near the optimum a distance changes with the
        // square of a step, and by less than its rounding: a few steps that keep it to that are still steps; more are
        // none.
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
                let small = self.simplex.v.norm_squared() < self.size * self.size / 4096.0;
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
        if self.radius <= touch {
            let last = self.simplex.vertices[self.simplex.n - 1];
            let separates = |n: &V3| {
                let vertex = self.pair.take_near(n, [last.a.index, last.b.index]);
                vertex.w.dot(n) >= -touch
            };
            // The normal of the face that is at the origin; the simplex's own direction, which at this distance is its
            // normal or noise; and the one before.
            let n = [nearest_face(self.simplex.points()), self.simplex.direction(self.size), self.along]
                .into_iter()
                .filter_map(|n| n.try_normalize(f64::MIN_POSITIVE))
                .flat_map(|n| [n, -n])
                .find(separates);
            if let Some(n) = n.or_else(|| depth_of_contact(self.pair, &self.simplex, touch)) {
                return self.finish(Outcome::Touching, 0.0, n);
            }
        }
        self.finish(Outcome::Overlapping, 0.0, V3::zeros())
    }

    /// Whether the bounds close. They stay apart by half the digits where the simplex is a needle, or where the
    /// distance is small; what is left above that is a failure.
    fn has_converged(&self, end: &End, d: f64) -> bool {
        let (rel_tol, abs_tol) = (self.request.rel_tol, self.request.abs_tol * self.pair.scale);
        let wanted = (rel_tol * (d - self.radius).abs()).max(abs_tol);
        let gap = d - self.lower_bound;
        gap <= wanted || (matches!(end, End::Converged) && gap <= 1e-7 * self.size.max(d))
    }

    #[inline]
    fn finish(&self, outcome: Outcome, distance: f64, direction: V3) -> Answer {
        let back = 1.0 / self.pair.scale;
        let mut witness = self.simplex.witness();
        // From the cores to the surfaces.
        witness.point_a += direction * self.pair.a.radius();
        witness.point_b -= direction * self.pair.b.radius();
        let lower_bound = match outcome {
            Outcome::Separated | Outcome::Beyond | Outcome::Stalled => self.lower_bound - self.radius,
            _ => 0.0,
        };
        let distance = match outcome {
            Outcome::Separated | Outcome::Beyond | Outcome::Stalled => distance,
            _ => 0.0,
        };
        Answer {
            outcome,
            distance: distance * back,
            lower_bound: (lower_bound * back).min(distance * back).max(0.0),
            witness,
            direction,
            iterations: self.iterations,
        }
    }
}

/// Distance of the origin from the nearest face of a tetrahedron around it; zero for a flat one.
fn clearance(s: &[V3]) -> f64 {
    nearest_plane(s).map_or(0.0, |(d, _)| d)
}

/// A normal of the face of a tetrahedron that is nearest to the origin, zero where there is none.
fn nearest_face(s: &[V3]) -> V3 {
    nearest_plane(s).map_or_else(V3::zeros, |(_, n)| n)
}

/// The distance of the origin from the nearest face of a tetrahedron, and the face's normal; `None` when a face has
/// none.
fn nearest_plane(s: &[V3]) -> Option<(f64, V3)> {
    let [a, b, c, d] = *s else { return None };
    let mut best = (f64::INFINITY, V3::zeros());
    for (p, q, r) in [(a, b, c), (a, b, d), (a, c, d), (b, c, d)] {
        let n = (q - p).cross(&(r - p));
        let height = (n.dot(&p) / n.norm()).abs();
        if !height.is_finite() {
            return None;
        }
        if height < best.0 {
            best = (height, n);
        }
    }
    Some(best)
}

/// The first simplex.
#[inline]
fn start<A: Support + ?Sized, B: Support + ?Sized>(pair: &Pair<'_, A, B>, start: &Start) -> Simplex {
    let usable = |d: &V3| d.norm_squared() > 0.0 && d.norm_squared().is_finite();
    let cold = || {
        let d = pair.b.center() - pair.a.center();
        let size = d.amax();
        if size > 0.0 && size.is_finite() { d / size } else { V3::x() }
    };
    match start {
        Start::Cold => Simplex::of(pair.take(&cold())),
        Start::Direction(d) => Simplex::of(pair.take(&if usable(d) { *d } else { cold() })),
        Start::Warm(warm) => {
            let vertex = |[i, j]: [u32; 2]| {
                let point = |p, index| crate::support::SupportPoint { point: p, index };
                Some(pair.vertex(point(pair.a.numbered(i)?, i), point(pair.b.numbered(j)?, j)))
            };
            let mut simplex: Option<Simplex> = None;
            for indices in &warm.indices[..warm.n.min(4)] {
                let Some(vertex) = vertex(*indices) else {
                    let d = if usable(&warm.direction) { warm.direction } else { cold() };
                    return Simplex::of(pair.take_near(&d, *indices));
                };
                match &mut simplex {
                    Some(s) if s.holds(&vertex.w) => {}
                    Some(s) => s.push(vertex),
                    None => simplex = Some(Simplex::of(vertex)),
                }
            }
            let Some(mut simplex) = simplex else { return Simplex::of(pair.take(&cold())) };
            if simplex.n > 1
                && let Some(n) = crate::nearest_to_origin(simplex.points())
            {
                simplex.reduce(&n);
            }
            simplex
        }
    }
}

#[cfg(test)]
mod tests;
