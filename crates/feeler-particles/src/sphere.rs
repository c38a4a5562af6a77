//! Spheres: particles themselves, parts of clumps, and bounds of other shapes.

use feeler_geom::P3;

/// A sphere. Its coordinates are in the world, unless the function that takes or returns it states
/// another frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre (mm).
    pub center: P3,
    /// Radius (mm).
    pub radius: f64,
}
