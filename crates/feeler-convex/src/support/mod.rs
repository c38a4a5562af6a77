//! Support mappings: all that the algorithms of this crate know of a shape.
//!
//! # Source
//! DIST §2.2.1 (2.4) to (2.9).
//!
//! # Deviations
//! Round shapes are a core and a radius: a ball is a point, a capsule a segment. The distance of cores is
//! exact in finitely many steps; the radii are subtracted at the end.

mod compound;
mod points;
mod polytope;
mod quadric;
mod superellipsoid;

pub use compound::{Affine, Difference, Dilated, Moved, Sum};
pub use points::{ControlHull, Hull, PointSet, Segment, Tetrahedron, Triangle};
pub use polytope::Polytope;
pub use quadric::{Ball, Capsule, Cone, Cuboid, Cylinder, Ellipsoid};
pub use superellipsoid::{PolySuperellipsoid, Superellipsoid};

use feeler_geom::{P3, V3};

/// A point of a shape's core that is farthest along some direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportPoint {
    /// The point (mm).
    pub point: P3,
    /// Which of the shape's points it is, for shapes that are hulls of numbered points; 0 for all others.
    pub index: u32,
}

impl SupportPoint {
    /// A point without a number.
    #[must_use]
    pub const fn plain(point: P3) -> Self {
        Self { point, index: 0 }
    }
}

/// A bounded, non-empty convex shape: a core, dilated by a radius.
pub trait Support {
    /// A point of the core that maximises ⟨point, direction⟩, up to rounding; `direction` is finite and need
    /// not be of unit length, any point will do where it is zero.
    fn support(&self, direction: &V3) -> SupportPoint;

    /// The same, with the index of an earlier answer for a direction not far away. Shapes that walk from
    /// point to point start there.
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        let _ = start;
        self.support(direction)
    }

    /// The radius by which the core is dilated (mm), ≥ 0.
    fn radius(&self) -> f64 {
        0.0
    }

    /// A point of the shape, the nearer to its middle the better: two of them give the first direction of a
    /// search.
    fn center(&self) -> P3 {
        self.support(&V3::zeros()).point
    }

    /// The core's point of this number, for hulls of numbered points: a search can then start from a whole
    /// simplex.
    fn numbered(&self, index: u32) -> Option<P3> {
        let _ = index;
        None
    }
}

impl<S: Support + ?Sized> Support for &S {
    fn support(&self, direction: &V3) -> SupportPoint {
        (**self).support(direction)
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        (**self).support_near(direction, start)
    }
    fn radius(&self) -> f64 {
        (**self).radius()
    }
    fn center(&self) -> P3 {
        (**self).center()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        (**self).numbered(index)
    }
}

/// Why something is not a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A hull of no points.
    #[error("a hull needs at least one point")]
    Empty,
    /// More points than numbers for them.
    #[error("more than 2³² points")]
    TooManyPoints,
    /// A coordinate, length or matrix entry is infinite or not a number.
    #[error("a coordinate or length is not finite")]
    NotFinite,
    /// A radius, half length or height below zero.
    #[error("a length is negative")]
    NegativeLength,
    /// An exponent of a superellipsoid outside (0, 2], where it is not convex.
    #[error("an exponent is not in (0, 2]")]
    Exponent,
    /// A rational weight that is not positive: the control hull does not hold the patch.
    #[error("a weight is not positive")]
    Weight,
}

/// All finite, else [`ShapeError::NotFinite`].
fn finite<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Result<(), ShapeError> {
    // 0 times a number is zero, times anything else NaN: one sum tells, without a branch for each.
    let sum: f64 = numbers.into_iter().map(|x| 0.0 * x).sum();
    if sum.is_nan() { Err(ShapeError::NotFinite) } else { Ok(()) }
}

/// All finite and not negative.
fn lengths(numbers: &[f64]) -> Result<(), ShapeError> {
    finite(numbers)?;
    if numbers.iter().all(|x| *x >= 0.0) { Ok(()) } else { Err(ShapeError::NegativeLength) }
}

#[cfg(test)]
mod tests;
