//! Clearance check: finds pairs of parts that touch, interfere or are too close.

pub(crate) mod baseline;
mod finding;
mod fit;
mod measure;
mod report;
pub(crate) mod rules;

pub use finding::Finding;
pub use fit::{Fit, FitKind, MAX_PLAY, MAX_PRESS};
pub use measure::{NearestContact, PairMeasurement};
pub use report::{ClearancePair, ClearanceReport, PairCounts};

use crate::assembly::AssemblyPart;
use crate::error::AssemblyError;
use crate::progress::Progress;
use crate::tolerance::ToleranceChoice;
use feeler_runtime::{QueryOptions, Scene};
use rayon::prelude::*;
use rules::{RuleMatches, Rules};

/// Largest distance (mm) that is measured if neither the options nor a rule states one. A larger value
/// measures more pairs; a smaller one reports fewer distances.
const DEFAULT_D_MAX: f64 = 1.0;

/// Number of minima that are kept for each pair by default. A larger value takes more memory; with a smaller
/// one, pages show fewer minima.
const DEFAULT_MAX_CONTACTS: usize = 50;

/// Options of a clearance check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearanceOptions {
    /// Largest distance (mm) that is measured; `None`: [`Rules::d_max`], or else the largest minimum of the
    /// rules, or else 1 mm.
    pub d_max: Option<f64>,
    /// Tolerance: lengths below it count as zero; `None`: [`Rules::tolerance`], or else the default one.
    pub tolerance: Option<ToleranceChoice>,
    /// Maximum number of minima in [`PairMeasurement::contacts`].
    pub max_contacts: usize,
    /// Whether the overlap of all interfering pairs is measured. Without it, only the overlaps of pairs are
    /// measured for which a rule limits the volume.
    pub volume: bool,
}

impl Default for ClearanceOptions {
    fn default() -> Self {
        Self { d_max: None, tolerance: None, max_contacts: DEFAULT_MAX_CONTACTS, volume: false }
    }
}

impl ClearanceOptions {
    /// Default options with the largest measured distance `d_max` (mm).
    #[must_use]
    pub fn within(d_max: f64) -> Self {
        Self { d_max: Some(d_max), ..Self::default() }
    }

    /// Largest distance (mm) that a check with these options and rules measures, as
    /// [`ClearanceOptions::d_max`] states.
    ///
    /// # Errors
    /// These options or the rules state the largest distance, and a rule has a minimum above it.
    pub fn reach(&self, rules: &Rules) -> Result<f64, AssemblyError> {
        let needed = rules.largest_min();
        let Some(d_max) = self.d_max.or(rules.d_max) else { return Ok(needed.unwrap_or(DEFAULT_D_MAX)) };
        match needed {
            Some(min) if d_max < min => Err(AssemblyError::DMaxBelowMinimum { d_max, min }),
            _ => Ok(d_max),
        }
    }
}

/// Measures all near pairs of parts and checks them against the rules. [`Clearance`] does this in
/// separate steps.
///
/// # Errors
/// The options contradict the rules, or the parts cannot form a scene, for example because a pose is not
/// finite. Pairs that cannot be measured are findings, not errors.
pub fn clearance(
    parts: &[AssemblyPart],
    rules: &Rules,
    options: &ClearanceOptions,
) -> Result<ClearanceReport, AssemblyError> {
    let check = Clearance::new(parts, rules, options)?;
    let measurements = check.measure(&|| {});
    Ok(check.report(measurements))
}

/// Clearance check of an assembly in steps: its near pairs have been found, but not yet measured.
#[derive(Debug)]
pub struct Clearance<'a> {
    parts: &'a [AssemblyPart],
    matches: RuleMatches<'a>,
    tolerance: ToleranceChoice,
    query: QueryOptions,
    max_contacts: usize,
    volume: bool,
    near: Vec<[usize; 2]>,
    ignored: usize,
}

impl<'a> Clearance<'a> {
    /// Finds the near pairs of parts that the rules do not exclude: pairs that may be within the `d_max`
    /// of the check, by bounds of their distances.
    ///
    /// # Errors
    /// The options contradict the rules, or the parts cannot form a scene, for example because a pose is
    /// not finite.
    pub fn new(
        parts: &'a [AssemblyPart],
        rules: &'a Rules,
        options: &ClearanceOptions,
    ) -> Result<Self, AssemblyError> {
        let d_max = options.reach(rules)?;
        let tolerance = options.tolerance.or(rules.tolerance).unwrap_or_default();
        let query = QueryOptions::within(d_max);
        let matches = rules.matches(parts);
        let ignored = (0..parts.len())
            .flat_map(|i| (i + 1..parts.len()).map(move |j| (i, j)))
            .filter(|(i, j)| matches.is_ignored(*i, *j))
            .count();
        let mut near = Vec::new();
        if parts.len() > 1 {
            let mut scene = Scene::new(query)?;
            for part in parts {
                scene.add(part.body.clone(), part.pose)?;
            }
            // Bodies of a scene are numbered in the order in which they are added.
            let bodies = scene.near_bodies()?.into_iter().map(|pair| pair.map(|id| id.0 as usize));
            near.extend(bodies.filter(|&[i, j]| !matches.is_ignored(i, j)));
        }
        let ClearanceOptions { max_contacts, volume, .. } = *options;
        Ok(Self { parts, matches, tolerance, query, max_contacts, volume, near, ignored })
    }

    /// Pairs of indices of parts that are to be measured, ascending.
    #[must_use]
    pub fn near_pairs(&self) -> &[[usize; 2]] {
        &self.near
    }

    /// Measures the near pairs in parallel and calls `on_pair` after each of them. Pairs that turn out
    /// to be farther apart than the `d_max` of the check are omitted.
    pub fn measure(&self, on_pair: &(dyn Fn() + Sync)) -> Vec<PairMeasurement> {
        let one = |pair: &[usize; 2]| {
            let measurement = self.measure_pair(*pair);
            on_pair();
            measurement
        };
        let mut measurements: Vec<PairMeasurement> = self.near.par_iter().map(one).collect();
        measurements.retain(|m| !m.is_beyond_reach());
        measurements
    }

    /// Like [`Clearance::measure`]; `progress` counts the measured pairs. Returns `None` if `progress` was
    /// stopped before all pairs were measured.
    pub fn measure_with(&self, progress: &Progress) -> Option<Vec<PairMeasurement>> {
        progress.set_total(self.near.len());
        let one = |pair: &[usize; 2]| {
            let measurement = (!progress.is_stopped()).then(|| self.measure_pair(*pair))?;
            progress.advance(1);
            Some(measurement)
        };
        let mut measurements: Vec<PairMeasurement> = self.near.par_iter().map(one).collect::<Option<_>>()?;
        measurements.retain(|m| !m.is_beyond_reach());
        Some(measurements)
    }

    fn measure_pair(&self, pair: [usize; 2]) -> PairMeasurement {
        let fit = fit::fit(pair.map(|i| &self.parts[i]));
        let rule = self.matches.rule(pair, fit);
        let volume = self.volume || rule.is_some_and(|r| r.limits.max_volume.is_some());
        let query = (self.tolerance, &self.query);
        PairMeasurement::new((pair, fit), self.parts, query, (self.max_contacts, volume))
    }

    /// Checks `measurements`, the result of [`Clearance::measure`], against the rules and returns the
    /// findings.
    #[must_use]
    pub fn report(&self, measurements: Vec<PairMeasurement>) -> ClearanceReport {
        let n = self.parts.len();
        let total = n * n.saturating_sub(1) / 2;
        let counts = PairCounts { total, ignored: self.ignored, near: measurements.len() };
        ClearanceReport::new(&self.matches, measurements, counts, self.query.d_max)
    }
}
