//! Files that are whole or absent.
//!
//! Bytes go to a temporary file in the target's folder, which then takes the target's name. Its name is
//! `.TARGET.PROCESS-ATTEMPT.tmp`, and its writer holds a lock on it: what a killed process left behind can be
//! told from what another one is writing, on the same machine or (where the file system passes locks on)
//! another.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files of this process that exist now.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

const END: &str = ".tmp";

/// What could not be done, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action}: {source}")]
pub struct WriteError {
    /// What was tried.
    pub action: &'static str,
    /// Why it failed.
    pub source: io::Error,
}

/// Writes a file. On failure what was at `path` before stays, and nothing is left behind.
///
/// # Errors
/// The file system refuses.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    Temporary::create(path)?.commit(bytes, path)
}

/// While this lives, this process creates no file and puts none in place.
#[derive(Debug)]
#[must_use = "writers go on as soon as it is dropped"]
pub struct Halt {
    _open: MutexGuard<'static, Vec<PathBuf>>,
}

/// Removes the temporary files of this process and stops its writers: for a process about to exit in the
/// middle of its work.
pub fn halt_writers() -> Halt {
    let mut open = open();
    for path in open.drain(..) {
        // The process is on its way out: there is nobody to tell.
        let _ = fs::remove_file(path);
    }
    Halt { _open: open }
}

/// Removes the temporary files for `.feeler` files that killed processes left in a folder; those that
/// somebody is writing stay. Returns how many there were. A folder that cannot be listed has none.
pub fn remove_stale(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let left = entries.flatten().filter(|e| is_temporary(&e.file_name()));
    left.filter(|e| {
        let path = e.path();
        // Writers lock what they create before they rely on it, so holding the lock means that nobody does.
        File::options().write(true).open(&path).is_ok_and(|file| {
            file.try_lock().is_ok() && !open().contains(&path) && fs::remove_file(&path).is_ok()
        })
    })
    .count()
}

/// Whether a file name is `.NAME.feeler.PROCESS-ATTEMPT.tmp`.
fn is_temporary(name: &OsStr) -> bool {
    let number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let parts = name.to_str().and_then(|n| n.strip_prefix('.')?.strip_suffix(END)?.rsplit_once(".feeler."));
    parts
        .and_then(|(_, writer)| writer.split_once('-'))
        .is_some_and(|(process, attempt)| number(process) && number(attempt))
}

fn open() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of paths is never half changed.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that vanishes unless it is committed.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    /// A new file beside `target`.
    fn create(target: &Path) -> Result<Self, WriteError> {
        let failed = |source| WriteError { action: "create a temporary file beside it", source };
        let name = target.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let mut open = open();
        for attempt in 0..100_u32 {
            let mut temporary = OsString::from(".");
            temporary.push(name);
            // The process tells writers apart, the attempt what a killed one left behind.
            temporary.push(format!(".{}-{attempt}{END}", std::process::id()));
            let path = target.with_file_name(temporary);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Not every file system has locks; there, leftovers are not removed either.
                    let _ = file.lock();
                    // Between its creation and the lock somebody may have taken it for a leftover.
                    if path.exists() {
                        open.push(path.clone());
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
        // On the disk before it takes the name, or a power cut could leave a name without content.
        self.file.write_all(bytes).and_then(|()| self.file.sync_all()).map_err(failed("write"))?;
        let mut open = open();
        fs::rename(&self.path, target).map_err(failed("put the written file in place"))?;
        // Nothing is at the temporary name any more.
        open.retain(|p| *p != self.path);
        self.path.clear();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Failing to tidy up must not hide the error that led here.
            let _ = fs::remove_file(&self.path);
            open().retain(|p| *p != self.path);
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
        // Somebody else is still writing this one.
        let busy = File::create(file(".c.feeler.18-0.tmp")).unwrap();
        busy.lock().unwrap();
        // And this process that one.
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
