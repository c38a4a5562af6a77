//! What is asked of pairs of parts: rules from a file, and pairs that are left alone.

use super::parts::Part;
use anyhow::{Context as _, bail, ensure};
use globset::{Glob, GlobMatcher};
use serde::Deserialize;
use std::path::Path;

/// The file as it is written: docs/INTERFACE.md, "clearance".
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    d_max: Option<f64>,
    tolerance: Option<f64>,
    #[serde(default)]
    ignore: Vec<WrittenPair>,
    #[serde(default)]
    rule: Vec<WrittenRule>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum WrittenPair {
    One(String),
    Two([String; 2]),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    name: Option<String>,
    a: String,
    #[serde(default = "any")]
    b: String,
    min: Option<f64>,
    touching: Option<Touching>,
    #[serde(default)]
    interfering: Interfering,
}

fn any() -> String {
    "*".to_owned()
}

/// Whether parts may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Touching {
    Allowed,
    Required,
    Forbidden,
}

/// Whether parts may interfere, as threads do that are drawn as cylinders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Interfering {
    Allowed,
    #[default]
    Forbidden,
}

/// What is asked of a pair.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Smallest distance (mm) of parts that do not touch.
    pub(crate) min: Option<f64>,
    pub(crate) touching: Touching,
    pub(crate) interfering: Interfering,
    pair: PairOf,
}

/// Two patterns for two parts, in either order.
#[derive(Clone, Debug)]
struct PairOf([GlobMatcher; 2]);

/// All rules. The first one that names a pair decides about it; of pairs that none names, only interference
/// is a finding.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) d_max: Option<f64>,
    pub(crate) tolerance: Option<f64>,
    ignore: Vec<PairOf>,
    only: Vec<PairOf>,
    rules: Vec<Rule>,
}

/// Which parts each pattern fits: found out once, asked for every pair.
#[derive(Debug)]
pub(crate) struct Matches<'a> {
    rules: Vec<(&'a Rule, [Vec<bool>; 2])>,
    ignore: Vec<[Vec<bool>; 2]>,
    only: Vec<[Vec<bool>; 2]>,
}

impl Rules {
    /// Rules of a file, with the options `--ignore` and `--only`: `A` or `A=B`.
    pub(crate) fn new(file: Option<&Path>, ignore: &[String], only: &[String]) -> anyhow::Result<Self> {
        let written = match file {
            Some(file) => {
                let text = std::fs::read_to_string(file);
                let text = text.with_context(|| format!("{}: the rules cannot be read", file.display()))?;
                parse(&text).with_context(|| file.display().to_string())?
            }
            None => Written::default(),
        };
        for (what, x) in [("d_max", written.d_max), ("tolerance", written.tolerance)] {
            ensure!(x.is_none_or(|x| x.is_finite() && x > 0.0), "{what} must be a length above 0 (mm)");
        }
        let option = |name: &str, text: &String| -> anyhow::Result<PairOf> {
            let (a, b) = text.split_once('=').unwrap_or((text, "*"));
            PairOf::new(a, b).with_context(|| format!("{name} '{text}'"))
        };
        let mut left_alone: Vec<PairOf> =
            ignore.iter().map(|t| option("--ignore", t)).collect::<anyhow::Result<_>>()?;
        for pair in &written.ignore {
            left_alone.push(match pair {
                WrittenPair::One(a) => PairOf::new(a, "*")?,
                WrittenPair::Two([a, b]) => PairOf::new(a, b)?,
            });
        }
        let rules = written.rule.into_iter().enumerate().map(|(i, r)| rule(i, r));
        Ok(Self {
            d_max: written.d_max,
            tolerance: written.tolerance,
            ignore: left_alone,
            only: only.iter().map(|t| option("--only", t)).collect::<anyhow::Result<_>>()?,
            rules: rules.collect::<anyhow::Result<_>>()?,
        })
    }

    /// Largest distance that some rule asks for.
    pub(crate) fn largest_min(&self) -> Option<f64> {
        self.rules.iter().filter_map(|r| r.min).reduce(f64::max)
    }

    pub(crate) fn matches(&self, parts: &[Part]) -> Matches<'_> {
        let of = |pairs: &[PairOf]| pairs.iter().map(|p| p.fits(parts)).collect();
        Matches {
            rules: self.rules.iter().map(|r| (r, r.pair.fits(parts))).collect(),
            ignore: of(&self.ignore),
            only: of(&self.only),
        }
    }
}

fn parse(text: &str) -> anyhow::Result<Written> {
    toml::from_str(text).map_err(|e| anyhow::anyhow!("{e}"))
}

fn rule(i: usize, r: WrittenRule) -> anyhow::Result<Rule> {
    let name = r.name.unwrap_or_else(|| format!("rule {} ({} / {})", i + 1, r.a, r.b));
    if let Some(min) = r.min
        && !(min.is_finite() && min > 0.0)
    {
        bail!("{name}: min is {min}; give a distance above 0 (mm), or leave it away");
    }
    // Who asks for a gap does not want contact, unless he says so.
    let touching =
        r.touching.unwrap_or(if r.min.is_some() { Touching::Forbidden } else { Touching::Allowed });
    let pair = PairOf::new(&r.a, &r.b).with_context(|| name.clone())?;
    Ok(Rule { name, min: r.min, touching, interfering: r.interfering, pair })
}

impl PairOf {
    fn new(a: &str, b: &str) -> anyhow::Result<Self> {
        let glob = |text: &str| -> anyhow::Result<GlobMatcher> {
            let glob = Glob::new(text).with_context(|| format!("'{text}' is no pattern"))?;
            Ok(glob.compile_matcher())
        };
        Ok(Self([glob(a)?, glob(b)?]))
    }

    /// For each part whether either pattern fits its name or its path.
    fn fits(&self, parts: &[Part]) -> [Vec<bool>; 2] {
        let of = |glob: &GlobMatcher| {
            parts.iter().map(|p| glob.is_match(&p.name) || glob.is_match(&p.path)).collect()
        };
        [of(&self.0[0]), of(&self.0[1])]
    }
}

/// Whether two patterns fit two parts in either order.
fn fit([a, b]: &[Vec<bool>; 2], i: usize, j: usize) -> bool {
    a[i] && b[j] || a[j] && b[i]
}

/// A part, and those of which it should touch one.
pub(crate) type Wanted = (usize, Vec<usize>);

impl<'a> Matches<'a> {
    /// Whether nothing is asked of a pair.
    pub(crate) fn is_ignored(&self, i: usize, j: usize) -> bool {
        let any = |pairs: &[[Vec<bool>; 2]]| pairs.iter().any(|p| fit(p, i, j));
        any(&self.ignore) || !self.only.is_empty() && !any(&self.only)
    }

    /// The rule that decides about a pair.
    pub(crate) fn rule(&self, i: usize, j: usize) -> Option<&'a Rule> {
        self.rules.iter().find(|(_, p)| fit(p, i, j)).map(|(r, _)| *r)
    }

    /// Rules that ask each part of one kind to touch one of another kind: which parts these are, by pairs
    /// that the rule decides about. Parts without a partner at all are there, with none.
    pub(crate) fn required(&self) -> Vec<(&'a Rule, Vec<Wanted>)> {
        let required = self.rules.iter().filter(|(r, _)| r.touching == Touching::Required);
        required
            .map(|(rule, [a, b])| {
                let n = a.len();
                let decides = |i: usize, j: usize| {
                    !self.is_ignored(i, j) && self.rule(i, j).is_some_and(|r| std::ptr::eq(r, *rule))
                };
                let partners =
                    |i: usize| (0..n).filter(|&j| b[j] && j != i && decides(i, j)).collect::<Vec<usize>>();
                (*rule, (0..n).filter(|&i| a[i]).map(|i| (i, partners(i))).collect())
            })
            .collect()
    }

    /// Names of rules that fit no two parts: most likely a name is misspelt.
    pub(crate) fn idle(&self) -> Vec<&'a str> {
        let is_idle = |[a, b]: &[Vec<bool>; 2]| {
            let n = a.len();
            !(0..n).any(|i| (i + 1..n).any(|j| a[i] && b[j] || a[j] && b[i]))
        };
        self.rules.iter().filter(|(_, p)| is_idle(p)).map(|(r, _)| r.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_with_their_defaults() {
        let text = "d_max = 2\nignore = ['washer*', ['a', 'b']]\n[[rule]]\na = 'bolt*'\nmin = 0.2\n\
                    [[rule]]\nname = 'threads'\na = 'bolt*'\nb = 'nut*'\ninterfering = 'allowed'";
        let written = parse(text).unwrap();
        assert_eq!((written.d_max, written.ignore.len()), (Some(2.0), 2));
        let rules: Vec<Rule> =
            written.rule.into_iter().enumerate().map(|(i, r)| rule(i, r).unwrap()).collect();
        assert_eq!(rules[0].name, "rule 1 (bolt* / *)");
        assert_eq!((rules[0].touching, rules[0].interfering), (Touching::Forbidden, Interfering::Forbidden));
        assert_eq!((rules[1].touching, rules[1].interfering), (Touching::Allowed, Interfering::Allowed));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("[[rule]]\na = 'x'\nmim = 1", "mim"),
            ("[[rule]]\na = 'x'\ntouching = 'maybe'", "touching"),
            ("rule = 3", "rule"),
            ("[[rule]]\nb = 'x'", "missing field `a`"),
        ] {
            let e = format!("{:#}", parse(text).unwrap_err());
            assert!(e.contains(says), "{text}: {e}");
        }
        let wrong = |text: &str| {
            let r = parse(text).unwrap().rule.pop().unwrap();
            format!("{:#}", rule(0, r).unwrap_err())
        };
        assert!(wrong("[[rule]]\na = '[x'").contains("no pattern"));
        assert!(wrong("[[rule]]\na = 'x'\nmin = -1").contains("min is -1"));
    }
}
