//! Trajectory files: docs/INTERFACE.md, "Poses and trajectories".

use anyhow::{Context as _, ensure};
use feeler_geom::Pose;
use feeler_geom::pose::from_values;
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
