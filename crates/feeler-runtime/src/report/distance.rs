//! Smallest distance of two solids without an upper limit.

use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::body::coordinates::relative_pose;
use crate::pair::ContactPair;
use feeler_geom::Pose;
use std::sync::Arc;

/// Distance by which the first search extends beyond the gap between the boxes of both solids, as a
/// fraction of the sum of their sizes; each further search extends twice as far. It affects speed only: a
/// larger value makes the first search slower, a smaller one causes more searches.
const FIRST_RANGE: f64 = 1e-2;

impl ContactPair {
    /// Computes the smallest signed distance (mm) between the boundaries of both solids, regardless of
    /// [`QueryOptions::d_max`]. `None` for a body without features, and if interfering solids have no
    /// minimum.
    ///
    /// Small negative values occur for touching solids, as in [`ContactPair::min_distance`]. The distance
    /// of interfering solids is not a penetration depth. Queries without a verdict are repeated with a
    /// growing `d_max` until a minimum is found. The results of the last query of this pair do not change.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
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
        // Reports errors in poses and options like a query.
        pair.query(pose_a, pose_b, &QueryOptions { d_max: 0.0, ..options.for_verdict() })?;
        if box_a.is_empty() || box_b.is_empty() {
            return Ok(None);
        }
        let gap = (box_a.min - box_b.max).sup(&(box_b.min - box_a.max)).map(|x| x.max(0.0)).norm();
        let size = a.size() + b.size();
        let mut beyond = FIRST_RANGE * size;
        loop {
            let minima = QueryOptions {
                d_max: gap + beyond,
                quasi_angle: 0.0,
                penetration: 0.0,
                detect_interference: false,
                ..*options
            };
            pair.query_nearest(pose_a, pose_b, &minima)?;
            if pair.min_distance().is_some() || beyond > size {
                return Ok(pair.min_distance());
            }
            beyond *= 2.0;
        }
    }
}
