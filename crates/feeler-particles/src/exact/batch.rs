//! Contacts of many particles at once, in parallel, in the order of the particles.

use super::state::ParticleState;
use crate::WallContact;
use feeler_runtime::PointMinima;
use rayon::prelude::*;

/// Particles that one task asks for: so many that its start costs nothing.
const CHUNK: usize = 1024;

/// Contacts of many particles: those of particle `i` are `contacts()[offsets()[i]..offsets()[i + 1]]`.
#[derive(Debug, Default)]
pub struct WallContacts {
    offsets: Vec<u32>,
    contacts: Vec<WallContact>,
    batches: Vec<Batch>,
}

/// What one task finds.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub query: PointMinima,
    pub places: Vec<u32>,
    pub contacts: Vec<WallContact>,
    pub shapes: super::superellipsoid::Scratch,
    /// The end of each particle's contacts.
    ends: Vec<u32>,
    /// The first particle that cannot be asked for.
    wrong: Option<usize>,
}

impl WallContacts {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more number than there are particles.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The contacts of all particles, one after another.
    #[must_use]
    pub fn contacts(&self) -> &[WallContact] {
        &self.contacts
    }

    /// The contacts of one particle.
    ///
    /// # Panics
    /// When there is no such particle.
    #[must_use]
    pub fn of(&self, particle: usize) -> &[WallContact] {
        &self.contacts[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    /// Asks for each particle, which is told its place in the list. The error is the first particle that
    /// cannot be asked for; then there are no
    /// contacts.
    #[expect(clippy::cast_possible_truncation, reason = "fewer contacts than 2^32")]
    pub(crate) fn run<T: Sync>(
        &mut self,
        particles: &[T],
        states: &mut Vec<ParticleState>,
        ask: impl Fn(usize, &T, &mut ParticleState, &mut Batch) -> Result<(), ()> + Sync,
    ) -> Result<(), usize> {
        states.resize(particles.len(), ParticleState::default());
        self.offsets.clear();
        self.contacts.clear();
        let n = particles.len().div_ceil(CHUNK);
        if self.batches.len() < n {
            self.batches.resize_with(n, Batch::default);
        }
        let one = |k: usize, particles: &[T], states: &mut [ParticleState], batch: &mut Batch| {
            batch.contacts.clear();
            batch.ends.clear();
            batch.wrong = None;
            for (i, (particle, state)) in particles.iter().zip(states).enumerate() {
                if ask(k * CHUNK + i, particle, state, batch).is_err() {
                    batch.wrong = batch.wrong.or(Some(k * CHUNK + i));
                }
                batch.ends.push(batch.contacts.len() as u32);
            }
        };
        let chunks = particles.par_chunks(CHUNK).zip(states.par_chunks_mut(CHUNK));
        let tasks = chunks.zip(self.batches.par_iter_mut()).enumerate();
        tasks.for_each(|(k, ((particles, states), batch))| one(k, particles, states, batch));
        self.offsets.push(0);
        if let Some(index) = self.batches[..n].iter().find_map(|b| b.wrong) {
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
