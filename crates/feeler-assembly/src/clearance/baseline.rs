//! Findings that are known: only new ones fail.

use super::Checked;
use super::finding::Finding;
use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// Version of the file.
const SCHEMA: u32 = 2;

/// The file: sorted, one finding a line.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    schema: u32,
    program: String,
    findings: BTreeSet<Known>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    a: String,
    b: String,
    finding: Finding,
}

/// Known findings, by the paths of their parts.
#[derive(Debug, Default)]
pub(super) struct Baseline(BTreeSet<Known>);

impl Known {
    /// The order of two parts means nothing.
    fn new(a: &str, b: &str, finding: Finding) -> Self {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        Self { a: a.to_owned(), b: b.to_owned(), finding }
    }
}

impl Baseline {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{}: no baseline can be read; --bless writes one", file.display()))?;
        let written: Written = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let found = written.schema;
        ensure!(found == SCHEMA, "{}: is of version {found}, not {SCHEMA}; --bless it", file.display());
        Ok(Self(written.findings))
    }

    pub(super) fn of(checked: &Checked) -> Self {
        let path = |i: usize| checked.parts[i].path.as_str();
        let known = |r: &super::Row| Some(Known::new(path(r.parts[0]), path(r.parts[1]), r.finding?));
        Self(checked.rows.iter().filter_map(known).collect())
    }

    pub(super) fn has(&self, a: &str, b: &str, finding: Finding) -> bool {
        self.0.contains(&Known::new(a, b, finding))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn to_bytes(&self) -> anyhow::Result<Vec<u8>> {
        let program = concat!("feeler ", env!("CARGO_PKG_VERSION")).to_owned();
        let written = Written { schema: SCHEMA, program, findings: self.0.clone() };
        let mut bytes = serde_json::to_vec_pretty(&written)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
