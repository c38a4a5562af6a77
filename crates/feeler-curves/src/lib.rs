//! Deformable curves with a radius (springs, cables, hoses): all local minimal distances to each other,
//! to themselves and to solids.
//!
//! A [`Curve`] is a sequence of Bézier pieces that moves by its control points. A [`CurvePair`] stores
//! the scratch buffers, the results and the identities of the minima between two curves, or between a
//! curve and itself. Each step of a query has a module. `tree` has the tree of boxes of a curve, which
//! is refitted when the curve moves. `walk` descends two trees to pairs of leaves. `solve` finds the
//! minima of such a pair (`along` those along a valley, `solid` those with a solid, prepared in
//! `obstacle`). `sets` joins stretches, intervals on which the distance is constant, to sets of equal
//! minima. `ids` tracks the identities of minima.
//!
//! Lengths are in mm.
//!
//! # Features
//! - `reference`: the culling that BREP compares on a spring (module `reference`), for tests and benches.
//!
//! # Source
//! BREP §3.5 and §4.3.3 (Algorithms 7 and 13). The modules list their deviations from it.

mod along;
mod curve;
mod fit;
mod ids;
mod minimum;
mod obstacle;
mod part;
mod piece;
mod query;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod scene;
mod sets;
mod solid;
mod solve;
mod tight;
mod tree;
mod walk;

pub use curve::{Curve, CurveError};
pub use feeler_geom::{P3, V3};
pub use feeler_hierarchy::Feature;
pub use fit::FittedCurve;
pub use minimum::{CurveLocation, CurveMinimum, CurveOptions, CurveStats, SolidMinimum};
pub use obstacle::Obstacle;
pub use query::CurvePair;
pub use scene::{CurveContact, CurveId, CurveScene, CurveSceneError};
pub use solid::CurveSolidPair;
pub use tight::TightBend;
