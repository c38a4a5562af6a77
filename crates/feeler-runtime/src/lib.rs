//! Contacts and clearances between posed solids: all local minimal distances (LMDs), and whether the
//! interiors intersect.
//!
//! A [`Body`] is a hierarchy prepared for queries. Any number of pairs share it. A [`ContactPair`] owns
//! the results of its last query and the data that the next one reuses. A [`Scene`] finds the near pairs
//! of many bodies and queries them. A [`ContactTracker`] computes the contacts for a step of a simulator,
//! and [`time_of_contact`] the first contact of a motion.
//!
//! # Stages of a query
//! [`ContactPair::query`] runs these stages (BREP Figure 4.1):
//!
//! 1. `cull` traverses both hierarchies and returns the pairs of leaves that can contain a minimum. The
//!    traversal starts at the pairs of nodes at which the previous one stopped (the front), because
//!    their culling tests remain valid during small motions.
//! 2. `solve` computes the critical pairs of the features in these leaves. With
//!    [`QueryOptions::certified`], `certify` proves that no critical pair that may be a minimum is
//!    missing.
//! 3. `accept` keeps the critical pairs that are minima. Both footpoints must lie in the trims and the
//!    direction in both polars (`footpoint`), and the distance must have a minimum of second order.
//!    `conformal` replaces connected sets of equal minima by samples.
//! 4. `verdict` decides whether the interiors intersect, independently of the minima and in parallel to
//!    them if requested. `profile` bounds faces of revolution and threads for it.
//! 5. `accept` merges duplicates and assigns identities that persist from query to query.
//!
//! # Modules
//! Modules use lower layers only; `tests/tests/layers.rs` lists the layers and checks this.
//!
//! - `api`: public types of queries; `body`, `load`: bodies; `query`: data passed between the stages.
//! - `pair`: the sequence of the stages, and the reuse of earlier results.
//! - `nearest`, `minima`: queries of points and rays: nearest point, membership, intersections, and all
//!   minima of a point.
//! - `report`: results on request, such as contact regions, crossing curves and a separating translation.
//! - `step_set`: contacts that a step of a simulator needs beyond the minima.
//! - `tracking`: scenes, trackers, followed contacts and times of contact.
//!
//! # Conventions
//! Lengths are in millimetres, angles in radians. A pose takes a solid's own coordinates to the world,
//! and `pose_ab` takes coordinates of B to those of A. Computations are in the frame of A. The crate
//! reads hierarchies only; it depends neither on STEP nor on the B-Rep.

#[cfg(feature = "diagnostics")]
pub mod diagnostics;
#[cfg(not(feature = "diagnostics"))]
mod diagnostics;

mod accept;
mod api;
mod body;
mod certify;
mod conformal;
mod cull;
mod footpoint;
mod load;
mod minima;
mod nearest;
mod pair;
mod profile;
mod query;
mod report;
mod solve;
mod step_set;
mod tracking;
mod verdict;

pub use api::contact::{Contact, ContactKind, FeatureKind, FeatureRef, Stats};
pub use api::error::{BatchError, QueryError};
pub use api::options::QueryOptions;
pub use api::tolerance::Tolerances;
pub use api::verdict::{
    ConformalSet, ContactRegion, CrossingCurve, Crossings, MissingCurvePart, Overlap, OverlapMethod,
    RegionKind, Status, UndecidedPoint, Verdict, WidenedPoint, Witness,
};
pub use body::{Body, BodyError, Thread};
pub use minima::{
    Boundary, NearPart, PointMinima, PointMinimum, PointPosition, SurfaceFoot, feature_id, held_curvatures,
    is_in_edge_polar, is_in_vertex_polar, surface_foot,
};
pub use nearest::{BoundaryPoint, NearestPoint, PointQuery, RayIntersection, RayIntersections, RayQuery};
pub use pair::{COARSER_TOLERANCES, ContactPair, NearestRange};
pub use tracking::follow::{ContactFollower, FollowOptions, FollowedContact, LastQuery};
pub use tracking::scene::{
    BodyId, BodyOptions, ContactEvent, EventKind, NearPair, PairOptions, Scene, SceneContact, SceneError,
    TrackedPair,
};
pub use tracking::time_of_contact::{
    FirstContact, FirstPenetration, Passage, PassageOptions, PassageOutcome, Path, PathError, PathPiece,
    PenetrationOptions, PenetrationOutcome, PenetrationPassage, first_penetration, time_of_contact,
};
pub use tracking::tracker::{
    ContactTracker, GapPrediction, StepBound, TrackedStatus, TrackerCounts, TrackerOptions, Update,
};
