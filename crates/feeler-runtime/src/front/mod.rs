//! Step (a) of BREP Figure 4.1: which pairs of leaves may hold a minimum.
//!
//! Cold and sequential: every query starts at the roots. The order of the output does not matter to what follows,
//! which sorts it.

pub(crate) mod cull;
pub(crate) mod traverse;
