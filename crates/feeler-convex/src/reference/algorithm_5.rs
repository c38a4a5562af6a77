//! GJK as printed, without any measures that hide errors of a sub-algorithm.
//!
//! # Source
//! DIST §3.2.3, Algorithm 5; `continue` leaves the loop (MATH §12).

use crate::gjk::SubAlgorithm;
use crate::support::Support;
use feeler_geom::V3;

/// Result of [`algorithm_5`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plain {
    /// Distance between the cores of the shapes (mm): norm of the nearest point v of the final simplex.
    pub distance: f64,
    /// Nearest point v of the final simplex (mm): a vector from A to B.
    pub nearest: V3,
    /// Number of steps of the loop of Algorithm 5 that were run.
    pub iterations: u32,
    /// Whether the sub-algorithm failed or the maximum number of 200 steps was reached.
    pub failed: bool,
}

/// Runs Algorithm 5 for the cores of two shapes, with at most 200 steps. It ends if the new support
/// point w satisfies ‖v‖² − v·w ≤ `rel` ‖v‖², or if ‖v‖ is at most `tol` relative to the largest norm of
/// the simplex's vertices. It also ends if the nearest point v needs four vertices, because the cores
/// then intersect.
pub fn algorithm_5<A: Support, B: Support, S: SubAlgorithm>(
    a: &A,
    b: &B,
    sub_algorithm: &S,
    (rel, tol): (f64, f64),
) -> Plain {
    let take = |v: &V3| b.support(&-v).point - a.support(v).point;
    let mut v = b.center() - a.center();
    let mut s: Vec<V3> = Vec::with_capacity(4);
    for iterations in 1..=200 {
        let w = take(&v);
        if !s.is_empty() && v.norm_squared() - v.dot(&w) <= rel * v.norm_squared() {
            return Plain { distance: v.norm(), nearest: v, iterations, failed: false };
        }
        s.push(w);
        let Some(nearest) = sub_algorithm.nearest(&s) else {
            return Plain { distance: v.norm(), nearest: v, iterations, failed: true };
        };
        v = nearest.point();
        s = nearest.vertices().iter().map(|i| s[*i]).collect();
        let size = s.iter().map(|y| y.norm_squared()).fold(0.0, f64::max);
        if s.len() == 4 || v.norm_squared() <= tol * tol * size {
            return Plain { distance: v.norm(), nearest: v, iterations, failed: false };
        }
    }
    Plain { distance: v.norm(), nearest: v, iterations: 200, failed: true }
}
