//! The data of a `.feeler` file and its encoding, whose codec other data may use.
//!
//! [`Model`] is everything one input gives: distinct solids with their hierarchies, and their instances. The
//! geometric types are feeler-geom's own: one form is stored, validated and read by the runtime.

pub mod codec;
pub mod data;
pub mod extent;
pub mod file;
pub mod id;
pub mod mask;
pub mod plane;
pub mod validate;
pub mod whole;

#[cfg(test)]
mod fixture;

pub use data::{
    Area, Component, Edge, Face, Feature, Hierarchy, Inertia, Instance, Model, NearCanonical, Node, Options,
    Origin, Reference, Remark, Severity, Side, SolidInfo, Span, Vertex,
};
pub use extent::{extent, placed_box};
pub use id::{AreaId, EdgeId, FaceId, NodeId, VertexId};
pub use mask::{FeatureType, conformal_compatible, strict_compatible};
pub use plane::plane;
