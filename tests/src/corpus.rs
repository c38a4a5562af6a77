//! Access to the shared corpus: solids identified by their properties, and distances of points from
//! solids.

use crate::brute_force::Domain;
use crate::insertion::Insertion;
use feeler_brep::Solid;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_geom::{P3, Pose};
use feeler_hierarchy::Options;
use feeler_runtime::Body;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// Properties that identify a solid even if readers list the solids of a file in different orders (mm, in
/// the coordinates of the file).
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// Volume (mm³) of the solid.
    pub volume_mm3: f64,
    /// Surface area (mm²) of the solid.
    pub area_mm2: f64,
    /// Bounding box: the three minimum coordinates (mm), then the three maximum ones.
    pub bbox_mm: [f64; 6],
    /// Number of faces.
    pub faces: usize,
}

/// Returns the solid of a file that fits the facts best.
///
/// # Panics
/// If the file cannot be imported or no solid fits.
#[must_use]
pub fn find_part(path: &Path, facts: &Facts) -> crate::Part {
    let import = feeler_step::read_step(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let expected_center = P3::new(
        0.5 * (facts.bbox_mm[0] + facts.bbox_mm[3]),
        0.5 * (facts.bbox_mm[1] + facts.bbox_mm[4]),
        0.5 * (facts.bbox_mm[2] + facts.bbox_mm[5]),
    );
    let size = (0..3).map(|i| (facts.bbox_mm[i + 3] - facts.bbox_mm[i]).abs()).fold(0.0, f64::max);
    let mut best: Option<(f64, Solid, Pose)> = None;
    for place in &import.instances {
        let source = &import.solids[place.solid];
        if source.faces.len() != facts.faces {
            continue;
        }
        let Ok(solid) = build_solid(source, &BuildOptions::default()) else { continue };
        let center = place.pose * solid.bounds.center();
        let cost = ((solid.volume - facts.volume_mm3) / facts.volume_mm3).abs()
            + ((solid.area - facts.area_mm2) / facts.area_mm2).abs()
            + (center - expected_center).norm() / size;
        if best.as_ref().is_none_or(|b| cost < b.0) {
            best = Some((cost, solid, place.pose));
        }
    }
    let (cost, solid, pose) =
        best.unwrap_or_else(|| panic!("{}: no solid has {} faces", path.display(), facts.faces));
    assert!(cost < 0.2, "{}: the best fit is off by {cost}", path.display());
    let hierarchy =
        feeler_prepare::prepare_solid(&solid, &Options { flatness: feeler_import::DEFAULT_FLATNESS })
            .expect("prepares");
    crate::Part { body: Arc::new(Body::new(hierarchy).expect("well formed")), solid, pose }
}

/// Distance (mm) from a point to the solid's boundary, by inverting the point on every face. The method
/// does not use hierarchies, cells and skeletons.
#[must_use]
pub fn boundary_distance(solid: &Solid, p: &P3) -> f64 {
    let mut best = f64::INFINITY;
    for (i, f) in solid.shell.faces.iter().enumerate() {
        let uv = f.surface.invert(p, None, Some(&solid.faces[i].domain.rect));
        let d = (f.surface.point(uv) - p).norm();
        if d < best {
            let domain = Domain::new(solid, i);
            let off = if domain.inside(uv) { 0.0 } else { domain.boundary_distance(&f.surface, uv) };
            best = best.min(d + off);
        }
    }
    best
}

/// Loads the insertion scenarios of `data/`, and those of the shared corpus if it is present.
///
/// # Panics
/// If a file exists but cannot be used.
#[must_use]
pub fn scenarios() -> Vec<Insertion> {
    let shared = crate::shared_dir().map(|d| d.join("scenarios"));
    let folders = std::iter::once(crate::data_dir()).chain(shared);
    let load = |f: std::path::PathBuf| Insertion::load_all(&f, feeler_import::DEFAULT_FLATNESS);
    folders.flat_map(|f| load(f).unwrap_or_else(|e| panic!("{e}"))).collect()
}
