//! Cones of directions: of revolution, and polyhedral (BREP chapter 3, MATH §7).
use crate::V3;
use arrayvec::ArrayVec;

/// All directions within `half_angle` of `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RevolutionCone {
    /// Unit axis.
    pub axis: V3,
    /// Half-angle in [0, π]; π means all directions.
    pub half_angle: f64,
}

/// Pointed convex cone of at most four unit generators, sorted around the cone; no generator: all directions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PolyCone {
    /// Unit generators in order around the cone.
    pub generators: ArrayVec<V3, 4>,
}

impl PolyCone {
    /// A cone with non-empty interior and at most four generators around the given directions (they need not be of
    /// unit length): spherical convex hull, dilation by a tiny angle, reduction. `None` when the directions do not
    /// fit an open half-space.
    #[must_use]
    pub fn hull(directions: &[V3]) -> Option<Self> {
        let _ = directions;
        todo!("helper: bounds")
    }
}
