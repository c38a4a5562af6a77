//! Contact histories: identities of contacts and their shear states, which persist from step to step.

use super::Load;
use super::wall::{MovingWallContact, Wall};
use crate::facets::FacetHistory;
use crate::law::ShearState;
use feeler_geom::P3;
use feeler_runtime::ContactFollower;

/// Contact history of one collider with one wall.
#[derive(Clone, Debug, Default)]
pub(super) struct WallHistory {
    /// Identities of the contacts with facets in the last step, and the facets near the collider. Shear
    /// states are in `shear`. `None` if the wall has no facets or no contact has been searched for. It is
    /// boxed because most walls have no facets.
    pub(super) facets: Option<Box<FacetHistory>>,
    /// Shear states of the contacts of the last step, each with the identity of its contact.
    pub(super) shear: Vec<(u64, ShearState)>,
    /// Points of the contacts with an exact wall (wall's coordinates), in the order of `shear`.
    pub(super) points: Vec<P3>,
    /// Tracked contacts of a solid with an exact wall or a plane; `None` for other shapes and walls.
    pub(super) tracked: Option<Box<ContactFollower>>,
    /// Load of this collider on the wall in the last step, with the moment about the wall's reference
    /// point.
    pub(super) load: Load,
}

/// Contact history of one collider with all walls, the load of the last step, and scratch buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct ColliderHistory {
    pub(super) walls: Vec<WallHistory>,
    /// Load of all walls on the particle through this collider in the last step, with the moment about
    /// the particle's centre of mass.
    pub(super) load: Load,
    pub(super) scratch: ContactScratch,
}

/// Scratch buffers for the contacts of one collider with one wall.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactScratch {
    pub(super) contacts: Vec<MovingWallContact>,
    pub(super) previous: PreviousContacts,
}

/// Contacts of a collider with a wall in the previous step: `shear` and `points` of its [`WallHistory`].
#[derive(Clone, Debug, Default)]
pub(super) struct PreviousContacts {
    shear: Vec<(u64, ShearState)>,
    points: Vec<P3>,
}

impl ColliderHistory {
    pub(super) fn new(walls: usize) -> Self {
        Self { walls: vec![WallHistory::default(); walls], ..Self::default() }
    }

    pub(super) fn add_wall(&mut self) {
        self.walls.push(WallHistory::default());
    }

    /// Ends all contacts with the wall of the index `wall`, or with all walls if `wall` is `None`: their
    /// history is lost, but allocated buffers remain.
    pub(super) fn clear(&mut self, wall: Option<usize>) {
        for (k, history) in self.walls.iter_mut().enumerate() {
            if wall.is_none_or(|w| w == k) {
                history.facets.iter_mut().for_each(|f| f.clear());
                history.shear.clear();
                history.points.clear();
                history.tracked.iter_mut().for_each(|t| t.forget());
                history.load = Load::default();
            }
        }
        if wall.is_none() {
            self.load = Load::default();
        }
    }

    /// Number of contacts of the collider with all walls in the last step.
    pub(super) fn contact_count(&self) -> usize {
        self.walls.iter().map(|w| w.shear.len()).sum()
    }
}

impl WallHistory {
    /// Moves the contacts of the previous step to `previous` and empties the lists for new ones.
    #[inline]
    pub(super) fn begin_step(&mut self, wall: &Wall, previous: &mut PreviousContacts) {
        std::mem::swap(&mut self.shear, &mut previous.shear);
        self.shear.clear();
        if matches!(wall, Wall::Exact(_)) {
            std::mem::swap(&mut self.points, &mut previous.points);
            self.points.clear();
        }
    }

    /// Returns the shear state of a contact at the beginning of this step: that of the previous step,
    /// plus the states of contacts that have become part of this one. A new contact has a state without
    /// force.
    #[inline]
    pub(super) fn shear_state(&self, previous: &PreviousContacts, contact: &MovingWallContact) -> ShearState {
        let contact = &contact.contact;
        let known = state_of(&previous.shear, contact.id);
        let mut state = known.unwrap_or_else(|| ShearState::new(contact.normal));
        let merged = self.facets.as_ref().map_or(&[][..], |f| f.merged());
        for (from, _) in merged.iter().filter(|(_, to)| *to == contact.id) {
            if let Some(other) = state_of(&previous.shear, *from) {
                state.add(&other);
            }
        }
        state
    }

    /// Stores the shear state of a contact at the end of this step, and if the wall is exact also the
    /// contact point.
    #[inline]
    pub(super) fn store(&mut self, wall: &Wall, contact: &MovingWallContact, state: ShearState) {
        self.shear.push((contact.contact.id, state));
        if matches!(wall, Wall::Exact(_)) {
            self.points.push(wall.pose().inverse_transform_point(&contact.contact.point));
        }
    }
}

/// Returns the shear state of the contact with the identity `id`; `None` if `states` has no such
/// contact.
#[inline]
pub(super) fn state_of(states: &[(u64, ShearState)], id: u64) -> Option<ShearState> {
    states.iter().find(|(known, _)| *known == id).map(|(_, state)| *state)
}

impl PreviousContacts {
    /// Changes the identities of contacts with an exact wall that have moved to another face or edge
    /// since the previous step.
    ///
    /// A contact with an exact wall has the identity of its face or edge. If a sphere or grain has rolled
    /// on to the next one, the shear state of the identity that has disappeared is continued under the
    /// identity of the new contact near it. `radius` is that of the bounding sphere.
    pub(super) fn relabel(&mut self, wall: &Wall, contacts: &[MovingWallContact], radius: f64) {
        let Self { shear, points } = self;
        for k in 0..shear.len() {
            let (id, state) = shear[k];
            if contacts.iter().any(|c| c.contact.id == id) {
                continue;
            }
            let mut best: Option<(f64, u64)> = None;
            for contact in contacts.iter().map(|c| &c.contact) {
                if shear.iter().any(|(known, _)| *known == contact.id)
                    || contact.normal.dot(&state.normal) < SAME_CONTACT_COS
                {
                    continue;
                }
                let distance = (wall.pose().inverse_transform_point(&contact.point) - points[k]).norm();
                if distance <= radius * SAME_CONTACT_DISTANCE && best.is_none_or(|(b, _)| distance < b) {
                    best = Some((distance, contact.id));
                }
            }
            if let Some((_, id)) = best {
                shear[k].0 = id;
            }
        }
    }
}

/// Minimum cosine of the angle between the normals of a contact before and after it has moved to another
/// face of an exact wall. With a larger value friction begins anew at smooth edges if steps are long;
/// with a smaller one a contact may inherit the friction of another.
const SAME_CONTACT_COS: f64 = 0.9;

/// Maximum distance between the points of a contact before and after it has moved to another face of an
/// exact wall, as a multiple of the radius of the bounding sphere. With a larger value a contact may
/// inherit the friction of another; with a smaller one friction begins anew at edges.
const SAME_CONTACT_DISTANCE: f64 = 0.5;
