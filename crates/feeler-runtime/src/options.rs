//! What a query is asked for.

use crate::QueryError;

/// What saves work in a query. Results do not depend on it: for measuring what each brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent of each other")]
pub struct Savings {
    /// Nodes whose cones of revolution hold no opposite directions are culled.
    pub cones_of_revolution: bool,
    /// Pairs of leaves whose polyhedral cones hold no opposite directions, or whose boxes do not see each
    /// other along the normals, are culled, unless their features are solved as wholes.
    pub polyhedral_cones: bool,
    /// One exact solve for a pair of canonical supermaximal features instead of one for each pair of their
    /// leaves.
    pub supermaximal: bool,
    /// What earlier queries of the pair have culled with a margin stays culled, and what they have found
    /// apart stays apart, until the motion since then has used up the margin.
    pub coherence: bool,
}

impl Default for Savings {
    fn default() -> Self {
        Self { cones_of_revolution: true, polyhedral_cones: true, supermaximal: true, coherence: true }
    }
}

/// Options of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent of each other")]
pub struct QueryOptions {
    /// Largest distance (mm) of interest, ≥ 0; infinite for all LMDs.
    pub d_max: f64,
    /// Angle (rad) by which the polars of edges and vertices are dilated for quasi-LMDs, in [0, π/4]; 0 gives
    /// none.
    pub alpha: f64,
    /// Implicit dilation of A (mm): only the gap knows of it.
    pub dilation_a: f64,
    /// Implicit dilation of B (mm).
    pub dilation_b: f64,
    /// Look at all pairs of features instead of traversing the hierarchies: slow, and the same result.
    pub brute_force: bool,
    /// Share the work out in the current thread pool of `rayon`. The result is the same to the bit.
    pub parallel: bool,
    /// Whether to decide how the solids stand to one another. Without it there is no status:
    /// [`ContactPair::status`](crate::ContactPair::status) is `None`.
    pub detect_interference: bool,
    /// Lengths (mm) below this are zero: what is nearer touches, what meets less deep does not interfere.
    /// `None`: 1e-7 of the larger bounding-box diagonal, and rounding. Never less than rounding; the value
    /// that was used is [`Tolerances::tol`](crate::Tolerances::tol). Less than a tenth of both solids' walls
    /// ([`Body::wall`](crate::Body::wall)).
    pub tolerance: Option<f64>,
    /// Largest depth (mm) of contacts that are reported as minima with negative distances, ≥ 0: how far
    /// simulators press solids into one another. 0 gives none deeper than the tolerance. Less than half the
    /// sum of both [`walls`](crate::Body::wall): beyond, the far side of a wall is as near as the side that
    /// was pressed.
    ///
    /// A contact deeper than the tolerance is reported where a point beside it proves that it is inside both
    /// solids, and where it continues a contact of the last query. With a depth above 0, results depend on
    /// earlier queries in this one way. Sheets have no inside, and none.
    pub penetration: f64,
    /// Prove for every solve with a free-form side that it has found all minima, and find what it has missed.
    /// What stays open is told by [`Stats::undecided_pairs`](crate::Stats::undecided_pairs) and
    /// [`Lmd::undecided`](crate::Lmd::undecided): where there is none, the set of minima is complete.
    pub certified: bool,
    /// Largest spacing (mm) of the samples of a conformal set; `None`: a quarter of the set's extent.
    pub conformal_spacing: Option<f64>,
    /// What saves work.
    pub savings: Savings,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            d_max: 1.0,
            alpha: 0.0,
            dilation_a: 0.0,
            dilation_b: 0.0,
            brute_force: false,
            parallel: false,
            detect_interference: true,
            tolerance: None,
            penetration: 0.0,
            certified: false,
            conformal_spacing: None,
            savings: Savings::default(),
        }
    }
}

/// Farther than anything (mm), and finite.
const EVERYTHING: f64 = 1e12;

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
        let alphas = 0.0..=std::f64::consts::FRAC_PI_4;
        let is_length = |s: f64| s.is_finite() && s > 0.0;
        match *self {
            Self { d_max, .. } if d_max.is_nan() || d_max < 0.0 => Err(QueryError::DMax(d_max)),
            Self { alpha, .. } if !alphas.contains(&alpha) => Err(QueryError::Alpha(alpha)),
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
            alpha: 0.0,
            penetration: 0.0,
            brute_force: false,
            certified: false,
            detect_interference: true,
            ..*self
        }
    }

    /// The options with a finite `d_max`.
    #[must_use]
    pub(crate) fn bounded(&self) -> Self {
        Self { d_max: self.d_max.min(EVERYTHING), ..*self }
    }
}
