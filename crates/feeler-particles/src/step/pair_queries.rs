//! Queries of pairs of solids, with scratch data that is reused from step to step.

use super::search::{PairSearch, SearchBounds, SearchMeter};
use crate::exact::Batch;
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactFollower, ContactPair, FollowOptions, QueryError, QueryOptions};
use std::sync::{Arc, Mutex, PoisonError};

/// Scratch data of the queries of one thread.
#[derive(Debug, Default)]
pub(super) struct PairQueries {
    pairs: Vec<ContactPair>,
    pub(super) batch: Batch,
    /// Counters, if searches are measured.
    meter: Option<Arc<SearchMeter>>,
}

/// Maximum number of pairs of different solid bodies whose scratch data a thread keeps. A larger number
/// takes memory; with more pairs of shapes than this, queries allocate their scratch data anew.
const MAX_PAIRS: usize = 32;

/// Scratch data of queries that no thread uses at present. The results of queries do not depend on it.
#[derive(Debug, Default)]
pub(super) struct QueryPool {
    idle: Mutex<Vec<PairQueries>>,
    /// Counters, if searches are measured.
    pub(super) meter: Option<Arc<SearchMeter>>,
}

/// Scratch data of one thread, which returns to the pool when it is dropped.
#[derive(Debug)]
pub(super) struct PooledQueries<'p> {
    pool: &'p QueryPool,
    pub(super) queries: PairQueries,
}

impl QueryPool {
    /// Returns scratch data for one thread.
    pub(super) fn take(&self) -> PooledQueries<'_> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let queries = PairQueries { meter: self.meter.clone(), ..idle.unwrap_or_default() };
        PooledQueries { pool: self, queries }
    }
}

impl Drop for PooledQueries<'_> {
    fn drop(&mut self) {
        let queries = std::mem::take(&mut self.queries);
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(queries);
    }
}

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
            self.measure(tracked, [(a, pose_a), (b, pose_b)], &options);
            return Ok(());
        }
        self.count(PairSearch::Searched);
        tracked.query(self.pair(a, b), pose_a, pose_b, &options)
    }

    /// Scratch data of queries of two solids.
    fn pair(&mut self, a: &Arc<Body>, b: &Arc<Body>) -> &mut ContactPair {
        let is_same = |p: &ContactPair| Arc::ptr_eq(p.body_a(), a) && Arc::ptr_eq(p.body_b(), b);
        let known = self.pairs.iter().position(is_same).unwrap_or_else(|| {
            if self.pairs.len() == MAX_PAIRS {
                self.pairs.remove(0);
            }
            self.pairs.push(ContactPair::new(Arc::clone(a), Arc::clone(b)));
            self.pairs.len() - 1
        });
        &mut self.pairs[known]
    }

    fn count(&self, search: PairSearch) {
        if let Some(meter) = &self.meter {
            meter.add(search);
        }
    }

    /// Counts a pair that needs no search, and searches it nevertheless if bounds are ignored.
    fn measure(
        &mut self,
        tracked: &ContactFollower,
        [(a, pose_a), (b, pose_b)]: [(&Arc<Body>, &Pose); 2],
        options: &FollowOptions,
    ) {
        let Some(meter) = &self.meter else { return };
        let bounds = meter.bounds;
        let is_excluded = tracked.contacts().iter().all(|c| c.distance > options.reach);
        self.count(if is_excluded { PairSearch::Excluded } else { PairSearch::Tracked });
        if bounds == SearchBounds::Used {
            return;
        }
        let has_missed = if is_excluded {
            let query = QueryOptions {
                penetration: options.penetration,
                detect_interference: false,
                ..QueryOptions::within(options.reach)
            };
            let pair = self.pair(a, b);
            pair.forget();
            pair.query(pose_a, pose_b, &query).is_ok_and(|found| found.iter().any(|c| c.distance < 0.0))
        } else {
            let (last, contacts, next) = tracked.parts();
            let beyond = contacts.iter().filter(|c| c.distance > options.reach).copied().collect();
            let mut beyond = ContactFollower::from_parts(last.copied(), beyond, next);
            // All contacts are within an infinite reach.
            let all = FollowOptions { reach: f64::INFINITY, ..*options };
            beyond.follow(a, b, pose_a, pose_b, &all).unwrap_or(false)
                && beyond.contacts().iter().any(|c| c.distance < 0.0)
        };
        if has_missed {
            self.count(PairSearch::Missed);
        }
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
