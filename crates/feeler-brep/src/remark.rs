//! What the user should hear about a solid that is used.

use feeler_geom::P3;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Odd, and without effect on the shape.
    Note,
    /// Repaired, guessed or approximated: worth a look.
    Warning,
    /// A solid or an instance is left out.
    Error,
}

/// Something that was odd, repaired or approximated.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// The entity of the source, if it is about one.
    pub entity: Option<u64>,
    /// A point of it (mm, in the solid's own coordinates), if it has a place.
    pub place: Option<P3>,
    /// What is the matter.
    pub message: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
