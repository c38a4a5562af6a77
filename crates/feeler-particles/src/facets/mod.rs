//! Walls of triangles, which balls and grains meet as one surface.
//!
//! # Source
//! WALL: *Faceted Walls in PFC* (Itasca, 2024).
//!
//! # Errata of the source
//! - The quaternion of rigid motion, `(1, ω_xΔt, ω_yΔt, ω_2Δt)`, rotates by 2ωΔt, and `ω_2` is `ω_z`: it
//!   should be (1, ½ωΔt). Here walls rotate by exactly ωΔt.
//! - The proximity contact of Figure 6b is that of `C_c` and `C_d`, not of `C_d` and `C_d`; state is copied
//!   from `C_b` to `C_d`, not from `S_b` to `S_d`; the second rule of proximity contacts lacks "is below Θ";
//!   of bonded contacts forces *and* moments are added.
//!
//! What departs from the source stands at the top of each file.

mod closed;
mod closest;
mod error;
mod grain;
mod memory;
mod mesh;
mod resolve;
mod stl;
#[cfg(test)]
mod tests;
mod tree;
mod wall;

pub use closest::Region;
pub use error::FacetError;
pub use memory::{FacetContact, FacetMemory, FacetTouch};
pub use resolve::Role;
pub use wall::{FacetWall, Resolution, Sides, WallMotion};

pub(crate) use memory::Held;
