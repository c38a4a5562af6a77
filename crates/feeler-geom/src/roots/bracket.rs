//! The one root between two points of different sign.

use std::f64::consts::PI;

/// The root of `f` (value and derivative, in units of the arc) in a piece over which it changes its sign
/// once, from the values at the ends: Newton's iteration from the chord's root, kept inside the shrinking
/// bracket by bisection.
///
/// A step of `d` leaves an error of about `d² f'' / (2 f')`: below [`CONVERGED`] that is less than what the
/// rounding of the values makes.
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
        // Newton must at least halve the step, or bisection takes over.
        let good = lo < newton && newton < hi && (newton - x).abs() < 0.5 * last_step;
        let next = if good { newton } else { 0.5 * (lo + hi) };
        last_step = (next - x).abs();
        x = next;
        if last_step <= if good { CONVERGED } else { f64::EPSILON } {
            break;
        }
    }
    x
}

/// Last step of Newton's iteration on an arc.
const CONVERGED: f64 = 1e-9;

/// The root of `f` (value and derivative) between two points of opposite signs: Newton's iteration kept
/// inside the shrinking bracket by bisection, to the last bits or 100 steps. `None` when the signs agree.
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
        // Newton must at least halve the step, or bisection takes over.
        let next = if inside && (newton - x).abs() < 0.5 * last_step { newton } else { 0.5 * (lo + hi) };
        last_step = (next - x).abs();
        x = next;
        if last_step <= 2.0 * f64::EPSILON * x.abs().max(1e-300) || last_step <= 1e-17 * PI {
            break;
        }
    }
    Some(x)
}
