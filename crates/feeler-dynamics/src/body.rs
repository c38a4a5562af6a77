//! A rigid body: what it weighs, where it is, how it moves.

use crate::error::DynamicsError;
use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::Body;
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion};
use std::sync::Arc;

/// A body, and its state at one time.
#[derive(Clone, Debug)]
pub struct RigidBody {
    pub(crate) body: Arc<Body>,
    pub(crate) mass: Option<Mass>,
    /// From the body's coordinates to the world's.
    pub pose: Pose,
    /// Velocity (mm/s) of the centre of mass; of a fixed body 0.
    pub velocity: V3,
    /// Angular velocity (rad/s, world).
    pub spin: V3,
    /// Implicit dilation (mm), 0 or more: contacts are those of the solid with a layer of this thickness all
    /// around, which rounds its convex edges. For solids that were made thinner by as much before. Mass and
    /// inertia know nothing of it.
    pub dilation: f64,
}

/// Of a body that moves, in its own coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Mass {
    /// kg.
    pub(crate) mass: f64,
    pub(crate) center: P3,
    /// Inertia tensor (kg·mm²) about the centre.
    pub(crate) inertia: Matrix3<f64>,
}

impl RigidBody {
    /// A body that never moves.
    #[must_use]
    pub fn fixed(body: Arc<Body>, pose: Pose) -> Self {
        Self { body, mass: None, pose, velocity: V3::zeros(), spin: V3::zeros(), dilation: 0.0 }
    }

    /// A body of a density (kg/m³), at rest. Mass and inertia are those of the exact solid.
    ///
    /// # Errors
    /// A density that is none, and a sheet, which has no volume.
    pub fn of_density(body: Arc<Body>, pose: Pose, density: f64) -> Result<Self, DynamicsError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(DynamicsError::Density(density));
        }
        let info = &body.hierarchy().info;
        let Some(inertia) = info.inertia else { return Err(DynamicsError::NoVolume(info.name.clone())) };
        // kg/mm³.
        let density = density * CUBIC_METRE;
        let tensor = Matrix3::from_fn(|r, c| inertia.tensor[r][c]) * density;
        let mass = Mass { mass: density * info.volume, center: inertia.centroid.into(), inertia: tensor };
        Ok(Self { mass: Some(mass), ..Self::fixed(body, pose) })
    }

    /// Whether it can move.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.mass.is_some()
    }

    /// Its solid.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Its mass (kg); none of a fixed body.
    #[must_use]
    pub fn mass(&self) -> Option<f64> {
        self.mass.as_ref().map(|m| m.mass)
    }

    /// Centre of mass (world); of a fixed body the origin of its coordinates.
    #[must_use]
    pub fn center(&self) -> P3 {
        self.mass.as_ref().map_or_else(|| self.pose * P3::origin(), |m| self.pose * m.center)
    }

    /// Velocity (mm/s) of a point of it (world).
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

    /// Inertia (kg·mm²) about the centre of mass in the axes of the world; 0 of a fixed body.
    pub(crate) fn world_inertia(&self) -> Matrix3<f64> {
        let Some(mass) = &self.mass else { return Matrix3::zeros() };
        let r = self.pose.rotation.to_rotation_matrix();
        r.matrix() * mass.inertia * r.matrix().transpose()
    }

    /// Where it is after it has moved by velocities for a time.
    pub(crate) fn moved(&self, velocity: &V3, spin: &V3, time: f64) -> Pose {
        let Some(mass) = &self.mass else { return self.pose };
        let center = self.center() + velocity * time;
        let rotation = Twist::rotation(&P3::origin(), spin * time).exp().rotation * self.pose.rotation;
        // Rounding of products would add up over a million steps.
        let rotation = UnitQuaternion::new_normalize(rotation.into_inner());
        let origin = center - rotation * mass.center.coords;
        Isometry3::from_parts(Translation3::from(origin.coords), rotation)
    }
}

/// m³ in mm³.
const CUBIC_METRE: f64 = 1e-9;
