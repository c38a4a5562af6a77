//! `feeler regress`: compares models, verdicts and minima with recorded results.

mod golden;
mod html;
mod output;
mod suite;
mod work;

use crate::args::RegressArgs;
use crate::{CommandOutcome, interrupt, page};
use anyhow::Context as _;
use feeler_assembly::Progress;
use feeler_assembly::regress::{Entries, EntryComparison, RegressionLimits, compare_entries};
use feeler_hierarchy::whole;
use golden::Golden;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use suite::Suite;

/// Result of comparing the entries of a suite with golden results.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Entries that were run, with their differences, sorted by name.
    pub entries: Vec<EntryComparison>,
    /// Names of golden results without an entry in the suite; empty if only some entries were run.
    pub stale: Vec<String>,
    /// Number of entries without golden results.
    pub without_golden: usize,
    /// Name and version of the program that computed the golden results; `None` if they are those of
    /// this program.
    pub other_program: Option<String>,
    /// Duration of the run.
    pub duration: Duration,
}

impl Compared {
    /// Entries with differences, sorted by name.
    pub fn differing(&self) -> impl Iterator<Item = &EntryComparison> {
        self.entries.iter().filter(|e| !e.differences.is_empty())
    }
}

/// Suite and its golden results, which were read from files.
#[derive(Debug)]
pub struct Regression {
    suite: Suite,
    golden: PathBuf,
    /// Golden results; `None` if the run records the first ones.
    known: Option<Golden>,
    /// Whether only some of the entries are run.
    is_partial: bool,
    start: Instant,
}

impl Regression {
    /// Reads a suite and its golden results, and keeps the entries whose names match a pattern of `only`;
    /// all entries if `only` is empty. With `bless`, there may be no golden results yet.
    ///
    /// # Errors
    /// A file cannot be read or is not valid, or no entry matches `only`; the error names the file.
    pub fn open(file: &Path, only: &[String], bless: bool) -> anyhow::Result<Self> {
        let start = Instant::now();
        let mut suite = Suite::read(file)?;
        let golden = golden_file(file, &suite);
        // Without golden results to compare with, the suite is not run.
        let known = match Golden::read(&golden) {
            Ok(known) => Some(known),
            Err(_) if bless && !golden.exists() => None,
            Err(e) => return Err(e),
        };
        suite.keep(only)?;
        Ok(Self { suite, golden, known, is_partial: !only.is_empty(), start })
    }

    /// Path of the golden results.
    #[must_use]
    pub fn golden(&self) -> &Path {
        &self.golden
    }

    /// Computes the results of all entries on the current thread pool of rayon, with a progress bar unless
    /// `quiet`. Returns `None` if `progress` was stopped.
    #[must_use]
    pub fn measure(&self, progress: &Progress, quiet: bool) -> Option<Entries> {
        work::run_entries(&self.suite, progress, quiet)
    }

    /// Writes results as the golden results and returns the number of entries. Entries that were not run
    /// keep their golden results.
    ///
    /// # Errors
    /// The file cannot be written; the error names it.
    pub fn record(self, found: Entries) -> anyhow::Result<usize> {
        let mut blessed = Golden::new(found);
        if self.is_partial {
            for (name, entry) in self.known.map(|k| k.entries).unwrap_or_default() {
                blessed.entries.entry(name).or_insert(entry);
            }
        }
        write_file(&self.golden, &blessed.to_bytes()?)?;
        Ok(blessed.entries.len())
    }

    /// Compares results with the golden results.
    #[must_use]
    pub fn compare(&self, found: &Entries) -> Compared {
        let none = Golden::default();
        let known = self.known.as_ref().unwrap_or(&none);
        let limits = RegressionLimits { tolerances: self.suite.tolerances, time: self.suite.time };
        let entries = compare_entries(&known.entries, found, &limits);
        let without_golden = found.keys().filter(|name| !known.entries.contains_key(*name)).count();
        let stale = known.entries.keys().filter(|name| !found.contains_key(*name) && !self.is_partial);
        let stale = stale.cloned().collect();
        let other_program = (known.program != golden::PROGRAM).then(|| known.program.clone());
        Compared { entries, stale, without_golden, other_program, duration: self.start.elapsed() }
    }
}

pub(crate) fn run(
    args: &RegressArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    page::check_folders([&args.junit, &args.html])?;
    let regression = Regression::open(&args.suite, &args.only, args.bless)?;
    interrupt::tidy_up_on_interrupt();
    let pool = crate::thread_pool(args.threads.threads)?;
    let found = pool.install(|| regression.measure(&Progress::default(), args.form.quiet));
    let found = found.context("the run was stopped")?;

    if args.bless {
        let golden = regression.golden.clone();
        let n = regression.record(found)?;
        if !args.form.quiet {
            writeln!(err, "feeler: wrote the results of {n} entries to {}", golden.display())?;
        }
        return Ok(CommandOutcome::Done);
    }
    let compared = regression.compare(&found);
    let (golden, suite) = (&regression.golden, &regression.suite);
    if args.form.json {
        serde_json::to_writer(&mut *out, &output::document(&compared))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", output::table(&compared, args.all))?;
    }
    if !args.form.quiet {
        for line in output::notes(&compared, golden) {
            writeln!(err, "feeler: {line}")?;
        }
        writeln!(err, "feeler: {}", output::summary(&compared))?;
    }
    if let Some(file) = &args.junit {
        write_file(file, &output::junit(&compared)?)?;
    }
    if let Some(file) = &args.html {
        write_file(file, html::page(&compared, suite, &found)?.as_bytes())?;
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
