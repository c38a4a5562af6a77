//! STEP files in: parts, assemblies, units, names.
//!
//! [`read_step`] gives every distinct solid of a file once, in millimetres and radians, and where its
//! instances are placed. What a solid's faces, edges and curves mean follows ISO 10303-42; what writers do
//! instead is tolerated where the meaning is clear, and refused with the entity's id where it is not: a solid
//! is either read whole or reported, never half.
//!
//! `text` takes files out of gzip and ZIP and finds out their encodings, `part21` reads the syntax. Entities
//! are kept as they stand: ids survive, complex instances keep their parts, and an entity that some other
//! part of the file breaks costs nothing unless a solid needs it.

mod assembly;
mod content;
mod entities;
mod error;
mod files;
mod geometry;
mod part21;
mod read;
mod reading;
mod text;
mod topology;
mod units;

pub use content::{ComponentSource, Import, ReadOptions, Resolve, SolidInstance};
pub use error::{Problem, StepError};
pub use feeler_brep::Severity;
pub use files::read_below;
pub use read::{read_step, read_step_bytes, read_step_with};
pub use reading::Reading;
pub use text::{MAX_UNPACKED, is_step_name, unpacked_size};
