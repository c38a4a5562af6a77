//! How far two solids are apart, however far that is.

use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::body::coordinates::relative_pose;
use crate::pair::ContactPair;
use feeler_geom::Pose;
use std::sync::Arc;

/// The first search goes as far as this part of both solids' sizes beyond the gap between their boxes, each
/// next one twice as far.
const FIRST: f64 = 1e-2;

impl ContactPair {
    /// Smallest signed distance (mm) between the boundaries of both solids, regardless of `d_max`. Negative
    /// values are those that [`ContactPair::min_distance`] reports for touching solids. `None` for a body
    /// without features. The search range grows until a minimum is found; each range takes one query without
    /// a verdict.
    ///
    /// The distance of interfering solids is not a penetration depth.
    ///
    /// # Errors
    /// As [`ContactPair::query`].
    pub fn nearest_distance(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Option<f64>, QueryError> {
        let (a, b) = (self.body_a(), self.body_b());
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let (box_a, box_b) = (a.posed_bounds(&Pose::identity()), b.posed_bounds(&pose_ab));
        let mut pair = ContactPair::new(Arc::clone(a), Arc::clone(b));
        // Errors in poses and options are those of a query.
        pair.query(pose_a, pose_b, &QueryOptions { d_max: 0.0, ..options.for_verdict() })?;
        if box_a.is_empty() || box_b.is_empty() {
            return Ok(None);
        }
        let gap = (box_a.min - box_b.max).sup(&(box_b.min - box_a.max)).map(|x| x.max(0.0)).norm();
        let size = a.size() + b.size();
        let mut beyond = FIRST * size;
        loop {
            let minima = QueryOptions {
                d_max: gap + beyond,
                quasi_angle: 0.0,
                penetration: 0.0,
                detect_interference: false,
                ..*options
            };
            pair.query(pose_a, pose_b, &minima)?;
            if pair.min_distance().is_some() || beyond > size {
                return Ok(pair.min_distance());
            }
            beyond *= 2.0;
        }
    }
}
