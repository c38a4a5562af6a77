//! From a file to solids and their places.

use crate::content::{Import, ReadOptions};
use crate::error::StepError;
use crate::files::{self, read_below};
use crate::reading::Reading;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Reads the STEP file at `path`, with the files in its folder that it refers to.
///
/// # Errors
/// See [`StepError`].
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

/// Reads a STEP file from memory; `name` stands for it in messages. Parts that are in other files are left
/// out, with a problem that says so.
///
/// # Errors
/// See [`StepError`].
pub fn read_step_bytes(name: &str, bytes: &[u8]) -> Result<Import, StepError> {
    read_step_with(name, bytes, &ReadOptions { resolve: &|_| None, reading: Reading::default() })
}

/// [`read_step_bytes`] with options.
///
/// # Errors
/// See [`StepError`].
pub fn read_step_with(name: &str, bytes: &[u8], options: &ReadOptions<'_>) -> Result<Import, StepError> {
    // Nothing below is meant to panic. Should a dependency do so on some file, the caller still gets an
    // error.
    let result = catch_unwind(AssertUnwindSafe(|| files::read_all(name, bytes, options)));
    result.unwrap_or_else(|_| {
        let reason = "reading it failed unexpectedly; please report this file".to_owned();
        Err(StepError::Syntax { name: name.to_owned(), reason })
    })
}
