//! Exact contact and clearance between CAD solids.
//!
//! CAD solids consist of smooth surfaces: trimmed planes, cylinders, cones, spheres, tori and splines.
//! This library works on these surfaces, not on meshes. It computes all local minima of the distance
//! between two solids (*local minimal distances*), decides whether the solids are separated, touching or
//! interfering, and proves the decision.
//!
//! Lengths are in millimetres, angles in radians. A [`Pose`] takes a solid's own coordinates to the world.
//!
//! # From a STEP file to a distance
//!
//! [`prepare_step`] reads a file and builds the hierarchies of its solids. A [`Body`] is a hierarchy
//! prepared for queries, and a [`ContactPair`] queries two bodies.
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
//! Each [`Contact`] contains its distance, the two footpoints, the normal from A to B, the faces, edges
//! or vertices of the footpoints, the curvatures, and an identity that persists from query to query.
//!
//! # Prepare once, load often
//!
//! Preparation takes from a tenth of a second to some minutes. Its result can be stored in a file that
//! loads quickly. A program that only loads such files can be built without the feature `prepare`.
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
//! let place = model.instances[0].pose(); // its pose in the file
//! # assert!(pin.size() > 0.0 && place.translation.vector.norm().is_finite());
//! # Ok(())
//! # }
//! ```
//!
//! # Solids built in code
//!
//! With the feature `truck`, `prepare_truck` prepares solids of the crate `truck-modeling`; the example
//! `truck` builds a pin and its bore.
//!
//! # Interference
//!
//! Every query computes a verdict. [`Status::Interfering`] comes with a witness: a point inside both
//! solids. If the verdict could not be decided within the work limit, the status is
//! [`Status::Undecided`].
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
//! let verdict = pair.verdict().expect("queries compute a verdict by default");
//! assert_eq!(verdict.status, Status::Interfering);
//! let witness = verdict.witness.expect("an interfering verdict has a witness");
//! // No translation shorter than `least` separates the solids; `way_out` does.
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
//! Use one pair for all poses of a motion: its queries reuse earlier results, do not allocate in the
//! steady state (without [`QueryOptions::parallel`]), and track each contact by its [`id`](Contact::id).
//! With [`QueryOptions::penetration`], contacts of bodies that a simulator presses into each other are
//! reported at negative distances. `examples/motion.rs` prints when contacts begin and end.
//!
//! [`time_of_contact`] computes the first contact of a continuous motion, and a [`ContactTracker`] the
//! contacts for the steps of a simulator.
//!
//! # Many bodies
//!
//! A [`Scene`] finds the near pairs of many bodies and queries them in parallel; see
//! `examples/many_bodies.rs`.
//!
//! # Assemblies
//!
//! [`assembly::clearance`] checks all parts of an assembly against rules (feature `assembly`). The module
//! also has sweeps, checks of mechanisms and comparisons of models.
//!
//! # Display meshes
//!
//! [`mesh::mesh`] triangulates a solid for display (feature `view`). The mesh is closed and has a stated
//! chord error; queries do not use it.
//!
//! # Errors, threads, determinism
//!
//! Messages of errors state the file, the entity and the remedy. All types are `Send` and `Sync`. Share a
//! [`Body`] in an `Arc`, and use one [`ContactPair`] per thread. The same sequence of calls gives bitwise
//! the same results, for any number of threads.

/// Clearance of assemblies, sweeps, mechanisms, and comparison of models.
#[cfg(feature = "assembly")]
pub use feeler_assembly as assembly;
/// Deformable curves with a radius: springs, cables and hoses among solids.
pub use feeler_curves as curves;
/// Deformable bodies of finite elements in contact with each other and with rigid bodies.
#[cfg(feature = "deformable")]
pub use feeler_deformable as deformable;
pub use feeler_geom::{P3, Pose, V3, pose};
/// Grains of smooth shape: mass, contacts and fitting.
pub use feeler_grains as grains;
pub use feeler_hierarchy::file::FileError;
pub use feeler_hierarchy::{Component, Hierarchy, Instance, Model, Remark, Severity};
#[cfg(feature = "truck")]
pub use feeler_import::prepare_truck;
#[cfg(feature = "prepare")]
pub use feeler_import::{
    ImportError, ImportStage, MeshOptions, prepare_bytes, prepare_bytes_with_progress, prepare_grain,
    prepare_mesh, prepare_step,
};
/// Particles and their contacts with walls.
pub use feeler_particles as particles;
/// Convex pieces that contain the surfaces of solids, grains and meshes, and lower bounds of distances.
#[cfg(feature = "pieces")]
pub use feeler_pieces as pieces;
/// Simulations in which grains are poured into walls whose shapes come from CAD files.
#[cfg(feature = "pour")]
pub use feeler_pour as pour;
pub use feeler_runtime::{
    BatchError, Body, BodyError, BodyId, BodyOptions, BoundaryPoint, COARSER_TOLERANCES, ConformalSet,
    Contact, ContactEvent, ContactFollower, ContactKind, ContactPair, ContactRegion, ContactTracker,
    CrossingCurve, Crossings, EventKind, FeatureKind, FeatureRef, FirstContact, FirstPenetration,
    FollowOptions, FollowedContact, GapPrediction, MissingCurvePart, NearPair, NearestPoint, Overlap,
    OverlapMethod, PairOptions, Passage, PassageOptions, PassageOutcome, Path, PathError, PathPiece,
    PenetrationOptions, PenetrationOutcome, PenetrationPassage, PointQuery, QueryError, QueryOptions,
    RayIntersection, RayIntersections, RayQuery, RegionKind, Scene, SceneContact, SceneError, Stats, Status,
    StepBound, Thread, Tolerances, TrackedPair, TrackedStatus, TrackerCounts, TrackerOptions, UndecidedPoint,
    Update, Verdict, WidenedPoint, Witness, first_penetration, time_of_contact,
};
/// Voronoi and Laguerre cells, and their fit to voxel images of polycrystals.
#[cfg(feature = "tessellation")]
pub use feeler_tessellation as tessellation;
#[cfg(feature = "view")]
pub use feeler_view::mesh;
/// Re-export of the version of `nalgebra` whose types are those of poses and points in this crate.
pub use nalgebra;

/// Runs the program in the chapter on curves (docs/CURVES.md) as a documentation test.
#[cfg(all(doctest, feature = "prepare"))]
#[doc = include_str!("../../../docs/CURVES.md")]
struct Chapter;

/// Runs the program in the chapter on NURBS grains (docs/NURBS.md) as a documentation test.
#[cfg(all(doctest, feature = "prepare"))]
#[doc = include_str!("../../../docs/NURBS.md")]
struct NurbsChapter;

/// Runs the program in the chapter on particles (docs/PARTICLES.md) as a documentation test.
#[cfg(all(doctest, feature = "prepare"))]
#[doc = include_str!("../../../docs/PARTICLES.md")]
struct ParticlesChapter;
