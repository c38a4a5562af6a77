//! Bounds of the normal curvatures of a free-form patch over an area.
//!
//! # Source
//! Taylor's theorem with the bounds of third derivatives of `feeler_geom`, cell by cell.

use super::{MARGIN, at};
use crate::body::Body;
use feeler_geom::VectorBall;
use feeler_hierarchy::{AreaId, Feature};

/// Number of cells along each parameter over which curvatures are bounded. More cells give tighter bounds
/// and cost more.
const CELLS: u8 = 4;

/// Bounds of the normal curvatures (1/mm) of a patch over an area and [`MARGIN`] beyond it, with respect to
/// the outward normal: positive where the material is convex. They are infinite where the patch collapses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurvatureBounds {
    /// Lower bound (1/mm) of all normal curvatures over the area.
    pub min: f64,
    /// Upper bound (1/mm) of all normal curvatures over the area.
    pub max: f64,
    /// Upper bound (1/mm) of the smaller principal curvature over the area.
    smaller: f64,
    /// Lower bound (1/mm) of the larger principal curvature over the area.
    larger: f64,
    /// Largest absolute normal curvature (1/mm) of the patch at the middles of the cells of the area.
    sampled: f64,
}

/// Ratio of the assumed largest absolute curvature of an area to that at the middles of its cells, where
/// the bounds are larger or infinite, as near a point where the patch collapses. A larger value solves more
/// pairs there; with a smaller one, quasi-minima are missed.
const MAX_OVER_SAMPLED: f64 = 2.0;

impl CurvatureBounds {
    pub(super) fn of_area(body: &Body, index: AreaId) -> Self {
        let area = body.area(index);
        let Feature::Face(f) = area.feature else { unreachable!("an area of a face") };
        let face = body.face(f);
        let (wu, wv) = (area.rect.width(), area.rect.height());
        let third = body.third_derivatives_of(index).each_ref().map(VectorBall::norm);
        let radius = 0.5 * (1.0 + 2.0 * MARGIN) / f64::from(CELLS);
        let middle = |i: u8| radius * f64::from(2 * i + 1) - MARGIN;
        let mut out = Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            smaller: f64::NEG_INFINITY,
            larger: f64::INFINITY,
            sampled: 0.0,
        };
        for (i, j) in (0..CELLS).flat_map(|i| (0..CELLS).map(move |j| (i, j))) {
            let uv = at(&area.rect, middle(i), middle(j));
            let bend = face.surface.curvatures(uv).iter().fold(0.0, |most: f64, k| most.max(k.abs()));
            if bend.is_finite() {
                out.sampled = out.sampled.max(bend);
            }
            let d = face.surface.derivs(uv);
            let second = [d.duu * (wu * wu), d.duv * (wu * wv), d.dvv * (wv * wv)];
            let second = [0, 1, 2].map(|s| VectorBall::new(second[s], (third[s] + third[s + 1]) * radius));
            let first = [d.du * wu, d.dv * wv];
            let first =
                [0, 1].map(|s| VectorBall::new(first[s], (second[s].norm() + second[s + 1].norm()) * radius));
            out.join(&of_cell(&first, &second, if face.outward { 1.0 } else { -1.0 }));
        }
        out
    }

    fn join(&mut self, cell: &Self) {
        self.min = self.min.min(cell.min);
        self.max = self.max.max(cell.max);
        self.smaller = self.smaller.max(cell.smaller);
        self.larger = self.larger.min(cell.larger);
    }

    /// Estimate of the largest absolute curvature (1/mm). It is an upper bound except near a point where
    /// the patch collapses.
    pub(crate) fn bend(&self) -> f64 {
        let bound = self.min.abs().max(self.max.abs());
        let estimate = MAX_OVER_SAMPLED * self.sampled;
        if bound <= estimate { bound } else { estimate }
    }

    /// Smallest and largest signed distance (mm) from the area of points whose nearest point of the
    /// surface can lie in the area. The limits are the centres of curvature on both sides.
    pub(crate) fn focal_range(&self) -> [f64; 2] {
        [
            if self.larger > 0.0 { -1.0 / self.larger } else { f64::NEG_INFINITY },
            if self.smaller < 0.0 { -1.0 / self.smaller } else { f64::INFINITY },
        ]
    }

    /// Bounds of the normal curvatures (1/mm) of the parallel surfaces at signed distances (mm) in a range;
    /// infinite where one of them has a cusp.
    pub(crate) fn at_offsets(&self, [lo, hi]: [f64; 2]) -> [f64; 2] {
        let parallel = |k: f64, d: f64| {
            let scale = 1.0 + d * k;
            if scale > 0.0 { k / scale } else { f64::INFINITY * k.signum() }
        };
        // k / (1 + d k) increases with k and decreases with d.
        [parallel(self.min, hi), parallel(self.max, lo)]
    }
}

/// Bounds over one cell, given balls around its first (u, v) and second (uu, uv, vv) derivatives.
/// `outward` is 1 if the natural normal points out of the material, and −1 otherwise.
fn of_cell(first: &[VectorBall; 2], second: &[VectorBall; 3], outward: f64) -> CurvatureBounds {
    let everything = CurvatureBounds {
        min: f64::NEG_INFINITY,
        max: f64::INFINITY,
        smaller: f64::INFINITY,
        sampled: 0.0,
        larger: f64::NEG_INFINITY,
    };
    let normal = first[0].cross(&first[1]);
    let length = normal.center.norm();
    let shortest = first.each_ref().map(|t| t.center.norm() - t.radius);
    if !(length > 2.0 * normal.radius && shortest[0] > 0.0 && shortest[1] > 0.0) {
        return everything;
    }
    // Unit vectors differ by at most twice the difference of the vectors over the longer one.
    let inward = VectorBall::new(normal.center * (-outward / length), 2.0 * normal.radius / length);
    let form = second.each_ref().map(|s| {
        let (x, r) = s.dot(&inward);
        [x - r, x + r]
    });
    let longest = first.each_ref().map(VectorBall::norm);
    // Normal curvatures along both parameters.
    let along = |s: usize, [lo, hi]: [f64; 2]| {
        let (short, long) = (shortest[s] * shortest[s], longest[s] * longest[s]);
        [if lo < 0.0 { lo / short } else { lo / long }, if hi > 0.0 { hi / short } else { hi / long }]
    };
    let (u, v) = (along(0, form[0]), along(1, form[2]));
    let area = shortest[0] * shortest[1];
    let mixed = form[1][0].abs().max(form[1][1].abs()) / area;
    let (cos, open) = first[0].dot(&first[1]);
    let skew = (cos.abs() + open) / area;
    if skew >= 1.0 {
        return everything;
    }
    let (lo, hi) = (u[0].min(v[0]) - mixed, u[1].max(v[1]) + mixed);
    CurvatureBounds {
        min: if lo < 0.0 { lo / (1.0 - skew) } else { lo / (1.0 + skew) },
        max: if hi > 0.0 { hi / (1.0 - skew) } else { hi / (1.0 + skew) },
        smaller: u[1].min(v[1]),
        sampled: 0.0,
        larger: u[0].max(v[0]),
    }
}
