//! Largest coordinates at which rounding stays within a tenth of the tolerance.
//!
//! The relative pose of two bodies is `R_A⁻¹ (t_B − t_A)`: the difference of the translations is formed
//! first, so that an offset that both bodies share cancels however large it is. A query computes with
//! coordinates up to the length of that difference plus the extents of the bodies about their own origins,
//! and rounding of these moves footpoints by 2⁻⁵² of them. Where that exceeds a tenth of the tolerance, the
//! query is refused with [`QueryError::CoordinatesTooLarge`], with one exception: if the boxes of the bodies
//! are farther apart than `d_max` by more than rounding, the result is certain (no minimum, separated) and is
//! returned.

use crate::api::error::QueryError;
use crate::api::options::{MAX_COORDINATES, QueryOptions};
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use feeler_geom::{P3, Pose, V3};

/// Largest rounding (2⁻⁵² of the coordinates), as a share of the tolerance without rounding. With a
/// larger value, distances are rounded by as much as the tolerance; with a smaller one, more poses are
/// refused.
const ROUNDING_SHARE: f64 = 0.1;
/// Rounding of the distance between two boxes, times the coordinates. With a larger value, distant solids
/// are refused; with a smaller one, rounding separates solids.
const BOX_ROUNDING: f64 = 1e-12;

/// Pose that maps coordinates of B to those of A. The translations are subtracted before they are rotated.
pub(crate) fn relative_pose(pose_a: &Pose, pose_b: &Pose) -> Result<Pose, QueryError> {
    let pose_ab = pose_a.inv_mul(pose_b);
    match (is_finite(pose_a), is_finite(pose_b), is_finite(&pose_ab)) {
        (false, _, _) => Err(QueryError::PoseA),
        (_, false, _) => Err(QueryError::PoseB),
        (_, _, false) => Err(QueryError::PosesTooFarApart),
        _ => Ok(pose_ab),
    }
}

pub(crate) fn is_finite(pose: &Pose) -> bool {
    pose.translation.vector.iter().all(|x| x.is_finite())
        && pose.rotation.coords.iter().all(|x| x.is_finite())
}

/// Result of the check of the coordinates of a query that is not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoordinateRange {
    /// Rounding of the coordinates is at most a tenth of the tolerance.
    Within,
    /// Rounding is larger, but the boxes (or the point and the box) are farther apart than the query
    /// reaches, so that no minimum exists.
    BeyondReach,
}

/// Largest coordinates (mm) at which rounding is at most a tenth of a tolerance (mm).
pub(crate) fn max_coordinates(tolerance: f64) -> f64 {
    (ROUNDING_SHARE * tolerance / f64::EPSILON).min(MAX_COORDINATES)
}

/// Returns [`QueryError::CoordinatesTooLarge`] if rounding of these coordinates (mm) exceeds a tenth of the
/// tolerance for solids of this size (mm); `tolerance` as in [`QueryOptions::tolerance`].
pub(crate) fn check_coordinates(
    coordinates: f64,
    size: f64,
    tolerance: Option<f64>,
) -> Result<(), QueryError> {
    let tolerance = Tolerances::before_rounding(size, tolerance);
    let limit = max_coordinates(tolerance);
    if coordinates <= limit {
        Ok(())
    } else {
        Err(QueryError::CoordinatesTooLarge { coordinates, limit, tolerance })
    }
}

/// Checks whether rounding of the coordinates of two bodies is at most a tenth of the tolerance. The
/// relative pose must be finite. If rounding is larger, returns [`CoordinateRange::BeyondReach`] if the
/// bodies are certainly farther apart than `d_max`, and [`QueryError::CoordinatesTooLarge`] otherwise.
pub(crate) fn coordinate_range(
    a: &Body,
    b: &Body,
    pose_ab: &Pose,
    options: &QueryOptions,
) -> Result<CoordinateRange, QueryError> {
    let own = farthest_corner(a).max(farthest_corner(b));
    let coordinates = length(&pose_ab.translation.vector) + own;
    let size = a.size().max(b.size());
    match check_coordinates(coordinates, size, options.tolerance) {
        Ok(()) => Ok(CoordinateRange::Within),
        Err(_) if is_beyond(a, b, pose_ab, (coordinates, options)) => Ok(CoordinateRange::BeyondReach),
        Err(error) => Err(error),
    }
}

/// Whether the balls around the boxes of two bodies are farther apart than `d_max`, by more than rounding
/// and the distance that solids may extend beyond their boxes.
fn is_beyond(a: &Body, b: &Body, pose_ab: &Pose, (coordinates, options): (f64, &QueryOptions)) -> bool {
    if a.bounds().is_empty() || b.bounds().is_empty() {
        return true;
    }
    let centers = pose_ab * b.bounds().center() - a.bounds().center();
    let radii = 0.5 * (a.size() + b.size()) + a.deviation() + b.deviation();
    let tolerance = Tolerances::before_rounding(a.size().max(b.size()), options.tolerance);
    length(&centers) * (1.0 - BOX_ROUNDING) - BOX_ROUNDING * coordinates - radii - tolerance > options.d_max
}

/// Checks the coordinates of a point in the frame of a body, for a query of the boundary within `reach`
/// (mm) of the point.
///
/// # Errors
/// [`QueryError::Point`], [`QueryError::CoordinatesTooLarge`].
pub(crate) fn point_range(body: &Body, p: &P3, reach: f64) -> Result<CoordinateRange, QueryError> {
    if !p.iter().all(|x| x.is_finite()) {
        return Err(QueryError::Point);
    }
    let coordinates = length(&p.coords).max(farthest_corner(body));
    let checked = check_coordinates(coordinates, body.size(), None);
    let is_beyond = || {
        let radius = 0.5 * body.size() + body.deviation() + Tolerances::before_rounding(body.size(), None);
        let center = length(&(p - body.bounds().center()));
        body.bounds().is_empty()
            || center * (1.0 - BOX_ROUNDING) - BOX_ROUNDING * coordinates - radius > reach
    };
    match checked {
        Ok(()) => Ok(CoordinateRange::Within),
        Err(_) if is_beyond() => Ok(CoordinateRange::BeyondReach),
        Err(error) => Err(error),
    }
}

/// Length of a vector whose squares may overflow.
pub(crate) fn length(v: &V3) -> f64 {
    let largest = v.amax();
    if largest > 0.0 && largest.is_finite() { (v / largest).norm() * largest } else { largest }
}

/// Poses of two bodies without the offset that both share: A is at the origin, and both keep their rotation.
pub(crate) fn without_common_offset(pose_a: &Pose, pose_b: &Pose) -> Result<[Pose; 2], QueryError> {
    relative_pose(pose_a, pose_b)?;
    let apart = pose_b.translation.vector - pose_a.translation.vector;
    let at = |t: V3, pose: &Pose| Pose::from_parts(t.into(), pose.rotation);
    Ok([at(V3::zeros(), pose_a), at(apart, pose_b)])
}

/// Distance (mm) of the farthest corner of a body's box from the origin of its coordinates.
pub(crate) fn farthest_corner(body: &Body) -> f64 {
    let bounds = body.bounds();
    if bounds.is_empty() { 0.0 } else { length(&bounds.min.coords.abs().sup(&bounds.max.coords.abs())) }
}
