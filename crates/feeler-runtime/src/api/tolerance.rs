//! All tolerances of a query, in one place.
//!
//! There are two kinds of tolerance. *eps* is the rounding of the computation; it grows with the
//! coordinates. *tol* is the error that the model or the user allows; it grows with the size of the
//! solids. The deviation of an edge from its faces belongs to neither: it is measured, stored with each
//! span and trimming piece, and added where that span or piece is used.
//!
//! # Source
//! MATH §2 ("the size in tolerances"), §6 (trims), §14.2 (1e-7 of the size against another kernel).

/// Rounding of a footpoint after some hundred operations, as a fraction of its coordinates. With a
/// larger value, solvers end before their points are exact; with a smaller one, they never converge.
const EPS_REL: f64 = 1e-13;
/// Mask of the exponent bits of an `f64`. A masked positive number is rounded down to a power of two.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
/// Rounding of a footpoint's position relative to a trim, as a fraction of the larger solid's size. It
/// exceeds [`EPS_REL`] because parameters are inverted and mapped through cubic pieces. With a larger
/// value, footpoints just outside a face count as on it; with a smaller one, the faces on both sides of a
/// trim reject footpoints on it.
const TRIM_REL: f64 = 1e-9;
/// Default tolerance, as a fraction of the larger solid's size, below which a length counts as zero: for
/// contact, touching, families of critical pairs and semidefinite forms. An independent kernel agrees to
/// this accuracy. With a larger value, fits with less play count as touching and shallow interference is
/// missed; with a smaller one, rounding of imported faces in contact causes gaps and interference.
const TOL_REL: f64 = 1e-7;
/// Distance, as a fraction of the larger solid's size, below which two footpoints on one solid belong to
/// the same minimum. It exceeds [`TOL_REL`] because the footpoint of a flat minimum is less certain than
/// its distance. A larger value merges neighbouring minima; a smaller one reports a minimum twice.
const SAME_REL: f64 = 1e-6;
/// Angular slack (rad) of exact polars. Normals come from stored frames and inverted parameters with
/// relative errors of about 1e-13. With a smaller value, exactly parallel poses (margin 0) lose minima; a
/// larger one accepts directions outside the polar, whose smallest real margin is 1e-6 rad.
const ANGLE: f64 = 1e-9;

/// Slack (rad) of the conditions of a critical pair. Solvers converge to a thousandth of it, so only pairs
/// that are not critical at all fail, such as an edge that pierces a face at distance 0. A larger value
/// accepts pairs that are not minima; a smaller one loses minima in flat valleys.
const CRITICAL: f64 = 1e-6;

/// Smallest distance of a minimum, in tolerances, of solids that interfere or may interfere; deeper
/// contacts have witnesses (MATH §15). With a value nearer to 0, touching solids lose their minimum;
/// with one farther from 0, interfering solids have minima.
const MIN_DISTANCE: f64 = -2.0;
/// Smallest distance of a minimum, in tolerances, of solids that do not interfere. It is larger in
/// magnitude than [`MIN_DISTANCE`] because sharp edges have no point deeper than one tolerance before a
/// depth of several. With a value nearer to 0, touching solids lose their minimum; with one farther from
/// 0, far sides of thin walls have minima.
const MIN_DISTANCE_APART: f64 = -32.0;

/// Largest angle (rad) of a conformal contact, however small the features. With a larger value, tilted
/// small faces count as parallel; with a smaller one, the contacts of small faces change from pose to pose.
const MAX_BENT: f64 = 1e-3;

/// Largest power of two that does not exceed a positive number.
pub(crate) fn power_of_two(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & EXPONENT)
}

/// Tolerances of one query. Lengths in mm, angles in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Larger one of the bounding-box diagonals of the two solids.
    pub size: f64,
    /// Rounding of a footpoint's coordinates in the frame of A.
    pub eps: f64,
    /// Rounding of a footpoint's position relative to a trim or to the end of an edge.
    pub trim: f64,
    /// Length below which the model counts a length as zero:
    /// [`QueryOptions::tolerance`](crate::QueryOptions::tolerance), by default 1e-7 of `size` plus
    /// rounding.
    pub tol: f64,
    /// Distance between two footpoints on one solid below which they belong to the same minimum.
    pub same: f64,
    /// Angle by which directions may be outside an exact polar (one that is not dilated).
    pub angle: f64,
    /// Angular slack of the conditions of a critical pair: normals are opposite to each other, and
    /// tangents of edges are orthogonal to the direction between the footpoints.
    pub critical: f64,
}

impl Tolerances {
    /// Tolerances for solids whose boxes have diagonals of at most `size` (mm) and whose coordinates in the
    /// frame of A are at most `reach` (mm); `tolerance` as in
    /// [`QueryOptions`](crate::QueryOptions::tolerance).
    pub(crate) fn of_lengths(size: f64, reach: f64, tolerance: Option<f64>) -> Self {
        let before_rounding = Self::before_rounding(size, tolerance);
        // Rounded to a power of two, so that small motions do not change the tolerances.
        let reach = 2.0 * power_of_two(reach);
        let trim = TRIM_REL * size + EPS_REL * reach;
        Self {
            size,
            eps: EPS_REL * reach,
            trim,
            // Parameters are rounded to `trim`, so no smaller tolerance is meaningful.
            tol: tolerance.map_or(before_rounding + EPS_REL * reach, |t| t.max(trim)),
            same: SAME_REL * size + EPS_REL * reach,
            angle: ANGLE,
            critical: CRITICAL,
        }
    }

    /// Tolerance (mm) for solids of this size (mm) before rounding of coordinates is added: the value of
    /// the options, but at least 1e-9 of the size; by default 1e-7 of the size.
    pub(crate) fn before_rounding(size: f64, tolerance: Option<f64>) -> f64 {
        let size = size.max(f64::MIN_POSITIVE);
        tolerance.map_or(TOL_REL * size, |t| t.max(TRIM_REL * size))
    }

    /// Smallest signed distance (mm) of a minimum of solids that may interfere: −2 `tol`.
    ///
    /// Deeper solids interfere, because a point farther than the tolerance inside both boundaries needs a
    /// depth of two tolerances. Solids at smaller depths are in contact. No pose lies between the two
    /// cases.
    #[must_use]
    pub fn min_distance(&self) -> f64 {
        MIN_DISTANCE * self.tol
    }

    /// Smallest signed distance (mm) of a minimum of solids that are known not to interfere: −32 `tol`.
    ///
    /// A sharp edge or tip must be pressed in by several tolerances before it has a point farther than one
    /// tolerance inside the other solid; a tip of half angle α by 1 + 1/sin α.
    #[must_use]
    pub fn min_distance_apart(&self) -> f64 {
        MIN_DISTANCE_APART * self.tol
    }

    /// Largest angle (rad) between features in conformal contact, given the inverse (1/mm) of their
    /// extent. Over the extent, this angle changes the distance by 8 `tol`; it is at most [`MAX_BENT`].
    #[must_use]
    pub(crate) fn bent(&self, inverse_extent: f64) -> f64 {
        (8.0 * self.tol * inverse_extent).min(MAX_BENT)
    }
}
