//! Integrals over trimmed domains by Green's theorem: `∬ f du dv = ∮ F dv` with `∂F/∂u = f`.
//!
//! Cuts along a seam have no boundary pieces. Their contribution is added where the domain reaches the
//! right side of its rectangle, at the largest u; on the left side `F` vanishes.
//!
//! # Source
//! MATH §6 (self-check at import).

mod series;

use std::f64::consts::PI;
use std::sync::LazyLock;

use super::cells::extent;
use super::piece::solve_monotone;
use super::tree::{self, UvBox};
use super::{TrimCells, TrimPiece};
use crate::{P2, Rect, math};
use series::{Antiderivative, Samples};

/// Maximum number of halvings of one smooth segment of a line integral, after which the current estimate
/// is used. Rounding is reached earlier unless the integrand is singular. A larger value is slower for
/// singular integrands, a smaller one less accurate.
const MAX_DEPTH: u32 = 14;

/// Computes the nodes and weights of the Gauss–Legendre rule with `n` points on [0, 1], which is exact
/// for polynomials of degree `2n - 1`.
#[must_use]
pub fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let nf = as_f64(n);
    (0..n)
        .map(|i| {
            let mut x = -math::cos(PI * (as_f64(i) + 0.75) / (nf + 0.5));
            let mut dp = 1.0;
            // Newton from this start converges within four steps.
            for _ in 0..8 {
                let (mut p0, mut p1) = (1.0, x);
                for k in 2..=n {
                    let kf = as_f64(k);
                    (p0, p1) = (p1, ((2.0 * kf - 1.0) * x * p1 - (kf - 1.0) * p0) / kf);
                }
                dp = nf * (x * p1 - p0) / (x * x - 1.0);
                x -= p1 / dp;
            }
            (0.5 * (1.0 + x), 1.0 / ((1.0 - x * x) * dp * dp))
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
pub(super) fn as_f64(n: usize) -> f64 {
    n as f64
}

/// Path on which a line integral `∫ F dv` has a smooth integrand.
#[derive(Clone, Copy)]
enum Path {
    /// Part of the boundary piece with index `piece` over its parameters `[t0, t1]`.
    Piece { piece: usize, t0: f64, t1: f64 },
    /// Line of constant u, traversed from `v0` up to `v1`.
    Up { u: f64, v0: f64, v1: f64 },
}

/// Path within one cell of a [`Grid`], with the cell's column (index in u) and row (index in v).
struct Segment {
    path: Path,
    column: usize,
    row: usize,
}

/// Lines of constant u and of constant v, sorted, at which integrands are not smooth, including the
/// sides of the domain's rectangle. They divide the rectangle into cells.
struct Grid {
    u: Vec<f64>,
    v: Vec<f64>,
}

/// Returns the lines of a grid in one parameter, increasing: `lo`, `hi` and the `breaks` between these
/// two.
fn lines(lo: f64, hi: f64, breaks: &[f64]) -> Vec<f64> {
    let mut out = vec![lo];
    out.extend(breaks.iter().copied().filter(|b| lo < *b && *b < hi));
    out.push(hi);
    out.sort_by(f64::total_cmp);
    out.dedup();
    out
}

/// Returns the index of the interval between grid lines that contains `x`; for an `x` on a line, that of
/// the lower interval.
fn interval(lines: &[f64], x: f64) -> usize {
    lines.partition_point(|l| *l < x).clamp(1, (lines.len() - 1).max(1)) - 1
}

impl TrimCells {
    /// Computes ∬ f du dv over the domain for `K` integrands together, given their antiderivatives in u:
    /// `antiderivative(u, v)[k] = ∫_{rect.u0}^{u} f_k(s, v) ds` with `u` in `[rect.u0, rect.u1]`. Each
    /// boundary piece is integrated by Gauss–Legendre rules of increasing order and halved until two
    /// orders agree within `rel_tol`, relative to the sum of the magnitudes of all contributions.
    /// `breaks` are the parameters `(us, vs)` at which the integrands are not smooth. The result is NaN
    /// for an unbounded domain.
    #[must_use]
    pub fn integrate<const K: usize>(
        &self,
        antiderivative: &dyn Fn(P2) -> [f64; K],
        breaks: (&[f64], &[f64]),
        rel_tol: f64,
    ) -> [f64; K] {
        if !self.is_bounded() {
            return [f64::NAN; K];
        }
        let grid = self.grid(breaks);
        let mut segments = self.piece_segments(&grid);
        let last = grid.u.len() - 1;
        self.push_line(self.rect.u1, &self.right_border(), &grid, last.max(1) - 1, &mut segments);
        line_integrals(self, &segments, &|_, p| antiderivative(p), rel_tol, [0.0; K])
    }

    /// Like [`TrimCells::integrate`] without breaks, for antiderivatives that are polynomials of total
    /// degree 3 in `(u, v)`. The result is exact except for rounding, and NaN for an unbounded domain.
    #[must_use]
    pub fn integrate_cubic<const K: usize>(&self, antiderivative: &dyn Fn(P2) -> [f64; K]) -> [f64; K] {
        if !self.is_bounded() {
            return [f64::NAN; K];
        }
        let mut sum = Sum::new();
        // A cubic along a cubic times its derivative has degree 11, for which 6 nodes are exact.
        for p in &self.pieces {
            sum.add(&along_piece(&self.rect, p, (0.0, 1.0), RULES.exact(), antiderivative));
        }
        for (a, b) in self.right_border() {
            let mut out = [0.0; K];
            for (x, w) in RULES.exact() {
                let y = antiderivative(P2::new(self.rect.u1, a + (b - a) * x));
                (0..K).for_each(|k| out[k] += w * (b - a) * y[k]);
            }
            sum.add(&out);
        }
        sum.value()
    }

    /// Computes ∬ f du dv over the domain for `K` integrands together, without antiderivatives. Cells of
    /// the grid of `breaks` that are wholly inside the domain are integrated by products of
    /// Gauss–Legendre rules. Cells that contain boundary are integrated by Green's theorem with the
    /// antiderivative of the polynomial through the same nodes.
    ///
    /// The result is accurate within `rel_tol`, relative to the sums of the magnitudes of all
    /// contributions, if the integrands are smooth within the cells. Absolute errors up to `floor` are
    /// accepted as well: it is the rounding, summed over the domain, of integrands that are differences
    /// of larger numbers, below which no refinement converges. The result is NaN for an unbounded
    /// domain.
    #[must_use]
    pub fn integrate_density<const K: usize>(
        &self,
        density: &dyn Fn(P2) -> [f64; K],
        breaks: (&[f64], &[f64]),
        rel_tol: f64,
        floor: [f64; K],
    ) -> [f64; K] {
        if !self.is_bounded() {
            return [f64::NAN; K];
        }
        let grid = self.grid(breaks);
        let (nu, nv) = (grid.u.len().max(2) - 1, grid.v.len().max(2) - 1);
        if grid.u.len() < 2 || grid.v.len() < 2 {
            return [0.0; K];
        }
        let mut segments = self.piece_segments(&grid);
        let mut has_boundary = vec![false; nu * nv];
        for s in &segments {
            has_boundary[s.column * nv + s.row] = true;
        }
        let mut whole = Vec::new();
        for i in 0..nu {
            let u = grid.u[i + 1];
            let inside = if i + 1 == nu { self.right_border() } else { self.inside_on_column(u) };
            let mut side = Vec::new();
            self.push_line(u, &inside, &grid, i, &mut side);
            for s in side {
                let Path::Up { v0, v1, .. } = s.path else { continue };
                let full = v0 <= grid.v[s.row] && grid.v[s.row + 1] <= v1;
                if full && !has_boundary[i * nv + s.row] {
                    whole.push((i, s.row));
                } else {
                    has_boundary[i * nv + s.row] = true;
                    segments.push(s);
                }
            }
        }
        // The order of a cell is determined on the whole cell, even if only a part of it is in the
        // domain.
        let mut cells: Vec<(usize, usize, bool)> = whole.iter().map(|&(i, j)| (i, j, true)).collect();
        for i in 0..nu {
            cells.extend((0..nv).filter(|j| has_boundary[i * nv + j]).map(|j| (i, j, false)));
        }
        let rect = |i: usize, j: usize| [grid.u[i], grid.u[i + 1], grid.v[j], grid.v[j + 1]];
        let coarse: Vec<Samples<K>> =
            cells.iter().map(|&(i, j, _)| Samples::new(density, rect(i, j), 0, 1)).collect();
        let mut size = [0.0; K];
        for c in coarse.iter().map(Samples::integral) {
            for k in 0..K {
                size[k] += c[k].abs();
            }
        }
        let share = 1.0 / as_f64(cells.len().max(1));
        let mut sum = Sum::new();
        // Antiderivatives on the cells that contain boundary.
        let mut inner: Vec<Option<Antiderivative<K>>> = vec![];
        inner.resize_with(nu * nv, || None);
        for (&(i, j, is_whole), coarse) in cells.iter().zip(coarse) {
            let mut last = coarse.integral();
            let mut samples = coarse;
            for (order, parts) in [(1, 1), (2, 1), (3, 1), (3, 2), (3, 4), (3, 8)] {
                samples = Samples::new(density, rect(i, j), order, parts);
                let value = samples.integral();
                let good = (0..K).all(|k| {
                    let tol = rel_tol * (value[k].abs() + share * size[k]);
                    (value[k] - last[k]).abs() <= tol.max(share * floor[k])
                });
                last = value;
                if good {
                    break;
                }
            }
            if is_whole {
                sum.add(&last);
            } else {
                inner[i * nv + j] = Some(Antiderivative::new(&samples));
            }
        }
        let nothing = [0.0; K];
        let integrand =
            |s: &Segment, p: P2| inner[s.column * nv + s.row].as_ref().map_or(nothing, |a| a.value(p));
        sum.add(&line_integrals(self, &segments, &integrand, rel_tol, floor));
        sum.value()
    }

    /// Computes the first-order change of ∬ f du dv over the domain, for `K` integrands, caused by small
    /// displacements of the boundary. `density` returns the integrands at a point (u, v). `moved`
    /// returns the point to which a point of a boundary piece is displaced, or `None` if it does not
    /// move.
    #[must_use]
    pub fn integrate_slivers<const K: usize>(
        &self,
        density: &dyn Fn(P2) -> [f64; K],
        moved: &dyn Fn(&TrimPiece, P2) -> Option<P2>,
    ) -> [f64; K] {
        let mut sum = Sum::new();
        for piece in &self.pieces {
            let mut out = [0.0; K];
            for (x, w) in RULES.order(2) {
                let at = piece.eval(*x);
                let Some(to) = moved(piece, at) else { continue };
                let (d, along) = (to - at, piece.derivative(*x));
                // The domain is on the left.
                let width = w * (d.x * along.y - d.y * along.x);
                let f = density(at);
                (0..K).for_each(|k| out[k] += width * f[k]);
            }
            sum.add(&out);
        }
        sum.value()
    }

    /// Area of the domain in the parameter plane.
    #[must_use]
    pub fn area_uv(&self) -> f64 {
        let u0 = self.rect.u0;
        self.integrate_cubic(&|p| [p.x - u0])[0]
    }

    fn is_bounded(&self) -> bool {
        let r = &self.rect;
        [r.u0, r.u1, r.v0, r.v1].iter().all(|x| x.is_finite())
    }

    fn grid(&self, (us, vs): (&[f64], &[f64])) -> Grid {
        let r = &self.rect;
        Grid { u: lines(r.u0, r.u1, us), v: lines(r.v0, r.v1, vs) }
    }

    /// Returns the boundary pieces, cut at the lines of the grid.
    fn piece_segments(&self, grid: &Grid) -> Vec<Segment> {
        let mut out = Vec::new();
        let mut cuts: Vec<f64> = Vec::new();
        for (piece, p) in self.pieces.iter().enumerate() {
            cuts.clear();
            cuts.extend([0.0, 1.0]);
            for (lines, c) in [(&grid.u, p.us()), (&grid.v, p.vs())] {
                let (lo, hi) = (c[0].min(c[3]), c[0].max(c[3]));
                let from = lines.partition_point(|l| *l <= lo);
                cuts.extend(lines[from..].iter().take_while(|l| **l < hi).map(|l| solve_monotone(c, *l)));
            }
            cuts.sort_by(f64::total_cmp);
            for w in cuts.windows(2) {
                if w[0] < w[1] {
                    let mid = p.eval(0.5 * (w[0] + w[1]));
                    out.push(Segment {
                        path: Path::Piece { piece, t0: w[0], t1: w[1] },
                        column: interval(&grid.u, mid.x),
                        row: interval(&grid.v, mid.y),
                    });
                }
            }
        }
        out
    }

    /// Appends to `out` the segments of the line of constant `u` over the intervals of v in `inside`,
    /// cut at the grid's lines of constant v. All of them get the column `column`.
    fn push_line(&self, u: f64, inside: &[(f64, f64)], grid: &Grid, column: usize, out: &mut Vec<Segment>) {
        for &(a, b) in inside {
            let from = grid.v.partition_point(|l| *l <= a);
            let rows = grid.v[from..].iter().copied().take_while(|l| *l < b);
            let mut v0 = a;
            for v1 in rows.chain([b]) {
                if v0 < v1 {
                    let row = interval(&grid.v, 0.5 * (v0 + v1));
                    out.push(Segment { path: Path::Up { u, v0, v1 }, column, row });
                }
                v0 = v1;
            }
        }
    }

    /// Returns the intervals of v over which the domain extends up to the side of its rectangle at the
    /// largest u. In line integrals `∮ F dv`, this side is a part of the boundary without pieces.
    #[must_use]
    pub fn right_border(&self) -> Vec<(f64, f64)> {
        let mut out: Vec<(f64, f64)> = Vec::new();
        for k in 0..self.n_strips() {
            if self.right_winding(k) > 0 {
                push_interval(&mut out, self.strip_v[k], self.strip_v[k + 1]);
            }
        }
        out
    }

    /// Returns the intervals of v over which the points just to the right of the line of constant `u`
    /// (at slightly larger u) are inside the domain.
    fn inside_on_column(&self, u: f64) -> Vec<(f64, f64)> {
        let mut stops = vec![self.rect.v0, self.rect.v1];
        let crosses = |b: &UvBox| b[0] <= u && u <= b[1];
        tree::visit(&self.boxes, self.pieces.len(), crosses, |i| {
            let p = &self.pieces[i];
            if crosses(&tree::piece_box(p)) {
                stops.extend([p.v_at_u(u)]);
                // For pieces that lie on the line or touch it, both ends are stops.
                stops.extend([p.start(), p.end()].iter().filter(|e| (e.x - u).abs() <= 0.0).map(|e| e.y));
            }
            false
        });
        stops.sort_by(f64::total_cmp);
        let mut out: Vec<(f64, f64)> = Vec::new();
        for w in stops.windows(2) {
            let mid = P2::new(u, 0.5 * (w[0] + w[1]));
            if w[0] < w[1] && self.winding(mid) > 0 {
                push_interval(&mut out, w[0], w[1]);
            }
        }
        out
    }
}

/// Appends the interval `[a, b]` to `out`. If the last interval of `out` ends at `a`, that interval is
/// extended to `b` instead.
#[expect(clippy::float_cmp, reason = "adjacent intervals share the number exactly")]
fn push_interval(out: &mut Vec<(f64, f64)>, a: f64, b: f64) {
    match out.last_mut() {
        Some(l) if l.1 == a => l.1 = b,
        _ => out.push((a, b)),
    }
}

/// Gauss–Legendre rules of all orders in use, computed once.
static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    by_order: [4, 6, 10, 16].map(gauss_legendre),
    exact: gauss_legendre(6),
    legendre: [4, 6, 10, 16].map(|n| {
        let rule = gauss_legendre(n);
        (0..n)
            .flat_map(|k| {
                let scale = as_f64(2 * k + 1);
                rule.iter()
                    .map(move |(x, w)| scale * w * legendre_values(n, 2.0 * x - 1.0)[k])
                    .collect::<Vec<_>>()
            })
            .collect()
    }),
});

struct Rules {
    by_order: [Vec<(f64, f64)>; 4],
    exact: Vec<(f64, f64)>,
    /// For each rule, with `n` nodes, the `n × n` matrix that converts values at the nodes to the
    /// coefficients of their Legendre series, row by row.
    legendre: [Vec<f64>; 4],
}

impl Rules {
    fn order(&self, k: usize) -> &[(f64, f64)] {
        &self.by_order[k]
    }

    /// Returns the rule that is exact to degree 11.
    fn exact(&self) -> &[(f64, f64)] {
        &self.exact
    }
}

/// Maximum number of nodes of any rule in [`RULES`]. The arrays of Legendre values have this capacity,
/// plus 1.
const MAX_NODES: usize = 16;

/// Returns the values of the Legendre polynomials `P_0 … P_n` at `x` in [-1, 1].
fn legendre_values(n: usize, x: f64) -> [f64; MAX_NODES + 1] {
    let mut p = [0.0; MAX_NODES + 1];
    p[0] = 1.0;
    p[1] = x;
    for k in 1..n {
        p[k + 1] = (as_f64(2 * k + 1) * x * p[k] - as_f64(k) * p[k - 1]) / as_f64(k + 1);
    }
    p
}

/// Computes the line integral `∫ F dv` along the boundary piece `p` from its parameter `a` to `b` by one
/// quadrature rule. `integrand` returns F at a point (u, v).
fn along_piece<const K: usize>(
    rect: &Rect,
    p: &TrimPiece,
    (a, b): (f64, f64),
    rule: &[(f64, f64)],
    integrand: &dyn Fn(P2) -> [f64; K],
) -> [f64; K] {
    let mut out = [0.0; K];
    for (x, w) in rule {
        let t = a + (b - a) * x;
        let dv = p.derivative(t).y * (b - a);
        // Clamping keeps rounding from leaving the range of the integrand.
        let at = p.eval(t);
        let y = integrand(P2::new(at.x.max(rect.u0).min(rect.u1), at.y.max(rect.v0).min(rect.v1)));
        (0..K).for_each(|k| out[k] += w * dv * y[k]);
    }
    out
}

/// Compensated sums of the contributions to `K` integrals. Compensation is needed because thousands of
/// contributions cancel if the result is small.
struct Sum<const K: usize> {
    sum: [f64; K],
    lost: [f64; K],
}

impl<const K: usize> Sum<K> {
    fn new() -> Self {
        Self { sum: [0.0; K], lost: [0.0; K] }
    }

    fn add(&mut self, x: &[f64; K]) {
        for ((sum, lost), x) in self.sum.iter_mut().zip(&mut self.lost).zip(x) {
            let t = *sum + x;
            *lost += if sum.abs() >= x.abs() { (*sum - t) + x } else { (x - t) + *sum };
            *sum = t;
        }
    }

    fn value(&self) -> [f64; K] {
        std::array::from_fn(|k| self.sum[k] + self.lost[k])
    }
}

/// Computes the sum of the line integrals `∫ F dv` over all segments. `integrand` returns F at a point
/// (u, v) of a segment. The result is accurate within `rel_tol`, relative to the sums of the magnitudes
/// of all contributions, or within the absolute error `floor`.
fn line_integrals<const K: usize>(
    cells: &TrimCells,
    segments: &[Segment],
    integrand: &dyn Fn(&Segment, P2) -> [f64; K],
    rel_tol: f64,
    floor: [f64; K],
) -> [f64; K] {
    let rect = &cells.rect;
    let horizontal_tol = 4.0 * f64::EPSILON * extent(rect)[1];
    let part = |s: &Segment, a: f64, b: f64, order: usize| -> [f64; K] {
        match s.path {
            Path::Piece { piece, .. } => {
                along_piece(rect, &cells.pieces[piece], (a, b), RULES.order(order), &|p| integrand(s, p))
            }
            Path::Up { u, .. } => {
                let u = u.max(rect.u0).min(rect.u1);
                let mut out = [0.0; K];
                for (x, w) in RULES.order(order) {
                    let v = (a + (b - a) * x).max(rect.v0).min(rect.v1);
                    let y = integrand(s, P2::new(u, v));
                    (0..K).for_each(|k| out[k] += w * (b - a) * y[k]);
                }
                out
            }
        }
    };
    let range = |s: &Segment| match s.path {
        Path::Piece { t0, t1, .. } => (t0, t1),
        Path::Up { v0, v1, .. } => (v0, v1),
    };
    // Horizontal pieces do not contribute; skipping them avoids their rounding.
    let contributes = |s: &&Segment| match s.path {
        Path::Piece { piece, .. } => {
            let p = &cells.pieces[piece];
            (p.end().y - p.start().y).abs() > horizontal_tol
        }
        Path::Up { .. } => true,
    };
    let segments: Vec<&Segment> = segments.iter().filter(contributes).collect();
    let coarse: Vec<[f64; K]> = segments
        .iter()
        .map(|s| {
            let (a, b) = range(s);
            part(s, a, b, 0)
        })
        .collect();
    let mut size = [0.0; K];
    for c in &coarse {
        for k in 0..K {
            size[k] += c[k].abs();
        }
    }
    let share = 1.0 / as_f64(segments.len().max(1));
    let mut sum = Sum::new();
    let mut stack = Vec::new();
    for (s, coarse) in segments.iter().zip(&coarse) {
        let (a, b) = range(s);
        stack.push((a, b, *coarse, 0));
        while let Some((a, b, coarse, depth)) = stack.pop() {
            let agree = |fine: &[f64; K], coarse: &[f64; K]| {
                (0..K).all(|k| {
                    let tol = share * (rel_tol * size[k]).max(floor[k]);
                    (fine[k] - coarse[k]).abs() <= tol + 1e-15 * fine[k].abs()
                })
            };
            let mut fine = part(s, a, b, 1);
            let mut good = agree(&fine, &coarse);
            if !good {
                let finer = part(s, a, b, 2);
                good = agree(&finer, &fine);
                fine = finer;
            }
            // Refinement reaches round-off long before this depth, unless the integrand is singular.
            good |= depth >= MAX_DEPTH;
            if good {
                sum.add(&fine);
            } else {
                let m = 0.5 * (a + b);
                for (a, b) in [(m, b), (a, m)] {
                    stack.push((a, b, part(s, a, b, 0), depth + 1));
                }
            }
        }
    }
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauss_rules_are_exact_for_polynomials() {
        for n in 1..=20 {
            let rule = gauss_legendre(n);
            for d in 0..2 * n {
                let got: f64 = rule.iter().map(|(x, w)| w * (0..d).fold(1.0, |p, _| p * x)).sum();
                assert!((got - 1.0 / as_f64(d + 1)).abs() < 2e-15, "{n} {d} {got}");
            }
        }
    }
}
