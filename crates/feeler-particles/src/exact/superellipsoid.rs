//! Superellipsoids against places of a wall.

/// Reused memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {}
