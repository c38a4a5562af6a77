//! Reads STEP files: parts, assemblies, units, names.
//!
//! [`read_step`] returns every distinct solid of a file once, in millimetres and radians, together with
//! the poses of its instances. Faces, edges and curves follow ISO 10303-42. Deviations of writers are
//! tolerated if their meaning is clear, and refused with the id of the entity otherwise: a solid is
//! either read completely or reported, never partially.
//!
//! `text` unpacks gzip and ZIP files and detects encodings, `part21` parses the syntax. Entities are kept
//! as written: ids survive, complex instances keep their parts, and a faulty entity matters only if a
//! solid needs it.

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
#[cfg(test)]
#[path = "../tests/it/writer/mod.rs"]
mod writer;

pub use content::{ComponentSource, Import, ReadOptions, Resolve, SolidInstance};
pub use error::{Problem, StepError};
pub use feeler_brep::Severity;
pub use files::read_below;
pub use read::{read_step, read_step_bytes, read_step_with};
pub use reading::Reading;
pub use text::{MAX_UNPACKED, is_step_name, unpacked_size};
