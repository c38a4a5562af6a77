//! Shapes of particles: spheres, grains and solids, without and with their poses.

use super::ParticleMotion;
use super::grain::{GrainShape, PosedGrain};
use super::solid::{PosedSolid, SolidShape};
use crate::sphere::Sphere;
use feeler_geom::{P3, V3};

/// Shape of a particle that is not made of spheres.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ParticleShape {
    Grain(GrainShape),
    Solid(SolidShape),
}

/// Shape of a collider in its pose (world).
#[derive(Clone, Copy, Debug)]
pub(super) enum PosedShape<'g> {
    Sphere(Sphere),
    Grain(PosedGrain<'g>),
    Solid(PosedSolid<'g>),
}

impl ParticleShape {
    /// Places the shape so that its bounding sphere is centred at `center` (world) and its axes of
    /// inertia have the rotation of the particle's `motion`. `None` if that pose is not finite.
    pub(super) fn posed(&self, center: &P3, motion: &ParticleMotion) -> Option<PosedShape<'_>> {
        match self {
            Self::Grain(grain) => grain.posed(center, motion).map(PosedShape::Grain),
            Self::Solid(solid) => Some(PosedShape::Solid(solid.posed(center, motion))),
        }
    }

    pub(super) fn is_solid(&self) -> bool {
        matches!(self, Self::Solid(_))
    }
}

impl PosedShape<'_> {
    /// Radius (mm) for Hertz's law at the point of the shape's surface with outward unit normal `n`; for
    /// a solid, it is that of the sphere of equal volume.
    #[inline]
    pub(super) fn radius_at(&self, n: &V3) -> f64 {
        match self {
            Self::Sphere(sphere) => sphere.radius,
            Self::Grain(grain) => grain.radius_at(n),
            Self::Solid(solid) => solid.equal_radius,
        }
    }
}
