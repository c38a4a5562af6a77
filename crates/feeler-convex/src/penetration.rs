//! Penetration depth of two convex shapes.
//!
//! # Source
//! The expanding polytope algorithm of van den Bergen, named in DIST §2.4.1 (EPA-GJK).
//!
//! # Deviations
//! - The polytope's signs are exact: facets are never degenerate, and none has to be dropped or merged.
//! - The initial polytope need not contain the origin; facets with the origin outside are expanded
//!   first.
//! - The depth of round shapes is refined: the shapes are pulled apart, and their closest points give
//!   the direction of a minimum to full precision, which facets cannot.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

use crate::expansion::{Expansion, ExpansionGoal, Plane, Translated};
use crate::simplex::Pair;
use crate::support::{Support, SupportPoint};
use crate::{DistanceOutcome, DistanceRequest, Start, distance};
use feeler_geom::{P3, V3};

/// Options of [`penetration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenetrationRequest {
    /// Maximum difference between [`Penetration::depth`] and its lower bound, relative to the depth. A
    /// larger value is less exact; a smaller one needs more support points.
    pub rel_tol: f64,
    /// Maximum difference between the depth and its lower bound (mm). The search ends when this
    /// tolerance or `rel_tol` is satisfied.
    pub abs_tol: f64,
    /// Maximum number of support points that are evaluated to expand the polytope inside the shapes'
    /// difference. Hulls of points need one for each vertex of the facets near the result. Round shapes
    /// need about 1 / `rel_tol` if their centres coincide, and far fewer otherwise.
    pub max_iterations: u32,
}

impl Default for PenetrationRequest {
    fn default() -> Self {
        Self { rel_tol: 1e-6, abs_tol: 0.0, max_iterations: 2000 }
    }
}

/// Outcome of a penetration query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenetrationOutcome {
    /// The shapes overlap, or touch with a depth of zero; the depth is as accurate as the
    /// request demands.
    Found,
    /// The shapes are separated by a plane, so the depth is zero. Use [`distance`] to compute the
    /// closest points.
    Separated,
    /// The maximum number of support points was evaluated before the tolerance was reached. The bounds
    /// are valid.
    Stalled,
    /// A support point or a radius was NaN or infinite, or a radius was negative. The other fields are
    /// meaningless.
    Invalid,
}

/// Result of [`penetration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Outcome of the query.
    pub outcome: PenetrationOutcome,
    /// Penetration depth (mm): the length of the translation of B along `direction` after which the
    /// shapes only touch. It is an upper bound, up to rounding, of the length of the shortest
    /// translation in any direction that separates the shapes.
    pub depth: f64,
    /// Lower bound (mm) of the length of the shortest translation in any direction that separates the
    /// shapes, valid up to rounding.
    pub lower_bound: f64,
    /// Unit vector, pointing from A to B, of the translation of B that separates the shapes.
    pub direction: V3,
    /// Point of A that is deepest in B (mm, common frame). `point_a − point_b` equals `depth ·
    /// direction`, up to the tolerance.
    pub point_a: P3,
    /// Point of B that is deepest in A (mm, common frame).
    pub point_b: P3,
    /// Number of evaluated support points of the difference of both shapes.
    pub iterations: u32,
}

/// Computes the smallest translation of B that separates two shapes, which are given in a common frame.
#[must_use]
pub fn penetration<A: Support + ?Sized, B: Support + ?Sized>(
    a: &A,
    b: &B,
    request: &PenetrationRequest,
) -> Penetration {
    let pair = Pair { a, b, scale: 1.0 };
    let radii = [a.radius(), b.radius()];
    let nothing = Penetration {
        outcome: PenetrationOutcome::Invalid,
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
    // If the cores are disjoint, the depth is the sum of the radii minus their distance.
    let cores = distance(&Core(a), &Core(b), &DistanceRequest::default());
    let at_surface = |mut p: Penetration| {
        p.point_a += p.direction * radii[0];
        p.point_b -= p.direction * radii[1];
        p
    };
    match cores.outcome {
        DistanceOutcome::Invalid => nothing,
        DistanceOutcome::Separated | DistanceOutcome::Stalled | DistanceOutcome::Beyond => {
            let depth = radius - cores.distance;
            let lower = radius - cores.distance;
            at_surface(Penetration {
                outcome: match cores.outcome {
                    _ if radius - cores.lower_bound < 0.0 || depth < 0.0 => PenetrationOutcome::Separated,
                    DistanceOutcome::Stalled => PenetrationOutcome::Stalled,
                    _ => PenetrationOutcome::Found,
                },
                depth: depth.max(0.0),
                lower_bound: lower.max(0.0),
                direction: cores.direction,
                point_a: cores.witness.point_a,
                point_b: cores.witness.point_b,
                iterations: cores.iterations,
            })
        }
        DistanceOutcome::Touching | DistanceOutcome::Overlapping => {
            let mut expansion = Expansion::new(&pair);
            let goal =
                ExpansionGoal { rel_tol: request.rel_tol, abs_tol: request.abs_tol, radius, threshold: None };
            let closed = expansion.run(&goal, request.max_iterations);
            if !expansion.upper.height.is_finite() {
                return nothing;
            }
            let points = expansion.polish().unwrap_or([cores.witness.point_a, cores.witness.point_b]);
            let depth = expansion.upper.height.max(0.0) + radius;
            at_surface(Penetration {
                outcome: if closed { PenetrationOutcome::Found } else { PenetrationOutcome::Stalled },
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
    /// Refines the upper bound of the depth, `upper`. Each step moves the core of B out of A's core
    /// along the direction of the bound, slightly farther than the depth. The closest points of both
    /// cores then give the normal of the difference near its lowest supporting plane. Returns the
    /// closest points on A's core and on B's core, the latter moved back; they are the deepest points of
    /// both cores if the plane is the lowest one. Returns `None` if no step confirms a plane.
    fn polish(&mut self) -> Option<[P3; 2]> {
        let mut points = None;
        for _ in 0..64 {
            let Plane { height, normal } = self.upper;
            let rounding = 4.0 * f64::EPSILON * self.size;
            if !(height > rounding) {
                return points;
            }
            let away = -normal * (height * 1.125);
            let pulled = Translated { shape: self.pair.b, by: away };
            let request = DistanceRequest {
                start: Start::Direction(-normal),
                max_iterations: 200,
                ..DistanceRequest::default()
            };
            let answer = distance(&Core(self.pair.a), &pulled, &request);
            if answer.outcome != DistanceOutcome::Separated {
                return points;
            }
            let (_, reached) = self.evaluate(-answer.direction);
            // The plane is the same, up to the effect of rounding on the direction of a short distance.
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

/// The core of a shape: the shape without its radius.
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
