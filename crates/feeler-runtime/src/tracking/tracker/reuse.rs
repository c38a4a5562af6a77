//! Contacts after a motion so small that they are not searched again.
//!
//! Solids at rest move by picometres from step to step. After a motion far below the tolerance, the
//! footpoints of the last search are still those of the contacts, up to the motion, and each gap follows the
//! displacement of B's footpoint along the normal. Gaps are wrong, contacts that begin are missed, and
//! contacts that end remain, by at most that displacement.
//!
//! # Source
//! MATH §23.

use super::{ContactTracker, StepBound};
use feeler_geom::Pose;

/// Largest displacement since the last search, as a fraction of the size of the larger solid, after which
/// contacts are moved instead of searched: a tenth of the tolerance. A larger value reports contacts later
/// and the status less exactly; a smaller one searches more often.
const MOVED_SIZE: f64 = 1e-8;
/// Largest displacement since the last search, as a fraction of the accepted error of a gap, after which
/// contacts are moved instead of searched: half a nanometre by default, which is below the accuracy to which
/// feeler-dynamics closes gaps. A larger value reports contacts of large solids later; a smaller one searches
/// more often.
const MOVED_GAP_ERROR: f64 = 5e-4;
/// Largest motion since the last search, as a fraction of the bound of the step, after which contacts are
/// moved instead of searched. A larger value uses more of the bound up; a smaller one searches more often
/// for small bounds.
const MOVED_BOUND: f64 = 1.0 / 16.0;
/// Largest ratio of the bound for which contacts were searched to that of the step for which they are moved.
/// A larger value keeps contacts of faster steps; a smaller one searches more often for engines whose bounds
/// vary.
const MAX_BOUND_RATIO: f64 = 2.0;

/// The search in which the contacts were found.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastSearch {
    /// Pose of B in A's frame, at which the footpoints and normals of the contacts were computed.
    pub pose_ab: Pose,
    /// Bound of the step for which the contacts were searched.
    pub bound: StepBound,
    /// Depth (mm) down to which contacts were searched.
    pub depth: f64,
    /// Number of contacts that were dropped because of
    /// [`TrackerOptions::max_contacts`](super::TrackerOptions).
    pub dropped: usize,
    /// Whether corners or samples that the step needs may be missing because of limits on their numbers.
    pub is_limited: bool,
}

impl ContactTracker {
    /// Largest motion since a search after which the contacts are moved for a step within `bound`. It is
    /// zero for a bound of zero, whose contacts are the minima at each pose.
    fn max_moved(&self, bound: &StepBound) -> StepBound {
        let size = self.size();
        let displacement = (MOVED_GAP_ERROR * self.gap_error(bound)).min(MOVED_SIZE * size);
        let displacement = displacement.min(MOVED_BOUND * bound.displacement);
        StepBound { rotation: (displacement / size).min(MOVED_BOUND * bound.rotation), displacement }
    }

    /// Moves the contacts of the last search to the relative pose `pose_ab`, `moved` away from the pose of
    /// that search, for a step within `bound`. Returns `false`, without a change, if the contacts must be
    /// searched: before the first search, after a larger motion, for a bound that is larger or much smaller,
    /// if contacts were dropped, and if interference without a contact was found.
    pub(super) fn move_contacts(&mut self, pose_ab: &Pose, bound: &StepBound, moved: &StepBound) -> bool {
        let Some(search) = self.last.filter(|last| !last.hidden).map(|last| last.search) else {
            return false;
        };
        let is_for_step =
            search.bound.contains(bound) && bound.times(MAX_BOUND_RATIO).contains(&search.bound);
        if !is_for_step || search.dropped > 0 || !self.max_moved(bound).contains(moved) {
            return false;
        }
        let [dilation_a, dilation_b] = self.options.dilations;
        for (contact, gap) in self.contacts.iter_mut().zip(&self.searched_gaps) {
            let displaced = pose_ab * contact.local_b - search.pose_ab * contact.local_b;
            contact.gap = gap + contact.local_normal.dot(&displaced);
            contact.distance = contact.gap + (dilation_a + dilation_b);
            contact.age = contact.age.saturating_add(1);
        }
        for known in &mut self.known {
            known.age = known.age.saturating_add(1);
        }
        true
    }
}
