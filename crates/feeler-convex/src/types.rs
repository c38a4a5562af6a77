//! What the search is asked and what it answers.

use crate::support::SupportPoint;
use arrayvec::ArrayVec;
use feeler_geom::{P3, V3};

/// Where a search starts.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Start {
    /// From the shapes' centres.
    #[default]
    Cold,
    /// From a guess of the direction from A to B; cold where that is zero or not finite.
    Direction(V3),
    /// From the answer of an earlier search for the same shapes, moved a little since: from its simplex where
    /// both are hulls of numbered points, else from its direction.
    Warm(Warm),
}

/// What an answer leaves behind for the next search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warm {
    pub(super) direction: V3,
    pub(super) n: usize,
    pub(super) indices: [[u32; 2]; 4],
}

/// What [`distance`](crate::distance) is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Largest error of the distance, relative to the distance. Rounding may end the search first.
    pub rel_tol: f64,
    /// Largest error of the distance (mm); enough when either tolerance holds.
    pub abs_tol: f64,
    /// Signed distances up to this size (mm) count as touching; rounding always does.
    pub touch_tol: f64,
    /// Distances proven to be larger than this (mm) are of no interest: [`Outcome::Beyond`].
    pub max_distance: f64,
    /// Most steps. Hulls need few, whatever their number of points; smooth shapes about 50.
    pub max_iterations: u32,
    /// Where to start.
    pub start: Start,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            rel_tol: 1e-14,
            abs_tol: 0.0,
            touch_tol: 0.0,
            max_distance: f64::INFINITY,
            max_iterations: 1000,
            start: Start::Cold,
        }
    }
}

/// One pair of support points under the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WitnessVertex {
    /// Point of A's core.
    pub a: SupportPoint,
    /// Point of B's core.
    pub b: SupportPoint,
    /// Weight of this pair, > 0; all weights together are 1 up to rounding.
    pub weight: f64,
}

/// A point of each shape, on its core a convex combination of support points.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Apart: the witness points are the closest ones (not unique where faces are parallel).
    Separated,
    /// Their distance and their penetration are both zero, up to rounding or the requested tolerance.
    Touching,
    /// Their interiors meet. The witness points agree up to rounding, or lie within the other shape's radius:
    /// for the depth ask [`penetration`](crate::penetration()).
    Overlapping,
    /// Further apart than the request's limit, as the lower bound proves.
    Beyond,
    /// No answer to the requested tolerance within the allowed steps: bounds and the best points found.
    Stalled,
    /// A support point or a radius was not a number, infinite, or negative: nothing is known.
    Invalid,
}

/// The answer of [`distance`](crate::distance).
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What is known.
    pub outcome: Outcome,
    /// Distance of the witness points (mm), an upper bound in every case; 0 unless separated, beyond or
    /// stalled.
    pub distance: f64,
    /// Lower bound of the distance (mm), up to rounding, ≥ 0.
    pub lower_bound: f64,
    /// The closest points, or the best found.
    pub witness: Witness,
    /// Unit vector from A to B at the closest points; zero where overlap leaves it open.
    pub direction: V3,
    /// Steps taken: support points of both shapes.
    pub iterations: u32,
}

impl Answer {
    /// For the next search of the same shapes.
    #[must_use]
    pub fn warm(&self) -> Warm {
        let mut indices = [[0; 2]; 4];
        for (i, v) in indices.iter_mut().zip(&self.witness.vertices) {
            *i = [v.a.index, v.b.index];
        }
        Warm { direction: self.direction, n: self.witness.vertices.len(), indices }
    }
}
