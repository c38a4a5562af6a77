//! Options of a query.

use crate::api::error::QueryError;
use crate::diagnostics::Diagnostics;

/// Options of a query of two solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryOptions {
    /// Largest distance (mm) of the minima that are reported, at least 0; infinity reports all of them.
    pub d_max: f64,
    /// Angle (rad) by which the polars of edges and vertices are dilated for quasi-minima, in [0, π/4]; 0
    /// reports no quasi-minima.
    pub quasi_angle: f64,
    /// Implicit dilation of A (mm), positive outwards. It affects [`Contact::gap`](crate::Contact::gap)
    /// only, not the distances.
    pub dilation_a: f64,
    /// Implicit dilation of B (mm), positive outwards. It affects [`Contact::gap`](crate::Contact::gap)
    /// only, not the distances.
    pub dilation_b: f64,
    /// Whether to share the work among the threads of the current `rayon` pool. The results are bitwise
    /// equal to those without threads.
    pub parallel: bool,
    /// Whether to compute the verdict. Without it, [`ContactPair::status`](crate::ContactPair::status) is
    /// `None`.
    pub detect_interference: bool,
    /// Whether to skip the verdict if a minimum has a negative gap; the status is then `None`. The
    /// verdict takes most of the time of a query at contact, and a simulator needs no proof of an
    /// interference that such a contact shows. This option has no effect if
    /// [`QueryOptions::penetration`] is 0.
    pub verdict_unless_pressed: bool,
    /// Length (mm) below which a distance counts as zero. Solids at a smaller distance are touching, and
    /// solids that penetrate each other less deeply are not interfering.
    ///
    /// With the default, `None`, it is 1e-7 of the larger bounding-box diagonal plus the rounding of the
    /// coordinates. The value in use, which is [`Tolerances::tol`](crate::Tolerances::tol), is never
    /// smaller than this rounding. The tolerance must be less than a tenth of the minimum thickness of
    /// both solids ([`Body::min_thickness`](crate::Body::min_thickness)).
    pub tolerance: Option<f64>,
    /// Largest depth (mm) at which penetrating solids get minima with negative distances, at least 0. With 0,
    /// no minimum is deeper than [`tolerance`](Self::tolerance). A simulator sets the depth to which it
    /// presses solids into each other. It must be less than half the sum of both [minimum
    /// thicknesses](crate::Body::min_thickness), because at larger depths the far side of a wall is as near
    /// as the side that was pressed.
    ///
    /// A contact deeper than [`tolerance`](Self::tolerance) is reported if a point near its footpoints is
    /// proved to be inside both solids, or if it continues a contact of the previous query. The latter is
    /// the only way in which results depend on earlier queries. A sheet has no inside, so its own
    /// footpoint must be inside the other solid; two sheets have no such contacts.
    pub penetration: f64,
    /// Whether to prove for each solve with a free-form feature that it has found all minima, and to
    /// search for missing ones. [`Stats::undecided_pairs`](crate::Stats::undecided_pairs) and
    /// [`Contact::undecided`](crate::Contact::undecided) report incomplete proofs; if they report none,
    /// the set of minima is complete.
    pub certified: bool,
    /// Largest spacing (mm) of the samples that are reported for a conformal set (a connected set of
    /// equal minima). With the default, `None`, it is a quarter of the set's diameter, the largest
    /// distance between two footpoints of the set on one solid; larger values have the same effect. The
    /// spacing of large sets is larger, because their number of samples is limited: to 32 with `None`,
    /// otherwise to 4096.
    pub conformal_spacing: Option<f64>,
    /// Whether to report only the outermost samples of each conformal set, which carry the load between the
    /// solids; this is faster than to report all samples. Screw threads also get samples of nearly conformal
    /// sets. The distances of these samples exceed the smallest distance by at most a fiftieth of the pitch,
    /// and the samples need not be minima. [`ContactTracker`](crate::ContactTracker) uses this option.
    pub load_bearing: bool,
    /// Method of the query (traversal or brute force) and its optimisations, for developers of feeler.
    #[cfg(feature = "diagnostics")]
    pub diagnostics: Diagnostics,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            d_max: 1.0,
            quasi_angle: 0.0,
            dilation_a: 0.0,
            dilation_b: 0.0,
            parallel: false,
            detect_interference: true,
            verdict_unless_pressed: false,
            tolerance: None,
            penetration: 0.0,
            certified: false,
            conformal_spacing: None,
            load_bearing: false,
            #[cfg(feature = "diagnostics")]
            diagnostics: <_>::default(),
        }
    }
}

/// Finite replacement (mm) of an infinite `d_max`, larger than any distance between points within
/// [`MAX_COORDINATES`]. A larger value could overflow in products, a smaller one could miss distances.
const MAX_DISTANCE: f64 = 4e30;
/// Largest coordinates (mm) of a query, whatever its tolerance; the loader of files has the same limit.
/// Products of larger values could overflow; a smaller limit would refuse valid poses.
pub(crate) const MAX_COORDINATES: f64 = 1e30;
const _: () = assert!(MAX_DISTANCE >= 4.0 * MAX_COORDINATES, "two bodies at the limit");

impl QueryOptions {
    /// Default options with the given largest distance (mm).
    #[must_use]
    pub fn within(d_max: f64) -> Self {
        Self { d_max, ..Self::default() }
    }

    /// Checks that every option is valid on its own.
    ///
    /// # Errors
    /// [`QueryError`] for the first option that is not valid.
    pub fn check(&self) -> Result<(), QueryError> {
        let quasi_angles = 0.0..=std::f64::consts::FRAC_PI_4;
        let is_length = |s: f64| s.is_finite() && s > 0.0;
        match *self {
            Self { d_max, .. } if d_max.is_nan() || d_max < 0.0 => Err(QueryError::DMax(d_max)),
            Self { quasi_angle, .. } if !quasi_angles.contains(&quasi_angle) => {
                Err(QueryError::QuasiAngle(quasi_angle))
            }
            Self { dilation_a: d, .. } if !d.is_finite() => Err(QueryError::DilationA(d)),
            Self { dilation_b: d, .. } if !d.is_finite() => Err(QueryError::DilationB(d)),
            Self { conformal_spacing: Some(s), .. } if !is_length(s) => Err(QueryError::ConformalSpacing(s)),
            Self { tolerance: Some(t), .. } if !is_length(t) => Err(QueryError::Tolerance(t)),
            Self { penetration: p, .. } if !(p.is_finite() && p >= 0.0) => Err(QueryError::Penetration(p)),
            _ => Ok(()),
        }
    }

    /// Copy of these options for a query that computes the verdict only.
    #[must_use]
    pub(crate) fn for_verdict(&self) -> Self {
        Self {
            d_max: 0.0,
            quasi_angle: 0.0,
            penetration: 0.0,
            certified: false,
            detect_interference: true,
            verdict_unless_pressed: false,
            #[cfg(feature = "diagnostics")]
            diagnostics: Diagnostics { brute_force: false, ..self.diagnostics },
            ..*self
        }
    }

    /// Copy of these options with a finite `d_max`: at most [`MAX_DISTANCE`].
    #[must_use]
    pub(crate) fn bounded(&self) -> Self {
        Self { d_max: self.d_max.min(MAX_DISTANCE), ..*self }
    }

    /// Switches for developers that the caller has chosen.
    #[cfg(feature = "diagnostics")]
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        self.diagnostics
    }

    /// Default switches, because the feature `diagnostics` is disabled.
    #[cfg(not(feature = "diagnostics"))]
    #[expect(clippy::unused_self, reason = "same signature with and without the feature")]
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    /// Copy of these options for a query that tests all pairs of features instead of traversing the
    /// hierarchies.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn brute_force(self) -> Self {
        let diagnostics = Diagnostics { brute_force: true, ..self.diagnostics };
        Self { diagnostics, ..self }
    }

    /// Copy of these options with the given choice of optimisations.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn with_savings(self, savings: crate::diagnostics::Savings) -> Self {
        Self { diagnostics: Diagnostics { savings, ..self.diagnostics }, ..self }
    }
}
