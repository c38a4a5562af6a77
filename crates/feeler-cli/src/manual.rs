//! `feeler completions` and `feeler man`, generated from the definitions of the command line.

use crate::CommandOutcome;
use crate::args::Cli;
use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::io::Write;
use std::path::Path;

/// Writes a script to `out` that completes commands and options in a shell.
pub(crate) fn completions(shell: Shell, out: &mut dyn Write) -> anyhow::Result<CommandOutcome> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "feeler", &mut script);
    out.write_all(&script)?;
    Ok(CommandOutcome::Done)
}

/// Writes the manual page of the program to `out` or, if there is a `folder`, one page for each command
/// to it.
pub(crate) fn pages(folder: Option<&Path>, out: &mut dyn Write) -> anyhow::Result<CommandOutcome> {
    let Some(folder) = folder else {
        clap_mangen::Man::new(Cli::command()).render(out)?;
        return Ok(CommandOutcome::Done);
    };
    let cannot = || format!("{}: the manual pages cannot be written", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(cannot)?;
    Ok(CommandOutcome::Done)
}
