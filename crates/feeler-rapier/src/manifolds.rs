//! Conversion of local minimal distances to Rapier's contacts.

use crate::units::{self, METRES};
use feeler_geom::Pose;
use feeler_runtime::{Body, Contact, ContactTracker, QueryError, TrackedStatus, TrackerOptions};
use rapier3d_f64::geometry::{ContactData, ContactManifoldData};
use rapier3d_f64::math;
use rapier3d_f64::parry::query::{ContactManifold, TrackedContact, TypedWorkspaceData, WorkspaceData};
use rapier3d_f64::parry::shape::PackedFeatureId;
use std::sync::Arc;

/// Rapier's manifold with one contact, because a manifold has one normal and each minimum has its own.
pub type Manifold = ContactManifold<ContactManifoldData, ContactData>;

/// State of the contacts of two colliders that persists from step to step.
#[derive(Debug)]
pub(crate) struct PairMemory {
    tracker: ContactTracker,
    /// Identities of the contacts of the present manifolds (those of the last update), ascending, in the
    /// order of the manifolds.
    ids: Vec<u64>,
    /// Identities of the contacts of the manifolds before the last update, ascending.
    ids_before: Vec<u64>,
    /// Empty list between updates, whose memory takes the earlier manifolds during an update.
    spare: Vec<Manifold>,
}

/// Parameters of the contacts of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Largest gap (mm) of reported contacts: Rapier's prediction distance.
    pub prediction: f64,
    /// Largest depth (mm) of reported contacts, as a positive number.
    pub depth: f64,
    /// Largest displacement (mm) that forces add to the motion of the last step in the next one.
    pub forced_displacement: f64,
}

impl PairMemory {
    pub(crate) fn new(a: &Arc<Body>, b: &Arc<Body>) -> Self {
        let tracker = ContactTracker::new(a.clone(), b.clone(), TrackerOptions::default());
        Self { tracker, ids: Vec::new(), ids_before: Vec::new(), spare: Vec::new() }
    }

    /// Whether the state belongs to the bodies `a` and `b`, compared by address, not by content.
    pub(crate) fn is_of(&self, a: &Arc<Body>, b: &Arc<Body>) -> bool {
        let [own_a, own_b] = self.tracker.bodies();
        Arc::ptr_eq(own_a, a) && Arc::ptr_eq(own_b, b)
    }

    /// Replaces `manifolds` by those of the contacts of a step; contacts of the previous step keep their
    /// impulses. `pose` is Rapier's pose (m) of B in the frame of A. Returns false if the solids
    /// interfere and no contact has a negative gap.
    ///
    /// # Errors
    /// Errors of [`ContactTracker::update`]; the list of manifolds is empty then.
    pub(crate) fn update(
        &mut self,
        pose: &math::Pose,
        request: &Request,
        manifolds: &mut Vec<Manifold>,
    ) -> Result<bool, QueryError> {
        let mut earlier = std::mem::take(&mut self.spare);
        std::mem::swap(manifolds, &mut earlier);
        let ab = units::exact_pose(pose);
        let options = TrackerOptions { max_depth: request.depth, reach: 0.0, ..TrackerOptions::default() };
        self.tracker.set_options(options);
        // Rapier cannot query again within a step.
        let id = Pose::identity();
        let bound = self.tracker.expected_bound(&id, &ab, request.forced_displacement, request.prediction);
        let updated = bound.and_then(|bound| self.tracker.update(&id, &ab, bound));
        std::mem::swap(&mut self.ids, &mut self.ids_before);
        self.ids.clear();
        for c in self.tracker.active() {
            // Another pipeline may have replaced the manifolds since, so their number can differ from that of
            // the identities.
            let before = self.ids_before.binary_search(&c.id).ok().and_then(|i| earlier.get_mut(i));
            let mut manifold = before.map_or_else(Manifold::new, std::mem::take);
            fill(&mut manifold, c, pose);
            manifolds.push(manifold);
            self.ids.push(c.id);
        }
        earlier.clear();
        self.spare = earlier;
        updated.map(|_| self.tracker.status() != TrackedStatus::Interfering)
    }
}

fn fill(manifold: &mut Manifold, c: &Contact, pose: &math::Pose) {
    let normal = units::direction(&c.local_normal);
    manifold.local_n1 = normal;
    manifold.local_n2 = pose.rotation.inverse() * -normal;
    (manifold.subshape1, manifold.subshape2) = split(c.id);
    // Indices in Rapier's packed features have 30 bits.
    let [f1, f2] = c.features().map(|(_, index)| PackedFeatureId::face(index & FEATURE_INDEX_MASK));
    let (p1, p2) = (units::point(&c.local_a), units::point(&c.local_b));
    let contact = TrackedContact::new(p1, p2, f1, f2, c.gap * METRES);
    match manifold.points.first_mut() {
        Some(point) => {
            let data = point.data;
            *point = TrackedContact { data, ..contact };
        }
        None => manifold.points.push(contact),
    }
}

/// Identity of the contact of a manifold between exact shapes: [`Contact::id`]. It is stored in
/// the indices of sub-shapes, which exact shapes do not use.
#[must_use]
pub fn contact_id(manifold: &Manifold) -> u64 {
    u64::from(manifold.subshape1) | u64::from(manifold.subshape2) << u32::BITS
}

/// Splits an identity into its lower and its upper 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the halves of the number are wanted")]
fn split(id: u64) -> (u32, u32) {
    (id as u32, (id >> u32::BITS) as u32)
}

/// Mask of the bits of the index in one of Rapier's packed features.
const FEATURE_INDEX_MASK: u32 = (1 << 30) - 1;

impl WorkspaceData for PairMemory {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    /// Clones the contacts; the clone's tracker computes its culling state anew.
    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(Self {
            tracker: self.tracker.clone(),
            ids: self.ids.clone(),
            ids_before: Vec::new(),
            spare: Vec::new(),
        })
    }
}
