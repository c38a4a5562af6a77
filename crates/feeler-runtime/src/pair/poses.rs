//! Queries of many poses of two bodies, distributed among threads.

use super::ContactPair;
use crate::api::error::BatchError;
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use feeler_geom::Pose;
use rayon::prelude::*;

/// Number of poses that one thread computes in sequence with the same pair. A larger value distributes few
/// poses unevenly; a smaller one allocates the memory of pairs more often.
const CHUNK: usize = 32;

impl ContactPair {
    /// Queries the bodies of the pair at many poses, in parallel, and returns the results that `read` takes
    /// from a pair after the query of each pose. `poses` are the poses of A and B. The pair itself keeps its
    /// results, contacts and identities.
    ///
    /// # Guarantees
    /// Each result equals that of the first query of a new pair, bit for bit, for any number of threads:
    /// nothing is reused from pose to pose but allocations. Contacts therefore have age 0, and identities
    /// are not tracked from pose to pose.
    ///
    /// # Errors
    /// [`BatchError`] with the first pose that [`ContactPair::query`] rejects.
    pub fn query_poses<T: Send>(
        &self,
        poses: &[[Pose; 2]],
        options: &QueryOptions,
        read: impl Fn(&mut Self) -> T + Sync,
    ) -> Result<Vec<T>, BatchError> {
        // The poses are distributed among the threads, so each query uses one.
        let options = QueryOptions { parallel: false, ..*options };
        let of_chunk = |(k, chunk): (usize, &[[Pose; 2]])| {
            let mut pair = Self::new(self.a.clone(), self.b.clone());
            let of_pose = |(i, [pose_a, pose_b]): (usize, &[Pose; 2])| {
                pair.forget();
                let found = pair.query(pose_a, pose_b, &options).map(drop);
                found.map_err(|error| BatchError { item: "pose", index: k * CHUNK + i, error })?;
                Ok(read(&mut pair))
            };
            chunk.iter().enumerate().map(of_pose).collect()
        };
        let chunks: Vec<Result<Vec<T>, BatchError>> =
            poses.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let mut out = Vec::with_capacity(poses.len());
        for chunk in chunks {
            out.extend(chunk?);
        }
        Ok(out)
    }

    /// Smallest signed distances (mm) at many poses, by [`ContactPair::query_poses`]: the smallest distance
    /// of a contact; infinity without a contact within [`QueryOptions::d_max`]; and minus infinity if the
    /// solids interfere and no contact is pressed, because they penetrate each other deeper than
    /// [`QueryOptions::penetration`].
    ///
    /// # Errors
    /// Errors of [`ContactPair::query_poses`].
    pub fn distances(&self, poses: &[[Pose; 2]], options: &QueryOptions) -> Result<Vec<f64>, BatchError> {
        self.query_poses(poses, options, |pair| pair.signed_distance())
    }

    /// Smallest signed distances of many pairs at many poses, in parallel: [`ContactPair::distances`] of each
    /// pair at its poses.
    ///
    /// # Errors
    /// Index of the first pair with a rejected pose, and the error.
    pub fn distances_of_pairs(
        pairs: &[(&Self, &[[Pose; 2]])],
        options: &QueryOptions,
    ) -> Result<Vec<Vec<f64>>, (usize, BatchError)> {
        let of_pairs: Vec<Result<Vec<f64>, BatchError>> =
            pairs.par_iter().map(|(pair, poses)| pair.distances(poses, options)).collect();
        let numbered = of_pairs.into_iter().enumerate();
        numbered.map(|(i, distances)| distances.map_err(|error| (i, error))).collect()
    }

    /// Smallest signed distance (mm) of the last query, as in [`ContactPair::distances`].
    fn signed_distance(&self) -> f64 {
        let distance = self.min_distance().unwrap_or(f64::INFINITY);
        // Contacts above this distance are not pressed.
        let is_pressed = distance < self.tolerances().min_distance();
        if self.status() == Some(Status::Interfering) && !is_pressed { f64::NEG_INFINITY } else { distance }
    }
}
