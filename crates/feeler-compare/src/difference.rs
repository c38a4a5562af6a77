//! What differs, and how much must differ to be told.

use serde::Serialize;

/// What kind of thing differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// What could be read of a file, or what was said about it.
    Import,
    /// A part of an assembly is new, gone, renamed or elsewhere.
    Part,
    /// How solids stand to one another.
    Verdict,
    /// A minimum is lost, gained or elsewhere.
    Minimum,
    /// A face is new, gone or another one.
    Face,
    /// A number of faces, edges, vertices, areas.
    Count,
    /// Area of a surface.
    Area,
    /// Volume, centroid or inertia.
    Mass,
    /// Smallest thickness of the material, or the box.
    Size,
    /// How long something takes.
    Time,
}

impl Kind {
    /// One word for people.
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

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Of what kind.
    pub kind: Kind,
    /// What it is about, as `solid 'bolt'`; empty: all of it.
    pub subject: String,
    /// What is different, with the numbers.
    pub what: String,
}

impl Difference {
    /// A difference of a kind.
    #[must_use]
    pub fn new(kind: Kind, subject: &str, what: String) -> Self {
        Self { kind, subject: subject.to_owned(), what }
    }
}

/// Below what numbers count as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Of positions, distances and radii (mm).
    pub length: f64,
    /// Of areas, volumes and inertia, relative to the larger value.
    pub relative: f64,
    /// Of directions and rotations (rad).
    pub angle: f64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self { length: 1e-6, relative: 1e-9, angle: 1e-6 }
    }
}

impl Tolerances {
    /// Whether two lengths are equal. Values that are no numbers are equal to each other.
    #[must_use]
    pub fn same_length(&self, a: f64, b: f64) -> bool {
        is_same(a, b, self.length)
    }

    /// Whether two quantities are equal to the relative tolerance.
    #[must_use]
    pub fn same_quantity(&self, a: f64, b: f64) -> bool {
        is_same(a, b, self.relative * a.abs().max(b.abs()))
    }
}

/// Infinities are equal to themselves, and so are numbers that are none.
fn is_same(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within || a.total_cmp(&b).is_eq() || (a.is_nan() && b.is_nan())
}

/// A number before and after, with the change.
pub(crate) fn change(what: &str, old: f64, new: f64, unit: &str) -> String {
    let by = new - old;
    if by.is_finite() {
        format!("{what} {} -> {} {unit} ({by:+.3e})", shown(old), shown(new))
    } else {
        format!("{what} {} -> {} {unit}", shown(old), shown(new))
    }
}

/// Twelve digits at most, without zeros behind.
pub(crate) fn shown(x: f64) -> String {
    let rounded: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_the_tolerance() {
        let tol = Tolerances { length: 1e-3, relative: 1e-6, angle: 0.0 };
        assert!(tol.same_length(1.0, 1.0009) && !tol.same_length(1.0, 1.0011));
        assert!(tol.same_quantity(1e9, 1e9 + 999.0) && !tol.same_quantity(1e9, 1e9 + 1001.0));
        assert!(tol.same_length(f64::INFINITY, f64::INFINITY), "of a sheet's wall");
        assert!(!tol.same_length(f64::INFINITY, 1.0));
        assert!(tol.same_quantity(f64::NAN, f64::NAN) && !tol.same_quantity(f64::NAN, 1.0));
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(shown(0.1 + 0.2), "0.3");
        assert_eq!(change("radius", 5.0, 5.001, "mm"), "radius 5 -> 5.001 mm (+1.000e-3)");
        assert_eq!(change("wall", f64::INFINITY, 2.0, "mm"), "wall inf -> 2 mm");
    }
}
