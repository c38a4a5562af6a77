//! Measurements of the search for contacts: how many pairs a lower bound of their distance excludes, and
//! what the search takes without these bounds.
//!
//! # Source
//! DIST §3.3, (3.13) and (3.14): a lower bound of the distance of two bodies decreases by the displacements
//! of both, and the distance is computed again only if the bound does not exclude contact.
//! # Deviations
//! The bounds are those of [`ContactFollower`](feeler_runtime::ContactFollower) (solids) and of
//! `SeparationBounds` (grains).

use std::sync::atomic::{AtomicU64, Ordering};

/// Whether lower bounds of distances exclude pairs from the search for contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchBounds {
    /// Pairs are excluded by their bounds.
    #[default]
    Used,
    /// Pairs that bounds exclude are searched in every step, too, and so are the minima beyond the reach of
    /// the other pairs. What these computations find has no effect on the results, except that an overlap
    /// counts as [`SearchCounts::missed`].
    Ignored,
}

/// Numbers of pairs, summed over all steps since
/// [`Simulation::measure_search`](super::Simulation::measure_search).
///
/// A pair is a solid or grain together with another particle, an exact wall or a plane, whose bounding
/// spheres overlap; two spheres are not counted, and neither are solids with spheres and grains, or grains
/// and walls. Each pair counts once a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchCounts {
    /// Pairs without a contact within the reach that needed no search: a lower bound of their distance or
    /// of each minimum of it proves them to be apart, or Newton's method has updated the minima.
    pub excluded: u64,
    /// Pairs of solids whose contacts were updated by Newton's method, without a search.
    pub tracked: u64,
    /// Pairs that were searched for contacts.
    pub searched: u64,
    /// Excluded pairs, and minima beyond the reach of tracked pairs, in which [`SearchBounds::Ignored`] finds
    /// an overlap. It is 0 if the bounds are right. Minima that begin in a tracked pair are not searched for.
    pub missed: u64,
}

/// Counters of [`SearchCounts`], which several threads increase. Sums do not depend on the order.
#[derive(Debug, Default)]
pub(super) struct SearchMeter {
    pub(super) bounds: SearchBounds,
    excluded: AtomicU64,
    tracked: AtomicU64,
    searched: AtomicU64,
    missed: AtomicU64,
}

/// Result of the search of one pair in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairSearch {
    Excluded,
    Tracked,
    Searched,
    Missed,
}

impl SearchMeter {
    pub(super) fn new(bounds: SearchBounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    pub(super) fn add(&self, search: PairSearch) {
        let counter = match search {
            PairSearch::Excluded => &self.excluded,
            PairSearch::Tracked => &self.tracked,
            PairSearch::Searched => &self.searched,
            PairSearch::Missed => &self.missed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> SearchCounts {
        let [excluded, tracked, searched, missed] =
            [&self.excluded, &self.tracked, &self.searched, &self.missed].map(|c| c.load(Ordering::Relaxed));
        SearchCounts { excluded, tracked, searched, missed }
    }
}
