//! Cones of directions: cones of revolution and polyhedral cones.
//!
//! Cones of both kinds bound the directions in the polars of a part of a solid's boundary. Parts of two
//! solids can contain a local minimal distance only if a direction of one cone is opposite to a
//! direction of the other.
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

/// Pointed convex cone of at most four unit generators, sorted around the cone. A cone without
/// generators contains all directions.
///
/// Cones built by this module have zero, three or four generators and a non-empty interior. Seen from
/// outside, along the cone's axis towards the origin, the generators are in counter-clockwise order:
/// `g[i + 1] × g[i]` points out of the cone.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PolyCone {
    /// Unit generators in counter-clockwise order around the cone, as seen from outside; empty for the
    /// cone of all directions.
    pub generators: ArrayVec<V3, 4>,
}

/// Angle (rad) by which a hull is dilated to give it an interior. With a smaller value, products of two
/// such angles (the volume spanned by the generators around a single direction) would vanish in rounding.
/// A larger value loosens the cones; a smaller one does not tighten them noticeably, because the apex
/// angles of the normals of areas (the flatness) are five orders of magnitude larger.
pub const HULL_DILATION: f64 = 1e-6;
/// Cosine of the largest half-angle of a set of directions that gets a polyhedral cone; wider sets get
/// the cone of all directions. A larger value gives more nodes without a cone, a smaller one needle-like
/// cones.
const MIN_COS: f64 = 1e-4;

#[cfg(test)]
mod tests;
