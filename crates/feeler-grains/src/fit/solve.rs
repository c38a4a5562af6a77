//! Least squares; the only user of the crate `levenberg-marquardt`, which depends on an older nalgebra.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra_034::storage::Owned;
use nalgebra_034::{DVector, Dyn, OMatrix, SVector, U14};

/// Number of variables of a fit.
pub(super) const VARIABLES: usize = 14;

/// Residuals as functions of the variables, with their derivatives.
pub(super) trait Residuals {
    fn count(&self) -> usize;
    /// Computes all residuals at `variables`. Calls `write` for each of them, with its index, its value
    /// and its derivatives by the variables.
    fn evaluate(&self, variables: &[f64; VARIABLES], write: &mut dyn FnMut(usize, f64, &[f64; VARIABLES]));
}

struct Problem<'r, R> {
    residuals: &'r R,
    at: SVector<f64, VARIABLES>,
    values: DVector<f64>,
    rows: OMatrix<f64, Dyn, U14>,
}

impl<R: Residuals> LeastSquaresProblem<f64, Dyn, U14> for Problem<'_, R> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, U14>;
    type ParameterStorage = Owned<f64, U14>;

    fn set_params(&mut self, x: &SVector<f64, VARIABLES>) {
        self.at = *x;
        let (values, rows) = (&mut self.values, &mut self.rows);
        self.residuals.evaluate(&(*x).into(), &mut |i, value, row| {
            values[i] = value;
            for (j, d) in row.iter().enumerate() {
                rows[(i, j)] = *d;
            }
        });
    }
    fn params(&self) -> SVector<f64, VARIABLES> {
        self.at
    }
    fn residuals(&self) -> Option<DVector<f64>> {
        self.values.iter().all(|v| v.is_finite()).then(|| self.values.clone())
    }
    fn jacobian(&self) -> Option<OMatrix<f64, Dyn, U14>> {
        self.rows.iter().all(|v| v.is_finite()).then(|| self.rows.clone())
    }
}

/// Minimises the sum of squared residuals locally from `start`, with at most `patience` times (number of
/// variables + 1) evaluations. Returns the variables at the end and half the sum of squares there.
pub(super) fn least_squares(
    residuals: &impl Residuals,
    start: &[f64; VARIABLES],
    patience: usize,
) -> ([f64; VARIABLES], f64) {
    let n = residuals.count();
    let mut problem = Problem {
        residuals,
        at: SVector::from(*start),
        values: DVector::zeros(n),
        rows: OMatrix::<f64, Dyn, U14>::zeros(n),
    };
    problem.set_params(&SVector::from(*start));
    let (done, report) = LevenbergMarquardt::new().with_patience(patience).minimize(problem);
    (done.at.into(), report.objective_function)
}
