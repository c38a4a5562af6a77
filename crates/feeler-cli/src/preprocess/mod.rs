//! `feeler preprocess`: prepares files and folders, several files in parallel.

mod expect;
mod gate;
mod groups;
mod html;
mod plan;
mod progress;
mod report;
mod stale;

use crate::args::PreprocessArgs;
use crate::{CommandOutcome, interrupt, table};
use anyhow::{Context as _, ensure};
use expect::Expected;
use feeler_hierarchy::{Options, Severity, whole};
use feeler_import as import;
use gate::Gate;
use plan::Job;
use progress::Progress;
use report::{Report, ReportOptions, Summary};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Maximum number of groups of remarks that are printed for one input; a last line states how many
/// remarks are in further groups. Messages are long with a larger value; a smaller one hides kinds of
/// remarks.
const MAX_SHOWN_GROUPS: usize = 5;

/// Stack size (bytes) of a worker thread. A smaller stack overflows for deeply nested input, which ends
/// the whole run; a larger one takes more memory.
const STACK: usize = 64 << 20;

pub(crate) fn run(
    args: &PreprocessArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    let clock = Instant::now();
    for (option, report) in [("--report", &args.report), ("--html", &args.html)] {
        let Some(report) = report else { continue };
        let folder = report.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: the folder of the report does not exist", folder.display());
        ensure!(!report.is_dir(), "{}: is a folder; {option} needs a file", report.display());
    }
    let jobs = plan::plan(args)?;
    let expected = args.expect.as_deref().map(Expected::read).transpose()?.unwrap_or_default();
    interrupt::tidy_up_on_interrupt();
    let folders: BTreeSet<_> = jobs.iter().filter_map(|j| j.output.as_ref().ok()?.parent()).collect();
    for folder in folders {
        whole::remove_stale(folder);
    }
    let reports = work(&jobs, args, err)?;

    let stale = stale::find(args, &jobs);
    let summary = Summary::new(&reports, clock.elapsed());
    let document = json!({ "inputs": reports, "summary": summary.to_json(), "stale": stale });
    if args.form.json {
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", rendered(&reports))?;
    }
    if reports.len() > 1 && !args.form.quiet {
        writeln!(err, "feeler: {}", summary.text())?;
    }
    prune(&stale, args, err)?;
    let unmatched = expected.unmatched(&reports);
    for pattern in &unmatched {
        writeln!(
            err,
            "feeler: '{pattern}' is expected to fail, but no input that matches it fails; remove it from the \
             list"
        )?;
    }
    let unexpected = reports.iter().filter(|r| !r.ok && !expected.contains(&r.path)).count();
    let mut outcome = match (unexpected, reports.iter().any(|r| r.output.is_some())) {
        (0, _) if unmatched.is_empty() => CommandOutcome::Done,
        (0, _) | (_, true) => CommandOutcome::Partly,
        (_, false) => CommandOutcome::Nothing,
    };
    let page = if args.html.is_some() { html::page(&reports, &summary, args)? } else { String::new() };
    let files = [(&args.report, serde_json::to_vec_pretty(&document)?), (&args.html, page.into_bytes())];
    for (path, bytes) in files {
        let Some(path) = path else { continue };
        let written = whole::write_whole(path, &bytes);
        if let Err(e) = written.with_context(|| format!("{}: the report cannot be written", path.display())) {
            writeln!(err, "feeler: {e:#}")?;
            outcome = if outcome == CommandOutcome::Done { CommandOutcome::Partly } else { outcome };
        }
    }
    Ok(outcome)
}

/// Maximum number of outputs without inputs that are listed; a last line states the number of further
/// ones. Messages are long with a larger value; a smaller one hides files.
const MAX_SHOWN_STALE: usize = 20;

/// Deletes the `stale` outputs, whose inputs no longer exist, if there is `--prune`; otherwise lists
/// them.
fn prune(stale: &[PathBuf], args: &PreprocessArgs, err: &mut dyn Write) -> anyhow::Result<()> {
    if args.prune {
        for file in stale {
            std::fs::remove_file(file).with_context(|| format!("{}: cannot be removed", file.display()))?;
        }
    }
    if args.form.quiet || stale.is_empty() {
        return Ok(());
    }
    for file in stale.iter().take(MAX_SHOWN_STALE) {
        let what = if args.prune { "removed" } else { "stale" };
        writeln!(err, "feeler: {what}: {}, whose input no longer exists", file.display())?;
    }
    let n = stale.len();
    if n > MAX_SHOWN_STALE {
        writeln!(err, "feeler: and {} more", n - MAX_SHOWN_STALE)?;
    }
    if !args.prune {
        writeln!(err, "feeler: outputs whose input no longer exists: {n}; --prune deletes them")?;
    }
    Ok(())
}

/// Runs all jobs in parallel and returns their results. Messages and results are in the order of the
/// jobs for any number of threads.
fn work(jobs: &[Job], args: &PreprocessArgs, err: &mut dyn Write) -> anyhow::Result<Vec<Report>> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = args.jobs.map_or_else(cores, usize::from).min(jobs.len());
    let budget = args.memory.map(|mb| mb << 20).or_else(|| Some(gate::available_memory()? / 4 * 3));
    let gate = Gate::new(budget.unwrap_or(u64::MAX));
    let size = |j: &Job| feeler_step::unpacked_size(&j.input).unwrap_or(0);
    let sizes: Vec<u64> = jobs.iter().map(size).collect();
    let mut progress = Progress::new(&sizes, !args.form.quiet);
    let next = AtomicUsize::new(0);
    let mut reports: Vec<Report> = Vec::with_capacity(jobs.len());
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads {
            let (sender, next, gate, sizes) = (sender.clone(), &next, &gate, &sizes);
            let worker = move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(i) else { break };
                    let pass = gate.enter(sizes[i]);
                    let report = job_report(job, args);
                    drop(pass);
                    if sender.send((i, report)).is_err() {
                        break;
                    }
                }
            };
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, worker)
                .context("a thread cannot be started; use fewer --jobs")?;
        }
        drop(sender);
        let mut early = BTreeMap::new();
        for (i, report) in receiver {
            progress.done(sizes[i]);
            early.insert(i, report);
            while let Some(report) = early.remove(&reports.len()) {
                progress.suspend(|| write_messages(&report, args.form.quiet, err))?;
                reports.push(report);
            }
        }
        Ok(())
    })?;
    Ok(reports)
}

/// Writes the messages about one input.
fn write_messages(report: &Report, quiet: bool, err: &mut dyn Write) -> std::io::Result<()> {
    if let Some(e) = &report.error {
        writeln!(err, "feeler: {e}")?;
    }
    // The remarks were printed by the run that wrote the output.
    if quiet || report.unchanged {
        return Ok(());
    }
    // Remarks of severity `Error` are part of `report.error`.
    let groups = report.warning_groups.iter().filter(|g| g.severity != Severity::Error);
    for group in groups.clone().take(MAX_SHOWN_GROUPS) {
        writeln!(err, "feeler: {}: {}", report.path, group.summary())?;
    }
    let more: usize = groups.skip(MAX_SHOWN_GROUPS).map(|g| g.count).sum();
    if more > 0 {
        let all = report
            .output
            .as_ref()
            .map_or_else(String::new, |o| format!(" (`feeler inspect {o}` lists them)"));
        writeln!(err, "feeler: {}: {more} more remarks{all}", report.path)?;
    }
    Ok(())
}

fn rendered(reports: &[Report]) -> String {
    let rows: Vec<_> = reports
        .iter()
        .map(|r| {
            vec![
                r.path.clone(),
                r.result().to_owned(),
                r.solids.to_string(),
                r.instances.to_string(),
                r.faces.to_string(),
                r.bytes.to_string(),
                format!("{:.3}", r.wall_s),
                r.output.clone().unwrap_or_else(|| "-".into()),
            ]
        })
        .collect();
    table::render(&["input", "result", "solids", "instances", "faces", "bytes", "s", "output"], &rows)
}

fn job_report(job: &Job, args: &PreprocessArgs) -> Report {
    let clock = Instant::now();
    let path = job.input.display().to_string();
    let options =
        ReportOptions { flatness: args.flatness, open_shells: args.read.open_shells, unit: args.read.unit };
    let mut report = Report { path, options, ..Report::default() };
    let done = match &job.output {
        Ok(output) => {
            // A panic on one file, which would be a bug, does not end the run.
            let work = AssertUnwindSafe(|| prepare_one(&job.input, output, args, &mut report));
            catch_unwind(work).unwrap_or_else(|_| {
                let path = job.input.display();
                Err(anyhow::anyhow!(
                    "{path}: the preparation failed because of a bug; please report this file"
                ))
            })
        }
        Err(e) => Err(anyhow::anyhow!("{}: {e}", report.path)),
    };
    if let Err(e) = done {
        report.failed(format!("{e:#}"));
    }
    report.wall_s = clock.elapsed().as_secs_f64();
    report
}

/// Prepares one input, unless its output is up to date.
///
/// # Errors
/// The input cannot be prepared or the output cannot be written. No output was written then; the error
/// names the file.
fn prepare_one(
    input: &Path,
    output: &Path,
    args: &PreprocessArgs,
    report: &mut Report,
) -> anyhow::Result<()> {
    let options = Options { flatness: args.flatness };
    let bytes = import::read_input(input)?;
    report.input_hash = Some(format!("{:016x}", import::input_hash(&bytes)));
    let shown = Some(output.display().to_string());
    if !args.force
        && let Some((model, size)) = import::up_to_date(input, &bytes, output, &options, args.read.reading())
    {
        report.prepared(&model, size);
        (report.output, report.unchanged) = (shown, true);
        return Ok(());
    }
    let model = import::prepare_read(input, &bytes, &options, args.read.reading())?;
    if let Some(folder) = output.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    }
    let size = feeler_hierarchy::file::write_model(output, &model)?;
    report.prepared(&model, size);
    report.output = shown;
    Ok(())
}
