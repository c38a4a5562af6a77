//! A grain in its place.

use super::second::Second;
use super::shape::Grain;
use crate::GrainError;
use feeler_convex::{Support, SupportPoint};
use feeler_geom::{P3, Pose, V3};
use nalgebra::Matrix3;

/// A grain in its place in the world: made once a step for each grain, used for all its contacts.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'g> {
    pub(super) grain: &'g Grain,
    pub(super) rotation: Matrix3<f64>,
    pub(super) origin: P3,
}

impl<'g> Placed<'g> {
    /// # Errors
    /// A pose that is not finite.
    pub fn new(grain: &'g Grain, pose: &Pose) -> Result<Self, GrainError> {
        let rotation = pose.rotation.to_rotation_matrix().into_inner();
        let origin = P3::from(pose.translation.vector);
        let is_finite = rotation.iter().chain(origin.iter()).all(|x| x.is_finite());
        if is_finite { Ok(Self { grain, rotation, origin }) } else { Err(GrainError::Pose) }
    }

    /// The grain.
    #[must_use]
    pub fn grain(&self) -> &'g Grain {
        self.grain
    }

    /// The origin of the grain's coordinates, which is inside.
    #[must_use]
    pub fn origin(&self) -> P3 {
        self.origin
    }

    /// From the grain's axes to those of the coordinates that it is placed in.
    #[must_use]
    pub fn rotation(&self) -> &Matrix3<f64> {
        &self.rotation
    }

    /// The same grain in other coordinates.
    #[must_use]
    pub fn moved(&self, into: &Pose) -> Self {
        let turn = into.rotation.to_rotation_matrix().into_inner();
        Self { grain: self.grain, rotation: turn * self.rotation, origin: into * self.origin }
    }

    /// The point of the surface, layer included, whose outward normal is a unit direction, and how it moves
    /// with the direction: the inverse of the surface's curvature (mm), a symmetric matrix that maps the
    /// direction itself to 0. World coordinates. POLY (3.36), in the form x̂ = R S(R⁻¹n) + s with s the
    /// origin of the grain's coordinates.
    ///
    /// On the axes of flat grains, where the curvature is 0, its inverse is a large number.
    #[must_use]
    pub fn surface(&self, n: &V3) -> (P3, Matrix3<f64>) {
        let s = self.grain.second(&self.rotation.tr_mul(n));
        let (v, k) = (self.rotation * s.v, self.rotation * s.k);
        let layer = self.grain.dilation;
        let flat = Matrix3::identity() - n * n.transpose();
        let bend = v * v.transpose() + k * k.transpose() + flat * layer;
        (self.origin + self.rotation * s.point + n * layer, bend)
    }

    /// The support point along a direction, in the grain's coordinates.
    #[inline]
    pub(super) fn second(&self, n: &V3) -> Second {
        self.grain.second(&self.rotation.tr_mul(n))
    }
}

impl Support for Placed<'_> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let local = self.grain.shape.support(&self.rotation.tr_mul(direction)).point;
        SupportPoint::plain(self.origin + self.rotation * local.coords)
    }
    fn radius(&self) -> f64 {
        self.grain.dilation
    }
    fn center(&self) -> P3 {
        self.origin + self.rotation * self.grain.shape.center().coords
    }
}
