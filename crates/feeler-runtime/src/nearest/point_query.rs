//! Queries of single points: nearest boundary point, and whether the point is inside the solid.

use super::membership::{RayScratch, contains};
use super::signed::{BoundaryPoint, signed_foot};
use super::{NearScratch, nearest};
use crate::api::error::QueryError;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::coordinates::{CoordinateRange, point_range};
use feeler_geom::{P3, V3};

/// Boundary point of a solid nearest to a given point, in the frame of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPoint {
    /// Distance (mm) from the given point, never negative, even inside the solid.
    pub distance: f64,
    /// Boundary point nearest to the given point, in the frame of the solid.
    pub foot: P3,
    /// Outward unit normal of the boundary at `foot`; `None` if `foot` is on an edge or a vertex.
    pub normal: Option<V3>,
}

/// Computes nearest boundary points of single points and whether they are inside a solid. Scratch memory
/// is reused between calls. Points are in the frame of the solid.
///
/// If rounding of a point's coordinates exceeds a tenth of the tolerance (1e-7 of the size of the
/// solid), a query returns [`QueryError::CoordinatesTooLarge`], unless the result is certain because the
/// solid is farther from the point than the limit of the query.
#[derive(Debug, Default)]
pub struct PointQuery {
    near: NearScratch,
    rays: RayScratch,
}

impl PointQuery {
    /// Creates a query object; scratch memory is allocated at the first call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the point of the boundary nearest to `p` (frame of the solid) within `limit` (mm), or `None`
    /// if the whole boundary is farther away.
    ///
    /// The result is exact up to rounding in the interior of faces with a closed form. On edges it is exact
    /// up to the deviation of the trims (`SolidInfo::max_trim_deviation`).
    ///
    /// # Errors
    /// [`QueryError::Point`] if a coordinate is not finite, or [`QueryError::CoordinatesTooLarge`].
    pub fn nearest(&mut self, body: &Body, p: &P3, limit: f64) -> Result<Option<NearestPoint>, QueryError> {
        if point_range(body, p, limit)? == CoordinateRange::BeyondReach {
            return Ok(None);
        }
        let found = nearest(body, p, limit, &mut self.near);
        Ok(found.map(|n| NearestPoint { distance: n.distance, foot: n.foot, normal: n.normal }))
    }

    /// Returns the boundary point nearest to `p` (frame of the solid), with the signed distance, however far
    /// away it is. `None` for a body without faces.
    ///
    /// The accuracy is that of [`PointQuery::nearest`]. The sign is right for points farther from the
    /// boundary than the deviation of the trims.
    ///
    /// # Errors
    /// [`QueryError::Point`] if a coordinate is not finite, or [`QueryError::CoordinatesTooLarge`].
    pub fn signed(&mut self, body: &Body, p: &P3) -> Result<Option<BoundaryPoint>, QueryError> {
        point_range(body, p, f64::INFINITY)?;
        let tol = Tolerances::of_lengths(body.size().max(f64::MIN_POSITIVE), body.reach(), None);
        Ok(signed_foot(body, p, &tol, (&mut self.near, &mut self.rays)))
    }

    /// Returns whether `p` (frame of the solid) is inside the solid, or `None` if it is within `tolerance`
    /// (mm) of the boundary or the result is uncertain because the test rays disagree.
    ///
    /// # Errors
    /// [`QueryError::Point`] if a coordinate is not finite, or [`QueryError::CoordinatesTooLarge`].
    pub fn contains(&mut self, body: &Body, p: &P3, tolerance: f64) -> Result<Option<bool>, QueryError> {
        if point_range(body, p, tolerance)? == CoordinateRange::BeyondReach {
            return Ok(Some(false));
        }
        Ok(contains(body, p, tolerance, &mut self.rays))
    }
}
