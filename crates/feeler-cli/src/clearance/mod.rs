//! `feeler clearance`: which parts of assemblies touch, interfere or come too close.

pub mod baseline;
pub(crate) mod html;
mod junit;
mod output;
pub(crate) mod parts;

use crate::args::ClearanceArgs as Arguments;
use crate::{CommandOutcome, interrupt, page, progress};
use anyhow::Context as _;
use anyhow::ensure;
use feeler_assembly::{AssemblyPart, Clearance, ClearanceOptions, ClearancePair, ClearanceReport, Rules};
use feeler_hierarchy::whole;
use parts::parts;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Result of a clearance check, with the data that outputs need.
#[derive(Debug)]
struct Checked {
    parts: Vec<AssemblyPart>,
    /// Names of the solids and components of the files that could not be prepared and therefore were not
    /// checked.
    left_out: Vec<String>,
    report: ClearanceReport,
    duration: Duration,
}

impl Checked {
    fn paths(&self, pair: &ClearancePair) -> [&str; 2] {
        pair.parts.map(|i| self.parts[i].path.as_str())
    }

    fn known_count(&self) -> usize {
        self.report.pairs.iter().filter(|p| p.is_known).count()
    }
}

pub(crate) fn run(
    args: &Arguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    let clock = Instant::now();
    // Invalid arguments are reported before files are read.
    page::check_folders([&args.csv, &args.junit, &args.html])?;
    ensure!(args.baseline.is_some() || !args.bless, "--bless needs the file to write: --baseline FILE");
    let rules = rules(args)?;
    let known = match &args.baseline {
        Some(file) if !args.bless => baseline::read(file)?,
        _ => Default::default(),
    };
    let Arguments { d_max, tolerance, volume, .. } = *args;
    let options = ClearanceOptions { d_max, tolerance, volume, ..ClearanceOptions::default() };
    options.reach(&rules)?;
    interrupt::tidy_up_on_interrupt();

    let (parts, left_out) = parts(&args.files, &args.pose, args.read.reading(), |line| {
        if args.form.quiet { Ok(()) } else { writeln!(err, "feeler: {line}") }
    })?;
    let pool = crate::thread_pool(args.threads.threads)?;
    let mut report = pool.install(|| measure(&parts, &rules, &options, args.form.quiet))?;
    report.apply_baseline(&known, &parts);
    let checked = Checked { parts, left_out, report, duration: clock.elapsed() };

    if args.form.json {
        serde_json::to_writer(&mut *out, &output::document(&checked))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", output::table(&checked, args.all))?;
    }
    for rule in checked.report.unmatched_rules.iter().filter(|_| !args.form.quiet) {
        writeln!(err, "feeler: rule '{rule}' matches no two parts; check the names in it")?;
    }
    for what in &checked.left_out {
        writeln!(err, "feeler: not checked: {what}")?;
    }
    if !args.form.quiet {
        writeln!(err, "feeler: {}", output::summary(&checked))?;
    }
    if let Some(file) = &args.csv {
        write_file(file, &output::csv(&checked)?)?;
    }
    if let Some(file) = &args.junit {
        write_file(file, &junit::report(&checked)?)?;
    }
    if let Some(file) = &args.html {
        write_file(file, html::page(&checked)?.as_bytes())?;
    }
    if let (Some(file), true) = (&args.baseline, args.bless) {
        write_file(file, &baseline::to_bytes(&checked.report.to_baseline(&checked.parts))?)?;
        return Ok(CommandOutcome::Done);
    }
    let is_clean = checked.report.findings().next().is_none() && checked.left_out.is_empty();
    Ok(if is_clean { CommandOutcome::Done } else { CommandOutcome::Partly })
}

/// Returns the rules that `--rules`, `--ignore` and `--only` state.
fn rules(args: &Arguments) -> anyhow::Result<Rules> {
    let mut rules = match &args.rules {
        Some(file) => {
            let name = file.display();
            let text =
                std::fs::read_to_string(file).with_context(|| format!("{name}: the rules cannot be read"))?;
            Rules::from_toml(&text).with_context(|| name.to_string())?
        }
        None => Rules::default(),
    };
    // The text is `A`, for pairs of A with any part, or `A=B`.
    let pair = |text: &'_ String| -> (String, String) {
        let (a, b) = text.split_once('=').unwrap_or((text, "*"));
        (a.to_owned(), b.to_owned())
    };
    for text in &args.ignore {
        let (a, b) = pair(text);
        rules.ignore(&a, &b).with_context(|| format!("--ignore '{text}'"))?;
    }
    for text in &args.only {
        let (a, b) = pair(text);
        rules.only(&a, &b).with_context(|| format!("--only '{text}'"))?;
    }
    Ok(rules)
}

/// Measures all near pairs of parts and checks them against the rules, with a progress bar.
fn measure(
    parts: &[AssemblyPart],
    rules: &Rules,
    options: &ClearanceOptions,
    quiet: bool,
) -> anyhow::Result<ClearanceReport> {
    let check = Clearance::new(parts, rules, options)
        .context("the clearance of the parts cannot be checked with these rules and options")?;
    let count = check.near_pairs().len();
    let bar = progress::bar(count, progress::PAIRS, !quiet && count > 1);
    let measurements = check.measure(&|| bar.inc(1));
    bar.finish_and_clear();
    Ok(check.report(measurements))
}

fn write_file(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    whole::write_whole(file, bytes).with_context(|| format!("{}: cannot be written", file.display()))
}
