//! `feeler pour`: grains poured into walls from CAD.
//!
//! Everything that is written is written at rows: moments that are a whole number of steps apart. A
//! checkpoint knows how much was written until then; a run that goes on takes back the rest.

mod checkpoint;
mod files;
mod picture;
mod plan;
mod progress;
mod scene;
mod series;
mod shape;
mod vtk;
mod walls;
mod world;

use crate::args::Pour as Arguments;
use crate::{Outcome, interrupt, table};
use anyhow::{Context as _, ensure};
use checkpoint::Checkpoint;
use feeler_geom::V3;
use feeler_hierarchy::whole::write_whole;
use feeler_import::input_hash;
use feeler_particles::{Law, Settings, Wall};
use files::Files;
use plan::Times;
use scene::{Scene, WrittenShape};
use serde_json::{Value, json};
use shape::ScaledShape;
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use world::{Setting, World};

pub(crate) fn run(args: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    if let Some(file) = &args.plot {
        let is_svg = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        ensure!(is_svg, "{}: plots are SVG; give a name that ends with .svg", file.display());
    }
    let named = || args.scene.display().to_string();
    let text = std::fs::read_to_string(&args.scene).with_context(|| format!("{}: cannot read", named()))?;
    let scene = scene::read(&text).with_context(named)?;
    let folder = args.scene.parent().unwrap_or(Path::new(""));
    let mut tell = |message: &str| if args.quiet { Ok(()) } else { writeln!(err, "feeler: {message}") };
    let hash = hash(&text, &scene, folder).with_context(named)?;
    let (setting, note) = setting(&scene, folder, &mut tell).with_context(named)?;
    if let Some(note) = note {
        tell(&note)?;
    }
    let name = args.scene.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let target = args.output.clone().unwrap_or_else(|| folder.join(&name));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(args.threads.unwrap_or(0)));
    let pool = pool.build().context("cannot start the threads of --threads")?;
    interrupt::ask_on_interrupt();
    let clock = Instant::now();
    let mut world = World::new(&setting).with_context(named)?;
    let known = if args.fresh { None } else { checkpoint::read(&files::checkpoint(&target), hash)? };
    if known.is_none() {
        // Before anything is written: it may not fit.
        world.fill().with_context(named)?;
    }
    let mut files = Files::open(&target)?;
    let begun = begin(known, &mut world, &mut files, hash).with_context(named)?;
    let from = begun.row;
    if from > 0 {
        tell(&format!("goes on at {} s", time(&setting.times, from)))?;
    }
    let ended = pool.install(|| simulate(&mut world, &mut files, begun, args.quiet)).with_context(named)?;
    if ended < setting.times.rows {
        let at = time(&setting.times, ended);
        interrupt::end(err, &format!("interrupted at {at} s; the same command goes on from there"));
    }
    pictures(args, &name, &setting, &files)?;
    for (group, source) in setting.groups.iter().zip(&world.sources).filter(|(g, _)| g.source.is_some()) {
        if source.next != 0 && !args.quiet {
            writeln!(err, "feeler: [[grains]] '{}': there was no room for all that were due", group.name)?;
        }
    }
    let seconds = clock.elapsed().as_secs_f64();
    let steps = (ended - from) * setting.times.steps_of_row;
    if args.json {
        serde_json::to_writer(&mut *out, &document(&world, &target, steps, seconds))?;
        writeln!(out)?;
    } else {
        summary(&world, &target, steps, seconds, out)?;
    }
    Ok(Outcome::Done)
}

/// Of the scene, of what it names, and of this program.
fn hash(text: &str, scene: &Scene, folder: &Path) -> anyhow::Result<u64> {
    let mut all = format!("{}\n{text}", env!("CARGO_PKG_VERSION")).into_bytes();
    let of_walls = scene.walls.iter().filter_map(|w| w.file.as_ref().map(|f| ("[[wall]]", f)));
    let of_grains = scene.groups.iter().filter_map(|g| match &g.shape {
        Some(WrittenShape::Solid { file, .. }) => Some(("[[grains]] shape: solid", file)),
        _ => None,
    });
    for (what, file) in of_walls.chain(of_grains) {
        let path = folder.join(file);
        let bytes = std::fs::read(&path).with_context(|| {
            format!("{what}: file: {}: cannot read it; paths begin at the scene's folder", path.display())
        })?;
        all.extend(input_hash(&bytes).to_le_bytes());
    }
    Ok(input_hash(&all))
}

fn setting(
    scene: &Scene,
    folder: &Path,
    tell: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<(Setting, Option<String>)> {
    let between = scene.law(scene.between.as_deref()).context("between")?;
    let groups = plan::groups(scene, folder)?;
    let outlets = plan::outlets(scene)?;
    let walls = walls::read(scene, folder, tell)?;
    let solids = groups.iter().find(|g| g.shape.scaled.as_ref().is_some_and(ScaledShape::is_solid));
    let facets = walls.iter().find(|p| matches!(p.wall, Wall::Facets(_)));
    if let (Some(group), Some(wall)) = (solids, facets) {
        anyhow::bail!(
            "[[wall]] '{}': grains '{}' are solids, which meet no triangles; leave chord out, or of an STL \
             file add solid = true",
            wall.name,
            group.name
        );
    }
    let domain = plan::domain(scene, &walls::bounds(&walls))?;
    // As fast as grains can fall, or walls hit them.
    let height = domain.diagonal();
    let fallen = (2.0 * V3::from(scene.gravity).norm() * height).sqrt();
    let thrown = groups.iter().map(|g| g.velocity.norm()).fold(0.0, f64::max);
    let moved = walls.iter().map(|p| p.schedule.speed(height)).fold(0.0, f64::max);
    let laws: Vec<Law> = walls.iter().map(|p| p.law).collect();
    let speed = (fallen + thrown + moved).max(LEAST_SPEED);
    let contact = plan::shortest_contact(&groups, &between, &laws, speed);
    let (times, note) = plan::times(scene, contact)?;
    let names: Vec<&str> =
        outlets.iter().map(|o| o.name.as_str()).chain(walls.iter().map(|p| p.name.as_str())).collect();
    for (k, name) in names.iter().enumerate() {
        let is_new = *name != series::LOST && !names[..k].contains(name);
        ensure!(is_new, "name: '{name}' is taken; walls and outlets need names of their own");
    }
    let settings = Settings { gravity: scene.gravity.into(), between: Some(between) };
    Ok((Setting { settings, groups, walls, outlets, domain, times }, note))
}

/// mm/s: where nothing moves.
const LEAST_SPEED: f64 = 1.0;

/// Goes on from the checkpoint, or writes what is there at the beginning.
fn begin(
    known: Option<(Checkpoint, Vec<u8>)>,
    world: &mut World<'_>,
    files: &mut Files,
    hash: u64,
) -> anyhow::Result<Checkpoint> {
    let times = world.setting.times;
    if let Some((known, state)) = known {
        for (group, radius) in &known.particles {
            world.add_restored(*group, f64::from_bits(*radius))?;
        }
        world.simulation.restore(&state)?;
        let counts = (known.sources.len(), known.left.len());
        ensure!(
            counts == (world.sources.len(), world.left.len()),
            "the checkpoint has other sources and outlets"
        );
        world.sources.clone_from(&known.sources);
        world.left = known.left.iter().map(|(n, m)| (*n, f64::from_bits(*m))).collect();
        files.go_on(known.series, known.row / times.rows_of_frame + 1)?;
        return Ok(known);
    }
    files.begin(world.setting)?;
    let loads = world.mean_loads();
    let before: Vec<f64> = world.left.iter().map(|l| l.1).collect();
    files.row(&series::row(world, 0.0, &before, &loads))?;
    files.add_frame(world)?;
    let checkpoint = Checkpoint { scene: hash, ..Checkpoint::default() };
    save(checkpoint, 0, world, files)
}

/// Writes a checkpoint.
fn save(
    mut checkpoint: Checkpoint,
    row: u64,
    world: &World<'_>,
    files: &Files,
) -> anyhow::Result<Checkpoint> {
    checkpoint.row = row;
    checkpoint.series = files.settled()?;
    checkpoint.sources.clone_from(&world.sources);
    checkpoint.particles = world.particles.iter().map(|(g, r)| (*g, r.to_bits())).collect();
    checkpoint.left = world.left.iter().map(|(n, m)| (*n, m.to_bits())).collect();
    files
        .list(world.setting, |frame| time(&world.setting.times, frame * world.setting.times.rows_of_frame))?;
    checkpoint::write(&files.checkpoint(), &checkpoint, &world.simulation.save())?;
    Ok(checkpoint)
}

/// Goes on until the end, or until somebody wants it to; the row where it has ended.
fn simulate(
    world: &mut World<'_>,
    files: &mut Files,
    mut checkpoint: Checkpoint,
    quiet: bool,
) -> anyhow::Result<u64> {
    let times = world.setting.times;
    let bar = progress::bar(times.rows, checkpoint.row, !quiet);
    for row in checkpoint.row + 1..=times.rows {
        let before: Vec<f64> = world.left.iter().map(|l| l.1).collect();
        for _ in 0..times.steps_of_row {
            world.step().with_context(|| format!("after {} s", world.simulation.time()))?;
        }
        let loads = world.mean_loads();
        files.row(&series::row(world, time(&times, row), &before, &loads))?;
        if row % times.rows_of_frame == 0 {
            files.add_frame(world)?;
        }
        let is_last = row == times.rows || interrupt::is_wanted();
        if is_last || row % times.rows_of_checkpoint == 0 {
            checkpoint = save(checkpoint, row, world, files)?;
        }
        bar.set_message(format!("{:.4} s, {} grains", time(&times, row), world.simulation.present_count()));
        bar.inc(1);
        if is_last {
            bar.finish_and_clear();
            return Ok(row);
        }
    }
    bar.finish_and_clear();
    Ok(times.rows)
}

/// When a row is (s): a number that reads well, not the sum of all steps.
fn time(times: &Times, row: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
    let time = row as f64 * (times.step * times.steps_of_row as f64);
    let rounded = format!("{time:.12e}");
    rounded.parse().unwrap_or(time)
}

fn pictures(args: &Arguments, name: &str, setting: &Setting, files: &Files) -> anyhow::Result<()> {
    if args.plot.is_none() && args.html.is_none() {
        return Ok(());
    }
    let columns = picture::Columns::read(&files.series())?;
    if let Some(file) = &args.plot {
        write_whole(file, picture::plot(&columns, setting).as_bytes())
            .with_context(|| format!("{}: cannot write the plot", file.display()))?;
    }
    if let Some(file) = &args.html {
        let times = &setting.times;
        let frames = picture::chosen(files, times.rows / times.rows_of_frame + 1)?;
        let pose = |wall: usize, frame: u64| {
            let wall = &setting.walls[wall];
            wall.schedule.pose_at(wall.wall.pose(), time(times, frame * times.rows_of_frame))
        };
        write_whole(file, picture::page(name, setting, files, &frames, &columns, pose)?.as_bytes())
            .with_context(|| format!("{}: cannot write the page", file.display()))?;
    }
    Ok(())
}

fn summary(
    world: &World<'_>,
    folder: &Path,
    steps: u64,
    seconds: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let names = series::outlets(world.setting);
    let row = |(name, (count, mass)): (&str, &(u64, f64))| {
        vec![name.to_owned(), count.to_string(), format!("{mass:.6}")]
    };
    let mut rows: Vec<Vec<String>> = names.zip(&world.left).map(row).collect();
    let (mass, _) = world.mass_and_potential();
    rows.push(vec![
        "still there".to_owned(),
        world.simulation.present_count().to_string(),
        format!("{mass:.6}"),
    ]);
    write!(out, "{}", table::render(&["left by", "grains", "kg"], &rows))?;
    writeln!(
        out,
        "{} s in {steps} steps of {:.3e} s, {seconds:.1} s of work; written to {}",
        time(&world.setting.times, world.setting.times.rows),
        world.setting.times.step,
        folder.display()
    )?;
    Ok(())
}

fn document(world: &World<'_>, folder: &Path, steps: u64, seconds: f64) -> Value {
    let names = series::outlets(world.setting);
    let left: Vec<Value> = names
        .zip(&world.left)
        .map(|(name, (count, mass))| json!({ "name": name, "grains": count, "kg": mass }))
        .collect();
    let (mass, potential) = world.mass_and_potential();
    let times = &world.setting.times;
    json!({
        "schema": SCHEMA, "unit": "mm", "folder": folder.display().to_string(),
        "end_s": time(times, times.rows), "step_s": times.step, "steps": steps, "wall_s": seconds,
        "grains": world.simulation.present_count(), "kg": mass, "left": left,
        "kinetic_uJ": world.simulation.kinetic_energy(), "potential_uJ": potential,
    })
}

/// Version of the document.
const SCHEMA: u32 = 1;
