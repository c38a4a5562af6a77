//! Queries of single points against a solid.

use super::membership::{RayScratch, contains};
use super::{NearScratch, nearest};
use crate::api::error::QueryError;
use crate::body::Body;
use crate::body::coordinates::{CoordinateRange, point_range};
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

/// Nearest points of boundaries and membership of points, in the frame of the solid. Scratch memory is reused
/// between calls.
///
/// Points so far away that rounding of their coordinates exceeds a tenth of the tolerance (1e-7 of the size
/// of the solid) are refused, unless the result is certain: the solid is farther than the limit, or the point
/// is plainly outside.
#[derive(Debug, Default)]
pub struct PointQuery {
    near: NearScratch,
    rays: RayScratch,
}

impl PointQuery {
    /// A query without scratch memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nearest point of the boundary within `limit` (mm) of `p`, or `None`. Exact to rounding inside of faces
    /// with a closed form; on edges exact to the deviation of the trims (`SolidInfo::max_trim_deviation`).
    ///
    /// # Errors
    /// [`QueryError::Point`], [`QueryError::CoordinatesTooLarge`].
    pub fn nearest(&mut self, body: &Body, p: &P3, limit: f64) -> Result<Option<NearestPoint>, QueryError> {
        if point_range(body, p, limit)? == CoordinateRange::BeyondReach {
            return Ok(None);
        }
        let found = nearest(body, p, limit, &mut self.near);
        Ok(found.map(|n| NearestPoint { distance: n.distance, foot: n.foot, normal: n.normal }))
    }

    /// Whether `p` is inside the solid; `None` if it is within `tolerance` (mm) of the boundary or the rays
    /// disagree.
    ///
    /// # Errors
    /// [`QueryError::Point`], [`QueryError::CoordinatesTooLarge`].
    pub fn contains(&mut self, body: &Body, p: &P3, tolerance: f64) -> Result<Option<bool>, QueryError> {
        if point_range(body, p, tolerance)? == CoordinateRange::BeyondReach {
            return Ok(Some(false));
        }
        Ok(contains(body, p, tolerance, &mut self.rays))
    }
}
