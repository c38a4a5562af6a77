//! Differences, and the tolerances of comparisons.

use serde::Serialize;

/// Kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// A solid or component is newly left out or no longer left out by the import, the number of
    /// warnings has changed, or an entry of a suite fails or has no comparable result.
    Import,
    /// A part of an assembly is new, gone, renamed or moved.
    Part,
    /// The verdict of a pair of solids has changed.
    Verdict,
    /// A minimum is lost, gained or moved.
    Minimum,
    /// A face is new, gone or changed.
    Face,
    /// The number of a solid's faces, edges, vertices or areas has changed.
    Count,
    /// The surface area of a solid has changed.
    Area,
    /// The volume, centroid or inertia of a solid has changed.
    Mass,
    /// The smallest thickness of a solid's material or its bounding box has changed.
    Size,
    /// The duration of a computation has changed.
    Time,
}

impl DifferenceKind {
    /// Name of the kind in one word, as programs print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Part => "part",
            Self::Verdict => "verdict",
            Self::Minimum => "minimum",
            Self::Face => "face",
            Self::Count => "count",
            Self::Area => "area",
            Self::Mass => "mass",
            Self::Size => "size",
            Self::Time => "time",
        }
    }
}

/// One difference between two versions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Kind of the difference.
    pub kind: DifferenceKind,
    /// Subject, such as `solid 'bolt'`; empty for the whole model.
    pub subject: String,
    /// Description of the difference, with the old and new values if there are any.
    pub what: String,
}

impl Difference {
    /// Creates a difference of a kind; `subject` and `what` as in the fields.
    #[must_use]
    pub fn new(kind: DifferenceKind, subject: &str, what: String) -> Self {
        Self { kind, subject: subject.to_owned(), what }
    }
}

/// Tolerances of a comparison: values that differ by at most these amounts count as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonTolerances {
    /// Tolerance of positions, distances and radii (mm).
    pub length: f64,
    /// Tolerance of areas, volumes and inertia, relative to the larger value.
    pub relative: f64,
    /// Tolerance of directions and rotations (rad).
    pub angle: f64,
}

impl Default for ComparisonTolerances {
    fn default() -> Self {
        Self { length: 1e-6, relative: 1e-9, angle: 1e-6 }
    }
}

impl ComparisonTolerances {
    /// Whether two lengths are equal up to the tolerance. NaN values are equal to each other.
    #[must_use]
    pub fn same_length(&self, a: f64, b: f64) -> bool {
        is_same(a, b, self.length)
    }

    /// Whether two areas, volumes or moments of inertia are equal up to the relative tolerance. NaN
    /// values are equal to each other.
    #[must_use]
    pub fn same_quantity(&self, a: f64, b: f64) -> bool {
        is_same(a, b, self.relative * a.abs().max(b.abs()))
    }
}

/// Whether two values are equal up to `within`. Infinities are equal to themselves, and NaN values to
/// each other.
fn is_same(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within || a.total_cmp(&b).is_eq() || (a.is_nan() && b.is_nan())
}

/// Returns a text with the old and the new value of the quantity named `what`, and with the change from
/// `old` to `new`.
pub(crate) fn change(what: &str, old: f64, new: f64, unit: &str) -> String {
    let by = new - old;
    if by.is_finite() {
        format!("{what} {} -> {} {unit} ({by:+.3e})", format_number(old), format_number(new))
    } else {
        format!("{what} {} -> {} {unit}", format_number(old), format_number(new))
    }
}

/// Formats a number with at most twelve digits, without trailing zeros.
pub(crate) fn format_number(x: f64) -> String {
    let rounded: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_the_tolerance() {
        let tol = ComparisonTolerances { length: 1e-3, relative: 1e-6, angle: 0.0 };
        assert!(tol.same_length(1.0, 1.0009) && !tol.same_length(1.0, 1.0011));
        assert!(tol.same_quantity(1e9, 1e9 + 999.0) && !tol.same_quantity(1e9, 1e9 + 1001.0));
        assert!(tol.same_length(f64::INFINITY, f64::INFINITY), "thickness of a sheet");
        assert!(!tol.same_length(f64::INFINITY, 1.0));
        assert!(tol.same_quantity(f64::NAN, f64::NAN) && !tol.same_quantity(f64::NAN, 1.0));
    }

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(format_number(0.1 + 0.2), "0.3");
        assert_eq!(change("radius", 5.0, 5.001, "mm"), "radius 5 -> 5.001 mm (+1.000e-3)");
        assert_eq!(change("wall", f64::INFINITY, 2.0, "mm"), "wall inf -> 2 mm");
    }
}
