//! Sweeps as they are played on pages.

use crate::clearance::parts::Part;
use anyhow::{Context as _, ensure};
use feeler_geom::pose::{from_values, to_values};
use feeler_geom::{P3, Pose};
use feeler_runtime::{ContactPair, Status};
use feeler_view::picture::Motion;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Minima of a step that are drawn.
pub(crate) const DRAWN: usize = 20;

/// What is played of one step.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    /// Motions of both solids.
    pub(crate) poses: [Pose; 2],
    pub(crate) distance: Option<f64>,
    pub(crate) interferes: bool,
    /// Footpoints of the nearest minima.
    pub(crate) minima: Vec<[P3; 2]>,
}

impl Played {
    /// Of the last query of a pair.
    pub(crate) fn of(pair: &ContactPair, poses: [Pose; 2]) -> Self {
        Self {
            poses,
            distance: pair.min_distance(),
            interferes: pair.status() == Some(Status::Interfering),
            minima: pair.contacts().iter().take(DRAWN).map(|l| [l.point_a, l.point_b]).collect(),
        }
    }
}

/// The motion of A and B on tracks 0 and 1.
pub(crate) fn motion(steps: Vec<Played>, dt: Option<f64>) -> Motion {
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let times = (0..steps.len()).map(|i| i as f64 * dt.unwrap_or(1.0)).collect();
    let track = |k: usize| steps.iter().map(|s| s.poses[k]).collect();
    Motion {
        times,
        unit: if dt.is_some() { "s" } else { "" },
        curve: None,
        tracks: vec![track(0), track(1)],
        margin: steps.iter().map(|s| if s.interferes { Some(0.0) } else { s.distance }).collect(),
        interfering: (0..steps.len()).filter(|i| steps[*i].interferes).collect(),
        minima: steps.into_iter().map(|s| s.minima).collect(),
    }
}

/// What a frame of a document tells of the motion.
pub(crate) fn put_poses(frame: &mut Value, [a, b]: [&Pose; 2]) {
    frame["pose_a"] = json!(to_values(a));
    frame["pose_b"] = json!(to_values(b));
}

/// A document of `sweep --json`, as far as it is played.
#[derive(Debug, Deserialize)]
struct Document {
    #[serde(default)]
    dt: Option<f64>,
    a: Solid,
    b: Solid,
    frames: Vec<Frame>,
}

#[derive(Debug, Deserialize)]
struct Solid {
    solid: usize,
}

#[derive(Debug, Deserialize)]
struct Frame {
    pose_a: [f64; 7],
    pose_b: [f64; 7],
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    min_distance: Option<f64>,
    #[serde(default)]
    contacts: Vec<Points>,
}

#[derive(Debug, Deserialize)]
struct Points {
    point_a: [f64; 3],
    point_b: [f64; 3],
}

/// Reads what `sweep --json` has written, and leaves of the parts the two that it is about.
pub(crate) fn read(file: &Path, parts: &mut Vec<Part>) -> anyhow::Result<Motion> {
    let named = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot read", named()))?;
    let document: Document = serde_json::from_str(&text)
        .with_context(|| format!("{}: is not what `feeler sweep --json` writes", named()))?;
    let files = parts.iter().map(|p| p.file + 1).max().unwrap_or(0);
    ensure!(files == 2, "{}: is about two solids; give the two files that were swept", named());
    let mut keep = Vec::new();
    for (which, solid) in [document.a.solid, document.b.solid].into_iter().enumerate() {
        let found = parts.iter().enumerate().filter(|(_, p)| p.file == which).nth(solid);
        let (found, _) = found.with_context(|| {
            format!("{}: file {which} has no solid {solid}; give the files that were swept", named())
        })?;
        keep.push(found);
    }
    let mut number = 0;
    parts.retain(|_| {
        number += 1;
        keep.contains(&(number - 1))
    });
    let mut steps = Vec::with_capacity(document.frames.len());
    for (k, frame) in document.frames.iter().enumerate() {
        let pose = |values: &[f64; 7]| from_values(values).with_context(|| format!("{}: step {k}", named()));
        steps.push(Played {
            poses: [pose(&frame.pose_a)?, pose(&frame.pose_b)?],
            distance: frame.min_distance,
            interferes: frame.status.as_deref() == Some("interfering"),
            minima: frame.contacts.iter().take(DRAWN).map(|l| [l.point_a.into(), l.point_b.into()]).collect(),
        });
    }
    ensure!(!steps.is_empty(), "{}: has no steps", named());
    Ok(motion(steps, document.dt))
}
