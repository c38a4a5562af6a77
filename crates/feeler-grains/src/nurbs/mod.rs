//! Grains bounded by one closed NURBS surface, also concave.
//!
//! A [`ControlNet`] is closed by wrapping, by a clamped seam, or by poles; [`NurbsGrain::new`] looks whether
//! the surface is one that bounds a grain: closed, smooth, positive weights. [`NurbsGrain::sphere`],
//! [`ellipsoid`](NurbsGrain::ellipsoid) and [`torus`](NurbsGrain::torus) are exact, [`NurbsGrain::random`]
//! grows bumps and dents, [`fit()`] finds the net of measured points. `feeler_import::prepare_grain` makes a
//! model of a grain, as of a STEP file: contacts, verdicts, scenes and steps are those of solids.
//!
//! ```
//! use feeler_grains::nurbs::NurbsGrain;
//!
//! let grain = NurbsGrain::ellipsoid([3.0, 2.0, 1.0])?;
//! let volume = 4.0 / 3.0 * std::f64::consts::PI * 6.0;
//! assert!((grain.mass().volume - volume).abs() < 1e-12 * volume);
//! # Ok::<(), feeler_grains::nurbs::GrainError>(())
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
pub use error::{Direction, GrainError};
pub use fit::{Fit, FitOptions, fit};
pub use grain::{NurbsGrain, Topology};
pub use mass::GrainMass;
pub use net::{Along, ControlNet, wrapped_curve};

#[cfg(test)]
mod tests;
