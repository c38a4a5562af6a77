//! What a run that was stopped goes on from.
//!
//! A line that names the format, a JSON document on one line, the state of the simulation, and a hash of all
//! that is before it. Numbers are kept as their bits.

use anyhow::{Context as _, bail, ensure};
use feeler_hierarchy::whole::write_whole;
use feeler_import::input_hash;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;

const FIRST_LINE: &str = "feeler pour checkpoint 3";

/// What is known beside the state of the simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// Of the scene, of all files that it names and of the program.
    pub(super) scene: u64,
    /// Rows that are written after that of the beginning.
    pub(super) row: u64,
    /// Bytes of the CSV file.
    pub(super) series: u64,
    pub(super) sources: Vec<SourceState>,
    /// Group of each particle, including removed ones, and the bits of its radius (mm).
    pub(super) particles: Vec<(usize, u64)>,
    /// Number of the particles that have left by each outlet, and last of those that left the domain, with
    /// the bits of their mass (kg).
    pub(super) left: Vec<(u64, u64)>,
}

/// How far a source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SourceState {
    pub(super) random: u64,
    pub(super) made: u64,
    /// Bits of the volume made (mm³).
    pub(super) volume: u64,
    /// Bits of the radius of the next grain; 0: not drawn yet.
    pub(super) next: u64,
    /// It does not try before this step.
    pub(super) tries_at: u64,
}

/// Writes a checkpoint: it is whole, or the one before stays.
///
/// # Errors
/// The file system refuses.
pub(super) fn write(file: &Path, checkpoint: &Checkpoint, state: &[u8]) -> anyhow::Result<()> {
    let mut bytes = format!("{FIRST_LINE}\n").into_bytes();
    serde_json::to_writer(&mut bytes, checkpoint)?;
    bytes.push(b'\n');
    bytes.extend_from_slice(state);
    bytes.extend(input_hash(&bytes).to_le_bytes());
    write_whole(file, &bytes).with_context(|| format!("{}: cannot write the checkpoint", file.display()))
}

/// The checkpoint of a scene with the state of its simulation; none where there is no file.
///
/// # Errors
/// A file that is damaged, or of another scene.
pub(super) fn read(file: &Path, scene: u64) -> anyhow::Result<Option<(Checkpoint, Vec<u8>)>> {
    let named = || file.display().to_string();
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(e) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&e.kind()) => return Ok(None),
        Err(e) => return Err(e).with_context(|| format!("{}: cannot read the checkpoint", named())),
    };
    let damaged = || format!("{}: is damaged, or no checkpoint; --fresh starts over", named());
    let (content, hash) = bytes.split_last_chunk::<8>().with_context(damaged)?;
    ensure!(input_hash(content) == u64::from_le_bytes(*hash), damaged());
    let mut parts = content.splitn(3, |b| *b == b'\n');
    let first = parts.next().unwrap_or_default();
    if first != FIRST_LINE.as_bytes() {
        bail!("{}: is of another version of this program; --fresh starts over", named());
    }
    let checkpoint: Checkpoint =
        serde_json::from_slice(parts.next().unwrap_or_default()).with_context(damaged)?;
    ensure!(
        checkpoint.scene == scene,
        "{}: is of another scene: the scene, a file that it names or the program has changed since; --fresh \
         starts over, -o DIR writes elsewhere",
        named()
    );
    Ok(Some((checkpoint, parts.next().unwrap_or_default().to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_of_another_scene_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checkpoint");
        assert!(read(&file, 7).unwrap().is_none(), "no file");
        let checkpoint = Checkpoint {
            scene: 7,
            row: 3,
            series: 100,
            sources: vec![SourceState { random: u64::MAX, ..SourceState::default() }],
            particles: vec![(0, 1.5_f64.to_bits())],
            left: vec![(1, 0.1_f64.to_bits())],
        };
        let state = [b"lines\n".as_slice(), &[0, 10, 255, 10]].concat();
        write(&file, &checkpoint, &state).unwrap();
        assert_eq!(read(&file, 7).unwrap(), Some((checkpoint, state)));
        let told = |scene: u64| format!("{:#}", read(&file, scene).unwrap_err());
        assert!(told(8).contains("another scene") && told(8).contains("--fresh"), "{}", told(8));
        let bytes = std::fs::read(&file).unwrap();
        for k in (0..bytes.len()).step_by(7) {
            let mut wrong = bytes.clone();
            wrong[k] ^= 1;
            std::fs::write(&file, wrong).unwrap();
            assert!(told(7).contains("damaged"), "{k}: {}", told(7));
            std::fs::write(&file, &bytes[..k]).unwrap();
            assert!(told(7).contains("damaged"), "{k}: {}", told(7));
        }
    }
}
