//! Angles as cosine and sine, for points of circles without trigonometric functions.

use crate::math;

/// A direction in a plane, stored as cosine and sine of its angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitAngle {
    /// Cosine of the angle.
    pub cos: f64,
    /// Sine of the angle.
    pub sin: f64,
}

impl UnitAngle {
    /// Creates the direction at an angle (rad).
    #[must_use]
    pub fn of_angle(angle: f64) -> Self {
        let (sin, cos) = math::sin_cos(angle);
        Self { cos, sin }
    }

    /// Creates the direction at the angle 2 atan(`tangent`).
    #[must_use]
    pub fn of_half_tangent(tangent: f64) -> Self {
        let square = tangent * tangent;
        let scale = 1.0 / (1.0 + square);
        Self { cos: (1.0 - square) * scale, sin: 2.0 * tangent * scale }
    }

    /// Angle (rad) in `[0, 2π)`.
    #[must_use]
    pub fn angle(self) -> f64 {
        math::turn(math::atan2(self.sin, self.cos))
    }

    /// The opposite direction.
    #[must_use]
    pub fn opposite(self) -> Self {
        Self { cos: -self.cos, sin: -self.sin }
    }

    /// The direction rotated counter-clockwise by a quarter turn.
    #[must_use]
    pub fn quarter_turned(self) -> Self {
        Self { cos: -self.sin, sin: self.cos }
    }

    /// The direction rotated counter-clockwise by the angle `by`.
    #[must_use]
    pub fn turned(self, by: Self) -> Self {
        Self { cos: self.cos * by.cos - self.sin * by.sin, sin: self.sin * by.cos + self.cos * by.sin }
    }

    /// The direction rotated counter-clockwise by approximately a small angle (rad), without
    /// trigonometric functions. The result is a unit vector; the error of the rotation is less than
    /// `angle⁵ / 100`, which suffices for the steps of an iteration.
    #[must_use]
    pub fn stepped(self, angle: f64) -> Self {
        let half = 0.5 * angle;
        self.turned(Self::of_half_tangent(half * (1.0 + half * half * (1.0 / 3.0))))
    }

    /// Length of the chord between the two points of the unit circle in the directions `self` and
    /// `other`.
    #[must_use]
    pub fn chord(self, other: Self) -> f64 {
        let (x, y) = (self.cos - other.cos, self.sin - other.sin);
        (x * x + y * y).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI, TAU};

    #[test]
    fn unit_angles_agree_with_angles() {
        for k in -40..40 {
            let angle = 0.1 * f64::from(k);
            let unit_angle = UnitAngle::of_angle(angle);
            let is = |other: UnitAngle, angle: f64| other.chord(UnitAngle::of_angle(angle)) < 1e-15;
            let off = (unit_angle.angle() - angle).rem_euclid(TAU);
            assert!(off.min(TAU - off) < 1e-14, "{angle}");
            assert!((0.0..TAU).contains(&unit_angle.angle()), "range");
            assert!(
                is(unit_angle.opposite(), angle + PI) && is(unit_angle.quarter_turned(), angle + FRAC_PI_2)
            );
            let (sin, cos) = math::sin_cos(0.5 * angle);
            assert!(is(UnitAngle::of_half_tangent(sin / cos), angle), "{angle}");
            assert!(is(unit_angle.turned(UnitAngle::of_angle(0.7)), angle + 0.7), "{angle}");
            for by in [1e-9, -1e-3, 0.1, -0.4] {
                let stepped = unit_angle.stepped(by);
                let error = stepped.chord(UnitAngle::of_angle(angle + by));
                assert!(error <= 0.01 * by * by * by * by * by.abs() + 1e-15, "{error} after {by}");
                assert!((math::hypot(stepped.cos, stepped.sin) - 1.0).abs() < 1e-15, "unit length");
            }
        }
        assert!((UnitAngle::of_angle(0.0).chord(UnitAngle::of_angle(PI)) - 2.0).abs() < 1e-15);
    }
}
