//! Bounds what is worked on at the same time by the memory that it may take.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Memory that a byte of a STEP file may take while it is prepared: the largest seen over many real files is
/// below this (see `benches/RESULTS.md`).
const PER_BYTE: u64 = 40;
/// Memory that any file may take.
const PER_FILE: u64 = 32 << 20;

/// Lets work in while its estimated memory fits into a budget; what is larger than the whole budget goes in
/// alone.
#[derive(Debug)]
pub(super) struct Gate {
    budget: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// The right to use memory, returned when dropped.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    bytes: u64,
}

impl Gate {
    pub(super) fn new(budget: u64) -> Self {
        Self { budget, used: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until there is room for a file of this size.
    pub(super) fn enter(&self, file_size: u64) -> Pass<'_> {
        let bytes = PER_FILE.saturating_add(file_size.saturating_mul(PER_BYTE)).min(self.budget);
        let full = |used: &mut u64| used.saturating_add(bytes) > self.budget;
        let mut used = self.freed.wait_while(self.used(), full).unwrap_or_else(PoisonError::into_inner);
        *used += bytes;
        Pass { gate: self, bytes }
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        // A number is never half changed.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *self.gate.used() -= self.bytes;
        self.gate.freed.notify_all();
    }
}

/// Bytes of memory that this machine (or the control group that the process runs in) has to spare; none where
/// that is not known.
pub(super) fn available_memory() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    let machine = kilobytes("/proc/meminfo", "MemAvailable:");
    group.into_iter().chain(machine).min()
}

/// The most memory (bytes) that this process has used so far; none where the system does not say.
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
    fn the_budget_holds_and_everything_gets_in() {
        let gate = Gate::new(3 * PER_FILE);
        let (inside, most, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|s| {
            for i in 0..8 {
                let (gate, inside, most, done) = (&gate, &inside, &most, &done);
                s.spawn(move || {
                    for k in 0..50 {
                        // Now and then a file that is larger than the budget.
                        let size = if (i + k) % 7 == 0 { u64::MAX } else { 0 };
                        let pass = gate.enter(size);
                        let now = inside.fetch_add(pass.bytes, Ordering::SeqCst) + pass.bytes;
                        most.fetch_max(now, Ordering::SeqCst);
                        inside.fetch_sub(pass.bytes, Ordering::SeqCst);
                        drop(pass);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 400, "some never got in");
        assert!(most.into_inner() <= 3 * PER_FILE, "over the budget");
    }
}
