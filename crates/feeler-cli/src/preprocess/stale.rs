//! Outputs whose inputs no longer exist.

use super::plan::Job;
use crate::args::PreprocessArgs;
use crate::folder;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Finds the `.feeler` files below the output folder that belong to no input. If an input is a file, not
/// a folder, the list is empty, because the output folder may contain outputs of other runs.
pub(super) fn find(args: &PreprocessArgs, jobs: &[Job]) -> Vec<PathBuf> {
    let Some(output) = args.output.as_ref().filter(|o| o.is_dir()) else { return Vec::new() };
    if !args.inputs.iter().all(|i| i.is_dir()) {
        return Vec::new();
    }
    let wanted: BTreeSet<&Path> = jobs.iter().filter_map(|j| j.output.as_deref().ok()).collect();
    let is_prepared = |path: &Path| path.extension().is_some_and(|e| e == "feeler") && is_feeler_file(path);
    let found = folder::files(output, &is_prepared).into_iter();
    found.filter(|(path, below)| below.is_ok() && !wanted.contains(path.as_path())).map(|f| f.0).collect()
}

/// Whether a file has the header of a `.feeler` file; other files are never deleted.
fn is_feeler_file(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut f| f.read(&mut start));
    read.is_ok_and(|n| feeler_hierarchy::file::is_feeler(&start[..n]))
}
