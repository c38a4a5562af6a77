//! Grains: superellipsoids and poly-superellipsoids as shapes of particles.
//!
//! A grain is convex and has one contact with another particle or a plane, but one at each location
//! where it overlaps an exact wall or facets. Its bounding sphere represents it wherever only proximity
//! matters.
//!
//! # Source
//! The radius in Hertz's law is the geometric mean of the radii of curvature at the contact, as in
//! Podlozhnyuk, Pirker and Kloss, *Computational Particle Mechanics* 4 (2017).
//!
//! # Deviations
//! The radius is kept within a factor of [`MAX_RADIUS_RATIO`] of the radius of the sphere of equal volume.
//! Otherwise flat faces would be rigid and tips without force, since Hertz's law covers neither.

use super::ParticleMotion;
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::{Grain, Placed};
use feeler_grains::mass::poly_superellipsoid;
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::PI;

/// A grain as the shape of a particle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GrainShape {
    grain: Grain,
    /// Rotation from the coordinates of the semi-axes to the axes of inertia.
    rotation: UnitQuaternion<f64>,
    /// Radius (mm) of the sphere whose volume is that of the grain's shape, plus the thickness of the
    /// layer.
    equal_radius: f64,
}

/// A grain in its pose (world).
#[derive(Clone, Copy, Debug)]
pub(super) struct PosedGrain<'g> {
    pub(super) placed: Placed<'g>,
    /// Radius (mm) of the sphere whose volume is that of the grain's shape, plus the thickness of the
    /// layer.
    equal_radius: f64,
}

impl GrainShape {
    /// Creates the shape of a grain. `rotation` leads from the coordinates of the semi-axes to the axes
    /// of inertia. `None` if the grain has no volume.
    pub(super) fn new(grain: &Grain, rotation: &UnitQuaternion<f64>) -> Option<Self> {
        let volume = poly_superellipsoid(grain.shape()).ok()?.volume;
        let equal_radius = math::powf(0.75 * volume / PI, 1.0 / 3.0) + grain.dilation();
        Some(Self { grain: *grain, rotation: *rotation, equal_radius })
    }

    /// The grain, and the rotation from the coordinates of its semi-axes to the axes of inertia.
    pub(super) fn parts(&self) -> (&Grain, UnitQuaternion<f64>) {
        (&self.grain, self.rotation)
    }

    /// Places the grain so that its bounding sphere is centred at `center` (world) and its axes of
    /// inertia have the rotation of the particle's `motion`. `None` if that pose is not finite.
    pub(super) fn posed(&self, center: &P3, motion: &ParticleMotion) -> Option<PosedGrain<'_>> {
        let pose = Pose::from_parts(Translation3::from(center.coords), motion.rotation * self.rotation);
        let placed = Placed::new(&self.grain, &pose).ok()?;
        Some(PosedGrain { placed, equal_radius: self.equal_radius })
    }
}

impl PosedGrain<'_> {
    /// Radius (mm) for Hertz's law at the point of the grain's surface with outward unit normal `n`: the
    /// geometric mean of the radii of curvature there, clamped as [`MAX_RADIUS_RATIO`] requires.
    pub(super) fn radius_at(&self, n: &V3) -> f64 {
        let (_, bend) = self.placed.surface(n);
        // One eigenvalue is 0, so the product of the other two is the sum of the minors.
        let minor = |i: usize, j: usize| bend[(i, i)] * bend[(j, j)] - bend[(i, j)] * bend[(i, j)];
        let radius = (minor(0, 1) + minor(0, 2) + minor(1, 2)).max(0.0).sqrt();
        radius.clamp(self.equal_radius / MAX_RADIUS_RATIO, self.equal_radius * MAX_RADIUS_RATIO)
    }
}

/// Maximum ratio of the larger to the smaller of two radii: the radius in Hertz's law and that of the
/// sphere of equal volume. A larger ratio makes flat faces almost rigid and tips almost without force;
/// with a ratio near 1 all grains are spheres to Hertz's law.
pub(super) const MAX_RADIUS_RATIO: f64 = 10.0;
