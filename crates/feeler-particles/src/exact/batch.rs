//! Contacts of many particles, computed in parallel, in the order of the particles.

use super::cache::ProximityCache;
use crate::WallContact;
use feeler_runtime::PointMinima;
use rayon::prelude::*;

/// Number of particles that one parallel task processes: enough to make the cost of starting a task
/// negligible.
const TASK_SIZE: usize = 1024;

/// Contacts of many particles with one wall: those of particle `i` are
/// `contacts()[offsets()[i]..offsets()[i + 1]]`.
#[derive(Debug, Default)]
pub struct WallContacts {
    offsets: Vec<u32>,
    contacts: Vec<WallContact>,
    batches: Vec<Batch>,
}

/// Contacts found by one parallel task, and its scratch data.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub query: PointMinima,
    pub places: Vec<u32>,
    pub contacts: Vec<WallContact>,
    pub shapes: super::superellipsoid::Scratch,
    /// For each particle of the task, the index in `contacts` after its last contact.
    ends: Vec<u32>,
    /// Index, among all particles, of the first particle of the task whose contacts could not be
    /// computed.
    refused: Option<usize>,
}

impl WallContacts {
    /// Creates an empty list, for no particles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Indices in [`contacts`](Self::contacts) of the first contact of each particle, followed by the
    /// number of all contacts.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Contacts of all particles, in the order of the particles.
    #[must_use]
    pub fn contacts(&self) -> &[WallContact] {
        &self.contacts
    }

    /// Contacts of the particle with the index `particle`.
    ///
    /// # Panics
    /// If no such particle exists.
    #[must_use]
    pub fn of(&self, particle: usize) -> &[WallContact] {
        &self.contacts[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    /// Replaces the contacts by those of `particles`, in parallel. Calls `find` for each particle, with
    /// its index, the particle, its cache in `caches` and the batch to which it appends contacts. The
    /// error is the index of the first particle for which `find` fails; the list of contacts is then
    /// empty.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 contacts")]
    pub(crate) fn run<T: Sync>(
        &mut self,
        particles: &[T],
        caches: &mut Vec<ProximityCache>,
        find: impl Fn(usize, &T, &mut ProximityCache, &mut Batch) -> Result<(), ()> + Sync,
    ) -> Result<(), usize> {
        caches.resize(particles.len(), ProximityCache::default());
        self.offsets.clear();
        self.contacts.clear();
        let n = particles.len().div_ceil(TASK_SIZE);
        if self.batches.len() < n {
            self.batches.resize_with(n, Batch::default);
        }
        let one = |k: usize, particles: &[T], caches: &mut [ProximityCache], batch: &mut Batch| {
            batch.contacts.clear();
            batch.ends.clear();
            batch.refused = None;
            for (i, (particle, cache)) in particles.iter().zip(caches).enumerate() {
                if find(k * TASK_SIZE + i, particle, cache, batch).is_err() {
                    batch.refused = batch.refused.or(Some(k * TASK_SIZE + i));
                }
                batch.ends.push(batch.contacts.len() as u32);
            }
        };
        let chunks = particles.par_chunks(TASK_SIZE).zip(caches.par_chunks_mut(TASK_SIZE));
        let tasks = chunks.zip(self.batches.par_iter_mut()).enumerate();
        tasks.for_each(|(k, ((particles, caches), batch))| one(k, particles, caches, batch));
        self.offsets.push(0);
        if let Some(index) = self.batches[..n].iter().find_map(|b| b.refused) {
            self.offsets.resize(particles.len() + 1, 0);
            return Err(index);
        }
        for batch in &self.batches[..n] {
            let before = self.contacts.len() as u32;
            self.contacts.extend_from_slice(&batch.contacts);
            self.offsets.extend(batch.ends.iter().map(|end| before + end));
        }
        Ok(())
    }
}
