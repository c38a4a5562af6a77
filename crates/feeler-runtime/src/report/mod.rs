//! What is told about two posed solids on request, and costs more than a query.
//!
//! Each of these asks for itself: what earlier queries of the pair have found is neither used nor changed.
//!
//! # Source
//! MATH §15.

mod contacts;
mod curves;
mod distance;
mod region;
mod separate;
mod stretch;

use crate::pair::relative_pose;
use crate::query::Context;
use crate::tolerance::Tolerances;
use crate::{ContactPair, QueryError, QueryOptions};
use feeler_geom::Pose;

/// What the numerics of a report need of two posed solids.
fn context<'a>(
    pair: &'a ContactPair,
    (pose_a, pose_b): (&Pose, &Pose),
    options: &QueryOptions,
) -> Result<Context<'a>, QueryError> {
    options.check()?;
    let pose_ab = relative_pose(pose_a, pose_b)?;
    let (a, b) = (pair.body_a().as_ref(), pair.body_b().as_ref());
    let tol = Tolerances::new(a, b, &pose_ab, options.tolerance);
    Ok(Context {
        a,
        b,
        pose_ab,
        pose_ba: pose_ab.inverse(),
        tol,
        d_max: options.d_max,
        least: tol.least_distance_apart(),
        alpha: 0.0,
        cull: None,
    })
}
