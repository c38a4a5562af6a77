//! `feeler clearance`: which parts of assemblies touch, clash or come too close.

mod baseline;
mod finding;
mod findings;
pub(crate) mod html;
mod junit;
pub(crate) mod measure;
mod output;
pub(crate) mod parts;
pub(crate) mod rules;

use crate::args::Clearance;
use crate::{Outcome, interrupt};
use anyhow::{Context as _, ensure};
use baseline::Baseline;
use feeler_hierarchy::whole;
use findings::{Row, rows};
use measure::Request;
use parts::parts;
use rules::Rules;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Distance (mm) within which parts are measured where no rule asks for more.
const DEFAULT_D_MAX: f64 = 1.0;

/// Everything that was found out.
#[derive(Debug)]
pub(crate) struct Checked {
    parts: Vec<parts::Part>,
    /// What could not be read of the files, and so is not checked.
    left_out: Vec<String>,
    rows: Vec<Row>,
    counts: measure::Counts,
    d_max: f64,
    /// Findings of the baseline that are no more.
    fixed: usize,
    wall: Duration,
}

impl Checked {
    /// Findings that are not in the baseline.
    fn new_findings(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.is_new_finding())
    }
}

pub(crate) fn run(args: &Clearance, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    let clock = Instant::now();
    // What cannot work is told before the work.
    for file in [&args.csv, &args.junit, &args.html].into_iter().flatten() {
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: there is no such folder", file.display());
    }
    ensure!(args.baseline.is_some() || !args.bless, "--bless needs the file to write: --baseline FILE");
    let rules = Rules::new(args.rules.as_deref(), &args.ignore, &args.only)?;
    let known = match &args.baseline {
        Some(file) if !args.bless => Baseline::read(file)?,
        _ => Baseline::default(),
    };
    let d_max = d_max(args.d_max, &rules)?;
    interrupt::tidy_up_on_interrupt();

    let (parts, left_out) = parts(&args.files, &args.pose, args.read.reading(), |line| {
        if args.quiet { Ok(()) } else { writeln!(err, "feeler: {line}") }
    })?;
    let request = Request { d_max, tolerance: args.tolerance.or(rules.tolerance), quiet: args.quiet };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from));
    let pool = pool.build().context("cannot start the threads of --threads")?;
    let matches = rules.matches(&parts);
    let (measured, counts) = pool.install(|| measure::measure(&parts, &matches, &request))?;
    let (rows, fixed) = rows(&parts, &matches, measured, &known);
    let checked = Checked { parts, left_out, rows, counts, d_max, fixed, wall: clock.elapsed() };

    if args.json {
        serde_json::to_writer(&mut *out, &output::document(&checked))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", output::table(&checked, args.all))?;
    }
    for rule in matches.idle().into_iter().filter(|_| !args.quiet) {
        writeln!(err, "feeler: rule '{rule}' fits no two parts; are the names right?")?;
    }
    for what in &checked.left_out {
        writeln!(err, "feeler: not checked: {what}")?;
    }
    if !args.quiet {
        writeln!(err, "feeler: {}", output::summary(&checked))?;
    }
    let write = |file: &Path, bytes: Vec<u8>| {
        whole::write_whole(file, &bytes).with_context(|| format!("{}: cannot be written", file.display()))
    };
    if let Some(file) = &args.csv {
        write(file, output::csv(&checked)?)?;
    }
    if let Some(file) = &args.junit {
        write(file, junit::report(&checked)?)?;
    }
    if let Some(file) = &args.html {
        write(file, html::page(&checked)?.into_bytes())?;
    }
    if let (Some(file), true) = (&args.baseline, args.bless) {
        write(file, Baseline::of(&checked).to_bytes()?)?;
        return Ok(Outcome::Done);
    }
    let is_clean = checked.new_findings().next().is_none() && checked.left_out.is_empty();
    Ok(if is_clean { Outcome::Done } else { Outcome::Partly })
}

/// What was asked for, else what the rules need.
fn d_max(asked: Option<f64>, rules: &Rules) -> anyhow::Result<f64> {
    let needed = rules.largest_min();
    let Some(d_max) = asked.or(rules.d_max) else { return Ok(needed.unwrap_or(DEFAULT_D_MAX)) };
    if let Some(min) = needed {
        ensure!(d_max >= min, "d_max is {d_max} mm and a rule asks for {min} mm; give at least that");
    }
    Ok(d_max)
}
