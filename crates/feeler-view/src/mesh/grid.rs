//! Grid of points inside a face.
//!
//! # Source
//! The error of linear interpolation over a cell of `hu` by `hv` is at most
//! `(hu² |∂uu| + 2 hu hv |∂uv| + hv² |∂vv|) / 8`. Only its component along the normal moves a triangle
//! away from the surface.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of cells of one face"
)]

use feeler_geom::{P2, Rect, Surface};

/// Largest aspect ratio of a cell where the surface is straight in one direction. A larger value gives
/// larger bounding boxes of triangles, a smaller one gives more triangles.
const MAX_ASPECT: f64 = 4.0;
/// Largest angle (rad) by which the normal turns across a cell, so that a sphere or a torus keeps its shape
/// however large the chord error is. A larger value leaves no volume between two cells of a full turn; a
/// smaller one gives more triangles than the chord error requires.
const MAX_TURN: f64 = 2.2;
/// Number of samples of a face along each parameter, at which its curvature is computed. A larger value
/// is slower; with a smaller one, sharp bends are missed and the mesh deviates more.
const SAMPLES: usize = 24;

/// Lines of a face's grid at which one of the two parameters is constant.
pub(super) struct Axis {
    /// Values of that parameter on the lines, increasing.
    pub(super) at: Vec<f64>,
    /// Distance of neighbouring lines in the plane of the triangulation, in which all cells of the grid
    /// are equal.
    pub(super) pitch: f64,
}

impl Axis {
    /// Computes the lines between the parameters `lo` and `hi`. Their spacing is at most the allowed
    /// step everywhere; `steps` are the allowed spacings in equal parts of `[lo, hi]`.
    fn new(lo: f64, hi: f64, steps: &[f64]) -> Self {
        let part = (hi - lo) / steps.len() as f64;
        let weights: Vec<f64> = steps.iter().map(|h| part / h).collect();
        let total: f64 = weights.iter().sum();
        let n = total.ceil().clamp(1.0, 1e4) as usize;
        let mut at = vec![lo];
        let (mut k, mut before) = (0, 0.0);
        for i in 1..n {
            let goal = total * i as f64 / n as f64;
            while k + 1 < weights.len() && before + weights[k] < goal {
                before += weights[k];
                k += 1;
            }
            at.push(lo + part * (k as f64 + (goal - before) / weights[k]));
        }
        at.push(hi);
        Self { at, pitch: 1.0 }
    }

    fn cells(&self) -> usize {
        self.at.len() - 1
    }

    fn cell(&self, x: f64) -> usize {
        self.at.partition_point(|a| *a <= x).clamp(1, self.cells()) - 1
    }

    pub(super) fn width(&self, x: f64) -> f64 {
        let i = self.cell(x);
        self.at[i + 1] - self.at[i]
    }

    /// Number of cells, with a fraction, from the first line to the parameter `x`.
    pub(super) fn position(&self, x: f64) -> f64 {
        let i = self.cell(x);
        i as f64 + (x - self.at[i]) / (self.at[i + 1] - self.at[i])
    }
}

/// Computes the grid of a face, whose parameters are in `rect`, for a chord error (mm).
pub(super) fn axes(surface: &Surface, rect: &Rect, chord: f64) -> [Axis; 2] {
    // Largest normal curvature and largest speed in each column and row.
    let (mut bend, mut speed) = ([[0.0_f64; SAMPLES]; 2], [[0.0_f64; SAMPLES]; 2]);
    for i in 0..SAMPLES {
        for j in 0..SAMPLES {
            let part = |k: usize| (k as f64 + 0.5) / SAMPLES as f64;
            let d =
                surface.derivs(P2::new(rect.u0 + part(i) * rect.width(), rect.v0 + part(j) * rect.height()));
            let n = d.du.cross(&d.dv).try_normalize(0.0).unwrap_or_default();
            let (lu, lv) = (d.du.norm(), d.dv.norm());
            // 2 hu hv |∂uv| ≤ |∂uv| (hu² s + hv² / s) for every s > 0; equal steps in space make both
            // terms equal.
            let twist = n.dot(&d.duv).abs();
            let by = |s: f64| if twist > 0.0 { twist * s } else { 0.0 };
            bend[0][i] = bend[0][i].max(n.dot(&d.duu).abs() + by(lu / lv));
            bend[1][j] = bend[1][j].max(n.dot(&d.dvv).abs() + by(lv / lu));
            speed[0][i] = speed[0][i].max(lu);
            speed[1][j] = speed[1][j].max(lv);
        }
    }
    let largest = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
    let size = [rect.width(), rect.height()];
    let budget = 8.0 * chord;
    // If one cell spans a direction, the other direction may use its share of the error.
    let whole = [0, 1].map(|k| largest(&bend[k]) * size[k] * size[k] / budget);
    let share = |k: usize| if whole[1 - k] < 0.1 { 1.0 - whole[1 - k] } else { 0.5 };
    let mut steps = [0, 1].map(|k| bend[k].map(|b| (budget * share(k) / b).sqrt().min(size[k])));
    for k in 0..2 {
        for (h, (s, b)) in steps[k].iter_mut().zip(speed[k].iter().zip(&bend[k])) {
            *h = h.min(MAX_TURN * s / b);
        }
    }
    let shortest = [0, 1].map(|k| {
        let each = steps[k].iter().zip(&speed[k]).map(|(h, s)| h * s);
        each.fold(f64::INFINITY, f64::min)
    });
    let flat = steps.iter().zip(size).all(|(s, size)| s.iter().all(|h| *h >= size));
    if !flat {
        for k in 0..2 {
            for (h, s) in steps[k].iter_mut().zip(&speed[k]) {
                *h = h.min(MAX_ASPECT * shortest[1 - k] / s);
            }
        }
    }
    let mut out = [Axis::new(rect.u0, rect.u1, &steps[0]), Axis::new(rect.v0, rect.v1, &steps[1])];
    if flat {
        for k in 0..2 {
            out[k].pitch = size[k] * largest(&speed[k]);
        }
    }
    out
}
