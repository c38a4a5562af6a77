//! Where the derivatives of a function over a grid may be zero.

use super::CELL_SLACK;

/// The linear model of a function's derivatives over a cell of a patch's grid, for one step of the grid.
pub(super) struct Cell {
    /// At the corners: first, next in u, next in v, next in both.
    pub(super) corners: [[f64; 2]; 4],
    /// Derivatives in the middle.
    pub(super) first: [f64; 2],
    /// By u twice, by both, by v twice.
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

    /// Smallest and largest derivative at the corners; those that are no numbers left out.
    pub(super) fn range(&self, x: usize) -> (f64, f64) {
        self.corners
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), s| (lo.min(s[x]), hi.max(s[x])))
    }

    /// Whether each of the derivatives may pass zero in the cell.
    pub(super) fn passes_zero(&self) -> bool {
        (0..2).all(|x| {
            let (lo, hi) = self.range(x);
            let room = CELL_SLACK * (hi - lo);
            lo - room <= 0.0 && hi + room >= 0.0
        })
    }

    /// Whether both derivatives may be zero in one place within `reach` steps of the middle, when they leave
    /// the model by `room` of their range: told by the sums of both in which the model leaves only one of the
    /// parameters.
    pub(super) fn may_be_critical(&self, reach: f64, room: f64) -> bool {
        let ([g, h], [uu, uv, vv]) = (self.first, self.second);
        let [of_g, of_h] = [0, 1].map(|x| {
            let (lo, hi) = self.range(x);
            room * (hi - lo)
        });
        let most = reach * self.determinant().abs();
        let is_off = |p: f64, q: f64| (p * g - q * h).abs() > most + p.abs() * of_g + q.abs() * of_h;
        !(is_off(vv, uv) || is_off(uv, uu))
    }
}
