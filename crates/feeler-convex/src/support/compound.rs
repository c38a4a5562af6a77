//! Shapes composed of other shapes.
//!
//! # Source
//! DIST (2.8), (2.9).

use super::{ConvexShapeError, Support, SupportPoint, finite, lengths};
use feeler_geom::{P3, Pose, V3};
use nalgebra::Matrix3;

/// A shape placed by a pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved<S> {
    shape: S,
    rotation: Matrix3<f64>,
    translation: V3,
}

impl<S: Support> Moved<S> {
    /// Places a shape by a pose, which maps the shape's frame to the common frame.
    ///
    /// # Errors
    /// [`ConvexShapeError::NotFinite`] if the pose is not finite.
    pub fn new(shape: S, pose: &Pose) -> Result<Self, ConvexShapeError> {
        let rotation = pose.rotation.to_rotation_matrix().into_inner();
        finite(rotation.as_slice())?;
        finite(pose.translation.vector.as_slice())?;
        Ok(Self { shape, rotation, translation: pose.translation.vector })
    }
}

impl<S: Support> Support for Moved<S> {
    #[inline]
    fn support(&self, direction: &V3) -> SupportPoint {
        let SupportPoint { point, index } = self.shape.support(&self.rotation.tr_mul(direction));
        SupportPoint { point: self.rotation * point + self.translation, index }
    }
    #[inline]
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        let SupportPoint { point, index } = self.shape.support_near(&self.rotation.tr_mul(direction), start);
        SupportPoint { point: self.rotation * point + self.translation, index }
    }
    fn radius(&self) -> f64 {
        self.shape.radius()
    }
    fn center(&self) -> P3 {
        self.rotation * self.shape.center() + self.translation
    }
    #[inline]
    fn numbered(&self, index: u32) -> Option<P3> {
        self.shape.numbered(index).map(|p| self.rotation * p + self.translation)
    }
}

/// Image of a shape's core under x ↦ M x + t. The shape's radius is unchanged: a ball stays a ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine<S> {
    shape: S,
    linear: Matrix3<f64>,
    translation: V3,
}

impl<S: Support> Affine<S> {
    /// Creates the image of a shape's core under `x ↦ linear · x + translation`. The matrix may be
    /// singular.
    ///
    /// # Errors
    /// [`ConvexShapeError::NotFinite`] if a number is not finite.
    pub fn new(shape: S, linear: Matrix3<f64>, translation: V3) -> Result<Self, ConvexShapeError> {
        finite(linear.iter().chain(translation.iter()))?;
        Ok(Self { shape, linear, translation })
    }
}

impl<S: Support> Support for Affine<S> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let SupportPoint { point, index } = self.shape.support(&self.linear.tr_mul(direction));
        SupportPoint { point: self.linear * point + self.translation, index }
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        let SupportPoint { point, index } = self.shape.support_near(&self.linear.tr_mul(direction), start);
        SupportPoint { point: self.linear * point + self.translation, index }
    }
    fn radius(&self) -> f64 {
        self.shape.radius()
    }
    fn center(&self) -> P3 {
        self.linear * self.shape.center() + self.translation
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.shape.numbered(index).map(|p| self.linear * p + self.translation)
    }
}

/// Minkowski sum { a + b } of two shapes, for all points a and b of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum<A, B>(pub A, pub B);

impl<A: Support, B: Support> Support for Sum<A, B> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let (a, b) = (self.0.support(direction), self.1.support(direction));
        SupportPoint::plain(a.point + b.point.coords)
    }
    fn radius(&self) -> f64 {
        self.0.radius() + self.1.radius()
    }
    fn center(&self) -> P3 {
        self.0.center() + self.1.center().coords
    }
}

/// Minkowski difference { a − b } of two shapes, for all points a and b of them (DIST's configuration
/// space obstacle (2.11)). It contains the origin if the two shapes intersect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinkowskiDifference<A, B>(pub A, pub B);

impl<A: Support, B: Support> Support for MinkowskiDifference<A, B> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let (a, b) = (self.0.support(direction), self.1.support(&-direction));
        SupportPoint::plain(a.point - b.point.coords)
    }
    fn radius(&self) -> f64 {
        self.0.radius() + self.1.radius()
    }
    fn center(&self) -> P3 {
        self.0.center() - self.1.center().coords
    }
}

/// A shape dilated by a radius: all points within that distance of the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dilated<S> {
    shape: S,
    by: f64,
}

impl<S: Support> Dilated<S> {
    /// Dilates a shape by a radius (mm).
    ///
    /// # Errors
    /// [`ConvexShapeError::NegativeLength`] or [`ConvexShapeError::NotFinite`] if the radius is negative
    /// or not finite.
    pub fn new(shape: S, by: f64) -> Result<Self, ConvexShapeError> {
        lengths(&[by])?;
        Ok(Self { shape, by })
    }
}

impl<S: Support> Support for Dilated<S> {
    fn support(&self, direction: &V3) -> SupportPoint {
        self.shape.support(direction)
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        self.shape.support_near(direction, start)
    }
    fn radius(&self) -> f64 {
        self.shape.radius() + self.by
    }
    fn center(&self) -> P3 {
        self.shape.center()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.shape.numbered(index)
    }
}
