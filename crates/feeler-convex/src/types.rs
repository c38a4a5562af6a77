//! Requests and results of distance queries.

use crate::support::SupportPoint;
use arrayvec::ArrayVec;
use feeler_geom::{P3, V3};

/// Start of a GJK search.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Start {
    /// Start without earlier results, along the direction from A's centre to B's centre.
    #[default]
    Cold,
    /// Start from a guess of the direction from A to B; like `Cold` if the vector is zero or not finite.
    Direction(V3),
    /// Start from the result of an earlier search ([`DistanceResult::warm`]) for the same two shapes,
    /// which may have moved slightly. The search starts from the earlier simplex if both shapes are hulls
    /// of numbered points, otherwise from the earlier direction.
    Warm(Warm),
}

/// State of a finished search from which the next one can start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warm {
    pub(super) direction: V3,
    pub(super) n: usize,
    pub(super) indices: [[u32; 2]; 4],
}

/// Options of [`distance`](crate::distance).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceRequest {
    /// Maximum difference between the distance and its lower bound, relative to the distance. Rounding
    /// may end the search earlier. A larger value is less exact; a smaller one needs more steps.
    pub rel_tol: f64,
    /// Maximum difference between the distance and its lower bound (mm). The search ends when this
    /// tolerance or `rel_tol` is satisfied.
    pub abs_tol: f64,
    /// Shapes count as touching if their distance or their depth (mm) is at most this. Shapes whose
    /// distance or depth is within rounding always count as touching.
    pub touch_tol: f64,
    /// Limit of the distance (mm): the search ends with [`DistanceOutcome::Beyond`] when the distance is
    /// proven to be larger.
    pub max_distance: f64,
    /// Maximum number of steps. Hulls need few steps whatever their number of points; smooth shapes need
    /// about 50.
    pub max_iterations: u32,
    /// Simplex or direction from which the search starts.
    pub start: Start,
}

impl Default for DistanceRequest {
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

/// Pair of support points with its weight in the closest points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WitnessVertex {
    /// Support point on A's core.
    pub a: SupportPoint,
    /// Support point on B's core.
    pub b: SupportPoint,
    /// Barycentric weight of this pair, > 0. The weights of all pairs of a witness sum to 1 up to
    /// rounding.
    pub weight: f64,
}

/// Closest points of both shapes; on each core the point is a convex combination of support points.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosestPoints {
    /// Point on the surface of A (mm, common frame).
    pub point_a: P3,
    /// Point on the surface of B (mm, common frame).
    pub point_b: P3,
    /// One to four pairs of support points, whose weighted sums are the closest points of both cores.
    pub vertices: ArrayVec<WitnessVertex, 4>,
}

impl ClosestPoints {
    /// Returns the weights of A's numbered points in the closest point of A's core, indexed by the
    /// number of the point. Points with an index of at least `N` are skipped.
    #[must_use]
    pub fn weights_a<const N: usize>(&self) -> [f64; N] {
        weights(self.vertices.iter().map(|v| (v.a.index, v.weight)))
    }

    /// Returns the weights of B's numbered points in the closest point of B's core, indexed by the
    /// number of the point. Points with an index of at least `N` are skipped.
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

/// Outcome of a distance query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistanceOutcome {
    /// The shapes are disjoint. The witness points are the closest points (not unique if faces are
    /// parallel).
    Separated,
    /// Distance and penetration depth are both zero, up to rounding or the requested tolerance.
    Touching,
    /// The interiors intersect. If the cores intersect, the witness points coincide up to rounding;
    /// otherwise each of them is on the surface of its own shape and inside the other shape. Use
    /// [`penetration`](crate::penetration()) to compute the depth.
    Overlapping,
    /// The lower bound proves that the distance exceeds [`DistanceRequest::max_distance`].
    Beyond,
    /// The requested tolerance was not reached because of rounding, or because
    /// [`DistanceRequest::max_iterations`] steps were not enough. The bounds are valid, and the witness
    /// contains the best points found.
    Stalled,
    /// A support point or a radius was NaN or infinite, or a radius was negative. The other fields are
    /// meaningless.
    Invalid,
}

/// Result of [`distance`](crate::distance).
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceResult {
    /// Outcome of the query.
    pub outcome: DistanceOutcome,
    /// Distance between the witness points (mm), an upper bound of the distance between the shapes. It
    /// is 0 unless the outcome is separated, beyond or stalled.
    pub distance: f64,
    /// Lower bound of the distance between the shapes (mm), ≥ 0, valid up to rounding.
    pub lower_bound: f64,
    /// Closest points of both shapes, or the best points found if the search did not converge.
    pub witness: ClosestPoints,
    /// Unit vector from A to B at the closest points, in the common frame of both shapes. Zero if the shapes
    /// overlap and their cores (the shapes without their radii) intersect.
    pub direction: V3,
    /// Number of steps of the search; each evaluates one support point of each shape.
    pub iterations: u32,
}

impl DistanceResult {
    /// Returns the state from which the next search for the same two shapes can start ([`Start::Warm`]).
    #[must_use]
    pub fn warm(&self) -> Warm {
        let mut indices = [[0; 2]; 4];
        for (i, v) in indices.iter_mut().zip(&self.witness.vertices) {
            *i = [v.a.index, v.b.index];
        }
        Warm { direction: self.direction, n: self.witness.vertices.len(), indices }
    }
}
