//! Depth of solids in one another.

use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryError, QueryOptions, Status};

/// Depth (mm) down to which contacts are searched first. Deep contacts take several times as long.
const SHALLOW: f64 = 0.05;
/// Largest depth, as a part of the sum of both walls: at half of it, the far side of a wall is as near.
const MAX_WALL_PART: f64 = 0.45;

/// Computes the contacts of two solids down to a depth at which their walls still separate their sides.
/// Returns false if the solids interfere and no contact has a negative gap.
///
/// # Errors
/// Errors of [`ContactPair::query`].
pub fn query_depth(pair: &mut ContactPair, a: &Pose, b: &Pose, reach: f64) -> Result<bool, QueryError> {
    let deepest = MAX_WALL_PART * (pair.body_a().min_thickness() + pair.body_b().min_thickness());
    for penetration in [SHALLOW.min(deepest), deepest] {
        let options =
            QueryOptions { penetration, verdict_unless_pressed: true, ..QueryOptions::within(reach) };
        let is_pressed = pair.query(a, b, &options)?.iter().any(|l| l.gap < 0.0);
        if is_pressed || pair.status() != Some(Status::Interfering) {
            return Ok(true);
        }
    }
    Ok(false)
}
