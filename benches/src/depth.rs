//! Penetration depth of two solids.

use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryError, QueryOptions, Status};

/// Maximum depth (mm) of contacts in the first search. It suffices at most poses, and a deeper search
/// takes several times as long; a much smaller value makes the second search frequent.
const FIRST_DEPTH: f64 = 0.05;
/// Maximum depth of the second search, as a fraction of the sum of both minimum thicknesses. At a depth
/// of half the thickness, the far side of a wall is as near as the near side, so larger values measure
/// from the wrong side.
const MAX_THICKNESS_FRACTION: f64 = 0.45;

/// Computes the contacts of two solids up to the distance `reach` (mm), with depths that are small
/// compared with the minimum thickness, so that the two sides of a wall are distinguished. Returns false
/// if the solids interfere and no contact has a negative gap.
///
/// # Errors
/// Errors of [`ContactPair::query`].
pub fn query_depth(pair: &mut ContactPair, a: &Pose, b: &Pose, reach: f64) -> Result<bool, QueryError> {
    let deepest = MAX_THICKNESS_FRACTION * (pair.body_a().min_thickness() + pair.body_b().min_thickness());
    for penetration in [FIRST_DEPTH.min(deepest), deepest] {
        let options =
            QueryOptions { penetration, verdict_unless_pressed: true, ..QueryOptions::within(reach) };
        let is_pressed = pair.query(a, b, &options)?.iter().any(|l| l.gap < 0.0);
        if is_pressed || pair.status() != Some(Status::Interfering) {
            return Ok(true);
        }
    }
    Ok(false)
}
