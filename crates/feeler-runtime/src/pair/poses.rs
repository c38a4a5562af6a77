//! Queries of many poses of two bodies, distributed among threads.

use super::ContactPair;
use crate::api::error::{BatchError, QueryError};
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use feeler_geom::Pose;
use rayon::prelude::*;

/// Number of poses that one thread computes in sequence with the same pair. A larger value distributes few
/// poses unevenly; a smaller one allocates the memory of pairs more often.
const CHUNK: usize = 32;
/// Range of the first query of [`ContactPair::distances`], as a fraction of the size of the smaller solid.
/// A larger value computes more minima of near solids than the smallest one; a smaller one needs more
/// queries of far solids.
const FIRST_RANGE: f64 = 0.01;
/// Factor from the range of a query without a contact to that of the next one. A larger value computes more
/// minima beyond the smallest one, a smaller one needs more queries.
const RANGE_GROWTH: f64 = 2.0;

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
        self.at_poses(poses, options, |pair, [pose_a, pose_b], options| {
            pair.query(pose_a, pose_b, options)?;
            Ok(read(pair))
        })
    }

    /// Calls a function with a pair without results for each pose, in parallel.
    fn at_poses<T: Send>(
        &self,
        poses: &[[Pose; 2]],
        options: &QueryOptions,
        of_pose: impl Fn(&mut Self, &[Pose; 2], &QueryOptions) -> Result<T, QueryError> + Sync,
    ) -> Result<Vec<T>, BatchError> {
        // The poses are distributed among the threads, so each query uses one.
        let options = QueryOptions { parallel: false, ..*options };
        let of_chunk = |(k, chunk): (usize, &[[Pose; 2]])| {
            let mut pair = Self::new(self.a.clone(), self.b.clone());
            let numbered = |(i, both): (usize, &[Pose; 2])| {
                pair.forget();
                of_pose(&mut pair, both, &options).map_err(|error| BatchError {
                    item: "pose",
                    index: k * CHUNK + i,
                    error,
                })
            };
            chunk.iter().enumerate().map(numbered).collect()
        };
        let chunks: Vec<Result<Vec<T>, BatchError>> =
            poses.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let mut out = Vec::with_capacity(poses.len());
        for chunk in chunks {
            out.extend(chunk?);
        }
        Ok(out)
    }

    /// Smallest signed distances (mm) at many poses, in parallel: the smallest distance of a contact;
    /// infinity without a contact within [`QueryOptions::d_max`]; and minus infinity if the solids interfere
    /// and no contact is pressed, because they penetrate each other deeper than
    /// [`QueryOptions::penetration`]. Minima much farther away than the smallest one are not computed, so
    /// that a large range costs little. The bits are the same for any number of threads.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query_poses`].
    pub fn distances(&self, poses: &[[Pose; 2]], options: &QueryOptions) -> Result<Vec<f64>, BatchError> {
        self.at_poses(poses, options, Self::smallest_distance)
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

    /// Smallest signed distance (mm) at one pose, as in [`ContactPair::distances`], by queries with growing
    /// ranges until one has a contact.
    fn smallest_distance(
        &mut self,
        [pose_a, pose_b]: &[Pose; 2],
        options: &QueryOptions,
    ) -> Result<f64, QueryError> {
        let first = FIRST_RANGE * self.a.size().min(self.b.size());
        let mut narrowed = *options;
        if options.d_max.is_finite() && 0.0 < first && first < options.d_max {
            narrowed.d_max = first;
        }
        loop {
            self.forget();
            self.query_nearest(pose_a, pose_b, &narrowed)?;
            let distance = self.signed_distance();
            if distance < f64::INFINITY || narrowed.d_max >= options.d_max {
                return Ok(distance);
            }
            narrowed.d_max = (RANGE_GROWTH * narrowed.d_max).min(options.d_max);
            // The first query has excluded interference.
            narrowed.detect_interference = false;
        }
    }

    /// Smallest signed distance (mm) of the last query, as in [`ContactPair::distances`].
    fn signed_distance(&self) -> f64 {
        let distance = self.min_distance().unwrap_or(f64::INFINITY);
        // Contacts above this distance are not pressed.
        let is_pressed = distance < self.tolerances().min_distance();
        if self.status() == Some(Status::Interfering) && !is_pressed { f64::NEG_INFINITY } else { distance }
    }
}
