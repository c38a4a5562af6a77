//! Bounds of polynomials over a rectangle from their values at Chebyshev nodes.
//!
//! # Source
//! Trefethen, *Approximation Theory and Approximation Practice*, §3: a polynomial of degree n − 1 is
//! determined by its values at n Chebyshev nodes, and |`T_k`| ≤ 1 bounds it by its coefficients.

use crate::math;
use std::f64::consts::PI;
use std::sync::OnceLock;

/// Largest supported number of nodes in one direction. With a smaller value polynomials of high degree are
/// not bounded; a larger one costs memory, 8 bytes times its third power for all tables together.
pub(crate) const MAX_NODES: usize = 64;

/// Nodes and transform for one number of nodes.
pub(crate) struct Chebyshev {
    /// The nodes, in (−1, 1).
    pub nodes: Vec<f64>,
    /// Row k has the weights of the values in the coefficient of `T_k`.
    weights: Vec<f64>,
}

static TABLES: [OnceLock<Chebyshev>; MAX_NODES + 1] = [const { OnceLock::new() }; MAX_NODES + 1];

/// Returns the table for `n` nodes, 1 to [`MAX_NODES`]; it is computed at the first use.
pub(crate) fn chebyshev(n: usize) -> &'static Chebyshev {
    TABLES[n].get_or_init(|| {
        let step = PI / n as f64;
        let angle = |k: usize| (k as f64 + 0.5) * step;
        let weight = |j: usize, k: usize| {
            let scale = if j == 0 { 1.0 } else { 2.0 };
            scale / n as f64 * math::cos(j as f64 * angle(k))
        };
        Chebyshev {
            nodes: (0..n).map(|k| math::cos(angle(k))).collect(),
            weights: (0..n * n).map(|i| weight(i / n, i % n)).collect(),
        }
    })
}

/// Returns the constant coefficient and the sum of the magnitudes of all others of the polynomial in two
/// variables with the given values at the nodes: `values[i * nv + j]` at node i of `nu` in the first
/// variable and node j of `nv` in the second one. The polynomial is within that sum of the constant over
/// the square. `coefficients` is a scratch buffer.
pub(crate) fn spread(values: &[f64], (nu, nv): (usize, usize), coefficients: &mut Vec<f64>) -> (f64, f64) {
    let (along_u, along_v) = (&chebyshev(nu).weights, &chebyshev(nv).weights);
    let dot = |weights: &[f64], values: &[f64]| weights.iter().zip(values).map(|(w, x)| w * x).sum::<f64>();
    coefficients.clear();
    for row in values.chunks_exact(nv) {
        coefficients.extend(along_v.chunks_exact(nv).map(|weights| dot(weights, row)));
    }
    let (mut constant, mut others) = (0.0, 0.0);
    for (i, weights) in along_u.chunks_exact(nu).enumerate() {
        for j in 0..nv {
            let c: f64 = weights.iter().zip(coefficients[j..].iter().step_by(nv)).map(|(w, x)| w * x).sum();
            if i + j == 0 {
                constant = c;
            } else {
                others += c.abs();
            }
        }
    }
    (constant, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(f: impl Fn(f64, f64) -> f64, (nu, nv): (usize, usize)) -> Vec<f64> {
        let (us, vs) = (&chebyshev(nu).nodes, &chebyshev(nv).nodes);
        us.iter().flat_map(|u| vs.iter().map(|v| f(*u, *v)).collect::<Vec<_>>()).collect()
    }

    /// 2 + 3 T₁(u) T₂(v) − T₃(u) has the constant coefficient 2, and all others sum to 4.
    #[test]
    fn coefficients_of_a_sum_of_chebyshev_polynomials() {
        let f = |u: f64, v: f64| 2.0 + 3.0 * u * (2.0 * v * v - 1.0) - (4.0 * u * u * u - 3.0 * u);
        for shape in [(4, 3), (5, 3), (9, 7), (MAX_NODES, MAX_NODES)] {
            let (constant, others) = spread(&values(f, shape), shape, &mut Vec::new());
            assert!((constant - 2.0).abs() < 1e-14 && (others - 4.0).abs() < 1e-12, "{shape:?}");
        }
    }

    /// One node in a direction stands for a function that is constant along it.
    #[test]
    fn single_node_is_constant() {
        let (constant, others) = spread(&values(|_, v| 1.0 + v, (1, 2)), (1, 2), &mut Vec::new());
        assert!((constant - 1.0).abs() < 1e-15 && (others - 1.0).abs() < 1e-15);
    }
}
