//! Growth of the cost of preparation with the number of faces: a plate with 10, 100, 1,000 and 10,000
//! holes, on a grid that is rotated against the axes of the plate so that no two holes share a row.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin growth [-- MAX_HOLES]
//! ```
//!
//! Prints for each step (building the solid with its self-check, preparing, encoding, decoding) the time
//! per face, and the exponent between consecutive sizes.
#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use feeler_benches::{Fallible, cpu_seconds, plate};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_hierarchy::{Options, file};
use std::process::ExitCode;

const STEPS: [&str; 4] = ["build", "prepare", "encode", "decode"];

fn main() -> ExitCode {
    let max = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let mut last: Option<(usize, [f64; 4])> = None;
    let mut holes = 10;
    while holes <= max {
        let (faces, seconds, bytes, leaves) = match run(holes) {
            Ok(r) => r,
            Err(e) => {
                println!("{holes} holes: {e}");
                return ExitCode::from(1);
            }
        };
        print!(
            "{holes:6} holes, {faces:6} faces, {leaves:7} leaves, {:6.0} bytes a face",
            bytes as f64 / faces as f64
        );
        for (k, step) in STEPS.iter().enumerate() {
            print!("; {step} {:8.2} us a face", seconds[k] * 1e6 / faces as f64);
            if let Some((n, before)) = last {
                print!(" (exponent {:.2})", exponent(seconds[k] / before[k], faces as f64 / n as f64));
            }
        }
        println!();
        last = Some((faces, seconds));
        holes *= 10;
    }
    ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "a logarithm in a report")]
fn exponent(time: f64, size: f64) -> f64 {
    time.ln() / size.ln()
}

/// Returns the number of faces, the processor time (s) of each step (the minimum of several runs), the
/// number of bytes and the number of leaves.
fn run(holes: u32) -> Fallible<(usize, [f64; 4], usize, usize)> {
    let source = plate(holes);
    let options = Options { flatness: feeler_import::DEFAULT_FLATNESS };
    let mut best = [f64::INFINITY; 4];
    let (mut size, mut leaves) = (0, 0);
    let runs = (2000 / holes).clamp(2, 20);
    for _ in 0..runs {
        let mut took = |k: usize, begun: f64| best[k] = best[k].min(cpu_seconds() - begun);
        let begun = cpu_seconds();
        let solid = build_solid(&source, &BuildOptions::default()).map_err(|e| e.to_string())?;
        took(0, begun);
        let begun = cpu_seconds();
        let model =
            feeler_prepare::prepare_model("", 0, &[solid], vec![], &options).map_err(|e| e.to_string())?;
        took(1, begun);
        leaves = model.solids[0].areas.len();
        let begun = cpu_seconds();
        let bytes = file::encode(&model).map_err(|e| e.to_string())?;
        took(2, begun);
        size = bytes.len();
        let begun = cpu_seconds();
        file::decode(&bytes).map_err(|e| e.to_string())?;
        took(3, begun);
    }
    Ok((source.faces.len(), best, size, leaves))
}
