//! `feeler sweep`: queries along a trajectory.

use crate::args::SweepArgs as Arguments;
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::playback::{self, PlayedStep};
use crate::query::{self, Certificate, SolidPair};
use crate::{CommandOutcome, passage, plot, table, trajectory, verdict};
use anyhow::Context as _;
use feeler_assembly::{DecidedQuery, PairMotion, Sweep, SweepStep, Trajectory};
use feeler_geom::pose::to_values;
use feeler_runtime::{QueryOptions, Status};
use feeler_view::picture::{PicturePart, PictureScene, What};
use serde_json::{Value, json};
use std::io::Write;

/// Results of one step of a sweep, as far as the outputs need them.
#[derive(Debug)]
struct Frame {
    wall_us: f64,
    min_distance: Option<f64>,
    /// Depth (mm) of an interference that is proved; `None` without interference.
    depth: Option<f64>,
    status: Option<Status>,
    count: usize,
    /// JSON object of the step, with members like those of the document of `query`; null without
    /// `--json`.
    result: Value,
    /// Counts of the certificate of the step's query; `None` without `--certified`.
    certificate: Option<Certificate>,
    /// Step for the page; `None` without `--html`.
    played: Option<PlayedStep>,
}

pub(crate) fn run(
    args: &Arguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    if let Some(file) = &args.plot {
        plot::check_name(file)?;
    }
    let trajectory = trajectory(args)?;
    let options = query::options(&args.pair)?;
    let solids = query::load(&args.pair, err)?;
    let [a, b] = &solids.parts;
    let tolerance = args.pair.tolerance.unwrap_or_default().of([&a.body, &b.body]);
    let options = QueryOptions { tolerance, ..options };
    let pool = crate::thread_pool(Some(args.pair.threads))?;
    let mut sweep = Sweep::new(a, b, &trajectory, options)?;
    if args.cold {
        sweep = sweep.cold();
    }
    let mut frames = Vec::with_capacity(trajectory.len());
    while let Some(step) = pool.install(|| sweep.next()) {
        frames.push(frame(&step?, args));
    }
    let motion = match (args.proof, args.allow_touching) {
        (false, _) => None,
        (true, false) => Some(PairMotion::Passage(pool.install(|| sweep.passage())?)),
        (true, true) => Some(PairMotion::InContact(pool.install(|| sweep.contact_motion())?)),
    };
    if let Some(file) = &args.plot {
        let svg = plot::stacked(&panels(&frames), &time_axis(&trajectory));
        feeler_hierarchy::whole::write_whole(file, svg.as_bytes())
            .with_context(|| format!("{}: cannot write the plot", file.display()))?;
    }
    let between = motion.as_ref().map(|m| passage::text(m, time_unit(&trajectory)));
    if let Some(file) = &args.html {
        let page = page(args, &solids, &mut frames, trajectory.dt(), between.as_deref())?;
        feeler_hierarchy::whole::write_whole(file, page.as_bytes())
            .with_context(|| format!("{}: cannot write the page", file.display()))?;
    }
    if args.pair.form.json {
        let mut document = document(&mut frames);
        let solid = |file: &std::path::Path, solid: usize| json!({ "file": file, "solid": solid });
        document["a"] = solid(&args.pair.a, solids.indices[0]);
        document["b"] = solid(&args.pair.b, solids.indices[1]);
        document["dt"] = trajectory.dt().into();
        if let Some(motion) = &motion {
            document["motion"] = passage::json(motion);
        }
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        write_table(&frames, out)?;
        if let Some(between) = between {
            writeln!(out, "between the steps: {between}")?;
        }
    }
    let between = motion.iter().map(|m| Some(passage::status(m)));
    Ok(verdict::outcome(frames.iter().map(|f| f.status).chain(between)))
}

fn frame(step: &SweepStep, args: &Arguments) -> Frame {
    Frame {
        wall_us: step.duration.as_secs_f64() * 1e6,
        min_distance: step.min_distance,
        depth: step.depth(),
        status: step.status(),
        count: step.contacts.len(),
        result: if args.pair.form.json { step_json(step, args.pair.top) } else { Value::Null },
        certificate: args.pair.certified.then(|| Certificate::of(&step.stats)),
        played: args.html.is_some().then(|| PlayedStep::of(step)),
    }
}

/// Unit that is printed after a time of the trajectory; empty if times are counted in steps.
fn time_unit(trajectory: &Trajectory) -> &'static str {
    if trajectory.dt().is_some() { " s" } else { "" }
}

/// Returns the HTML of a page that plays the sweep and has a table with a row for each step.
fn page(
    args: &Arguments,
    solids: &SolidPair,
    frames: &mut [Frame],
    dt: Option<f64>,
    between: Option<&str>,
) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, true);
    let shapes = drawing.shapes_of_bodies(solids.parts.iter().map(|p| &p.body));
    let part = |k: usize, file: &std::path::Path| {
        let part = &solids.parts[k];
        let name = &part.body.hierarchy().info.name;
        let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let path = if name.is_empty() { stem } else { format!("{stem}/{name}") };
        PicturePart { track: Some(k), ..drawing::still(&path, shapes[k], part.pose) }
    };
    let parts = vec![part(0, &args.pair.a), part(1, &args.pair.b)];
    let played: Vec<PlayedStep> = frames.iter_mut().filter_map(|f| f.played.take()).collect();
    let motion = Some(playback::motion(played, dt));
    let scene = drawing.add(PictureScene { parts, motion, ..PictureScene::default() });
    let row = |(i, f): (usize, &Frame)| {
        let status = verdict::status_name(f.status);
        let cells = vec![
            Cell::new("n", i.to_string()),
            Cell::new(status, status),
            Cell::new("n", distance_text(f)),
            Cell::new("n", depth_text(f)),
            Cell::new("n", f.count.to_string()),
        ];
        Row { cells, show: Some(drawing.show(scene, What::Step(i))), ..Row::default() }
    };
    let rows: Vec<Row> = frames.iter().enumerate().map(row).collect();
    let between = between.map_or_else(String::new, |t| format!("; between the steps: {t}"));
    let summary = format!("{} steps, {}{between}", frames.len(), nearest_text(frames));
    let header = ["step", "status", "min distance mm", "depth mm", "minima"];
    report("Sweep", &summary, &drawing.failed, (&header, &rows), drawing.finished())
}

/// Distance of a step, or nothing if the solids interfere: the distance of another pair of features would
/// mislead.
fn distance_text(frame: &Frame) -> String {
    let distance = frame.min_distance.filter(|_| frame.depth.is_none());
    distance.map_or_else(|| "-".to_owned(), |d| format!("{d:.9}"))
}

fn depth_text(frame: &Frame) -> String {
    frame.depth.map_or_else(|| "-".to_owned(), |d| format!("{d:.9}"))
}

/// Step at which the depth is largest, and the depth (mm); `None` if no step interferes.
fn deepest(frames: &[Frame]) -> Option<(usize, f64)> {
    let depths = frames.iter().enumerate().filter_map(|(i, f)| Some((i, f.depth?)));
    depths.reduce(|x, y| if y.1 > x.1 { y } else { x })
}

/// Step without a proved interference at which the distance is smallest, and the distance (mm); `None` if no
/// such step has a minimum in reach.
fn nearest(frames: &[Frame]) -> Option<(usize, f64)> {
    let free = frames.iter().enumerate().filter(|(_, f)| f.depth.is_none());
    free.filter_map(|(i, f)| Some((i, f.min_distance?))).reduce(|x, y| if y.1 < x.1 { y } else { x })
}

/// Text about the deepest interference and about the smallest distance of the other steps.
fn nearest_text(frames: &[Frame]) -> String {
    let apart = if frames.iter().all(|f| f.depth.is_some()) {
        None
    } else {
        Some(match nearest(frames) {
            Some((i, d)) => format!("smallest distance {d:.9} mm at step {i}"),
            None => "no minimum within --d-max".to_owned(),
        })
    };
    let depth = deepest(frames).map(|(i, d)| format!("at least {d:.9} mm deep at step {i}"));
    let texts: Vec<String> = depth.into_iter().chain(apart).collect();
    texts.join("; ")
}

/// Returns the trajectory that `--trajectory` or `--joint` states.
fn trajectory(args: &Arguments) -> anyhow::Result<Trajectory> {
    if let Some(file) = &args.trajectory {
        return trajectory::read(file).with_context(|| file.display().to_string());
    }
    let axis = args.joint.as_deref().unwrap_or_default();
    trajectory::of_joint(axis, args.turn.as_deref(), args.slide.as_deref(), args.steps)
}

/// Median, 95th percentile and maximum of values; zeros if there are none.
fn percentiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut v: Vec<f64> = values.collect();
    v.sort_by(f64::total_cmp);
    let at = |percent: usize| v.get((v.len() * percent / 100).min(v.len().saturating_sub(1))).copied();
    [50, 95, 100].map(|p| at(p).unwrap_or(0.0))
}

/// JSON object of a step, with members as in the document of `query` and the motions of both solids.
fn step_json(step: &SweepStep, top: Option<usize>) -> Value {
    let mut object = json!({ "contacts": query::contacts_json(&step.contacts) });
    query::keep_nearest(&mut object, top);
    verdict::put_json(step.verdict.as_ref(), step.tolerance, step.min_distance, &mut object);
    let decided = DecidedQuery { decided_at: step.decided_at, coarser: None };
    verdict::put_decided(&decided, &mut object);
    let [a, b] = &step.poses;
    object["pose_a"] = json!(to_values(a));
    object["pose_b"] = json!(to_values(b));
    object
}

/// JSON document of a sweep. The results of the frames are moved into it, not copied.
fn document(frames: &mut [Frame]) -> Value {
    let [median, p95, max] = percentiles(frames.iter().map(|f| f.wall_us));
    let each: Vec<Value> = frames
        .iter_mut()
        .enumerate()
        .map(|(i, f)| {
            let mut frame = std::mem::take(&mut f.result);
            frame["index"] = i.into();
            frame["wall_us"] = f.wall_us.into();
            if let Some(c) = &f.certificate {
                frame["certificate"] = c.json();
            }
            frame
        })
        .collect();
    let mut document = json!({
        "schema": verdict::SCHEMA, "unit": "mm",
        "frames": each,
        "summary": {
            "wall_us_median": median, "wall_us_p95": p95, "wall_us_max": max,
            "contacts_median": percentiles(frames.iter().map(count))[0],
            "interfering": count_status(frames, Status::Interfering),
            "undecided": count_status(frames, Status::Undecided),
            "deepest": deepest(frames).map(|(i, depth)| json!({ "step": i, "depth": depth })),
            "nearest": nearest(frames).map(|(i, distance)| json!({ "step": i, "distance": distance })),
        },
    });
    if let Some(c) = total_certificate(frames) {
        document["summary"]["certificate"] = c.json();
    }
    document
}

fn count_status(frames: &[Frame], status: Status) -> usize {
    frames.iter().filter(|f| f.status == Some(status)).count()
}

/// Sum of the certificates of all steps; `None` without `--certified`.
fn total_certificate(frames: &[Frame]) -> Option<Certificate> {
    frames
        .iter()
        .filter_map(|f| f.certificate)
        .reduce(|a, b| Certificate { solves: a.solves + b.solves, undecided: a.undecided + b.undecided })
}

#[expect(clippy::cast_precision_loss, reason = "a count of minima")]
fn count(frame: &Frame) -> f64 {
    frame.count as f64
}

fn write_table(frames: &[Frame], out: &mut dyn Write) -> anyhow::Result<()> {
    let rows: Vec<_> = frames
        .iter()
        .enumerate()
        .map(|(i, f)| {
            vec![
                i.to_string(),
                verdict::status_name(f.status).into(),
                distance_text(f),
                depth_text(f),
                f.count.to_string(),
                format!("{:.1}", f.wall_us),
            ]
        })
        .collect();
    let header = ["step", "status", "min distance mm", "depth mm", "minima", "time us"];
    write!(out, "{}", table::render(&header, &rows))?;
    let [median, p95, max] = percentiles(frames.iter().map(|f| f.wall_us));
    writeln!(
        out,
        "{} steps: time median {median:.1} us, 95 % {p95:.1} us, max {max:.1} us; {}",
        frames.len(),
        nearest_text(frames)
    )?;
    let [interfering, undecided] =
        [Status::Interfering, Status::Undecided].map(|status| count_status(frames, status));
    if interfering + undecided > 0 {
        writeln!(out, "{interfering} steps interfere; {undecided} may interfere (undecided)")?;
    }
    if let Some(c) = total_certificate(frames) {
        writeln!(out, "{c}")?;
    }
    Ok(())
}

fn time_axis(trajectory: &Trajectory) -> plot::Axis {
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let last = (trajectory.len() - 1) as f64;
    match trajectory.dt() {
        Some(dt) => plot::Axis { label: "time (s)".into(), last: last * dt },
        None => plot::Axis { label: "step".into(), last },
    }
}

fn panels(frames: &[Frame]) -> [plot::Panel; 3] {
    [
        plot::Panel {
            label: "time per step (ms)".into(),
            values: frames.iter().map(|f| Some(f.wall_us / 1e3)).collect(),
        },
        plot::Panel { label: "local minima".into(), values: frames.iter().map(|f| Some(count(f))).collect() },
        plot::Panel {
            label: "smallest distance (mm)".into(),
            values: frames.iter().map(|f| f.min_distance.filter(|_| f.depth.is_none())).collect(),
        },
    ]
}
