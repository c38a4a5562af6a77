//! A workload whose time tells how fast the machine is. It shares no code with what is measured: were it made
//! of queries, a slower query would slow it down, too.

use std::hint::black_box;
use std::time::Instant;

/// Repetitions of which the fastest counts.
const TIMES: u32 = 7;

/// Seconds of one run: numbers written and read again. The standard library does it, and so it does not
/// depend on how this program is optimised.
pub(super) fn seconds() -> f64 {
    (0..TIMES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn once() -> f64 {
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
