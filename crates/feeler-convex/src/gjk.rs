//! Closest points of two convex shapes.
//!
//! # Source
//! DIST §3.2, Algorithm 5, with [Signed Volumes](crate::nearest_to_origin) as its sub-algorithm.
//!
//! # Deviations
//! The search direction is the simplex's normal, not the difference of the closest points. `continue` in Algorithm 5 means: leave the loop (MATH §12). The loop also ends when a step brings nothing nearer;
//! the bound known by then tells whether that is convergence or a stall.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::signed_volumes::nearest_to_origin;
use crate::support::{Support, SupportPoint};
use arrayvec::ArrayVec;
use feeler_geom::{P3, V3};

/// What [`distance`] is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Largest error of the distance, relative to the distance. Below 1e-12 rounding ends the search first.
    pub rel_tol: f64,
    /// Largest error of the distance (mm); enough when either tolerance holds.
    pub abs_tol: f64,
    /// Distances proven to be larger than this (mm) are of no interest: [`Outcome::Beyond`].
    pub max_distance: f64,
    /// Most support points taken. Hulls of n points need a few n, smooth shapes about 50 for 1e-12.
    pub max_iterations: u32,
    /// A guess of the direction from A to B; zero for none.
    pub direction: V3,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            rel_tol: 1e-12,
            abs_tol: 0.0,
            max_distance: f64::INFINITY,
            max_iterations: 128,
            direction: V3::zeros(),
        }
    }
}

/// One pair of support points under the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WitnessVertex {
    /// Point of A.
    pub a: SupportPoint,
    /// Point of B.
    pub b: SupportPoint,
    /// Weight of this pair, > 0; all weights together are 1 up to rounding.
    pub weight: f64,
}

/// A point of each shape as convex combinations of support points.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Point of A.
    pub point_a: P3,
    /// Point of B.
    pub point_b: P3,
    /// One to four pairs.
    pub vertices: ArrayVec<WitnessVertex, 4>,
}

impl Witness {
    /// Weights of A's numbered points at `point_a`. Points with an index of `N` or more are left out.
    #[must_use]
    pub fn weights_a<const N: usize>(&self) -> [f64; N] {
        weights(self.vertices.iter().map(|v| (v.a.index, v.weight)))
    }

    /// Weights of B's numbered points at `point_b`. Points with an index of `N` or more are left out.
    #[must_use]
    pub fn weights_b<const N: usize>(&self) -> [f64; N] {
        weights(self.vertices.iter().map(|v| (v.b.index, v.weight)))
    }
}

fn weights<const N: usize>(vertices: impl Iterator<Item = (u32, f64)>) -> [f64; N] {
    let mut out = [0.0; N];
    for (i, w) in vertices {
        if let Some(x) = out.get_mut(i as usize) {
            *x += w;
        }
    }
    out
}

/// What can be said about two shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Apart: the closest points.
    Separated {
        /// Distance (mm), > 0, within the requested tolerance.
        distance: f64,
        /// Closest points. Not unique where faces are parallel.
        witness: Witness,
    },
    /// Further apart than the request's limit.
    Beyond {
        /// Certain lower bound of the distance (mm), up to rounding.
        lower_bound: f64,
    },
    /// The shapes meet, or come as near as rounding can tell: a common point.
    Overlapping {
        /// The two points agree up to rounding.
        witness: Witness,
    },
    /// No answer to the requested tolerance within the allowed iterations.
    Stalled {
        /// Lower bound of the distance (mm), up to rounding, ≥ 0.
        lower_bound: f64,
        /// Best points found; their distance is an upper bound.
        witness: Witness,
    },
}

/// The distance of two convex shapes in one frame.
#[must_use]
pub fn distance<A: Support + ?Sized, B: Support + ?Sized>(a: &A, b: &B, request: &Request) -> Outcome {
    // Points of the difference B − A: the vector from A's point to B's.
    let take = |along: &V3| {
        let (a, b) = (a.support(along), b.support(&-along));
        (WitnessVertex { a, b, weight: 1.0 }, b.point - a.point)
    };
    let (first, w) = take(&request.direction);
    let mut pairs: ArrayVec<WitnessVertex, 4> = ArrayVec::new();
    let mut simplex: ArrayVec<V3, 4> = ArrayVec::new();
    pairs.push(first);
    simplex.push(w);
    let mut v = w;
    // Rounding: differences are exact to an ulp of the coordinates they come from.
    let mut size = coordinates(&first);
    let mut lower_bound = 0.0_f64;
    let mut misses = 0;
    for _ in 0..request.max_iterations {
        let d_sq = v.norm_squared();
        let d = d_sq.sqrt();
        let rounding = 16.0 * f64::EPSILON * size;
        if !(d > rounding) || simplex.len() == 4 {
            return Outcome::Overlapping { witness: witness(pairs) };
        }
        // The nearest point of the difference along v is where A reaches furthest towards B.
        let along = perpendicular(&simplex, v);
        let (pair, w) = take(&along);
        size = size.max(coordinates(&pair));
        lower_bound = lower_bound.max(along.dot(&w) / along.norm());
        if lower_bound > request.max_distance {
            return Outcome::Beyond { lower_bound };
        }
        let done = (request.rel_tol * d).max(request.abs_tol).max(rounding);
        if d - lower_bound <= done {
            return Outcome::Separated { distance: d, witness: witness(pairs) };
        }
        simplex.push(w);
        pairs.push(pair);
        let Some(nearest) = nearest_to_origin(&simplex) else { break };
        if !(nearest.point.norm_squared() < d_sq) {
            // Not nearer, although the bound says there is more to gain. Near the optimum a distance changes with the
            // square of a step, so a few steps that keep it to rounding are still steps; more are none.
            misses += 1;
            if misses > 3 || !(nearest.point.norm_squared() <= d_sq * (1.0 + 8.0 * f64::EPSILON)) {
                simplex.pop();
                pairs.pop();
                break;
            }
        }
        v = nearest.point;
        simplex = nearest.vertices.iter().map(|i| simplex[*i]).collect();
        pairs = nearest
            .vertices
            .iter()
            .zip(&nearest.weights)
            .map(|(i, w)| WitnessVertex { weight: *w, ..pairs[*i] })
            .collect();
    }
    let d = v.norm();
    // Needles lose half the digits at worst; what is left above that is a failure.
    if d - lower_bound <= 1e-9 * size.max(d) && d > 1e-9 * size {
        Outcome::Separated { distance: d, witness: witness(pairs) }
    } else {
        Outcome::Stalled { lower_bound, witness: witness(pairs) }
    }
}

/// The direction of the nearest point `v`, made perpendicular to its simplex to rounding of its own length. As a sum of
/// vertices `v` has an error of their size: at a small distance that would turn it, and the search with it.
fn perpendicular(simplex: &[V3], v: V3) -> V3 {
    let across = |t: V3| {
        let along = v.dot(&t) / t.norm_squared();
        if along.is_finite() { v - t * along } else { v }
    };
    let out = match simplex {
        [a, b] => across(b - a),
        [a, b, c] => {
            let edges = [b - a, c - b, a - c];
            let long = if edges[0].norm_squared() > edges[1].norm_squared() { edges[0] } else { edges[1] };
            let long = if edges[2].norm_squared() > long.norm_squared() { edges[2] } else { long };
            let n = edges[0].cross(&edges[1]);
            // The normal of a needle is rounding; its long edge is not.
            if n.norm_squared() > 1e-16 * long.norm_squared() * long.norm_squared() {
                n * (n.dot(&v).signum() * v.norm() / n.norm())
            } else {
                across(long)
            }
        }
        _ => v,
    };
    if out.norm_squared() > 0.0 { out } else { v }
}

fn coordinates(pair: &WitnessVertex) -> f64 {
    pair.a.point.coords.amax().max(pair.b.point.coords.amax())
}

fn witness(vertices: ArrayVec<WitnessVertex, 4>) -> Witness {
    let sum = |point: &dyn Fn(&WitnessVertex) -> P3| {
        P3::from(vertices.iter().fold(V3::zeros(), |p, v| p + point(v).coords * v.weight))
    };
    Witness { point_a: sum(&|v| v.a.point), point_b: sum(&|v| v.b.point), vertices }
}

#[cfg(test)]
mod tests;
