//! The `feeler` program as a library: arguments become a validated plan, a plan becomes an outcome, and
//! `main` maps the outcome to an exit code.
//!
//! The offline stages are chained in `feeler-import`.

pub mod args;
mod clearance;
pub mod color;
mod diff;
mod drawing;
mod features;
mod folder;
pub mod inspect;
mod interrupt;
mod manual;
mod mass;
mod mechanism;
mod page;
mod passage;
mod playback;
mod plot;
pub mod pose;
mod pour;
pub mod preprocess;
pub mod query;
mod regress;
mod report;
pub mod sweep;
pub mod table;
pub mod trajectory;
mod tree;
mod verdict;
mod view;

use std::process::ExitCode;

/// How a command ended: docs/INTERFACE.md, "Exit status".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done: exit 0.
    Done,
    /// The work ran and found what it was asked to find, or part of it failed: exit 1.
    Partly,
    /// Nothing could be done: exit 2.
    Nothing,
}

impl From<Outcome> for ExitCode {
    fn from(o: Outcome) -> Self {
        match o {
            Outcome::Done => Self::SUCCESS,
            Outcome::Partly => Self::from(1),
            Outcome::Nothing => Self::from(2),
        }
    }
}

/// Runs a parsed command line. Results go to `out`, messages to `err`.
///
/// # Errors
/// Whatever kept the command from doing its work, with the file it concerns; exit status 2.
pub fn run(
    command: &args::Command,
    out: &mut dyn std::io::Write,
    err: &mut dyn std::io::Write,
) -> anyhow::Result<Outcome> {
    match command {
        args::Command::Preprocess(a) => preprocess::run(a, out, err),
        args::Command::Inspect(a) => inspect::run(a, out),
        args::Command::Query(a) => query::run(a, out, err),
        args::Command::Sweep(a) => sweep::run(a, out, err),
        args::Command::Mechanism(a) => mechanism::run(a, out, err),
        args::Command::Pour(a) => pour::run(a, out, err),
        args::Command::View(a) => view::run(a, err),
        args::Command::Clearance(a) => clearance::run(a, out, err),
        args::Command::Regress(a) => regress::run(a, out, err),
        args::Command::Diff(a) => diff::run(a, out, err),
        args::Command::Completions(a) => manual::completions(a.shell, out),
        args::Command::Man(a) => manual::pages(a.folder.as_deref(), out),
    }
}
