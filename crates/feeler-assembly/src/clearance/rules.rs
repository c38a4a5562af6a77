//! Rules: required clearances and contacts of pairs of parts, and pairs that are not checked.

use super::fit::{Fit, FitKind};
use crate::assembly::AssemblyPart;
use crate::error::AssemblyError;
use crate::tolerance::ToleranceChoice;
use globset::{Glob, GlobMatcher};
use serde::Deserialize;

/// Content of a rule file; the format is described in docs/INTERFACE.md, "clearance".
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    d_max: Option<f64>,
    tolerance: Option<ToleranceEntry>,
    #[serde(default)]
    ignore: Vec<IgnoreEntry>,
    #[serde(default)]
    rule: Vec<RuleEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ToleranceEntry {
    Length(f64),
    Word(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum IgnoreEntry {
    Part(String),
    Pair([String; 2]),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    name: Option<String>,
    a: Option<String>,
    #[serde(default = "any")]
    b: String,
    fit: Option<FitKind>,
    min: Option<f64>,
    touching: Option<Touching>,
    interfering: Option<Interfering>,
    max_volume: Option<f64>,
    max_depth: Option<f64>,
}

/// Pattern that matches the name of every part.
const ANY: &str = "*";

fn any() -> String {
    ANY.to_owned()
}

/// Whether two parts may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Touching {
    /// The parts may touch.
    #[default]
    Allowed,
    /// Each part that matches `a` must touch at least one part that matches `b`.
    Required,
    /// The parts must not touch.
    Forbidden,
}

/// Whether two parts may interfere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interfering {
    /// The parts may interfere, as threads do that are drawn as cylinders.
    Allowed,
    /// The parts must not interfere.
    #[default]
    Forbidden,
}

/// Requirement for the pairs of parts that match two patterns, in either order. Patterns (`*`, `?`, `[ab]`,
/// `{a,b}`) match the name or the whole path of a part; `*` also matches `/`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Name of the rule in reports and messages.
    pub name: String,
    /// Pattern that matches one part of a pair.
    pub a: String,
    /// Pattern that matches the other part of the pair.
    pub b: String,
    /// Kind of the fit of the pairs to which the rule applies; `None` if it applies to all pairs.
    pub fit: Option<FitKind>,
    /// Smallest allowed distance (mm) between parts that are separated; `None` if any distance is
    /// allowed. `touching` states whether touching parts are allowed.
    pub min: Option<f64>,
    /// Whether the parts may touch.
    pub touching: Touching,
    /// Whether the parts may interfere. The limits restrict what is allowed.
    pub interfering: Interfering,
    /// Limits of an allowed interference; without limits, any interference is allowed or none.
    pub limits: InterferenceLimits,
}

/// Largest interference that a rule allows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InterferenceLimits {
    /// Largest volume (mm³) of the common part; `None` if any volume is allowed. The estimated error of the
    /// volume counts as a part of it.
    pub max_volume: Option<f64>,
    /// Largest depth (mm), as [`PairMeasurement::depth`](crate::PairMeasurement::depth) returns it; `None` if
    /// any depth is allowed.
    pub max_depth: Option<f64>,
}

impl InterferenceLimits {
    /// Whether there is a limit.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.max_volume.is_some() || self.max_depth.is_some()
    }
}

/// Compiled patterns of the two parts of a pair, which match in either order.
#[derive(Clone, Debug)]
struct PairPattern([GlobMatcher; 2]);

/// Rules for pairs of parts. The first rule that matches a pair decides about it. For pairs without a rule,
/// only interference is a finding, as it is for all pairs if there are no rules (`Rules::default()`).
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Largest distance (mm) that is measured; `None`: as [`ClearanceOptions::d_max`] states.
    ///
    /// [`ClearanceOptions::d_max`]: crate::ClearanceOptions::d_max
    pub d_max: Option<f64>,
    /// Tolerance of the queries; `None`: as [`ClearanceOptions::tolerance`] states.
    ///
    /// [`ClearanceOptions::tolerance`]: crate::ClearanceOptions::tolerance
    pub tolerance: Option<ToleranceChoice>,
    ignore: Vec<PairPattern>,
    only: Vec<PairPattern>,
    rules: Vec<(Rule, PairPattern)>,
}

/// Results of matching the patterns of [`Rules`] with the parts of an assembly, computed once for all
/// pairs.
#[derive(Debug)]
pub(crate) struct RuleMatches<'a> {
    rules: Vec<(&'a Rule, [Vec<bool>; 2])>,
    ignore: Vec<[Vec<bool>; 2]>,
    only: Vec<[Vec<bool>; 2]>,
}

impl Rules {
    /// Parses a rule file (TOML; docs/INTERFACE.md, "clearance").
    ///
    /// # Errors
    /// The text is not TOML, or has unknown keys, invalid patterns or lengths that are not above 0.
    pub fn from_toml(text: &str) -> Result<Self, AssemblyError> {
        let file = parse(text)?;
        check_length("d_max", file.d_max)?;
        let tolerance = file.tolerance.map(tolerance).transpose()?;
        let mut rules = Self { d_max: file.d_max, tolerance, ..Self::default() };
        for entry in &file.ignore {
            match entry {
                IgnoreEntry::Part(a) => rules.ignore(a, ANY)?,
                IgnoreEntry::Pair([a, b]) => rules.ignore(a, b)?,
            }
        }
        for (i, entry) in file.rule.into_iter().enumerate() {
            rules.push(rule(i, entry)?)?;
        }
        Ok(rules)
    }

    /// Appends a rule, which decides about the pairs that no earlier rule matches.
    ///
    /// # Errors
    /// A pattern is not valid, or the minimum or a limit is not above 0.
    pub fn push(&mut self, rule: Rule) -> Result<(), AssemblyError> {
        let InterferenceLimits { max_volume, max_depth } = rule.limits;
        for (key, value) in [("min", rule.min), ("max_volume", max_volume), ("max_depth", max_depth)] {
            check_length(&format!("{}: {key}", rule.name), value)?;
        }
        let pattern = PairPattern::new(&rule.a, &rule.b).map_err(|e| match e {
            AssemblyError::Pattern { pattern, reason } => {
                AssemblyError::Rules(format!("{}: '{pattern}' is not a valid pattern: {reason}", rule.name))
            }
            other => other,
        })?;
        self.rules.push((rule, pattern));
        Ok(())
    }

    /// Excludes the pairs of parts that match two patterns; `*` matches all parts.
    ///
    /// # Errors
    /// A pattern is not valid.
    pub fn ignore(&mut self, a: &str, b: &str) -> Result<(), AssemblyError> {
        self.ignore.push(PairPattern::new(a, b)?);
        Ok(())
    }

    /// Restricts the check to the pairs of parts that match two patterns. Further calls add further
    /// pairs to the check.
    ///
    /// # Errors
    /// A pattern is not valid.
    pub fn only(&mut self, a: &str, b: &str) -> Result<(), AssemblyError> {
        self.only.push(PairPattern::new(a, b)?);
        Ok(())
    }

    /// The rules, in the order in which they decide.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(rule, _)| rule)
    }

    /// Largest of the minimum distances (mm) that the rules require; `None` if no rule requires one.
    #[must_use]
    pub fn largest_min(&self) -> Option<f64> {
        self.iter().filter_map(|r| r.min).reduce(f64::max)
    }

    pub(crate) fn matches(&self, parts: &[AssemblyPart]) -> RuleMatches<'_> {
        let all = |patterns: &[PairPattern]| patterns.iter().map(|p| p.matches(parts)).collect();
        RuleMatches {
            rules: self.rules.iter().map(|(rule, pattern)| (rule, pattern.matches(parts))).collect(),
            ignore: all(&self.ignore),
            only: all(&self.only),
        }
    }
}

fn parse(text: &str) -> Result<RuleFile, AssemblyError> {
    toml::from_str(text).map_err(|e| AssemblyError::Rules(e.to_string()))
}

/// Value of `tolerance` in a rule file that takes the uncertainties that the files state.
const STATED: &str = "file";

fn tolerance(entry: ToleranceEntry) -> Result<ToleranceChoice, AssemblyError> {
    match entry {
        ToleranceEntry::Length(length) => {
            check_length("tolerance", Some(length))?;
            Ok(ToleranceChoice::Length(length))
        }
        ToleranceEntry::Word(word) if word == STATED => Ok(ToleranceChoice::Stated),
        ToleranceEntry::Word(word) => {
            Err(AssemblyError::Rules(format!("tolerance is '{word}'; give a length in mm, or \"{STATED}\"")))
        }
    }
}

fn check_length(subject: &str, value: Option<f64>) -> Result<(), AssemblyError> {
    match value {
        Some(value) if !(value.is_finite() && value > 0.0) => {
            Err(AssemblyError::Length { subject: subject.to_owned(), value })
        }
        _ => Ok(()),
    }
}

fn rule(i: usize, entry: RuleEntry) -> Result<Rule, AssemblyError> {
    let RuleEntry { name, a, b, fit, min, touching, interfering, max_volume, max_depth } = entry;
    // A fit selects pairs, too.
    let Some(a) = a.or_else(|| fit.map(|_| any())) else {
        return Err(AssemblyError::Rules(format!("rule {}: `a` is missing; give a pattern of names", i + 1)));
    };
    let name = name.unwrap_or_else(|| format!("rule {} ({a} / {b})", i + 1));
    if fit.is_some() && touching == Some(Touching::Required) {
        return Err(AssemblyError::Rules(format!(
            "{name}: `fit` cannot be combined with touching = \"required\"; remove one of them"
        )));
    }
    // A minimum distance forbids contact, unless the rule states otherwise.
    let touching = touching.unwrap_or(if min.is_some() { Touching::Forbidden } else { Touching::Allowed });
    let limits = InterferenceLimits { max_volume, max_depth };
    if limits.is_some() && interfering == Some(Interfering::Forbidden) {
        return Err(AssemblyError::Rules(format!(
            "{name}: max_volume and max_depth allow an interference within these limits, but \
             interfering = \"forbidden\" allows none; remove one of them"
        )));
    }
    // Limits allow the interferences within them.
    let allowed = if limits.is_some() { Interfering::Allowed } else { Interfering::Forbidden };
    let interfering = interfering.unwrap_or(allowed);
    Ok(Rule { name, a, b, fit, min, touching, interfering, limits })
}

impl PairPattern {
    fn new(a: &str, b: &str) -> Result<Self, AssemblyError> {
        let glob = |pattern: &str| match Glob::new(pattern) {
            Ok(glob) => Ok(glob.compile_matcher()),
            Err(e) => {
                Err(AssemblyError::Pattern { pattern: pattern.to_owned(), reason: e.kind().to_string() })
            }
        };
        Ok(Self([glob(a)?, glob(b)?]))
    }

    /// For each of the two patterns, whether it matches the name or the path of each part.
    fn matches(&self, parts: &[AssemblyPart]) -> [Vec<bool>; 2] {
        let all = |glob: &GlobMatcher| {
            parts.iter().map(|p| glob.is_match(&p.name) || glob.is_match(&p.path)).collect()
        };
        [all(&self.0[0]), all(&self.0[1])]
    }
}

/// Whether two patterns match the parts with the indices `i` and `j`, in either order.
fn is_match([a, b]: &[Vec<bool>; 2], i: usize, j: usize) -> bool {
    a[i] && b[j] || a[j] && b[i]
}

/// A part, and the parts of which it must touch at least one, by their indices.
pub(crate) type RequiredContact = (usize, Vec<usize>);

impl<'a> RuleMatches<'a> {
    /// Whether the pair of the parts with the indices `i` and `j` is excluded from the check.
    pub(crate) fn is_ignored(&self, i: usize, j: usize) -> bool {
        let any = |pairs: &[[Vec<bool>; 2]]| pairs.iter().any(|p| is_match(p, i, j));
        any(&self.ignore) || !self.only.is_empty() && !any(&self.only)
    }

    /// The rule that decides about a pair of parts, given by their indices, with this fit; `None` if no rule
    /// matches.
    pub(crate) fn rule(&self, [i, j]: [usize; 2], fit: Option<Fit>) -> Option<&'a Rule> {
        let kind = fit.map(|fit| fit.kind);
        let applies = |rule: &Rule| rule.fit.is_none() || rule.fit == kind;
        self.rules.iter().find(|(r, p)| applies(r) && is_match(p, i, j)).map(|(r, _)| *r)
    }

    /// Rules that require contact, which never have a fit, with the parts that match `a` and, for each, its
    /// possible partners: the parts that match `b` in pairs that the rule decides about. The list of partners
    /// may be empty.
    pub(crate) fn required(&self) -> Vec<(&'a Rule, Vec<RequiredContact>)> {
        let required = self.rules.iter().filter(|(r, _)| r.touching == Touching::Required);
        required
            .map(|(rule, [a, b])| {
                let n = a.len();
                let decides = |i: usize, j: usize| {
                    !self.is_ignored(i, j) && self.rule([i, j], None).is_some_and(|r| std::ptr::eq(r, *rule))
                };
                let partners =
                    |i: usize| (0..n).filter(|&j| b[j] && j != i && decides(i, j)).collect::<Vec<usize>>();
                (*rule, (0..n).filter(|&i| a[i]).map(|i| (i, partners(i))).collect())
            })
            .collect()
    }

    /// Names of rules that match no pair of parts, probably because a pattern is misspelt.
    pub(crate) fn unmatched(&self) -> Vec<String> {
        let is_unmatched = |p: &[Vec<bool>; 2]| {
            let n = p[0].len();
            !(0..n).any(|i| (i + 1..n).any(|j| is_match(p, i, j)))
        };
        self.rules.iter().filter(|(_, p)| is_unmatched(p)).map(|(r, _)| r.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_defaults() {
        let text = "d_max = 2\nignore = ['washer*', ['a', 'b']]\n[[rule]]\na = 'bolt*'\nmin = 0.2\n\
                    [[rule]]\nname = 'threads'\na = 'bolt*'\nb = 'nut*'\ninterfering = 'allowed'";
        let rules = Rules::from_toml(text).expect("valid rules");
        assert_eq!((rules.d_max, rules.ignore.len(), rules.largest_min()), (Some(2.0), 2, Some(0.2)));
        let rules: Vec<&Rule> = rules.iter().collect();
        assert_eq!(rules[0].name, "rule 1 (bolt* / *)");
        assert_eq!((rules[0].touching, rules[0].interfering), (Touching::Forbidden, Interfering::Forbidden));
        assert_eq!((rules[1].touching, rules[1].interfering), (Touching::Allowed, Interfering::Allowed));
    }

    #[test]
    fn limits_allow_interference() {
        let text =
            "[[rule]]\na = 'pin'\nmax_volume = 2.5\nmax_depth = 0.01\n[[rule]]\na = 'nut'\nmax_depth = 1";
        let rules = Rules::from_toml(text).expect("valid rules");
        let rules: Vec<&Rule> = rules.iter().collect();
        assert_eq!(rules[0].limits, InterferenceLimits { max_volume: Some(2.5), max_depth: Some(0.01) });
        assert_eq!(rules[1].limits, InterferenceLimits { max_volume: None, max_depth: Some(1.0) });
        assert!(rules.iter().all(|r| r.interfering == Interfering::Allowed));
    }

    #[test]
    fn errors_name_the_mistake() {
        for (text, word) in [
            ("[[rule]]\na = 'x'\nmim = 1", "mim"),
            ("[[rule]]\na = 'x'\ntouching = 'maybe'", "touching"),
            ("rule = 3", "rule"),
            ("[[rule]]\nb = 'x'", "rule 1: `a` is missing"),
            ("[[rule]]\na = '[x'", "rule 1 ([x / *): '[x' is not a valid pattern"),
            ("[[rule]]\na = 'x'\nmin = -1", "min is -1"),
            ("d_max = 0", "d_max is 0"),
            ("[[rule]]\na = 'x'\nmax_volume = 0", "max_volume is 0"),
            ("[[rule]]\na = 'x'\nmax_depth = 1\ninterfering = 'forbidden'", "remove one of them"),
            ("ignore = ['[x']", "'[x' is not a valid pattern"),
        ] {
            let e = Rules::from_toml(text).expect_err(text).to_string();
            assert!(e.contains(word), "{text}: {e}");
        }
    }
}
