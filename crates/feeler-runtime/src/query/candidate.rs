//! Data passed between the steps of a query: critical pairs and families of untrimmed geometry, then
//! minima.

use crate::api::contact::{ContactKind, FeatureRef};
use feeler_geom::skeleton::Family;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::Feature;

/// Critical pair of footpoints of two features' untrimmed geometry, frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub feature_a: Feature,
    pub feature_b: Feature,
    pub p_a: P3,
    pub p_b: P3,
    /// Unit direction from A to B, A's outward direction.
    pub n: V3,
    /// Signed distance (mm) along `n`.
    pub distance: f64,
    /// Parameters of the footpoints if the solver has computed them (free-form features).
    pub hint_a: Option<P2>,
    pub hint_b: Option<P2>,
    /// Whether the solver stopped before it reached rounding.
    pub undecided: bool,
}

/// Pair of features with a continuous family of critical pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FamilyPair {
    pub feature_a: Feature,
    pub feature_b: Feature,
    pub family: Family,
}

/// Local minimum, frame of A.
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
    /// Deviation (mm) of the trim or edge at each footpoint, within which the footpoint is uncertain.
    pub slack_a: f64,
    pub slack_b: f64,
    /// Whether a footpoint lies beyond a concave edge of its face.
    pub is_extended: bool,
    /// Whether the normal is that of an adjacent face, along a flush seam.
    pub is_slid: bool,
    pub undecided: bool,
}
