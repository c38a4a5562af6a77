//! Tests of footpoints: whether a point lies on its feature, and whether the outward direction lies in
//! the polar of the feature at the point.

pub(crate) mod bands;
pub(crate) mod polar;
pub(crate) mod side;
pub(crate) mod touching;
pub(crate) mod trim;
