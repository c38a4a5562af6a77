//! The solids of a folder, and the names of their features.

use crate::{Fallible, first_body, prepare, step_files};
use feeler_geom::{Curve, Pose};
use feeler_runtime::{Body, FeatureKind, FeatureRef};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A solid of a file.
#[derive(Clone, Debug)]
pub struct NamedSolid {
    /// Name of the file.
    pub name: String,
    /// Prepared solid.
    pub body: Arc<Body>,
    /// Pose of the solid in the file.
    pub own: Pose,
}

/// Loads the first solid of each STEP file of a folder, sorted by file name. Files that cannot be prepared
/// are returned as messages.
///
/// # Errors
/// Fewer than two solids are left.
pub fn load(folder: &Path) -> Fallible<(Vec<NamedSolid>, Vec<String>)> {
    let files = step_files([folder]);
    let load_one = |file: &std::path::PathBuf| {
        let name = file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let (body, own) =
            prepare(file).and_then(|model| first_body(&model)).map_err(|e| format!("{name}: {e}"))?;
        Ok(NamedSolid { name, body, own })
    };
    let loaded: Vec<Fallible<NamedSolid>> = files.par_iter().map(load_one).collect();
    let mut refused = Vec::new();
    let mut solids = Vec::new();
    for one in loaded {
        match one {
            Ok(solid) => solids.push(solid),
            Err(message) => refused.push(message),
        }
    }
    if solids.len() < 2 {
        return Err(format!("{}: {} solids, at least 2 are needed", folder.display(), solids.len()));
    }
    Ok((solids, refused))
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
