//! Ids of bodies.

/// Id of a body in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RigidBodyId(pub usize);
