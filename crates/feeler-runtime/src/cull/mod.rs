//! Culling: pairs of nodes that can hold a contact, and the motion after which a culled pair can hold one
//! again.

pub(crate) mod dilations;
pub(crate) mod front;
pub(crate) mod motion;
pub(crate) mod node_pair;
pub(crate) mod pair_tree;
pub(crate) mod placed;
