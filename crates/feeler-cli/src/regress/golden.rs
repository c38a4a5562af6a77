//! Golden files: recorded results, sorted by name so that versions of a file can be compared line by
//! line.

use anyhow::{Context as _, ensure};
use feeler_assembly::regress::Entries;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Schema version of golden files.
const SCHEMA: u32 = 2;

/// Name and version of this program, as recorded in golden files.
pub(super) const PROGRAM: &str = concat!("feeler ", env!("CARGO_PKG_VERSION"));

/// Content of a golden file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Golden {
    schema: u32,
    /// Name and version of the program that computed the results.
    pub(super) program: String,
    /// Results by names of entries.
    pub(super) entries: Entries,
}

impl Golden {
    pub(super) fn new(entries: Entries) -> Self {
        Self { schema: SCHEMA, program: PROGRAM.to_owned(), entries }
    }

    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{name}: the golden results cannot be read; --bless writes them"))?;
        let golden: Self = serde_json::from_str(&text).with_context(|| name.to_string())?;
        let schema = golden.schema;
        ensure!(
            schema == SCHEMA,
            "{name}: the golden results have version {schema}, but this program needs {SCHEMA}; write them \
             again with --bless"
        );
        Ok(golden)
    }

    pub(super) fn to_bytes(&self) -> anyhow::Result<Vec<u8>> {
        let mut text = String::new();
        lay_out(&serde_json::to_value(self)?, 0, &mut text);
        text.push('\n');
        Ok(text.into_bytes())
    }
}

/// Maximum length (bytes) of a JSON value that is written on one line. With a larger value, changes are
/// harder to find in the lines; a smaller one gives files with more lines.
const MAX_LINE: usize = 240;

/// Appends a JSON value to `out`: on one line if it has at most [`MAX_LINE`] bytes, otherwise with one
/// member per line, so that a change of one number changes one line. `indent` is the number of spaces
/// before the lines.
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
        _ if short.len() <= MAX_LINE => out.push_str(&short),
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
