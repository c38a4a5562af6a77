//! The program `feeler`, run within Python.

use clap::Parser as _;
use pyo3::prelude::*;

/// Runs the program with the given arguments. Returns the exit status and the texts of stdout and
/// stderr.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, arguments: Vec<String>) -> (u8, String, String) {
    let arguments = std::iter::once("feeler".to_owned()).chain(arguments);
    let parsed = match feeler_cli::args::Cli::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        // Help and the version have exit status 0.
        Err(e) if e.exit_code() == 0 => return (0, e.to_string(), String::new()),
        Err(e) => return (2, String::new(), e.to_string()),
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let done = py.detach(|| feeler_cli::run(&parsed.command, &mut out, &mut err));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match done {
        Ok(outcome) => {
            let status = match outcome {
                feeler_cli::CommandOutcome::Done => 0,
                feeler_cli::CommandOutcome::Partly => 1,
                feeler_cli::CommandOutcome::Nothing => 2,
            };
            (status, text(out), text(err))
        }
        Err(e) => (2, text(out), format!("{}feeler: {e:#}\n", text(err))),
    }
}
