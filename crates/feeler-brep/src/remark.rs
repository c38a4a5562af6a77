//! Remarks for the user on a solid that is used.

use feeler_geom::P3;

/// Severity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Unusual, but without effect on the shape.
    Note,
    /// Repaired, guessed or approximated; should be checked.
    Warning,
    /// A solid or an instance is left out.
    Error,
}

/// A remark on something unusual, repaired or approximated.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Severity.
    pub severity: Severity,
    /// The entity of the source, if the remark concerns one.
    pub entity: Option<u64>,
    /// A point of that entity (mm, in the solid's own frame), if it has a position.
    pub place: Option<P3>,
    /// Description of the problem.
    pub message: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
