//! Reads a file into solids and their instances.

use crate::content::{Import, ReadOptions};
use crate::error::StepError;
use crate::files::{self, read_below};
use crate::reading::Reading;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Reads the STEP file at `path`, and the files in its folder that it refers to.
///
/// # Errors
/// [`StepError`] if the file cannot be read or contains no usable solid.
pub fn read_step(path: &Path) -> Result<Import, StepError> {
    let shown = path.display().to_string();
    if path.is_dir() {
        return Err(StepError::Unreadable {
            path: shown,
            reason: "is a folder; give a STEP file".to_owned(),
        });
    }
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) => return Err(StepError::Unreadable { path: shown, reason: format!("cannot be read: {e}") }),
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    read_step_with(
        &shown,
        &bytes,
        &ReadOptions { resolve: &|other| read_below(folder, other), reading: Reading::default() },
    )
}

/// Reads a STEP file from memory; `name` is its name in messages. Parts in other files are skipped, with
/// a problem that reports it.
///
/// # Errors
/// [`StepError`] if the file cannot be read or contains no usable solid.
pub fn read_step_bytes(name: &str, bytes: &[u8]) -> Result<Import, StepError> {
    read_step_with(name, bytes, &ReadOptions { resolve: &|_| None, reading: Reading::default() })
}

/// Like [`read_step_bytes`], with options, which also provide referenced files.
///
/// # Errors
/// [`StepError`] if the file cannot be read or contains no usable solid.
pub fn read_step_with(name: &str, bytes: &[u8], options: &ReadOptions<'_>) -> Result<Import, StepError> {
    // The code below should not panic. If a dependency panics on some file, the caller still gets an
    // error.
    let result = catch_unwind(AssertUnwindSafe(|| files::read_all(name, bytes, options)));
    result.unwrap_or_else(|_| {
        let reason = "reading the file failed unexpectedly; please report this file".to_owned();
        Err(StepError::Syntax { name: name.to_owned(), reason })
    })
}
