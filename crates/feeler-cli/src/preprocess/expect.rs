//! Inputs that are expected to fail.

use super::report::Report;
use anyhow::{Context as _, ensure};
use globset::{Glob, GlobMatcher};
use std::path::Path;

/// Patterns of the paths of inputs that are expected to fail, each as text and as a compiled pattern.
#[derive(Debug, Default)]
pub(super) struct Expected(Vec<(String, GlobMatcher)>);

impl Expected {
    /// Reads a file with one path or pattern per line and comments after `#`.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file);
        let text = text
            .with_context(|| format!("{}: the list of expected failures cannot be read", file.display()))?;
        Self::parse(&text).with_context(|| file.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut patterns = Vec::new();
        for line in text.lines() {
            let pattern = line.split('#').next().unwrap_or("").trim();
            if pattern.is_empty() {
                continue;
            }
            ensure!(
                patterns.iter().all(|(p, _)| p != pattern),
                "'{pattern}' is listed twice; remove one of the lines"
            );
            let glob = Glob::new(pattern).with_context(|| pattern.to_owned())?;
            patterns.push((pattern.to_owned(), glob.compile_matcher()));
        }
        Ok(Self(patterns))
    }

    /// Whether an input is expected to fail.
    pub(super) fn contains(&self, path: &str) -> bool {
        self.0.iter().any(|(_, glob)| matches(glob, path))
    }

    /// Returns the patterns that match no failed input.
    pub(super) fn unmatched(&self, reports: &[Report]) -> Vec<&str> {
        let is_unmatched = |glob: &GlobMatcher| !reports.iter().any(|r| !r.ok && matches(glob, &r.path));
        self.0.iter().filter(|(_, glob)| is_unmatched(glob)).map(|(p, _)| p.as_str()).collect()
    }
}

/// Whether a pattern matches a whole path, or the rest of the path after any of its `/`.
fn matches(glob: &GlobMatcher, path: &str) -> bool {
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
            assert!(known.contains(path), "{path}");
        }
        for path in ["notbad.step", "bad.step.gz", "new/x.stp"] {
            assert!(!known.contains(path), "{path}");
        }
        let failed = Report { path: "in/bad.step".to_owned(), ..Report::default() };
        assert_eq!(known.unmatched(&[failed]), ["old/*.stp"]);
        assert!(Expected::parse("a\na\n").is_err() && Expected::parse("[").is_err());
    }
}
