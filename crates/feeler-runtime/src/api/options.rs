//! What a query is asked for.

use crate::api::error::QueryError;
use crate::diagnostics::Diagnostics;

/// Options of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryOptions {
    /// Largest distance (mm) of interest, ≥ 0; infinite for all LMDs.
    pub d_max: f64,
    /// Angle (rad) by which the polars of edges and vertices are dilated for quasi-LMDs, in [0, π/4]; 0 gives
    /// none.
    pub quasi_angle: f64,
    /// Implicit dilation of A (mm): only the gap knows of it.
    pub dilation_a: f64,
    /// Implicit dilation of B (mm).
    pub dilation_b: f64,
    /// Share the work out in the current thread pool of `rayon`. The result is the same to the bit.
    pub parallel: bool,
    /// Whether to decide how the solids stand to one another. Without it there is no status:
    /// [`ContactPair::status`](crate::ContactPair::status) is `None`.
    pub detect_interference: bool,
    /// Whether to leave the verdict out where a minimum has a negative gap: simulators need no proof of what
    /// such a contact explains, and the proof takes most of the time of a query at contact. There is no
    /// status then. Has no effect with [`QueryOptions::penetration`] 0.
    pub verdict_unless_pressed: bool,
    /// Lengths (mm) below this are zero: what is nearer touches, what meets less deep does not interfere.
    /// `None`: 1e-7 of the larger bounding-box diagonal, and rounding. Never less than rounding; the value
    /// that was used is [`Tolerances::tol`](crate::Tolerances::tol). Less than a tenth of both solids' walls
    /// ([`Body::min_thickness`](crate::Body::min_thickness)).
    pub tolerance: Option<f64>,
    /// Largest depth (mm) of contacts that are reported as minima with negative distances, ≥ 0: how far
    /// simulators press solids into one another. 0 gives none deeper than the tolerance. Less than half the
    /// sum of both [`walls`](crate::Body::min_thickness): beyond, the far side of a wall is as near as the side that
    /// was pressed.
    ///
    /// A contact deeper than the tolerance is reported where a point beside it proves that it is inside both
    /// solids, and where it continues a contact of the last query. With a depth above 0, results depend on
    /// earlier queries in this one way. Of a sheet, which has no inside, its own footpoint has to be inside
    /// the other solid; two sheets have none.
    pub penetration: f64,
    /// Prove for every solve with a free-form side that it has found all minima, and find what it has missed.
    /// What stays open is told by [`Stats::undecided_pairs`](crate::Stats::undecided_pairs) and
    /// [`Contact::undecided`](crate::Contact::undecided): where there is none, the set of minima is complete.
    pub certified: bool,
    /// Largest spacing (mm) of the samples of a conformal set; `None`: a quarter of the set's extent.
    pub conformal_spacing: Option<f64>,
    /// Reports only the outermost samples of conformal sets, which carry loads, and of threads also samples
    /// of what is nearly a set, within a fiftieth of the pitch of the nearest: these need not be minima. What
    /// a [`ContactTracker`](crate::ContactTracker) is based on, and faster than all samples.
    pub load_bearing: bool,
    /// How the query goes about its work: for those who work on queries.
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

/// Finite value (mm) of an infinite `d_max`: larger than any distance within the largest coordinates.
const EVERYTHING: f64 = 4e30;
/// Largest coordinates (mm) whatever the tolerance: those of a file, whose products do not overflow.
pub(crate) const MAX_COORDINATES: f64 = 1e30;
const _: () = assert!(EVERYTHING >= 4.0 * MAX_COORDINATES, "both bodies at the limit");

impl QueryOptions {
    /// Options with the given largest distance, else the defaults.
    #[must_use]
    pub fn within(d_max: f64) -> Self {
        Self { d_max, ..Self::default() }
    }

    /// Whether the options make sense.
    ///
    /// # Errors
    /// [`QueryError`] with the first option that does not.
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

    /// The options of a query that is asked for its verdict only.
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

    /// The options with a finite `d_max`.
    #[must_use]
    pub(crate) fn bounded(&self) -> Self {
        Self { d_max: self.d_max.min(EVERYTHING), ..*self }
    }

    /// With the feature what the caller has chosen, else the defaults.
    #[cfg(feature = "diagnostics")]
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        self.diagnostics
    }

    /// With the feature what the caller has chosen, else the defaults.
    #[cfg(not(feature = "diagnostics"))]
    #[expect(clippy::unused_self, reason = "the same call with the feature and without")]
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    /// The same query over all pairs of features.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn brute_force(self) -> Self {
        let diagnostics = Diagnostics { brute_force: true, ..self.diagnostics };
        Self { diagnostics, ..self }
    }

    /// The same query with other savings.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn with_savings(self, savings: crate::diagnostics::Savings) -> Self {
        Self { diagnostics: Diagnostics { savings, ..self.diagnostics }, ..self }
    }
}
