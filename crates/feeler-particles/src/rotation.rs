//! Rotations given by rotation vectors, and poses that they advance.

use feeler_geom::{P3, Pose, V3, math};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};

/// Rotation about the direction of the vector `v` by the length of `v` (rad).
pub(crate) fn rotation_by(v: &V3) -> UnitQuaternion<f64> {
    let half = 0.5 * v.norm();
    let (sin, cos) = math::sin_cos(half);
    // sin(h)/h, which is 1 to rounding for small h.
    let part = if half > SMALL_HALF_ANGLE { sin / half } else { 1.0 };
    let w = v * (0.5 * part);
    UnitQuaternion::new_unchecked(Quaternion::new(cos, w.x, w.y, w.z))
}

/// Returns the pose of a rigid body that has moved for a time (s), given its angular velocity `spin`
/// (rad/s) and the velocity (mm/s) of its point `center` (all in the world). Replaces `center` by its
/// position after that time.
pub(crate) fn advanced_pose(pose: &Pose, velocity: &V3, spin: &V3, center: &mut P3, time: f64) -> Pose {
    let turn = rotation_by(&(*spin * time));
    let arm = pose.translation.vector - center.coords;
    *center += *velocity * time;
    // Without normalisation the rounding of products would accumulate over a million steps.
    let rotation = UnitQuaternion::new_normalize((turn * pose.rotation).into_inner());
    let origin = *center + turn * arm;
    Pose::from_parts(Translation3::from(origin.coords), rotation)
}

/// Returns `v` rotated by the smallest rotation that takes the unit vector `from` to the unit vector
/// `to`. For opposite vectors it is the half-turn that maps `v`, which is perpendicular to both, to
/// `-v`.
pub(crate) fn transported(v: &V3, from: &V3, to: &V3) -> V3 {
    let cos = from.dot(to);
    let axis = from.cross(to);
    if cos > -OPPOSITE_COS {
        // Rodrigues' formula with 1/(1 + cos) instead of a normalised axis.
        v * cos + axis.cross(v) + axis * (axis.dot(v) / (1.0 + cos))
    } else {
        -v
    }
}

/// Half angle h (rad), that is half of the rotation's angle, up to which sin(h)/h is replaced by 1: the
/// next term of the series is h²/6, which is below rounding. Values up to 1e-8 change nothing; at 0 the
/// quotient is not defined.
const SMALL_HALF_ANGLE: f64 = 1e-9;

/// Two directions count as opposite if the cosine of their angle is below minus this value; any
/// half-turn is then the smallest rotation. With a larger value rounding dominates the sum of 1 and the
/// cosine; a smaller value makes rotations near a half-turn coarse.
const OPPOSITE_COS: f64 = 1.0 - 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations() {
        let q = rotation_by(&V3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
        assert!((q * V3::x() - V3::y()).norm() < 1e-15, "a quarter turn");
        assert!((rotation_by(&V3::new(1e-12, 0.0, 0.0)) * V3::y() - V3::new(0.0, 1.0, 1e-12)).norm() < 1e-15);
        let (a, b) = (V3::new(1.0, 2.0, 2.0) / 3.0, V3::new(2.0, -1.0, 2.0) / 3.0);
        assert!((transported(&a, &a, &b) - b).norm() < 1e-15, "the vector itself");
        let t = V3::new(0.3, -0.4, 0.1);
        assert!((transported(&t, &a, &b).norm() - t.norm()).abs() < 1e-15, "keeps lengths");
        assert!((transported(&t, &a, &b).dot(&b) - t.dot(&a)).abs() < 1e-15, "keeps angles");
        assert!((transported(&V3::x(), &V3::z(), &-V3::z()) + V3::x()).norm() < 1e-15, "opposite");
    }
}
