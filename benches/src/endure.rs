//! Limits for reading damaged files: no panic, at most 10 s, and at most 64 MiB of memory plus 20 times
//! the size of the file.

use crate::damage;
use feeler_hierarchy::{Model, Options};
use feeler_runtime::Body;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Maximum time to read a damaged file. Valid files of these sizes take a fraction of a second; a larger
/// limit hides loops, a smaller one fails on a busy machine.
pub const MAX_TIME: Duration = Duration::from_secs(10);

/// Maximum memory (bytes) for reading a file of `size` bytes.
#[must_use]
pub const fn max_memory(size: usize) -> usize {
    20 * size + (64 << 20)
}

/// Kind of a file, which determines how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `.feeler` file: it is decoded, and its bodies are built.
    Feeler,
    /// A STEP file: it is imported and prepared, and its bodies are built.
    Step,
}

/// Access to the memory counter of the global allocator, which the program installs.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Resets the peak to the bytes allocated now.
    pub reset: fn(),
    /// Returns the number of bytes allocated now.
    pub current: fn() -> usize,
    /// Returns the maximum number of bytes allocated since the last reset.
    pub peak: fn() -> usize,
}

/// Message and location of the last panic, including caught ones.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn last_panic() -> Option<String> {
    PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}

/// Records panics with their call stacks instead of printing them. Call this once, before the first case.
pub fn watch_panics() {
    panic::set_hook(Box::new(|info| {
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        // Panics of the standard library's checks are located in the library, so their callers are added.
        let ours = trace.lines().filter(|l| l.contains("/feeler-"));
        let message = ours.take(6).fold(info.to_string(), |all, line| format!("{all}\n    {}", line.trim()));
        *PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(message);
    }));
}

/// Valid files from which damaged ones are made.
#[derive(Debug)]
pub struct Cases {
    kind: Kind,
    good: Vec<Vec<u8>>,
    seed: u64,
}

/// Outcome of a case.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Whether the damaged file could still be read.
    pub read: bool,
    /// Wall time for reading the file.
    pub time: Duration,
    /// Peak memory as a fraction of [`max_memory`].
    pub memory_share: f64,
}

impl Cases {
    /// Creates the cases of a seed from the valid files `good`. The same seed and number always give the
    /// same case.
    ///
    /// # Panics
    /// `good` is empty.
    #[must_use]
    pub fn new(kind: Kind, good: Vec<Vec<u8>>, seed: u64) -> Self {
        assert!(!good.is_empty(), "no valid files were given");
        Self { kind, good, seed }
    }

    /// Returns the damaged file number `number`.
    #[must_use]
    pub fn file(&self, number: u64) -> Vec<u8> {
        let mut rng = SmallRng::seed_from_u64(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut pick = || &self.good[rng.random_range(0..self.good.len())];
        let (good, other) = (pick(), pick());
        match self.kind {
            Kind::Feeler => damage::feeler(&mut rng, good, other),
            Kind::Step => damage::step(&mut rng, good, other),
        }
    }

    /// Reads the damaged file number `number`, and measures time and memory.
    ///
    /// # Errors
    /// The case exceeded a limit or panicked; the message contains the number of the case.
    pub fn run(&self, number: u64, meter: &Meter) -> Result<Cost, String> {
        let file = self.file(number);
        // Discard panics that happened while the case was made.
        last_panic();
        let before = (meter.current)();
        (meter.reset)();
        let clock = Instant::now();
        let read = panic::catch_unwind(AssertUnwindSafe(|| read(self.kind, &file)));
        let time = clock.elapsed();
        let memory = (meter.peak)().saturating_sub(before);
        let case = format!("{:?} case {number} (seed {}, {} bytes)", self.kind, self.seed, file.len());
        if let Some(message) = last_panic() {
            return Err(format!("{case}: {message}"));
        }
        if time > MAX_TIME {
            return Err(format!("{case}: took {:.1} s", time.as_secs_f64()));
        }
        if memory > max_memory(file.len()) {
            return Err(format!("{case}: took {} MiB", memory >> 20));
        }
        #[expect(clippy::cast_precision_loss, reason = "a share in a report")]
        let memory_share = memory as f64 / max_memory(file.len()) as f64;
        Ok(Cost { read: read.unwrap_or(false), time, memory_share })
    }
}

/// Reads a file as the program would; returns whether it could be read.
fn read(kind: Kind, file: &[u8]) -> bool {
    let model: Option<Model> = match kind {
        Kind::Feeler => feeler_hierarchy::file::decode(file).ok(),
        Kind::Step => {
            let options = Options { flatness: feeler_import::DEFAULT_FLATNESS };
            feeler_import::prepare_bytes_with("damaged", file, &options).ok()
        }
    };
    let Some(model) = model else { return false };
    model.solids.into_iter().for_each(|s| drop(Body::new(s)));
    true
}
