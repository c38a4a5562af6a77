//! What cannot be asked.

use feeler_runtime::QueryError;

/// Why contacts with a wall cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WallError {
    /// A pose with numbers that are not finite.
    #[error("the pose of a wall has a number that is not finite")]
    Pose,
    /// A reach that is not finite, or negative.
    #[error("the reach must be a finite length of at least 0 mm, not {value}")]
    Reach {
        /// What was given.
        value: f64,
    },
    /// A particle's position (or orientation) that is not finite.
    #[error("particle {index}: its position or orientation is not finite")]
    Position {
        /// Its place in the list.
        index: usize,
    },
    /// A particle so far from the wall's origin that rounding exceeds a tenth of the tolerance, 1e-7 of the
    /// wall's size, and so large that it may touch the wall.
    #[error("particle {index}: {error}")]
    Coordinates {
        /// Its place in the list.
        index: usize,
        /// Names the limit.
        error: QueryError,
    },
    /// A radius that is not finite, or negative.
    #[error("particle {index}: its radius must be a finite length of at least 0 mm, not {value}")]
    Radius {
        /// Its place in the list.
        index: usize,
        /// What was given.
        value: f64,
    },
    /// Semi-axes or exponents that make no superellipsoid.
    #[error("particle {index}: semi-axes must be finite and above 0 mm, exponents in [0.1, 1.9]")]
    Shape {
        /// Its place in the list.
        index: usize,
    },
}
