//! Baseline files: known findings.

use anyhow::{Context as _, ensure};
use feeler_assembly::Baseline;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Schema version of baseline files.
const SCHEMA: u32 = 2;

/// Content of a baseline file.
#[derive(Debug, Deserialize)]
struct BaselineFile {
    schema: u32,
    findings: Baseline,
}

/// Like [`BaselineFile`], for writing.
#[derive(Debug, Serialize)]
struct BorrowedFile<'a> {
    schema: u32,
    program: &'a str,
    findings: &'a Baseline,
}

/// Reads a baseline file.
///
/// # Errors
/// The file cannot be read or is not a baseline of this version; the error names it.
pub fn read(file: &Path) -> anyhow::Result<Baseline> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{name}: the baseline cannot be read; --bless writes one"))?;
    let content: BaselineFile = serde_json::from_str(&text).with_context(|| name.to_string())?;
    let schema = content.schema;
    ensure!(
        schema == SCHEMA,
        "{name}: the baseline has version {schema}, but this program needs {SCHEMA}; write it again with \
         --bless"
    );
    Ok(content.findings)
}

/// Bytes of a baseline file with sorted findings, so that versions of the file can be compared line by
/// line.
///
/// # Errors
/// The findings cannot be encoded as JSON.
pub fn to_bytes(findings: &Baseline) -> anyhow::Result<Vec<u8>> {
    let program = concat!("feeler ", env!("CARGO_PKG_VERSION"));
    let mut bytes = serde_json::to_vec_pretty(&BorrowedFile { schema: SCHEMA, program, findings })?;
    bytes.push(b'\n');
    Ok(bytes)
}
