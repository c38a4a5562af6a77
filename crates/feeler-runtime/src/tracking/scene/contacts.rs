//! Contacts of all pairs of a scene as one list, and their changes from step to step.

use super::BodyId;
use crate::api::contact::Contact;

/// A contact of a pair of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneContact {
    /// The two bodies in ascending order of identifiers; the first one is A.
    pub bodies: [BodyId; 2],
    /// Index of the solid with the contact in each of these bodies; 0 for a body of one solid.
    pub parts: [u32; 2],
    /// The contact, in world coordinates.
    pub contact: Contact,
}

/// Change of a contact from the previous step to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// The contact did not exist in the previous step.
    Began,
    /// The contact exists in both steps.
    Persisted,
    /// The contact existed in the previous step only.
    Ended,
}

/// Change of one contact in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// Whether the contact began, persisted or ended.
    pub kind: EventKind,
    /// The two bodies in ascending order of identifiers.
    pub bodies: [BodyId; 2],
    /// Index of the solid with the contact in each of these bodies; 0 for a body of one solid.
    pub parts: [u32; 2],
    /// Identity of the contact: its [`Contact::id`].
    pub id: u64,
    /// Index of the contact in [`Scene::contacts`](super::Scene::contacts); `None` if the contact has ended.
    pub contact: Option<usize>,
}

/// Identity of a pair of solids of a scene: the ids of their bodies, and their indices in these bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairIds {
    pub(super) bodies: [BodyId; 2],
    pub(super) parts: [u32; 2],
}

/// The contacts of the current step of a scene, with their changes since the previous step.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    now: Vec<SceneContact>,
    /// Pair, identity and index in `now` of each contact, in ascending order.
    ids: Vec<(PairIds, u64, usize)>,
    /// `ids` of the previous step.
    last_ids: Vec<(PairIds, u64, usize)>,
    events: Vec<ContactEvent>,
}

impl Contacts {
    pub(super) fn now(&self) -> &[SceneContact] {
        &self.now
    }

    pub(super) fn events(&self) -> &[ContactEvent] {
        &self.events
    }

    /// Replaces the contacts by those of the next step, and computes the events.
    pub(super) fn advance<'a>(&mut self, pairs: impl Iterator<Item = (PairIds, &'a [Contact])>) {
        std::mem::swap(&mut self.ids, &mut self.last_ids);
        self.now.clear();
        self.ids.clear();
        for (of, contacts) in pairs {
            for contact in contacts {
                self.ids.push((of, contact.id, self.now.len()));
                self.now.push(SceneContact { bodies: of.bodies, parts: of.parts, contact: *contact });
            }
        }
        // The pairs are sorted already, the identities within a pair are not.
        self.ids.sort_unstable();
        self.update_events();
    }

    /// Advances by a step in which nothing has moved: all contacts persist.
    pub(super) fn repeat(&mut self) {
        self.last_ids.clone_from(&self.ids);
        self.now.iter_mut().for_each(|c| c.contact.age = c.contact.age.saturating_add(1));
        self.update_events();
    }

    /// Computes the events from the sorted identities of both steps.
    fn update_events(&mut self) {
        self.events.clear();
        let event = |kind, (of, id, _): (PairIds, u64, usize), contact| ContactEvent {
            kind,
            bodies: of.bodies,
            parts: of.parts,
            id,
            contact,
        };
        let key = |x: &(PairIds, u64, usize)| (x.0, x.1);
        let mut last = self.last_ids.iter().peekable();
        for x in &self.ids {
            while let Some(ended) = last.next_if(|y| key(y) < key(x)) {
                self.events.push(event(EventKind::Ended, *ended, None));
            }
            let persists = last.next_if(|y| key(y) == key(x)).is_some();
            let kind = if persists { EventKind::Persisted } else { EventKind::Began };
            self.events.push(event(kind, *x, Some(x.2)));
        }
        self.events.extend(last.map(|ended| event(EventKind::Ended, *ended, None)));
    }
}
