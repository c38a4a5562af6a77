//! Support mappings: the interface between shapes and the algorithms of this crate.
//!
//! # Source
//! DIST §2.2.1 (2.4) to (2.9).
//!
//! # Deviations
//! Round shapes consist of a core and a radius: a ball is a point, a capsule a segment. The distance
//! between cores is exact after finitely many steps; the radii are subtracted at the end.

mod compound;
mod points;
mod polytope;
mod quadric;
mod superellipsoid;

pub use compound::{Affine, Dilated, MinkowskiDifference, Moved, Sum};
pub use points::{ControlHull, Hull, PointSet, Segment, Tetrahedron, Triangle};
pub use polytope::Polytope;
pub use quadric::{Ball, Capsule, Cone, Cuboid, Cylinder, Ellipsoid};
pub use superellipsoid::{PolySuperellipsoid, Superellipsoid};

use feeler_geom::{P3, V3};

/// Point of a shape's core that is farthest along some direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportPoint {
    /// The farthest point (mm), in the frame of the shape.
    pub point: P3,
    /// Index of the point among the given points, for hulls of numbered points; 0 for all other shapes.
    pub index: u32,
}

impl SupportPoint {
    /// Creates a support point of a shape without numbered points; its index is 0.
    #[must_use]
    pub const fn plain(point: P3) -> Self {
        Self { point, index: 0 }
    }
}

/// A bounded, non-empty convex shape: a core dilated by a radius.
pub trait Support {
    /// Returns a point of the core that maximises ⟨point, direction⟩, up to rounding. `direction` is
    /// finite and need not be normalised. If it is zero, any point of the core is valid.
    fn support(&self, direction: &V3) -> SupportPoint;

    /// Like [`Support::support`]; `start` is the index of an earlier result for a similar direction.
    /// Shapes that search from vertex to vertex start at that vertex; other shapes ignore it.
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        let _ = start;
        self.support(direction)
    }

    /// Returns the radius by which the core is dilated (mm), ≥ 0.
    fn radius(&self) -> f64 {
        0.0
    }

    /// Returns a point of the shape, ideally near its middle. The centres of two shapes give the first
    /// direction of a search.
    fn center(&self) -> P3 {
        self.support(&V3::zeros()).point
    }

    /// Returns the core's point with this index, for hulls of numbered points. A search can then start
    /// from the complete simplex of an earlier one. Returns `None` for other shapes and for unknown
    /// indices.
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

/// Reason why a convex shape cannot be constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvexShapeError {
    /// A hull has no points.
    #[error("a hull needs at least one point")]
    Empty,
    /// A hull has more points than 32-bit indices.
    #[error("more than 2³² points")]
    TooManyPoints,
    /// A coordinate, length or matrix entry is infinite or NaN.
    #[error("a coordinate or length is not finite")]
    NotFinite,
    /// A radius, half length or height is negative.
    #[error("a length is negative")]
    NegativeLength,
    /// An exponent of a superellipsoid is outside (0, 2]. For larger exponents the shape is not convex.
    #[error("an exponent is not in (0, 2]")]
    Exponent,
    /// A weight of a rational control point is not positive, so the hull of the control points need not
    /// contain the patch.
    #[error("the weight of a control point is not positive; give weights above 0")]
    Weight,
}

/// Checks that all numbers are finite.
fn finite<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Result<(), ConvexShapeError> {
    // 0 times a finite number is zero, and 0 times any other is NaN, so one sum tests all without a
    // branch for each.
    let sum: f64 = numbers.into_iter().map(|x| 0.0 * x).sum();
    if sum.is_nan() { Err(ConvexShapeError::NotFinite) } else { Ok(()) }
}

/// Checks that all numbers are finite and not negative.
fn lengths(numbers: &[f64]) -> Result<(), ConvexShapeError> {
    finite(numbers)?;
    if numbers.iter().all(|x| *x >= 0.0) { Ok(()) } else { Err(ConvexShapeError::NegativeLength) }
}

#[cfg(test)]
mod tests;
