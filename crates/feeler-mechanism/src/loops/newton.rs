//! Solution of the loop equations at one moment: Gauss–Newton steps by singular values, so that loops with
//! more equations than unknowns (planar and spherical linkages) are solved as well.

use super::equations::Equations;
use nalgebra::{DMatrix, DVector, SVD};

/// Maximum error of a closure that counts as closed: the distance over the size of the loops, or an angle
/// (rad). With a larger value loops drift; with a smaller one rounding of poses far from the origin leaves
/// loops open.
pub(super) const CLOSURE_TOLERANCE: f64 = 5e-11;

/// Error of a closure below which iterations end, because rounding dominates. A larger value leaves digits
/// unused; a smaller one costs iterations without effect.
const ROUNDING: f64 = 1e-15;

/// Singular value of the loop equations, relative to the largest one, below which a direction counts as
/// undetermined. With a larger value slender linkages count as dead; with a smaller one rounding hides
/// dead points.
pub(super) const RANK_TOLERANCE: f64 = 1e-7;

/// Maximum number of iterations of [`Equations::correct`]. It converges quadratically; a larger value only
/// delays the report that a step is too long, a smaller one shortens steps.
const MAX_CORRECTIONS: u32 = 12;

/// Maximum number of iterations of [`Equations::assemble`]. With a larger value linkages that cannot close
/// take longer; with a smaller one those with poor start values do not close.
const MAX_ITERATIONS: u32 = 100;

/// Maximum norm of a step of [`Equations::assemble`] (rad, and sizes of the loops). With a larger value the
/// search leaves the branch of its start values more often; with a smaller one it needs more iterations.
const MAX_STEP: f64 = 0.5;

/// Singular value decomposition of the derivatives by the unknowns.
pub(super) struct Decomposition {
    u: DMatrix<f64>,
    v_t: DMatrix<f64>,
    values: DVector<f64>,
    columns: usize,
}

impl Decomposition {
    /// `None` if a number is not finite, and for a matrix without rows or columns.
    pub(super) fn new(matrix: DMatrix<f64>) -> Option<Self> {
        let columns = matrix.ncols();
        if columns == 0 || matrix.nrows() == 0 || !matrix.iter().all(|x| x.is_finite()) {
            return None;
        }
        let svd = SVD::try_new(matrix, true, true, f64::EPSILON, 10_000)?;
        Some(Self { u: svd.u?, v_t: svd.v_t?, values: svd.singular_values, columns })
    }

    fn largest(&self) -> f64 {
        self.values.max()
    }

    pub(super) fn rank(&self) -> usize {
        let limit = RANK_TOLERANCE * self.largest();
        self.values.iter().filter(|s| **s > limit).count()
    }

    /// Norm of the pseudoinverse; `None` if the unknowns are not determined.
    pub(super) fn inverse_norm(&self) -> Option<f64> {
        (self.rank() == self.columns).then(|| 1.0 / self.values.min())
    }

    fn filtered(&self, rows: &DVector<f64>, filter: impl Fn(f64) -> f64) -> DVector<f64> {
        let mut coefficients = self.u.tr_mul(rows);
        coefficients.iter_mut().zip(self.values.iter()).for_each(|(c, s)| *c *= filter(*s));
        self.v_t.tr_mul(&coefficients)
    }

    /// Returns the shortest vector whose image is nearest to `rows`.
    pub(super) fn solve(&self, rows: &DVector<f64>) -> DVector<f64> {
        let limit = RANK_TOLERANCE * self.largest();
        self.filtered(rows, |s| if s > limit { 1.0 / s } else { 0.0 })
    }

    /// Returns the part of `rows` that is orthogonal to all images.
    pub(super) fn outside(&self, rows: &DVector<f64>) -> DVector<f64> {
        let limit = RANK_TOLERANCE * self.largest();
        let mut coefficients = self.u.tr_mul(rows);
        coefficients
            .iter_mut()
            .zip(self.values.iter())
            .for_each(|(c, s)| *c *= if *s > limit { 1.0 } else { 0.0 });
        rows - &self.u * coefficients
    }

    /// Largest component of each unknown in the undetermined directions, from 0 to 1.
    pub(super) fn freedom(&self) -> Vec<f64> {
        let limit = RANK_TOLERANCE * self.largest();
        let determined = |c: usize| {
            let squares = self.values.iter().enumerate().filter(|(_, s)| **s > limit);
            squares.map(|(i, _)| self.v_t[(i, c)] * self.v_t[(i, c)]).sum::<f64>()
        };
        (0..self.columns).map(|c| (1.0 - determined(c)).max(0.0).sqrt()).collect()
    }
}

impl Equations<'_> {
    /// Adds `step` to the unknowns of the joint values `values`, and updates coupled joints.
    pub(super) fn moved(&self, values: &[f64], step: &DVector<f64>) -> Vec<f64> {
        let mut values = values.to_vec();
        for (unknown, step) in self.unknowns.iter().zip(step.iter()) {
            values[unknown.joint] += unknown.unit * step;
        }
        self.mechanism.all_values(&values)
    }

    /// Newton's method from values near a solution. Returns the solution, or `None` if the iterations do not
    /// converge.
    pub(super) fn correct(&self, values: &[f64]) -> Option<Vec<f64>> {
        let mut best = (self.error(values), values.to_vec());
        let mut now = values.to_vec();
        for _ in 0..MAX_CORRECTIONS {
            if best.0 <= ROUNDING {
                break;
            }
            let at = self.position(&now);
            let Some(inverse) = Decomposition::new(self.jacobian(&self.sensitivities(&at))) else { break };
            now = self.moved(&now, &-inverse.solve(&self.residual(&at)));
            let error = self.error(&now);
            // Rounding ends the decrease.
            if error >= best.0 && best.0 <= CLOSURE_TOLERANCE {
                break;
            }
            if error < best.0 {
                best = (error, now.clone());
            }
        }
        (best.0 <= CLOSURE_TOLERANCE).then_some(best.1)
    }

    /// Searches for a solution from values that may be far from it, by the method of Levenberg and
    /// Marquardt. Returns the values with the smallest residual that were found; [`Equations::error`]
    /// states whether they are a solution.
    pub(super) fn assemble(&self, values: &[f64]) -> Vec<f64> {
        let mut now = values.to_vec();
        let mut at = self.position(&now);
        let mut norm = self.residual(&at).norm();
        let mut damping = 1e-3;
        for _ in 0..MAX_ITERATIONS {
            if norm <= CLOSURE_TOLERANCE {
                break;
            }
            let Some(inverse) = Decomposition::new(self.jacobian(&self.sensitivities(&at))) else { break };
            let mut step = -inverse.filtered(&self.residual(&at), |s| s / (s * s + damping));
            let length = step.norm();
            if length > MAX_STEP {
                step *= MAX_STEP / length;
            }
            let next = self.moved(&now, &step);
            let next_at = self.position(&next);
            let next_norm = self.residual(&next_at).norm();
            if next_norm < norm {
                (now, at, norm) = (next, next_at, next_norm);
                damping = (0.2 * damping).max(1e-16);
            } else {
                damping *= 8.0;
                if damping > 1e8 {
                    break;
                }
            }
        }
        self.correct(&now).unwrap_or(now)
    }
}
