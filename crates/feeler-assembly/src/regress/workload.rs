//! A workload whose duration shows how fast the machine is. It shares no code with queries; otherwise a
//! slower query would slow it down, too.

use std::hint::black_box;
use std::time::Instant;

/// Number of runs of the workload, of which the fastest counts. A larger value takes more time; a
/// smaller one is less exact on a busy machine.
const REPETITIONS: u32 = 7;

/// Duration (s) of one run of the reference workload, which formats and parses numbers. The code is in the
/// standard library and thus does not depend on how this crate is optimised.
#[must_use]
pub fn reference_seconds() -> f64 {
    (0..REPETITIONS).map(|_| run_once()).fold(f64::INFINITY, f64::min)
}

fn run_once() -> f64 {
    let clock = Instant::now();
    let mut sum = 0.0;
    for k in 0..4_000_u32 {
        let x = f64::from(k).sqrt();
        let text = format!("{x}");
        sum += black_box(text.parse::<f64>().unwrap_or(0.0));
    }
    black_box(sum);
    clock.elapsed().as_secs_f64()
}
