//! Spheres: particles themselves, parts of clumps, and bounds of other shapes.

use feeler_geom::P3;

/// A sphere. Functions that take one name its frame; without a name it is the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre (mm).
    pub center: P3,
    /// Radius (mm).
    pub radius: f64,
}
