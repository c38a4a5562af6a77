//! A solid: topology, geometry, trimming, adjacency, edge and vertex status.
//!
//! [`source`] is what an importer hands over (topology and surfaces as read); [`build::build_solid`] turns it
//! into a [`Solid`] with everything that the offline stage needs. Topology is truck-topology's index-based
//! [`CompressedShell`](truck_topology::compress::CompressedShell); what it lacks stands beside it by the same
//! index.

pub mod build;
pub mod closed;
pub mod fixtures;
pub mod lumps;
pub mod mass;
pub mod mesh;
mod remark;
pub mod sheet;
pub mod solid;
pub mod source;
#[cfg(feature = "truck-modeling")]
pub mod truck;

pub use remark::{Remark, Severity};
pub use solid::{EdgeInfo, EdgeSide, EdgeStatus, FaceInfo, Solid, VertexInfo, VertexPolar};
pub use source::SolidSource;
