//! Velocities with the least energy that keep all linearised gaps open; the only user of `clarabel`.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use nalgebra::{DMatrix, DVector};

/// Constraint of one contact on the velocities v of all bodies: `normal · v + gap ≥ |tangents · v|`, all
/// terms in mm/s.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Derivative of the contact's gap with respect to time (mm/s), as a linear function of v.
    pub(crate) normal: DVector<f64>,
    /// Constant term of the constraint (mm/s): the linearised gap at v = 0, divided by the duration of
    /// the step. A contact with friction adds its sliding speed in the previous round times the
    /// coefficient of friction.
    pub(crate) gap: f64,
    /// Sliding velocities along two tangential directions times the coefficient of friction, as linear
    /// functions of v; `None` without friction.
    pub(crate) tangents: Option<[DVector<f64>; 2]>,
}

/// Reason why [`solve`] returned no velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsolved {
    /// No velocities satisfy all constraints.
    Contradiction,
    /// The solver did not converge.
    NotConverged,
}

/// Relative accuracy to which the convex problem is solved. With a larger value, gaps close by that
/// fraction of the motion; with a smaller one, the solver does not converge.
const ACCURACY: f64 = 1e-11;
/// Maximum number of iterations of the solver. A problem that needs more counts as unsolved.
const MAX_ITERATIONS: u32 = 100;

/// Computes the velocities v that minimise `½ vᵀ M v − fᵀ v` under the constraints `rows`, where M is
/// `mass` and f is `force`. Returns v and the impulse along the normal of each constraint. `mass` must
/// be symmetric and positive definite.
///
/// The problem is solved under a subset of the constraints, to which those are added that its solution
/// violates: a solution under a subset that satisfies all constraints is the solution under all of them.
/// The subset begins with the constraints whose slack without contacts is at most the largest violation.
pub(crate) fn solve(
    mass: &DMatrix<f64>,
    force: &DVector<f64>,
    rows: &[Row],
) -> Result<(DVector<f64>, Vec<f64>), Unsolved> {
    let cholesky = mass.clone().cholesky().ok_or(Unsolved::NotConverged)?;
    let free = cholesky.solve(force);
    let mut impulses = vec![0.0; rows.len()];
    let most = rows.iter().map(|r| -r.slack(&free)).fold(0.0, f64::max);
    if most <= 0.0 {
        return Ok((free, impulses));
    }
    let lower = cholesky.l();
    let problem = Whitened::new(&lower, &free);
    let mut is_used: Vec<bool> = rows.iter().map(|r| r.slack(&free) <= most).collect();
    loop {
        let used: Vec<usize> = (0..rows.len()).filter(|i| is_used[*i]).collect();
        let solution = problem.solve(&used.iter().map(|i| &rows[*i]).collect::<Vec<_>>())?;
        let missed = |i: &usize| !is_used[*i] && rows[*i].slack(&solution.v) < -ACCURACY * solution.scale;
        let missed: Vec<usize> = (0..rows.len()).filter(missed).collect();
        if missed.is_empty() {
            for (i, impulse) in used.iter().zip(solution.impulses) {
                impulses[*i] = impulse;
            }
            return Ok((solution.v, impulses));
        }
        for i in missed {
            is_used[i] = true;
        }
    }
}

/// Coordinates Lᵀ v, in which the mass matrix L Lᵀ is the identity, whatever the sizes of the bodies.
struct Whitened<'a> {
    /// Cholesky factor L of the mass matrix.
    lower: &'a DMatrix<f64>,
    /// Velocities without contacts, in these coordinates.
    start: DVector<f64>,
}

/// Solution under some of the constraints.
struct Solution {
    v: DVector<f64>,
    /// Impulse along the normal of each constraint that was used.
    impulses: Vec<f64>,
    /// Largest speed (mm/s) by which the velocities without contacts are off a constraint.
    scale: f64,
}

impl<'a> Whitened<'a> {
    fn new(lower: &'a DMatrix<f64>, free: &DVector<f64>) -> Self {
        Self { lower, start: lower.transpose() * free }
    }

    fn solve(&self, rows: &[&Row]) -> Result<Solution, Unsolved> {
        let Self { lower, start } = self;
        let n = start.len();
        let (mut columns, mut bound, mut cones) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let all = std::iter::once(&row.normal).chain(row.tangents.iter().flatten());
            for (k, line) in all.enumerate() {
                let line = lower.solve_lower_triangular(line).ok_or(Unsolved::NotConverged)?;
                // Bounds are relative to the velocities without contacts.
                let here = line.dot(start);
                columns.push(line);
                bound.push(here + if k == 0 { row.gap } else { 0.0 });
            }
            cones.push(match row.tangents {
                None => SupportedConeT::NonnegativeConeT(1),
                Some(_) => SupportedConeT::SecondOrderConeT(3),
            });
        }
        // Scale the speeds to the order of 1.
        let scale = bound.iter().fold(f64::MIN_POSITIVE, |m: f64, b| m.max(b.abs()));
        let a = sparse(n, &columns);
        let bound: Vec<f64> = bound.iter().map(|b| b / scale).collect();
        let settings = DefaultSettings {
            verbose: false,
            max_iter: MAX_ITERATIONS,
            tol_gap_abs: ACCURACY,
            tol_gap_rel: ACCURACY,
            tol_feas: ACCURACY,
            presolve_enable: false,
            ..DefaultSettings::default()
        };
        let identity = CscMatrix::identity(n);
        let mut solver = DefaultSolver::new(&identity, &vec![0.0; n], &a, &bound, &cones, settings)
            .map_err(|_| Unsolved::NotConverged)?;
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => {}
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                return Err(Unsolved::Contradiction);
            }
            _ => return Err(Unsolved::NotConverged),
        }
        let y = DVector::from_column_slice(&solver.solution.x) * scale + start;
        let v = lower.transpose().solve_upper_triangular(&y).ok_or(Unsolved::NotConverged)?;
        let mut impulses = Vec::with_capacity(rows.len());
        let mut next = 0;
        for row in rows {
            impulses.push(solver.solution.z[next] * scale);
            next += if row.tangents.is_some() { 3 } else { 1 };
        }
        Ok(Solution { v, impulses, scale })
    }
}

/// Matrix whose rows are the negatives of `rows`, vectors of the length `n`. Each contact depends on the
/// velocities of two bodies only, so most entries are zero and are not stored: the solver's time grows with
/// those that are.
fn sparse(n: usize, rows: &[DVector<f64>]) -> CscMatrix<f64> {
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| row[j] != 0.0) {
            places.push(i);
            values.push(-row[j]);
        }
        starts.push(places.len());
    }
    CscMatrix::new(rows.len(), n, starts, places, values)
}

impl Row {
    /// Speed (mm/s) by which the velocities `v` satisfy the constraint; negative if they violate it.
    fn slack(&self, v: &DVector<f64>) -> f64 {
        self.normal.dot(v) + self.gap - self.sliding(v)
    }

    /// Sliding speed (mm/s) times the coefficient of friction, at the velocities `v`; 0 without
    /// friction.
    pub(crate) fn sliding(&self, v: &DVector<f64>) -> f64 {
        self.tangents.as_ref().map_or(0.0, |[s, t]| {
            let (along, across) = (s.dot(v), t.dot(v));
            (along * along + across * across).sqrt()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    fn row(normal: &[f64], gap: f64) -> Row {
        Row { normal: DVector::from_column_slice(normal), gap, tangents: None }
    }

    #[test]
    fn free_motion_is_unchanged() {
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![2.0, 4.0]));
        let force = DVector::from_vec(vec![2.0, 8.0]);
        let (v, impulses) = solve(&mass, &force, &[row(&[1.0, 0.0], 0.0)]).unwrap();
        assert!((v[0] - 1.0).abs() < 1e-15 && (v[1] - 2.0).abs() < 1e-15, "{v}");
        assert_eq!(impulses, [0.0]);
    }

    #[test]
    fn a_wall_absorbs_the_momentum_along_its_normal() {
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![2.0, 4.0]));
        let force = DVector::from_vec(vec![-2.0, 8.0]);
        // If the same wall is given twice, the impulse may be distributed between both in any way.
        let (v, impulses) = solve(&mass, &force, &[row(&[1.0, 0.0], 0.5), row(&[1.0, 0.0], 0.5)]).unwrap();
        assert!((v[0] + 0.5).abs() < 1e-9 && (v[1] - 2.0).abs() < 1e-9, "{v}");
        assert!((impulses.iter().sum::<f64>() - 1.0).abs() < 1e-8, "{impulses:?}");
    }

    #[test]
    fn walls_that_close_in_are_a_contradiction() {
        let mass = DMatrix::identity(1, 1);
        let rows = [row(&[1.0], -1.0), row(&[-1.0], -1.0)];
        assert_eq!(solve(&mass, &DVector::zeros(1), &rows).unwrap_err(), Unsolved::Contradiction);
    }

    /// A chain of bodies one behind the other is pushed against a wall: without contacts only the first
    /// gap is violated, but all of them close.
    #[test]
    fn constraints_violated_by_the_partial_solution_are_added() {
        let n = 5;
        let link = |i: usize| {
            let normal =
                DVector::from_fn(n, |j, _| f64::from(u8::from(j == i)) - f64::from(u8::from(j + 1 == i)));
            Row { normal, gap: if i == 0 { 0.0 } else { 1e-3 }, tangents: None }
        };
        let rows: Vec<Row> = (0..n).map(link).collect();
        // The first body moves towards the wall with speed 1, the others follow at a distance.
        let free = DVector::from_fn(n, |j, _| if j == 0 { -1e-4 } else { -1.0 });
        let (v, impulses) = solve(&DMatrix::identity(n, n), &free, &rows).unwrap();
        for (i, x) in v.iter().enumerate() {
            let expected = -1e-3 * f64::from(u32::try_from(i).unwrap());
            assert!((x - expected).abs() < 1e-10, "{v}");
        }
        assert!((impulses[0] - (4.0001 - 0.01)).abs() < 1e-9, "{impulses:?}");
    }

    /// The result under a growing subset of the constraints is that under all of them at once.
    #[test]
    fn subsets_lead_to_the_solution_of_all_constraints() {
        let mut rng = SmallRng::seed_from_u64(46);
        let mut partial = 0;
        for _ in 0..200 {
            let (n, m) = (rng.random_range(3..9), rng.random_range(1..20));
            let mut line = || DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
            let a = DMatrix::from_columns(&(0..n).map(|_| line()).collect::<Vec<_>>());
            let mass = &a * a.transpose() + DMatrix::identity(n, n);
            let (force, inside) = (line() * 3.0, line());
            let rows: Vec<Row> = (0..m)
                .map(|k| {
                    let tangents = (k % 3 > 0).then(|| [line() * 0.3, line() * 0.3]);
                    let mut row = Row { normal: line(), gap: 0.0, tangents };
                    // All constraints are satisfied by the velocities `inside`.
                    row.gap = 0.02 * f64::from(k) - row.slack(&inside);
                    row
                })
                .collect();
            let (v, impulses) = solve(&mass, &force, &rows).unwrap();
            let cholesky = mass.clone().cholesky().unwrap();
            let (lower, free) = (cholesky.l(), cholesky.solve(&force));
            let all = Whitened::new(&lower, &free).solve(&rows.iter().collect::<Vec<_>>()).unwrap();
            // The solver is exact to 1e-11 in the energy, which is quadratic in the velocities.
            let most = 4.0 * ACCURACY.sqrt() * (1.0 + all.v.norm());
            assert!((&v - &all.v).norm() < most, "{v} {}", all.v);
            partial += usize::from(impulses.contains(&0.0));
        }
        assert!(partial > 50, "subsets were used in {partial} cases");
    }

    /// At a contact with friction, the remaining sliding velocity is along the force, and the gap opens
    /// as in the closed form of one contact on a point mass.
    #[test]
    fn one_contact_with_friction_matches_its_closed_form() {
        let mu = 0.3;
        for (fx, fz) in [(0.1, -1.0), (0.5, -1.0), (2.0, -1.0), (0.0, -1.0)] {
            let tangents = [DVector::from_vec(vec![mu, 0.0, 0.0]), DVector::from_vec(vec![0.0, mu, 0.0])];
            let row =
                Row { normal: DVector::from_vec(vec![0.0, 0.0, 1.0]), gap: 0.0, tangents: Some(tangents) };
            let force = DVector::from_vec(vec![fx, 0.0, fz]);
            let (v, _) = solve(&DMatrix::identity(3, 3), &force, &[row]).unwrap();
            // Projection of the force onto the cone z ≥ mu |x|.
            let along = (fx + mu * fz).max(0.0) / (1.0 + mu * mu);
            assert!((v[0] - along).abs() < 1e-8 && (v[2] - mu * along).abs() < 1e-8, "{v} of {fx} {fz}");
        }
    }
}
