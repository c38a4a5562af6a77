//! Durations of time steps, which differ from run to run.

use std::time::{Duration, Instant};

/// Durations of time steps, summed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepClock {
    steps: u64,
    contacts: Duration,
    whole: Duration,
}

/// Mean durations of a time step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepDurations {
    /// Mean duration of the contacts of a step (s): the search for contacts of all particles and walls, and
    /// their forces.
    pub contacts: f64,
    /// Mean duration of a step (s).
    pub step: f64,
}

impl StepClock {
    /// Measures a time step. `step` computes it and calls its argument once the contacts are computed.
    pub(crate) fn measure<E>(
        &mut self,
        step: impl FnOnce(&mut dyn FnMut()) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = Instant::now();
        let mut contacts = Duration::ZERO;
        step(&mut || contacts = start.elapsed())?;
        self.steps += 1;
        self.contacts += contacts;
        self.whole += start.elapsed();
        Ok(())
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.contacts += other.contacts;
        self.whole += other.whole;
    }

    /// Mean durations; `None` before the first step.
    pub(crate) fn means(&self) -> Option<StepDurations> {
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let mean = |sum: Duration| sum.as_secs_f64() / self.steps as f64;
        (self.steps > 0).then(|| StepDurations { contacts: mean(self.contacts), step: mean(self.whole) })
    }
}
