//! Boundary representation of a solid: topology, geometry, trimming, adjacency, status of edges and
//! vertices.
//!
//! [`source`] is the output of an importer (topology and surfaces as read); [`build::build_solid`] turns
//! it into a [`Solid`] with everything that the offline stage needs. Topology is truck-topology's
//! index-based [`CompressedShell`](truck_topology::compress::CompressedShell); further data of faces,
//! edges and vertices is stored in parallel lists with the same indices.

pub mod build;
pub mod closed;
pub mod fixtures;
pub mod lumps;
pub mod mesh;
mod remark;
pub mod sheet;
pub mod solid;
pub mod source;
#[cfg(feature = "truck-modeling")]
pub mod truck;

pub use remark::{Remark, Severity, shown_length};
pub use solid::{EdgeInfo, EdgeSide, EdgeStatus, FaceInfo, Solid, VertexInfo, VertexPolar};
pub use source::SolidSource;
