//! Rigid bodies: mass, pose and velocities.

use crate::error::DynamicsError;
use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::Body;
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion};
use std::sync::Arc;

/// Rigid body with its pose and velocities at one time.
#[derive(Clone, Debug)]
pub struct RigidBody {
    pub(crate) body: Arc<Body>,
    pub(crate) mass: Option<Mass>,
    /// Pose that maps the body's coordinates to those of the world.
    pub pose: Pose,
    /// Velocity of the centre of mass (mm/s, world); 0 for a fixed body.
    pub velocity: V3,
    /// Angular velocity (rad/s, world).
    pub spin: V3,
    /// Implicit dilation (mm), at least 0: contacts are those of the solid with a layer of this
    /// thickness all around, which rounds the solid's convex edges. A dilation is meant for solids that
    /// were eroded by the same thickness. It does not affect mass and inertia.
    pub dilation: f64,
}

/// Mass properties of a moving body, in its own coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Mass {
    /// Mass (kg).
    pub(crate) mass: f64,
    pub(crate) center: P3,
    /// Inertia tensor about the centre of mass (kg·mm²).
    pub(crate) inertia: Matrix3<f64>,
}

impl RigidBody {
    /// Creates a fixed body, which forces do not move.
    #[must_use]
    pub fn fixed(body: Arc<Body>, pose: Pose) -> Self {
        Self { body, mass: None, pose, velocity: V3::zeros(), spin: V3::zeros(), dilation: 0.0 }
    }

    /// Creates a body of a density (kg/m³) at rest. Mass and inertia are those of the exact solid.
    ///
    /// # Errors
    /// Returns an error if the density is not finite and positive, or if the solid is a sheet, which has
    /// no volume.
    pub fn of_density(body: Arc<Body>, pose: Pose, density: f64) -> Result<Self, DynamicsError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(DynamicsError::Density(density));
        }
        let info = &body.hierarchy().info;
        let Some(inertia) = info.inertia else { return Err(DynamicsError::NoVolume(info.name.clone())) };
        // Density in kg/mm³.
        let density = density * CUBIC_METRES_PER_CUBIC_MM;
        let tensor = Matrix3::from_fn(|r, c| inertia.tensor[r][c]) * density;
        let mass = Mass { mass: density * info.volume, center: inertia.centroid.into(), inertia: tensor };
        Ok(Self { mass: Some(mass), ..Self::fixed(body, pose) })
    }

    /// Whether the body can move.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.mass.is_some()
    }

    /// Solid of the body.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Mass (kg); `None` for a fixed body.
    #[must_use]
    pub fn mass(&self) -> Option<f64> {
        self.mass.as_ref().map(|m| m.mass)
    }

    /// Centre of mass (mm, world); for a fixed body the origin of the body's coordinates.
    #[must_use]
    pub fn center(&self) -> P3 {
        self.mass.as_ref().map_or_else(|| self.pose * P3::origin(), |m| self.pose * m.center)
    }

    /// Velocity (mm/s, world) of the point `p` (world) of the body.
    #[must_use]
    pub fn velocity_at(&self, p: &P3) -> V3 {
        self.velocity + self.spin.cross(&(p - self.center()))
    }

    /// Kinetic energy (kg·mm²/s² = µJ).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let Some(mass) = &self.mass else { return 0.0 };
        0.5 * (mass.mass * self.velocity.norm_squared() + self.spin.dot(&(self.world_inertia() * self.spin)))
    }

    /// Inertia tensor about the centre of mass in the axes of the world (kg·mm²); 0 for a fixed body.
    pub(crate) fn world_inertia(&self) -> Matrix3<f64> {
        let Some(mass) = &self.mass else { return Matrix3::zeros() };
        let r = self.pose.rotation.to_rotation_matrix();
        r.matrix() * mass.inertia * r.matrix().transpose()
    }

    /// Pose after the body has moved for a time (s) with a constant velocity (mm/s) of its centre of
    /// mass and a constant angular velocity (rad/s).
    pub(crate) fn moved(&self, velocity: &V3, spin: &V3, time: f64) -> Pose {
        let Some(mass) = &self.mass else { return self.pose };
        let center = self.center() + velocity * time;
        let rotation = Twist::rotation(&P3::origin(), spin * time).exp().rotation * self.pose.rotation;
        // Without normalisation, rounding would accumulate over a million steps.
        let rotation = UnitQuaternion::new_normalize(rotation.into_inner());
        let origin = center - rotation * mass.center.coords;
        Isometry3::from_parts(Translation3::from(origin.coords), rotation)
    }
}

/// Factor from mm³ to m³, the unit of volume in densities.
const CUBIC_METRES_PER_CUBIC_MM: f64 = 1e-9;
