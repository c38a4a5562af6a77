//! Queries of pairs of solids, with scratch data that one thread reuses.

use crate::exact::Batch;
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactFollower, ContactPair, FollowOptions, QueryError};
use std::sync::Arc;

/// Scratch data of the queries of one thread.
#[derive(Debug, Default)]
pub(super) struct PairQueries {
    pairs: Vec<ContactPair>,
    pub(super) batch: Batch,
}

/// Maximum number of pairs of different solid bodies whose scratch data a thread keeps. A larger number
/// takes memory; with more pairs of shapes than this, queries allocate their scratch data anew.
const MAX_PAIRS: usize = 32;

impl PairQueries {
    /// Updates the tracked contacts of solid B with solid A by Newton's method, or searches for them if
    /// tracking is not possible. Poses are from each solid's coordinates to the world.
    pub(super) fn track(
        &mut self,
        tracked: &mut ContactFollower,
        [(a, pose_a), (b, pose_b)]: [(&Arc<Body>, &Pose); 2],
    ) -> Result<(), QueryError> {
        let options = options(a, b);
        if tracked.follow(a, b, pose_a, pose_b, &options)? {
            return Ok(());
        }
        let is_same = |p: &ContactPair| Arc::ptr_eq(p.body_a(), a) && Arc::ptr_eq(p.body_b(), b);
        let known = self.pairs.iter().position(is_same).unwrap_or_else(|| {
            if self.pairs.len() == MAX_PAIRS {
                self.pairs.remove(0);
            }
            self.pairs.push(ContactPair::new(Arc::clone(a), Arc::clone(b)));
            self.pairs.len() - 1
        });
        tracked.query(&mut self.pairs[known], pose_a, pose_b, &options)
    }
}

/// Distance, as a multiple of the smaller solid's size, that two solids move relative to each other
/// before their contacts are searched for anew. With a larger distance, contacts that arise as one
/// contact splits into two are found later; a smaller one takes more queries.
const TRACKING_STRIDE: f64 = 0.02;

/// Maximum depth of contacts, as a multiple of the smaller solid's size. A larger depth slows queries;
/// overlaps beyond the depth are not pushed apart.
const MAX_DEPTH: f64 = 0.05;

/// Maximum depth of contacts, as a multiple of the sum of both solids' minimum thicknesses. At 0.5 the
/// point of deepest contact is as near to the far side of the material as to the near side, and the
/// query refuses a larger depth; with a smaller value deeper overlaps have no force.
const MAX_THICKNESS_FRACTION: f64 = 0.4;

fn options(a: &Body, b: &Body) -> FollowOptions {
    let size = a.size().min(b.size());
    FollowOptions {
        reach: 0.0,
        penetration: (MAX_DEPTH * size).min(MAX_THICKNESS_FRACTION * (a.min_thickness() + b.min_thickness())),
        stride: TRACKING_STRIDE * size,
    }
}
