//! Identities of particles and walls.

use std::fmt;

/// Identity of a particle in its simulation: particles are numbered from 0 in the order in which they are
/// added. Removed particles keep their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParticleId(u32);

/// Identity of a wall in its simulation: walls are numbered from 0 in the order in which they are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallId(u32);

impl ParticleId {
    /// Id of the particle with the number `number`. No particle has the id of a number from 2³² on.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Number of the particle.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl WallId {
    /// Id of the wall with the number `number`. No wall has the id of a number from 2³² on.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Number of the wall.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ParticleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for WallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
