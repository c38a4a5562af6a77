//! Sides of patches that are a single point.
//!
//! The meridian of a footpoint near a pole has the direction from the pole to the point. All meridians
//! are near the pole, and Newton's method from the nearest grid point may step over it. The parameters
//! behind the pole do not belong to the surface, and the patch's equations have a reversed normal there.

use super::{Grid, SIDE, side, step};
use feeler_geom::{P3, V3, math};

/// Distance outside a patch, along the unit-box parameter that changes from meridian to meridian, up to
/// which footpoints near a pole are searched. A larger value finds footpoints of adjacent patches; with
/// a smaller one, minima near poles are lost.
const BEYOND_MERIDIANS: f64 = 0.5;

/// A side of a patch that is a single point. The meridians are the parameter lines that begin at this
/// point.
#[derive(Clone, Debug)]
pub(crate) struct Pole {
    pub point: P3,
    /// Unit vector about which the directions of the meridians turn.
    pub axis: V3,
    /// Index (0 for u, 1 for v) of the parameter that changes along the meridians; it is constant on the
    /// side.
    along: usize,
    /// Value of that parameter at the pole, 0 or 1.
    value: f64,
    /// Derivatives of the surface by the unit-box parameter along the meridians, pointing away from the
    /// pole, at the grid points of the side.
    meridians: [V3; SIDE],
}

impl Pole {
    /// Returns the pole on a side of a grid; `None` if its meridians all have one direction. `along` and
    /// `is_end` select the side as in `Grid::point_sides`.
    pub(super) fn new(grid: &Grid, along: usize, is_end: bool) -> Option<Self> {
        let points = side(along, is_end);
        let inwards = if is_end { -1.0 } else { 1.0 };
        let meridians = points.map(|k| grid.tangents[k][along] * (inwards / step(1, SIDE)));
        let turns = meridians.windows(2).map(|m| m[0].cross(&m[1]));
        let axis = turns.sum::<V3>().try_normalize(f64::MIN_POSITIVE)?;
        let value = if is_end { 1.0 } else { 0.0 };
        Some(Self { point: grid.points[points[0]], axis, along, value, meridians })
    }

    /// Vector (mm) from the pole to a point, projected to the plane across the axis, and the height (mm)
    /// of the point along the axis.
    pub(crate) fn offset(&self, p: &P3) -> (V3, f64) {
        let from = p - self.point;
        let height = from.dot(&self.axis);
        (from - self.axis * height, height)
    }

    /// Whether unit-box parameters are behind the pole: outside the patch, beyond the side that is a point.
    pub(crate) fn is_behind(&self, at: &[f64; 2]) -> bool {
        if self.value > 0.0 { at[self.along] > 1.0 } else { at[self.along] < 0.0 }
    }

    /// Index (0 for u, 1 for v) of the parameter that changes along the meridians.
    pub(super) fn along(&self) -> usize {
        self.along
    }

    /// Unit-box parameters of the pole: those of the middle of the side, all of which is the pole.
    pub(crate) fn params(&self) -> [f64; 2] {
        let mut out = [0.5; 2];
        out[self.along] = self.value;
        out
    }

    /// Whether all meridians are orthogonal to the axis up to an angle (rad), so that the surface has a
    /// tangent plane at the pole.
    pub(crate) fn is_smooth(&self, angle: f64) -> bool {
        self.meridians.iter().all(|m| m.dot(&self.axis).abs() <= angle * m.norm())
    }

    /// Unit-box parameters near the footpoint of a point near the pole: on the meridian in the direction
    /// of the point, at most [`BEYOND_MERIDIANS`] outside the patch.
    pub(crate) fn start(&self, p: &P3) -> [f64; 2] {
        let (across, _) = self.offset(p);
        let flat = self.meridians.map(|m| m - self.axis * m.dot(&self.axis));
        let turn = |from: &V3, to: &V3| math::atan2(self.axis.dot(&from.cross(to)), from.dot(to));
        let mut angles = [0.0; SIDE];
        for k in 1..SIDE {
            angles[k] = angles[k - 1] + turn(&flat[k - 1], &flat[k]);
        }
        let middle = SIDE / 2;
        let angle = angles[middle] + turn(&flat[middle], &across);
        let k = (1..SIDE - 1).rev().find(|&k| angles[k] <= angle).unwrap_or(0);
        let x = step(k, SIDE) + step(1, SIDE) * (angle - angles[k]) / (angles[k + 1] - angles[k]);
        let length = flat[middle].norm();
        let y = if length > 0.0 { (across.norm() / length).min(0.5) } else { 0.5 };
        let mut out =
            [if x.is_finite() { x.clamp(-BEYOND_MERIDIANS, 1.0 + BEYOND_MERIDIANS) } else { 0.5 }; 2];
        out[self.along] = if self.value > 0.0 { 1.0 - y } else { y };
        out
    }
}
