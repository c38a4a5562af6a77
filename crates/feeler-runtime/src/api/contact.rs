//! Contacts: the results of a query.

use crate::diagnostics::Effort;
use feeler_geom::{P3, Pose, V3};

/// Kind of a [`Contact`]: of a minimum of the distance (MATH §2), or of a constraint of a step (MATH §23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactKind {
    /// An isolated local minimum whose normal lies in the exact polars of the tangent cones at both
    /// footpoints.
    Strict,
    /// A minimum only if the polars of edges and vertices are dilated by
    /// [`QueryOptions::quasi_angle`](crate::QueryOptions::quasi_angle); a small rotation may make it
    /// strict.
    Quasi,
    /// A sample of a connected set of equal minima, such as two parallel planes.
    Conformal,
    /// A point at fixed parameters of one of two nearly conformal features, and the nearest point of the
    /// other feature. Only a [`ContactTracker`](crate::ContactTracker) reports it.
    Sample,
    /// A quasi-minimum with a footpoint on the extension of its face, beyond a concave edge of the face.
    /// Only a [`ContactTracker`](crate::ContactTracker) reports it.
    Extended,
}

impl ContactKind {
    /// Whether a contact of this kind is a local minimum of the distance: strict, or a member of a
    /// conformal set.
    #[must_use]
    pub fn is_minimum(self) -> bool {
        matches!(self, Self::Strict | Self::Conformal)
    }
}

/// Kind of a feature of a solid's boundary, by its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureKind {
    /// A supermaximal face: all faces of a solid on one oriented surface.
    Face,
    /// A supermaximal edge: all edges on one curve between the same faces.
    Edge,
    /// A vertex: an end of edges, or the tip of a cone or of a spindle torus.
    Vertex,
}

/// Feature of a solid that contains a footpoint, and the parameters of the footpoint on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureRef {
    /// Whether the feature is a face, an edge or a vertex.
    pub kind: FeatureKind,
    /// Index of the feature among those of its kind in the [`Hierarchy`](feeler_hierarchy::Hierarchy).
    pub index: u32,
    /// Number of the input entity (of a STEP file, for example) of the face, edge or vertex that contains
    /// the footpoint; 0 if its number is unknown.
    pub source: u64,
    /// Parameters of the footpoint: `(u, v)` of the face's surface, `(t, 0)` with the parameter t of the
    /// edge's curve, or zeros at a vertex.
    pub uv: [f64; 2],
}

/// A local minimal distance (LMD) of two solids: a pair of footpoints, one on each solid, such that no
/// small displacement of the footpoints on their solids shortens the distance.
///
/// Such a pair is called a contact even if its distance is positive. A
/// [`ContactTracker`](crate::ContactTracker) also reports pairs that are not minima but constrain the motion
/// of a step ([`ContactKind`]). Points and vectors are in world coordinates unless a field says otherwise.
///
/// # Source
/// BREP (1.23), MATH §2, §23.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Signed distance between the footpoints along `normal` (mm). It is negative if the solids penetrate
    /// each other at the footpoints.
    ///
    /// Its lower limit is [`Tolerances::min_distance_apart`](crate::Tolerances::min_distance_apart) if the
    /// solids are known not to interfere, and [`Tolerances::min_distance`](crate::Tolerances::min_distance)
    /// otherwise. A [`QueryOptions::penetration`](crate::QueryOptions::penetration) that is deeper replaces
    /// both limits.
    pub distance: f64,
    /// `distance` minus [`QueryOptions::dilation_a`](crate::QueryOptions::dilation_a) and
    /// [`dilation_b`](crate::QueryOptions::dilation_b) (mm).
    pub gap: f64,
    /// Footpoint on A (mm, world coordinates).
    pub point_a: P3,
    /// Footpoint on B (mm, world coordinates).
    pub point_b: P3,
    /// Footpoint on A (mm) in the frame of A.
    pub local_a: P3,
    /// Footpoint on B (mm) in the frame of B.
    pub local_b: P3,
    /// Unit normal with `point_b - point_a = distance · normal`. It is the outward direction of A and
    /// the inward direction of B at their footpoints: it points from `point_a` to `point_b` at a
    /// positive distance, and from `point_b` to `point_a` at a negative one.
    ///
    /// The equation holds for samples, extended contacts and contacts that a tracker has moved without a
    /// search only after projection on the normal: `(point_b - point_a) · normal = distance`.
    pub normal: V3,
    /// `normal` in the frame of A.
    pub local_normal: V3,
    /// First derivative of the gap with respect to a twist of B at A's origin, in A's frame: three
    /// components for the translation (mm per mm), then three for the rotation (mm per rad).
    pub gap_rate: [f64; 6],
    /// Smallest and largest normal curvature (1/mm) of A at its footpoint, positive where the solid is
    /// convex. On a face these are the principal curvatures. Across an edge and at a vertex the curvature
    /// is infinite.
    pub curvature_a: [f64; 2],
    /// Smallest and largest normal curvature (1/mm) of B at its footpoint, positive where the solid is
    /// convex. Across an edge and at a vertex the curvature is infinite.
    pub curvature_b: [f64; 2],
    /// Kind of the minimum, or reason why the contact belongs to the set of a step.
    pub kind: ContactKind,
    /// Identity of the contact. It stays the same between queries of one
    /// [`ContactPair`](crate::ContactPair) as long as the minimum stays on its features: it is computed from
    /// its pair of features and its branch (a number that distinguishes the minima of that pair).
    ///
    /// In a [`ContactTracker`](crate::ContactTracker), identities increase from contact to contact and are
    /// never reused. A contact keeps its identity while it stays on its features and in the set, a sample
    /// while it is in the set.
    pub id: u64,
    /// Number of consecutive queries of the pair, or updates of the tracker, before this one, that found
    /// this contact; 0 for a new one.
    pub age: u32,
    /// Whether a step can close the gap: the gap is at most the displacement of the step's bound, which is
    /// 0 for a query. A solver needs only active contacts.
    pub is_active: bool,
    /// Whether the footpoint on A, and that on B, is fixed on its feature. One footpoint of each sample is
    /// fixed; the others slide.
    pub is_fixed: [bool; 2],
    /// Feature of A that contains `point_a`.
    pub feature_a: FeatureRef,
    /// Feature of B that contains `point_b`.
    pub feature_b: FeatureRef,
    /// Whether the solver stopped before its error was as small as rounding, so that the footpoints are
    /// accurate to only about a millionth of the larger solid's diagonal. A certified query also sets it
    /// if the pair of areas that contains this minimum may have further minima.
    pub undecided: bool,
}

impl Contact {
    /// Kind and index of the features of A and of B that contain the footpoints.
    #[must_use]
    pub fn features(&self) -> [(FeatureKind, u32); 2] {
        [&self.feature_a, &self.feature_b].map(|f| (f.kind, f.index))
    }

    /// Copy of this contact after the rigid motion `pose` of both solids. Only the footpoints and the normal
    /// in world coordinates differ.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self {
            point_a: pose * self.point_a,
            point_b: pose * self.point_b,
            normal: pose * self.normal,
            ..*self
        }
    }
}

/// Counters of one query. They do not depend on the number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Pairs of nodes, one of each hierarchy, that the traversal has tested.
    pub bvtt_nodes: u64,
    /// Pairs of leaves that passed all culling tests.
    pub leaf_pairs: u64,
    /// Exact solves: one for each pair of canonical features, of a canonical feature and a free-form
    /// area, or of two free-form areas. Pairs that bounds of the distance exclude before the solve are
    /// not counted.
    pub exact_solves: u64,
    /// Solves with a free-form feature that a certified query has examined for further minima.
    pub certified_pairs: u64,
    /// Solves of `certified_pairs` that may have more minima than were found, because the proof was not
    /// completed.
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

    /// Adds the counters of `part`, which is another query or a part of this one.
    pub fn add(&mut self, part: &Self) {
        self.bvtt_nodes += part.bvtt_nodes;
        self.leaf_pairs += part.leaf_pairs;
        self.exact_solves += part.exact_solves;
        self.certified_pairs += part.certified_pairs;
        self.undecided_pairs += part.undecided_pairs;
        self.effort.add(&part.effort);
    }
}
