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

mod coordinates;
#[cfg(feature = "diagnostics")]
pub mod diagnostics;
#[cfg(not(feature = "diagnostics"))]
mod diagnostics;
mod error;
mod lmd;
mod options;
mod outermost;
mod side;
mod tolerance;
mod verdict_types;

mod profile;

mod body;
mod load;

mod nearest;

mod walk;

mod query;

mod footpoint;

mod front;
mod minima;
mod solve;

mod contact_ids;
mod dedupe;
mod filter;

mod follow;

mod certify;
mod conformal;
mod pressed;
mod step_set;

mod verdict;

mod pair;
mod report;

mod scene;
mod tracker;

mod advance;

pub use advance::{
    FirstContact, Passage, PassageOptions, PassageOutcome, Path, PathError, PathPiece, time_of_contact,
};
pub use body::{Body, BodyError};
pub use error::QueryError;
pub use follow::{Asked, FollowOptions, FollowedContact, Following};
pub use lmd::{FeatureKind, FeatureRef, Lmd, LmdClass, Stats};
pub use minima::{
    Boundary, NearPlace, PointMinima, PointMinimum, Standing, SurfaceFoot, feature_id, held_curvatures,
    is_in_edge_polar, is_in_vertex_polar, surface_foot,
};
pub use nearest::{NearestPoint, PointQuery};
pub use options::QueryOptions;
pub use pair::ContactPair;
pub use scene::{
    BodyId, BodyOptions, ContactEvent, EventKind, NearPair, PairOptions, Scene, SceneContact, SceneError,
    TrackedPair,
};
pub use tolerance::Tolerances;
pub use tracker::{
    ContactTracker, GapPrediction, StepBound, StepContact, StepContactKind, TrackedStatus, TrackerCounts,
    TrackerOptions, Update,
};
pub use verdict_types::{
    ConformalSet, Contact, ContactKind, CrossingCurve, Crossings, LeftOut, Status, Undecided, Verdict,
    Widened, Witness,
};
