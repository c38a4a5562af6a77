//! Speed of the preparation alone (grouping, splitting, bounding, building), without import:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin preparation \
//!     -- FOLDER… [--repeat N] [--flatness RAD] [--files]
//! ```
//!
//! Solids with only canonical surfaces and solids with free-form ones are reported separately. The time
//! of a solid is the minimum of N runs (3), so that other load of the machine has little influence;
//! `--files` prints a line for each file.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use feeler_benches::{cpu_seconds, number_after, step_files};
use feeler_brep::Solid;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_hierarchy::Options;
use std::path::Path;
use std::process::ExitCode;

/// Sums over the solids of one kind.
#[derive(Clone, Copy, Default)]
struct Sum {
    solids: usize,
    faces: usize,
    leaves: usize,
    bytes: usize,
    seconds: f64,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.solids += other.solids;
        self.faces += other.faces;
        self.leaves += other.leaves;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }

    fn line(&self) -> String {
        let faces = self.faces.max(1) as f64;
        format!(
            "{:4} solids {:5} faces {:6} leaves {:8.3} ms: {:7.0} faces/s, {:6.0} bytes a face, {:5.1} \
                leaves a face",
            self.solids,
            self.faces,
            self.leaves,
            self.seconds * 1e3,
            self.faces as f64 / self.seconds.max(1e-9),
            self.bytes as f64 / faces,
            self.leaves as f64 / faces
        )
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let repeat = number_after(&args, "--repeat").unwrap_or(3);
    let flatness = number_after(&args, "--flatness").unwrap_or(feeler_import::DEFAULT_FLATNESS);
    let each = args.iter().any(|a| a == "--files");
    let inputs = args.iter().take_while(|a| !a.starts_with("--"));
    let files = step_files(inputs.map(Path::new));
    if files.is_empty() {
        eprintln!("no STEP files were found in the given folders");
        return ExitCode::from(2);
    }
    let mut total = [Sum::default(); 2];
    for file in &files {
        // The program `corpus` reports files that cannot be read.
        let Ok(import) = feeler_step::read_step(file) else { continue };
        let mut here = [Sum::default(); 2];
        for source in &import.solids {
            let Ok(solid) = build_solid(source, &BuildOptions::default()) else { continue };
            let canonical = solid.shell.faces.iter().all(|f| f.surface.is_canonical());
            if let Some(sum) = measure(&solid, repeat, flatness) {
                here[usize::from(!canonical)].add(&sum);
            }
        }
        for (kind, sum) in ["canonical", "free-form"].iter().zip(&here).filter(|(_, s)| each && s.solids > 0)
        {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            println!("{name:36} {kind}: {}", sum.line());
        }
        total.iter_mut().zip(&here).for_each(|(t, h)| t.add(h));
    }
    println!("canonical: {}", total[0].line());
    println!("free-form: {}", total[1].line());
    ExitCode::SUCCESS
}

/// Prepares a solid several times; the time is the minimum.
fn measure(solid: &Solid, repeat: usize, flatness: f64) -> Option<Sum> {
    let options = Options { flatness };
    let mut best: Option<Sum> = None;
    for _ in 0..repeat.max(1) {
        let begun = cpu_seconds();
        let hierarchy = feeler_prepare::prepare_solid(solid, &options).ok()?;
        let seconds = cpu_seconds() - begun;
        if best.is_none_or(|b| seconds < b.seconds) {
            best = Some(Sum {
                solids: 1,
                faces: solid.faces.len(),
                leaves: hierarchy.areas.len(),
                bytes: feeler_hierarchy::file::encoded_size(&hierarchy),
                seconds,
            });
        }
    }
    best
}
