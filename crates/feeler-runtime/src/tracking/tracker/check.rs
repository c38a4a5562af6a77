//! Validation of options.

use super::TrackerOptions;
use crate::api::error::QueryError;

impl TrackerOptions {
    /// Checks that each option is in its range.
    ///
    /// # Errors
    /// [`QueryError`] with the first invalid option.
    pub fn check(&self) -> Result<(), QueryError> {
        let values = [
            ("reach", self.reach),
            ("max_depth", self.max_depth),
            ("max_step.rotation", self.max_step.rotation),
            ("max_step.displacement", self.max_step.displacement),
            ("gap_error", self.gap_error),
        ];
        let invalid = values.into_iter().find(|(_, value)| value.is_nan() || *value < 0.0);
        match (invalid, self.dilations) {
            (Some((name, value)), _) => Err(QueryError::TrackerOption { name, value }),
            (_, [d, _]) if !d.is_finite() => Err(QueryError::DilationA(d)),
            (_, [_, d]) if !d.is_finite() => Err(QueryError::DilationB(d)),
            _ => Ok(()),
        }
    }
}
