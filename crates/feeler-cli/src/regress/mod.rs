//! `feeler regress`: compares models, verdicts and minima with recorded results.

mod golden;
mod html;
mod output;
mod suite;
mod work;

use crate::args::RegressArgs;
use crate::{CommandOutcome, interrupt, page};
use anyhow::Context as _;
use feeler_assembly::regress::{EntryComparison, RegressionLimits, compare_entries};
use feeler_hierarchy::whole;
use golden::Golden;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use suite::Suite;

/// Result of comparing the entries of a suite with golden results.
#[derive(Debug)]
struct Compared {
    /// Entries that were run, with their differences, sorted by name.
    entries: Vec<EntryComparison>,
    /// Names of golden results without an entry in the suite; empty if `--only` restricts the entries.
    stale: Vec<String>,
    /// Number of entries without golden results.
    without_golden: usize,
    /// Name and version of the program that computed the golden results; `None` if they are those of
    /// this program.
    other_program: Option<String>,
    duration: Duration,
}

impl Compared {
    fn differing(&self) -> impl Iterator<Item = &EntryComparison> {
        self.entries.iter().filter(|e| !e.differences.is_empty())
    }
}

pub(crate) fn run(
    args: &RegressArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    let clock = Instant::now();
    page::check_folders([&args.junit, &args.html])?;
    let mut suite = Suite::read(&args.suite)?;
    let golden = golden_file(&args.suite, &suite);
    // If there are no golden results to compare with, the suite is not run.
    let known = match Golden::read(&golden) {
        Ok(known) => Some(known),
        Err(_) if args.bless && !golden.exists() => None,
        Err(e) => return Err(e),
    };
    suite.keep(&args.only)?;
    interrupt::tidy_up_on_interrupt();
    let found =
        crate::thread_pool(args.threads.threads)?.install(|| work::run_entries(&suite, args.form.quiet));

    if args.bless {
        let mut blessed = Golden::new(found);
        // Entries that `--only` excludes keep their golden results.
        if !args.only.is_empty() {
            for (name, entry) in known.map(|k| k.entries).unwrap_or_default() {
                blessed.entries.entry(name).or_insert(entry);
            }
        }
        write_file(&golden, &blessed.to_bytes()?)?;
        if !args.form.quiet {
            let n = blessed.entries.len();
            writeln!(err, "feeler: wrote the results of {n} entries to {}", golden.display())?;
        }
        return Ok(CommandOutcome::Done);
    }
    let known = known.unwrap_or_default();
    let limits = RegressionLimits { tolerances: suite.tolerances, time: suite.time };
    let entries = compare_entries(&known.entries, &found, &limits);
    let without_golden = found.keys().filter(|name| !known.entries.contains_key(*name)).count();
    let stale = known.entries.keys().filter(|name| !found.contains_key(*name) && args.only.is_empty());
    let stale = stale.cloned().collect();
    let other_program = (known.program != golden::PROGRAM).then_some(known.program);
    let compared = Compared { entries, stale, without_golden, other_program, duration: clock.elapsed() };
    if args.form.json {
        serde_json::to_writer(&mut *out, &output::document(&compared))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", output::table(&compared, args.all))?;
    }
    if !args.form.quiet {
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
    Ok(if same { CommandOutcome::Done } else { CommandOutcome::Partly })
}

fn write_file(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    whole::write_whole(file, bytes).with_context(|| format!("{}: cannot be written", file.display()))
}

/// Path of the file with the golden results of a suite.
fn golden_file(suite_file: &Path, suite: &Suite) -> PathBuf {
    match &suite.golden {
        Some(file) => suite.folder.join(file),
        None => suite_file.with_extension("golden.json"),
    }
}
