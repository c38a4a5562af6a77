//! Oriented boxes and the separating-axis test.
use crate::{P3, V3};

/// An oriented box.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Obb {
    /// Centre.
    pub center: P3,
    /// Right-handed orthonormal axes.
    pub axes: [V3; 3],
    /// Half-lengths along the axes, ≥ 0.
    pub half: V3,
}

impl Obb {
    /// A tight box around the convex hull of `points`, rounded outward. Deterministic.
    #[must_use]
    pub fn fit(points: &[P3]) -> Self {
        let _ = points;
        todo!("helper: bounds")
    }
}
