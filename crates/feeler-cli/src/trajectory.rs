//! Trajectories from files and from joints, as described in docs/INTERFACE.md, "Poses and trajectories".

use anyhow::{Context as _, ensure};
use feeler_assembly::{JointMotion, Trajectory};
use feeler_geom::Pose;
use feeler_geom::pose::from_values;
use serde::Deserialize;
use std::path::Path;

/// Content of a trajectory file; other members are ignored.
#[derive(Debug, Deserialize)]
struct TrajectoryFile {
    #[serde(default)]
    unit: Option<String>,
    #[serde(default)]
    dt: Option<f64>,
    poses_b: Vec<[f64; 7]>,
    #[serde(default)]
    poses_a: Option<Vec<[f64; 7]>>,
}

/// Trajectory of B, moved by a joint. `axis` is a point on the axis (mm) and its direction,
/// X,Y,Z,DX,DY,DZ. `turn` and `slide` are ranges FROM,TO of the angle (degrees) and of the translation
/// along the axis (mm).
///
/// # Errors
/// The axis or a range is not valid, or the joint does not move.
pub(crate) fn of_joint(
    axis: &str,
    turn: Option<&str>,
    slide: Option<&str>,
    steps: u32,
) -> anyhow::Result<Trajectory> {
    let [x, y, z, dx, dy, dz] = numbers(axis, "--joint", "X,Y,Z,DX,DY,DZ")?;
    ensure!(
        turn.is_some() || slide.is_some(),
        "--joint: the joint does not move; give --turn FROM,TO or --slide FROM,TO"
    );
    let range = |text: Option<&str>, name| text.map_or(Ok([0.0; 2]), |text| numbers(text, name, "FROM,TO"));
    let joint = JointMotion {
        point: [x, y, z].into(),
        direction: [dx, dy, dz].into(),
        angles: range(turn, "--turn")?,
        lengths: range(slide, "--slide")?,
    };
    Trajectory::of_joint(&joint, steps).with_context(|| format!("--joint {axis} --steps {steps}"))
}

/// Reads `N` finite numbers separated by commas. Errors name the `option` and the expected `form`.
fn numbers<const N: usize>(text: &str, option: &str, form: &str) -> anyhow::Result<[f64; N]> {
    let all: Option<Vec<f64>> =
        text.split(',').map(|x| x.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
    all.and_then(|v| v.try_into().ok())
        .with_context(|| format!("{option} {text}: give {N} finite numbers, {form}"))
}

/// Reads a trajectory file.
///
/// # Errors
/// The file cannot be read or is not a trajectory, or a pose in it is not valid.
pub fn read(path: &Path) -> anyhow::Result<Trajectory> {
    let text = std::fs::read_to_string(path).context("the trajectory cannot be read")?;
    let file: TrajectoryFile = serde_json::from_str(&text).context(
        "a trajectory is {\"unit\":\"mm\",\"dt\":S,\"poses_b\":[[tx,ty,tz,qx,qy,qz,qw],…],\"poses_a\":[…]} \
         (translations in mm, S: duration of a step in s); only poses_b is required",
    )?;
    if let Some(unit) = &file.unit {
        ensure!(unit == "mm", "the unit of a trajectory must be 'mm', not '{unit}'");
    }
    if let Some(dt) = file.dt {
        ensure!(dt.is_finite() && dt > 0.0, "dt is {dt}; give the duration of a step in seconds, above 0");
    }
    ensure!(!file.poses_b.is_empty(), "poses_b is empty; give at least one pose");
    let poses = |values: &[[f64; 7]], name: &str| -> anyhow::Result<Vec<Pose>> {
        let one = |(i, v): (usize, &[f64; 7])| from_values(v).with_context(|| format!("{name}[{i}]"));
        values.iter().enumerate().map(one).collect()
    };
    let b = poses(&file.poses_b, "poses_b")?;
    let a = match &file.poses_a {
        Some(values) => {
            ensure!(
                values.len() == b.len(),
                "there are {} poses of A and {} of B; give one of each for each step, or omit poses_a",
                values.len(),
                b.len()
            );
            poses(values, "poses_a")?
        }
        None => vec![Pose::identity(); b.len()],
    };
    Ok(Trajectory::new(a, b, file.dt)?)
}
