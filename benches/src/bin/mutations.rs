//! Damages valid files in many ways and reads them:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin mutations \
//!     -- [--feeler N] [--step N] [--from K] [--seed S] [FOLDER…]
//! ```
//!
//! By default 100,000 `.feeler` files and 10,000 STEP files are made from those of `data/` and of the
//! folders (STEP files up to 300 kB). None may panic, take more than 10 s, or need more memory than 64
//! MiB plus 20 times its size. The same seed and number give the same file: `--feeler 1 --step 0 --from
//! K` runs a single case, and `--save FILE` writes the file of the last case.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::endure::{Cases, Cost, Kind, MAX_TIME, Meter, watch_panics};
use feeler_benches::{Fallible, prepare};
use peak_alloc::PeakAlloc;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const METER: Meter = Meter {
    reset: || ALLOCATED.reset_peak_usage(),
    current: || ALLOCATED.current_usage(),
    peak: || ALLOCATED.peak_usage(),
};

/// Maximum size (bytes) of a STEP file that is damaged; larger ones would take most of the time.
const MAX_STEP: usize = 300_000;
/// Maximum size (bytes) of a `.feeler` file that is damaged; larger ones would take most of the time.
const MAX_FEELER: usize = 2_000_000;

/// Number of the current case, and the time (ms) at which it started.
static CASE: AtomicU64 = AtomicU64::new(0);
static BEGUN: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
    let number = |name: &str, default: u64| value(name).and_then(|v| v.parse().ok()).unwrap_or(default);
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")];
    let named = |i: usize| i > 0 && args[i - 1].starts_with("--");
    folders.extend(
        args.iter().enumerate().filter(|(i, a)| !a.starts_with("--") && !named(*i)).map(|(_, a)| a.into()),
    );
    let run = [(Kind::Feeler, number("--feeler", 100_000)), (Kind::Step, number("--step", 10_000))];
    let mut failed = 0;
    for (kind, count) in run.into_iter().filter(|(_, count)| *count > 0) {
        let good = match good_files(kind, &folders) {
            Ok(good) => good,
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::from(2);
            }
        };
        let cases = Cases::new(kind, good, number("--seed", 1));
        let from = number("--from", 0);
        if let Some(file) = value("--save") {
            let written = std::fs::write(file, cases.file(from + count - 1));
            written.unwrap_or_else(|e| eprintln!("{file}: {e}"));
        }
        failed += campaign(kind, cases, from, count);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Runs the cases; returns the number of failures.
fn campaign(kind: Kind, cases: Cases, from: u64, count: u64) -> usize {
    let clock = Instant::now();
    let millis = move || u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    watch_panics();
    // The stack is as large as those of the workers of the program.
    let worker = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let (mut failures, mut read, mut slowest, mut largest) = (Vec::new(), 0_u64, Duration::ZERO, 0.0_f64);
        for number in from..from + count {
            CASE.store(number, Ordering::Relaxed);
            BEGUN.store(millis(), Ordering::Relaxed);
            match cases.run(number, &METER) {
                Ok(Cost { read: ok, time, memory_share }) => {
                    read += u64::from(ok);
                    slowest = slowest.max(time);
                    largest = largest.max(memory_share);
                }
                Err(e) => {
                    println!("{e}");
                    failures.push(number);
                }
            }
        }
        println!(
            "{kind:?}: {count} damaged files, {} failures, {read} still readable; slowest {:.2} s, peak \
                memory {:.0} % of the limit; {:.0} s",
            failures.len(),
            slowest.as_secs_f64(),
            largest * 100.0,
            clock.elapsed().as_secs_f64()
        );
        failures.len()
    });
    let Ok(worker) = worker else { return 1 };
    while !worker.is_finished() {
        std::thread::sleep(Duration::from_millis(200));
        let since = Duration::from_millis(millis().saturating_sub(BEGUN.load(Ordering::Relaxed)));
        // A case that takes too long is reported when it ends; a case that does not end is reported
        // here.
        if since > 6 * MAX_TIME {
            println!("{kind:?} case {}: does not end", CASE.load(Ordering::Relaxed));
            std::process::exit(1);
        }
    }
    worker.join().unwrap_or(1)
}

fn good_files(kind: Kind, folders: &[PathBuf]) -> Fallible<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        files.extend(
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "step")),
        );
    }
    files.sort();
    let mut good = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        if bytes.len() > MAX_STEP {
            continue;
        }
        match kind {
            Kind::Step => good.push(bytes),
            Kind::Feeler => {
                // Files without solids have no hierarchy.
                let Ok(model) = prepare(&file) else { continue };
                let bytes = feeler_hierarchy::file::encode(&model).map_err(|e| e.to_string())?;
                if bytes.len() <= MAX_FEELER {
                    good.push(bytes);
                }
            }
        }
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single test, because memory is counted for the whole process.
    #[test]
    fn damaged_files_are_refused_in_good_order() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
        let names = [
            "box",
            "half-cone",
            "ring",
            "bore",
            "inch-bracket",
            "swept",
            "assemblies/hands",
            "assemblies/frame",
        ];
        let step: Vec<Vec<u8>> =
            names.iter().map(|n| std::fs::read(data.join(n).with_extension("step")).unwrap()).collect();
        let feeler = names[..6].iter().map(|n| {
            feeler_hierarchy::file::encode(&prepare(&data.join(n).with_extension("step")).unwrap()).unwrap()
        });
        let feeler = feeler.collect();
        watch_panics();
        let mut failures = Vec::new();
        for (kind, good, count) in [(Kind::Feeler, feeler, 2000), (Kind::Step, step, 120)] {
            let cases = Cases::new(kind, good, 7);
            let mut read = 0;
            for number in 0..count {
                match cases.run(number, &METER) {
                    Ok(cost) => read += u64::from(cost.read),
                    Err(e) => failures.push(e),
                }
            }
            // If all files or no files are rejected, the damage tests nothing.
            assert!(read > 0 && read < count, "{read} of {count} {kind:?} files could be read");
        }
        let _ = std::panic::take_hook();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
