//! Clearance, motion and comparison of CAD assemblies.
//!
//! The functions of this crate measure many pairs of parts, or one pair at many poses, and return plain
//! values:
//!
//! | question | start with |
//! |---|---|
//! | Which parts of an assembly touch or come too close? | [`clearance()`], [`Rules`], [`Baseline`] |
//! | How close do two solids come along a trajectory? | [`Sweep`], [`Trajectory`] |
//! | Do two solids that touch as they move also penetrate? | [`Sweep::contact_motion`], [`ContactMotion`] |
//! | Do the parts of a mechanism stay free of each other as it moves? | [`MechanismCheck`] |
//! | What differs between two versions of a model? | [`compare_models`] |
//! | Do models and pairs still give the recorded results? | [`regress`] |
//!
//! Models are loaded before: this crate reads neither STEP nor any other file. The program `feeler` reads
//! files, and prints the values as tables, JSON and pages.
//!
//! # Clearance of an assembly
//!
//! ```
//! use feeler_assembly::{Assembly, ClearanceOptions, Rules, clearance};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
//! let model = feeler_import::prepare_step(format!("{data}/assemblies/rack.step"))?;
//! let assembly = Assembly::from_model(&model)?;
//! let rules = Rules::from_toml("[[rule]]\nname = 'play'\na = 'pin*'\nb = 'block'\nmin = 0.2")?;
//! let report = clearance(assembly.parts(), &rules, &ClearanceOptions::default())?;
//!
//! for pair in report.findings() {
//!     let [a, b] = pair.parts.map(|i| &assembly.parts()[i].path);
//!     println!("{a} / {b}: {:?}, {:?} mm", pair.finding, pair.distance());
//! }
//! assert_eq!(report.findings().count(), 2); // the pins have a play of 0.1 mm
//! # Ok(())
//! # }
//! ```
//!
//! # Conventions
//!
//! Lengths are in mm, angles in rad (unless stated otherwise) and poses take a solid's own coordinates to the
//! world. Pairs are measured in parallel on the current rayon thread pool; results do not depend on the
//! number of threads.

mod assembly;
mod clearance;
mod compare;
mod contact_motion;
mod error;
mod mechanism;
mod names;
mod progress;
pub mod regress;
mod sweep;
mod tolerance;

pub use assembly::{Assembly, AssemblyPart, compose_poses, number_equal_names};
pub use clearance::baseline::Baseline;
pub use clearance::rules::{InterferenceLimits, Interfering, Rule, Rules, Touching};
pub use clearance::{
    Clearance, ClearanceOptions, ClearancePair, ClearanceReport, Finding, Fit, FitKind, MAX_PLAY, MAX_PRESS,
    NearestContact, PairCounts, PairMeasurement, clearance,
};
pub use compare::{
    ComparisonTolerances, Difference, DifferenceKind, FaceFacts, InstanceFacts, MinimumFacts,
    ModelComparison, ModelFacts, PartCounts, SolidFacts, VolumeDifference, compare_faces, compare_facts,
    compare_minima, compare_models, compare_solids, compare_volumes,
};
pub use contact_motion::{ContactMotion, MotionResult};
pub use error::AssemblyError;
pub use mechanism::{
    LinkageReport, Margin, MechanismCheck, MechanismOptions, MechanismPair, MechanismReport, Moment,
    MovingPart, PairMotion, StepDistance, assign_links,
};
pub use names::{contact_kind_name, status_name};
pub use progress::Progress;
pub use sweep::{JointMotion, Sweep, SweepStep, Trajectory};
pub use tolerance::{CoarserDecision, DecidedQuery, ToleranceChoice};
