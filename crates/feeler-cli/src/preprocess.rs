//! `feeler preprocess`.

use crate::args::Preprocess;
use crate::import;
use crate::{Outcome, table};
use anyhow::{bail, ensure};
use feeler_hierarchy::Options;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// What became of one input (INTERFACE, `preprocess --json`).
#[derive(Debug, Serialize)]
struct Report {
    path: String,
    ok: bool,
    output: Option<String>,
    solids: usize,
    instances: usize,
    faces: u64,
    bytes: u64,
    warnings: Vec<String>,
    error: Option<String>,
    wall_s: f64,
}

pub(crate) fn run(args: &Preprocess, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    let outputs = plan_outputs(args)?;
    let options = Options { flatness: args.flatness };
    let jobs = args
        .jobs
        .map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from);
    let next = AtomicUsize::new(0);
    let mut reports: Vec<Option<Report>> = args.inputs.iter().map(|_| None).collect();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..jobs.min(args.inputs.len()) {
            let (sender, next, outputs) = (sender.clone(), &next, &outputs);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = args.inputs.get(i) else { break };
                    if sender.send((i, prepare_one(input, &outputs[i], &options))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (i, report) in receiver {
            if let Some(e) = &report.error {
                writeln!(err, "feeler: {e}")?;
            }
            if !args.quiet {
                for w in &report.warnings {
                    writeln!(err, "feeler: {}: warning: {w}", report.path)?;
                }
            }
            reports[i] = Some(report);
        }
        Ok(())
    })?;
    let reports: Vec<Report> = reports.into_iter().flatten().collect();
    if args.json {
        serde_json::to_writer(&mut *out, &serde_json::json!({ "inputs": reports }))?;
        writeln!(out)?;
    } else {
        let rows: Vec<_> = reports
            .iter()
            .map(|r| {
                vec![
                    r.path.clone(),
                    if r.ok {
                        "ok"
                    } else if r.output.is_some() {
                        "partly"
                    } else {
                        "failed"
                    }
                    .into(),
                    r.solids.to_string(),
                    r.instances.to_string(),
                    r.faces.to_string(),
                    r.bytes.to_string(),
                    format!("{:.3}", r.wall_s),
                    r.output.clone().unwrap_or_else(|| "-".into()),
                ]
            })
            .collect();
        write!(
            out,
            "{}",
            table::render(
                &["input", "result", "solids", "instances", "faces", "bytes", "s", "output"],
                &rows
            )
        )?;
    }
    Ok(if reports.iter().all(|r| r.ok) {
        Outcome::Done
    } else if reports.iter().any(|r| r.output.is_some()) {
        Outcome::Partly
    } else {
        Outcome::Nothing
    })
}

/// Where each input's result goes; refuses plans in which two inputs would write the same file.
fn plan_outputs(args: &Preprocess) -> anyhow::Result<Vec<PathBuf>> {
    let beside = |input: &Path| input.with_extension("feeler");
    let outputs: Vec<PathBuf> = match &args.output {
        None => args.inputs.iter().map(|i| beside(i)).collect(),
        Some(o) => {
            let is_dir = o.is_dir() || o.as_os_str().to_string_lossy().ends_with(['/', '\\']);
            if is_dir {
                ensure!(o.is_dir(), "{}: no such folder; make it first", o.display());
                args.inputs
                    .iter()
                    .map(|i| o.join(i.with_extension("feeler").file_name().unwrap_or_default()))
                    .collect()
            } else {
                ensure!(
                    args.inputs.len() == 1,
                    "{}: with several inputs, -o must name a folder",
                    o.display()
                );
                vec![o.clone()]
            }
        }
    };
    for (i, a) in outputs.iter().enumerate() {
        if let Some(j) = outputs[..i].iter().position(|b| a == b) {
            bail!(
                "{} and {} would both be written to {}; give them different names or folders",
                args.inputs[j].display(),
                args.inputs[i].display(),
                a.display()
            );
        }
        if args.inputs.iter().any(|input| input == a) {
            bail!("{}: would overwrite an input; choose another output with -o", a.display());
        }
    }
    Ok(outputs)
}

fn prepare_one(input: &Path, output: &Path, options: &Options) -> Report {
    let clock = Instant::now();
    let mut report = Report {
        path: input.display().to_string(),
        ok: false,
        output: None,
        solids: 0,
        instances: 0,
        faces: 0,
        bytes: 0,
        warnings: Vec::new(),
        error: None,
        wall_s: 0.0,
    };
    match import::prepare_step(input, options) {
        Ok(prepared) => {
            let model = &prepared.model;
            report.solids = model.solids.len();
            report.instances = model.instances.len();
            report.faces = model.solids.iter().map(|s| u64::from(s.info.source_counts[0])).sum();
            report.warnings.clone_from(&model.warnings);
            match feeler_hierarchy::file::write_model(output, model) {
                Ok(bytes) => {
                    report.bytes = bytes;
                    report.output = Some(output.display().to_string());
                    report.ok = prepared.refused.is_empty();
                    if !report.ok {
                        report.error = Some(format!("{}: {}", report.path, prepared.refused.join("; ")));
                    }
                }
                Err(e) => report.error = Some(format!("{}: cannot be written: {e}", output.display())),
            }
        }
        Err(e) => report.error = Some(format!("{e:#}")),
    }
    report.wall_s = clock.elapsed().as_secs_f64();
    report
}
