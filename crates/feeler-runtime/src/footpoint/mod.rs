//! Tests of footpoints: whether a point lies on its feature, and whether its direction lies in the polar.

pub(crate) mod bands;
pub(crate) mod polar;
pub(crate) mod side;
pub(crate) mod touching;
pub(crate) mod trim;
