//! Errors that concern a whole file, and problems of its entities.

use feeler_brep::Severity;
use feeler_geom::P3;
use std::fmt;

/// Reason why no solid could be read from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The path is a folder, or the file cannot be opened or read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// Path as given by the caller.
        path: String,
        /// Reason why reading failed, for example the error of the operating system.
        reason: String,
    },
    /// The file is empty or does not begin like a STEP file.
    #[error("{name}: is not a STEP file ({reason}); give a file that begins with ISO-10303-21;")]
    NotStep {
        /// Name of the input.
        name: String,
        /// Description of the content found instead.
        reason: String,
    },
    /// The file is a gzip or ZIP archive that cannot be unpacked.
    #[error("{name}: {reason}")]
    Packed {
        /// Name of the input.
        name: String,
        /// Reason why the archive cannot be unpacked.
        reason: String,
    },
    /// The file ends before its data are complete.
    #[error("{name}: the file is cut off ({reason}); copy or export it again")]
    Truncated {
        /// Name of the input.
        name: String,
        /// Position of the end, and the content expected there.
        reason: String,
    },
    /// The file violates the syntax of ISO 10303-21.
    #[error("{name}: {reason}; export the file again")]
    Syntax {
        /// Name of the input.
        name: String,
        /// Position and description of the fault.
        reason: String,
    },
    /// The file is valid STEP but contains no solid.
    #[error("{name}: contains no solid: {found}")]
    NoSolids {
        /// Name of the input.
        name: String,
        /// Description of the file's content, and what to do.
        found: String,
    },
    /// The file contains solids, but none of them can be used.
    #[error("{name}: none of its {} solids can be used: {}", .problems.len(), join(.problems))]
    AllRefused {
        /// Name of the input.
        name: String,
        /// One problem for each solid.
        problems: Vec<Problem>,
    },
    /// The file contains usable solids, but none of them has a usable placement.
    #[error("{name}: none of its {solids} solids can be placed: {}", join(.problems))]
    NonePlaced {
        /// Name of the input.
        name: String,
        /// Number of solids.
        solids: usize,
        /// Problems because of which components and solids are left out.
        problems: Vec<Problem>,
    },
}

/// Message about one entity or about the whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Entity (`#123`), if the problem concerns one.
    pub entity: Option<u64>,
    /// Point on the entity (mm, in the coordinates of its solid), if the entity has a position.
    pub place: Option<P3>,
    /// Severity.
    pub severity: Severity,
    /// Description of the problem, and what to do if that is known.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(entity: Option<u64>, severity: Severity, message: impl Into<String>) -> Self {
        Self { entity, place: None, severity, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = self.entity {
            write!(f, "#{id} ")?;
        }
        f.write_str(&self.message)
    }
}

/// Joins the first few problems to one line of text.
fn join(problems: &[Problem]) -> String {
    const SHOWN: usize = 3;
    let mut text: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if problems.len() > SHOWN {
        text.push(format!("and {} more", problems.len() - SHOWN));
    }
    text.join("; ")
}
