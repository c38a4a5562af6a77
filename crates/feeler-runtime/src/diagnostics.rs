//! Switches and measurements for those who work on queries: feature `diagnostics`.
//!
//! Without the feature nobody can set or read them; queries are the same.

#![cfg_attr(not(feature = "diagnostics"), expect(unreachable_pub, reason = "public with the feature"))]

use std::time::Duration;

/// How a query goes about its work. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Look at all pairs of features instead of traversing the hierarchies: slow.
    pub brute_force: bool,
    /// What saves work.
    pub savings: Savings,
}

/// What saves work in a query, to measure what each brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent of each other")]
pub struct Savings {
    /// Nodes whose cones of revolution hold no opposite directions are culled.
    pub cones_of_revolution: bool,
    /// Pairs of leaves whose polyhedral cones hold no opposite directions, or whose boxes do not see each
    /// other along the normals, are culled, unless their features are solved as wholes.
    pub polyhedral_cones: bool,
    /// One exact solve for a pair of canonical supermaximal features instead of one for each pair of their
    /// leaves.
    pub supermaximal: bool,
    /// What earlier queries of the pair have culled with a margin stays culled, and what they have found
    /// apart stays apart, until the motion since then has used up the margin.
    pub coherence: bool,
}

impl Default for Savings {
    fn default() -> Self {
        Self { cones_of_revolution: true, polyhedral_cones: true, supermaximal: true, coherence: true }
    }
}

/// What a query did inside, beside [`Stats`](crate::Stats). The same for any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Pairs of supermaximal features among the pairs of leaves.
    pub feature_pairs: u64,
    /// Critical pairs found by the solves; of canonical features those that may be minima.
    pub candidates: u64,
    /// Pairs that passed trims, polars and the second order, before deduplication.
    pub accepted: u64,
    /// Evaluations of Newton runs over free-form features.
    pub evaluations: u64,
    /// Those of runs that ended in a minimum: a perfect guess of where last query's minima have gone would
    /// leave one of each run.
    pub evaluations_to_minima: u64,
    /// Solves that ended above round-off without being ruled out.
    pub stalled: u64,
    /// Minima that only the certificate has found, before deduplication.
    pub certified_added: u64,
    /// Cells of parameters that the certificates took.
    pub certified_cells: u64,
}

impl Effort {
    pub(crate) fn add(&mut self, part: &Self) {
        self.feature_pairs += part.feature_pairs;
        self.candidates += part.candidates;
        self.accepted += part.accepted;
        self.evaluations += part.evaluations;
        self.evaluations_to_minima += part.evaluations_to_minima;
        self.stalled += part.stalled;
        self.certified_added += part.certified_added;
        self.certified_cells += part.certified_cells;
    }
}

/// Wall-clock times of the phases of one query (BREP §4.6): they differ from run to run, unlike the counters.
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

/// Measures times with the feature `diagnostics`; without it none pass. There are places without clocks, as a
/// page's WebAssembly.
#[derive(Debug)]
pub(crate) struct Clock {
    #[cfg(feature = "diagnostics")]
    start: std::time::Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(feature = "diagnostics")]
            start: std::time::Instant::now(),
        }
    }

    #[cfg_attr(not(feature = "diagnostics"), expect(clippy::unused_self, reason = "the same call without"))]
    pub(crate) fn elapsed(&self) -> Duration {
        #[cfg(feature = "diagnostics")]
        let passed = self.start.elapsed();
        #[cfg(not(feature = "diagnostics"))]
        let passed = Duration::ZERO;
        passed
    }
}

/// The result of `work` and how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Clock::start();
    let out = work();
    (out, clock.elapsed())
}
