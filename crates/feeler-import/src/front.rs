//! Import functions with default options, for users of the library.

use crate::{DEFAULT_FLATNESS, prepare_bytes_with, prepare_step_with};
use feeler_hierarchy::{Model, Options};
use std::path::Path;

/// Reason why an input could not be prepared. The message states the name of the input, the entity and
/// what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError(String);

impl ImportError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImportError {}

pub(crate) const OPTIONS: Options = Options { flatness: DEFAULT_FLATNESS };

/// Imports the STEP file at `path` and the files in its folder that it refers to, and prepares its
/// solids. Remarks on irregular, approximated or skipped content are in [`Model::remarks`].
///
/// # Errors
/// The file cannot be read, is not STEP, or none of its solids could be prepared.
pub fn prepare_step(path: impl AsRef<Path>) -> Result<Model, ImportError> {
    let prepared = prepare_step_with(path.as_ref(), &OPTIONS);
    prepared.map_err(|e| ImportError(format!("{e:#}")))
}

/// Like [`prepare_step`], for the bytes of a file; `name` is the name of the file in messages. Parts in
/// other files that it refers to are skipped.
///
/// # Errors
/// Same as [`prepare_step`].
pub fn prepare_bytes(name: &str, bytes: &[u8]) -> Result<Model, ImportError> {
    let prepared = prepare_bytes_with(name, bytes, &OPTIONS);
    prepared.map_err(|e| ImportError(format!("{e:#}")))
}
