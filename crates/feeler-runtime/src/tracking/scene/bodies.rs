//! Bodies of a scene and their options.

use super::SceneError;
use crate::body::Body;
use feeler_geom::Pose;
use std::sync::Arc;

/// Identifier of a body of a scene. Identifiers increase and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// Options of a body, which apply to all its pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyOptions {
    /// Largest gap (mm) of the contacts that are reported; `None` for the value of the scene. The larger
    /// value of the two bodies of a pair applies.
    pub d_max: Option<f64>,
    /// Thickness (mm) by which the body is dilated, positive outwards; it is added to the dilation in the
    /// options of the scene.
    pub dilation: f64,
    /// Whether the body never moves. Pairs of two fixed bodies are not queried.
    pub fixed: bool,
}

/// Options of a pair of bodies, which replace those of its bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairOptions {
    /// Largest gap (mm) of the pair's contacts that are reported; `None` for the value of the bodies.
    pub d_max: Option<f64>,
    /// Thicknesses (mm) by which the two bodies are dilated, in the order in which
    /// [`Scene::set_pair_options`](super::Scene::set_pair_options) names them. They are added to those of
    /// the scene; `None` for the values of the bodies.
    pub dilation: Option<[f64; 2]>,
    /// Whether the pair is never queried.
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

    /// Copy of these options with the two bodies in the opposite order.
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

/// A body of a scene: one solid, or several solids that move as one.
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
    /// Pose of the solid in the body's frame.
    pub(super) local: Pose,
    /// Index of the solid in the broad phase.
    pub(super) number: u32,
}

/// Reference to a solid of a body of the scene.
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
