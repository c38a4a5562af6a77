//! Prepared solids, also concave ones, as shapes of particles.
//!
//! Contacts with other solids, with exact walls and with planes are tracked from step to step
//! ([`ContactFollower`](feeler_runtime::ContactFollower)) and searched for anew once the solids have
//! moved relative to each other by a fraction of their size. Contacts with spheres and grains are those
//! of an exact wall.
//!
//! # Source
//! The effective radius in Hertz's law is the geometric mean of the relative radii of curvature, kept
//! within a factor of [`MAX_RADIUS_RATIO`] of that of spheres of equal volume, as for grains.

use super::ParticleMotion;
use super::grain::MAX_RADIUS_RATIO;
use super::plane_patch::PlanePatch;
use crate::exact::ExactWall;
use crate::sphere::Sphere;
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::Body;
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::PI;
use std::sync::Arc;

/// A solid as the shape of a particle.
#[derive(Clone, Debug)]
pub(super) struct SolidShape {
    /// The solid as an exact wall in its own coordinates, for contacts with spheres and grains.
    exact: ExactWall,
    /// Centre of the bounding sphere (solid's own coordinates).
    center: V3,
    /// Rotation from the solid's own coordinates to the axes of inertia.
    rotation: UnitQuaternion<f64>,
    /// Radius (mm) of the sphere with the volume of the solid.
    equal_radius: f64,
    /// Patch that represents a plane in queries of this solid.
    plane_patch: PlanePatch,
}

impl PartialEq for SolidShape {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.exact.body(), other.exact.body())
            && (self.center, self.rotation, self.equal_radius)
                == (other.center, other.rotation, other.equal_radius)
    }
}

/// A solid in its pose (world).
#[derive(Clone, Copy, Debug)]
pub(super) struct PosedSolid<'s> {
    shape: &'s SolidShape,
    /// Pose that maps the solid's own coordinates to the world.
    pub(super) pose: Pose,
    /// Radius (mm) of the sphere with the volume of the solid.
    pub(super) equal_radius: f64,
}

impl SolidShape {
    /// Creates the shape of a solid. `bounding` is its bounding sphere in its own coordinates,
    /// `rotation` leads from these to the axes of inertia, and `volume` is in mm³. `None` if the solid
    /// is too small or too large for a patch of a plane.
    pub(super) fn new(
        body: &Arc<Body>,
        bounding: &Sphere,
        rotation: &UnitQuaternion<f64>,
        volume: f64,
    ) -> Option<Self> {
        let equal_radius = math::powf(0.75 * volume / PI, 1.0 / 3.0);
        let plane_patch = PlanePatch::for_radius(bounding.radius)?;
        let exact = ExactWall::new(Arc::clone(body));
        Some(Self { exact, center: bounding.center.coords, rotation: *rotation, equal_radius, plane_patch })
    }

    /// The solid as a wall, and the pose that maps its own coordinates to those along the axes of inertia, in
    /// which its bounding sphere has the centre `bounding`.
    pub(super) fn parts(&self, bounding: &P3) -> (&ExactWall, Pose) {
        let origin = bounding.coords - self.rotation * self.center;
        (&self.exact, Pose::from_parts(Translation3::from(origin), self.rotation))
    }

    /// Places the solid so that its bounding sphere is centred at `center` (world) and its axes of inertia
    /// have the rotation of the particle's `motion`.
    pub(super) fn posed(&self, center: &P3, motion: &ParticleMotion) -> PosedSolid<'_> {
        let rotation = motion.rotation * self.rotation;
        let origin = center.coords - rotation * self.center;
        PosedSolid {
            shape: self,
            pose: Pose::from_parts(Translation3::from(origin), rotation),
            equal_radius: self.equal_radius,
        }
    }
}

impl<'s> PosedSolid<'s> {
    pub(super) fn body(&self) -> &'s Arc<Body> {
        self.shape.exact.body()
    }

    /// Patch that represents a plane in queries of this solid.
    pub(super) fn plane_patch(&self) -> &'s PlanePatch {
        &self.shape.plane_patch
    }

    /// Returns the solid as an exact wall in its pose, for contacts with spheres and grains.
    pub(super) fn as_wall(&self) -> ExactWall {
        self.shape.exact.with_pose(&self.pose)
    }
}

/// Effective radius (mm) of a contact: the geometric mean of the inverse curvatures (1/mm) of the gap,
/// kept within the factor [`MAX_RADIUS_RATIO`] of `of_spheres`, the effective radius of spheres of equal
/// volume.
pub(super) fn effective_radius(curvatures: [f64; 2], of_spheres: f64) -> f64 {
    let product = curvatures[0].max(0.0) * curvatures[1].max(0.0);
    (1.0 / product.sqrt()).clamp(of_spheres / MAX_RADIUS_RATIO, of_spheres * MAX_RADIUS_RATIO)
}
