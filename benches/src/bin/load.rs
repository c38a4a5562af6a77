//! Speed of loading files:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin load -- FILE_OR_FOLDER…
//! ```
//!
//! STEP files are prepared, `.feeler` files are read; then each is decoded repeatedly for half a second,
//! with all checks.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, prepare};
use feeler_hierarchy::file::{decode, encode};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut files = Vec::new();
    for arg in std::env::args().skip(1).map(PathBuf::from) {
        if arg.is_dir() {
            let entries = std::fs::read_dir(&arg).into_iter().flatten().flatten().map(|e| e.path());
            files.extend(entries.filter(|p| p.extension().is_some_and(|e| e == "step" || e == "feeler")));
        } else {
            files.push(arg);
        }
    }
    files.sort();
    let (mut bytes, mut seconds, mut failed) = (0.0, 0.0, 0);
    for file in &files {
        match load(file) {
            Ok((size, time)) => {
                println!(
                    "{:40} {:8.3} MB in {:8.3} ms: {:.2} GB/s",
                    file.file_name().unwrap_or_default().to_string_lossy(),
                    size / 1e6,
                    time * 1e3,
                    size / time / 1e9
                );
                bytes += size;
                seconds += time;
            }
            Err(e) => {
                eprintln!("{e}");
                failed += 1;
            }
        }
    }
    println!(
        "{} files, {:.1} MB: {:.2} GB/s; {failed} not read",
        files.len() - failed,
        bytes / 1e6,
        bytes / seconds / 1e9
    );
    ExitCode::SUCCESS
}

/// Size (bytes) of a file and the minimum time (s) of decoding it.
#[expect(clippy::cast_precision_loss, reason = "a size in a report")]
fn load(file: &Path) -> Fallible<(f64, f64)> {
    let bytes = if file.extension().is_some_and(|e| e == "feeler") {
        std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?
    } else {
        encode(&prepare(file)?).map_err(|e| e.to_string())?
    };
    let mut best = f64::INFINITY;
    let clock = Instant::now();
    while clock.elapsed() < Duration::from_millis(500) {
        let clock = Instant::now();
        let model = decode(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
        best = best.min(clock.elapsed().as_secs_f64());
        std::hint::black_box(model);
    }
    Ok((bytes.len() as f64, best))
}
