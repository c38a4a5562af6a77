//! Root finding between two arguments at which the function has different signs.

use std::f64::consts::PI;

/// Returns the root of a function between `ends`, where it has exactly one sign change, given its values
/// at the ends. `f` returns the value and the derivative; its argument is a coordinate in [-1, 1].
/// Newton's iteration starts from the root of the chord and is kept inside the shrinking bracket by
/// bisection.
///
/// A step of `d` leaves an error of about `d² f'' / (2 f')`; for steps below [`MAX_LAST_STEP`] this is
/// less than the rounding of the values.
pub(super) fn simple_root(f: impl Fn(f64) -> (f64, f64), ends: [f64; 2], values: [f64; 2]) -> f64 {
    let [mut lo, mut hi] = ends;
    let rising = values[0] < 0.0;
    let mut x = lo + (hi - lo) * (values[0] / (values[0] - values[1]));
    let mut last_step = hi - lo;
    for _ in 0..100 {
        let (v, d) = f(x);
        if v == 0.0 {
            break;
        }
        if (v < 0.0) == rising {
            lo = x;
        } else {
            hi = x;
        }
        let newton = x - v / d;
        // A Newton step must at least halve the previous step; otherwise bisection is used.
        let good = lo < newton && newton < hi && (newton - x).abs() < 0.5 * last_step;
        let next = if good { newton } else { 0.5 * (lo + hi) };
        last_step = (next - x).abs();
        x = next;
        if last_step <= if good { MAX_LAST_STEP } else { f64::EPSILON } {
            break;
        }
    }
    x
}

/// Maximum Newton step of [`simple_root`], for an argument in [-1, 1], at which the iteration has
/// converged, because the error is quadratic in the step. With a larger value roots are inexact; with a
/// smaller one more steps are needed.
const MAX_LAST_STEP: f64 = 1e-9;

/// Returns the root of a function between `lo` and `hi`, at which it has opposite signs, accurate to the
/// last bits. `f` returns the value and the derivative. The iteration ends after at most 100 steps.
/// Newton's iteration is kept inside the shrinking bracket by bisection. Returns `None` if the signs
/// agree.
pub(super) fn bracketed(f: impl Fn(f64) -> (f64, f64), lo: f64, hi: f64) -> Option<f64> {
    let (mut lo, mut hi) = (lo, hi);
    let (f_lo, f_hi) = (f(lo).0, f(hi).0);
    if f_lo == 0.0 {
        return Some(lo);
    }
    if f_hi == 0.0 {
        return Some(hi);
    }
    if f_lo.is_nan() || f_hi.is_nan() || (f_lo > 0.0) == (f_hi > 0.0) {
        return None;
    }
    if f_lo > 0.0 {
        std::mem::swap(&mut lo, &mut hi);
    }
    let mut x = 0.5 * (lo + hi);
    let mut last_step = (hi - lo).abs();
    for _ in 0..100 {
        let (v, d) = f(x);
        if v == 0.0 {
            break;
        }
        if v < 0.0 {
            lo = x;
        } else {
            hi = x;
        }
        let newton = x - v / d;
        let inside = (newton - lo) * (newton - hi) < 0.0;
        // A Newton step must at least halve the previous step; otherwise bisection is used.
        let next = if inside && (newton - x).abs() < 0.5 * last_step { newton } else { 0.5 * (lo + hi) };
        last_step = (next - x).abs();
        x = next;
        if last_step <= 2.0 * f64::EPSILON * x.abs().max(1e-300) || last_step <= 1e-17 * PI {
            break;
        }
    }
    Some(x)
}
