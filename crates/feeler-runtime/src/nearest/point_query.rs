//! What users ask about points.

use super::membership::{RayScratch, contains};
use super::{NearScratch, nearest};
use crate::Body;
use feeler_geom::{P3, V3};

/// The boundary point of a solid nearest to a point, in the solid's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPoint {
    /// Distance (mm), never negative.
    pub distance: f64,
    /// The boundary point.
    pub foot: P3,
    /// Outward unit normal there, where the foot is in the interior of a face.
    pub normal: Option<V3>,
}

/// Asks where points are from solids; its room is kept from call to call. All in the solid's own frame.
#[derive(Debug, Default)]
pub struct PointQuery {
    near: NearScratch,
    rays: RayScratch,
}

impl PointQuery {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The nearest point of the boundary within `limit` (mm) of `p`; `None` when there is none. Exact to
    /// rounding inside of faces with a closed form, on edges to the deviation of the trims
    /// (`SolidInfo::max_trim_deviation`).
    pub fn nearest(&mut self, body: &Body, p: &P3, limit: f64) -> Option<NearestPoint> {
        let found = nearest(body, p, limit, &mut self.near)?;
        Some(NearestPoint { distance: found.distance, foot: found.foot, normal: found.normal })
    }

    /// Whether `p` is inside the solid; `None` when it is within `tolerance` (mm) of the boundary, or where
    /// no ray tells.
    pub fn contains(&mut self, body: &Body, p: &P3, tolerance: f64) -> Option<bool> {
        contains(body, p, tolerance, &mut self.rays)
    }
}
