//! Where a point lies: on its feature or beside it, and its direction in the polar or out of it.

pub(crate) mod bands;
pub(crate) mod polar;
pub(crate) mod side;
pub(crate) mod touching;
pub(crate) mod trim;
