//! From local minimal distances to Rapier's contacts.

use crate::units::{self, METRES};
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, LastingContact, LastingContacts, QueryError};
use rapier3d_f64::geometry::{ContactData, ContactManifoldData};
use rapier3d_f64::math;
use rapier3d_f64::parry::query::{ContactManifold, TrackedContact, TypedWorkspaceData, WorkspaceData};
use rapier3d_f64::parry::shape::PackedFeatureId;
use std::sync::Arc;

/// A manifold of Rapier's. Each has one contact: manifolds have one normal, minima have their own.
pub type Manifold = ContactManifold<ContactManifoldData, ContactData>;

/// What two colliders remember from step to step.
#[derive(Debug)]
pub(crate) struct PairMemory {
    pair: ContactPair,
    lasting: LastingContacts,
    /// Identities of the manifolds of the last step, in their order, which is ascending.
    ids: Vec<u64>,
    /// Storage of the manifolds that were, to be filled again.
    spare: Vec<Manifold>,
}

impl PairMemory {
    pub(crate) fn new(a: &Arc<Body>, b: &Arc<Body>) -> Self {
        let pair = ContactPair::new(a.clone(), b.clone());
        let lasting = LastingContacts::new(a.size().min(b.size()));
        Self { pair, lasting, ids: Vec::new(), spare: Vec::new() }
    }

    /// Whether it is of these bodies: the same ones, not only equal ones.
    pub(crate) fn is_of(&self, a: &Arc<Body>, b: &Arc<Body>) -> bool {
        Arc::ptr_eq(self.pair.body_a(), a) && Arc::ptr_eq(self.pair.body_b(), b)
    }

    /// Puts the contacts within a distance (mm) into manifolds, with the impulses of contacts that were there
    /// before. The answer is that of [`ContactPair::query_deep`].
    ///
    /// # Errors
    /// As [`ContactPair::query`]; there are no manifolds then.
    pub(crate) fn update(
        &mut self,
        pose: &math::Pose,
        d_max: f64,
        depth: f64,
        manifolds: &mut Vec<Manifold>,
    ) -> Result<bool, QueryError> {
        let mut earlier = std::mem::take(&mut self.spare);
        std::mem::swap(manifolds, &mut earlier);
        let ab = units::exact_pose(pose);
        let asked = self.lasting.ask(&mut self.pair, &Pose::identity(), &ab, d_max, depth);
        for c in self.lasting.contacts() {
            // Rapier may have been given other manifolds since, of another pipeline.
            let before = self.ids.binary_search(&c.number).ok().and_then(|i| earlier.get_mut(i));
            let mut manifold = before.map_or_else(Manifold::new, std::mem::take);
            fill(&mut manifold, c, pose);
            manifolds.push(manifold);
        }
        self.ids.clear();
        self.ids.extend(self.lasting.contacts().iter().map(|c| c.number));
        earlier.clear();
        self.spare = earlier;
        asked
    }
}

fn fill(manifold: &mut Manifold, c: &LastingContact, pose: &math::Pose) {
    let normal = units::direction(&c.normal);
    manifold.local_n1 = normal;
    manifold.local_n2 = pose.rotation.inverse() * -normal;
    (manifold.subshape1, manifold.subshape2) = split(c.number);
    // Rapier's have 30 bits.
    let [f1, f2] = c.features.map(|(_, index)| PackedFeatureId::face(index & PACKED));
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

/// The identity of the contact of a manifold between exact shapes: [`LastingContact::number`]. Rapier
/// keeps it for us in the numbers of sub-shapes, which solids do not have.
#[must_use]
pub fn contact_id(manifold: &Manifold) -> u64 {
    u64::from(manifold.subshape1) | u64::from(manifold.subshape2) << u32::BITS
}

/// Lower and upper half.
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn split(id: u64) -> (u32, u32) {
    (id as u32, (id >> u32::BITS) as u32)
}

/// Bits that a packed feature has for its number.
const PACKED: u32 = (1 << 30) - 1;

impl WorkspaceData for PairMemory {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    /// What searches remember is not copied: it is found again.
    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        let fresh = Self::new(self.pair.body_a(), self.pair.body_b());
        Box::new(Self { ids: self.ids.clone(), lasting: self.lasting.clone(), ..fresh })
    }
}
