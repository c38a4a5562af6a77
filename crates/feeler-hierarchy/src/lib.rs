//! The data of a `.feeler` file and its encoding, whose codec other data may use.
//!
//! [`Model`] is the content of one input: distinct solids with their hierarchies, and their instances.
//! The geometric types are those of feeler-geom, which are stored, validated and read by the runtime in
//! one form.

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
    AdjacentFace, Area, Component, Edge, Face, Feature, Hierarchy, Inertia, Instance, Model, NearCanonical,
    Node, Options, Origin, Reference, Remark, Severity, SolidInfo, Span, Vertex,
};
pub use extent::{extent, placed_box};
pub use id::{AreaId, EdgeId, FaceId, NodeId, VertexId};
pub use mask::{FeatureType, conformal_compatible, strict_compatible};
pub use plane::plane;
