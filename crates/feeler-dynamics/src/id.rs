//! Ids of bodies.

/// Id of a body in its [`World`](crate::World): bodies are numbered from 0 in the order in which they
/// are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RigidBodyId(pub usize);
