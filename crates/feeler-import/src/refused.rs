//! Solids of a STEP file that are refused, with what is needed to show where: outlines and places.

use crate::solid::{self, Refusal};
use feeler_brep::build::Problem;
use feeler_geom::{P3, Pose};
use feeler_hierarchy::Options;
use feeler_step::{ReadOptions, Reading};
use std::path::Path;

/// Maximum number of places that are listed of one solid. With a larger number a page is long; with a
/// smaller one problems are not shown.
const MAX_PLACES: usize = 40;

/// A solid that could not be prepared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefusedSolid {
    /// Entity number of the solid in its file.
    pub source: u64,
    /// Name of the solid, possibly empty.
    pub name: String,
    /// Line segments (mm, in the coordinates of the solid) along the edges of the file.
    pub outline: Vec<[P3; 2]>,
    /// Poses of the instances of the solid in the model; one identity if the file places it nowhere.
    pub poses: Vec<Pose>,
    /// Places of the problems, at most 40.
    pub places: Vec<RefusedPlace>,
    /// Number of further problems.
    pub more: usize,
}

/// One reason why a solid is refused, and its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefusedPlace {
    /// Number of the vertex, edge or face in the file; `None` if the problem concerns the whole solid.
    pub entity: Option<u64>,
    /// A point of that entity (mm, in the coordinates of the solid); `None` if it has no position.
    pub point: Option<P3>,
    /// Line segments (mm, in the coordinates of the solid) along the edge, or around the face.
    pub lines: Vec<[P3; 2]>,
    /// Description of the problem.
    pub message: String,
}

/// Reads a STEP file once more and returns those of its solids that cannot be prepared, for reports. The
/// list is empty for STL files, and for files that cannot be read.
#[must_use]
pub fn refused_solids(path: &Path, bytes: &[u8], options: &Options, reading: Reading) -> Vec<RefusedSolid> {
    if crate::is_stl(path) {
        return Vec::new();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let resolve = |other: &str| feeler_step::read_below(folder, other);
    let file = path.display().to_string();
    let read = feeler_step::read_step_with(&file, bytes, &ReadOptions { resolve: &resolve, reading });
    let Ok(import) = read else { return Vec::new() };
    let mut out = Vec::new();
    for (i, source) in import.solids.iter().enumerate() {
        let problems: Vec<(Option<u64>, String)> = match solid::prepared(source, "", options) {
            Err(Refusal::Build(e)) => {
                e.problems.iter().map(|p| (Problem::entity(p), p.to_string())).collect()
            }
            Err(Refusal::Prepare(e, _)) => vec![(e.entity(), e.to_string())],
            Ok(_) => continue,
        };
        let place = |(entity, message): &(Option<u64>, String)| RefusedPlace {
            entity: *entity,
            point: entity.and_then(|e| source.place_of(e)),
            lines: entity.map_or_else(Vec::new, |e| source.outline(Some(e))),
            message: message.clone(),
        };
        let mut poses: Vec<Pose> = import.instances.iter().filter(|n| n.solid == i).map(|n| n.pose).collect();
        if poses.is_empty() {
            poses.push(Pose::identity());
        }
        out.push(RefusedSolid {
            source: source.id,
            name: source.name.clone(),
            outline: source.outline(None),
            poses,
            places: problems.iter().take(MAX_PLACES).map(place).collect(),
            more: problems.len().saturating_sub(MAX_PLACES),
        });
    }
    out
}
