//! `feeler regress`: whether files, verdicts and minima are still what they were.

mod compare;
mod html;
mod output;
mod reference;
mod results;
mod suite;
mod work;

use crate::args::Regress;
use crate::{Outcome, interrupt};
use anyhow::{Context as _, ensure};
use feeler_hierarchy::whole;
use results::Results;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use suite::Suite;

/// Everything that a run has found out.
#[derive(Debug)]
pub(crate) struct Compared {
    /// What was compared, in the order of the names, with its differences.
    entries: Vec<compare::Entry>,
    /// Golden results whose entry is not in the suite any more.
    stale: Vec<String>,
    /// The program that has made the golden results, if it is another version.
    other_program: Option<String>,
    wall: Duration,
}

impl Compared {
    fn differing(&self) -> impl Iterator<Item = &compare::Entry> {
        self.entries.iter().filter(|e| !e.differences.is_empty())
    }
}

pub(crate) fn run(args: &Regress, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    let clock = Instant::now();
    for file in [&args.junit, &args.html].into_iter().flatten() {
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: there is no such folder", file.display());
    }
    let mut suite = Suite::read(&args.suite)?;
    let golden = golden_file(&args.suite, &suite);
    // Without results to compare with, the work would be for nothing.
    let known = match Results::read(&golden) {
        Ok(known) => Some(known),
        Err(_) if args.bless && !golden.exists() => None,
        Err(e) => return Err(e),
    };
    suite.keep(&args.only)?;
    interrupt::tidy_up_on_interrupt();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from));
    let pool = pool.build().context("cannot start the threads of --threads")?;
    let found = pool.install(|| work::all(&suite, args.quiet));

    if args.bless {
        let mut blessed = found;
        // What was not run keeps its results.
        if !args.only.is_empty() {
            let rest = known.map(|k| k.entries).unwrap_or_default();
            for (name, entry) in rest {
                blessed.entries.entry(name).or_insert(entry);
            }
        }
        write_file(&golden, &blessed.to_bytes()?)?;
        if !args.quiet {
            let n = blessed.entries.len();
            writeln!(err, "feeler: results of {n} entries are in {}", golden.display())?;
        }
        return Ok(Outcome::Done);
    }
    let known = known.unwrap_or_default();
    let (entries, stale) = compare::all(&suite, &known, &found);
    let other_program = (known.program != found.program).then(|| known.program.clone());
    let stale = if args.only.is_empty() { stale } else { Vec::new() };
    let compared = Compared { entries, stale, other_program, wall: clock.elapsed() };
    if args.json {
        serde_json::to_writer(&mut *out, &output::document(&compared))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", output::table(&compared, args.all))?;
    }
    if !args.quiet {
        for line in output::notes(&compared, &golden) {
            writeln!(err, "feeler: {line}")?;
        }
        writeln!(err, "feeler: {}", output::summary(&compared))?;
    }
    if let Some(file) = &args.junit {
        write_file(file, &output::junit(&compared)?)?;
    }
    if let Some(file) = &args.html {
        write_file(file, html::page(&compared, &suite, &found)?.as_bytes())?;
    }
    let same = compared.differing().next().is_none();
    Ok(if same { Outcome::Done } else { Outcome::Partly })
}

fn write_file(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    whole::write_whole(file, bytes).with_context(|| format!("{}: cannot be written", file.display()))
}

/// Where the golden results of a suite are.
fn golden_file(suite_file: &Path, suite: &Suite) -> PathBuf {
    match &suite.golden {
        Some(file) => suite.folder.join(file),
        None => suite_file.with_extension("golden.json"),
    }
}
