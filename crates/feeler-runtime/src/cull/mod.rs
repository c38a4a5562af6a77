//! Culling: finds the pairs of nodes (one of each solid) that may contain a contact, and the motion of B
//! after which a culled pair must be tested again.

pub(crate) mod dilations;
pub(crate) mod front;
pub(crate) mod motion;
pub(crate) mod node_pair;
pub(crate) mod pair_tree;
pub(crate) mod placed;
