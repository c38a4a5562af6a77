//! Grains placed at a pose.

use super::second::SupportDerivative;
use super::shape::Grain;
use crate::GrainError;
use feeler_convex::{Support, SupportPoint};
use feeler_geom::{P3, Pose, V3};
use nalgebra::Matrix3;

/// Grain at a pose in the world. It is built once per step and grain and reused for all contacts of the
/// grain.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'g> {
    pub(super) grain: &'g Grain,
    pub(super) rotation: Matrix3<f64>,
    pub(super) origin: P3,
}

impl<'g> Placed<'g> {
    /// Places a grain at a pose, which maps the grain's coordinates (those of its semi-axes) to the
    /// world.
    ///
    /// # Errors
    /// Returns an error if the pose is not finite.
    pub fn new(grain: &'g Grain, pose: &Pose) -> Result<Self, GrainError> {
        let rotation = pose.rotation.to_rotation_matrix().into_inner();
        let origin = P3::from(pose.translation.vector);
        let is_finite = rotation.iter().chain(origin.iter()).all(|x| x.is_finite());
        if is_finite { Ok(Self { grain, rotation, origin }) } else { Err(GrainError::Pose) }
    }

    /// The grain without its pose.
    #[must_use]
    pub fn grain(&self) -> &'g Grain {
        self.grain
    }

    /// Origin of the grain's coordinates (mm, world), which lies inside the grain.
    #[must_use]
    pub fn origin(&self) -> P3 {
        self.origin
    }

    /// Rotation from the grain's axes to the axes of the world.
    #[must_use]
    pub fn rotation(&self) -> &Matrix3<f64> {
        &self.rotation
    }

    /// Returns the grain moved by the pose `into`. If `into` maps the world to other coordinates, the
    /// result is the same grain in those coordinates.
    #[must_use]
    pub fn moved(&self, into: &Pose) -> Self {
        let turn = into.rotation.to_rotation_matrix().into_inner();
        Self { grain: self.grain, rotation: turn * self.rotation, origin: into * self.origin }
    }

    /// Point of the surface, layer included, whose outward normal is the unit direction `n`, and the
    /// derivative of the point with respect to the direction, in world coordinates. The derivative is
    /// the inverse of the surface's curvature (mm per rad): a symmetric matrix that maps `n` to 0. POLY
    /// (3.36), in the form x̂ = R S(R⁻¹n) + s with the origin s of the grain's coordinates.
    ///
    /// The derivative is large but finite on the axes of grains with exponents below 1, where the
    /// curvature is 0.
    #[must_use]
    pub fn surface(&self, n: &V3) -> (P3, Matrix3<f64>) {
        let s = self.grain.support_derivative(&self.rotation.tr_mul(n));
        let (v, k) = (self.rotation * s.v, self.rotation * s.k);
        let layer = self.grain.dilation;
        let flat = Matrix3::identity() - n * n.transpose();
        let bend = v * v.transpose() + k * k.transpose() + flat * layer;
        (self.origin + self.rotation * s.point + n * layer, bend)
    }

    /// Support point of the shape, without its layer, along the world direction `n`, and its derivative,
    /// both in the grain's coordinates.
    #[inline]
    pub(super) fn support_derivative(&self, n: &V3) -> SupportDerivative {
        self.grain.support_derivative(&self.rotation.tr_mul(n))
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
