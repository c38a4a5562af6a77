//! Safeguarded Newton minimisation over a unit box.
//!
//! # Source
//! MATH §8: damped Newton's method with the full Hessian, in the parameter rectangle enlarged by a margin;
//! a converged point has its gradient at round-off level.
//!
//! # Guarantees
//! The value never rises by more than rounding. A result is [`Outcome::Minimum`] only if the residual is
//! at rounding, or has stopped falling at or below the accepted level, and the Hessian is positive
//! semidefinite. There are at most [`MAX_EVALUATIONS`] evaluations.

use crate::api::contact::Stats;
use nalgebra::{SMatrix, SVector};

/// Objective at one point of the unit box, with derivatives by the unit-box parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eval<const N: usize> {
    /// Value of the objective at the point.
    pub f: f64,
    /// Gradient of the objective by the unit-box parameters.
    pub grad: SVector<f64, N>,
    /// Hessian of the objective by the unit-box parameters.
    pub hess: SMatrix<f64, N, N>,
    /// Length in space (mm) of a unit step along each unit-box parameter.
    pub len: SVector<f64, N>,
    /// Upper bound of the rounding of `f`.
    pub noise: f64,
}

/// Result of a minimisation over the unit box enlarged by a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome<const N: usize> {
    /// Unit-box parameters of a local minimum inside the enlarged box.
    Minimum(SVector<f64, N>),
    /// The objective falls towards the outside at the border of the enlarged box.
    Outside,
    /// Unit-box parameters at which the method stopped with a residual above the accepted one.
    Stalled(SVector<f64, N>),
}

/// Limits of the residual in a minimisation. The residual of a point is the largest component of the
/// gradient divided by the length in space (mm) of a unit step along its parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Maximum residual at which a converged point is accepted as a minimum.
    pub accept: f64,
    /// Residual, at most `accept`, at or below which the minimisation ends at once, because the rest is
    /// rounding.
    pub done: f64,
}

/// Maximum number of evaluations of the objective in one run: quadratic convergence takes five to eight,
/// a bad start some twenty. A larger number wastes steps of stalled runs; a smaller one stops slow runs.
const MAX_EVALUATIONS: u64 = 80;
/// Maximum number of shortenings of one step. A smaller number stalls runs at sharp bends of the
/// objective.
const MAX_HALVINGS: usize = 40;

/// Smallest damping that is tried if a Hessian is not positive definite, relative to the size of the
/// Hessian. A larger value makes steps in almost level valleys tiny; a smaller one takes steps that
/// leave the range of the quadratic model.
const MIN_DAMPING: f64 = 1e-9;

/// Number of consecutive points of a run at which the same parameter is held at the border of the box;
/// the run then ends with [`Outcome::Outside`]. A larger number wastes steps; a smaller one ends runs
/// that would return inside.
const MAX_HELD_STEPS: f64 = 2.0;

/// Searches for a local minimum of the objective `eval` from `start`, in the box `[-margin, 1 +
/// margin]^N`. `eval` returns `None` where the objective has no derivatives. The number of evaluations
/// is added to `stats`.
pub(crate) fn minimise<const N: usize>(
    eval: &mut dyn FnMut(&SVector<f64, N>) -> Option<Eval<N>>,
    start: SVector<f64, N>,
    margin: f64,
    goal: Goal,
    stats: &mut Stats,
) -> Outcome<N> {
    let mut evaluations = 0;
    let outcome = descend(eval, start, margin, goal, &mut evaluations);
    stats.effort.evaluations += evaluations;
    if let Outcome::Minimum(_) = outcome {
        stats.effort.evaluations_to_minima += evaluations;
    }
    outcome
}

fn descend<const N: usize>(
    eval: &mut dyn FnMut(&SVector<f64, N>) -> Option<Eval<N>>,
    start: SVector<f64, N>,
    margin: f64,
    Goal { accept, done }: Goal,
    evaluations: &mut u64,
) -> Outcome<N> {
    let (lo, hi) = (-margin, 1.0 + margin);
    let mut x = start.map(|c| c.clamp(lo, hi));
    *evaluations = 1;
    let Some(mut e) = eval(&x) else { return Outcome::Stalled(x) };
    let mut polished = 0;
    let mut nudged = false;
    let mut held_for = SVector::<f64, N>::zeros();
    'steps: while *evaluations < MAX_EVALUATIONS {
        let free = SVector::<f64, N>::from_fn(|i, _| {
            let held = (x[i] <= lo && e.grad[i] > 0.0) || (x[i] >= hi && e.grad[i] < 0.0);
            if held { 0.0 } else { 1.0 }
        });
        // A parameter that is at the border again after the others have moved indicates a minimum outside.
        held_for = SVector::from_fn(|i, _| if free[i] > 0.5 { 0.0 } else { held_for[i] + 1.0 });
        if held_for.max() >= MAX_HELD_STEPS {
            return Outcome::Outside;
        }
        let residual = residual_of(&e, &free);
        let scale = SVector::<f64, N>::from_fn(|i, _| (e.len[i] * e.len[i]).max(f64::MIN_POSITIVE));
        let (h, _) = restricted(&e, &free);
        if residual <= accept && !positive(&h, &scale, &free) {
            // The stationary point is not a minimum: Newton's method is restarted beside it, once.
            if nudged || free.sum() < 0.5 {
                return if free.sum() < N as f64 { Outcome::Outside } else { Outcome::Stalled(x) };
            }
            nudged = true;
            x = SVector::from_fn(|i, _| (x[i] + if i % 2 == 0 { 0.031 } else { -0.043 }).clamp(lo, hi));
            let Some(again) = eval(&x) else { return Outcome::Stalled(x) };
            *evaluations += 1;
            e = again;
            continue;
        }
        if residual <= done {
            return if free.sum() < N as f64 { Outcome::Outside } else { Outcome::Minimum(x) };
        }
        let step = direction(&e, &x, &scale, free, (lo, hi));
        // The step is shortened as a whole to end at the border: clamping single components would leave a
        // curved valley.
        let mut t = within(&x, &step, (lo, hi));
        let slope = e.grad.dot(&step);
        for _ in 0..MAX_HALVINGS {
            let y = (x + step * t).map(|c| snapped(c, (lo, hi)));
            *evaluations += 1;
            let Some(next) = eval(&y) else {
                t *= 0.5;
                continue;
            };
            let noise = e.noise.max(next.noise);
            if residual <= accept {
                // Round-off is reached when a further Newton step brings no improvement.
                polished += 1;
                let better = residual_of(&next, &free) < 0.5 * residual && next.f <= e.f + noise;
                if !better || polished > 12 {
                    return if free.sum() < N as f64 { Outcome::Outside } else { Outcome::Minimum(x) };
                }
                (x, e) = (y, next);
                continue 'steps;
            }
            // Where differences of the value are below rounding, the residual decides.
            if next.f < e.f - noise || (next.f <= e.f + noise && residual_of(&next, &free) < residual) {
                (x, e) = (y, next);
                continue 'steps;
            }
            // Minimum of the parabola through both values with the known slope.
            let excess = next.f - e.f - slope * t;
            let best = if excess > 0.0 { -0.5 * slope * t / excess } else { 0.5 };
            t *= if best.is_finite() { best.clamp(0.1, 0.5) } else { 0.5 };
        }
        break;
    }
    let held = (0..N).any(|i| (x[i] <= lo && e.grad[i] > 0.0) || (x[i] >= hi && e.grad[i] < 0.0));
    if held { Outcome::Outside } else { Outcome::Stalled(x) }
}

/// Clamps a parameter to the range from `lo` to `hi` and snaps it to an end if only rounding separates
/// them: the next step from there would be shortened to almost nothing.
fn snapped(c: f64, (lo, hi): (f64, f64)) -> f64 {
    let near = 1e-12 * (hi - lo);
    if c <= lo + near {
        lo
    } else if c >= hi - near {
        hi
    } else {
        c
    }
}

/// Largest fraction (at most 1) of a step from `x` that stays in the box from `lo` to `hi`.
fn within<const N: usize>(x: &SVector<f64, N>, step: &SVector<f64, N>, (lo, hi): (f64, f64)) -> f64 {
    (0..N).fold(1.0, |t: f64, i| {
        let distance = if step[i] > 0.0 { hi - x[i] } else { x[i] - lo };
        if step[i].abs() > distance { t.min(distance / step[i].abs()) } else { t }
    })
}

/// Newton step of the parameters that are free (1 in `free`). A parameter at the border of the box that
/// the step would push outside is held, too, and the step is computed again.
fn direction<const N: usize>(
    e: &Eval<N>,
    x: &SVector<f64, N>,
    scale: &SVector<f64, N>,
    mut free: SVector<f64, N>,
    (lo, hi): (f64, f64),
) -> SVector<f64, N> {
    loop {
        let (h, g) = restricted(e, &free);
        let step = newton_step(&h, &g, scale, &free);
        let pushed = (0..N).find(|&i| (x[i] <= lo && step[i] < 0.0) || (x[i] >= hi && step[i] > 0.0));
        match pushed {
            Some(i) => free[i] = 0.0,
            None => return step,
        }
    }
}

/// Largest component of the gradient over the length in space of a unit step along its parameter, among
/// the free parameters.
fn residual_of<const N: usize>(e: &Eval<N>, free: &SVector<f64, N>) -> f64 {
    (0..N).fold(
        0.0,
        |m: f64, i| {
            if free[i] > 0.5 && e.len[i] > 0.0 { m.max((e.grad[i] / e.len[i]).abs()) } else { m }
        },
    )
}

/// Hessian and gradient in which held parameters (0 in `free`) are decoupled and have no gradient.
fn restricted<const N: usize>(e: &Eval<N>, free: &SVector<f64, N>) -> (SMatrix<f64, N, N>, SVector<f64, N>) {
    let h = SMatrix::from_fn(|i, j| {
        if free[i] > 0.5 && free[j] > 0.5 {
            e.hess[(i, j)]
        } else if i == j {
            e.len[i] * e.len[i]
        } else {
            0.0
        }
    });
    (h, e.grad.component_mul(free))
}

/// Whether the Hessian `h` is positive semidefinite up to rounding. `scale` are the squared lengths in
/// space of unit steps along the parameters.
fn positive<const N: usize>(h: &SMatrix<f64, N, N>, scale: &SVector<f64, N>, free: &SVector<f64, N>) -> bool {
    // The shift is relative to the largest curvature by arc length.
    let largest = (0..N).filter(|&i| free[i] > 0.5).fold(0.0, |m: f64, i| m.max(h[(i, i)].abs() / scale[i]));
    let shifted = h + SMatrix::from_diagonal(&(scale * (1e-9 * largest + f64::MIN_POSITIVE)));
    shifted.cholesky().is_some()
}

/// Newton step of the Hessian `h` and the gradient `g`, damped if the Hessian is not positive definite.
/// The smallest of a sequence of dampings that makes it positive definite is used; the step is zero if
/// none does. The step leads downhill, and no component is longer than 0.5. `scale` are the squared
/// lengths in space of unit steps along the parameters, to which the damping is proportional.
fn newton_step<const N: usize>(
    h: &SMatrix<f64, N, N>,
    g: &SVector<f64, N>,
    scale: &SVector<f64, N>,
    free: &SVector<f64, N>,
) -> SVector<f64, N> {
    let size = (0..N).fold(f64::MIN_POSITIVE, |m: f64, i| {
        (0..N).fold(m, |m, j| m.max(h[(i, j)].abs() / (scale[i] * scale[j]).sqrt()))
    });
    let mut mu = 0.0;
    while mu <= 1e9 {
        let damped = h + SMatrix::from_diagonal(&(scale * (mu * size)));
        if let Some(c) = damped.cholesky() {
            let step = c.solve(&-g).component_mul(free);
            let longest = step.amax();
            if longest.is_finite() {
                return if longest > 0.5 { step * (0.5 / longest) } else { step };
            }
        }
        mu = if mu > 0.0 { 8.0 * mu } else { MIN_DAMPING };
    }
    SVector::zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix2, Vector2};

    const GOAL: Goal = Goal { accept: 1e-9, done: 1e-15 };

    fn bowl(center: Vector2<f64>) -> impl FnMut(&Vector2<f64>) -> Option<Eval<2>> {
        move |x| {
            let d = x - center;
            let q = d.norm_squared();
            Some(Eval {
                f: (1.0 + q).sqrt(),
                grad: d / (1.0 + q).sqrt(),
                hess: Matrix2::identity() / (1.0 + q).sqrt()
                    - d * d.transpose() / (1.0 + q).powf_three_halves(),
                len: Vector2::repeat(1.0),
                noise: 1e-15,
            })
        }
    }

    trait Pow {
        fn powf_three_halves(self) -> f64;
    }
    impl Pow for f64 {
        fn powf_three_halves(self) -> f64 {
            self * self.sqrt()
        }
    }

    #[test]
    fn finds_the_minimum_to_round_off() {
        let c = Vector2::new(0.3, 0.8);
        match minimise(&mut bowl(c), Vector2::new(1.0, 0.0), 0.05, GOAL, &mut Stats::default()) {
            Outcome::Minimum(x) => assert!((x - c).norm() < 1e-15, "{x}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reports_a_minimum_outside() {
        assert_eq!(
            minimise(
                &mut bowl(Vector2::new(1.5, 0.5)),
                Vector2::new(0.5, 0.5),
                0.05,
                GOAL,
                &mut Stats::default()
            ),
            Outcome::Outside
        );
    }

    /// A step that ends on the border ends there exactly, so that a run ends after a few evaluations,
    /// wherever it starts.
    #[test]
    fn borders_are_reached() {
        for i in 0..200 {
            let start = Vector2::new(0.3 + 0.002 * f64::from(i), 0.7);
            let c = Vector2::new(1.5, -0.4 - 0.01 * f64::from(i));
            let mut evaluations = 0;
            let mut f = bowl(c);
            let mut counted = |x: &Vector2<f64>| {
                evaluations += 1;
                f(x)
            };
            assert_eq!(
                minimise(&mut counted, start, 0.05, GOAL, &mut Stats::default()),
                Outcome::Outside,
                "{start} {c}"
            );
            assert!(evaluations <= 12, "{evaluations} from {start} to {c}");
        }
    }

    /// A valley that falls by a millionth and bends down by less is left in a few steps.
    #[test]
    fn level_valleys_are_left() {
        let mut evaluations = 0;
        let mut f = |p: &Vector2<f64>| {
            evaluations += 1;
            let (x, y) = (p.x, p.y - 0.5);
            Some(Eval {
                f: y * y - 1e-6 * x - 1e-7 * x * x,
                grad: Vector2::new(-1e-6 - 2e-7 * x, 2.0 * y),
                hess: Matrix2::new(-2e-7, 0.0, 0.0, 2.0),
                len: Vector2::repeat(1.0),
                noise: 1e-15,
            })
        };
        assert_eq!(
            minimise(&mut f, Vector2::new(0.1, 0.4), 0.05, GOAL, &mut Stats::default()),
            Outcome::Outside
        );
        assert!(evaluations < 12, "{evaluations}");
    }

    #[test]
    fn leaves_a_saddle() {
        // f = x⁴/4 − x²/2 + y²/2 about (0.5, 0.5), started on the saddle.
        let mut f = |p: &Vector2<f64>| {
            let (x, y) = (3.0 * (p.x - 0.5), p.y - 0.5);
            Some(Eval {
                f: 0.25 * x * x * x * x - 0.5 * x * x + 0.5 * y * y,
                grad: Vector2::new(3.0 * (x * x * x - x), y),
                hess: Matrix2::new(9.0 * (3.0 * x * x - 1.0), 0.0, 0.0, 1.0),
                len: Vector2::repeat(1.0),
                noise: 1e-15,
            })
        };
        match minimise(&mut f, Vector2::new(0.5, 0.5), 0.05, GOAL, &mut Stats::default()) {
            Outcome::Minimum(p) => assert!(((p.x - 0.5).abs() - 1.0 / 3.0).abs() < 1e-12, "{p}"),
            other => panic!("{other:?}"),
        }
    }
}
