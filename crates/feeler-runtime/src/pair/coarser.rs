//! Queries at coarser tolerances of pairs whose verdict is undecided.

use super::ContactPair;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use feeler_geom::Pose;

/// Tolerances of repeated queries, as multiples of the one that left the verdict undecided. With more or
/// smaller multiples, undecided pairs take longer; with larger ones, small overlaps count as contact.
pub const COARSER_TOLERANCES: [f64; 4] = [3.0, 10.0, 30.0, 100.0];

impl ContactPair {
    /// Queries the pair like [`ContactPair::query`] and, while the verdict is undecided, repeats the query
    /// with the multiples [`COARSER_TOLERANCES`] of its tolerance. Returns the tolerance (mm) of the first
    /// repetition that is decided, whose results the pair then holds. Returns `None` if no repetition was
    /// necessary, or if all of them are undecided or have an invalid tolerance; the pair then holds the
    /// results of the query with `options`.
    ///
    /// # Guarantees
    /// Solids that are `Interfering` at a coarser tolerance have a common point deeper than that tolerance,
    /// and so interfere at the finer one, too. Solids that are `Touching` or `Separated` at a coarser
    /// tolerance have no common point deeper than about twice the coarser tolerance, plus the deviation of
    /// the edges at [`Verdict::widened`](crate::Verdict) points.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    pub fn query_decided(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Option<f64>, QueryError> {
        self.query(pose_a, pose_b, options)?;
        if self.status() != Some(Status::Undecided) {
            return Ok(None);
        }
        let finest = self.tolerances().tol;
        for multiple in COARSER_TOLERANCES {
            let tolerance = multiple * finest;
            let coarser = QueryOptions { tolerance: Some(tolerance), ..*options };
            // Too large a tolerance is an error that the caller did not make.
            if self.query(pose_a, pose_b, &coarser).is_err() {
                break;
            }
            if self.status() != Some(Status::Undecided) {
                return Ok(Some(tolerance));
            }
        }
        self.query(pose_a, pose_b, options)?;
        Ok(None)
    }

    /// Lowers the bounds of the depth at the undecided places of the last verdict to `depth` (mm), for
    /// callers that know that no common point is deeper, for example from a query at a coarser tolerance. The
    /// next query for other poses reports the bounds anew.
    pub fn limit_depth(&mut self, depth: f64) {
        for place in &mut self.state.verdict.undecided {
            place.depth_bound = place.depth_bound.min(depth);
        }
    }
}
