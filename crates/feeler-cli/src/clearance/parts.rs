//! The parts of assemblies, with names that tell them apart.

use crate::pose;
use anyhow::{Context as _, bail, ensure};
use feeler_geom::Pose;
use feeler_import::{self as import, Reading};
use feeler_runtime::Body;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A solid in its place.
#[derive(Debug)]
pub(crate) struct Part {
    /// As its product is called.
    pub(crate) name: String,
    /// Names from the root of the assembly, with the file's before where there are several, and a number
    /// behind where several parts would have the same: no two parts share it.
    pub(crate) path: String,
    /// Index of its file among the inputs.
    pub(crate) file: usize,
    /// Index of its solid in the file.
    pub(crate) solid: usize,
    pub(crate) body: Arc<Body>,
    /// From its coordinates to the world's.
    pub(crate) pose: Pose,
}

/// All parts of all files, in their order, and what was left out of the files: nothing is known of that.
/// `tell` takes what is to be said as files are read.
pub(crate) fn parts(
    files: &[PathBuf],
    poses: &[String],
    reading: Reading,
    mut tell: impl FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<(Vec<Part>, Vec<String>)> {
    let moves = moves(files.len(), poses)?;
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    for (file, path) in files.iter().enumerate() {
        let (model, note) = import::load_with(path, reading)?;
        // Its other lines tell what was left out, which is told with the answer.
        if let Some(first) = note.as_ref().and_then(|n| n.lines().next()) {
            tell(first)?;
        }
        let bodies: Vec<Arc<Body>> = (0..model.solids.len())
            .map(|i| Body::from_model(&model, i).map(Arc::new))
            .collect::<Result<_, _>>()
            .with_context(|| path.display().to_string())?;
        left_out.extend(model.left_out().into_iter().map(|what| format!("{}: {what}", path.display())));
        let prefix = if files.len() > 1 { format!("{}/", stem(path)) } else { String::new() };
        for (i, instance) in model.instances.iter().enumerate() {
            let own = [&instance.path, &instance.name].into_iter().find(|n| !n.is_empty());
            // What has no name goes by its number, as `inspect` lists it.
            let own = own.map_or_else(|| format!("solid {i}"), Clone::clone);
            parts.push(Part {
                name: instance.name.clone(),
                path: format!("{prefix}{own}"),
                file,
                solid: instance.solid as usize,
                body: Arc::clone(&bodies[instance.solid as usize]),
                pose: moves[file] * instance.pose(),
            });
        }
    }
    number_equal(parts.iter_mut().map(|p| &mut p.path));
    Ok((parts, left_out))
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "-".to_owned(), |s| s.to_string_lossy().into_owned())
}

/// The pose by which each file is moved.
fn moves(files: usize, poses: &[String]) -> anyhow::Result<Vec<Pose>> {
    let mut moves = vec![Pose::identity(); files];
    for text in poses {
        let Some((which, value)) = text.split_once('=') else {
            bail!("--pose '{text}' has no '='; give N=tx,ty,tz for the file number N, from 0");
        };
        let n: usize = which.parse().with_context(|| format!("--pose '{text}': '{which}' is no number"))?;
        ensure!(n < moves.len(), "--pose '{text}': there are {} files, numbered from 0", moves.len());
        moves[n] = pose::parse(value)?;
    }
    Ok(moves)
}

/// Names that are the same become `name#1`, `name#2`, … in their order.
pub(crate) fn number_equal<'a>(names: impl IntoIterator<Item = &'a mut String>) {
    let names: Vec<&mut String> = names.into_iter().collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        *count.entry((*name).clone()).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.into_iter().filter(|name| count[*name] > 1) {
        let n = seen.entry(name.clone()).or_default();
        *n += 1;
        *name = format!("{name}#{n}");
    }
}
