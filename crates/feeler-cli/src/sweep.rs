//! `feeler sweep`: queries along a trajectory.

use crate::args::Sweep;
use crate::query::{self, Certificate};
use crate::{Outcome, plot, pose, table, verdict};
use anyhow::{Context as _, ensure};
use feeler_geom::Pose;
use feeler_runtime::{ContactPair, Status};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// The file of a trajectory.
#[derive(Debug, Deserialize)]
struct Trajectory {
    #[serde(default)]
    unit: Option<String>,
    /// Seconds from one pose to the next.
    #[serde(default)]
    dt: Option<f64>,
    poses_b: Vec<[f64; 7]>,
    #[serde(default)]
    poses_a: Option<Vec<[f64; 7]>>,
}

/// Poses of both solids, step by step.
#[derive(Debug)]
struct Steps {
    a: Vec<Pose>,
    b: Vec<Pose>,
    dt: Option<f64>,
}

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
}

pub(crate) fn run(args: &Sweep, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    let steps = read(&args.trajectory).with_context(|| args.trajectory.display().to_string())?;
    let options = query::options(&args.pair)?;
    let two = query::load(&args.pair, err)?;
    let pool = query::threads(&args.pair)?;
    let mut pair = ContactPair::new(two.body_a.clone(), two.body_b.clone());
    let mut frames = Vec::with_capacity(steps.b.len());
    for (a, b) in steps.a.iter().zip(&steps.b) {
        if args.cold {
            pair = ContactPair::new(two.body_a.clone(), two.body_b.clone());
        }
        let clock = Instant::now();
        pool.install(|| pair.query(&(a * two.own_a), &(b * two.own_b), &options).map(|_| ()))
            .with_context(|| format!("step {}", frames.len()))?;
        let wall_us = clock.elapsed().as_secs_f64() * 1e6;
        frames.push(Frame {
            wall_us,
            min_distance: pair.min_distance(),
            status: pair.status(),
            count: pair.lmds().len(),
            answer: if args.pair.json { answer(&pair) } else { Value::Null },
            certificate: args.pair.certified.then(|| Certificate::of(&pair.stats())),
        });
    }
    if let Some(file) = &args.plot {
        let svg = plot::stacked(&panels(&frames), &time_axis(&steps));
        feeler_hierarchy::whole::write_whole(file, svg.as_bytes())
            .with_context(|| format!("{}: cannot write the plot", file.display()))?;
    }
    if args.pair.json {
        serde_json::to_writer(&mut *out, &document(&frames))?;
        writeln!(out)?;
    } else {
        write_table(&frames, out)?;
    }
    Ok(verdict::outcome(frames.iter().map(|f| f.status)))
}

fn read(path: &Path) -> anyhow::Result<Steps> {
    let text = std::fs::read_to_string(path).context("cannot read the trajectory")?;
    let t: Trajectory = serde_json::from_str(&text).context(
        "a trajectory is {\"unit\":\"mm\",\"dt\":S,\"poses_b\":[[tx,ty,tz,qx,qy,qz,qw],…],\"poses_a\":[…]}",
    )?;
    if let Some(unit) = &t.unit {
        ensure!(unit == "mm", "the unit of a trajectory is 'mm', not '{unit}'");
    }
    if let Some(dt) = t.dt {
        ensure!(dt.is_finite() && dt > 0.0, "dt is {dt}; give the seconds of a step");
    }
    ensure!(!t.poses_b.is_empty(), "poses_b is empty: there is nothing to do");
    let poses = |values: &[[f64; 7]], name: &str| -> anyhow::Result<Vec<Pose>> {
        let one = |(i, v): (usize, &[f64; 7])| pose::from_values(v).with_context(|| format!("{name}[{i}]"));
        values.iter().enumerate().map(one).collect()
    };
    let b = poses(&t.poses_b, "poses_b")?;
    let a = match &t.poses_a {
        Some(values) => {
            ensure!(
                values.len() == b.len(),
                "{} poses of A for {} of B; give one for each step, or leave poses_a away",
                values.len(),
                b.len()
            );
            poses(values, "poses_a")?
        }
        None => vec![Pose::identity(); b.len()],
    };
    Ok(Steps { a, b, dt: t.dt })
}

/// Median, 95th percentile and maximum.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut v: Vec<f64> = values.collect();
    v.sort_by(f64::total_cmp);
    let at = |percent: usize| v.get((v.len() * percent / 100).min(v.len().saturating_sub(1))).copied();
    [50, 95, 100].map(|p| at(p).unwrap_or(0.0))
}

/// What a query tells of the solids and their minima.
fn answer(pair: &ContactPair) -> Value {
    let mut answer = json!({ "lmds": query::lmds_json(pair) });
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
            "lmds_median": spread(frames.iter().map(count))[0],
        },
    });
    if let Some(c) = all_certificates(frames) {
        document["summary"]["certificate"] = c.json();
    }
    document
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
    if let Some(c) = all_certificates(frames) {
        writeln!(out, "{c}")?;
    }
    Ok(())
}

fn time_axis(steps: &Steps) -> plot::Axis {
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
