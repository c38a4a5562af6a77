//! Motions in contact: whether two solids that may touch ever penetrate.

use feeler_runtime::{
    ContactPair, Passage, PassageOptions, PassageOutcome, Path, PenetrationOptions, PenetrationOutcome,
    PenetrationPassage, QueryError, QueryOptions, first_penetration, time_of_contact,
};

/// Result of a motion during which contact is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MotionResult {
    /// The solids are proven to stay apart.
    Free,
    /// The solids are proven not to penetrate deeper than the limit, but not proven to stay apart.
    Contact,
    /// The solids penetrate deeper than the limit.
    Penetration,
    /// Neither of the above could be proven.
    Undecided,
}

/// Motion of two solids that may touch but must not penetrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMotion {
    /// First penetration, or a proof that the solids do not penetrate.
    pub penetration: PenetrationPassage,
    /// First contact, or proof that the solids stay apart; `None` if `penetration` already shows that the
    /// solids touch or that the motion cannot be decided.
    pub passage: Option<Passage>,
}

impl ContactMotion {
    /// Searches a motion for penetration, and if the queries found no contact, for contact.
    ///
    /// # Errors
    /// Errors of [`first_penetration`].
    pub fn search(
        pair: &mut ContactPair,
        path_a: &Path,
        path_b: &Path,
        query: &QueryOptions,
    ) -> Result<Self, QueryError> {
        let options = PenetrationOptions { query: *query, ..PenetrationOptions::default() };
        Self::search_with(pair, path_a, path_b, &options)
    }

    /// Like [`ContactMotion::search`], with all options. The maximum number of queries holds for the search
    /// for penetration and for that for contact.
    ///
    /// # Errors
    /// Errors of [`first_penetration`].
    pub fn search_with(
        pair: &mut ContactPair,
        path_a: &Path,
        path_b: &Path,
        options: &PenetrationOptions,
    ) -> Result<Self, QueryError> {
        let penetration = first_penetration(pair, path_a, path_b, options)?;
        let may_be_free = penetration.outcome == PenetrationOutcome::Free && penetration.touched.is_none();
        let passage = if may_be_free {
            let query = QueryOptions { penetration: 0.0, ..options.query };
            let max_queries = options.max_queries;
            let options = PassageOptions { query, max_queries, ..PassageOptions::default() };
            Some(time_of_contact(pair, path_a, path_b, &options)?)
        } else {
            None
        };
        Ok(Self { penetration, passage })
    }

    /// Result of the motion.
    #[must_use]
    pub fn result(&self) -> MotionResult {
        match self.penetration.outcome {
            PenetrationOutcome::Penetration(_) => MotionResult::Penetration,
            PenetrationOutcome::Undecided(_) => MotionResult::Undecided,
            PenetrationOutcome::Free => match self.passage {
                Some(Passage { outcome: PassageOutcome::Free, .. }) => MotionResult::Free,
                // Freedom from penetration is proven, so that contact is the worst that can happen.
                _ => MotionResult::Contact,
            },
        }
    }

    /// Time of the first contact that was found, in the unit of time of the paths; `None` if no contact was
    /// found or its time could not be determined. It is exact if [`Self::passage`] has it, otherwise that of
    /// the first query in contact.
    #[must_use]
    pub fn contact_time(&self) -> Option<f64> {
        match self.passage {
            Some(Passage { outcome: PassageOutcome::Contact(c), .. }) => Some(c.time),
            _ => self.penetration.touched,
        }
    }
}
