//! Rotations by vectors.

use feeler_geom::{P3, Pose, V3, math};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};

/// The rotation about a vector by its length (rad).
pub(crate) fn rotation_by(v: &V3) -> UnitQuaternion<f64> {
    let half = 0.5 * v.norm();
    let (sin, cos) = math::sin_cos(half);
    // sin(h)/h, which is 1 to rounding where h is small.
    let part = if half > SMALL { sin / half } else { 1.0 };
    let w = v * (0.5 * part);
    UnitQuaternion::new_unchecked(Quaternion::new(cos, w.x, w.y, w.z))
}

/// Where a rigid body is that moves for a time (s) with the velocity (mm/s) of a point and a spin (rad/s);
/// the point moves along.
pub(crate) fn moved_on(pose: &Pose, velocity: &V3, spin: &V3, center: &mut P3, time: f64) -> Pose {
    let turn = rotation_by(&(*spin * time));
    let arm = pose.translation.vector - center.coords;
    *center += *velocity * time;
    // Rounding of products would add up over a million steps.
    let rotation = UnitQuaternion::new_normalize((turn * pose.rotation).into_inner());
    let origin = *center + turn * arm;
    Pose::from_parts(Translation3::from(origin.coords), rotation)
}

/// The smallest rotation that takes one unit vector to another one, applied to `v`; of opposite vectors a
/// half-turn.
pub(crate) fn carried(v: &V3, from: &V3, to: &V3) -> V3 {
    let cos = from.dot(to);
    let axis = from.cross(to);
    if cos > -OPPOSITE {
        // Rodrigues' formula with 1/(1 + cos) instead of a normalised axis.
        v * cos + axis.cross(v) + axis * (axis.dot(v) / (1.0 + cos))
    } else {
        -v
    }
}

/// Half angle (rad) below which sin(h)/h is 1: the next term is h²/6.
const SMALL: f64 = 1e-9;

/// −cosine beyond which two directions are opposite, and the rotation between them is any half-turn.
const OPPOSITE: f64 = 1.0 - 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations() {
        let q = rotation_by(&V3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
        assert!((q * V3::x() - V3::y()).norm() < 1e-15, "a quarter turn");
        assert!((rotation_by(&V3::new(1e-12, 0.0, 0.0)) * V3::y() - V3::new(0.0, 1.0, 1e-12)).norm() < 1e-15);
        let (a, b) = (V3::new(1.0, 2.0, 2.0) / 3.0, V3::new(2.0, -1.0, 2.0) / 3.0);
        assert!((carried(&a, &a, &b) - b).norm() < 1e-15, "the vector itself");
        let t = V3::new(0.3, -0.4, 0.1);
        assert!((carried(&t, &a, &b).norm() - t.norm()).abs() < 1e-15, "keeps lengths");
        assert!((carried(&t, &a, &b).dot(&b) - t.dot(&a)).abs() < 1e-15, "keeps angles");
        assert!((carried(&V3::x(), &V3::z(), &-V3::z()) + V3::x()).norm() < 1e-15, "opposite");
    }
}
