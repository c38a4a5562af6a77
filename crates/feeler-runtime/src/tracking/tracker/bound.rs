//! Bounds of the relative motion of two bodies in one step.

use crate::api::tolerance::power_of_two;
use crate::body::Body;
use feeler_geom::{Obb, P3, Pose, V3};

/// Distance from A's box, as a fraction of B's size, within which points of B can belong to contacts with
/// gaps. A larger value gives larger bounds for bodies that roll; with a smaller one, contacts with large
/// gaps can move farther than the bound.
const BESIDE_BOX: f64 = 0.01;

/// Upper bounds of the motion of B relative to A in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepBound {
    /// Upper bound of the angle (rad) by which B rotates relative to A in the step.
    pub rotation: f64,
    /// Largest displacement (mm) of any point of B that can come into contact, in A's frame.
    pub displacement: f64,
}

impl StepBound {
    /// Bounds of the motion between two poses of B in A's frame, for the points of B that can come into
    /// contact: those near A's box. For wheels that roll on each other, their displacement is small. The
    /// displacement is a convex function of the point, so it is largest at a corner of a box.
    #[must_use]
    pub fn of_motion([a, b]: [&Body; 2], from: &Pose, to: &Pose) -> Self {
        let displaced = |min: &P3, max: &P3| {
            let corner = |k: usize| {
                let at = |i: usize| if k >> i & 1 == 0 { min[i] } else { max[i] };
                P3::new(at(0), at(1), at(2))
            };
            (0..8).map(|k| (to * corner(k) - from * corner(k)).norm()).fold(0.0, f64::max)
        };
        let (bounds_a, bounds_b) = (a.bounds(), b.bounds());
        let of_all = displaced(&bounds_b.min, &bounds_b.max);
        // A's box in B's frame, widened by the displacement.
        let around_a = Obb::from_aabb(bounds_a).transformed(&from.inverse()).corners();
        let (low, high) = around_a.iter().fold((around_a[0], around_a[0]), |(l, h), p| (l.inf(p), h.sup(p)));
        let margin = V3::repeat(of_all + BESIDE_BOX * b.size());
        let (low, high) = (bounds_b.min.sup(&(low - margin)), bounds_b.max.inf(&(high + margin)));
        let can_meet = low.coords.iter().zip(&high.coords).all(|(l, h)| l <= h);
        Self {
            rotation: from.rotation.angle_to(&to.rotation),
            // All points count if the boxes are apart, because no point is near.
            displacement: if can_meet { displaced(&low, &high) } else { of_all },
        }
    }

    /// Returns whether a motion with the bounds `other` is within these bounds.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        other.rotation <= self.rotation && other.displacement <= self.displacement
    }

    /// Bound with the larger rotation and the larger displacement of two bounds.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        Self {
            rotation: self.rotation.max(other.rotation),
            displacement: self.displacement.max(other.displacement),
        }
    }

    /// Sum of two bounds: a bound of two successive motions, or of the motion of two bodies relative to
    /// each other.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            rotation: self.rotation + other.rotation,
            displacement: self.displacement + other.displacement,
        }
    }

    /// Multiplies the rotation and the displacement by a factor.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self { rotation: self.rotation * factor, displacement: self.displacement * factor }
    }

    /// Bound with the smaller rotation and the smaller displacement of two bounds.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        Self {
            rotation: self.rotation.min(other.rotation),
            displacement: self.displacement.min(other.displacement),
        }
    }

    /// Rounds the rotation and the displacement up to powers of two. An update at the pose of the last one
    /// with the same bound reuses its results.
    #[must_use]
    pub fn rounded_up(&self) -> Self {
        let up = |x: f64| {
            let below = power_of_two(x);
            if x > f64::MIN_POSITIVE && x.is_finite() && x > below { 2.0 * below } else { x }
        };
        Self { rotation: up(self.rotation), displacement: up(self.displacement) }
    }

    /// Returns whether `rotation` and `displacement` are finite and not negative.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        [self.rotation, self.displacement].iter().all(|x| x.is_finite() && *x >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_to_powers_of_two() {
        let up = |x| StepBound { rotation: 0.0, displacement: x }.rounded_up().displacement;
        for (x, expected) in [(0.0, 0.0), (1.0, 1.0), (0.25, 0.25), (0.3, 0.5), (1.0 + f64::EPSILON, 2.0)] {
            assert_eq!(up(x).to_bits(), f64::to_bits(expected), "{x}");
        }
        assert!(up(f64::INFINITY).is_infinite() && up(f64::NAN).is_nan() && up(-3.0) < 0.0);
    }
}
