//! Exact contacts between smooth CAD solids in the physics engine Rapier.
//!
//! A collider with an [`ExactShape`] keeps the solid's cylinders, cones, tori and splines. For two near
//! exact shapes, [`ExactDispatcher`] gives Rapier one contact for each local minimal distance, which
//! keeps its identity from step to step. There are no facets and no jumps at their edges, and round
//! holes stay round.
//!
//! Rapier's lengths are in metres here, feeler's are in millimetres; this crate converts them
//! ([`METRES`]). The settings of this crate are in millimetres.
//!
//! ```
//! use feeler_rapier::{ExactDispatcher, ExactShape, CloseFitParameters};
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
//! ExactDispatcher::default().install(&mut world, &CloseFitParameters::default());
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
//! Contacts, intersection tests of sensors, distances and closest points of two exact shapes are exact,
//! and so are mass and inertia. Rays, points and pairs with one of Rapier's shapes use the display mesh,
//! which is within its chord error of the solid ([`ExactShape::with_display`]). The first such pair of a
//! dispatcher is reported by a warning in the log.
//!
//! # Limits
//! - Shapes are not scaled and not cast, so there is no continuous collision detection for them. Use
//!   steps that are short enough for the fit; [`ExactDispatcher::install`] disables continuous collision
//!   detection.
//! - Contacts of deeply interfering solids are found only within the thickness of the solids
//!   ([`ExactDispatcher::unexplained`] counts the updates without a contact).
//! - Snapshots by `Clone` continue exactly as long as no solid is pressed deeper than its tolerance: a
//!   clone keeps impulses but begins new searches. Rapier's serialisation does not support custom
//!   shapes: leave out colliders with exact shapes, insert them again, and call
//!   [`ExactDispatcher::install`], which is not part of a snapshot either.

mod dispatcher;
mod manifolds;
mod shape;
mod units;
mod world;

pub use dispatcher::ExactDispatcher;
pub use manifolds::{Manifold, contact_id};
pub use shape::{ExactShape, ShapeError};
pub use units::{METRES, exact_pose, rapier_pose};
pub use world::CloseFitParameters;
