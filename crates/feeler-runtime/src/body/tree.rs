//! Hierarchy of one solid for traversals: all data of a node that culling tests need, stored contiguously.
//!
//! # Source
//! BREP §2.4; MATH §10 (memory layout).

use crate::body::ids::{FeatureId, FeaturePair};
use feeler_geom::Obb;
use feeler_geom::cone::Cap;
use feeler_geom::obb::PoseMatrix;
use feeler_hierarchy::{AreaId, Node, NodeId};

/// Bits of the feature types below a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FeatureTypes {
    /// Types of the features below the node that can carry strict minima, whose directions are in polars
    /// that are not dilated.
    pub strict: u16,
    /// Types of all features below the node, including those that can carry quasi-minima only.
    pub all: u16,
}

impl FeatureTypes {
    pub(crate) fn union(self, other: Self) -> Self {
        Self { strict: self.strict | other.strict, all: self.all | other.all }
    }

    pub(crate) fn of(self, with_quasi: bool) -> u16 {
        if with_quasi { self.all } else { self.strict }
    }
}

/// Distance and angle by which footpoints below a node may be outside its box and cone: trims accept
/// footpoints within a deviation, and conformal sets accept members within an angle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance {
    /// Largest distance (mm) of a footpoint outside the node's box.
    pub length: f32,
    /// Largest angle (rad) of a direction outside the node's cone: the rotation of the normal over the
    /// distance `length`.
    pub angle: f32,
    /// Inverse extent (1/mm) of the smallest canonical feature below the node, because such features can
    /// carry conformal sets; 0 without one.
    pub inverse_extent: f32,
}

impl Allowance {
    /// Allowance from these values (mm, rad, 1/mm), rounded up.
    pub(crate) fn new(length: f64, angle: f64, inverse_extent: f64) -> Self {
        Self { length: up(length), angle: up(angle), inverse_extent: up(inverse_extent) }
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            length: self.length.max(other.length),
            angle: self.angle.max(other.angle),
            inverse_extent: self.inverse_extent.max(other.inverse_extent),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounded up to the next `f32`")]
fn up(x: f64) -> f32 {
    (x as f32).next_up()
}

/// A node. Children of an inner node are adjacent and follow their parent.
///
/// It occupies three cache lines: cone and allowance are in the first, the box is in the others.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct TreeNode {
    /// Cone that contains the polars of all features below the node, up to the angle of `allowance`.
    pub cap: Cap,
    /// Types of the features below the node.
    pub types: FeatureTypes,
    /// Allowance of the node's box and cone.
    pub allowance: Allowance,
    /// Position in [`Body::features`](crate::Body) of the only feature below, if one solve may cover all
    /// its areas, or [`MIXED`](Self::MIXED).
    whole: FeatureId,
    /// Index of the first child; at a leaf, the index of its area combined with the flag [`Node::LEAF`].
    link: u32,
    /// Box that contains all areas below the node, up to the length of `allowance`.
    pub obb: Obb,
    /// Solve class of the only feature below; `Free` if there are several.
    form: SolveClass,
    /// Number of the region of the solid to which the node belongs, 0 for the whole solid: see
    /// [`Body::regions`](crate::Body::regions).
    pub region: u8,
}

const _: () =
    assert!(std::mem::offset_of!(TreeNode, obb) == 64 && size_of::<TreeNode>() == 192, "three cache lines");

/// Class of a feature that decides how its pairs are solved. Two features are *solved as wholes* if one
/// solve finds the critical pairs of all their areas ([`SolveClass::solved_whole_with`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SolveClass {
    /// The feature is canonical: closed forms exist.
    Canonical,
    /// The feature follows a canonical one, whose closed forms give starting points.
    Near,
    /// The feature is a free-form edge of at most 24 areas that follows no canonical curve.
    FreeEdge,
    /// Any other feature; also the class of a node with several features.
    Free,
}

impl SolveClass {
    /// Whether one pair of areas represents a pair of features of these classes. This is so if both are
    /// canonical or near-canonical, or if one is canonical and the other a free-form edge of few areas,
    /// because one solve then covers all their areas.
    pub(crate) fn solved_whole_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Free, _) | (_, Self::Free) => false,
            (Self::Canonical, _) | (_, Self::Canonical) => true,
            (a, b) => a == Self::Near && b == Self::Near,
        }
    }
}

impl TreeNode {
    /// Value of `whole` for nodes with several features below, or with a free-form feature that is
    /// solved area by area.
    pub(crate) const MIXED: FeatureId = FeatureId(u32::MAX);

    pub(crate) fn new(
        node: &Node,
        (types, allowance): (FeatureTypes, Allowance),
        (whole, form): (FeatureId, SolveClass),
    ) -> Self {
        let (obb, cap) = (node.obb, node.cone.cap(0.0));
        Self { cap, types, allowance, whole, link: node.link, obb, form, region: 0 }
    }

    /// Position of the only feature below the node if one solve may cover all its areas
    /// ([`Body::whole_of`](crate::Body::whole_of)); `None` otherwise.
    pub(crate) fn whole(&self) -> Option<FeatureId> {
        (self.whole != Self::MIXED).then_some(self.whole)
    }

    /// Features below this node and below a node of another solid, if one solve covers all areas of both;
    /// `None` otherwise.
    pub(crate) fn whole_with(&self, other: &Self) -> Option<FeaturePair> {
        (self.form.solved_whole_with(other.form)).then_some((self.whole, other.whole))
    }

    /// Reads a word of each of the three cache lines of the node, which loads it into the cache.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.link) ^ self.obb.center.x.to_bits() ^ u64::from(self.region)
    }

    /// Area of a leaf; `None` for an inner node.
    pub(crate) fn area(&self) -> Option<AreaId> {
        (self.link & Node::LEAF != 0).then_some(AreaId(self.link & !Node::LEAF))
    }

    /// Children of an inner node; `None` for a leaf.
    pub(crate) fn children(&self) -> Option<[NodeId; 2]> {
        (self.link & Node::LEAF == 0).then(|| [self.link, self.link + 1].map(NodeId))
    }
}

/// An item whose geometry can be moved by a pose.
pub(crate) trait Placed: Copy {
    /// Returns the item moved by a pose.
    fn placed(&self, pose: &PoseMatrix) -> Self;
}

impl Placed for TreeNode {
    fn placed(&self, pose: &PoseMatrix) -> Self {
        let cap = Cap { axis: pose.rotation * self.cap.axis, ..self.cap };
        Self { obb: self.obb.placed(pose), cap, ..*self }
    }
}
