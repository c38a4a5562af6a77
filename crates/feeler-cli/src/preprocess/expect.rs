//! Failures that are known.

use super::report::Report;
use anyhow::{Context as _, ensure};
use globset::{Glob, GlobMatcher};
use std::path::Path;

/// Inputs that are known to fail, by patterns.
#[derive(Debug, Default)]
pub(super) struct Expected(Vec<(String, GlobMatcher)>);

impl Expected {
    /// Reads a list: a path or a pattern a line; what comes behind `#` is for people.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file);
        let text = text.with_context(|| format!("{}: the known failures cannot be read", file.display()))?;
        Self::parse(&text).with_context(|| file.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut patterns = Vec::new();
        for line in text.lines() {
            let pattern = line.split('#').next().unwrap_or("").trim();
            if pattern.is_empty() {
                continue;
            }
            ensure!(patterns.iter().all(|(p, _)| p != pattern), "'{pattern}' comes twice");
            let glob = Glob::new(pattern).with_context(|| pattern.to_owned())?;
            patterns.push((pattern.to_owned(), glob.compile_matcher()));
        }
        Ok(Self(patterns))
    }

    /// Whether an input is known to fail: by its path, or by the end of it.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.iter().any(|(_, glob)| fits(glob, path))
    }

    /// Patterns for which nothing has failed: they have done their work.
    pub(super) fn idle(&self, reports: &[Report]) -> Vec<&str> {
        let is_idle = |glob: &GlobMatcher| !reports.iter().any(|r| !r.ok && fits(glob, &r.path));
        self.0.iter().filter(|(_, glob)| is_idle(glob)).map(|(p, _)| p.as_str()).collect()
    }
}

/// A pattern fits a whole path, or what follows a `/` in it.
fn fits(glob: &GlobMatcher, path: &str) -> bool {
    let path = path.replace('\\', "/");
    glob.is_match(&path) || path.match_indices('/').any(|(at, _)| glob.is_match(&path[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_patterns() {
        let text = "# known\nbad.step   # open shell\n\nold/*.stp\n";
        let known = Expected::parse(text).unwrap();
        for path in ["bad.step", "in/bad.step", "/a/b/bad.step", "old/x.stp", "in/old/x.stp"] {
            assert!(known.has(path), "{path}");
        }
        for path in ["notbad.step", "bad.step.gz", "new/x.stp"] {
            assert!(!known.has(path), "{path}");
        }
        let failed = Report { path: "in/bad.step".to_owned(), ..Report::default() };
        assert_eq!(known.idle(&[failed]), ["old/*.stp"]);
        assert!(Expected::parse("a\na\n").is_err() && Expected::parse("[").is_err());
    }
}
