//! Pouring of grains into walls from CAD: hoppers, chutes, mixers, trays.
//!
//! A scene file in TOML describes walls (STEP, `.feeler` or STL files, and planes), particle groups and
//! sources, contact laws, outlets and times; `docs/POUR.md` lists its keys. A [`PourScene`] is such a scene,
//! loaded and checked. A [`PourRun`] simulates it and writes rows, frames for `ParaView` and checkpoints to a
//! folder. A run that was interrupted continues from its last checkpoint and ends with the same bytes.
//!
//! ```
//! use feeler_pour::{PourRun, PourScene};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scene = PourScene::parse(
//!     "end = 0.1
//!      law.steel = { normal = 500.0, restitution = 0.5 }
//!      wall = [{ name = 'floor', plane = { point = [0, 0, 0], normal = [0, 0, 1] } }]
//!      grains = [{ sphere = { diameter = 4 }, density = 2500, number = 8,
//!                  region = { box = [[-9, -9, 1], [9, 9, 19]] } }]
//!      output = { rows = 0.01 }",
//!     ".".as_ref(),
//! )?;
//! let folder = tempfile::tempdir()?;
//! let mut run = PourRun::open(&scene, folder.path(), false)?;
//! while !run.is_finished() {
//!     run.advance()?;
//! }
//! let force = run.series()?.column("floor_fz_mN").last().copied(); // on the floor, mean of 0.01 s
//! assert!(run.summary().count == 8 && force < Some(0.0));
//! # Ok(())
//! # }
//! ```
//!
//! Lengths are in mm, masses in kg, times in s, forces in mN and energies in µJ. Results do not depend on the
//! number of threads.

mod animation;
mod ball;
mod checkpoint;
mod error;
mod files;
mod lid;
mod packing;
mod plan;
mod run;
mod series;
mod setup;
mod shape;
mod solid_shape;
mod stop;
mod tables;
mod timing;
mod vtk;
mod walls;
mod world;

pub use error::{CheckpointProblem, PourError};
pub use feeler_particles::{SearchBounds, SearchCounts};
pub use packing::Packing;
pub use plan::PourTimes;
pub use run::{Outflow, PourRun, PourSummary};
pub use series::Series;
pub use setup::PourScene;
pub use timing::StepDurations;
