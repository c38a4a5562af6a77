//! Indices, and pairs of indices: one of A and one of B.

use feeler_hierarchy::{AreaId, FaceId, NodeId};

/// Position of a feature in the list of all features of a body: faces, then edges, then vertices. The
/// position of a face is its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FeatureId(pub u32);

impl FeatureId {
    /// Identifier of the feature at position `n` of the list.
    pub(crate) fn new(n: usize) -> Self {
        Self(super::index(n))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<FaceId> for FeatureId {
    fn from(face: FaceId) -> Self {
        Self(face.0)
    }
}

/// Area of A and area of B.
pub(crate) type AreaPair = (AreaId, AreaId);
/// Face of A and face of B.
pub(crate) type FacePair = [FaceId; 2];
/// Feature of A and feature of B.
pub(crate) type FeaturePair = (FeatureId, FeatureId);
/// Node of the tree of A and node of the tree of B.
pub(crate) type NodePair = (NodeId, NodeId);
