//! Integrands as Legendre series over rectangles.

use super::{MAX_NODES, RULES, as_f64, legendre_values};
use crate::P2;

/// Values of `K` integrands on the rectangle `rect` (u0, u1, v0, v1), which is divided into `parts ×
/// parts` equal parts. Each part is sampled at the nodes of a product of two Gauss–Legendre rules;
/// `order` is the index of that rule in [`RULES`].
pub(super) struct Samples<const K: usize> {
    rect: [f64; 4],
    order: usize,
    parts: usize,
    /// Values at the nodes. Those of part (i, j) along u and v start at index `(i parts + j) n²`, where
    /// n is the number of nodes of the rule; within a part, node (a, b) is at `a n + b`.
    values: Vec<[f64; K]>,
}

impl<const K: usize> Samples<K> {
    pub(super) fn new(density: &dyn Fn(P2) -> [f64; K], rect: [f64; 4], order: usize, parts: usize) -> Self {
        let rule = RULES.order(order);
        let [u0, u1, v0, v1] = rect;
        let (hu, hv) = ((u1 - u0) / as_f64(parts), (v1 - v0) / as_f64(parts));
        let mut values = Vec::with_capacity(parts * parts * rule.len() * rule.len());
        for (i, j) in (0..parts).flat_map(|i| (0..parts).map(move |j| (i, j))) {
            let (a, b) = (u0 + hu * as_f64(i), v0 + hv * as_f64(j));
            for (x, _) in rule {
                values.extend(rule.iter().map(|(y, _)| density(P2::new(a + hu * x, b + hv * y))));
            }
        }
        Self { rect, order, parts, values }
    }

    /// Returns the integrals of the `K` integrands over the whole rectangle.
    pub(super) fn integral(&self) -> [f64; K] {
        let rule = RULES.order(self.order);
        let [u0, u1, v0, v1] = self.rect;
        let area = (u1 - u0) * (v1 - v0) / as_f64(self.parts * self.parts);
        let mut out = [0.0; K];
        let weights = rule.iter().flat_map(|(_, a)| rule.iter().map(move |(_, b)| a * b));
        for (value, w) in self.values.iter().zip(weights.cycle()) {
            (0..K).for_each(|k| out[k] += w * value[k]);
        }
        out.map(|x| x * area)
    }
}

/// Antiderivatives `∫_{u0}^{u} f(s, v) ds` of `K` integrands f, each replaced by polynomials through its
/// samples, one for each part of the rectangle, which are stored as Legendre series.
pub(super) struct Antiderivative<const K: usize> {
    rect: [f64; 4],
    parts: usize,
    series: Vec<Series<K>>,
}

/// Legendre series of the `K` integrands over one part: `coefficients[a * n_v + b]` are the coefficients
/// of `P_a(x) P_b(y)`, with x and y the coordinates along u and v, scaled to [-1, 1] over the part.
struct Series<const K: usize> {
    n_u: usize,
    n_v: usize,
    coefficients: Vec<[f64; K]>,
}

impl<const K: usize> Antiderivative<K> {
    pub(super) fn new(samples: &Samples<K>) -> Self {
        let n = RULES.order(samples.order).len();
        let matrix = &RULES.legendre[samples.order];
        let series =
            samples.values.chunks_exact(n * n).map(|values| Series::new(values, n, matrix)).collect();
        Self { rect: samples.rect, parts: samples.parts, series }
    }

    pub(super) fn value(&self, p: P2) -> [f64; K] {
        let [u0, u1, v0, v1] = self.rect;
        // Index of the part and coordinate in it, in [-1, 1].
        let locate = |x: f64, lo: f64, hi: f64| {
            let at = (x - lo) / (hi - lo) * as_f64(self.parts);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of parts")]
            let part = (at.max(0.0) as usize).min(self.parts - 1);
            (part, (2.0 * (at - as_f64(part)) - 1.0).clamp(-1.0, 1.0))
        };
        let ((i, x), (j, y)) = (locate(p.x, u0, u1), locate(p.y, v0, v1));
        let mut out = [0.0; K];
        let part = |i: usize| &self.series[i * self.parts + j];
        let py = legendre_values(part(i).n_v, y);
        // Adds the integrals of the parts to the left, where only P_0 has a nonzero mean.
        for s in (0..i).map(part) {
            let row = s.row(0, &legendre_values(s.n_v, y));
            (0..K).for_each(|k| out[k] += 2.0 * row[k]);
        }
        let s = part(i);
        let px = legendre_values(s.n_u, x);
        for a in 0..s.n_u {
            // ∫_{-1}^{x} P_a
            let weight = if a == 0 { x + 1.0 } else { (px[a + 1] - px[a - 1]) / as_f64(2 * a + 1) };
            let row = s.row(a, &py);
            (0..K).for_each(|k| out[k] += weight * row[k]);
        }
        let half = 0.5 * (u1 - u0) / as_f64(self.parts);
        out.map(|x| x * half)
    }
}

impl<const K: usize> Series<K> {
    fn new(values: &[[f64; K]], n: usize, matrix: &[f64]) -> Self {
        // Transforms along v, then along u.
        let mut half = vec![[0.0; K]; n * n];
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            let h = &mut half[a * n + b];
            for (m, value) in matrix[b * n..(b + 1) * n].iter().zip(&values[a * n..(a + 1) * n]) {
                (0..K).for_each(|k| h[k] += m * value[k]);
            }
        }
        let mut all = vec![[0.0; K]; n * n];
        for (a, c) in (0..n).flat_map(|a| (0..n).map(move |c| (a, c))) {
            let m = matrix[a * n + c];
            for b in 0..n {
                (0..K).for_each(|k| all[a * n + b][k] += m * half[c * n + b][k]);
            }
        }
        // Trailing coefficients below rounding are dropped: most series are much shorter than the
        // capacity.
        let mut max_coefficient = [0.0; K];
        for c in &all {
            (0..K).for_each(|k| max_coefficient[k] = f64::max(max_coefficient[k], c[k].abs()));
        }
        let is_significant = |c: &[f64; K]| (0..K).any(|k| c[k].abs() > 1e-16 * max_coefficient[k]);
        let n_u = (0..n).rev().find(|a| (0..n).any(|b| is_significant(&all[a * n + b]))).map_or(1, |a| a + 1);
        let n_v = (0..n).rev().find(|b| (0..n).any(|a| is_significant(&all[a * n + b]))).map_or(1, |b| b + 1);
        let coefficients = (0..n_u).flat_map(|a| all[a * n..a * n + n_v].iter().copied()).collect();
        Self { n_u, n_v, coefficients }
    }

    /// Returns, for each integrand, the coefficient of `P_a(x)` in the series at a fixed y. `py` are the
    /// values `P_b(y)` for all b.
    fn row(&self, a: usize, py: &[f64; MAX_NODES + 1]) -> [f64; K] {
        let mut out = [0.0; K];
        for (c, p) in self.coefficients[a * self.n_v..(a + 1) * self.n_v].iter().zip(py) {
            (0..K).for_each(|k| out[k] += p * c[k]);
        }
        out
    }
}
