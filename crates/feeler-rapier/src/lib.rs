//! Exact contacts between smooth CAD solids in the physics engine Rapier.
//!
//! A collider with an [`ExactShape`] keeps the solid's cylinders, cones, tori and splines. Where two of them
//! come near, [`ExactDispatcher`] gives Rapier one contact for each local minimal distance, which stays the
//! same contact from step to step: no facets, no jumps at their edges, and round holes are holes.
//!
//! Rapier's lengths are metres here, feeler's are millimetres; this crate converts ([`METRES`]). Settings of
//! this crate are in millimetres.
//!
//! ```
//! use feeler_rapier::{ExactDispatcher, ExactShape, Fit};
//! use feeler_runtime::Body;
//! use rapier3d_f64::prelude::*;
//! use std::sync::Arc;
//!
//! # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
//! let solid = |name: &str| -> Result<ExactShape, Box<dyn std::error::Error>> {
//!     let model = feeler_import::prepare_step(&std::path::Path::new(data).join(format!("{name}.step")))?;
//!     Ok(ExactShape::new(Arc::new(Body::from_model(&model, 0)?))?)
//! };
//! let (block, ball) = (solid("box")?, solid("ball")?);
//! let mut world = PhysicsWorld::new();
//! world.gravity = Vector::new(0.0, 0.0, -9.81);
//! ExactDispatcher::default().install(&mut world, &Fit::default());
//! world.insert(RigidBodyBuilder::fixed(), block.collider());
//! let above = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.03));
//! let (ball, _) = world.insert(above, ball.collider().density(7_850.0));
//! for _ in 0..100 {
//!     world.step();
//! }
//! assert!(world.bodies[ball].translation().z < 0.03);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is exact
//! Contacts of two exact shapes, tests for intersection of sensors, distances and closest points of two exact
//! shapes, and mass and inertia. Rays, points and every pair with one of Rapier's own shapes go by the
//! display mesh, no farther than its chord error from the solid ([`ExactShape::with_display`]); the first
//! such pair of a dispatcher is reported by a warning in the log.
//!
//! # Limits
//! - Shapes are not scaled, and not cast: there is no continuous collision detection for them. Steps short
//!   enough for the fit are, and [`ExactDispatcher::install`] turns it off.
//! - Contacts of solids deep in one another are found only as far as walls separate their sides
//!   ([`ExactDispatcher::unexplained`] counts the steps in which none was found).
//! - Snapshots by `Clone` go on exactly as long as no solid is pressed deeper than its tolerance: a clone
//!   remembers impulses, but begins to search anew. Rapier's own serialisation knows no custom shapes: leave
//!   out colliders with exact shapes and insert them again, and call [`ExactDispatcher::install`], which is
//!   not part of a snapshot either.

mod dispatcher;
mod manifolds;
mod shape;
mod units;
mod world;

pub use dispatcher::ExactDispatcher;
pub use manifolds::{Manifold, contact_id};
pub use shape::{ExactShape, ShapeError};
pub use units::{METRES, exact_pose, rapier_pose};
pub use world::Fit;
