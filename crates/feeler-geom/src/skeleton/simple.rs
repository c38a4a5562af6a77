//! When the solutions are all simple, told at the roots themselves: then they are all there are, and those
//! out of the range need no refinement.
//!
//! A root of the trigonometric polynomial stands for a solution where Newton's step in the reduced unknowns
//! is so short that one is proven to be within about that step, and to be the only one near (Kantorovich's
//! condition, with bounds of the third derivatives by the sizes). When every root stands for a solution and
//! their indices are those of all critical points of a function, none is missing. Anything in doubt is for
//! the thorough way.

use crate::unit_angle::UnitAngle;
use arrayvec::ArrayVec;

/// Longest Newton step (radians) from a root to the solution it stands for.
const LONGEST: f64 = 1e-6;
/// Newton step (radians) from which on the root is not one of this solution: double ones are known better
/// than that.
const ELSEWHERE: f64 = 1e-4;
/// Smallest determinant of the second derivatives, over the bound of their products, that is told from zero.
const FLATTEST: f64 = 1e-8;
/// Newton steps from a root: they are few or none.
const STEPS: usize = 4;

/// No telling whether there is a simple solution.
pub(super) struct Doubt;

/// A guess of a solution, with what tells whether it is one.
pub(super) trait Guess: Copy {
    /// Newton's step (largest change of an angle, radians), the determinant of the second derivatives, and a
    /// bound of the products of two derivatives of any order; `None` where the unknowns are no good.
    fn state(&self) -> Option<State>;

    /// The guess after the step.
    fn stepped(&self, state: &State) -> Self;
}

/// Newton's step and what it is worth.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// Step along the circle where roots are, radians.
    pub(super) step: f64,
    /// Largest change of an angle by the step.
    pub(super) size: f64,
    /// Determinant of the second derivatives; its sign is the index.
    pub(super) det: f64,
    /// Bound of the products of two derivatives of any order.
    pub(super) curving: f64,
    /// What `size` must stay below for the rest of the solution to be known.
    pub(super) allowed: f64,
}

/// The simple solution near a guess and its determinant; nothing when there is none.
pub(super) fn settled<G: Guess>(mut guess: G) -> Result<Option<(G, State)>, Doubt> {
    for _ in 0..STEPS {
        let state = guess.state().ok_or(Doubt)?;
        let is_told = state.det.abs() > FLATTEST * state.curving;
        if !is_told {
            return Err(Doubt);
        }
        if state.size > ELSEWHERE {
            return Ok(None);
        }
        if state.size < state.unique().min(LONGEST / state.curving).min(state.allowed) {
            return Ok(Some((guess, state)));
        }
        guess = guess.stepped(&state);
    }
    Err(Doubt)
}

impl State {
    /// Distance (radians) within which a solution is the only one.
    fn unique(&self) -> f64 {
        1e-2 * self.det.abs() / self.curving
    }
}

/// Simple solutions by their places on a circle, with the sum of their indices.
#[derive(Default)]
pub(super) struct Places {
    list: ArrayVec<UnitAngle, 8>,
    sum: i32,
}

impl Places {
    /// Adds a solution; `false` when it is one that was found before.
    pub(super) fn add(&mut self, place: UnitAngle, state: &State) -> Result<bool, Doubt> {
        for known in &self.list {
            let apart = known.chord(place);
            if apart <= state.unique() {
                return Ok(false);
            }
            if apart <= ELSEWHERE {
                return Err(Doubt);
            }
        }
        self.sum += if state.det > 0.0 { 1 } else { -1 };
        self.list.try_push(place).map_err(|_| Doubt)?;
        Ok(true)
    }

    /// Whether these are at least as many solutions as any function has, with indices that add up to zero.
    pub(super) fn are_complete(all: &[Self], least: usize) -> bool {
        all.iter().map(|p| p.sum).sum::<i32>() == 0
            && all.iter().map(|p| p.list.len()).sum::<usize>() >= least
    }
}

#[cfg(test)]
mod tests;
