//! Figures of recorded insertions, in the style of BREP (5.5 to 5.7 and 5.17 to 5.19): number of minima,
//! time of their computation and time of a whole step over simulated time, with the phases marked.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin figures -- OUT.svg TITLE LABEL=RUN.csv...
//! ```
//!
//! Runs are recorded by `insertions` and `engines` with `--record`. The phases are those of the first
//! run. A table gives medians and 95th percentiles of each run while the plug is in place.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program that reports"
)]

use feeler_benches::lines::{Curve, Panel, chart};
use feeler_benches::record::{Recording, Step};
use feeler_benches::{Fallible, spread};
use std::path::Path;
use std::process::ExitCode;

const PANELS: [Panel; 3] = [
    Panel { label: "minima (triangles: contact points)", floor: 0.5, floor_label: "0" },
    Panel { label: "time of the contact search (ms)", floor: 1e-3, floor_label: "≤ 0.001" },
    Panel { label: "time of a step (ms)", floor: 1e-2, floor_label: "≤ 0.01" },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Fallible<()> {
    let [out, title, runs @ ..] = args else {
        return Err("arguments are needed: the SVG file, a title, and LABEL=RUN.csv for each run".to_owned());
    };
    let mut curves = Vec::new();
    let mut phases = Vec::new();
    println!("in place: medians, 95 %\nrun  steps  minima  query ms  step ms");
    for run in runs {
        let (label, file) =
            run.rsplit_once('=').ok_or_else(|| format!("{run}: not of the form LABEL=RUN.csv"))?;
        let recording = Recording::read(Path::new(file))?;
        if phases.is_empty() {
            phases = recording.phases().into_iter().map(|(n, a, b)| (shown(&n), a, b)).collect();
        }
        let of = |value: fn(&Step) -> f64| recording.steps.iter().map(value).collect::<Vec<f64>>();
        let values = vec![of(|s| s.minima as f64), of(|s| s.query_ms), of(|s| s.step_ms)];
        let in_place: Vec<usize> =
            (0..recording.steps.len()).filter(|k| is_place(&recording.steps[*k].phase)).collect();
        let columns = values.iter().map(|v| {
            let [median, high, _] = spread(&mut in_place.iter().map(|k| v[*k]).collect::<Vec<f64>>());
            format!("{median:.3}, {high:.3}")
        });
        println!("{label}  {}  {}", in_place.len(), columns.collect::<Vec<_>>().join("  "));
        curves.push(Curve { label: label.to_owned(), times: of(|s| s.time), values });
    }
    if curves.is_empty() {
        return Err("no run was given (LABEL=RUN.csv)".to_owned());
    }
    std::fs::write(out, chart(title, &PANELS, &curves, &phases)).map_err(|e| format!("{out}: {e}"))
}

fn is_place(phase: &str) -> bool {
    phase.contains("place")
}

/// Name of a phase as shown in the figure.
fn shown(phase: &str) -> String {
    match phase {
        "approach" => "free flight",
        "inplace" => "in place",
        other => other,
    }
    .to_owned()
}
