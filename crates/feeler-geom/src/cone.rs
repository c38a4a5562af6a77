//! Cones of directions: of revolution, and polyhedral.
//!
//! Both bound the outward normals (polars) of a piece of a solid. Two pieces can hold a local minimal
//! distance only if a direction of one cone is opposite to a direction of the other.
//!
//! # Source
//! BREP chapter 3, §4.2.2; MATH §7.

mod min_cap;
mod poly;
mod reduce;
mod revolution;
mod zone;

pub use poly::{separated, separated_along};
pub use revolution::{Cap, RevolutionCone};
pub use zone::DirectionBand;

use crate::V3;
use arrayvec::ArrayVec;

/// Pointed convex cone of at most four unit generators, sorted around the cone; no generator: all directions.
///
/// Cones made here have no generator, three or four, and a non-empty interior. Seen from outside, along the
/// cone's axis towards the origin, generators turn counter-clockwise: `g[i + 1] × g[i]` points out of the
/// cone.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PolyCone {
    /// Unit generators in order around the cone.
    pub generators: ArrayVec<V3, 4>,
}

/// Angle (rad) by which a hull is dilated to give it an interior. Products of two such angles (the volume
/// spanned by the generators around a single direction) must stand clear of rounding, hence not smaller;
/// flatness is five orders larger, hence no gain in tightness from less.
pub const HULL_DILATION: f64 = 1e-6;
/// Cosine of the widest half-angle of a cap whose directions are still given a cone.
const MIN_COS: f64 = 1e-4;

#[cfg(test)]
mod tests;
