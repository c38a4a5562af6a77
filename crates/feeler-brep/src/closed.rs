//! Solids bounded by one closed spline surface.

use feeler_geom::Surface;
use feeler_geom::bezier::BezierSurface;

use crate::source::{FaceSource, SolidSource};

/// Creates a solid with one face and no edges: a whole grid of patches that closes by periods in both
/// directions, or by a period in one direction and collapsed sides in the other. Its natural normal
/// should point outwards; otherwise [`build_solid`](crate::build::build_solid) reverses the face and
/// remarks on it.
#[must_use]
pub fn closed_surface(name: &str, grid: BezierSurface) -> SolidSource {
    let face = FaceSource {
        id: 1,
        shell: 0,
        surface: Surface::Bezier(grid),
        surface_deviation: 0.0,
        outward: true,
        either_way: false,
        outer_sheet: None,
        loops: Vec::new(),
    };
    SolidSource { name: name.to_owned(), faces: vec![face], ..SolidSource::default() }
}
