//! Grains of smooth shape in a simulation: where they are, and what contacts need of their shape.
//!
//! A grain is one convex shape with one contact to each other body; with an exact wall, or with facets, one
//! at each place. The ball around it stands for it wherever only nearness is asked for.
//!
//! # Source
//! The radius of Hertz's law is the geometric mean of the radii of curvature at the contact, as in
//! Podlozhnyuk, Pirker and Kloss, *Computational Particle Mechanics* 4 (2017).
//!
//! # Deviations
//! It is kept within a factor of [`ROUNDEST`] of the radius of the ball of equal volume: flat faces and tips,
//! of which Hertz knows nothing, would be rigid or without force.

use super::Motion;
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::{Grain, Placed};
use feeler_grains::mass::poly_superellipsoid;
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::PI;

/// A grain of smooth shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Smooth {
    grain: Grain,
    /// From the coordinates of the semi-axes to the axes of inertia.
    turn: UnitQuaternion<f64>,
    /// Radius (mm) of the ball of equal volume.
    radius: f64,
}

/// A grain in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met<'g> {
    pub(super) placed: Placed<'g>,
    /// Radius (mm) of the ball of equal volume.
    radius: f64,
}

impl Smooth {
    pub(super) fn new(grain: &Grain, turn: &UnitQuaternion<f64>) -> Option<Self> {
        let volume = poly_superellipsoid(grain.shape()).ok()?.volume;
        let radius = math::powf(0.75 * volume / PI, 1.0 / 3.0) + grain.dilation();
        Some(Self { grain: *grain, turn: *turn, radius })
    }

    /// In the place of the ball around it; none where that is at no finite place.
    pub(super) fn met(&self, center: &P3, motion: &Motion) -> Option<Met<'_>> {
        let pose = Pose::from_parts(Translation3::from(center.coords), motion.rotation * self.turn);
        let placed = Placed::new(&self.grain, &pose).ok()?;
        Some(Met { placed, radius: self.radius })
    }
}

impl Met<'_> {
    /// Radius (mm) of the ball that it is like where its outward normal is `n`.
    pub(super) fn radius_at(&self, n: &V3) -> f64 {
        radius_at(&self.placed, self.radius, n)
    }
}

fn radius_at(placed: &Placed<'_>, radius: f64, n: &V3) -> f64 {
    let (_, bend) = placed.surface(n);
    // One eigenvalue is 0, so the product of the others is the sum of the minors.
    let minor = |i: usize, j: usize| bend[(i, i)] * bend[(j, j)] - bend[(i, j)] * bend[(i, j)];
    (minor(0, 1) + minor(0, 2) + minor(1, 2)).max(0.0).sqrt().clamp(radius / ROUNDEST, radius * ROUNDEST)
}

/// How often the radius of the ball of equal volume a radius of curvature counts at most, and at least one in
/// so many.
pub(super) const ROUNDEST: f64 = 10.0;
