//! The program `feeler`, run within Python.

use crate::wait;
use clap::Parser as _;
use pyo3::prelude::*;

/// Runs the program with the given arguments. Returns the exit status and the texts of stdout and stderr. A
/// signal raises the exception of its handler in Python.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, arguments: Vec<String>) -> PyResult<(u8, String, String)> {
    wait::run(py, None, None, |progress| {
        Ok(feeler_cli::interrupt::with_progress(progress, || outcome(arguments)))
    })
}

/// Like [`run`], in a process that only runs the program: a signal ends the process as it ends the program.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<String>) -> (u8, String, String) {
    feeler_cli::interrupt::enable();
    py.detach(|| outcome(arguments))
}

fn outcome(arguments: Vec<String>) -> (u8, String, String) {
    let arguments = std::iter::once("feeler".to_owned()).chain(arguments);
    let parsed = match feeler_cli::args::Cli::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        // Help and the version have exit status 0.
        Err(e) if e.exit_code() == 0 => return (0, e.to_string(), String::new()),
        Err(e) => return (2, String::new(), e.to_string()),
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let done = feeler_cli::run(&parsed.command, &mut out, &mut err);
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
