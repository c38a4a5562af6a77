//! How two hierarchies are walked: how far the solids have moved, the tree of pairs of nodes, and what leaves
//! pairs out.

pub(crate) mod cull;
pub(crate) mod dilations;
pub(crate) mod motion;
pub(crate) mod pair_tree;
pub(crate) mod placed;
