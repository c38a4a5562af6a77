//! `feeler preprocess`: files and folders, several at a time, each on its own.

mod gate;
mod plan;
mod progress;

use crate::args::Preprocess;
use crate::{Outcome, interrupt, table};
use anyhow::{Context as _, ensure};
use feeler_hierarchy::{Model, Options, whole};
use feeler_import as import;
use gate::Gate;
use plan::Job;
use progress::Progress;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Warnings of one input that are shown; the rest is counted.
const SHOWN_WARNINGS: usize = 5;
/// Stack of a worker: deeply nested input must not end the whole batch.
const STACK: usize = 64 << 20;

/// What became of one input: docs/INTERFACE.md, "preprocess".
#[derive(Debug, Default, Serialize)]
struct Report {
    path: String,
    ok: bool,
    /// The output was there already, made from the same bytes with the same options by the same program.
    unchanged: bool,
    output: Option<String>,
    solids: usize,
    instances: usize,
    faces: u64,
    bytes: u64,
    warnings: Vec<String>,
    error: Option<String>,
    wall_s: f64,
}

impl Report {
    fn verdict(&self) -> &'static str {
        match (self.ok, self.unchanged, &self.output) {
            (true, true, _) => "unchanged",
            (true, false, _) => "ok",
            (false, _, Some(_)) => "partly",
            (false, _, None) => "failed",
        }
    }
}

pub(crate) fn run(args: &Preprocess, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    let clock = Instant::now();
    if let Some(report) = &args.report {
        let folder = report.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: no such folder for the report", folder.display());
        ensure!(!report.is_dir(), "{}: is a folder; --report takes a file", report.display());
    }
    let jobs = plan::plan(args)?;
    interrupt::tidy_up_on_interrupt();
    let folders: BTreeSet<_> = jobs.iter().filter_map(|j| j.output.as_ref().ok()?.parent()).collect();
    for folder in folders {
        whole::remove_stale(folder);
    }
    let reports = work(&jobs, args, err)?;

    let summary = Summary::new(&reports, clock.elapsed());
    let document = json!({ "inputs": reports, "summary": summary.to_json() });
    if args.json {
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", rendered(&reports))?;
    }
    if reports.len() > 1 && !args.quiet {
        writeln!(err, "feeler: {}", summary.in_words())?;
    }
    let mut outcome = match (summary.failed, reports.iter().any(|r| r.output.is_some())) {
        (0, _) => Outcome::Done,
        (_, true) => Outcome::Partly,
        (_, false) => Outcome::Nothing,
    };
    if let Some(path) = &args.report {
        let written = serde_json::to_vec_pretty(&document)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| Ok(whole::write_whole(path, &bytes)?))
            .with_context(|| format!("{}: the report", path.display()));
        if let Err(e) = written {
            writeln!(err, "feeler: {e:#}")?;
            outcome = if outcome == Outcome::Done { Outcome::Partly } else { outcome };
        }
    }
    Ok(outcome)
}

/// Works on all jobs and tells about each, in their order whatever the number of threads.
fn work(jobs: &[Job], args: &Preprocess, err: &mut dyn Write) -> anyhow::Result<Vec<Report>> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = args.jobs.map_or_else(cores, usize::from).min(jobs.len());
    let budget = args.memory.map(|mb| mb << 20).or_else(|| Some(gate::available_memory()? / 4 * 3));
    let gate = Gate::new(budget.unwrap_or(u64::MAX));
    let size = |j: &Job| feeler_step::unpacked_size(&j.input).unwrap_or(0);
    let sizes: Vec<u64> = jobs.iter().map(size).collect();
    let mut progress = Progress::new(&sizes, !args.quiet);
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
                .context("no more threads; use fewer --jobs")?;
        }
        drop(sender);
        let mut early = BTreeMap::new();
        for (i, report) in receiver {
            progress.done(sizes[i]);
            early.insert(i, report);
            while let Some(report) = early.remove(&reports.len()) {
                progress.aside(|| tell(&report, args.quiet, err))?;
                reports.push(report);
            }
        }
        Ok(())
    })?;
    Ok(reports)
}

/// Messages about one input.
fn tell(report: &Report, quiet: bool, err: &mut dyn Write) -> std::io::Result<()> {
    if let Some(e) = &report.error {
        writeln!(err, "feeler: {e}")?;
    }
    // What was said when it was prepared is not said again.
    if quiet || report.unchanged {
        return Ok(());
    }
    for w in report.warnings.iter().take(SHOWN_WARNINGS) {
        writeln!(err, "feeler: {}: warning: {w}", report.path)?;
    }
    let more = report.warnings.len().saturating_sub(SHOWN_WARNINGS);
    if more > 0 {
        let all = report
            .output
            .as_ref()
            .map_or_else(String::new, |o| format!(" (`feeler inspect {o}` lists them)"));
        writeln!(err, "feeler: {}: {more} more warnings{all}", report.path)?;
    }
    Ok(())
}

fn rendered(reports: &[Report]) -> String {
    let rows: Vec<_> = reports
        .iter()
        .map(|r| {
            vec![
                r.path.clone(),
                r.verdict().to_owned(),
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

fn job_report(job: &Job, args: &Preprocess) -> Report {
    let clock = Instant::now();
    let path = job.input.display().to_string();
    let done = match &job.output {
        Ok(output) => {
            // Nothing is meant to panic. Should something do so on some file, the others go on.
            catch_unwind(AssertUnwindSafe(|| prepare_one(&job.input, output, args))).unwrap_or_else(|_| {
                Err(anyhow::anyhow!("{path}: preparing it failed unexpectedly; please report this file"))
            })
        }
        Err(e) => Err(anyhow::anyhow!("{path}: {e}")),
    };
    let mut report = done.unwrap_or_else(|e| Report { error: Some(format!("{e:#}")), ..Report::default() });
    report.wall_s = clock.elapsed().as_secs_f64();
    report.path = path;
    report
}

/// # Errors
/// No output was written, and why; with the file's name.
fn prepare_one(input: &Path, output: &Path, args: &Preprocess) -> anyhow::Result<Report> {
    let options = Options { flatness: args.flatness };
    let bytes = import::read_input(input)?;
    if !args.force
        && let Some((model, size)) = import::up_to_date(input, &bytes, output, &options, args.open_shells)
    {
        return Ok(Report { unchanged: true, ..report(input, output, &model, size) });
    }
    let model = import::prepare_read(input, &bytes, &options, args.open_shells)?.model;
    if let Some(folder) = output.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{}: the folder cannot be made", folder.display()))?;
    }
    let size = feeler_hierarchy::file::write_model(output, &model)?;
    Ok(report(input, output, &model, size))
}

fn report(input: &Path, output: &Path, model: &Model, bytes: u64) -> Report {
    let left_out = &model.origin.left_out;
    let error = (!left_out.is_empty()).then(|| format!("{}: {}", input.display(), left_out.join("; ")));
    Report {
        ok: left_out.is_empty(),
        output: Some(output.display().to_string()),
        solids: model.solids.len(),
        instances: model.instances.len(),
        faces: model.solids.iter().map(|s| u64::from(s.info.source_counts[0])).sum(),
        bytes,
        warnings: model.warnings.clone(),
        error,
        ..Report::default()
    }
}

/// The whole run.
struct Summary {
    inputs: usize,
    prepared: usize,
    unchanged: usize,
    failed: usize,
    wall: Duration,
    peak_memory: Option<u64>,
}

impl Summary {
    fn new(reports: &[Report], wall: Duration) -> Self {
        let count = |f: fn(&Report) -> bool| reports.iter().filter(|r| f(r)).count();
        Self {
            inputs: reports.len(),
            prepared: count(|r| r.ok && !r.unchanged),
            unchanged: count(|r| r.ok && r.unchanged),
            failed: count(|r| !r.ok),
            wall,
            peak_memory: gate::peak_memory(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts in a report")]
    fn rate(&self) -> f64 {
        self.inputs as f64 / self.wall.as_secs_f64().max(1e-9)
    }

    fn to_json(&self) -> Value {
        json!({
            "inputs": self.inputs,
            "prepared": self.prepared,
            "unchanged": self.unchanged,
            "failed": self.failed,
            "wall_s": self.wall.as_secs_f64(),
            "inputs_per_s": self.rate(),
            "peak_memory_bytes": self.peak_memory,
        })
    }

    fn in_words(&self) -> String {
        let memory = self
            .peak_memory
            .map_or_else(String::new, |b| format!("; peak memory {} MiB", b.div_ceil(1 << 20)));
        format!(
            "{} inputs: {} prepared, {} unchanged, {} failed; {:.1} s, {:.1} inputs/s{memory}",
            self.inputs,
            self.prepared,
            self.unchanged,
            self.failed,
            self.wall.as_secs_f64(),
            self.rate()
        )
    }
}
