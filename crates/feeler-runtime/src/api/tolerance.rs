//! All tolerances of a query, in one place.
//!
//! Two numbers, never one: *eps* is rounding that we caused and grows with the coordinates, *tol* is what the
//! model or the user allows and grows with the size of the solids. What an edge is off its faces is neither:
//! it is measured, stored with every span and trimming piece, and added where that span or piece is looked
//! at.
//!
//! # Source
//! MATH §2 ("the size in tolerances"), §6 (trims), §14.2 (1e-7 of the size against another kernel).

/// Relative rounding of a footpoint: some hundred operations on coordinates.
const EPS_REL: f64 = 1e-13;
/// The bits of a positive number that make it a power of two.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
/// Relative rounding allowed at a trim. Parameters are rounded, inverted and mapped through cubic pieces on
/// top of [`EPS_REL`]; a footpoint this close to a trim is on it.
const TRIM_REL: f64 = 1e-9;
/// Below this part of the size two lengths are the same for the model: contact and touching, families of
/// critical pairs, semidefinite forms. An independent kernel agrees to this.
const TOL_REL: f64 = 1e-7;
/// Footpoints nearer than this part of the size are the same LMD. Above [`TOL_REL`], because the footpoint of
/// a flat minimum is less certain than its distance.
const SAME_REL: f64 = 1e-6;
/// Angular slack (rad) of exact polars: normals come from stored frames and inverted parameters with relative
/// errors of about 1e-13; an exactly parallel pose has margin 0 and must pass, and nothing a thousandth of
/// the smallest real margin (1e-6 rad) away may.
const ANGLE: f64 = 1e-9;

/// Slack (rad) of criticality. Solvers end a thousand times below; only pairs that are not critical at all
/// (an edge that pierces a face has distance 0 there) must fail.
const CRITICAL: f64 = 1e-6;

/// Smallest distance of a minimum, in units of the tolerance, where the solids interfere or it is not known
/// whether they do.
const LEAST: f64 = -2.0;
/// The same of solids that do not interfere.
const LEAST_APART: f64 = -32.0;

/// Largest angle (rad) of a conformal contact, however small the features.
const MAX_BENT: f64 = 1e-3;

/// The largest power of two that is not larger than a positive number.
pub(crate) fn power_of_two(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & EXPONENT)
}

/// The tolerances of one query. Lengths in mm, angles in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Larger bounding-box diagonal of the two solids.
    pub size: f64,
    /// Rounding of a footpoint's coordinates in the frame of A.
    pub eps: f64,
    /// Rounding at a trim or at the end of an edge.
    pub trim: f64,
    /// Lengths below this are zero for the model: what the options say, else 1e-7 of `size`, and rounding.
    pub tol: f64,
    /// Footpoints nearer than this are the same.
    pub same: f64,
    /// Slack of exact polars.
    pub angle: f64,
    /// Slack of what makes a pair critical: normals opposite, tangents orthogonal to them.
    pub critical: f64,
}

impl Tolerances {
    /// Tolerances for solids whose boxes' diagonals are no longer than `size` (mm) and with coordinates of no
    /// more than `reach` (mm) in the frame of A; `tolerance` as in
    /// [`QueryOptions`](crate::QueryOptions::tolerance).
    pub(crate) fn of_lengths(size: f64, reach: f64, tolerance: Option<f64>) -> Self {
        let asked = Self::before_rounding(size, tolerance);
        // A power of two: small motions leave the tolerances as they are.
        let reach = 2.0 * power_of_two(reach);
        let trim = TRIM_REL * size + EPS_REL * reach;
        Self {
            size,
            eps: EPS_REL * reach,
            trim,
            // Parameters are rounded to `trim`: nothing below that can be told.
            tol: tolerance.map_or(asked + EPS_REL * reach, |t| t.max(trim)),
            same: SAME_REL * size + EPS_REL * reach,
            angle: ANGLE,
            critical: CRITICAL,
        }
    }

    /// Tolerance (mm) for solids of this size (mm) before rounding of coordinates is added to it: the value
    /// of the options, at least 1e-9 of the size, or 1e-7 of the size.
    pub(crate) fn before_rounding(size: f64, tolerance: Option<f64>) -> f64 {
        let size = size.max(f64::MIN_POSITIVE);
        tolerance.map_or(TOL_REL * size, |t| t.max(TRIM_REL * size))
    }

    /// Smallest signed distance (mm) of a minimum. What is pressed in deeper interferes: a point that is
    /// farther than the tolerance from both boundaries, inside both solids, needs a depth of two. Less deep
    /// is contact, and none may be lost between the two.
    #[must_use]
    pub fn least_distance(&self) -> f64 {
        LEAST * self.tol
    }

    /// The same (mm) of solids that do not interfere: a sharp edge or tip has no point farther than the
    /// tolerance inside before it is pressed in by several; a tip of half angle α by 1 + 1/sin α.
    #[must_use]
    pub fn least_distance_apart(&self) -> f64 {
        LEAST_APART * self.tol
    }

    /// Angle (rad) within which features of an extent (given inversely, 1/mm) are in conformal contact: what
    /// the tolerance makes of it over the extent.
    #[must_use]
    pub(crate) fn bent(&self, inverse_extent: f64) -> f64 {
        (8.0 * self.tol * inverse_extent).min(MAX_BENT)
    }
}
