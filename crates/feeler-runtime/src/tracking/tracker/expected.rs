//! Bounds of the next step, estimated from the last motion, for engines that cannot query within a step.

use super::{ContactTracker, StepBound};
use crate::api::error::QueryError;
use feeler_geom::Pose;

/// Bound of the motion in the next step, as a multiple of the motion in the last step. It exceeds 1
/// because contacts can rotate a body faster than before. A larger value makes steps slower; with a
/// smaller one, impacts rotate bodies farther than their contacts cover.
const MOTION_FACTOR: f64 = 2.0;

impl ContactTracker {
    /// Estimates a bound of the step from these poses, for engines that cannot query within a step. It is
    /// twice the relative motion since the last update, plus the displacement `forced` (mm) that forces
    /// add in a step, such as g·dt². The bound is at most `max_displacement` (mm) and
    /// [`TrackerOptions::max_step`](super::TrackerOptions). The first step, and a step after a jump, get
    /// `max_displacement`.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite.
    pub fn expected_bound(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        forced: f64,
        max_displacement: f64,
    ) -> Result<StepBound, QueryError> {
        let max_step = self.options.max_step;
        let motion = self.motion_to(pose_a, pose_b)?.filter(|motion| max_step.contains(motion));
        Ok(self.bound_after(motion, forced, max_displacement))
    }

    /// Estimates a bound of the next step like [`ContactTracker::expected_bound`], from bounds of the
    /// motion in the last step; `motion` is `None` if these are unknown.
    #[must_use]
    pub fn bound_after(&self, motion: Option<StepBound>, forced: f64, max_displacement: f64) -> StepBound {
        let [a, b] = self.bodies();
        let displacement =
            motion.map_or(max_displacement, |motion| MOTION_FACTOR * motion.displacement + forced);
        let displacement = displacement.min(max_displacement);
        // A contact at one end of a body turns its translation into a rotation.
        let turned = displacement / (0.5 * a.size().min(b.size()));
        let rotation = turned.max(MOTION_FACTOR * motion.map_or(0.0, |motion| motion.rotation));
        StepBound { rotation, displacement }.min(&self.options.max_step)
    }
}
