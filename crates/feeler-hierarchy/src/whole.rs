//! Atomic writing of files: a file is replaced completely or not at all.
//!
//! The bytes go to a temporary file in the target's folder, which is then renamed to the target. The
//! temporary file is named `.TARGET.PROCESS-ATTEMPT.tmp`, and its writer holds a lock on it. Leftovers of
//! a killed process can therefore be distinguished from a file that another process is writing, on the
//! same machine or, where the file system shares locks, on another one.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Paths of the temporary files of this process that currently exist.
static TEMPORARY_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Suffix of temporary files.
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Failure of an atomic write.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action}: {source}")]
pub struct WriteError {
    /// The operation that failed, as a verb phrase such as `write`.
    pub action: &'static str,
    /// Error of the operating system.
    pub source: io::Error,
}

/// Writes a file atomically. If this fails, the previous file at `path` stays, and no temporary file
/// remains.
///
/// # Errors
/// [`WriteError`] if an operation of the file system fails.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    Temporary::create(path)?.commit(bytes, path)
}

/// Guard that blocks all writers of this process: no file is created or renamed until it is dropped.
#[derive(Debug)]
#[must_use = "writers continue as soon as the guard is dropped"]
pub struct Halt {
    _files: MutexGuard<'static, Vec<PathBuf>>,
}

/// Removes the temporary files of this process and blocks its writers until the guard is dropped. A
/// process calls this function when it is about to exit in the middle of its work.
pub fn halt_writers() -> Halt {
    let mut files = temporary_files();
    for path in files.drain(..) {
        // The process is about to exit, so an error cannot be reported.
        let _ = fs::remove_file(path);
    }
    Halt { _files: files }
}

/// Removes the temporary files of `.feeler` files that killed processes left in a folder, and returns
/// their number. Files that a running process is still writing are kept. Returns 0 for a folder that
/// cannot be listed.
pub fn remove_stale(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let left = entries.flatten().filter(|e| is_temporary(&e.file_name()));
    left.filter(|e| {
        let path = e.path();
        // Writers lock a file before they rely on it, so a successful lock means that no writer uses it.
        File::options().write(true).open(&path).is_ok_and(|file| {
            file.try_lock().is_ok() && !temporary_files().contains(&path) && fs::remove_file(&path).is_ok()
        })
    })
    .count()
}

/// Returns whether a file name is `.NAME.feeler.PROCESS-ATTEMPT.tmp`.
fn is_temporary(name: &OsStr) -> bool {
    let number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let parts = name
        .to_str()
        .and_then(|n| n.strip_prefix('.')?.strip_suffix(TEMPORARY_SUFFIX)?.rsplit_once(".feeler."));
    parts
        .and_then(|(_, writer)| writer.split_once('-'))
        .is_some_and(|(process, attempt)| number(process) && number(attempt))
}

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic cannot leave a list of paths half changed.
    TEMPORARY_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file that is removed on drop unless it has been committed.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    /// Creates a temporary file in the folder of `target`.
    fn create(target: &Path) -> Result<Self, WriteError> {
        let failed = |source| WriteError { action: "create a temporary file in its folder", source };
        let name = target.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let mut files = temporary_files();
        for attempt in 0..100_u32 {
            let mut temporary = OsString::from(".");
            temporary.push(name);
            // The process id distinguishes writers; the attempt avoids leftovers of a killed process with
            // the same id.
            temporary.push(format!(".{}-{attempt}{TEMPORARY_SUFFIX}", std::process::id()));
            let path = target.with_file_name(temporary);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // On a file system without locks, leftovers cannot be locked and are not removed
                    // either.
                    let _ = file.lock();
                    // Another process may have removed the file as a leftover before it was locked.
                    if path.exists() {
                        files.push(path.clone());
                        return Ok(Self { path, file });
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(failed(e)),
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    fn commit(mut self, bytes: &[u8], target: &Path) -> Result<(), WriteError> {
        let failed = |action| move |source| WriteError { action, source };
        // The bytes must be on the disk before the file is renamed, or a power failure could leave it
        // without content.
        self.file.write_all(bytes).and_then(|()| self.file.sync_all()).map_err(failed("write"))?;
        let mut files = temporary_files();
        fs::rename(&self.path, target).map_err(failed("rename the written file"))?;
        // The temporary file does not exist any more.
        files.retain(|p| *p != self.path);
        self.path.clear();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // A failed removal must not hide the error that led here.
            let _ = fs::remove_file(&self.path);
            temporary_files().retain(|p| *p != self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        for name in [".a.feeler.4000000-0.tmp", ".b.x.feeler.17-12.tmp"] {
            fs::write(file(name), "half").unwrap();
        }
        let others = [
            "a.feeler",
            ".a.feeler.17.tmp",
            ".a.feeler.x-1.tmp",
            ".feeler.tmp",
            "a.feeler.17-0.tmp",
            ".a.step.17-0.tmp",
        ];
        for name in others {
            fs::write(file(name), "somebody's").unwrap();
        }
        // Another process is still writing this file.
        let busy = File::create(file(".c.feeler.18-0.tmp")).unwrap();
        busy.lock().unwrap();
        // This process is writing that one.
        let own = Temporary::create(&file("d.feeler")).unwrap();
        assert_eq!(remove_stale(dir.path()), 2, "leftovers");
        for name in others.iter().chain(&[".c.feeler.18-0.tmp"]) {
            assert!(file(name).exists(), "{name} is gone");
        }
        own.commit(b"d", &file("d.feeler")).unwrap();
        assert_eq!(fs::read(file("d.feeler")).unwrap(), b"d", "written");
        drop(busy);
        assert_eq!(remove_stale(dir.path()), 1, "no longer locked");
        assert_eq!(remove_stale(&file("no such folder")), 0, "no folder");
    }
}
