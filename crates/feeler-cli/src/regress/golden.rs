//! What a run gives, as it is stored: sorted, so that two files can be compared line by line.

use anyhow::{Context as _, ensure};
use feeler_compare::{Minimum, ModelFacts};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the file.
const SCHEMA: u32 = 2;

/// All results of a suite.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Results {
    schema: u32,
    /// Name and version of the program that has made them.
    pub(super) program: String,
    /// By the names of the entries.
    pub(super) entries: BTreeMap<String, Entry>,
}

/// Those of one entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) found: Found,
    /// What it has taken, in times of the reference workload; only where times are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<f64>,
}

/// What was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Found {
    Model(ModelFacts),
    Pair(PairFound),
    /// Why nothing could be.
    Failed(String),
}

/// Two solids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PairFound {
    /// Hashes of both inputs.
    pub(super) inputs: [String; 2],
    /// Diagonal of the larger solid's box (mm).
    pub(super) size: f64,
    /// What they are to each other, pose by pose.
    pub(super) steps: Vec<Step>,
}

/// Two solids at one pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) status: String,
    /// Smallest of the distances of the witness from both boundaries (mm), where they interfere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<f64>,
    pub(super) minima: Vec<Minimum>,
}

impl Results {
    pub(super) fn new(entries: BTreeMap<String, Entry>) -> Self {
        let program = concat!("feeler ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { schema: SCHEMA, program, entries }
    }

    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| {
            format!("{}: there are no results to compare with; --bless writes them", file.display())
        })?;
        let read: Self = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let found = read.schema;
        ensure!(found == SCHEMA, "{}: is of version {found}, not {SCHEMA}; --bless it", file.display());
        Ok(read)
    }

    pub(super) fn to_bytes(&self) -> anyhow::Result<Vec<u8>> {
        let mut text = String::new();
        lay_out(&serde_json::to_value(self)?, 0, &mut text);
        text.push('\n');
        Ok(text.into_bytes())
    }
}

/// Longest value (bytes) that stands on one line.
const LINE: usize = 240;

/// Writes a value: on one line where it fits, else one member a line, so that a change of one number is a
/// change of one line.
fn lay_out(value: &Value, indent: usize, out: &mut String) {
    let short = value.to_string();
    let inner = " ".repeat(indent + 1);
    let mut members = |open: char, all: Vec<(String, &Value)>, close: char| {
        out.push(open);
        for (k, (name, member)) in all.into_iter().enumerate() {
            out.push_str(if k > 0 { ",\n" } else { "\n" });
            out.push_str(&inner);
            out.push_str(&name);
            lay_out(member, indent + 1, out);
        }
        out.push('\n');
        out.push_str(&inner[1..]);
        out.push(close);
    };
    match value {
        _ if short.len() <= LINE => out.push_str(&short),
        Value::Object(all) => {
            members(
                '{',
                all.iter().map(|(k, v)| (format!("{}:", Value::from(k.as_str())), v)).collect(),
                '}',
            );
        }
        Value::Array(all) => members('[', all.iter().map(|v| (String::new(), v)).collect(), ']'),
        _ => out.push_str(&short),
    }
}
