//! Solids of a folder, and names of their features.

use crate::{Fallible, first_body, prepare, step_files};
use feeler_geom::{Curve, Pose};
use feeler_runtime::{Body, FeatureKind, FeatureRef};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A solid of a file.
#[derive(Clone, Debug)]
pub struct NamedSolid {
    /// Name of the STEP file.
    pub name: String,
    /// The solid, prepared for queries.
    pub body: Arc<Body>,
    /// Pose of the solid in the file.
    pub own: Pose,
}

/// The first solid of each STEP file of a folder, sorted by file name. A file is prepared at its first
/// use.
#[derive(Debug)]
pub struct Folder {
    files: Vec<PathBuf>,
    solids: Vec<OnceLock<Fallible<NamedSolid>>>,
}

impl Folder {
    /// Lists the STEP files of a folder.
    ///
    /// # Errors
    /// The folder has fewer than two STEP files.
    pub fn new(folder: &Path) -> Fallible<Self> {
        let files = step_files([folder]);
        if files.len() < 2 {
            return Err(format!("{}: {} STEP files, at least 2 are needed", folder.display(), files.len()));
        }
        let solids = files.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { files, solids })
    }

    /// Number of files, including those that cannot be prepared.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Name of the file with the given index.
    #[must_use]
    pub fn name(&self, index: usize) -> String {
        self.files[index].file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    }

    /// The solid of the file with the given index; `None` if the file cannot be prepared.
    pub fn solid(&self, index: usize) -> Option<&NamedSolid> {
        let load = || {
            let (body, own) = prepare(&self.files[index]).and_then(|model| first_body(&model))?;
            Ok(NamedSolid { name: self.name(index), body, own })
        };
        self.solids[index].get_or_init(load).as_ref().ok()
    }

    /// Messages of the files that could not be prepared.
    #[must_use]
    pub fn refused(&self) -> Vec<String> {
        let message = |(i, cell): (usize, &OnceLock<Fallible<NamedSolid>>)| {
            cell.get()?.as_ref().err().map(|e| format!("{}: {e}", self.name(i)))
        };
        self.solids.iter().enumerate().filter_map(message).collect()
    }
}

/// Kind and geometry of a feature: `face plane`, `edge line`, `vertex`.
#[must_use]
pub fn feature_name(body: &Body, feature: &FeatureRef) -> String {
    let hierarchy = body.hierarchy();
    match feature.kind {
        FeatureKind::Face => match hierarchy.faces[feature.index as usize].surface.type_name() {
            "bezier" => "face free".to_owned(),
            name => format!("face {name}"),
        },
        FeatureKind::Edge => {
            let name = match hierarchy.edges[feature.index as usize].curve {
                Curve::Line { .. } => "line",
                Curve::Circle { .. } => "circle",
                Curve::Bezier(_) => "free",
                _ => "conic",
            };
            format!("edge {name}")
        }
        FeatureKind::Vertex => "vertex".to_owned(),
    }
}
