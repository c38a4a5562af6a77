//! Walls of triangles, whose contacts with spheres and grains are those of one surface.
//!
//! # Source
//! WALL: *Faceted Walls in PFC* (Itasca, 2024).
//!
//! # Errata of the source
//! - The quaternion of rigid motion, `(1, ω_xΔt, ω_yΔt, ω_2Δt)`, rotates by 2ωΔt, and `ω_2` is `ω_z`: it
//!   should be (1, ½ωΔt). Here walls rotate by exactly ωΔt.
//! - The proximity contact of Figure 6b combines `C_c` and `C_d`, not `C_d` and `C_d`; state is copied from
//!   `C_b` to `C_d`, not from `S_b` to `S_d`; the second rule of proximity contacts lacks "is below Θ";
//!   forces *and* moments of bonded contacts are added.
//!
//! The top of each file lists its deviations from the source.

mod closed;
mod closest;
mod error;
mod history;
mod mesh;
mod overlap;
mod resolve;
mod stl;
#[cfg(test)]
mod tests;
mod tree;
mod wall;

pub use closest::FacetRegion;
pub use error::FacetError;
pub(crate) use history::FacetRecord;
pub use history::{FacetContact, FacetHistory, OverlappedFacet};
pub use resolve::FacetRole;
pub use wall::{ActiveSides, FacetWall, Resolution, WallMotion};
