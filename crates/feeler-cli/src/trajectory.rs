//! Trajectory files: docs/INTERFACE.md, "Poses and trajectories".

use anyhow::{Context as _, ensure};
use feeler_geom::pose::from_values;
use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::Path as MotionPath;
use serde::Deserialize;
use std::path::Path;

/// The file as it is written.
#[derive(Debug, Deserialize)]
struct Written {
    #[serde(default)]
    unit: Option<String>,
    #[serde(default)]
    dt: Option<f64>,
    poses_b: Vec<[f64; 7]>,
    #[serde(default)]
    poses_a: Option<Vec<[f64; 7]>>,
}

/// Poses of both solids, step by step.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// Motions of A; as many as of B.
    pub a: Vec<Pose>,
    /// Motions of B.
    pub b: Vec<Pose>,
    /// Seconds from one pose to the next, if told.
    pub dt: Option<f64>,
}

impl Trajectory {
    /// Motions of both that go through all poses by screw motions; times are steps where none are told.
    ///
    /// # Errors
    /// Poses that are too far apart for numbers.
    pub fn paths(&self) -> anyhow::Result<[MotionPath; 2]> {
        let dt = self.dt.unwrap_or(1.0);
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let times: Vec<f64> = (0..self.b.len()).map(|i| i as f64 * dt).collect();
        Ok([MotionPath::through(&times, &self.a)?, MotionPath::through(&times, &self.b)?])
    }
}

/// Steps of B on a joint: a point and the direction of its axis, angles (degrees) and lengths (mm) from which
/// and to which it goes.
///
/// # Errors
/// What is no axis or no range, and a joint that neither turns nor slides.
pub fn of_joint(
    axis: &str,
    turn: Option<&str>,
    slide: Option<&str>,
    steps: u32,
) -> anyhow::Result<Trajectory> {
    let [x, y, z, dx, dy, dz] = numbers(axis, "--joint", "X,Y,Z,DX,DY,DZ")?;
    let direction = V3::new(dx, dy, dz).try_normalize(f64::MIN_POSITIVE);
    let direction =
        direction.with_context(|| format!("--joint {axis}: its direction is 0; give another one"))?;
    ensure!(
        turn.is_some() || slide.is_some(),
        "the joint stands still; give --turn FROM,TO or --slide FROM,TO"
    );
    let range = |text: Option<&str>, name| text.map_or(Ok([0.0; 2]), |text| numbers(text, name, "FROM,TO"));
    let (turn, slide) = (range(turn, "--turn")?, range(slide, "--slide")?);
    let per_step = (turn[1] - turn[0]).abs() / f64::from(steps);
    ensure!(per_step <= 90.0, "the joint turns by {per_step} degrees a step; give more --steps");
    let point = P3::new(x, y, z);
    let pose = |i: u32| {
        let part = f64::from(i) / f64::from(steps);
        let at = |[from, to]: [f64; 2]| from + part * (to - from);
        let twist = Twist::rotation(&point, direction * at(turn).to_radians())
            + Twist::translation(direction * at(slide));
        twist.exp()
    };
    let b: Vec<Pose> = (0..=steps).map(pose).collect();
    Ok(Trajectory { a: vec![Pose::identity(); b.len()], b, dt: None })
}

/// Finite numbers separated by commas.
fn numbers<const N: usize>(text: &str, option: &str, form: &str) -> anyhow::Result<[f64; N]> {
    let all: Option<Vec<f64>> =
        text.split(',').map(|x| x.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
    all.and_then(|v| v.try_into().ok()).with_context(|| format!("{option} {text}: give {form}"))
}

/// Reads a trajectory. What else is in the file is left alone.
///
/// # Errors
/// The file cannot be read, is no trajectory, or holds what is no pose.
pub fn read(path: &Path) -> anyhow::Result<Trajectory> {
    let text = std::fs::read_to_string(path).context("cannot read the trajectory")?;
    let t: Written = serde_json::from_str(&text).context(
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
        let one = |(i, v): (usize, &[f64; 7])| from_values(v).with_context(|| format!("{name}[{i}]"));
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
    Ok(Trajectory { a, b, dt: t.dt })
}
