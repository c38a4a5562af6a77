//! Convex and concave grains bounded by one closed NURBS surface.
//!
//! A [`ControlNet`] is closed by wrapping, by a clamped seam, or by poles. [`NurbsGrain::new`] checks
//! that the surface bounds a grain: that it is closed and smooth and has positive weights.
//! [`NurbsGrain::sphere`], [`ellipsoid`](NurbsGrain::ellipsoid) and [`torus`](NurbsGrain::torus) are
//! exact, [`NurbsGrain::random`] creates bumps and dents, and [`fit()`] computes the net of measured
//! points. `feeler_import::prepare_grain` converts a grain to a model like that of a STEP file, so that
//! all queries of solids apply to it.
//!
//! ```
//! use feeler_grains::nurbs::NurbsGrain;
//!
//! let grain = NurbsGrain::ellipsoid([3.0, 2.0, 1.0])?;
//! let volume = 4.0 / 3.0 * std::f64::consts::PI * 6.0;
//! assert!((grain.mass().volume - volume).abs() < 1e-12 * volume);
//! # Ok::<(), feeler_grains::nurbs::NurbsGrainError>(())
//! ```
//!
//! # Source
//! NURBS §3.1; Piegl & Tiller, *The NURBS Book*, chapters 4, 7 and 8.

mod contact;
mod error;
mod fit;
mod grain;
mod make;
mod mass;
mod net;
mod random;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod winding;

pub use contact::{GrainContact, GrainPlace, polished};
pub use error::{Direction, NurbsGrainError};
pub use fit::{FitOptions, NurbsFit, fit};
pub use grain::{NurbsGrain, Topology};
pub use mass::GrainMass;
pub use net::{Along, ControlNet, wrapped_curve};

#[cfg(test)]
mod tests;
