//! Detection of simple solutions from the roots alone. If all solutions are simple, the list is complete
//! and solutions outside the range need no refinement.
//!
//! A root of the trigonometric polynomial corresponds to a solution if Newton's step in the reduced
//! unknowns is so short that exactly one solution is proven to lie within about that step (Kantorovich's
//! condition, with bounds of the third derivatives from the sizes). If every root corresponds to a
//! solution and the indices of the solutions add up as those of all critical points of a function must,
//! no solution is missing. Undecided cases are left to the exhaustive solver.

use crate::unit_angle::UnitAngle;
use arrayvec::ArrayVec;

/// Maximum Newton step (rad) from a root to its solution. With a larger value two solutions count as
/// one; with a smaller one the slow solver is used more often.
const MAX_STEP_TO_SOLUTION: f64 = 1e-6;
/// Newton step (rad) above which a root does not belong to a solution of this branch: even double roots
/// are more accurate than that. With a larger value double roots count twice; with a smaller one roots
/// are lost.
const MIN_STEP_ELSEWHERE: f64 = 1e-4;
/// Minimum determinant of the second derivatives, relative to the bound of their products, at which a
/// solution counts as simple. With a larger value the slow solver is used more often; with a smaller one
/// degenerate solutions count as simple.
const MIN_REGULAR_DETERMINANT: f64 = 1e-8;
/// Maximum number of Newton steps from a root. Most roots need none; with a smaller value more cases are
/// left to the slow solver, and a larger one only delays undecided cases.
const MAX_STEPS: usize = 4;

/// Error: whether the solution is simple could not be decided.
pub(super) struct Undecided;

/// An approximate solution that can be tested and refined.
pub(super) trait Guess: Copy {
    /// Returns Newton's step and the second derivatives here, or `None` if the unknowns are singular
    /// here.
    fn state(&self) -> Option<State>;

    /// Returns the guess moved by the step.
    fn stepped(&self, state: &State) -> Self;
}

/// Newton's step and the second derivatives at a guess.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// Step (rad) along the circle of the polynomial's unknown.
    pub(super) step: f64,
    /// Largest change (rad) of an angle by the step.
    pub(super) size: f64,
    /// Determinant of the second derivatives; its sign is the index.
    pub(super) det: f64,
    /// Upper bound of the product of any two derivatives, of any order.
    pub(super) derivative_bound: f64,
    /// Value that `size` must stay below for the remaining unknowns to be accurate.
    pub(super) max_size: f64,
}

/// Returns the simple solution near a guess with its state, or `None` if this branch has no solution
/// there.
pub(super) fn simple_solution<G: Guess>(mut guess: G) -> Result<Option<(G, State)>, Undecided> {
    for _ in 0..MAX_STEPS {
        let state = guess.state().ok_or(Undecided)?;
        let is_regular = state.det.abs() > MIN_REGULAR_DETERMINANT * state.derivative_bound;
        if !is_regular {
            return Err(Undecided);
        }
        if state.size > MIN_STEP_ELSEWHERE {
            return Ok(None);
        }
        if state.size
            < state.uniqueness_radius().min(MAX_STEP_TO_SOLUTION / state.derivative_bound).min(state.max_size)
        {
            return Ok(Some((guess, state)));
        }
        guess = guess.stepped(&state);
    }
    Err(Undecided)
}

impl State {
    /// Radius (rad) within which the solution is unique.
    fn uniqueness_radius(&self) -> f64 {
        1e-2 * self.det.abs() / self.derivative_bound
    }
}

/// Simple solutions by their angular positions on a circle, with the sum of their indices.
#[derive(Default)]
pub(super) struct SimpleSolutions {
    positions: ArrayVec<UnitAngle, 8>,
    index_sum: i32,
}

impl SimpleSolutions {
    /// Adds a solution. Returns `false` if it was added before.
    pub(super) fn add(&mut self, position: UnitAngle, state: &State) -> Result<bool, Undecided> {
        for known in &self.positions {
            let apart = known.chord(position);
            if apart <= state.uniqueness_radius() {
                return Ok(false);
            }
            if apart <= MIN_STEP_ELSEWHERE {
                return Err(Undecided);
            }
        }
        self.index_sum += if state.det > 0.0 { 1 } else { -1 };
        self.positions.try_push(position).map_err(|_| Undecided)?;
        Ok(true)
    }

    /// Whether there are at least `min_count` solutions (the minimum of any such function) and their
    /// indices add up to zero.
    pub(super) fn are_complete(all: &[Self], min_count: usize) -> bool {
        all.iter().map(|p| p.index_sum).sum::<i32>() == 0
            && all.iter().map(|p| p.positions.len()).sum::<usize>() >= min_count
    }
}

#[cfg(test)]
mod tests;
