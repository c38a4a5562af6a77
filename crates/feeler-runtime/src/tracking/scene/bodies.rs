//! The bodies of a scene, and what is asked of them.

use super::SceneError;
use crate::body::Body;
use feeler_geom::Pose;
use std::sync::Arc;

/// A body of a scene. Numbers ascend and are never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// What is asked of all pairs of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyOptions {
    /// Largest gap (mm) of interest; `None` as the scene has it. Of two bodies the larger one counts.
    pub d_max: Option<f64>,
    /// Implicit dilation (mm), added to that of the scene.
    pub dilation: f64,
    /// Never moves: two fixed bodies are not asked how they stand to each other.
    pub fixed: bool,
}

/// What is asked of a pair of bodies in place of what is asked of each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairOptions {
    /// Largest gap (mm) of interest; `None` as the bodies have it.
    pub d_max: Option<f64>,
    /// Implicit dilations (mm), added to those of the scene; `None` as the bodies have them.
    pub dilation: Option<[f64; 2]>,
    /// Not asked at all.
    pub ignored: bool,
}

impl BodyOptions {
    pub(super) fn check(&self) -> Result<(), SceneError> {
        self.d_max.map_or(Ok(()), check_d_max)?;
        check_dilation(self.dilation)
    }
}

impl PairOptions {
    pub(super) fn check(&self) -> Result<(), SceneError> {
        self.d_max.map_or(Ok(()), check_d_max)?;
        self.dilation.into_iter().flatten().try_for_each(check_dilation)
    }

    /// The same, for the bodies the other way round.
    pub(super) fn swapped(self) -> Self {
        Self { dilation: self.dilation.map(|[a, b]| [b, a]), ..self }
    }
}

pub(super) fn check_d_max(d_max: f64) -> Result<(), SceneError> {
    if d_max.is_finite() && d_max >= 0.0 { Ok(()) } else { Err(SceneError::DMax(d_max)) }
}

fn check_dilation(dilation: f64) -> Result<(), SceneError> {
    if dilation.is_finite() { Ok(()) } else { Err(SceneError::Dilation(dilation)) }
}

/// A body: one solid, or several that move as one.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: BodyId,
    pub(super) pose: Pose,
    pub(super) options: BodyOptions,
    pub(super) parts: Vec<Part>,
}

/// A solid of a body.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) body: Arc<Body>,
    /// Its place in the body's frame.
    pub(super) local: Pose,
    /// Its number in the broad phase.
    pub(super) number: u32,
}

/// A solid of a body of the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PartRef {
    pub(super) body: BodyId,
    pub(super) part: u32,
}

impl Entry {
    pub(super) fn part_refs(&self) -> impl Iterator<Item = PartRef> + Clone {
        let body = self.id;
        (0..).take(self.parts.len()).map(move |part| PartRef { body, part })
    }
}
