//! Findings about pairs of parts, as the rules define them.

use super::baseline::Baseline;
use super::finding::Finding;
use super::measure::PairMeasurement;
use super::rules::{InterferenceLimits, Interfering, Rule, RuleMatches, Touching};
use crate::assembly::AssemblyPart;
use feeler_runtime::Status;

/// Numbers of pairs of parts in a clearance check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Number of all pairs of parts.
    pub total: usize,
    /// Number of pairs, near or not, that the rules exclude.
    pub ignored: usize,
    /// Number of measured pairs: those within `d_max` that the rules do not exclude, including pairs
    /// whose query failed.
    pub near: usize,
}

/// A pair of parts with its finding.
#[derive(Clone, Debug)]
pub struct ClearancePair {
    /// Indices of the parts, ascending.
    pub parts: [usize; 2],
    /// Measurement; `None` if the parts are farther apart than `d_max`.
    pub measurement: Option<PairMeasurement>,
    /// Name of the rule that decides about the pair, that is the first one that matches it; `None` if no
    /// rule matches.
    pub rule: Option<String>,
    /// Smallest distance (mm) that the rule allows; `None` if it states none.
    pub min: Option<f64>,
    /// Limits of an interference that the rule allows.
    pub limits: InterferenceLimits,
    /// Violation of the rule, or interference without a rule; `None` if the pair is as required.
    pub finding: Option<Finding>,
    /// Whether the baseline contains the finding.
    pub is_known: bool,
}

impl ClearancePair {
    /// Whether the pair has a finding that the baseline does not contain.
    #[must_use]
    pub fn is_new_finding(&self) -> bool {
        self.finding.is_some() && !self.is_known
    }

    /// Relation of the parts; `None` if they were not measured.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.measurement.as_ref().filter(|m| m.error.is_none()).map(|m| m.status)
    }

    /// Distance (mm) of the nearest minimum within `d_max`; `None` if there is no minimum or the pair
    /// was not measured, and for parts that interfere without a minimum at a negative distance.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        self.measurement.as_ref()?.nearest.as_ref().map(|n| n.distance)
    }

    /// Lower bound (mm) of the length of any translation that separates the parts; 0 if they do not
    /// interfere or were not measured.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.measurement.as_ref().map_or(0.0, PairMeasurement::depth)
    }

    /// Key by which pairs are sorted in ascending order: first new findings, then known findings, then
    /// pairs without a finding; among these by severity of the finding, by status from interfering to
    /// separated, and by depth (deepest first) or distance (nearest first).
    fn order(&self) -> (u8, Option<Finding>, u8, f64) {
        let class = if self.is_new_finding() { 0 } else { 1 + u8::from(self.finding.is_none()) };
        let status = match self.status() {
            Some(Status::Interfering) => 0,
            Some(Status::Undecided) | None => 1,
            Some(Status::Touching) => 2,
            Some(Status::Separated) => 3,
        };
        let nearness = if status == 0 { -self.depth() } else { self.distance().unwrap_or(f64::INFINITY) };
        (class, self.finding, status, nearness)
    }
}

/// Result of a clearance check.
#[derive(Clone, Debug)]
pub struct ClearanceReport {
    /// Pairs within `d_max`, and farther pairs that must touch. Pairs with new findings come first, then
    /// those with known findings, then the others, nearest first.
    pub pairs: Vec<ClearancePair>,
    /// Numbers of all, excluded and measured pairs.
    pub counts: PairCounts,
    /// Distance (mm) up to which pairs were measured, as
    /// [`ClearanceOptions::reach`](crate::ClearanceOptions::reach) returns it.
    pub d_max: f64,
    /// Names of rules that match no pair of parts.
    pub unmatched_rules: Vec<String>,
    /// Number of findings of the baseline that were not found again; 0 before
    /// [`ClearanceReport::apply_baseline`].
    pub fixed: usize,
}

impl ClearanceReport {
    pub(super) fn new(
        matches: &RuleMatches<'_>,
        measurements: Vec<PairMeasurement>,
        counts: PairCounts,
        d_max: f64,
    ) -> Self {
        let mut pairs: Vec<ClearancePair> = Vec::with_capacity(measurements.len());
        for m in measurements {
            let [i, j] = m.parts;
            let rule = matches.rule([i, j], m.fit);
            pairs.push(ClearancePair {
                parts: [i, j],
                finding: finding(rule, &m),
                rule: rule.map(|r| r.name.clone()),
                min: rule.and_then(|r| r.min),
                limits: rule.map_or_else(InterferenceLimits::default, |r| r.limits),
                measurement: Some(m),
                is_known: false,
            });
        }
        for (rule, parts) in matches.required() {
            for (i, partners) in parts {
                add_missing_contact(rule, i, &partners, &mut pairs);
            }
        }
        let mut report = Self { pairs, counts, d_max, unmatched_rules: matches.unmatched(), fixed: 0 };
        report.sort();
        report
    }

    /// Pairs with a finding that the baseline does not contain, most severe first.
    pub fn findings(&self) -> impl Iterator<Item = &ClearancePair> {
        self.pairs.iter().filter(|p| p.is_new_finding())
    }

    /// Number of measured pairs whose status is `status`.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.pairs.iter().filter(|p| p.status() == Some(status)).count()
    }

    /// Marks the findings that a baseline contains as known. `parts` are the parts that were measured.
    pub fn apply_baseline(&mut self, baseline: &Baseline, parts: &[AssemblyPart]) {
        let mut seen = 0;
        for pair in &mut self.pairs {
            let Some(finding) = pair.finding else { continue };
            let [a, b] = pair.parts.map(|i| parts[i].path.as_str());
            pair.is_known = baseline.contains(a, b, finding);
            seen += usize::from(pair.is_known);
        }
        self.fixed = baseline.len() - seen;
        self.sort();
    }

    /// Returns a baseline of all findings of the report, known ones included. `parts` are the parts that
    /// were measured.
    #[must_use]
    pub fn to_baseline(&self, parts: &[AssemblyPart]) -> Baseline {
        let mut baseline = Baseline::default();
        for pair in &self.pairs {
            let Some(finding) = pair.finding else { continue };
            let [a, b] = pair.parts.map(|i| parts[i].path.as_str());
            baseline.insert(a, b, finding);
        }
        baseline
    }

    fn sort(&mut self) {
        self.pairs.sort_by(|x, y| {
            let (x, y) = (x.order(), y.order());
            (x.0, x.1, x.2).cmp(&(y.0, y.1, y.2)).then(x.3.total_cmp(&y.3))
        });
    }
}

/// Finding about a measured pair by the rule that decides about it, or without a rule only about
/// interference; `None` if the pair is as required.
fn finding(rule: Option<&Rule>, m: &PairMeasurement) -> Option<Finding> {
    if m.error.is_some() {
        return Some(Finding::Failed);
    }
    let is_forbidden = rule.is_none_or(|r| r.interfering == Interfering::Forbidden);
    let touching = rule.map_or(Touching::Allowed, |r| r.touching);
    match m.status {
        Status::Interfering => {
            let is_within = rule.is_some_and(|r| is_within(&r.limits, m));
            let finding = if m.is_within_accuracy() { Finding::WithinAccuracy } else { Finding::Interferes };
            (is_forbidden || !is_within).then_some(finding)
        }
        Status::Undecided => is_forbidden.then_some(Finding::Undecided),
        Status::Touching => (touching == Touching::Forbidden).then_some(Finding::Touches),
        Status::Separated => {
            let min = rule.and_then(|r| r.min)?;
            let nearest = m.nearest.as_ref()?;
            (nearest.distance < min).then_some(Finding::TooClose)
        }
    }
}

/// Whether an interference is within the limits of a rule.
fn is_within(limits: &InterferenceLimits, m: &PairMeasurement) -> bool {
    let volume = m.overlap.map_or(0.0, |o| o.volume + o.error);
    limits.max_volume.is_none_or(|max| volume <= max) && limits.max_depth.is_none_or(|max| m.depth() <= max)
}

/// Reports that `part` lacks a required contact, if it touches or interferes with none of `partners`
/// (indices of parts). The finding `DoesNotTouch` is set at one entry of `pairs`: of the pairs of `part`
/// with a partner that have no finding yet, the one with the smallest distance. If no such pair exists,
/// a new pair of `part` and its first partner is appended to `pairs`, unless `pairs` contains it
/// already.
fn add_missing_contact(rule: &Rule, part: usize, partners: &[usize], pairs: &mut Vec<ClearancePair>) {
    let ordered = |j: usize| [part.min(j), part.max(j)];
    let candidates: Vec<usize> =
        (0..pairs.len()).filter(|&k| partners.iter().any(|&j| pairs[k].parts == ordered(j))).collect();
    // Interference is a finding of its own.
    let touches = |k: &usize| matches!(pairs[*k].status(), Some(Status::Touching | Status::Interfering));
    if candidates.iter().any(touches) {
        return;
    }
    let distance = |k: usize| pairs[k].distance().unwrap_or(f64::INFINITY);
    let without_finding = candidates.into_iter().filter(|&k| pairs[k].finding.is_none());
    if let Some(k) = without_finding.min_by(|&k, &l| distance(k).total_cmp(&distance(l))) {
        pairs[k].finding = Some(Finding::DoesNotTouch);
    } else if let Some(&j) = partners.first()
        && !pairs.iter().any(|p| p.parts == ordered(j))
    {
        pairs.push(ClearancePair {
            parts: ordered(j),
            measurement: None,
            rule: Some(rule.name.clone()),
            min: rule.min,
            limits: rule.limits,
            finding: Some(Finding::DoesNotTouch),
            is_known: false,
        });
    }
}
