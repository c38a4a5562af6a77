//! Checkpoints of a fit.
//!
//! A checkpoint is a line that names the format, a line with a hash of the image and the options, and the
//! state as JSON, in which numbers keep all bits. A fit that continues from a checkpoint ends with the same
//! bits as one that was not interrupted.

use super::{FitOptions, FitState};
use crate::image::Grains;
use feeler_hierarchy::whole::write_whole;
use std::io;
use std::path::{Path, PathBuf};

/// First line of a checkpoint; its number increases with each change of the format.
const FIRST_LINE: &str = "feeler tessellate checkpoint 1";

/// Error of a checkpoint file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct CheckpointError {
    /// The checkpoint file.
    pub path: PathBuf,
    /// Fault of the file.
    pub problem: CheckpointProblem,
}

/// Reason why a checkpoint cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// The content is not a checkpoint, or is truncated.
    #[error("is damaged or not a checkpoint of this version; remove the file to start over")]
    Damaged,
    /// The image or the options differ.
    #[error("is of another image or of other options; remove the file to start over, or name another one")]
    OtherFit,
}

/// Hashes the image and the options (FNV-1a). It detects confusion of files, not forgery.
fn fingerprint(grains: &Grains, options: &FitOptions) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |x: u64| {
        for byte in x.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    grains.domain.lengths.iter().for_each(|x| add(x.to_bits()));
    grains.domain.periodic.iter().for_each(|p| add(u64::from(*p)));
    grains.labels.iter().for_each(|l| add(u64::from(*l)));
    for p in &grains.interface {
        p.grains.iter().for_each(|g| add(u64::from(*g)));
        p.position.iter().for_each(|x| add(x.to_bits()));
    }
    add(options.kind as u64);
    add(options.method as u64);
    add(u64::from(options.interfaces_first));
    add(options.tolerance.to_bits());
    hash
}

impl FitState {
    /// Writes a checkpoint atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path, grains: &Grains, options: &FitOptions) -> Result<(), CheckpointError> {
        let wrong = |e| CheckpointError { path: path.to_owned(), problem: CheckpointProblem::Write(e) };
        let state = serde_json::to_string(self).map_err(|e| wrong(e.into()))?;
        let text = format!("{FIRST_LINE}\n{:016x}\n{state}\n", fingerprint(grains, options));
        write_whole(path, text.as_bytes()).map_err(|e| wrong(e.source))
    }

    /// Reads a checkpoint; `None` if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or belongs to another image or other options. The maximum number
    /// of iterations may differ.
    pub fn load(path: &Path, grains: &Grains, options: &FitOptions) -> Result<Option<Self>, CheckpointError> {
        let wrong = |problem| CheckpointError { path: path.to_owned(), problem };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(wrong(CheckpointProblem::Read(e))),
        };
        let text = String::from_utf8(bytes).map_err(|_| wrong(CheckpointProblem::Damaged))?;
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(wrong(CheckpointProblem::Damaged));
        }
        let expected = format!("{:016x}", fingerprint(grains, options));
        if lines.next() != Some(expected.as_str()) {
            return Err(wrong(CheckpointProblem::OtherFit));
        }
        let state = lines.next().and_then(|l| serde_json::from_str::<Self>(l).ok());
        let state = state.filter(|s| s.sites.len() == grains.labels.len());
        state.map(Some).ok_or_else(|| wrong(CheckpointProblem::Damaged))
    }
}
