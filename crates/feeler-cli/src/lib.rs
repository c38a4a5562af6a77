//! The `feeler` program as a library: arguments, tables, JSON documents, pages, progress and messages.
//!
//! Each command has a module. `feeler-import` reads files, `feeler-assembly` measures; [`run`] returns the
//! outcome of a command, which `main` maps to an exit status.

pub mod args;
pub mod clearance;
pub mod color;
mod diff;
mod drawing;
mod features;
mod folder;
pub mod inspect;
pub mod interrupt;
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
mod progress;
pub mod query;
pub mod regress;
mod report;
pub mod sweep;
pub mod table;
mod tessellate;
pub mod trajectory;
mod tree;
mod verdict;
mod view;

use anyhow::Context as _;
use std::process::ExitCode;

/// Outcome of a command, which determines the exit status (docs/INTERFACE.md, "Exit status").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command succeeded and has no findings: exit status 0.
    Done,
    /// The command has findings, or part of it failed: exit status 1.
    Partly,
    /// The command failed: exit status 2.
    Nothing,
}

impl From<CommandOutcome> for ExitCode {
    fn from(o: CommandOutcome) -> Self {
        match o {
            CommandOutcome::Done => Self::SUCCESS,
            CommandOutcome::Partly => Self::from(1),
            CommandOutcome::Nothing => Self::from(2),
        }
    }
}

/// Runs a parsed command line. Results go to `out`, messages to `err`.
///
/// # Errors
/// The command failed (exit status 2); the error names the file.
pub fn run(
    command: &args::Command,
    out: &mut dyn std::io::Write,
    err: &mut dyn std::io::Write,
) -> anyhow::Result<CommandOutcome> {
    match command {
        args::Command::Preprocess(a) => preprocess::run(a, out, err),
        args::Command::Inspect(a) => inspect::run(a, out),
        args::Command::Query(a) => query::run(a, out, err),
        args::Command::Sweep(a) => sweep::run(a, out, err),
        args::Command::Mechanism(a) => mechanism::run(a, out, err),
        args::Command::Pour(a) => pour::run(a, out, err),
        args::Command::Tessellate(a) => tessellate::run(a, out, err),
        args::Command::View(a) => view::run(a, err),
        args::Command::Clearance(a) => clearance::run(a, out, err),
        args::Command::Regress(a) => regress::run(a, out, err),
        args::Command::Diff(a) => diff::run(a, out, err),
        args::Command::Completions(a) => manual::completions(a.shell, out),
        args::Command::Man(a) => manual::pages(a.folder.as_deref(), out),
    }
}

/// Creates a thread pool with the number of threads of `--threads`; `None` stands for one thread per
/// core.
fn thread_pool(threads: Option<u16>) -> anyhow::Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build();
    pool.context("the threads of --threads cannot be started")
}
