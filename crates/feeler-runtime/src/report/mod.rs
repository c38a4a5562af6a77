//! Reports about two posed solids that are computed on request: contact regions, crossing curves, a
//! separating translation, the overlap, and distances. Each takes longer than a query.
//!
//! Each report runs its own queries and neither reads nor changes the results of earlier queries of the pair.
//!
//! # Source
//! MATH §15.

mod contacts;
mod curves;
mod distance;
mod region;
mod separate;
mod stretch;
pub(crate) mod volume;

use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::body::coordinates::{CoordinateRange, coordinate_range, relative_pose};
use crate::pair::ContactPair;
use crate::query::{Context, Waves};
use feeler_geom::Pose;

/// Context of a report about two posed solids; `None` if the solids are so far apart that their
/// coordinates are too large for a query.
fn context<'a>(
    pair: &'a ContactPair,
    (pose_a, pose_b): (&Pose, &Pose),
    options: &QueryOptions,
) -> Result<Option<Context<'a>>, QueryError> {
    options.check()?;
    let pose_ab = relative_pose(pose_a, pose_b)?;
    let (a, b) = (pair.body_a().as_ref(), pair.body_b().as_ref());
    let at_contact = QueryOptions { d_max: 0.0, ..*options };
    if coordinate_range(a, b, &pose_ab, &at_contact)? == CoordinateRange::BeyondReach {
        return Ok(None);
    }
    let tol = Tolerances::new(a, b, &pose_ab, options.tolerance);
    Ok(Some(Context {
        a,
        b,
        pose_ab,
        pose_ba: pose_ab.inverse(),
        tol,
        d_max: options.d_max,
        least: tol.min_distance_apart(),
        penetration: 0.0,
        quasi_angle: 0.0,
        waves: Waves::NONE,
        step: None,
        cull: None,
    }))
}
