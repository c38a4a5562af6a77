//! Import functions with default options, for users of the library.

use crate::{DEFAULT_FLATNESS, Reading, prepare, prepare_bytes_with, prepare_step_with};
use feeler_hierarchy::{Model, Options};
use feeler_step::ReadOptions;
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

/// Stage of an import that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportStage<'a> {
    /// The file is unpacked and read.
    Reading,
    /// A solid is built and prepared.
    Preparing {
        /// Index of the solid among those of the file.
        index: usize,
        /// Number of distinct solids of the file.
        count: usize,
        /// Name of the solid in the file; may be empty.
        name: &'a str,
    },
}

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

/// Like [`prepare_bytes`]. Calls `progress` at the beginning of each stage.
///
/// # Errors
/// Same as [`prepare_step`].
pub fn prepare_bytes_with_progress(
    name: &str,
    bytes: &[u8],
    mut progress: impl FnMut(ImportStage<'_>),
) -> Result<Model, ImportError> {
    let reading = ReadOptions { resolve: &|_| None, reading: Reading::default() };
    let prepared = prepare(name, bytes, &OPTIONS, &reading, &mut progress);
    prepared.map_err(|e| ImportError(format!("{e:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_names_the_solids() {
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
        let bytes = std::fs::read(format!("{data}/plug.step")).unwrap();
        let mut stages = Vec::new();
        let model =
            prepare_bytes_with_progress("plug.step", &bytes, |stage| stages.push(format!("{stage:?}")));
        let expected = ["Reading", "Preparing { index: 0, count: 1, name: \"plug\" }"];
        assert_eq!(stages, expected);
        assert_eq!(model, prepare_bytes("plug.step", &bytes), "progress does not change the model");
    }
}
