//! Conversion of rigid motions from and to the numbers of common file formats.

use crate::Pose;
use nalgebra::{Matrix3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};
use std::fmt;

/// Maximum deviation of a quaternion's norm from 1, and of the entries of `R Rᵀ`, with R the upper left 3
/// × 3 block of a matrix, from those of the identity, at which a rotation is normalised without an error.
/// With a larger value wrong poses pass; a smaller one rejects rounded ones.
const MAX_DEVIATION: f64 = 1e-3;

/// Error of the conversion of numbers to a pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoseError {
    /// A number is NaN or infinite.
    NotFinite,
    /// The quaternion's norm is this number, not 1.
    Norm(f64),
    /// The last row of the matrix is not 0 0 0 1.
    LastRow,
    /// The matrix scales, shears or mirrors.
    NoRotation {
        /// Largest magnitude of an entry of `R Rᵀ - I`, with R the upper left 3 × 3 block of the matrix.
        off: f64,
        /// Determinant of R, the upper left 3 × 3 block of the matrix; 1 for a rotation.
        determinant: f64,
    },
}

impl fmt::Display for PoseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => {
                f.write_str("every number of a pose must be finite; give millimetres and a unit quaternion")
            }
            Self::Norm(norm) => {
                write!(f, "the quaternion's norm is {norm}, not 1; give qx,qy,qz,qw of a rotation")
            }
            Self::LastRow => f.write_str("the last row of a pose must be 0 0 0 1"),
            Self::NoRotation { off, determinant } => write!(
                f,
                "the matrix is not a rotation (off by {off:.1e}, determinant {determinant:.3}); scaling and \
                    mirroring are not poses"
            ),
        }
    }
}

impl std::error::Error for PoseError {}

/// Converts a translation `tx, ty, tz` (mm) and a quaternion `qx, qy, qz, qw`, which is normalised, to a
/// pose.
///
/// # Errors
/// A value is not finite, or the norm of the quaternion deviates from 1 by more than 0.001.
pub fn from_values(values: &[f64; 7]) -> Result<Pose, PoseError> {
    if values.iter().any(|x| !x.is_finite()) {
        return Err(PoseError::NotFinite);
    }
    let [x, y, z, qx, qy, qz, qw] = *values;
    let q = Quaternion::new(qw, qx, qy, qz);
    if (q.norm() - 1.0).abs() > MAX_DEVIATION {
        return Err(PoseError::Norm(q.norm()));
    }
    Ok(Pose::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_quaternion(q)))
}

/// Returns the numbers of a pose in the order of [`from_values`].
#[must_use]
pub fn to_values(pose: &Pose) -> [f64; 7] {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
}

/// Converts a row-major homogeneous 4 × 4 matrix, with the translation (mm) in its last column, to a
/// pose.
///
/// # Errors
/// A number is not finite, or the matrix is not a rigid motion without reflection.
pub fn from_matrix(m: &[[f64; 4]; 4]) -> Result<Pose, PoseError> {
    if m.iter().flatten().any(|x| !x.is_finite()) {
        return Err(PoseError::NotFinite);
    }
    let last_row_off = (0..3).map(|j| m[3][j].abs()).fold((m[3][3] - 1.0).abs(), f64::max);
    if last_row_off > 1e-9 {
        return Err(PoseError::LastRow);
    }
    let r = Matrix3::from_fn(|i, j| m[i][j]);
    let off = (r * r.transpose() - Matrix3::identity()).amax();
    let determinant = r.determinant();
    if off > MAX_DEVIATION || determinant <= 0.0 {
        return Err(PoseError::NoRotation { off, determinant });
    }
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_eps(
        &r,
        1e-15,
        100,
        Rotation3::identity(),
    ));
    Ok(Pose::from_parts(Translation3::from(Vector3::new(m[0][3], m[1][3], m[2][3])), q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_poses_are_rejected() {
        assert_eq!(from_values(&[0.0; 7]), Err(PoseError::Norm(0.0)));
        assert_eq!(from_values(&[f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), Err(PoseError::NotFinite));
        let mut mirror =
            [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
        assert!(matches!(from_matrix(&mirror), Err(PoseError::NoRotation { .. })), "a mirror");
        mirror[2][2] = 1.0;
        assert_eq!(from_matrix(&mirror), Ok(Pose::identity()));
        mirror[3][0] = 0.1;
        assert_eq!(from_matrix(&mirror), Err(PoseError::LastRow));
    }

    #[test]
    fn matrix_rotation_is_kept_to_round_off() {
        let q = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.2, 0.9));
        let r = q.to_rotation_matrix();
        let m = [
            [r[(0, 0)], r[(0, 1)], r[(0, 2)], 4.0],
            [r[(1, 0)], r[(1, 1)], r[(1, 2)], 5.0],
            [r[(2, 0)], r[(2, 1)], r[(2, 2)], 6.0],
            [0.0, 0.0, 0.0, 1.0],
        ];
        let p = from_matrix(&m).unwrap();
        assert!(p.rotation.angle_to(&q) < 1e-14, "{}", p.rotation.angle_to(&q));
        // A second normalisation changes only rounding.
        let again = from_values(&to_values(&p)).unwrap();
        assert!(
            (again.rotation.coords - p.rotation.coords).norm() < 1e-15 && again.translation == p.translation
        );
    }
}
