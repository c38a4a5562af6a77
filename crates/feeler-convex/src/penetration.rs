//! How deep two convex shapes are in each other.
//!
//! # Source
//! The expanding polytope of van den Bergen, named in DIST §2.4.1 (EPA-GJK).
//!
//! # Deviations
//! - The polytope's signs are exact: no facet is degenerate, none has to be dropped or merged.
//! - The polytope need not hold the origin at the start; facets that have it outside come first.
//! - The depth found for round shapes is improved by closest points of the shapes pulled apart: near a
//!   minimum these give the direction to all digits, which facets cannot.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::expansion::{Expansion, Plane, Pulled, Wanted};
use crate::simplex::Pair;
use crate::support::{Support, SupportPoint};
use crate::{Outcome, Request, Start, distance};
use feeler_geom::{P3, V3};

/// What [`penetration`] is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenetrationRequest {
    /// Largest error of the depth, relative to the depth, to be proven by the bounds.
    pub rel_tol: f64,
    /// Largest error of the depth (mm); enough when either tolerance holds.
    pub abs_tol: f64,
    /// Most support points taken for the polytope. Hulls need as many as the facets near the answer have
    /// vertices, round shapes about 1 / `rel_tol` where the depth is that of a common centre, far fewer
    /// elsewhere.
    pub max_iterations: u32,
}

impl Default for PenetrationRequest {
    fn default() -> Self {
        Self { rel_tol: 1e-6, abs_tol: 0.0, max_iterations: 2000 }
    }
}

/// What can be said about the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The shapes overlap, or touch with a depth of zero: the depth is known to the tolerance.
    Found,
    /// A direction separates the shapes: the depth is zero. For the closest points ask [`distance`].
    Separated,
    /// The bounds are further apart than asked when the steps ran out.
    Stalled,
    /// A support point or a radius was not a number, infinite, or negative: nothing is known.
    Invalid,
}

/// The answer of [`penetration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// What is known.
    pub outcome: Depth,
    /// How far B must move along `direction` so that the shapes only touch (mm): never too short, up to
    /// rounding.
    pub depth: f64,
    /// Lower bound of the depth (mm), up to rounding.
    pub lower_bound: f64,
    /// Unit vector from A to B.
    pub direction: V3,
    /// The point of A that is deepest in B; `point_a − point_b` is `depth` times `direction`, up to the
    /// tolerance.
    pub point_a: P3,
    /// The point of B that is deepest in A.
    pub point_b: P3,
    /// Support points taken.
    pub iterations: u32,
}

/// The smallest translation that separates two shapes in one frame.
#[must_use]
pub fn penetration<A: Support + ?Sized, B: Support + ?Sized>(
    a: &A,
    b: &B,
    request: &PenetrationRequest,
) -> Penetration {
    let pair = Pair { a, b, scale: 1.0 };
    let radii = [a.radius(), b.radius()];
    let nothing = Penetration {
        outcome: Depth::Invalid,
        depth: 0.0,
        lower_bound: 0.0,
        direction: V3::zeros(),
        point_a: a.center(),
        point_b: b.center(),
        iterations: 0,
    };
    let radius = radii[0] + radii[1];
    if !(radii[0] >= 0.0 && radii[1] >= 0.0 && radius.is_finite()) {
        return nothing;
    }
    // With the cores apart the depth is what their distance leaves of the radii.
    let cores = distance(&Core(a), &Core(b), &Request::default());
    let at_surface = |mut p: Penetration| {
        p.point_a += p.direction * radii[0];
        p.point_b -= p.direction * radii[1];
        p
    };
    match cores.outcome {
        Outcome::Invalid => nothing,
        Outcome::Separated | Outcome::Stalled | Outcome::Beyond => {
            let depth = radius - cores.distance;
            let lower = radius - cores.distance;
            at_surface(Penetration {
                outcome: match cores.outcome {
                    _ if radius - cores.lower_bound < 0.0 || depth < 0.0 => Depth::Separated,
                    Outcome::Stalled => Depth::Stalled,
                    _ => Depth::Found,
                },
                depth: depth.max(0.0),
                lower_bound: lower.max(0.0),
                direction: cores.direction,
                point_a: cores.witness.point_a,
                point_b: cores.witness.point_b,
                iterations: cores.iterations,
            })
        }
        Outcome::Touching | Outcome::Overlapping => {
            let mut expansion = Expansion::new(&pair);
            let wanted = Wanted { rel_tol: request.rel_tol, abs_tol: request.abs_tol, radius, enough: None };
            let closed = expansion.run(&wanted, request.max_iterations);
            if !expansion.upper.height.is_finite() {
                return nothing;
            }
            let points = expansion.polish().unwrap_or([cores.witness.point_a, cores.witness.point_b]);
            let depth = expansion.upper.height.max(0.0) + radius;
            at_surface(Penetration {
                outcome: if closed { Depth::Found } else { Depth::Stalled },
                depth,
                lower_bound: (expansion.lower.max(0.0) + radius).min(depth),
                direction: -expansion.upper.normal,
                point_a: points[0],
                point_b: points[1],
                iterations: cores.iterations + expansion.iterations,
            })
        }
    }
}

impl<A: Support + ?Sized, B: Support + ?Sized> Expansion<'_, '_, A, B> {
    /// Improves the upper bound: pulls B out of A along the best direction and a little further; the closest
    /// points of the two then show the normal of the difference near its lowest plane. Returns them, back in
    /// place: at the lowest plane they are the deepest points of both cores.
    fn polish(&mut self) -> Option<[P3; 2]> {
        let mut points = None;
        for _ in 0..64 {
            let Plane { height, normal } = self.upper;
            let rounding = 4.0 * f64::EPSILON * self.size;
            if !(height > rounding) {
                return points;
            }
            let away = -normal * (height * 1.125);
            let pulled = Pulled { shape: self.pair.b, by: away };
            let request =
                Request { start: Start::Direction(-normal), max_iterations: 200, ..Request::default() };
            let answer = distance(&Core(self.pair.a), &pulled, &request);
            if answer.outcome != Outcome::Separated {
                return points;
            }
            let (_, reached) = self.look(-answer.direction);
            // The same plane, up to what rounding makes of the direction of a short distance.
            if reached <= height + 256.0 * rounding {
                points = Some([answer.witness.point_a, answer.witness.point_b - away]);
            }
            if !(reached < height - rounding) {
                return points;
            }
        }
        points
    }
}

/// A shape without its radius.
struct Core<'s, S: ?Sized>(&'s S);

impl<S: Support + ?Sized> Support for Core<'_, S> {
    fn support(&self, direction: &V3) -> SupportPoint {
        self.0.support(direction)
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        self.0.support_near(direction, start)
    }
    fn center(&self) -> P3 {
        self.0.center()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.0.numbered(index)
    }
}

#[cfg(test)]
mod tests;
