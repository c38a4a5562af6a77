//! Cells of a grid in which the derivatives of a function may be zero.

use super::CELL_SLACK;

/// Linear model of a function's derivatives over a cell of a patch's grid, per step of the grid.
pub(super) struct Cell {
    /// Derivatives by u and v at the corners: the first one, the next in u, the next in v, the next in
    /// both.
    pub(super) corners: [[f64; 2]; 4],
    /// First derivatives by u and v in the middle of the cell.
    pub(super) first: [f64; 2],
    /// Second derivatives of the model: uu, uv, vv.
    pub(super) second: [f64; 3],
}

impl Cell {
    pub(super) fn new(corners: [&[f64; 2]; 4]) -> Self {
        let corners = corners.map(|c| *c);
        let [a, b, c, d] = corners;
        let along = |x: usize| 0.5 * (b[x] + d[x] - a[x] - c[x]);
        let across = |x: usize| 0.5 * (c[x] + d[x] - a[x] - b[x]);
        let first = [0, 1].map(|x| 0.25 * (a[x] + b[x] + c[x] + d[x]));
        Self { corners, first, second: [along(0), 0.5 * (across(0) + along(1)), across(1)] }
    }

    pub(super) fn determinant(&self) -> f64 {
        let [uu, uv, vv] = self.second;
        uu * vv - uv * uv
    }

    /// Smallest and largest value at the corners of the derivative with index `x` (0 for u, 1 for v),
    /// NaN excluded.
    pub(super) fn range(&self, x: usize) -> (f64, f64) {
        self.corners
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), s| (lo.min(s[x]), hi.max(s[x])))
    }

    /// Whether each of the two derivatives may be zero somewhere in the cell, not necessarily at one
    /// point.
    pub(super) fn passes_zero(&self) -> bool {
        (0..2).all(|x| {
            let (lo, hi) = self.range(x);
            let slack = CELL_SLACK * (hi - lo);
            lo - slack <= 0.0 && hi + slack >= 0.0
        })
    }

    /// Whether both derivatives may be zero at one point within `reach` grid steps of the middle of the
    /// cell, if they deviate from the model by at most `slack` times their range. Tests the two
    /// combinations of the derivatives that depend on only one of the parameters in the model.
    pub(super) fn may_be_critical(&self, reach: f64, slack: f64) -> bool {
        let ([g, h], [uu, uv, vv]) = (self.first, self.second);
        let [of_g, of_h] = [0, 1].map(|x| {
            let (lo, hi) = self.range(x);
            slack * (hi - lo)
        });
        let limit = reach * self.determinant().abs();
        let is_off = |p: f64, q: f64| (p * g - q * h).abs() > limit + p.abs() * of_g + q.abs() * of_h;
        !(is_off(vv, uv) || is_off(uv, uu))
    }
}
