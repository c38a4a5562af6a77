//! Caches that the traversals of one query use: nodes and primitives moved to the frame of the other
//! solid, and data of pairs of faces.

use crate::body::Body;
use crate::body::ids::FeatureId;
use crate::body::tree::Placed;
use feeler_geom::Pose;
use feeler_geom::obb::PoseMatrix;
use feeler_geom::skeleton::Primitive;
use feeler_hierarchy::NodeId;

/// Nodes of a tree, each moved by one pose at its first use.
#[derive(Clone, Debug)]
pub(crate) struct PlacedTree<N> {
    nodes: Vec<N>,
    /// Number of the pose (a value of `current`) by which each node was last moved.
    stamps: Vec<u32>,
    current: u32,
}

impl<N> Default for PlacedTree<N> {
    fn default() -> Self {
        Self { nodes: Vec::new(), stamps: Vec::new(), current: 0 }
    }
}

impl<N: Placed> PlacedTree<N> {
    /// Invalidates all moved nodes, for a new pose or a new tree.
    pub(crate) fn restart(&mut self, tree: &[N]) {
        if self.nodes.len() != tree.len() || self.current == u32::MAX {
            self.nodes.clear();
            self.nodes.extend_from_slice(tree);
            self.stamps.clear();
            self.stamps.resize(tree.len(), 0);
            self.current = 0;
        }
        self.current += 1;
    }

    /// Node `i` of `tree` moved by `pose`. Tree and pose must be the same until the next
    /// [`PlacedTree::restart`].
    pub(crate) fn get(&mut self, tree: &[N], pose: &PoseMatrix, i: NodeId) -> &N {
        let k = i.index();
        if self.stamps[k] != self.current {
            self.stamps[k] = self.current;
            self.nodes[k] = tree[k].placed(pose);
        }
        &self.nodes[k]
    }
}

/// Primitives of a body's features, each moved by one pose at its first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacedEnvelopes {
    /// For each feature: the number of the pose, the moved primitive, and the largest distance (mm) of
    /// the feature from the primitive.
    items: Vec<(u32, Option<(Primitive, f64)>)>,
    current: u32,
}

impl PlacedEnvelopes {
    /// Invalidates all moved primitives, for a new pose or a new body.
    pub(crate) fn restart(&mut self, body: &Body) {
        let n = body.features().len();
        if self.items.len() != n || self.current == u32::MAX {
            self.items.clear();
            self.items.resize(n, (0, None));
            self.current = 0;
        }
        self.current += 1;
    }

    /// Primitive of a feature, or of the canonical feature that it follows, moved by `pose`, and the
    /// largest distance (mm) of the feature from it; `None` as in [`Body::sphere_envelope`]. Body and
    /// pose must be the same until the next [`PlacedEnvelopes::restart`].
    pub(crate) fn get(&mut self, body: &Body, pose: &Pose, feature: FeatureId) -> Option<&(Primitive, f64)> {
        let item = &mut self.items[feature.index()];
        if item.0 != self.current {
            *item = (self.current, body.sphere_envelope(feature).map(|(p, off)| (p.transformed(pose), off)));
        }
        item.1.as_ref()
    }
}

/// Cache of one value for each pair of indices, of a face or area of each solid, valid until the next
/// restart. A pair may evict another one, whose value must then be computed again.
#[derive(Clone, Debug)]
pub(crate) struct PairTable<T> {
    /// Number of the restart that the entry belongs to, the pair, and its value.
    slots: Vec<(u32, [u32; 2], T)>,
    current: u32,
}

impl<T: Copy + Default> Default for PairTable<T> {
    fn default() -> Self {
        Self { slots: vec![(0, <_>::default(), T::default()); 1 << PAIR_BITS], current: 0 }
    }
}

/// Base-2 logarithm of the number of slots of a [`PairTable`], which is several times the usual number of
/// pairs near each other. A larger value uses more memory; with a smaller one, more values are
/// evicted.
const PAIR_BITS: u32 = 11;

impl<T: Copy + Default> PairTable<T> {
    /// Invalidates the values of all pairs.
    pub(crate) fn restart(&mut self) {
        if self.current == u32::MAX {
            *self = Self::default();
        }
        self.current += 1;
    }

    pub(crate) fn get(&self, pair: [u32; 2]) -> Option<T> {
        let (of, stored, value) = self.slots[Self::slot(pair)];
        (of == self.current && stored == pair).then_some(value)
    }

    pub(crate) fn set(&mut self, pair: [u32; 2], value: T) {
        self.slots[Self::slot(pair)] = (self.current, pair, value);
    }

    /// Index of the slot in which the value of a pair is stored, by Fibonacci hashing.
    fn slot([a, b]: [u32; 2]) -> usize {
        let key = (u64::from(a) << 32) | u64::from(b);
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PAIR_BITS)) as usize
    }
}
