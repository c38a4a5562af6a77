//! `feeler sweep`: queries along a trajectory.

use crate::args::Sweep;
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::playback::{self, Played};
use crate::query::{self, Certificate};
use crate::trajectory::{self, Trajectory};
use crate::{Outcome, passage, plot, pose, table, verdict};
use anyhow::{Context as _, ensure};
use feeler_runtime::{Body, ContactPair, PassageOptions, Status, time_of_contact};
use feeler_view::picture::{Part, Scene, What};
use serde_json::{Value, json};
use std::io::Write;
use std::time::Instant;

/// What is known of one step.
#[derive(Debug)]
struct Frame {
    wall_us: f64,
    min_distance: Option<f64>,
    status: Option<Status>,
    count: usize,
    /// The members of the JSON document that a query has, too; empty without `--json`.
    answer: Value,
    /// Of a certified sweep.
    certificate: Option<Certificate>,
    /// Only for a page.
    played: Option<Played>,
}

pub(crate) fn run(args: &Sweep, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    if let Some(file) = &args.plot {
        let is_svg = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        ensure!(is_svg, "{}: plots are SVG; give a name that ends with .svg", file.display());
    }
    let steps = steps(args)?;
    let options = query::options(&args.pair)?;
    let two = query::load(&args.pair, err)?;
    let pool = query::threads(&args.pair)?;
    let mut pair = ContactPair::new(two.body_a.clone(), two.body_b.clone());
    let mut frames = Vec::with_capacity(steps.b.len());
    for (a, b) in steps.a.iter().zip(&steps.b) {
        if args.cold {
            pair = ContactPair::new(two.body_a.clone(), two.body_b.clone());
        }
        let step = || format!("step {}", frames.len());
        let poses = pose::composed(&pair, [(*a, two.own_a), (*b, two.own_b)], &options);
        let [pose_a, pose_b] = poses.with_context(step)?;
        let clock = Instant::now();
        pool.install(|| pair.query(&pose_a, &pose_b, &options).map(|_| ())).with_context(step)?;
        let wall_us = clock.elapsed().as_secs_f64() * 1e6;
        frames.push(Frame {
            wall_us,
            min_distance: pair.min_distance(),
            status: pair.status(),
            count: pair.contacts().len(),
            answer: if args.pair.json { answer(&pair, args.pair.top) } else { Value::Null },
            certificate: args.pair.certified.then(|| Certificate::of(&pair.stats())),
            played: args.html.is_some().then(|| Played::of(&pair, [*a, *b])),
        });
    }
    let passage = if args.proof {
        let mut pair = ContactPair::new(two.body_a.clone(), two.body_b.clone());
        let [path_a, path_b] = steps.paths()?;
        let (path_a, path_b) = (path_a.starting(&two.own_a), path_b.starting(&two.own_b));
        let query = feeler_runtime::QueryOptions { penetration: 0.0, ..options };
        let proof = PassageOptions { query, ..PassageOptions::default() };
        Some(pool.install(|| time_of_contact(&mut pair, &path_a, &path_b, &proof))?)
    } else {
        None
    };
    if let Some(file) = &args.plot {
        let svg = plot::stacked(&panels(&frames), &time_axis(&steps));
        feeler_hierarchy::whole::write_whole(file, svg.as_bytes())
            .with_context(|| format!("{}: cannot write the plot", file.display()))?;
    }
    if let Some(file) = &args.html {
        let told = passage.as_ref().map(|p| passage::text(p, unit(&steps)));
        let page = page(args, &two, &mut frames, &steps, told)?;
        feeler_hierarchy::whole::write_whole(file, page.as_bytes())
            .with_context(|| format!("{}: cannot write the page", file.display()))?;
    }
    if args.pair.json {
        let mut document = document(&frames);
        for (frame, (a, b)) in
            document["frames"].as_array_mut().into_iter().flatten().zip(steps.a.iter().zip(&steps.b))
        {
            playback::put_poses(frame, [a, b]);
        }
        let solid = |file: &std::path::Path, solid: usize| json!({ "file": file, "solid": solid });
        document["a"] = solid(&args.pair.a, two.indices[0]);
        document["b"] = solid(&args.pair.b, two.indices[1]);
        document["dt"] = steps.dt.into();
        if let Some(p) = &passage {
            document["motion"] = passage::json(p);
        }
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        write_table(&frames, out)?;
        if let Some(p) = &passage {
            writeln!(out, "between the steps: {}", passage::text(p, unit(&steps)))?;
        }
    }
    let between = passage.iter().map(|p| Some(passage::status(p)));
    Ok(verdict::outcome(frames.iter().map(|f| f.status).chain(between)))
}

/// Unit of times behind numbers.
fn unit(steps: &Trajectory) -> &'static str {
    if steps.dt.is_some() { " s" } else { "" }
}

/// The sweep as it is played, with a row for each step.
fn page(
    args: &Sweep,
    two: &query::Two,
    frames: &mut [Frame],
    steps: &Trajectory,
    told: Option<String>,
) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, true);
    let shapes = drawing.shapes_of_bodies([&two.body_a, &two.body_b]);
    let part = |k: usize, file: &std::path::Path, body: &Body, own| {
        let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let name = &body.hierarchy().info.name;
        let path = if name.is_empty() { stem } else { format!("{stem}/{name}") };
        Part { track: Some(k), ..drawing::still(&path, shapes[k], own) }
    };
    let parts =
        vec![part(0, &args.pair.a, &two.body_a, two.own_a), part(1, &args.pair.b, &two.body_b, two.own_b)];
    let played: Vec<Played> = frames.iter_mut().filter_map(|f| f.played.take()).collect();
    let motion = Some(playback::motion(played, steps.dt));
    let scene = drawing.add(Scene { parts, motion, ..Scene::default() });
    let row = |(i, f): (usize, &Frame)| {
        let status = verdict::status_name(f.status);
        let distance = f.min_distance.map_or_else(|| "-".to_owned(), |d| format!("{d:.9}"));
        let cells = vec![
            Cell::new("n", i.to_string()),
            Cell::new(status, status),
            Cell::new("n", distance),
            Cell::new("n", f.count.to_string()),
        ];
        Row { cells, show: Some(drawing.show(scene, What::Step(i))), ..Row::default() }
    };
    let rows: Vec<Row> = frames.iter().enumerate().map(row).collect();
    let nearest = frames.iter().filter_map(|f| f.min_distance).min_by(f64::total_cmp);
    let nearest =
        nearest.map_or_else(|| "nothing within reach".to_owned(), |d| format!("smallest distance {d:.9} mm"));
    let told = told.map_or_else(String::new, |t| format!("; between the steps: {t}"));
    let summary = format!("{} steps, {nearest}{told}", frames.len());
    let header = ["step", "status", "min distance mm", "minima"];
    report("Sweep", &summary, &drawing.failed, (&header, &rows), drawing.finished())
}

/// The poses of a trajectory or of a joint.
fn steps(args: &Sweep) -> anyhow::Result<Trajectory> {
    if let Some(file) = &args.trajectory {
        return trajectory::read(file).with_context(|| file.display().to_string());
    }
    let axis = args.joint.as_deref().unwrap_or_default();
    trajectory::of_joint(axis, args.turn.as_deref(), args.slide.as_deref(), args.steps)
}

/// Median, 95th percentile and maximum.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut v: Vec<f64> = values.collect();
    v.sort_by(f64::total_cmp);
    let at = |percent: usize| v.get((v.len() * percent / 100).min(v.len().saturating_sub(1))).copied();
    [50, 95, 100].map(|p| at(p).unwrap_or(0.0))
}

/// What a query tells of the solids and their minima.
fn answer(pair: &ContactPair, top: Option<usize>) -> Value {
    let mut answer = json!({ "contacts": query::contacts_json(pair) });
    query::cut(&mut answer, top);
    verdict::put_json(pair, &mut answer);
    answer
}

fn document(frames: &[Frame]) -> Value {
    let [median, p95, max] = spread(frames.iter().map(|f| f.wall_us));
    let each: Vec<Value> = frames
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let mut frame = f.answer.clone();
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
            "contacts_median": spread(frames.iter().map(count))[0],
            "interfering": steps_that_are(frames, Status::Interfering),
            "undecided": steps_that_are(frames, Status::Undecided),
        },
    });
    if let Some(c) = all_certificates(frames) {
        document["summary"]["certificate"] = c.json();
    }
    document
}

fn steps_that_are(frames: &[Frame], status: Status) -> usize {
    frames.iter().filter(|f| f.status == Some(status)).count()
}

/// Those of all steps together.
fn all_certificates(frames: &[Frame]) -> Option<Certificate> {
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
                f.min_distance.map_or_else(|| "-".into(), |d| format!("{d:.9}")),
                f.count.to_string(),
                format!("{:.1}", f.wall_us),
            ]
        })
        .collect();
    write!(out, "{}", table::render(&["step", "status", "min distance mm", "minima", "time us"], &rows))?;
    let [median, p95, max] = spread(frames.iter().map(|f| f.wall_us));
    let nearest = frames.iter().filter_map(|f| f.min_distance).min_by(f64::total_cmp);
    write!(out, "{} steps: time median {median:.1} us, 95 % {p95:.1} us, max {max:.1} us", frames.len())?;
    match nearest {
        Some(d) => writeln!(out, "; smallest distance {d:.9} mm")?,
        None => writeln!(out, "; nothing within reach")?,
    }
    let [met, open] = [Status::Interfering, Status::Undecided].map(|s| steps_that_are(frames, s));
    if met + open > 0 {
        writeln!(out, "{met} steps interfere, {open} are undecided")?;
    }
    if let Some(c) = all_certificates(frames) {
        writeln!(out, "{c}")?;
    }
    Ok(())
}

fn time_axis(steps: &Trajectory) -> plot::Axis {
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let last = (steps.b.len() - 1) as f64;
    match steps.dt {
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
            values: frames.iter().map(|f| f.min_distance).collect(),
        },
    ]
}
