//! Switches and measurements for developers of the query, public with the feature `diagnostics`.
//!
//! Without the feature, callers can neither set the switches nor read the measurements. The results of
//! queries are the same with and without it.

#![cfg_attr(not(feature = "diagnostics"), expect(unreachable_pub, reason = "public with the feature"))]

use std::time::Duration;

/// Method of a query. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Whether to test all pairs of features, which is slow, instead of traversing the hierarchies.
    pub brute_force: bool,
    /// Optimisations that the query uses.
    pub savings: Savings,
}

/// Optimisations of a query, which can be disabled one by one to measure their effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Savings {
    /// Whether pairs of nodes are culled if the types of their features exclude a minimum (compatibility
    /// masks, BREP §2.2).
    pub masks: bool,
    /// Whether pairs of nodes are culled if their boxes are out of reach of each other.
    pub boxes: bool,
    /// Whether pairs of nodes are culled if their cones of revolution contain no opposite directions.
    pub cones_of_revolution: bool,
    /// Whether pairs of leaves are culled if their polyhedral cones contain no opposite directions. This
    /// test and the next one are omitted if one solve of the two features replaces those of all their
    /// pairs of leaves.
    pub polyhedral_cones: bool,
    /// Whether pairs of leaves are culled if their boxes cannot reach each other along the normals.
    pub boxes_along_normals: bool,
    /// Whether a pair of canonical supermaximal features is solved once, instead of once for each pair
    /// of their leaves.
    pub supermaximal: bool,
    /// Whether a query starts from the results of the previous one: from the pairs of nodes at which its
    /// traversal stopped, and from the faces that it found separated. Without it, the next two have no
    /// effect on the search for minima.
    pub front: bool,
    /// Whether a culled pair of nodes is not tested again until the motion since then has used up its
    /// margin, and pairs of leaves that remained are tested in few queries only.
    pub deadlines: bool,
    /// Whether the plane or axis that separated a pair of nodes last is tested first.
    pub cached_axes: bool,
}

#[cfg(feature = "diagnostics")]
impl Savings {
    /// Masks and boxes only.
    pub const LEAST: Self = Self {
        masks: true,
        boxes: true,
        cones_of_revolution: false,
        polyhedral_cones: false,
        boxes_along_normals: false,
        supermaximal: false,
        front: false,
        deadlines: false,
        cached_axes: false,
    };
}

impl Default for Savings {
    fn default() -> Self {
        Self {
            masks: true,
            boxes: true,
            cones_of_revolution: true,
            polyhedral_cones: true,
            boxes_along_normals: true,
            supermaximal: true,
            front: true,
            deadlines: true,
            cached_axes: true,
        }
    }
}

/// Counters of one query in addition to [`Stats`](crate::Stats). They do not depend on the number of
/// threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Number of different pairs of supermaximal features to which the pairs of leaves that passed the
    /// culling tests belong.
    pub feature_pairs: u64,
    /// Number of critical pairs that the solves have found. For two canonical features, only pairs that
    /// may be minima are counted.
    pub candidates: u64,
    /// Number of critical pairs that passed the tests of trims, polars and second order, before
    /// deduplication.
    pub accepted: u64,
    /// Number of evaluations of the equations in Newton iterations over free-form features.
    pub evaluations: u64,
    /// Number of those `evaluations` that belong to iterations that ended in a minimum. Perfect predictions
    /// from the minima of the previous query would reduce it to one evaluation for each iteration.
    pub evaluations_to_minima: u64,
    /// Number of solves with a free-form feature that stopped before their error was as small as
    /// rounding, and whose result is a critical pair within the range of distances.
    pub stalled: u64,
    /// Number of minima that only the certificates have found, before deduplication.
    pub certified_added: u64,
    /// Number of cells of parameters that the certificates have examined.
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

/// Wall-clock times of the phases of one query (BREP §4.6). Unlike the counters, they differ from run to
/// run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// Traversal: from the poses to the pairs of leaves that may contain a minimum.
    pub traversal: Duration,
    /// Solves: critical pairs of the features of these leaves.
    pub solves: Duration,
    /// Selection of the minima: trims, polars, second order, samples of conformal sets, deduplication,
    /// identities.
    pub filtering: Duration,
    /// Test whether the interiors intersect. A parallel query runs most of it concurrently with the traversal
    /// and the solves, so that the phases can add up to more than the query.
    pub interference: Duration,
}

/// Stopwatch with the feature `diagnostics`. Without the feature, all times are zero, because some
/// platforms, such as WebAssembly in a page, have no clock.
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

    #[cfg_attr(not(feature = "diagnostics"), expect(clippy::unused_self, reason = "same signature without"))]
    pub(crate) fn elapsed(&self) -> Duration {
        #[cfg(feature = "diagnostics")]
        let elapsed = self.start.elapsed();
        #[cfg(not(feature = "diagnostics"))]
        let elapsed = Duration::ZERO;
        elapsed
    }
}

/// Returns the result of `work` and its duration.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Clock::start();
    let out = work();
    (out, clock.elapsed())
}
