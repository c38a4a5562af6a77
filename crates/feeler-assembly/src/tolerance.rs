//! Choice of the tolerance of queries, and what is known of pairs that a tolerance leaves undecided.

use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, QueryError, QueryOptions, Status};

/// Size of the default tolerance relative to the diagonal of the larger solid.
const DEFAULT_TOLERANCE: f64 = 1e-7;

/// Tolerance of a query: lengths below it count as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ToleranceChoice {
    /// 1e-7 of the diagonal of the larger solid. Pairs that it leaves undecided are queried again at
    /// coarser tolerances ([`ContactPair::query_decided`]).
    #[default]
    Default,
    /// This tolerance (mm).
    Length(f64),
    /// The larger one of the uncertainties that the files of both solids state, or the default tolerance
    /// if that is larger.
    Stated,
}

/// Verdict at a coarser tolerance than the one that left a pair undecided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoarserDecision {
    /// The smallest of the tolerances (mm) tried at which the pair is decided.
    pub tolerance: f64,
    /// Status of the pair at this tolerance.
    pub status: Status,
}

/// How the verdict of a query was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DecidedQuery {
    /// Coarser tolerance (mm) for which the results hold, because the default tolerance left the pair
    /// undecided; `None` if the results hold for the chosen tolerance.
    pub decided_at: Option<f64>,
    /// Verdict at a coarser tolerance, if the results are undecided because the tolerance was chosen by
    /// [`ToleranceChoice::Length`] or [`ToleranceChoice::Stated`]; `None` if the pair is decided, or
    /// undecided at all coarser tolerances.
    pub coarser: Option<CoarserDecision>,
}

impl ToleranceChoice {
    /// [`QueryOptions::tolerance`] of a query of two solids.
    #[must_use]
    pub fn of(self, bodies: [&Body; 2]) -> Option<f64> {
        match self {
            Self::Default => None,
            Self::Length(tolerance) => Some(tolerance),
            Self::Stated => {
                let stated = bodies.map(|body| body.hierarchy().info.uncertainty);
                let least = bodies.map(|body| DEFAULT_TOLERANCE * body.size());
                let [stated, least] = [stated, least].map(|of| of[0].max(of[1]));
                (stated > least).then_some(stated)
            }
        }
    }

    /// Queries a pair with this tolerance; `options.tolerance` is ignored. Pairs that the default tolerance
    /// leaves undecided are queried at coarser ones. For the other choices the results of the pair are those
    /// of the chosen tolerance, and a separate pair is queried at coarser ones.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    pub fn query(
        self,
        pair: &mut ContactPair,
        [pose_a, pose_b]: [&Pose; 2],
        options: &QueryOptions,
    ) -> Result<DecidedQuery, QueryError> {
        let tolerance = self.of([pair.body_a(), pair.body_b()]);
        let options = QueryOptions { tolerance, ..*options };
        if self == Self::Default {
            let decided_at = pair.query_decided(pose_a, pose_b, &options)?;
            return Ok(DecidedQuery { decided_at, coarser: None });
        }
        pair.query(pose_a, pose_b, &options)?;
        if pair.status() != Some(Status::Undecided) {
            return Ok(DecidedQuery::default());
        }
        let mut other = ContactPair::new(pair.body_a().clone(), pair.body_b().clone());
        let decided_at = other.query_decided(pose_a, pose_b, &options)?;
        let coarser = decided_at.zip(other.status());
        let coarser = coarser.map(|(tolerance, status)| CoarserDecision { tolerance, status });
        if let Some(CoarserDecision { tolerance, status: Status::Touching | Status::Separated }) = coarser {
            // Guarantee of `query_decided`.
            let widened = other.verdict().map_or(&[][..], |verdict| &verdict.widened);
            let deviation = widened.iter().fold(0.0, |largest: f64, point| largest.max(point.by));
            pair.limit_depth(2.0 * tolerance + deviation);
        }
        Ok(DecidedQuery { decided_at: None, coarser })
    }
}
