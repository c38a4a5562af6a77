//! Where the time of a query goes.

use std::time::{Duration, Instant};

/// Wall-clock times of the phases of one query (BREP §4.6), for measuring: they differ from run to run,
/// unlike [`Stats`](crate::Stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// From the poses to the pairs of leaves that may hold a minimum.
    pub traversal: Duration,
    /// Critical pairs of their features.
    pub solves: Duration,
    /// Which of them are minima: trims, polars, second order, samples of conformal sets, deduplication,
    /// identities.
    pub filtering: Duration,
    /// Whether the interiors meet. A parallel query decides the largest part of it beside the solves, so its
    /// phases can add up to more than the query.
    pub interference: Duration,
}

/// The result of `work` and how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Instant::now();
    let out = work();
    (out, clock.elapsed())
}
