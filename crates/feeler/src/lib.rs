//! Exact contact and clearance between CAD solids.
//!
//! CAD solids are smooth: cylinders, cones, tori, splines, trimmed and sewn together. This library keeps them
//! so. It finds every place where two of them come close (all *local minimal distances*), tells whether they
//! are apart, touch or interfere, and proves it.
//!
//! Lengths are millimetres, angles radians. A [`Pose`] takes a solid's own coordinates to the world's.
//!
//! # From a STEP file to a distance
//!
//! [`prepare_step`] reads a file and builds the hierarchies of its solids; a [`Body`] is one of them, ready
//! for queries, and a [`ContactPair`] asks about two.
//!
#![cfg_attr(feature = "prepare", doc = "```")]
#![cfg_attr(not(feature = "prepare"), doc = "```ignore")]
//! use feeler::{Body, ContactPair, Pose, QueryOptions, Status};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
//! let model = feeler::prepare_step(format!("{data}/sphere.step"))?;
//! let ball = Arc::new(Body::from_model(&model, 0)?);
//!
//! // Two balls of radius 10, their centres 22.5 apart.
//! let mut pair = ContactPair::new(ball.clone(), ball);
//! let moved = Pose::translation(22.5, 0.0, 0.0);
//! let minima = pair.query(&Pose::identity(), &moved, &QueryOptions::within(5.0))?;
//!
//! assert_eq!(minima.len(), 1);
//! assert!((minima[0].distance - 2.5).abs() < 1e-12);
//! assert_eq!(pair.status(), Some(Status::Separated));
//! # Ok(())
//! # }
//! ```
//!
//! Each [`Contact`] has its distance, the two footpoints, the normal from A to B, the faces, edges or vertices
//! that they lie on, curvatures, and an identity that lasts from query to query.
//!
//! # Prepare once, load often
//!
//! Preparing takes a tenth of a second to some minutes. Its result is stored and loads at once; a program
//! that only loads can be built without the feature `prepare`.
//!
#![cfg_attr(feature = "prepare", doc = "```")]
#![cfg_attr(not(feature = "prepare"), doc = "```ignore")]
//! use feeler::{Body, Model};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("pin.feeler");
//! feeler::prepare_step(format!("{data}/pin.step"))?.write(&file)?;
//!
//! let model = Model::read(&file)?;
//! let pin = Body::from_model(&model, 0)?;
//! let place = model.instances[0].pose(); // where the file puts it
//! # assert!(pin.size() > 0.0 && place.translation.vector.norm().is_finite());
//! # Ok(())
//! # }
//! ```
//!
//! # Do they meet?
//!
//! Every query decides it. An answer of [`Status::Interfering`] comes with a point that is inside both; what
//! could not be decided says so.
//!
#![cfg_attr(feature = "prepare", doc = "```")]
#![cfg_attr(not(feature = "prepare"), doc = "```ignore")]
//! # use feeler::{Body, ContactPair, Pose, QueryOptions, Status};
//! # use std::sync::Arc;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
//! # let body = |name: &str| -> Result<Arc<Body>, Box<dyn std::error::Error>> {
//! #     Ok(Arc::new(Body::from_model(&feeler::prepare_step(format!("{data}/{name}.step"))?, 0)?))
//! # };
//! let options = QueryOptions::within(1.0);
//! let mut pair = ContactPair::new(body("box")?, body("cylinder")?);
//! pair.query(&Pose::identity(), &Pose::identity(), &options)?;
//! let verdict = pair.verdict().expect("queries decide unless told not to");
//! assert_eq!(verdict.status, Status::Interfering);
//! let witness = verdict.witness.expect("interference is only said with a point that proves it");
//! // No translation shorter than this separates them; this one does.
//! let least = witness.inside_a + witness.inside_b;
//! let way_out = pair.separating_translation(&Pose::identity(), &Pose::identity(), &options)?;
//! let way_out = way_out.expect("two solids");
//! assert!(way_out.norm() >= least);
//! # Ok(())
//! # }
//! ```
//!
//! # Along a motion
//!
//! Keep the pair from pose to pose: queries reuse what has not changed, allocate nothing in the steady state,
//! and follow each contact by its [`id`](Contact::id). Contacts of bodies that a simulator presses into one
//! another are reported at negative distances with [`QueryOptions::penetration`]. `examples/motion.rs` prints
//! when contacts come and go.
//!
//! # Many bodies
//!
//! A [`Scene`] finds the pairs that are near and queries them in parallel, with the same bits for any number
//! of threads: `examples/many_bodies.rs`.
//!
//! # Meshes to look at
//!
//! [`mesh::mesh`] triangulates a solid (feature `view`): closed, with a stated chord error. Nothing is
//! measured on it.
//!
//! # Errors, threads, determinism
//!
//! Errors name the file, the entity and what to do. All types are `Send` and `Sync`; a [`Body`] is shared
//! behind an `Arc`, a [`ContactPair`] belongs to one thread at a time. The same calls give the same bits.

/// Deformable curves with a radius: springs, cables and hoses among solids.
pub use feeler_curves as curves;
pub use feeler_geom::{P3, Pose, V3, pose};
/// Grains of smooth shape: mass, contacts, fitting.
pub use feeler_grains as grains;
pub use feeler_hierarchy::file::FileError;
pub use feeler_hierarchy::{Component, Hierarchy, Instance, Model};
#[cfg(feature = "prepare")]
pub use feeler_import::{ImportError, MeshOptions, prepare_bytes, prepare_grain, prepare_mesh, prepare_step};
/// Particles against walls.
pub use feeler_particles as particles;
pub use feeler_runtime::{
    Body, BodyError, BodyId, BodyOptions, ConformalSet, Contact, ContactEvent, ContactKind, ContactPair,
    ContactRegion, ContactTracker, CrossingCurve, Crossings, EventKind, FeatureKind, FeatureRef,
    FirstContact, FollowOptions, FollowedContact, Following, GapPrediction, LeftOut, NearPair, NearestPoint,
    PairOptions, Passage, PassageOptions, PassageOutcome, Path, PathError, PathPiece, PointQuery, QueryError,
    QueryOptions, RegionKind, Scene, SceneContact, SceneError, Stats, Status, StepBound, StepContact,
    StepContactKind, Tolerances, TrackedPair, TrackedStatus, TrackerCounts, TrackerOptions, Undecided,
    Update, Verdict, Widened, Witness, time_of_contact,
};
#[cfg(feature = "view")]
pub use feeler_view::mesh;
/// The version of linear algebra that poses and points are of.
pub use nalgebra;

/// The chapter on curves, whose program is tried with the tests.
#[cfg(all(doctest, feature = "prepare"))]
#[doc = include_str!("../../../docs/CURVES.md")]
struct Chapter;

/// The chapter on NURBS grains, likewise.
#[cfg(all(doctest, feature = "prepare"))]
#[doc = include_str!("../../../docs/NURBS.md")]
struct NurbsChapter;

/// The chapter on particles, likewise.
#[cfg(all(doctest, feature = "prepare"))]
#[doc = include_str!("../../../docs/PARTICLES.md")]
struct ParticlesChapter;
