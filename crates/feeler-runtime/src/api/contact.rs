//! What a query returns.

use crate::diagnostics::Effort;
use feeler_geom::{P3, V3};

/// What kind of minimum an [`Contact`] is (MATH §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactKind {
    /// A strict local minimum with the exact polars of both tangent cones.
    Strict,
    /// Holds only with the polars of edges and vertices dilated by the user's angle.
    Quasi,
    /// A sample of a connected set of non-strict minima.
    Conformal,
}

/// Kind of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureKind {
    /// A supermaximal face.
    Face,
    /// A supermaximal edge.
    Edge,
    /// A vertex.
    Vertex,
}

/// The place of a footpoint on its solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureRef {
    /// Kind.
    pub kind: FeatureKind,
    /// Index among the hierarchy's features of this kind.
    pub index: u32,
    /// Entity id of the source face, edge or vertex that holds the footpoint; 0 when there is none.
    pub source: u64,
    /// Parameters of the footpoint: `(u, v)` on a face, `(t, 0)` on an edge, zeros at a vertex.
    pub uv: [f64; 2],
}

/// A local minimal distance: a pair of footpoints, one on each solid, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Signed distance between the footpoints (mm), negative where they are pressed into the other solid:
    /// down to minus two tolerances at a contact, or to minus
    /// [`QueryOptions::penetration`](crate::QueryOptions::penetration).
    pub distance: f64,
    /// `distance` minus both dilations (mm).
    pub gap: f64,
    /// Footpoint on A.
    pub point_a: P3,
    /// Footpoint on B.
    pub point_b: P3,
    /// Footpoint on A in A's own coordinates.
    pub local_a: P3,
    /// Footpoint on B in B's own coordinates.
    pub local_b: P3,
    /// Unit vector with `point_b - point_a = distance · normal`: from A to B, at a negative distance from B
    /// to A. A's outward direction at its footpoint, B's inward one.
    pub normal: V3,
    /// Smallest and largest normal curvature (1/mm) of A at its footpoint, positive where it bulges: of a
    /// face the principal curvatures, infinite across an edge and at a vertex.
    pub curvature_a: [f64; 2],
    /// The same of B.
    pub curvature_b: [f64; 2],
    /// Class.
    pub kind: ContactKind,
    /// Identity: the pair of features and the branch among the LMDs of that pair. It stays the same from
    /// query to query of one [`ContactPair`](crate::ContactPair) for as long as the minimum stays on its
    /// features.
    pub id: u64,
    /// Queries in a row that have found it before this one.
    pub age: u32,
    /// Where the footpoint lies on A.
    pub feature_a: FeatureRef,
    /// Where the footpoint lies on B.
    pub feature_b: FeatureRef,
    /// The solver stopped above round-off: the footpoints are good to a millionth of the size only. In a
    /// certified query also: whether its pair of areas has other minima is undecided.
    pub undecided: bool,
}

/// Counters of one query. The same for any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Pairs of nodes that were looked at.
    pub bvtt_nodes: u64,
    /// Pairs of leaves that passed all culling tests.
    pub leaf_pairs: u64,
    /// Exact solves: one for a pair of canonical features, one for a pair of a canonical feature and a
    /// free-form area, one for a pair of free-form areas. Areas of edges that plainly have no minimum, by
    /// what the distance is at their ends and in their middle, are not counted.
    pub exact_solves: u64,
    /// Solves with a free-form side that a certified query has looked into: a canonical feature with an area,
    /// or two areas.
    pub certified_pairs: u64,
    /// Those of them that may have more minima than were found.
    pub undecided_pairs: u64,
    /// Everything else.
    pub(crate) effort: Effort,
}

impl Stats {
    /// What the query did inside.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Adds the counters of a part of the work, or of another query.
    pub fn add(&mut self, part: &Self) {
        self.bvtt_nodes += part.bvtt_nodes;
        self.leaf_pairs += part.leaf_pairs;
        self.exact_solves += part.exact_solves;
        self.certified_pairs += part.certified_pairs;
        self.undecided_pairs += part.undecided_pairs;
        self.effort.add(&part.effort);
    }
}
