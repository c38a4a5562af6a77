//! Assignment of a face to the inner or outer sheet of a spindle torus.

use super::{TrimCells, TrimPiece};
use crate::{Rect, Surface, math};
use std::f64::consts::TAU;

/// Minimum angle (rad) by which the parameter rectangle of a face without a boundary must fall short of
/// a full turn in v to count as one sheet of a spindle torus, which ends at the tips. With a larger
/// value the outer sheet is chosen for a rectangle that is slightly cut; with a smaller one rounding of
/// a full turn counts as a cut.
const MIN_MISSING_TURN: f64 = 1e-6;

/// Whether a face is on the inner sheet of a spindle torus, beyond its self-intersection on the axis
/// (where `R + r cos v` is negative). The point of its boundary farthest from the axis decides. A face
/// without a boundary is on the sheet to which its parameter rectangle `rect` is restricted, or else on
/// the outer one. `false` for all other surfaces.
#[must_use]
pub fn on_inner_sheet(surface: &Surface, rect: &Rect, boundary: &[TrimPiece]) -> bool {
    let Surface::Torus { major, minor, .. } = surface else { return false };
    if major >= minor {
        return false;
    }
    let axis_distance = |v: f64| major + minor * math::cos(v);
    let ends = boundary.iter().flat_map(|p| [p.eval(0.0), p.eval(0.5), p.eval(1.0)]);
    let farthest = ends.map(|p| axis_distance(p.y)).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    farthest.map_or_else(
        || rect.v1 - rect.v0 < TAU - MIN_MISSING_TURN && axis_distance(0.5 * (rect.v0 + rect.v1)) < 0.0,
        |d| d < 0.0,
    )
}

impl TrimCells {
    /// Whether a face on `surface` with this trimmed domain is on the inner sheet of a spindle torus, by
    /// [`on_inner_sheet`].
    #[must_use]
    pub fn on_inner_sheet(&self, surface: &Surface) -> bool {
        on_inner_sheet(surface, &self.rect, &self.pieces)
    }
}
