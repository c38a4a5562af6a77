//! What can go wrong with a whole file, and what is told about a part of it.

use feeler_brep::Severity;
use feeler_geom::P3;
use std::fmt;

/// Why no solid could be read from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The path is a folder, or the file cannot be opened or read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The path as given.
        path: String,
        /// What the operating system says.
        reason: String,
    },
    /// The file is empty or does not begin as a STEP file does.
    #[error("{name}: is no STEP file ({reason}); give a file that begins with ISO-10303-21;")]
    NotStep {
        /// Name of the input.
        name: String,
        /// What it is instead.
        reason: String,
    },
    /// The file is in gzip or ZIP, and nothing can be taken out of that.
    #[error("{name}: {reason}")]
    Packed {
        /// Name of the input.
        name: String,
        /// Why.
        reason: String,
    },
    /// The file ends before its end.
    #[error("{name}: the file is cut off ({reason}); copy or export it again")]
    Truncated {
        /// Name of the input.
        name: String,
        /// Where.
        reason: String,
    },
    /// The file breaks the syntax of ISO 10303-21.
    #[error("{name}: {reason}; export the file again")]
    Syntax {
        /// Name of the input.
        name: String,
        /// Where and what.
        reason: String,
    },
    /// The file is STEP but holds no solid.
    #[error("{name}: holds no solid: {found}")]
    NoSolids {
        /// Name of the input.
        name: String,
        /// What it holds instead, and what to do.
        found: String,
    },
    /// The file holds solids, but none can be used.
    #[error("{name}: none of its {} solids can be used: {}", .problems.len(), join(.problems))]
    AllRefused {
        /// Name of the input.
        name: String,
        /// One for each solid.
        problems: Vec<Problem>,
    },
}

/// Something the user should hear about one entity of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The entity (`#123`), if it is about one.
    pub entity: Option<u64>,
    /// A point of it (mm, in the coordinates of the solid that it is part of), if it has a place.
    pub place: Option<P3>,
    /// How bad it is.
    pub severity: Severity,
    /// What is the matter, and what to do where that is known.
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

/// The first few problems in one line.
fn join(problems: &[Problem]) -> String {
    const SHOWN: usize = 3;
    let mut text: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if problems.len() > SHOWN {
        text.push(format!("and {} more", problems.len() - SHOWN));
    }
    text.join("; ")
}
