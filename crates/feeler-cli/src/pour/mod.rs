//! `feeler pour`: grains poured into walls from CAD.

mod plots;
mod progress;

use crate::args::{PourArgs as Arguments, SearchArg};
use crate::{CommandOutcome, interrupt, plot, table, thread_pool};
use anyhow::{Context as _, anyhow};
use feeler_hierarchy::whole::write_whole;
use feeler_pour::{
    Packing, PourError, PourRun, PourScene, PourSummary, SearchBounds, SearchCounts, StepDurations,
};
use feeler_view::markup::escape;
use feeler_view::page;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Schema version of the JSON document of `feeler pour`.
const SCHEMA: u32 = 1;

/// Work of this call of the program.
struct Work {
    /// Number of time steps.
    steps: u64,
    /// Duration (s) of the whole call.
    seconds: f64,
    /// Mean durations of the time steps; `None` if there were none.
    step: Option<StepDurations>,
    /// Counts of the search for contacts, if they are requested.
    search: Option<SearchCounts>,
}

pub(crate) fn run(
    args: &Arguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    if let Some(file) = &args.plot {
        plot::check_name(file)?;
    }
    let named = || args.scene.display().to_string();
    let mut report =
        |message: &str| if args.form.quiet { Ok(()) } else { writeln!(err, "feeler: {message}") };
    let scene = PourScene::load(&args.scene)?;
    for note in scene.notes() {
        report(note)?;
    }
    let name = args.scene.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let folder = args.scene.parent().unwrap_or(Path::new(""));
    let target = args.output.clone().unwrap_or_else(|| folder.join(&name));
    let pool = thread_pool(args.threads.threads)?;
    interrupt::ask_on_interrupt();
    let clock = Instant::now();
    let mut run = PourRun::open(&scene, &target, args.fresh).map_err(with_options).with_context(named)?;
    let from = run.row();
    if from > 0 {
        report(&format!("continues from {} s", run.time()))?;
    }
    if let Some(search) = args.count_searches {
        run.measure_search(match search {
            SearchArg::Used => SearchBounds::Used,
            SearchArg::All => SearchBounds::Ignored,
        });
    }
    let progress = interrupt::progress();
    let is_wanted = || interrupt::is_wanted() || progress.as_ref().is_some_and(|p| p.is_stopped());
    let rows = scene.times().rows;
    pool.install(|| simulate(&mut run, rows, args.form.quiet, &is_wanted)).with_context(named)?;
    if !run.is_finished() {
        let message = format!("interrupted at {} s; the same command continues from there", run.time());
        interrupt::end(err, &message)?;
    }
    write_pictures(args, &name, &scene, &run)?;
    let summary = run.summary();
    for source in summary.blocked_sources.iter().filter(|_| !args.form.quiet) {
        writeln!(err, "feeler: [[grains]] '{source}': the region has no space for all grains that are due")?;
    }
    let seconds = clock.elapsed().as_secs_f64();
    let steps = (run.row() - from) * scene.times().steps_of_row;
    let work = Work { steps, seconds, step: run.step_durations(), search: run.search_counts() };
    if args.form.json {
        serde_json::to_writer(&mut *out, &document(&summary, &scene, &target, &work))?;
        writeln!(out)?;
    } else {
        write_table(&summary, &scene, &target, &work, out)?;
    }
    Ok(CommandOutcome::Done)
}

/// Converts an error to a message that adds the command-line options with which the error can be
/// resolved.
fn with_options(error: PourError) -> anyhow::Error {
    match error {
        PourError::Checkpoint { .. } => anyhow!("{error} (--fresh starts over, -o DIR writes elsewhere)"),
        PourError::RunFile { .. } => anyhow!("{error} (--fresh starts over)"),
        PourError::Locked { .. } => anyhow!("{error} (-o DIR)"),
        _ => error.into(),
    }
}

/// Advances a run to its end. Once `is_wanted` returns true, because the end of the process is requested,
/// saves a checkpoint and returns earlier. `rows` is the number of rows in the time series of the complete
/// run; each call of `advance` adds one.
fn simulate(
    run: &mut PourRun<'_>,
    rows: u64,
    quiet: bool,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<()> {
    let bar = progress::bar(rows, run.row(), !quiet);
    while !run.is_finished() {
        run.advance()?;
        bar.set_message(format!("{:.4} s, {} grains", run.time(), run.particle_count()));
        bar.inc(1);
        if is_wanted() {
            run.save()?;
            break;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn write_pictures(args: &Arguments, name: &str, scene: &PourScene, run: &PourRun<'_>) -> anyhow::Result<()> {
    if args.plot.is_none() && args.html.is_none() {
        return Ok(());
    }
    let plot = plots::plot(&run.series().map_err(with_options)?, scene);
    if let Some(file) = &args.plot {
        let written = write_whole(file, plot.as_bytes());
        written.with_context(|| format!("{}: the plot cannot be written", file.display()))?;
    }
    if let Some(file) = &args.html {
        let body = format!("<h1>{}</h1>\n<div class=\"wide\">\n{plot}</div>\n", escape(name));
        let picture = run.animation(name).map_err(with_options)?;
        let written = write_whole(file, page::page(name, &body, Some(&picture))?.as_bytes());
        written.with_context(|| format!("{}: the page cannot be written", file.display()))?;
    }
    Ok(())
}

fn write_table(
    summary: &PourSummary,
    scene: &PourScene,
    folder: &Path,
    work: &Work,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let row = |name: &str, count: String, mass: f64| vec![name.to_owned(), count, format!("{mass:.6}")];
    let mut rows: Vec<Vec<String>> =
        summary.outflows.iter().map(|o| row(&o.name, o.count.to_string(), o.mass)).collect();
    rows.push(row("remaining", summary.count.to_string(), summary.mass));
    write!(out, "{}", table::render(&["left by", "grains", "kg"], &rows))?;
    if let Some(packing) = &summary.packing {
        write_packing(packing, out)?;
    }
    if let Some(StepDurations { contacts, step, .. }) = work.step.filter(|_| summary.packing.is_some()) {
        writeln!(out, "{:.4} ms per step, {:.4} ms of them for contacts", 1e3 * step, 1e3 * contacts)?;
    }
    let (steps, seconds, step) = (work.steps, work.seconds, scene.times().step);
    let end = if summary.has_settled { ", until the grains were at rest" } else { "" };
    let time = summary.time;
    writeln!(
        out,
        "{time} s in {steps} steps of {step:.3e} s ({seconds:.1} s){end}; written to {}",
        folder.display()
    )?;
    Ok(())
}

fn write_packing(packing: &Packing, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "packing: void ratio {:.4} ({} grains, {:.6} of {:.6} mm³), coordination number {:.3}, of walls \
         {:.3}",
        packing.void_ratio,
        packing.count,
        packing.particle_volume,
        packing.container_volume,
        packing.coordination,
        packing.wall_coordination
    )?;
    let [one, two, three, more] = packing.pairs_by_points;
    writeln!(out, "pairs with 1, 2, 3, 4 or more contact points: {one}, {two}, {three}, {more}")?;
    let [alone, two, three, four, five, more] = packing.mutual;
    writeln!(
        out,
        "grains in a group of 1, 2, 3, 4, 5, 6 or more mutually touching ones: {alone}, {two}, {three}, \
         {four}, {five}, {more}"
    )?;
    Ok(())
}

fn packing_document(packing: &Packing) -> Value {
    json!({
        "container_mm3": packing.container_volume, "grains": packing.count,
        "grains_mm3": packing.particle_volume, "void_ratio": packing.void_ratio,
        "coordination": packing.coordination, "wall_coordination": packing.wall_coordination,
        "pairs_by_points": packing.pairs_by_points, "mutual": packing.mutual,
    })
}

fn search_document(counts: SearchCounts) -> Value {
    let SearchCounts { excluded, tracked, searched, missed, .. } = counts;
    json!({ "excluded": excluded, "tracked": tracked, "searched": searched, "missed": missed })
}

fn document(summary: &PourSummary, scene: &PourScene, folder: &Path, work: &Work) -> Value {
    let left: Vec<Value> =
        summary.outflows.iter().map(|o| json!({ "name": o.name, "grains": o.count, "kg": o.mass })).collect();
    json!({
        "schema": SCHEMA, "unit": "mm", "folder": folder.display().to_string(),
        "end_s": summary.time, "step_s": scene.times().step, "steps": work.steps, "wall_s": work.seconds,
        "grains": summary.count, "kg": summary.mass, "left": left,
        "kinetic_uJ": summary.kinetic_energy, "potential_uJ": summary.potential_energy,
        "settled": summary.has_settled, "packing": summary.packing.as_ref().map(packing_document),
        "step_wall_s": work.step.map(|s| s.step), "contacts_wall_s": work.step.map(|s| s.contacts),
        "search": work.search.map(search_document),
    })
}
