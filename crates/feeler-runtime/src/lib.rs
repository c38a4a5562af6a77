//! All local minimal distances between two posed solids.
//!
//! A [`Body`] is a hierarchy taken into use, shared among any number of [`ContactPair`]s; a pair holds the
//! scratch and the results of its queries; a [`Scene`] finds the near pairs of many bodies and queries them.
//! One module a step of BREP Figure 4.1: `front` finds pairs of leaves, `solve` their critical pairs, `trim`
//! and `polar` what lies on the solids, `filter` what is a minimum, `conformal` samples the sets that are no
//! points, `dedupe` reports each once, `verdict` decides whether the interiors meet.
//!
//! Kernels work in the frame of A; `pose_ab` takes coordinates of B to those of A. Lengths in millimetres,
//! angles in radians. This crate knows neither STEP nor solids: it reads hierarchies.

#[cfg(feature = "diagnostics")]
pub mod diagnostics;
#[cfg(not(feature = "diagnostics"))]
mod diagnostics;

mod api;

mod profile;

mod body;

mod nearest;

mod load;

mod cull;

mod query;

mod footpoint;

mod minima;
mod solve;
mod verdict;

mod accept;

mod certify;
mod conformal;
mod step_set;

mod pair;

mod report;

mod tracking;

pub use api::contact::{Contact, ContactKind, FeatureKind, FeatureRef, Stats};
pub use api::error::QueryError;
pub use api::options::QueryOptions;
pub use api::tolerance::Tolerances;
pub use api::verdict::{
    ConformalSet, ContactRegion, CrossingCurve, Crossings, LeftOut, RegionKind, Status, Undecided, Verdict,
    Widened, Witness,
};
pub use body::{Body, BodyError};
pub use minima::{
    Boundary, NearPlace, PointMinima, PointMinimum, Standing, SurfaceFoot, feature_id, held_curvatures,
    is_in_edge_polar, is_in_vertex_polar, surface_foot,
};
pub use nearest::{NearestPoint, PointQuery};
pub use pair::ContactPair;
pub use tracking::follow::{Asked, FollowOptions, FollowedContact, Following};
pub use tracking::scene::{
    BodyId, BodyOptions, ContactEvent, EventKind, NearPair, PairOptions, Scene, SceneContact, SceneError,
    TrackedPair,
};
pub use tracking::time_of_contact::{
    FirstContact, Passage, PassageOptions, PassageOutcome, Path, PathError, PathPiece, time_of_contact,
};
pub use tracking::tracker::{
    ContactTracker, GapPrediction, StepBound, StepContact, StepContactKind, TrackedStatus, TrackerCounts,
    TrackerOptions, Update,
};
