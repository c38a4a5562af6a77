//! Update of the normal by a step of Newton's method on flat grains.
//!
//! A grain with ε < 1 is flat at its axes: if the normal moves by t, the point moves by t^(q−1) with q −
//! 1 = ε/(2 − ε) < 1. Newton's method in the normal would step over such an axis again and again. In the
//! power w = ν^(q−1), which is the coordinate of the point itself, the same step is nearly exact. The
//! change of ν is therefore mapped to w, added there, and mapped back.

use super::second::MIN_COORDINATE_RATIO;
use super::shape::Grain;
use feeler_geom::V3;
use feeler_geom::math::powf;

/// Largest change of w in one step, relative to the largest coordinate of w, the power of the normal's
/// coordinates (see the top of this file). Larger steps reach other maxima of the gap, smaller ones cost
/// more evaluations.
const MAX_RELATIVE_CHANGE: f64 = 0.7;

/// Effect of a step on the coordinates of a normal: the largest change of a coordinate, relative to the
/// coordinate itself, over two sets of coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Maximum over the coordinates in which the grain is flat (exponent below 1); 0 if it is flat in
    /// none.
    pub flat: f64,
    /// Maximum over the coordinates in which the second derivative of the support function is not
    /// constant; 0 for an ellipsoid.
    pub all: f64,
}

/// Signed power: |x|^k with the sign of x.
fn power(x: f64, k: f64) -> f64 {
    powf(x.abs(), k).copysign(x)
}

impl Grain {
    /// Computes the [`Change`] of the normal `n` by the step `step`, both in the grain's coordinates. It
    /// is infinite if `n` is 0 in such a coordinate and `step` is not.
    #[inline]
    pub(super) fn change(&self, n: &V3, step: &V3) -> Change {
        let [q1, q2] = self.dual;
        let part = step.component_div(n).abs();
        let in_plane = part.x.max(part.y);
        let mut out = Change { flat: 0.0, all: 0.0 };
        if (q2 - 2.0).abs() > f64::EPSILON {
            out.all = in_plane.max(part.z);
        } else if (q1 - 2.0).abs() > f64::EPSILON {
            out.all = in_plane;
        }
        if q2 < 2.0 {
            out.flat = out.all;
        } else if q1 < 2.0 {
            out.flat = in_plane;
        }
        out
    }

    /// Returns the unit normal after the step `step` from the normal `n`, all in the grain's
    /// coordinates. The step is made in w, the power of the coordinates.
    pub(super) fn retract(&self, n: &V3, step: &V3) -> V3 {
        let [q1, q2] = self.dual;
        let (k1, k2) = ((q1 - 1.0).min(1.0), (q2 - 1.0).min(1.0));
        let semi = self.semi(n);
        let scaled = n.component_mul(&semi);
        let size = scaled.amax();
        let nu = scaled / size;
        let kept = nu.map(|x| {
            if x.abs() < MIN_COORDINATE_RATIO {
                if x < 0.0 { -MIN_COORDINATE_RATIO } else { MIN_COORDINATE_RATIO }
            } else {
                x
            }
        });
        let change = step.component_mul(&semi) / size;
        let powers = |nu: &V3| {
            let sum = powf(nu.x.abs(), q1) + powf(nu.y.abs(), q1);
            let rho = powf(sum, 1.0 / q1);
            let around = if rho > 0.0 { powf(rho, k2 - k1) } else { 0.0 };
            (V3::new(power(nu.x, k1) * around, power(nu.y, k1) * around, power(nu.z, k2)), sum)
        };
        // The derivative is evaluated at the clamped coordinates and added to the power of the unclamped
        // ones.
        let (w, (slope, sum)) = (powers(&nu).0, powers(&kept));
        let relative = change.component_div(&kept);
        let shares = [powf(kept.x.abs(), q1) / sum, powf(kept.y.abs(), q1) / sum];
        let of_rho = shares[0] * relative.x + shares[1] * relative.y;
        let plane = |i: usize| slope[i] * (k1 * relative[i] + (k2 - k1) * of_rho);
        let by = V3::new(plane(0), plane(1), slope.z * k2 * relative.z);
        let part = (MAX_RELATIVE_CHANGE * w.amax() / by.amax()).min(1.0);
        let w = w + by * part;
        let w = w / w.amax();
        // Map back: ρ^k₂ is the length of `(w_x, w_y)` in the norm of exponent q₁/k₁.
        let s = q1 / k1;
        let largest = w.x.abs().max(w.y.abs());
        let to = if largest > 0.0 {
            let length = largest * powf(powf(w.x.abs() / largest, s) + powf(w.y.abs() / largest, s), 1.0 / s);
            let rho = powf(length, 1.0 / k2);
            V3::new(
                rho * power(w.x / length, 1.0 / k1),
                rho * power(w.y / length, 1.0 / k1),
                power(w.z, 1.0 / k2),
            )
        } else {
            V3::new(0.0, 0.0, w.z)
        };
        let semi = self.semi(&to);
        to.component_div(&semi).normalize()
    }
}
