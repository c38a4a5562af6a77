//! Queries at a set gap from a contact, and conditions that their results must satisfy.

use super::contact::{RandomContact, SAME_DISTANCE_REL, shifted, size_of};
use super::solids::{NamedSolid, feature_name};
use crate::Fallible;
use feeler_geom::Pose;
use feeler_runtime::{Contact, ContactKind, ContactPair, QueryOptions, Status};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum depth (mm) of the queries with penetration. Gaps of at most 1e-2 mm are examined, so smaller
/// values leave no margin; larger ones make queries slower.
const MAX_DEPTH: f64 = 0.05;
/// Maximum depth as a fraction of the sum of both minimum thicknesses. At a depth of half the thickness,
/// the far side of a wall is as near as the near side, so larger values find the wrong minima.
const MAX_DEPTH_REL: f64 = 0.45;
/// Maximum distance (mm) of the queries, and its limit as a fraction of the size.
const REACH: f64 = 1.0;
const REACH_REL: f64 = 0.1;
/// Maximum error of distances that are reported as undecided, as a fraction of the size.
const UNDECIDED_REL: f64 = 1e-6;
/// Smallest signed distance, in tolerances, down to which plain queries guarantee minima.
const PLAIN_MIN_DISTANCE: f64 = -2.0;
/// Gap, in tolerances, above which a verdict of interference is an error. Two planes interfere only if
/// they are 2 tolerances deep, and half a tolerance is left for rounding.
const INTERFERENCE_ALLOWED_BELOW: f64 = -1.5;
/// Gap, in tolerances, below which solids with a blunt contact must interfere.
const INTERFERENCE_REQUIRED_BELOW: f64 = -8.0;
/// Maximum product of curvature and depth at which a contact counts as blunt.
const MAX_BLUNT_DEPTH: f64 = 0.05;

/// Category of a disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// The queries that led to the contact contradict each other.
    Approach,
    /// A query does not report the set gap.
    Gap,
    /// The verdicts of the queries differ.
    Verdict,
    /// A verdict contradicts the set gap.
    WrongVerdict,
    /// The smallest distances of the queries differ.
    MinDistance,
    /// The numbers of strict minima of the queries differ.
    Count,
    /// Like `MinDistance`, `Count` and, except for deep queries, `Gap`, for solids that interfere.
    Interfering,
    /// A query is refused or panics.
    Error,
}

impl Category {
    /// All categories, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Approach,
        Self::Gap,
        Self::Verdict,
        Self::WrongVerdict,
        Self::MinDistance,
        Self::Count,
        Self::Interfering,
        Self::Error,
    ];

    /// Heading of the category's column in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Approach => "approach",
            Self::Gap => "gap",
            Self::Verdict => "verdict",
            Self::WrongVerdict => "wrong",
            Self::MinDistance => "least",
            Self::Count => "count",
            Self::Interfering => "inside",
            Self::Error => "error",
        }
    }

    /// Whether the category counts as a failure. Queries do not guarantee the minima of solids that
    /// interfere.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self != Self::Interfering
    }
}

/// A disagreement between queries, or between a query and the set gap.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Category of the disagreement.
    pub category: Category,
    /// Description of the values that disagree.
    pub message: String,
}

/// Query modes: name, whether with penetration, whether certified.
const MODES: [(&str, bool, bool); 3] =
    [("plain", false, false), ("deep", true, false), ("certified", false, true)];

/// Result of one query.
#[derive(Clone, Debug)]
struct QueryResult {
    /// Query mode, with an asterisk for a query with A and B swapped.
    name: String,
    is_deep: bool,
    status: Status,
    /// Largest local increase (mm) of the tolerance in this query.
    widened: f64,
    /// Minima except quasi-minima, sorted by distance.
    minima: Vec<Minimum>,
}

#[derive(Clone, Copy, Debug)]
struct Minimum {
    distance: f64,
    is_strict: bool,
    accuracy: f64,
}

impl QueryResult {
    fn has(&self, distance: f64, accuracy: f64) -> bool {
        self.minima.iter().any(|m| (m.distance - distance).abs() <= accuracy.max(m.accuracy))
    }

    /// Nearest minimum with a signed distance (mm) of at least `floor`.
    fn least(&self, floor: f64) -> Option<&Minimum> {
        self.minima.iter().find(|m| m.distance >= floor)
    }

    fn strict(&self, low: f64, high: f64) -> impl Iterator<Item = &Minimum> {
        self.minima.iter().filter(move |m| m.is_strict && m.distance > low && m.distance < high)
    }
}

/// Lists the distinct values, each with the names of the queries that have it.
fn grouped<'a>(values: impl Iterator<Item = (&'a QueryResult, String)>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (result, value) in values {
        match groups.iter_mut().find(|g| g.0 == value) {
            Some(group) => group.1.push(&result.name),
            None => groups.push((value, vec![&result.name])),
        }
    }
    let list = groups.iter().map(|(value, names)| format!("{value} [{}]", names.join(" ")));
    list.collect::<Vec<_>>().join(", ")
}

/// Formats a distance (mm) for messages, rounded to `margin`.
fn shown(distance: Option<f64>, margin: f64) -> String {
    match distance {
        None => "no minimum".to_owned(),
        Some(d) if d.abs() <= 0.01 * margin => "0".to_owned(),
        Some(d) => format!("{d:.5e}"),
    }
}

/// A pose of a pair at a set gap, the queries at it and their disagreements.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Motion of B relative to its pose in the file; A has its pose of the file.
    pub pose_b: Pose,
    /// Set gap (mm).
    pub gap: f64,
    /// Names of both features at the contact.
    pub kinds: [String; 2],
    /// Disagreements at this pose.
    pub findings: Vec<Finding>,
    /// Whether some query is undecided.
    pub is_undecided: bool,
    /// Whether a contact that is not blunt is deeper than 8 tolerances without an interference.
    pub is_sharp: bool,
    tolerance: f64,
    d_max: f64,
    depth: f64,
    results: Vec<QueryResult>,
}

/// Maximum depth (mm) of queries of two solids.
#[must_use]
pub fn depth_of(a: &NamedSolid, b: &NamedSolid) -> f64 {
    (MAX_DEPTH_REL * (a.body.min_thickness() + b.body.min_thickness())).min(MAX_DEPTH)
}

impl Trial {
    /// Moves B from a contact along its normal by `gap` and compares queries.
    #[must_use]
    pub fn new(a: &NamedSolid, b: &NamedSolid, contact: &RandomContact, gap: f64) -> Self {
        let pose_b = shifted(&contact.pose_b, contact.normal * gap);
        let kinds = [feature_name(&a.body, &contact.feature_a), feature_name(&b.body, &contact.feature_b)];
        let size = size_of(a, b);
        let mut trial = Self {
            pose_b,
            gap,
            kinds,
            findings: Vec::new(),
            is_undecided: false,
            is_sharp: false,
            tolerance: 0.0,
            d_max: REACH.min(REACH_REL * size),
            depth: depth_of(a, b),
            results: Vec::new(),
        };
        if let Some(contradiction) = &contact.contradiction {
            trial.add(Category::Approach, contradiction.clone());
        }
        for is_swapped in [false, true] {
            for mode in MODES {
                match trial.query((a, b), mode, is_swapped) {
                    Ok(result) => trial.results.push(result),
                    Err(message) => trial.add(Category::Error, message),
                }
            }
        }
        trial.is_undecided = trial.results.iter().any(|x| x.status == Status::Undecided);
        trial.compare(size, contact);
        trial
    }

    fn add(&mut self, category: Category, message: String) {
        self.findings.push(Finding { category, message });
    }

    fn query(
        &mut self,
        (a, b): (&NamedSolid, &NamedSolid),
        (mode, is_deep, certified): (&str, bool, bool),
        is_swapped: bool,
    ) -> Fallible<QueryResult> {
        let name = format!("{mode}{}", if is_swapped { "*" } else { "" });
        let penetration = if is_deep { self.depth } else { 0.0 };
        let options = QueryOptions { penetration, certified, ..QueryOptions::within(self.d_max) };
        let (pose_a, pose_b) = (a.own, self.pose_b * b.own);
        let (first, second) =
            if is_swapped { ((b, pose_b), (a, pose_a)) } else { ((a, pose_a), (b, pose_b)) };
        let run = || {
            let mut pair = ContactPair::new(first.0.body.clone(), second.0.body.clone());
            pair.query(&first.1, &second.1, &options).map(|_| ())?;
            Ok::<_, feeler_runtime::QueryError>(pair)
        };
        let pair = catch_unwind(AssertUnwindSafe(run))
            .map_err(|_| format!("{name}: panic"))?
            .map_err(|e| format!("{name}: {e}"))?;
        let tolerances = pair.tolerances();
        self.tolerance = tolerances.tol;
        let verdict = pair.verdict().ok_or("no verdict")?;
        let minimum = |l: &Contact| Minimum {
            distance: l.distance,
            is_strict: l.kind == ContactKind::Strict,
            accuracy: if l.undecided { UNDECIDED_REL } else { SAME_DISTANCE_REL } * tolerances.size,
        };
        Ok(QueryResult {
            name,
            is_deep,
            status: verdict.status,
            widened: verdict.widened.iter().map(|w| w.by).fold(0.0, f64::max),
            minima: pair.contacts().iter().filter(|l| l.kind != ContactKind::Quasi).map(minimum).collect(),
        })
    }

    fn compare(&mut self, size: f64, contact: &RandomContact) {
        let margin = SAME_DISTANCE_REL * size;
        let findings = [
            self.compare_verdicts(),
            self.compare_verdicts_with_gap(margin, contact),
            self.compare_gap(margin, contact),
            self.compare_min_distances(margin),
            self.compare_counts(margin),
        ];
        let interferes = self.results.iter().any(|x| x.status == Status::Interfering);
        for (category, message) in findings.into_iter().flatten() {
            let is_guaranteed = !interferes || !matches!(category, Category::MinDistance | Category::Count);
            self.add(if is_guaranteed { category } else { Category::Interfering }, message);
        }
    }

    fn decided(&self) -> impl Iterator<Item = &QueryResult> {
        self.results.iter().filter(|x| x.status != Status::Undecided)
    }

    fn compare_verdicts(&self) -> Option<(Category, String)> {
        let first = self.decided().next()?.status;
        let message = || grouped(self.results.iter().map(|x| (x, format!("{:?}", x.status))));
        self.decided().any(|x| x.status != first).then(|| (Category::Verdict, message()))
    }

    fn compare_verdicts_with_gap(
        &mut self,
        margin: f64,
        contact: &RandomContact,
    ) -> Option<(Category, String)> {
        let tolerance = self.tolerance;
        let is_blunt = contact.curvature * self.gap.abs() <= MAX_BLUNT_DEPTH;
        let is_deep = self.gap < INTERFERENCE_REQUIRED_BELOW * tolerance;
        // Other contacts can be nearer than the set gap. An edge or a vertex whose direction is at the limit
        // of its polar can pass by the other solid instead of entering it.
        let least = self.results.iter().filter_map(|x| x.minima.first()).map(|m| m.distance);
        let found = least.fold(f64::INFINITY, f64::min);
        let passes_by = is_deep && !is_blunt;
        let least = found.min(self.gap);
        let is_wrong = |x: &QueryResult| match x.status {
            Status::Separated => (if passes_by { found } else { least }) < tolerance - margin,
            Status::Touching => least > tolerance + x.widened + margin || (is_deep && is_blunt),
            Status::Interfering => least > INTERFERENCE_ALLOWED_BELOW * tolerance + margin,
            Status::Undecided => false,
        };
        self.is_sharp = is_deep && !is_blunt && self.decided().any(|x| x.status != Status::Interfering);
        let wrong: Vec<&QueryResult> = self.decided().filter(|x| is_wrong(x)).collect();
        let message = || {
            let list = grouped(wrong.iter().map(|x| (*x, format!("{:?}", x.status))));
            format!("{list} at {least:.5e}, tolerance {tolerance:.2e}")
        };
        (!wrong.is_empty()).then(|| (Category::WrongVerdict, message()))
    }

    /// Whether the two features determine the normal, so that the contact stays on them at a negative
    /// gap. A contact of a vertex with an edge or a vertex moves to a neighbouring face when it is
    /// pressed.
    fn has_own_normal(&self) -> bool {
        let [first, second] = self.kinds.each_ref().map(|k| k.split(' ').next().unwrap_or_default());
        first == "face" || second == "face" || (first == "edge" && second == "edge")
    }

    /// Whether the features of the contact are a minimum at the set gap.
    fn stays_minimum(&self, contact: &RandomContact) -> bool {
        self.gap >= 0.0 || (self.gap >= -contact.stable_depth && self.has_own_normal())
    }

    /// Whether a query guarantees to report the set gap.
    fn guarantees_gap(&self, result: &QueryResult, margin: f64) -> bool {
        let floor = if result.is_deep { -self.depth } else { PLAIN_MIN_DISTANCE * self.tolerance };
        let is_free = result.is_deep || result.status != Status::Interfering;
        self.gap > floor + margin && self.gap < self.d_max - margin && is_free
    }

    /// Reported minimum whose distance is nearest to the set gap.
    fn nearest_to_gap(&self, result: &QueryResult) -> Option<Minimum> {
        let off = |m: &Minimum| (m.distance - self.gap).abs();
        result.minima.iter().min_by(|p, q| off(p).total_cmp(&off(q))).copied()
    }

    /// For each query that guarantees to report the set gap: its name, the distance (mm) of the minimum
    /// nearest to the gap, and whether that minimum is at the gap. Empty for pairs of features that are
    /// not a minimum at the gap.
    #[must_use]
    pub fn distances_at_gap(&self, contact: &RandomContact, size: f64) -> Vec<(&str, Option<f64>, bool)> {
        if !self.stays_minimum(contact) {
            return Vec::new();
        }
        let margin = SAME_DISTANCE_REL * size;
        let guaranteed = self.results.iter().filter(|x| self.guarantees_gap(x, margin));
        let distance = |x: &QueryResult| self.nearest_to_gap(x).map(|m| m.distance);
        guaranteed.map(|x| (x.name.as_str(), distance(x), x.has(self.gap, margin))).collect()
    }

    fn compare_gap(&self, margin: f64, contact: &RandomContact) -> Option<(Category, String)> {
        let gap = self.gap;
        if !self.stays_minimum(contact) {
            return None;
        }
        let lost: Vec<&QueryResult> =
            self.results.iter().filter(|x| self.guarantees_gap(x, margin) && !x.has(gap, margin)).collect();
        let nearest = |x: &QueryResult| {
            format!("{:?} {}", x.status, shown(self.nearest_to_gap(x).map(|m| m.distance), margin))
        };
        let message = || grouped(lost.iter().map(|x| (*x, nearest(x))));
        (!lost.is_empty()).then(|| (Category::Gap, message()))
    }

    fn compare_min_distances(&self, margin: f64) -> Option<(Category, String)> {
        let floor = PLAIN_MIN_DISTANCE * self.tolerance + margin;
        let least = |x: &QueryResult| x.least(floor).filter(|m| m.distance < self.d_max - margin).copied();
        let differs = self.results.iter().filter_map(least).any(|m| {
            let has = |x: &QueryResult| x.has(m.distance, margin.max(m.accuracy));
            !self.results.iter().all(has)
        });
        let value = |x: &QueryResult| shown(least(x).map(|m| m.distance), margin);
        let message = || grouped(self.results.iter().map(|x| (x, value(x))));
        differs.then(|| (Category::MinDistance, message()))
    }

    fn compare_counts(&self, margin: f64) -> Option<(Category, String)> {
        let (low, high) = (PLAIN_MIN_DISTANCE * self.tolerance, self.d_max);
        // A minimum at an end of the range may be reported or not.
        let inner = |x: &QueryResult| x.strict(low + margin, high - margin).count();
        let outer = |x: &QueryResult| x.strict(low - margin, high + margin).count();
        let max = self.results.iter().map(inner).max()?;
        let min = self.results.iter().map(outer).min()?;
        let value = |x: &QueryResult| {
            let is_in = |m: &Minimum, y: &QueryResult| {
                let same = |n: &Minimum| (n.distance - m.distance).abs() <= m.accuracy.max(n.accuracy);
                y.strict(low - margin, high + margin).any(same)
            };
            let alone = x.strict(low + margin, high - margin);
            let alone = alone.filter(|m| !self.results.iter().all(|y| is_in(m, y)));
            let list: Vec<String> = alone.map(|m| shown(Some(m.distance), margin)).collect();
            format!("{} ({})", inner(x), list.join(" "))
        };
        let message = || grouped(self.results.iter().map(|x| (x, value(x))));
        (max > min).then(|| (Category::Count, message()))
    }

    /// Whether any disagreement of the trial counts as a failure.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.findings.iter().any(|f| f.category.is_failure())
    }

    /// All values of the trial as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let result = |x: &QueryResult| {
            let strict = x.strict(PLAIN_MIN_DISTANCE * self.tolerance, self.d_max).count();
            let least = x.minima.first().map(|m| m.distance);
            (x.name.clone(), json!({"status": format!("{:?}", x.status), "least": least, "strict": strict}))
        };
        let finding = |f: &Finding| json!({"category": f.category.name(), "message": f.message});
        json!({
            "pose_b": feeler_geom::pose::to_values(&self.pose_b),
            "gap": self.gap,
            "contact": self.kinds,
            "tolerance": self.tolerance,
            "d_max": self.d_max,
            "depth": self.depth,
            "queries": self.results.iter().map(result).collect::<serde_json::Map<_, _>>(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}
