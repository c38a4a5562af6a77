//! `feeler tessellate`: cells fitted to the grains of a voxel image.

mod html;

use crate::args::TessellateArgs as Arguments;
use crate::{CommandOutcome, interrupt, page, table, thread_pool};
use anyhow::{Context as _, anyhow};
use feeler_geom::V3;
use feeler_hierarchy::whole::write_whole;
use feeler_tessellation::{
    ByteOrder, CellKind, CellMesh, CellValues, Fit, FitMethod, FitOptions, FitStage, FitState, Grains,
    Neighbour, Polyhedra, RawLayout, Regularisation, SiteIndex, Tessellation, VoxelImage, rand_index,
    tessellate,
};
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Schema version of the JSON document of `feeler tessellate`.
const SCHEMA: u32 = 1;

/// Output format of a file of cells.
#[derive(Clone, Copy)]
enum Format {
    Vtu,
    Stl,
    Geo,
}

/// Result of a fit.
struct Outcome {
    state: FitState,
    cells: Tessellation,
    /// Rand index of the cells' labels and those of the image.
    rand_index: f64,
    regularisation: Option<Regularisation>,
    seconds: f64,
}

pub(crate) fn run(
    args: &Arguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    let formats: Vec<Format> = args.output.iter().map(|p| format_of(p)).collect::<anyhow::Result<_>>()?;
    page::check_folders([&args.html])?;
    let pool = thread_pool(args.threads.threads)?;
    let order = if args.big_endian { ByteOrder::Big } else { ByteOrder::Little };
    let layout = args.size.map(|size| RawLayout { size, voxel_type: args.voxel_type, order });
    let clock = Instant::now();
    let mut image = VoxelImage::load(&args.image, layout.as_ref())?;
    if let Some(spacing) = args.spacing {
        image.spacing = V3::from(spacing);
    }
    let named = || args.image.display().to_string();
    let grains = Grains::new(&image, args.periodic.0).with_context(named)?;
    let options = FitOptions {
        kind: if args.voronoi { CellKind::Voronoi } else { CellKind::Laguerre },
        method: if args.derivative_free { FitMethod::Simplex } else { FitMethod::Gradient },
        tolerance: args.tolerance,
        max_iterations: args.max_iterations,
        ..FitOptions::default()
    };
    interrupt::ask_on_interrupt();
    let progress = interrupt::progress();
    let is_wanted = || interrupt::is_wanted() || progress.as_ref().is_some_and(|p| p.is_stopped());
    let (state, interruption) =
        pool.install(|| fit(args, &grains, options, &is_wanted)).with_context(named)?;
    if let Some(message) = interruption {
        interrupt::end(err, &message)?;
    }
    let mut outcome = pool.install(|| evaluate(&image, &grains, state)).with_context(named)?;
    let mut mesh = CellMesh::new(&outcome.cells);
    let before = args.min_edge.filter(|_| args.html.is_some()).map(|_| mesh.clone());
    outcome.regularisation = args.min_edge.map(|length| mesh.regularise(length));
    let polyhedra = mesh.polyhedra(&image.origin.coords);
    for (path, format) in args.output.iter().zip(formats) {
        let text = match format {
            Format::Vtu => polyhedra.to_vtu(&values(&grains, &outcome.cells, &polyhedra)),
            Format::Stl => polyhedra.to_stl(&grains.labels),
            Format::Geo => polyhedra.to_geo(&grains.labels),
        };
        let written = write_whole(path, text.as_bytes());
        written.with_context(|| format!("{}: the cells cannot be written", path.display()))?;
    }
    if let Some(path) = &args.html {
        let content = html::Content {
            title: &args.image.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            grains: &grains,
            outcome: &outcome,
            origin: image.origin.coords,
            before: before.as_ref(),
            mesh: &mesh,
            min_edge: args.min_edge,
        };
        let written = write_whole(path, html::page(&content)?.as_bytes());
        written.with_context(|| format!("{}: the page cannot be written", path.display()))?;
    }
    outcome.seconds = clock.elapsed().as_secs_f64();
    let empty = outcome.cells.cells.iter().filter(|c| c.is_none()).count();
    if !args.form.quiet {
        if outcome.state.stage != FitStage::Converged {
            writeln!(
                err,
                "feeler: not converged after {} iterations (--max-iterations)",
                options.max_iterations
            )?;
        }
        if empty > 0 {
            writeln!(err, "feeler: {empty} grains have no cell: their voxels are not in one convex region")?;
        }
    }
    if args.form.json {
        serde_json::to_writer(&mut *out, &document(&image, &grains, &outcome))?;
        writeln!(out)?;
    } else {
        write_table(&grains, &outcome, out)?;
    }
    let is_complete = outcome.state.stage == FitStage::Converged && empty == 0;
    Ok(if is_complete { CommandOutcome::Done } else { CommandOutcome::Partly })
}

fn format_of(path: &Path) -> anyhow::Result<Format> {
    let extension = path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
    match extension.as_str() {
        "vtu" => Ok(Format::Vtu),
        "stl" => Ok(Format::Stl),
        "geo" => Ok(Format::Geo),
        _ => Err(anyhow!(
            "{}: the format is not known; give a name that ends in .vtu, .stl or .geo",
            path.display()
        )),
    }
}

/// Runs the fit to its end. If `is_wanted` requests an earlier end, ends it after the iteration and returns a
/// message.
fn fit(
    args: &Arguments,
    grains: &Grains,
    options: FitOptions,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<(FitState, Option<String>)> {
    let saved = match &args.checkpoint {
        Some(path) => FitState::load(path, grains, &options)?,
        None => None,
    };
    let mut fit = Fit::new(grains, options)?;
    if let Some(state) = saved {
        fit = fit.resume(state)?;
    }
    let bar = if !args.form.quiet && std::io::stderr().is_terminal() {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    while !fit.is_finished() {
        fit.advance()?;
        let state = fit.state();
        let rms = state.objective * grains.mean_diameter() / grains.voxel_edge;
        bar.set_message(format!("iteration {}, distance {rms:.2e} voxels", state.iterations));
        if let Some(path) = &args.checkpoint {
            state.save(path, grains, &options)?;
        }
        if is_wanted() && !fit.is_finished() {
            bar.finish_and_clear();
            let remedy = match &args.checkpoint {
                Some(_) => "the same command continues from there",
                None => "--checkpoint FILE would have saved them",
            };
            let message = format!("interrupted after {} iterations; {remedy}", fit.state().iterations);
            return Ok((fit.state().clone(), Some(message)));
        }
    }
    bar.finish_and_clear();
    Ok((fit.state().clone(), None))
}

fn evaluate(image: &VoxelImage, grains: &Grains, state: FitState) -> anyhow::Result<Outcome> {
    let cells = tessellate(&grains.domain, &state.sites())?;
    let redrawn = VoxelImage::of_tessellation(&SiteIndex::new(&cells.domain, &cells.sites)?, image.size);
    let rand_index = rand_index(&image.labels, &redrawn.labels);
    Ok(Outcome { state, cells, rand_index, regularisation: None, seconds: 0.0 })
}

fn values(grains: &Grains, cells: &Tessellation, polyhedra: &Polyhedra) -> Vec<CellValues> {
    let each = grains.labels.iter().zip(&cells.sites).enumerate();
    each.map(|(k, (label, site))| CellValues {
        label: *label,
        weight: site.weight,
        volume: polyhedra.volume_and_centroid(k).0,
    })
    .collect()
}

/// Returns the root mean square of the distances of boundary voxels to their cells, in voxels.
fn rms_voxels(grains: &Grains, state: &FitState) -> f64 {
    state.objective * grains.mean_diameter() / grains.voxel_edge
}

fn write_table(grains: &Grains, outcome: &Outcome, out: &mut dyn Write) -> anyhow::Result<()> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let state = &outcome.state;
    let voxels: usize = grains.voxels.iter().sum();
    let mut rows = vec![
        row("grains", grains.labels.len().to_string()),
        row("voxels", voxels.to_string()),
        row("boundary voxels", grains.boundary_count().to_string()),
        row("distance of boundary voxels (rms, voxels)", format!("{:.3e}", rms_voxels(grains, state))),
        row("Rand index", format!("{:.6}", outcome.rand_index)),
    ];
    if let Some(r) = &outcome.regularisation {
        rows.push(row("shortest edge before", format!("{:.3e}", r.min_edge_before)));
        rows.push(row("shortest edge", format!("{:.3e}", r.min_edge_after)));
        rows.push(row("merged edges", r.merged.to_string()));
        rows.push(row("short edges that remain", r.remaining.to_string()));
    }
    write!(out, "{}", table::render(&["", ""], &rows))?;
    writeln!(out, "{} iterations ({:.1} s)", state.iterations, outcome.seconds)?;
    Ok(())
}

fn document(image: &VoxelImage, grains: &Grains, outcome: &Outcome) -> Value {
    let (state, tessellation) = (&outcome.state, &outcome.cells);
    let cells: Vec<Value> = (0..grains.labels.len())
        .map(|k| {
            let site = tessellation.sites[k];
            let seed = (site.position + image.origin.coords).coords;
            let cell = tessellation.cells[k].as_ref();
            let neighbours: BTreeSet<u32> = cell
                .iter()
                .flat_map(|c| &c.faces)
                .filter_map(|f| match f.neighbour {
                    Neighbour::Cell { index, .. } => Some(grains.labels[index as usize]),
                    Neighbour::Wall { .. } => None,
                })
                .collect();
            json!({
                "label": grains.labels[k],
                "seed": seed.as_slice(),
                "weight": site.weight,
                "voxels": grains.voxels[k],
                "volume_voxels": cell.map_or(0.0, |c| c.volume / grains.voxel_volume),
                "neighbours": neighbours,
            })
        })
        .collect();
    let regularisation = outcome.regularisation.map(|r| {
        json!({
            "shortest_edge_before": r.min_edge_before, "shortest_edge": r.min_edge_after, "merged": r.merged,
            "remaining": r.remaining, "vanished_faces": r.vanished_faces,
            "max_volume_change": r.max_volume_change,
        })
    });
    json!({
        "schema": SCHEMA,
        "converged": state.stage == FitStage::Converged,
        "iterations": state.iterations,
        "objective": state.objective,
        "rms_voxels": rms_voxels(grains, state),
        "rand_index": outcome.rand_index,
        "history": state.history,
        "spacing": image.spacing.as_slice(),
        "regularisation": regularisation,
        "cells": cells,
        "wall_s": outcome.seconds,
    })
}
