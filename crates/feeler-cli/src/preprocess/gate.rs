//! Limits the memory of files that are prepared at the same time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Estimated memory (bytes) per byte of a STEP file while it is prepared; it exceeds the largest measured
/// value (see `benches/RESULTS.md`). Fewer files are prepared in parallel with a larger value; memory may run
/// out with a smaller one.
const PER_BYTE: u64 = 40;

/// Estimated memory (bytes) for any file, in addition to [`PER_BYTE`] times its size. A larger and a
/// smaller value have the same effects as for [`PER_BYTE`].
const PER_FILE: u64 = 32 << 20;

/// Admits files to preparation while the sum of their estimated memory is within a budget (bytes). A
/// file that exceeds the whole budget is admitted alone.
#[derive(Debug)]
pub(super) struct Gate {
    budget: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// Permission to prepare one file, with its estimated memory (bytes). Dropping it returns the memory to
/// the gate.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    bytes: u64,
}

impl Gate {
    pub(super) fn new(budget: u64) -> Self {
        Self { budget, used: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until the estimated memory of a file of `file_size` bytes fits into the rest of the budget,
    /// and admits the file. The memory remains in use until the result is dropped.
    pub(super) fn enter(&self, file_size: u64) -> Pass<'_> {
        let bytes = PER_FILE.saturating_add(file_size.saturating_mul(PER_BYTE)).min(self.budget);
        let full = |used: &mut u64| used.saturating_add(bytes) > self.budget;
        let mut used = self.freed.wait_while(self.used(), full).unwrap_or_else(PoisonError::into_inner);
        *used += bytes;
        Pass { gate: self, bytes }
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        // A panic of another thread cannot leave the number in an invalid state.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *self.gate.used() -= self.bytes;
        self.gate.freed.notify_all();
    }
}

/// Free memory (bytes) of the machine or of the control group of the process, whichever is less; `None`
/// if the system reports neither.
pub(super) fn available_memory() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    let machine = kilobytes("/proc/meminfo", "MemAvailable:");
    group.into_iter().chain(machine).min()
}

/// Peak memory (bytes) of the process; `None` if the system does not report it.
pub(super) fn peak_memory() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

fn kilobytes(path: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn all_files_are_admitted_within_the_budget() {
        let gate = Gate::new(3 * PER_FILE);
        let (inside, peak, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|s| {
            for i in 0..8 {
                let (gate, inside, peak, done) = (&gate, &inside, &peak, &done);
                s.spawn(move || {
                    for k in 0..50 {
                        // Some files are larger than the budget.
                        let size = if (i + k) % 7 == 0 { u64::MAX } else { 0 };
                        let pass = gate.enter(size);
                        let now = inside.fetch_add(pass.bytes, Ordering::SeqCst) + pass.bytes;
                        peak.fetch_max(now, Ordering::SeqCst);
                        inside.fetch_sub(pass.bytes, Ordering::SeqCst);
                        drop(pass);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 400, "some files were not admitted");
        assert!(peak.into_inner() <= 3 * PER_FILE, "the budget was exceeded");
    }
}
