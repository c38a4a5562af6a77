//! Files in a folder and its subfolders.

use std::path::{Path, PathBuf};

/// Lists the wanted files below a folder, sorted by name within each folder. Each path is returned with
/// the path relative to `folder`. A subfolder that cannot be listed is returned with an error instead.
/// Hidden files are omitted; linked folders are not followed, because links may form loops.
pub(crate) fn files(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Vec<(PathBuf, Result<PathBuf, String>)> {
    let mut found = Vec::new();
    walk(folder, Path::new(""), is_wanted, &mut found);
    found
}

fn walk(
    folder: &Path,
    relative: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<(PathBuf, Result<PathBuf, String>)>,
) {
    let mut entries = match std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => entries,
        Err(e) => {
            found.push((folder.to_owned(), Err(format!("the folder cannot be listed: {e}"))));
            return;
        }
    };
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (name, path) = (entry.file_name(), entry.path());
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let below = relative.join(&name);
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            walk(&path, &below, is_wanted, found);
        } else if !path.is_dir() && is_wanted(&path) {
            found.push((path, Ok(below)));
        }
    }
}

/// Path with `/` as the separator on all systems.
pub(crate) fn with_slashes(path: &Path) -> String {
    let parts: Vec<String> = path.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    parts.join("/")
}
