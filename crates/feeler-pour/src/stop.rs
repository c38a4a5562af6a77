//! End of a run once the particles have come to rest.

use crate::error::{PourError, ensure};
use crate::tables::StopTable;
use serde::{Deserialize, Serialize};

/// Condition for the end of a run, evaluated at each row of the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StopRule {
    /// Kinetic energy, as a part of the maximum so far, below which a row counts as calm.
    part: f64,
    /// Number of consecutive calm rows after which the run ends with the next frame.
    calm_rows: u64,
}

/// State of the condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopState {
    /// Bits of the maximum kinetic energy (µJ) so far.
    peak: u64,
    /// Number of calm rows since the last row that was not calm.
    calm_rows: u64,
    /// Whether the run has ended.
    pub(crate) has_stopped: bool,
}

impl StopRule {
    /// Reads the table `[stop]`; `row` is the time between rows (s).
    ///
    /// # Errors
    /// A value is not valid.
    pub(crate) fn new(table: &StopTable, row: f64) -> Result<Self, PourError> {
        let part = table.kinetic;
        ensure!(
            part > 0.0 && part < 1.0,
            "kinetic",
            "give a part of the maximum energy, above 0 and below 1"
        );
        let Some(during) = table.during else { return Ok(Self { part, calm_rows: DEFAULT_CALM_ROWS }) };
        ensure!(during >= 0.0 && during.is_finite(), "during", "give a time in s of at least 0");
        let rows = (during / row).ceil().clamp(1.0, MAX_CALM_ROWS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
        let calm_rows = rows as u64;
        Ok(Self { part, calm_rows })
    }

    /// Updates the state at a row with the kinetic energy `energy` (µJ). The run ends only at a row with a
    /// frame (`is_frame`).
    pub(crate) fn update(&self, state: &mut StopState, energy: f64, is_frame: bool) {
        let peak = f64::from_bits(state.peak).max(energy);
        state.peak = peak.to_bits();
        state.calm_rows = if energy < self.part * peak { state.calm_rows + 1 } else { 0 };
        state.has_stopped |= is_frame && state.calm_rows >= self.calm_rows;
    }
}

/// Number of consecutive rows below the limit of energy after which a run ends, if the scene does not state a
/// time. With fewer rows a run may end while particles turn around; more rows simulate particles at rest.
const DEFAULT_CALM_ROWS: u64 = 10;

/// Maximum number of calm rows, more than a run has. A larger value has no effect; a smaller one ends long
/// runs earlier than the scene states.
const MAX_CALM_ROWS: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_with_the_frame_after_enough_calm_rows() {
        let rule = StopRule::new(&StopTable { kinetic: 0.1, during: Some(0.03) }, 0.01).expect("a rule");
        let mut state = StopState::default();
        // A reversal at 5, rest from 8 on; each second row has a frame.
        let energies = [0.0, 2.0, 10.0, 4.0, 5.0, 0.5, 0.9, 2.0, 0.5, 0.4, 0.3, 0.2];
        let mut stopped = Vec::new();
        for (k, energy) in energies.iter().enumerate() {
            rule.update(&mut state, *energy, k % 2 == 1);
            stopped.push(state.has_stopped);
        }
        assert_eq!(stopped.iter().position(|s| *s), Some(11), "{stopped:?}");
        assert!(StopRule::new(&StopTable { kinetic: 1.0, during: None }, 0.01).is_err());
        assert!(StopRule::new(&StopTable { kinetic: 0.1, during: Some(-1.0) }, 0.01).is_err());
    }
}
