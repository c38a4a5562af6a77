//! What is wrong with pairs of parts, by the rules.

use super::baseline::Baseline;
use super::finding::Finding;
use super::measure::Measured;
use super::parts::Part;
use super::rules::{Interfering, Matches, Rule, Touching};
use feeler_runtime::Status;

/// A pair with what was found.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) parts: [usize; 2],
    /// None: the parts are farther from one another than was asked for.
    pub(super) measured: Option<Measured>,
    /// Name of the rule that decides about it.
    pub(super) rule: Option<String>,
    /// What that rule asks for (mm).
    pub(super) min: Option<f64>,
    pub(super) finding: Option<Finding>,
    /// The baseline has it already.
    pub(super) is_known: bool,
}

impl Row {
    pub(super) fn is_new_finding(&self) -> bool {
        self.finding.is_some() && !self.is_known
    }

    pub(super) fn status(&self) -> Option<Status> {
        self.measured.as_ref().filter(|m| m.failed.is_none()).map(|m| m.status)
    }

    pub(super) fn distance(&self) -> Option<f64> {
        self.measured.as_ref()?.nearest.as_ref().map(|n| n.distance)
    }

    pub(super) fn depth(&self) -> f64 {
        self.measured.as_ref().map_or(0.0, Measured::depth)
    }

    /// New findings come first, then known ones, then by how parts stand and how near or deep they are.
    fn key(&self) -> (u8, Option<Finding>, u8, f64) {
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

/// What is wrong with a measured pair.
fn finding(rule: Option<&Rule>, m: &Measured) -> Option<Finding> {
    if m.failed.is_some() {
        return Some(Finding::Failed);
    }
    let interferes = rule.is_none_or(|r| r.interfering == Interfering::Forbidden);
    let touching = rule.map_or(Touching::Allowed, |r| r.touching);
    match m.status {
        Status::Interfering => interferes.then_some(Finding::Interferes),
        Status::Undecided => interferes.then_some(Finding::Undecided),
        Status::Touching => (touching == Touching::Forbidden).then_some(Finding::Touches),
        Status::Separated => {
            let min = rule.and_then(|r| r.min)?;
            let nearest = m.nearest.as_ref()?;
            (nearest.distance < min).then_some(Finding::TooClose)
        }
    }
}

/// A finding where a part touches none of those of which it should touch one: with the nearest of them.
fn alone(rule: &Rule, part: usize, partners: &[usize], rows: &mut Vec<Row>) {
    let ordered = |j: usize| [part.min(j), part.max(j)];
    let places: Vec<usize> =
        (0..rows.len()).filter(|&k| partners.iter().any(|&j| rows[k].parts == ordered(j))).collect();
    // What interferes is told as that.
    let touches = |k: &usize| matches!(rows[*k].status(), Some(Status::Touching | Status::Interfering));
    if places.iter().any(touches) {
        return;
    }
    let far = |k: usize| rows[k].distance().unwrap_or(f64::INFINITY);
    let nearest = places.into_iter().filter(|&k| rows[k].finding.is_none());
    if let Some(k) = nearest.min_by(|&k, &l| far(k).total_cmp(&far(l))) {
        rows[k].finding = Some(Finding::DoesNotTouch);
    } else if let Some(&j) = partners.first()
        && !rows.iter().any(|r| r.parts == ordered(j))
    {
        rows.push(Row {
            parts: ordered(j),
            measured: None,
            rule: Some(rule.name.clone()),
            min: rule.min,
            finding: Some(Finding::DoesNotTouch),
            is_known: false,
        });
    }
}

/// All measured pairs, and far ones that should touch, the worst first; and how many findings of the baseline
/// are no more.
pub(super) fn rows(
    parts: &[Part],
    matches: &Matches<'_>,
    measured: Vec<Measured>,
    known: &Baseline,
) -> (Vec<Row>, usize) {
    let mut rows: Vec<Row> = Vec::with_capacity(measured.len());
    for m in measured {
        let [i, j] = m.parts;
        let rule = matches.rule(i, j);
        rows.push(Row {
            parts: [i, j],
            finding: finding(rule, &m),
            rule: rule.map(|r| r.name.clone()),
            min: rule.and_then(|r| r.min),
            measured: Some(m),
            is_known: false,
        });
    }
    for (rule, parts) in matches.required() {
        for (i, partners) in parts {
            alone(rule, i, &partners, &mut rows);
        }
    }
    let mut seen = 0;
    for row in &mut rows {
        let Some(finding) = row.finding else { continue };
        let [a, b] = row.parts.map(|i| parts[i].path.as_str());
        row.is_known = known.has(a, b, finding);
        seen += usize::from(row.is_known);
    }
    let by_key = |x: &Row, y: &Row| {
        let (x, y) = (x.key(), y.key());
        (x.0, x.1, x.2).cmp(&(y.0, y.1, y.2)).then(x.3.total_cmp(&y.3))
    };
    rows.sort_by(by_key);
    (rows, known.len() - seen)
}
