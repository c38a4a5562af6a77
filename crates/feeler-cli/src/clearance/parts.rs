//! Parts of assemblies, loaded from the files of a command line.

use crate::pose;
use anyhow::{Context as _, bail, ensure};
use feeler_assembly::{Assembly, AssemblyPart};
use feeler_geom::Pose;
use feeler_import::{self as import, Reading};
use std::path::{Path, PathBuf};

/// Loads all parts of all files, in the order of the files. The second list names the solids and
/// components that could not be prepared. `poses` are the texts of `--pose`. `report` receives a message
/// for each file that was prepared in memory.
pub(crate) fn parts(
    files: &[PathBuf],
    poses: &[String],
    reading: Reading,
    mut report: impl FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<(Vec<AssemblyPart>, Vec<String>)> {
    let poses = file_poses(files.len(), poses)?;
    let (mut assembly, mut left_out) = (Assembly::default(), Vec::new());
    for (path, pose) in files.iter().zip(&poses) {
        let (model, note) = import::load_with(path, reading)?;
        // All lines of the note but the first repeat `left_out`.
        if let Some(first) = note.as_ref().and_then(|n| n.lines().next()) {
            report(first)?;
        }
        left_out.extend(model.left_out().into_iter().map(|what| format!("{}: {what}", path.display())));
        let name = if files.len() > 1 { stem(path) } else { String::new() };
        assembly.add(&model, &name, pose).with_context(|| path.display().to_string())?;
    }
    Ok((assembly.into_parts(), left_out))
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "-".to_owned(), |s| s.to_string_lossy().into_owned())
}

/// Poses by which the solids of each file are moved, from texts `N=POSE`; identity for files without a
/// text.
fn file_poses(files: usize, texts: &[String]) -> anyhow::Result<Vec<Pose>> {
    let mut poses = vec![Pose::identity(); files];
    for text in texts {
        let Some((number, pose)) = text.split_once('=') else {
            bail!("--pose '{text}' has no '='; give N=tx,ty,tz for file number N, counted from 0");
        };
        let n: usize = number
            .parse()
            .with_context(|| format!("--pose '{text}': '{number}' is not the number of a file"))?;
        ensure!(n < poses.len(), "--pose '{text}': there are {files} files, numbered from 0");
        poses[n] = pose::parse(pose)?;
    }
    Ok(poses)
}
