//! Meshes of models: number of meshes with holes, deviation, and time.
//!
//!     cargo run --release -p feeler-benches --bin meshes -- FILE_OR_FOLDER [--chord PART]
//!
//! PART is the chord error as a fraction of the size of the solid (0.002).
#![expect(clippy::print_stdout, reason = "a program that reports")]

use clap::Parser;
use feeler_benches::{Fallible, prepare, spread, step_files};
use feeler_geom::P3;
use feeler_view::mesh::mesh;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Parser)]
struct Args {
    /// STEP files, or folders of them.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    #[arg(long, default_value_t = 0.002)]
    chord: f64,
}

fn main() -> Fallible<()> {
    let args = Args::parse();
    let (mut solids, mut closed, mut near, mut triangles, mut times) = (0, 0, 0, 0, Vec::new());
    for file in step_files(args.inputs.iter().map(|p| -> &Path { p })) {
        let Ok(model) = prepare(&file) else { continue };
        for (i, solid) in model.solids.iter().enumerate() {
            let name = format!("{} {i}", file.display());
            let [low, high] = [solid.info.bbox_min, solid.info.bbox_max];
            let chord = args.chord * (P3::from(high) - P3::from(low)).norm();
            let clock = Instant::now();
            let made = match mesh(solid, chord) {
                Ok(made) => made,
                Err(e) => {
                    println!("{name}: {e}");
                    continue;
                }
            };
            times.push(1e3 * clock.elapsed().as_secs_f64());
            let open = made.open_sides();
            // Meshes of sheets are open by nature.
            let is_sheet = solid.info.inertia.is_none();
            solids += 1;
            closed += usize::from(open == 0 || is_sheet);
            near += usize::from(made.deviation <= chord);
            triangles += made.triangles.len();
            if (open > 0 && !is_sheet) || made.deviation > chord {
                let (off, crossings) = (made.deviation / chord, made.crossings);
                println!(
                    "{name}: {open} open sides, {crossings} crossings, deviation of {off:.2} chord errors"
                );
            }
        }
    }
    let [median, high, longest] = spread(&mut times);
    println!("{solids} solids: {closed} closed, {near} within the chord error, {triangles} triangles");
    println!("ms: median {median:.1}, 95 % below {high:.1}, longest {longest:.0}");
    Ok(())
}
