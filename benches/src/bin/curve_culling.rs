//! Reproduces Figures 5.21 and 5.22 of BREP: the numbers of pairs of flat sections of a spring that remain
//! after six methods of culling, and the times ([`feeler_benches::curve_culling`]).
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin curve_culling -- [--csv OUT.csv] [--plots FOLDER]
//!     [--frames N] [--half-angle RAD]
//! ```
//!
//! A section is flat if its tangents are in a cone with an apex angle of 0.5 rad, half angle 0.25
//! (`--half-angle`).
//!
//! Exit status 1 if a minimum of the spring is in no remaining pair.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::{Fallible, curve_culling, exit_code, number_after};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}

fn run(args: &[String]) -> Fallible<bool> {
    let frames = number_after(args, "--frames").unwrap_or(200_u32);
    let culling = curve_culling::compute(frames, number_after(args, "--half-angle").unwrap_or(0.25))?;
    culling.print();
    if let Some(file) = number_after::<PathBuf>(args, "--csv") {
        std::fs::write(&file, culling.csv()).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    if let Some(folder) = number_after::<PathBuf>(args, "--plots") {
        for (name, svg) in culling.charts() {
            let file = folder.join(name);
            std::fs::write(&file, svg).map_err(|e| format!("{}: {e}", file.display()))?;
        }
    }
    if culling.lost > 0 {
        println!("{} minima are in no remaining pair", culling.lost);
    }
    Ok(culling.lost == 0)
}
