//! Which sheet of a spindle torus a face is on.

use super::{TrimCells, TrimPiece};
use crate::{Rect, Surface, math};
use std::f64::consts::TAU;

/// A parameter rectangle narrower than a whole turn by this (rad) is cut off at the tips.
const LESS: f64 = 1e-6;

/// Whether a face is on the inner sheet of a spindle torus, beyond its self-intersection on the axis (where
/// `R + r cos v` is negative): told by the point of its boundary farthest from the axis. A face without a
/// boundary is on the sheet that the rectangle is cut down to, or on the outer one. `false` for all other
/// surfaces.
#[must_use]
pub fn on_inner_sheet(surface: &Surface, rect: &Rect, boundary: &[TrimPiece]) -> bool {
    let Surface::Torus { major, minor, .. } = surface else { return false };
    if major >= minor {
        return false;
    }
    let from_axis = |v: f64| major + minor * math::cos(v);
    let ends = boundary.iter().flat_map(|p| [p.eval(0.0), p.eval(0.5), p.eval(1.0)]);
    let farthest = ends.map(|p| from_axis(p.y)).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    farthest.map_or_else(
        || rect.v1 - rect.v0 < TAU - LESS && from_axis(0.5 * (rect.v0 + rect.v1)) < 0.0,
        |d| d < 0.0,
    )
}

impl TrimCells {
    /// [`on_inner_sheet`] of the face with this trimmed domain.
    #[must_use]
    pub fn on_inner_sheet(&self, surface: &Surface) -> bool {
        on_inner_sheet(surface, &self.rect, &self.pieces)
    }
}
