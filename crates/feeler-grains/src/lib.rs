//! Grains of smooth shape, convex or concave: mass properties, contacts with each other, and shapes
//! fitted to points.
//!
//! [`convex`]: superellipsoids and poly-superellipsoids. [`nurbs`]: grains bounded by one closed
//! free-form surface. The crate `feeler-particles` adds walls and time steps.
//!
//! ```
//! use feeler_geom::{Pose, V3};
//! use feeler_grains::convex::{Grain, Placed, contact};
//!
//! // Semi-axes on the positive and on the negative sides, exponents around z and along it.
//! let grain = Grain::new(V3::new(1.0, 0.8, 0.4), V3::new(0.5, 0.9, 0.6), [0.4, 1.5])?;
//! let mass = feeler_grains::mass::poly_superellipsoid(grain.shape())?;
//! assert!(mass.volume > 1.16 && mass.centroid.x > 0.0);
//!
//! let (here, there) = (Pose::identity(), Pose::translation(1.4, 0.0, 0.0));
//! let (a, b) = (Placed::new(&grain, &here)?, Placed::new(&grain, &there)?);
//! let found = contact(&a, &b, f64::INFINITY, None).expect("an unlimited reach");
//! assert!(found.gap < 0.0, "they overlap by a tenth of a millimetre");
//! # Ok::<(), feeler_grains::GrainError>(())
//! ```

pub mod convex;
pub mod distribution;
pub mod drawn;
mod error;
#[cfg(feature = "fit")]
pub mod fit;
pub mod mass;
pub mod nurbs;
mod random;

pub use error::GrainError;
pub use random::Random;

/// The chapter on grains, whose programs are compiled and run as tests.
#[cfg(all(doctest, feature = "fit"))]
#[doc = include_str!("../../../docs/GRAINS.md")]
struct Chapter;
