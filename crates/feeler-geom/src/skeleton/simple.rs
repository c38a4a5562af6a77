//! Detection of simple (non-degenerate) solutions from the roots of a trigonometric polynomial alone. If
//! all solutions are simple, the list of solutions is complete, and solutions with distances outside the
//! requested range need no refinement.
//!
//! A root of the trigonometric polynomial corresponds to a solution if Newton's step in the reduced
//! unknowns is so short that exactly one solution is proven to lie within about that step (Kantorovich's
//! condition, with bounds of the third derivatives from the sizes). If every root corresponds to a
//! solution and the indices of the solutions add up as those of all critical points of a function must,
//! no solution is missing. Undecided cases are left to the exhaustive solver.

use crate::unit_angle::UnitAngle;
use arrayvec::ArrayVec;

/// Maximum Newton step (rad) from a root of the polynomial to its solution, times
/// [`State::derivative_bound`]. With a larger value two solutions count as one; with a smaller one the
/// exhaustive solver is used more often.
const MAX_STEP_TO_SOLUTION: f64 = 1e-6;
/// Newton step (rad) above which a root of the polynomial does not belong to a solution on the tested
/// side of the skeleton: even double roots are more accurate than that. Solutions nearer to each other
/// than this cannot be distinguished. With a larger value double roots count twice; with a smaller one
/// roots are lost.
const MIN_STEP_ELSEWHERE: f64 = 1e-4;
/// Minimum determinant of the second derivatives, relative to the bound of their products, at which a
/// solution counts as simple. With a larger value the exhaustive solver is used more often; with a
/// smaller one degenerate solutions count as simple.
const MIN_REGULAR_DETERMINANT: f64 = 1e-8;
/// Maximum number of Newton steps from a root of the polynomial. Most roots need none; with a smaller
/// value more cases are left to the exhaustive solver, and a larger one only delays undecided cases.
const MAX_STEPS: usize = 4;

/// Error: it could not be decided whether all solutions are simple.
pub(super) struct Undecided;

/// An approximate critical pair, given by an angle on a circle, that can be tested and refined.
pub(super) trait Guess: Copy {
    /// Returns Newton's step and the second derivatives at the guess, or `None` if the unknowns are
    /// singular there.
    fn state(&self) -> Option<State>;

    /// Returns the guess moved by Newton's step `state.step`.
    fn stepped(&self, state: &State) -> Self;
}

/// Newton's step and the second derivatives at a guess.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// Newton's step (rad), with sign, from the guess along the unknown of the polynomial, the angle on the
    /// circle.
    pub(super) step: f64,
    /// Largest change (rad) of any of the unknown angles by Newton's step.
    pub(super) size: f64,
    /// Determinant of the second derivatives; its sign is the index of the critical point.
    pub(super) det: f64,
    /// Upper bound of the product of any two derivatives, of any order, in the same units as `det`.
    pub(super) derivative_bound: f64,
    /// Maximum of `size` (rad) at which the normal computed from the guess is accurate.
    pub(super) max_size: f64,
}

/// Returns the simple solution near a guess with its state. Returns `None` if the guess has no solution
/// near it on its side of the skeleton, and an error if that is undecided.
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
    /// Radius (rad) around the guess within which the solution is proven to be unique.
    fn uniqueness_radius(&self) -> f64 {
        1e-2 * self.det.abs() / self.derivative_bound
    }
}

/// Simple solutions found so far, given by their angular positions on a circle, with the sum of their
/// indices.
#[derive(Default)]
pub(super) struct SimpleSolutions {
    positions: ArrayVec<UnitAngle, 8>,
    index_sum: i32,
}

impl SimpleSolutions {
    /// Adds a solution. Returns `false` if it was added before, and an error if it is too close to
    /// another one to be distinguished from it.
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

    /// Whether the sets `all` together contain every solution: there are at least `min_count` solutions,
    /// the minimum number of critical points of any function on the domain, and their indices add up to
    /// zero.
    pub(super) fn are_complete(all: &[Self], min_count: usize) -> bool {
        all.iter().map(|p| p.index_sum).sum::<i32>() == 0
            && all.iter().map(|p| p.positions.len()).sum::<usize>() >= min_count
    }
}

#[cfg(test)]
mod tests;
