//! Data passed between the steps of a query. The first steps compute critical pairs of footpoints, and
//! continuous families of such pairs, on the untrimmed geometry of two features. The later steps select the
//! minima among them.

use crate::api::contact::{ContactKind, FeatureRef};
use feeler_geom::skeleton::Family;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::Feature;

/// Critical pair of footpoints on the untrimmed geometry of two features. Points and directions are in
/// the frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub feature_a: Feature,
    pub feature_b: Feature,
    pub p_a: P3,
    pub p_b: P3,
    /// Unit vector from `p_a` to `p_b` at a positive distance; A's outward direction at any distance.
    pub n: V3,
    /// Signed distance (mm) from `p_a` to `p_b` along `n`.
    pub distance: f64,
    /// Parameters of the footpoint on A's feature if the solver has computed them, which it does for
    /// free-form features only; `None` otherwise. `hint_b` likewise.
    pub hint_a: Option<P2>,
    pub hint_b: Option<P2>,
    /// Whether the solver of this pair stopped before its error was as small as rounding.
    pub undecided: bool,
}

/// Pair of features whose untrimmed geometry has a continuous family of critical pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FamilyPair {
    pub feature_a: Feature,
    pub feature_b: Feature,
    pub family: Family,
}

/// Local minimum of the distance between two features. Points and directions are in the frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    pub feature_a: Feature,
    pub feature_b: Feature,
    pub p_a: P3,
    pub p_b: P3,
    pub n: V3,
    pub distance: f64,
    pub kind: ContactKind,
    pub place_a: FeatureRef,
    pub place_b: FeatureRef,
    /// Deviation (mm) of the trim or edge at the footpoint on A, within which the footpoint is
    /// uncertain; `slack_b` likewise.
    pub slack_a: f64,
    pub slack_b: f64,
    /// Whether at least one of the footpoints lies beyond a concave edge of its face.
    pub is_extended: bool,
    /// Whether `n` was replaced by the normal of an adjacent face, because the solids face each other
    /// across an edge of coplanar (flush) faces, where the original normal would obstruct sliding.
    pub is_slid: bool,
    pub undecided: bool,
}
