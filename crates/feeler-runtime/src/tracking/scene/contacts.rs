//! The contacts of all pairs as one list, and how they come and go.

use super::BodyId;
use crate::api::contact::Contact;

/// A minimum of a pair of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneContact {
    /// The bodies, ascending; the first one is A.
    pub bodies: [BodyId; 2],
    /// Which of their solids.
    pub parts: [u32; 2],
    /// The minimum.
    pub contact: Contact,
}

/// What became of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// It was not there in the step before.
    Began,
    /// It was, and is.
    Persisted,
    /// It was, and is no more.
    Ended,
}

/// A contact that has come, stayed or gone in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// What became of it.
    pub kind: EventKind,
    /// The bodies, ascending.
    pub bodies: [BodyId; 2],
    /// Which of their solids.
    pub parts: [u32; 2],
    /// [`Contact::id`].
    pub id: u64,
    /// Where it stands among [`Scene::contacts`](super::Scene::contacts); `None` of one that has ended.
    pub contact: Option<usize>,
}

/// The solids of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairIds {
    pub(super) bodies: [BodyId; 2],
    pub(super) parts: [u32; 2],
}

/// The contacts of the last step.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    now: Vec<SceneContact>,
    /// Who they are, ascending, and where they stand in `now`.
    ids: Vec<(PairIds, u64, usize)>,
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

    /// The contacts of the next step.
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
        // By pairs they are in order already.
        self.ids.sort_unstable();
        self.compare();
    }

    /// A step in which nothing has moved.
    pub(super) fn hold(&mut self) {
        self.last_ids.clone_from(&self.ids);
        self.now.iter_mut().for_each(|c| c.contact.age = c.contact.age.saturating_add(1));
        self.compare();
    }

    fn compare(&mut self) {
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
            while let Some(gone) = last.next_if(|y| key(y) < key(x)) {
                self.events.push(event(EventKind::Ended, *gone, None));
            }
            let stayed = last.next_if(|y| key(y) == key(x)).is_some();
            let kind = if stayed { EventKind::Persisted } else { EventKind::Began };
            self.events.push(event(kind, *x, Some(x.2)));
        }
        self.events.extend(last.map(|gone| event(EventKind::Ended, *gone, None)));
    }
}
