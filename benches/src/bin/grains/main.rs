//! Grains: contacts, masses and fits, compared with references that share no code with them.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin grains -- contacts [PAIRS] [MIN MAX]
//! cargo run --profile dist -p feeler-benches --bin grains -- mass [SHAPES] [POINTS]
//! cargo run --profile dist -p feeler-benches --bin grains -- fits [SHAPES] [POINTS] [MIN MAX]
//! ```
//!
//! `contacts`: random pairs (10⁶) with exponents in [MIN, MAX] (0.4 and 1.6), compared with distance
//! and penetration depth; evaluations, fallbacks and times. `mass`: POLY Figure 3.14, 50 random shapes
//! compared with 10⁷ evenly spread points. `fits`: 50 random shapes in random poses, fitted to 2,000
//! points each. Exit status 1 if a reference differs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

mod contacts;
mod fits;
mod mass;

use feeler_geom::V3;
use rand::Rng;
use rand::rngs::SmallRng;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: f64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let count = |i: usize, or: u32| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let is_right = match args.first().map(String::as_str) {
        Some("contacts") => contacts::run(count(1, 1_000_000), [number(2, 0.4), number(3, 1.6)]),
        Some("mass") => mass::run(count(1, 50), count(2, 10_000_000)),
        Some("fits") => fits::run(count(1, 50), count(2, 2000), [number(3, 0.4), number(4, 1.6)]),
        _ => {
            eprintln!("an argument is needed: contacts, mass or fits");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(!is_right))
}

/// A random direction, uniform over the sphere.
fn direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.01..1.0).contains(&v.norm_squared()) {
            return v.normalize();
        }
    }
}
