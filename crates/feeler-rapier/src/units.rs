//! Conversion between millimetres and metres, and between the types of nalgebra and glam.

use feeler_geom::{P3, Pose, V3};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use rapier3d_f64::math;

/// Factor from millimetres, feeler's unit, to metres, Rapier's unit.
pub const METRES: f64 = 1e-3;

/// Converts Rapier's pose (m) to feeler's (mm).
#[must_use]
pub fn exact_pose(p: &math::Pose) -> Pose {
    let (q, t) = (p.rotation, p.translation / METRES);
    // Rapier's rotations are unit quaternions up to the rounding of its steps.
    let rotation = UnitQuaternion::new_normalize(Quaternion::new(q.w, q.x, q.y, q.z));
    Isometry3::from_parts(Translation3::new(t.x, t.y, t.z), rotation)
}

/// Converts feeler's pose (mm) to Rapier's (m).
#[must_use]
pub fn rapier_pose(p: &Pose) -> math::Pose {
    let q = p.rotation;
    let rotation = math::Rotation::from_xyzw(q.i, q.j, q.k, q.w);
    math::Pose::from_parts(direction(&p.translation.vector) * METRES, rotation)
}

/// Converts a point from millimetres to metres.
pub(crate) fn point(p: &P3) -> math::Vector {
    direction(&p.coords) * METRES
}

/// Converts a direction, which has no unit, without scaling it.
pub(crate) fn direction(v: &V3) -> math::Vector {
    math::Vector::new(v.x, v.y, v.z)
}
