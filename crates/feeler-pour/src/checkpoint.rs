//! Checkpoints: the state from which an interrupted run continues.
//!
//! A checkpoint consists of a line that names the format, a JSON document on one line, the state of the
//! simulation, and a hash of everything before. Floating-point numbers are stored as their bits.

use crate::error::{CheckpointProblem, PourError};
use crate::stop::StopState;
use feeler_hierarchy::whole::write_whole;
use feeler_import::input_hash;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;

/// First line of a checkpoint; its number increases with each change of the format.
const FIRST_LINE: &str = "feeler pour checkpoint 5";

/// State of a run, apart from the state of its simulation, which follows as bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Hash of the scene, of all files that it names and of the version of the program.
    pub(crate) scene: u64,
    /// Number of written rows of the series, not counting that of the initial state.
    pub(crate) row: u64,
    /// Length of the file of the series (bytes).
    pub(crate) series: u64,
    pub(crate) sources: Vec<SourceState>,
    /// For each particle, including removed ones, the index of its group and the bits of the radius (mm)
    /// of its bounding ball.
    pub(crate) particles: Vec<(usize, u64)>,
    /// Number of particles that have left by each outlet, in the order of the outlets, with the bits of
    /// their total mass (kg). The last entry is for particles that left the domain otherwise.
    pub(crate) left: Vec<(u64, u64)>,
    /// State of the condition for the end of the run.
    pub(crate) stop: StopState,
}

/// State of a source, from which it continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceState {
    /// State of the stream of random numbers of the source.
    pub(crate) random: u64,
    /// Number of particles that the source has created.
    pub(crate) made: u64,
    /// Bits of the total volume (mm³) of the particles that the source has created.
    pub(crate) volume: u64,
    /// Bits of the radius (mm) of the next particle's bounding ball; 0 before it is drawn.
    pub(crate) next: u64,
    /// Number of the first step in which the source tries again to place a particle.
    pub(crate) tries_at: u64,
}

/// Replaces the checkpoint in `file` completely, or leaves the previous one if writing fails. `state` is
/// the saved state of the simulation.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(file: &Path, checkpoint: &Checkpoint, state: &[u8]) -> Result<(), PourError> {
    let mut bytes = format!("{FIRST_LINE}\n").into_bytes();
    let document = serde_json::to_writer(&mut bytes, checkpoint);
    document.map_err(|e| PourError::write(file, "write")(e.into()))?;
    bytes.push(b'\n');
    bytes.extend_from_slice(state);
    bytes.extend(input_hash(&bytes).to_le_bytes());
    write_whole(file, &bytes).map_err(PourError::whole(file))
}

/// Reads a checkpoint and the saved state of its simulation; `None` if the file does not exist. `scene`
/// is the hash of the scene.
///
/// # Errors
/// The file cannot be read, is damaged, or belongs to another scene or version of the program.
pub(crate) fn read(file: &Path, scene: u64) -> Result<Option<(Checkpoint, Vec<u8>)>, PourError> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(e) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&e.kind()) => return Ok(None),
        Err(error) => return Err(PourError::Read { path: file.to_owned(), error }),
    };
    let wrong = |problem| PourError::Checkpoint { path: file.to_owned(), problem };
    let damaged = || wrong(CheckpointProblem::Damaged);
    let (content, hash) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
    if input_hash(content) != u64::from_le_bytes(*hash) {
        return Err(damaged());
    }
    let mut parts = content.splitn(3, |b| *b == b'\n');
    if parts.next().unwrap_or_default() != FIRST_LINE.as_bytes() {
        return Err(wrong(CheckpointProblem::Version));
    }
    let document = serde_json::from_slice(parts.next().unwrap_or_default());
    let checkpoint: Checkpoint = document.map_err(|_| damaged())?;
    if checkpoint.scene != scene {
        return Err(wrong(CheckpointProblem::OtherScene));
    }
    Ok(Some((checkpoint, parts.next().unwrap_or_default().to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_checkpoints_and_those_of_other_scenes_are_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("checkpoint");
        assert!(read(&file, 7).expect("no error").is_none(), "a checkpoint without a file");
        let checkpoint = Checkpoint {
            scene: 7,
            row: 3,
            series: 100,
            sources: vec![SourceState { random: u64::MAX, ..SourceState::default() }],
            particles: vec![(0, 1.5_f64.to_bits())],
            left: vec![(1, 0.1_f64.to_bits())],
            stop: StopState::default(),
        };
        let state = [b"lines\n".as_slice(), &[0, 10, 255, 10]].concat();
        write(&file, &checkpoint, &state).expect("a checkpoint");
        assert_eq!(read(&file, 7).expect("a checkpoint"), Some((checkpoint, state)));
        let problem = |scene: u64| match read(&file, scene) {
            Err(PourError::Checkpoint { problem, .. }) => problem,
            other => panic!("{other:?}"),
        };
        assert_eq!(problem(8), CheckpointProblem::OtherScene);
        let bytes = std::fs::read(&file).expect("the checkpoint");
        for k in (0..bytes.len()).step_by(7) {
            let mut wrong = bytes.clone();
            wrong[k] ^= 1;
            std::fs::write(&file, wrong).expect("a file");
            assert_eq!(problem(7), CheckpointProblem::Damaged, "byte {k} changed");
            std::fs::write(&file, &bytes[..k]).expect("a file");
            assert_eq!(problem(7), CheckpointProblem::Damaged, "cut after {k} bytes");
        }
    }
}
