//! Remarks for the user on solids that were read or built in spite of irregularities.

use feeler_geom::P3;

/// Severity of a [`Remark`], or of a problem that an importer reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The content is unusual, without effect on the shape.
    Note,
    /// The content was repaired, guessed or approximated; the user should check it.
    Warning,
    /// A solid or an instance is left out.
    Error,
}

/// A remark on content that is unusual, repaired, guessed or approximated.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Severity of the remark. Remarks of this crate are notes and warnings; importers report a solid or an
    /// instance that is left out as [`Severity::Error`].
    pub severity: Severity,
    /// Entity id in the source; `None` if the remark concerns no single entity.
    pub entity: Option<u64>,
    /// A point of the entity (mm, in the solid's own frame) that shows where it is; `None` without such
    /// a point.
    pub place: Option<P3>,
    /// Description of the problem.
    pub message: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Formats a length (mm) for a message with three digits, and without powers of ten between a tenth of a
/// micrometre and a kilometre.
#[must_use]
pub fn shown_length(length: f64) -> String {
    match length {
        x if !x.is_finite() || x >= 1e6 => "more than 1 km".to_owned(),
        x if x >= 100.0 => format!("{x:.0} mm"),
        x if x >= 10.0 => format!("{x:.1} mm"),
        x if x >= 1.0 => format!("{x:.2} mm"),
        x if x >= 0.1 => format!("{x:.3} mm"),
        x if x >= 1e-2 => format!("{x:.4} mm"),
        x if x >= 1e-3 => format!("{x:.5} mm"),
        x if x >= 1e-4 => format!("{x:.6} mm"),
        x => format!("{x:.1e} mm"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown_length;

    #[test]
    fn lengths_are_written_without_powers_of_ten() {
        let cases = [
            (4.085, "4.08 mm"),
            (0.0293, "0.0293 mm"),
            (2.927e-3, "0.00293 mm"),
            (1.5e-4, "0.000150 mm"),
            (123.4, "123 mm"),
            (1e33, "more than 1 km"),
            (f64::NAN, "more than 1 km"),
            (1e-7, "1.0e-7 mm"),
        ];
        for (length, text) in cases {
            assert_eq!(shown_length(length), text, "{length}");
        }
    }
}
