//! Pairs of numbered things, one of A and one of B.

use feeler_hierarchy::{AreaId, FaceId, NodeId};

/// The place of a feature in the list of all of a body: faces, then edges, then vertices. That of a face is
/// its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FeatureId(pub u32);

impl FeatureId {
    /// The `n`-th feature.
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

/// Areas.
pub(crate) type AreaPair = (AreaId, AreaId);
/// Faces.
pub(crate) type FacePair = [FaceId; 2];
/// Features.
pub(crate) type FeaturePair = (FeatureId, FeatureId);
/// Nodes of the trees that are walked.
pub(crate) type NodePair = (NodeId, NodeId);
