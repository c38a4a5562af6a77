//! Sparse normal equations of least squares, with a block of four unknowns for each site.
//!
//! Conjugate gradients with the diagonal blocks as preconditioner solve them. A site has about 15 neighbours,
//! so a product takes less time than one evaluation of the distances, and no library of sparse factorisations
//! is needed.

use nalgebra::{Matrix4, Vector4};
use std::collections::BTreeMap;

/// Derivatives of one residual by the position and the weight of a site.
pub(super) type Row = (u32, Vector4<f64>);

/// Products `JᵀJ` and `Jᵀr` of residuals r with derivatives J.
#[derive(Clone, Debug, Default)]
pub(super) struct Normal {
    /// Blocks on and above the diagonal.
    blocks: BTreeMap<(u32, u32), Matrix4<f64>>,
    right: BTreeMap<u32, Vector4<f64>>,
}

impl Normal {
    /// Adds a residual. A site may occur in several rows.
    pub(super) fn add(&mut self, residual: f64, rows: &[Row]) {
        for (a, row) in rows {
            *self.right.entry(*a).or_default() += row * residual;
            for (b, other) in rows {
                if a <= b {
                    *self.blocks.entry((*a, *b)).or_default() += row * other.transpose();
                }
            }
        }
    }

    /// Adds normal equations in the given order.
    pub(super) fn sum(parts: Vec<Self>) -> Self {
        let mut out = Self::default();
        for part in parts {
            for (key, block) in part.blocks {
                *out.blocks.entry(key).or_default() += block;
            }
            for (key, right) in part.right {
                *out.right.entry(key).or_default() += right;
            }
        }
        out
    }

    /// Returns `Jᵀr` for `n` sites: half of the gradient of the sum of squares.
    pub(super) fn gradient(&self, n: usize) -> Vec<Vector4<f64>> {
        let mut out = vec![Vector4::zeros(); n];
        for (k, right) in &self.right {
            out[*k as usize] = *right;
        }
        out
    }
}

/// Normal equations in the form that products need, scaled by the units of the unknowns.
pub(super) struct System {
    diagonal: Vec<Matrix4<f64>>,
    /// For each block above the diagonal: row, column, block.
    upper: Vec<(usize, usize, Matrix4<f64>)>,
    gradient: Vec<Vector4<f64>>,
}

/// Maximum number of conjugate gradient iterations. A larger value solves systems with weak damping more
/// accurately; a smaller one gives shorter steps.
const MAX_ITERATIONS: usize = 400;

/// Norm of the residual, relative to the right-hand side, at which the iteration ends. Steps need few digits,
/// because the next step corrects them; a larger value needs more steps.
const RESIDUAL: f64 = 1e-6;

/// Smallest diagonal entry relative to the largest one. Unknowns that no residual depends on are damped by
/// it; with a larger value, sites that few voxels determine move slowly, with a smaller one they move too
/// far.
const MIN_DIAGONAL: f64 = 1e-6;

impl System {
    /// Scales the equations: unknown k is `scale[k]` times a new unknown. A scale of 0 fixes the unknown.
    pub(super) fn new(normal: &Normal, n: usize, scale: &Vector4<f64>) -> Self {
        let d = Matrix4::from_diagonal(scale);
        let mut out = Self {
            diagonal: vec![Matrix4::zeros(); n],
            upper: Vec::with_capacity(normal.blocks.len()),
            gradient: normal.gradient(n).iter().map(|g| g.component_mul(scale)).collect(),
        };
        for ((a, b), block) in &normal.blocks {
            let block = d * block * d;
            if a == b {
                out.diagonal[*a as usize] = block;
            } else {
                out.upper.push((*a as usize, *b as usize, block));
            }
        }
        out
    }

    /// Solves (A + damping · diag A) step = −gradient. Returns the step and the decrease of the sum of
    /// squares that the linear model predicts.
    pub(super) fn step(&self, damping: f64) -> (Vec<Vector4<f64>>, f64) {
        let largest = self.diagonal.iter().map(|d| d.diagonal().amax()).fold(0.0, f64::max);
        let floor = if largest > 0.0 { MIN_DIAGONAL * largest } else { 1.0 };
        let damped: Vec<Matrix4<f64>> = self
            .diagonal
            .iter()
            .map(|d| {
                let mut out = *d;
                for k in 0..4 {
                    out[(k, k)] += damping * out[(k, k)].max(floor) + f64::EPSILON * floor;
                }
                out
            })
            .collect();
        let inverse: Vec<Matrix4<f64>> = damped
            .iter()
            .map(|m| {
                m.cholesky().map_or_else(
                    || Matrix4::from_diagonal(&m.diagonal().map(|x| 1.0 / x.max(floor))),
                    |c| c.inverse(),
                )
            })
            .collect();
        let n = self.gradient.len();
        let mut x = vec![Vector4::zeros(); n];
        let mut r: Vec<Vector4<f64>> = self.gradient.iter().map(|g| -g).collect();
        let mut z: Vec<Vector4<f64>> = inverse.iter().zip(&r).map(|(m, r)| m * r).collect();
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        let goal = RESIDUAL * RESIDUAL * rz;
        for _ in 0..MAX_ITERATIONS {
            if rz <= goal {
                break;
            }
            let ap = self.product(&damped, &p);
            let alpha = rz / dot(&p, &ap);
            if !alpha.is_finite() {
                break;
            }
            for k in 0..n {
                x[k] += p[k] * alpha;
                r[k] -= ap[k] * alpha;
                z[k] = inverse[k] * r[k];
            }
            let next = dot(&r, &z);
            let beta = next / rz;
            rz = next;
            for k in 0..n {
                p[k] = z[k] + p[k] * beta;
            }
        }
        let ax = self.product(&self.diagonal, &x);
        let predicted = -2.0 * dot(&self.gradient, &x) - dot(&x, &ax);
        (x, predicted)
    }

    fn product(&self, diagonal: &[Matrix4<f64>], x: &[Vector4<f64>]) -> Vec<Vector4<f64>> {
        let mut out: Vec<Vector4<f64>> = diagonal.iter().zip(x).map(|(d, x)| d * x).collect();
        for (a, b, block) in &self.upper {
            out[*a] += block * x[*b];
            out[*b] += block.tr_mul(&x[*a]);
        }
        out
    }
}

fn dot(a: &[Vector4<f64>], b: &[Vector4<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn steps_are_those_of_a_dense_factorisation() {
        let n = 6;
        let (mut jacobian, mut residuals) = (DMatrix::zeros(60, 4 * n), DVector::zeros(60));
        let mut normal = Normal::default();
        let mut state = 0.7;
        let mut next = || {
            state = (state * 997.0_f64 + 0.123).fract();
            state - 0.5
        };
        for i in 0..60 {
            let rows: Vec<Row> = [i % n, (i + 1 + i / n) % n]
                .map(|k| (u32::try_from(k).unwrap(), Vector4::new(next(), next(), next(), next())))
                .to_vec();
            residuals[i] = next();
            normal.add(residuals[i], &rows);
            for (k, row) in &rows {
                for c in 0..4 {
                    jacobian[(i, 4 * *k as usize + c)] += row[c];
                }
            }
        }
        let (step, predicted) = System::new(&normal, n, &Vector4::repeat(1.0)).step(0.01);
        let a = jacobian.transpose() * &jacobian;
        let mut damped = a.clone();
        for k in 0..4 * n {
            damped[(k, k)] *= 1.01;
        }
        let exact = damped.lu().solve(&(-jacobian.transpose() * &residuals)).unwrap();
        for k in 0..4 * n {
            assert!((step[k / 4][k % 4] - exact[k]).abs() < 1e-5 * exact.norm(), "{k}");
        }
        let after = (&residuals + &jacobian * &exact).norm_squared();
        assert!((residuals.norm_squared() - after - predicted).abs() < 1e-5, "{predicted}");
        // Fixed unknowns do not move.
        let (step, _) = System::new(&normal, n, &Vector4::new(1.0, 1.0, 1.0, 0.0)).step(0.01);
        assert!(step.iter().all(|s| s[3].abs() < 1e-300 && s[0].abs() > 0.0));
    }
}
