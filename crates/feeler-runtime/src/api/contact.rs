//! Contacts: the results of a query.

use crate::diagnostics::Effort;
use feeler_geom::{P3, V3};

/// Kind of a [`Contact`] as a minimum of the distance (MATH §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactKind {
    /// A strict local minimum: the direction lies in the exact polars of both tangent cones.
    Strict,
    /// A minimum only if the polars of edges and vertices are dilated by
    /// [`QueryOptions::quasi_angle`](crate::QueryOptions::quasi_angle); a small rotation may make it
    /// strict.
    Quasi,
    /// A sample of a connected set of equal minima, such as two parallel planes.
    Conformal,
}

/// Kind of a feature: the dimension of the part of the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureKind {
    /// A supermaximal face: all faces of a solid on one oriented surface.
    Face,
    /// A supermaximal edge: all edges on one curve between the same faces.
    Edge,
    /// A vertex.
    Vertex,
}

/// Feature of a solid that contains a footpoint, and the parameters of the footpoint on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureRef {
    /// Kind of the feature.
    pub kind: FeatureKind,
    /// Index among the features of this kind in the [`Hierarchy`](feeler_hierarchy::Hierarchy).
    pub index: u32,
    /// Number of the input entity (of a STEP file, for example) of the face, edge or vertex that contains
    /// the footpoint; 0 if its number is unknown.
    pub source: u64,
    /// Parameters of the footpoint: `(u, v)` on a face, `(t, 0)` on an edge, zeros at a vertex.
    pub uv: [f64; 2],
}

/// A local minimal distance (LMD) of two solids: a pair of footpoints, one on each solid, such that no
/// small displacement of the footpoints on their solids shortens the distance.
///
/// It is called a contact at positive distances, too. Points and vectors are in world coordinates unless a
/// field says otherwise.
///
/// # Source
/// BREP (1.23), MATH §2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Signed distance between the footpoints (mm). It is negative if the solids penetrate each other here.
    ///
    /// Its lower limit is [`Tolerances::min_distance`](crate::Tolerances::min_distance), for solids
    /// that do not interfere [`Tolerances::min_distance_apart`](crate::Tolerances::min_distance_apart),
    /// or minus [`QueryOptions::penetration`](crate::QueryOptions::penetration) if that is deeper.
    pub distance: f64,
    /// `distance` minus both dilations (mm).
    pub gap: f64,
    /// Footpoint on A (mm, world coordinates).
    pub point_a: P3,
    /// Footpoint on B (mm, world coordinates).
    pub point_b: P3,
    /// Footpoint on A (mm) in the frame of A.
    pub local_a: P3,
    /// Footpoint on B (mm) in the frame of B.
    pub local_b: P3,
    /// Unit normal with `point_b - point_a = distance · normal`. It is the outward direction of A and the
    /// inward direction of B at their footpoints: it points from footpoint A to footpoint B at a positive
    /// distance, and from B to A at a negative one.
    pub normal: V3,
    /// Smallest and largest normal curvature (1/mm) of A at its footpoint, positive where the solid is
    /// convex. On a face these are the principal curvatures. Across an edge and at a vertex the curvature
    /// is infinite.
    pub curvature_a: [f64; 2],
    /// Smallest and largest normal curvature (1/mm) of B at its footpoint, like `curvature_a`.
    pub curvature_b: [f64; 2],
    /// Kind of the minimum.
    pub kind: ContactKind,
    /// Identity of the minimum: its pair of features and its branch among the minima of that pair. It stays
    /// the same between queries of one [`ContactPair`](crate::ContactPair) as long as the minimum stays on
    /// its features.
    pub id: u64,
    /// Number of consecutive earlier queries that found this minimum.
    pub age: u32,
    /// Feature of A at `point_a`.
    pub feature_a: FeatureRef,
    /// Feature of B at `point_b`.
    pub feature_b: FeatureRef,
    /// Whether the solver stopped before it reached rounding, so that the footpoints are accurate to about
    /// a millionth of the size only. A certified query also sets it if its pair of areas may have further
    /// minima.
    pub undecided: bool,
}

/// Counters of one query. They do not depend on the number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Pairs of nodes that were tested.
    pub bvtt_nodes: u64,
    /// Pairs of leaves that passed all culling tests.
    pub leaf_pairs: u64,
    /// Exact solves: one for each pair of canonical features, of a canonical feature and a free-form area,
    /// or of two free-form areas. Areas of edges that are excluded by the distances at their ends and in
    /// the middle are not counted.
    pub exact_solves: u64,
    /// Solves with a free-form feature that a certified query has examined for further minima.
    pub certified_pairs: u64,
    /// Certified solves that may have more minima than were found: the proof was not completed.
    pub undecided_pairs: u64,
    /// Further counters, which are public with the feature `diagnostics`.
    pub(crate) effort: Effort,
}

impl Stats {
    /// Further counters for developers of the query.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Adds the counters of another query, or of a part of this one.
    pub fn add(&mut self, part: &Self) {
        self.bvtt_nodes += part.bvtt_nodes;
        self.leaf_pairs += part.leaf_pairs;
        self.exact_solves += part.exact_solves;
        self.certified_pairs += part.certified_pairs;
        self.undecided_pairs += part.undecided_pairs;
        self.effort.add(&part.effort);
    }
}
