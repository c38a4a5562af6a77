//! Progress of long computations, and requests to stop them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Progress of a computation that several threads share, and a request to stop it early.
///
/// The computation counts finished units of work, such as measured pairs of parts. Another thread reads the
/// counts, and may call [`Progress::stop`]: the computation then ends as soon as the units in progress are
/// finished, and returns no results.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicUsize,
    total: AtomicUsize,
    is_stopped: AtomicBool,
}

impl Progress {
    /// Sets the number of units of the whole computation.
    pub fn set_total(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Adds a number of finished units.
    pub fn advance(&self, units: usize) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Number of finished units, and number of units of the whole computation; both are 0 until the
    /// computation has found out how much work there is.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Requests that the computation ends early.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`Progress::stop`] was called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
