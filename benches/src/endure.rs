//! What reading a file may cost, whatever is in it: no panic, 10 s, and memory of 20 times its size and 64
//! MiB.

use crate::damage;
use feeler_hierarchy::{Model, Options};
use feeler_runtime::Body;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Longest time that a file may take.
pub const MAX_TIME: Duration = Duration::from_secs(10);

/// Most memory (bytes) that a file of this size may take.
#[must_use]
pub const fn max_memory(size: usize) -> usize {
    20 * size + (64 << 20)
}

/// Which kind of file, and so what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Decoded, and made ready for queries.
    Feeler,
    /// Imported and prepared, and made ready for queries.
    Step,
}

/// How memory is counted: the program that runs this has the global allocator.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Forgets the peak.
    pub reset: fn(),
    /// Bytes handed out now.
    pub current: fn() -> usize,
    /// Most bytes handed out since the peak was forgotten.
    pub peak: fn() -> usize,
}

/// Where the last panic was, even one that somebody caught.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn last_panic() -> Option<String> {
    PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}

/// Remembers panics, and what called what, instead of printing them. Call once, before the first case.
pub fn watch_panics() {
    panic::set_hook(Box::new(|info| {
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        // The standard library's checks panic far from where they are called.
        let ours = trace.lines().filter(|l| l.contains("/feeler-"));
        let message = ours.take(6).fold(info.to_string(), |all, line| format!("{all}\n    {}", line.trim()));
        *PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(message);
    }));
}

/// Good files to be damaged.
#[derive(Debug)]
pub struct Cases {
    kind: Kind,
    good: Vec<Vec<u8>>,
    seed: u64,
}

/// What a case came to.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Whether the file was of use in spite of the damage.
    pub read: bool,
    /// Time that it took.
    pub time: Duration,
    /// Memory that it took, over what it may.
    pub memory_share: f64,
}

impl Cases {
    /// Cases that differ for every seed and number, and are the same for the same ones.
    ///
    /// # Panics
    /// Without a good file.
    #[must_use]
    pub fn new(kind: Kind, good: Vec<Vec<u8>>, seed: u64) -> Self {
        assert!(!good.is_empty(), "there is nothing to damage");
        Self { kind, good, seed }
    }

    /// The damaged file of this number.
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

    /// Reads the damaged file of this number.
    ///
    /// # Errors
    /// It cost more than it may, or something panicked; in words, with the number.
    pub fn run(&self, number: u64, meter: &Meter) -> Result<Cost, String> {
        let file = self.file(number);
        // Whatever happened while the case was made is not its own.
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

/// Whether the file was of use.
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
