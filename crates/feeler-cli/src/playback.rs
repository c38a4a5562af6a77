//! Motions of two solids that pages play.

use anyhow::{Context as _, ensure};
use feeler_assembly::{AssemblyPart, SweepStep};
use feeler_geom::pose::from_values;
use feeler_geom::{P3, Pose};
use feeler_runtime::Status;
use feeler_view::picture::PictureMotion;
use serde::Deserialize;
use std::path::Path;

/// Maximum number of minima of a step that are drawn. Pages are larger with a larger value; a smaller one
/// hides minima.
pub(crate) const MAX_DRAWN_MINIMA: usize = 20;

/// One step of a motion that a page plays.
#[derive(Clone, Debug)]
pub(crate) struct PlayedStep {
    /// Motions of A and B relative to their poses in their files.
    pub(crate) poses: [Pose; 2],
    pub(crate) distance: Option<f64>,
    pub(crate) interferes: bool,
    /// Footpoints on A and on B of the nearest minima (mm, world), at most [`MAX_DRAWN_MINIMA`].
    pub(crate) minima: Vec<[P3; 2]>,
}

impl PlayedStep {
    pub(crate) fn of(step: &SweepStep) -> Self {
        let points = step.contacts.iter().take(MAX_DRAWN_MINIMA).map(|c| [c.point_a, c.point_b]);
        Self {
            poses: step.poses,
            distance: step.min_distance,
            interferes: step.status() == Some(Status::Interfering),
            minima: points.collect(),
        }
    }
}

/// Returns the motion that a picture plays, with A on track 0 and B on track 1. `dt` is the time between
/// steps (s); `None` if it is not known.
pub(crate) fn motion(steps: Vec<PlayedStep>, dt: Option<f64>) -> PictureMotion {
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let times = (0..steps.len()).map(|i| i as f64 * dt.unwrap_or(1.0)).collect();
    let track = |k: usize| steps.iter().map(|s| s.poses[k]).collect();
    PictureMotion {
        times,
        unit: if dt.is_some() { "s" } else { "" },
        curve: None,
        tracks: vec![track(0), track(1)],
        margin: steps.iter().map(|s| if s.interferes { Some(0.0) } else { s.distance }).collect(),
        interfering: (0..steps.len()).filter(|i| steps[*i].interferes).collect(),
        minima: steps.into_iter().map(|s| s.minima).collect(),
    }
}

/// Members of a JSON document of `sweep --json` that are needed to play the sweep.
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

/// Reads a JSON document of `sweep --json` and returns its motion. Removes from `parts` all parts but
/// the two that were swept, A first.
pub(crate) fn read(file: &Path, parts: &mut Vec<AssemblyPart>) -> anyhow::Result<PictureMotion> {
    let named = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot read", named()))?;
    let document: Document = serde_json::from_str(&text)
        .with_context(|| format!("{}: is not the output of `feeler sweep --json`", named()))?;
    let files = parts.iter().map(|p| p.model + 1).max().unwrap_or(0);
    ensure!(files == 2, "{}: the sweep has two files; give the two files that were swept", named());
    let mut keep = Vec::new();
    for (which, solid) in [document.a.solid, document.b.solid].into_iter().enumerate() {
        let found = parts.iter().enumerate().filter(|(_, p)| p.model == which).nth(solid);
        let (found, _) = found.with_context(|| {
            format!("{}: file {which} has no solid {solid}; give the files that were swept", named())
        })?;
        keep.push(found);
    }
    let mut index = 0..;
    parts.retain(|_| index.next().is_some_and(|i| keep.contains(&i)));
    let mut steps = Vec::with_capacity(document.frames.len());
    for (k, frame) in document.frames.iter().enumerate() {
        let pose = |values: &[f64; 7]| from_values(values).with_context(|| format!("{}: step {k}", named()));
        steps.push(PlayedStep {
            poses: [pose(&frame.pose_a)?, pose(&frame.pose_b)?],
            distance: frame.min_distance,
            interferes: frame.status.as_deref() == Some("interfering"),
            minima: frame
                .contacts
                .iter()
                .take(MAX_DRAWN_MINIMA)
                .map(|c| [c.point_a.into(), c.point_b.into()])
                .collect(),
        });
    }
    ensure!(!steps.is_empty(), "{}: the sweep has no steps", named());
    Ok(motion(steps, document.dt))
}
