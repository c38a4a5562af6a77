//! Shapes of particles: spheres, grains and solids, without and with their poses.

use super::grain::{GrainShape, PosedGrain};
use super::ids::ParticleId;
use super::solid::{PosedSolid, SolidShape};
use super::{ParticleMotion, Simulation};
use crate::exact::ExactWall;
use crate::sphere::Sphere;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::Grain;

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

/// Shape of a particle in the frame along its axes of inertia, whose origin is the centre of mass. The pose
/// of a grain or a solid maps its own coordinates to that frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LocalShape<'p> {
    Spheres(&'p [Sphere]),
    Grain(&'p Grain, Pose),
    Solid(&'p ExactWall, Pose),
}

impl Simulation {
    /// Shape of a particle; `None` if no such particle exists.
    pub(crate) fn local_shape(&self, particle: ParticleId) -> Option<LocalShape<'_>> {
        let particle = self.particles.get(particle.index())?;
        let bounding = particle.spheres.first().map_or_else(P3::origin, |s| s.center);
        Some(match particle.shape.as_deref() {
            None => LocalShape::Spheres(&particle.spheres),
            Some(ParticleShape::Grain(grain)) => {
                let (grain, rotation) = grain.parts();
                LocalShape::Grain(grain, Pose::from_parts(bounding.coords.into(), rotation))
            }
            Some(ParticleShape::Solid(solid)) => {
                let (wall, pose) = solid.parts(&bounding);
                LocalShape::Solid(wall, pose)
            }
        })
    }

    /// Principal moments of inertia of a particle (kg·mm²); `None` if no such particle exists.
    pub(crate) fn moments(&self, particle: ParticleId) -> Option<V3> {
        self.particles.get(particle.index()).map(|p| p.inertia)
    }

    /// Motions of all particles, by number of the particle.
    pub(crate) fn motions(&self) -> &[ParticleMotion] {
        &self.motions
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
