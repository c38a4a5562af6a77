//! Gap between two boxes along a single axis, for callers that store the axis that separated the boxes
//! earlier.

use super::{MIN_CROSS_SQ, OTHER_AXES, Obb, PoseMatrix, SAT_EPS};
use crate::V3;

/// Allowance for rounding, relative to the sum of all lengths involved: twice [`SAT_EPS`], because the
/// pose is applied here, too. A larger value culls less; a smaller one could separate boxes that
/// overlap.
const ALONG_EPS: f64 = 2.0 * SAT_EPS;

/// Lower bound of the gap (mm) between box `a` and box `b` along the axis of
/// [`separated`](super::separated) with index `axis`. `pose_ab` takes B's coordinates to A's. The result
/// is negative if the projections overlap, and negative infinity for an index out of range.
#[must_use]
pub fn gap_along(a: &Obb, b: &Obb, pose_ab: &PoseMatrix, axis: u8) -> f64 {
    let k = usize::from(axis);
    let to_b = |v: &V3| pose_ab.rotation.tr_mul(v);
    let shift = pose_ab.translation - a.center.coords;
    let size = shift.amax() + a.center.coords.amax() + b.center.coords.amax() + a.half.sum() + b.half.sum();
    // Distance of the centres along a direction, `v` in the frame of A and `w` in that of B.
    let between = |v: &V3, w: &V3| (w.dot(&b.center.coords) + v.dot(&shift)).abs();
    let err = ALONG_EPS * size;
    match k {
        0..3 => {
            let v = &a.axes[k];
            let w = to_b(v);
            between(v, &w) - a.half[k] - across(b, &w) - err
        }
        3..6 => {
            let w = &b.axes[k - 3];
            let v = pose_ab.rotation * w;
            between(&v, w) - b.half[k - 3] - across(a, &v) - err
        }
        6..15 => {
            let (i, j) = ((k - 6) / 3, (k - 6) % 3);
            let v = a.axes[i].cross(&(pose_ab.rotation * b.axes[j]));
            let w = to_b(&v);
            let len_sq = v.norm_squared();
            let [(i1, i2), (j1, j2)] = [OTHER_AXES[i], OTHER_AXES[j]];
            let of_a = a.half[i1] * a.axes[i1].dot(&v).abs() + a.half[i2] * a.axes[i2].dot(&v).abs();
            let of_b = b.half[j1] * b.axes[j1].dot(&w).abs() + b.half[j2] * b.axes[j2].dot(&w).abs();
            let gap = between(&v, &w) - of_a - of_b - err;
            if len_sq > MIN_CROSS_SQ && gap > 0.0 {
                gap / len_sq.sqrt() * (1.0 - 4.0 * f64::EPSILON)
            } else {
                gap
            }
        }
        _ => f64::NEG_INFINITY,
    }
}

/// Half the length (mm) of the projection of a box onto a direction, which is given in the same frame as
/// the box.
fn across(b: &Obb, v: &V3) -> f64 {
    b.half.x * b.axes[0].dot(v).abs() + b.half.y * b.axes[1].dot(v).abs() + b.half.z * b.axes[2].dot(v).abs()
}
