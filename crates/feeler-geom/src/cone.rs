//! Cones of directions: of revolution, and polyhedral.
//!
//! Both bound the outward normals (polars) of a piece of a solid. Two pieces can hold a local minimal distance only
//! if a direction of one cone is opposite to a direction of the other.
//!
//! # Source
//! BREP chapter 3, §4.2.2; MATH §7.

mod min_cap;
mod poly;
mod reduce;
mod revolution;
mod zone;

pub use poly::{HULL_DILATION, PolyCone, separated, separated_along};
pub use revolution::{Cap, RevolutionCone};
pub use zone::Zone;

#[cfg(test)]
mod tests;
