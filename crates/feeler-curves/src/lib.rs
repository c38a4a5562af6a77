//! Deformable curves with a radius (springs, cables, hoses): all local minimal distances to each other,
//! to themselves and to solids.
//!
//! A [`Curve`] is a chain of Bézier pieces that moves by its control points. A [`CurvePair`] stores the
//! scratch buffers, the results and the identities of the minima between two curves, or between a curve
//! and itself. Each step has a module: `tree` is refitted when a curve moves, and `walk` descends to
//! pairs of leaves. `solve` finds their minima (`along` those of a valley, `solid` those with an
//! `obstacle`). `sets` joins stretches of equal distance and separates them from minima, and `ids`
//! tracks identities.
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
