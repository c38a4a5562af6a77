//! Screw motions: velocity fields of rigid bodies, with their exponential and logarithm.
//!
//! # Source
//! Chasles' theorem: any rigid motion is a rotation about a line and a translation along it. Exponential and
//! logarithm of rigid motions in closed form (Murray, Li, Sastry 1994, ch. 2).

use crate::{P3, Pose, V3, math};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use std::ops::{Add, Neg};

/// Velocity field of a rigid body per unit of time: `v + w × p` at the point p.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity (mm per unit of time) of the point at the origin.
    pub v: V3,
    /// Angular velocity (rad per unit of time).
    pub w: V3,
}

/// Angle (rad) below which the coefficients of exponential and logarithm are summed as series, because
/// their closed forms suffer from cancellation. With a larger value the terms of the series are too few;
/// with a smaller one the closed forms lose digits.
const SERIES_ANGLE: f64 = 0.3;

impl Twist {
    /// Creates a translation with velocity `v` (mm per unit of time).
    #[must_use]
    pub fn translation(v: V3) -> Self {
        Self { v, w: V3::zeros() }
    }

    /// Creates a rotation with angular velocity `w` (rad per unit of time) about the line through `p`
    /// along `w`.
    #[must_use]
    pub fn rotation(p: &P3, w: V3) -> Self {
        Self { v: -w.cross(&p.coords), w }
    }

    /// Returns the velocity (mm per unit of time) of the body's point at `p`, in the field's coordinates.
    #[must_use]
    pub fn at(&self, p: &P3) -> V3 {
        self.v + self.w.cross(&p.coords)
    }

    /// Transforms the field to other coordinates; `pose` takes the current coordinates to the new ones.
    #[must_use]
    pub fn moved(&self, pose: &Pose) -> Self {
        let w = pose.rotation * self.w;
        Self { v: pose.rotation * self.v + pose.translation.vector.cross(&w), w }
    }

    /// Returns the field with all velocities multiplied by `s`.
    #[must_use]
    pub fn times(&self, s: f64) -> Self {
        Self { v: self.v * s, w: self.w * s }
    }

    /// Returns the Lie bracket of this field with another one: the rate at which the other field changes
    /// while the motion of this one carries it along.
    #[must_use]
    pub fn bracket(&self, other: &Self) -> Self {
        Self { v: self.w.cross(&other.v) - other.w.cross(&self.v), w: self.w.cross(&other.w) }
    }

    /// Returns the rigid motion that follows the field for a unit of time.
    #[must_use]
    pub fn exp(&self) -> Pose {
        let angle = self.w.norm();
        let (s, c) = math::sin_cos(0.5 * angle);
        // sin(θ/2) / θ.
        let half_sinc = if angle > 1e-8 { s / angle } else { 0.5 };
        let rotation = Quaternion::from_parts(c, self.w * half_sinc);
        let [a, b] = coefficients(angle);
        let across = self.w.cross(&self.v);
        let shift = self.v + across * a + self.w.cross(&across) * b;
        Pose::from_parts(Translation3::from(shift), UnitQuaternion::from_quaternion(rotation))
    }

    /// Returns the constant field whose motion for a unit of time is `pose`, with a rotation by at most
    /// π.
    #[must_use]
    pub fn log(pose: &Pose) -> Self {
        let q = pose.rotation.quaternion();
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        let (re, im) = (sign * q.w, q.imag() * sign);
        let sine = im.norm();
        let angle = 2.0 * math::atan2(sine, re);
        let w = if sine > 1e-8 { im * (angle / sine) } else { im * 2.0 };
        let t = pose.translation.vector;
        let across = w.cross(&t);
        // (1 − (θ/2) cot(θ/2)) / θ².
        let c = if angle > SERIES_ANGLE {
            (1.0 - 0.5 * angle * re / sine) / (angle * angle)
        } else {
            let x = angle * angle;
            1.0 / 12.0 + x * (1.0 / 720.0 + x * (1.0 / 30_240.0 + x * (1.0 / 1_209_600.0 + x / 47_900_160.0)))
        };
        Self { v: t - across * 0.5 + w.cross(&across) * c, w }
    }
}

/// Computes (1 − cos θ) / θ² and (θ − sin θ) / θ³ for the angle θ (rad).
fn coefficients(angle: f64) -> [f64; 2] {
    let x = angle * angle;
    if angle > SERIES_ANGLE {
        let (s, _) = math::sin_cos(0.5 * angle);
        [2.0 * s * s / x, (angle - math::sin(angle)) / (x * angle)]
    } else {
        let series = |first: f64| {
            // Every second term of the exponential series, starting with 1 / first! and scaled by
            // first!.
            (0..6).rev().fold(0.0, |sum, k| {
                let n = first + 2.0 * f64::from(k);
                1.0 - x * sum / ((n + 1.0) * (n + 2.0))
            })
        };
        [0.5 * series(2.0), series(3.0) / 6.0]
    }
}

impl Add for Twist {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { v: self.v + other.v, w: self.w + other.w }
    }
}

impl Neg for Twist {
    type Output = Self;

    fn neg(self) -> Self {
        Self { v: -self.v, w: -self.w }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use rand::Rng;
    use rand::rngs::SmallRng;

    fn random(r: &mut SmallRng) -> Twist {
        // Tiny angles, angles on both sides of the switch to series, and nearly half a turn.
        let angle = [1e-12, 1e-4, 0.29, 0.31, 1.0, 3.1][r.random_range(0..6)];
        Twist { v: testing::point(r, 10.0).coords, w: testing::unit(r) * angle }
    }

    #[test]
    fn exp_of_log_and_log_of_exp() {
        let mut r = testing::rng(7);
        for _ in 0..1000 {
            let twist = random(&mut r);
            let back = Twist::log(&twist.exp());
            // Near half a turn the smallest component of the quaternion limits the accuracy of the axis.
            assert!((back.v - twist.v).norm() < 1e-11 && (back.w - twist.w).norm() < 1e-12, "{twist:?}");
        }
    }

    /// Compares the motion with many small steps along the field.
    #[test]
    fn exp_follows_the_field() {
        let mut r = testing::rng(8);
        for _ in 0..50 {
            let twist = random(&mut r);
            let start = P3::new(1.0, -2.0, 3.0);
            let n = 4000;
            let dt = 1.0 / f64::from(n);
            let end = (0..n).fold(start, |p, _| {
                let middle = p + twist.at(&p) * (0.5 * dt);
                p + twist.at(&middle) * dt
            });
            assert!((twist.exp() * start - end).norm() < 1e-4);
        }
    }

    #[test]
    fn fields_and_motions_change_coordinates_alike() {
        let mut r = testing::rng(9);
        for _ in 0..200 {
            let (twist, pose) = (random(&mut r), random(&mut r).exp());
            let p = P3::new(0.3, 4.0, -1.0);
            let moved = twist.moved(&pose);
            assert!((moved.at(&(pose * p)) - pose.rotation * twist.at(&p)).norm() < 1e-11);
            let by = pose * twist.exp() * pose.inverse();
            assert!((moved.exp() * p - by * p).norm() < 1e-11);
        }
    }

    #[test]
    fn a_rotation_keeps_its_axis() {
        let p = P3::new(1.0, 2.0, 3.0);
        let twist = Twist::rotation(&p, V3::z());
        let (s, c) = math::sin_cos(1.0);
        assert!(twist.at(&p).norm() < 1e-15);
        assert!((twist.exp() * P3::new(2.0, 2.0, 0.0) - P3::new(1.0 + c, 2.0 + s, 0.0)).norm() < 1e-14);
    }
}
