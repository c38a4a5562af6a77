//! Errors of contact queries of exact walls.

use feeler_runtime::QueryError;

/// Reason why the contacts with an exact wall cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WallError {
    /// The pose given for the wall has a number that is not finite.
    #[error("the pose of a wall has a number that is not finite")]
    Pose,
    /// The reach, which is the largest gap of reported contacts, is negative or not finite.
    #[error("the reach must be a finite length of at least 0 mm, not {value}")]
    Reach {
        /// Given reach (mm).
        value: f64,
    },
    /// A particle's position or orientation is not finite.
    #[error("particle {index}: its position or orientation is not finite")]
    Position {
        /// Index of the particle.
        index: usize,
    },
    /// A particle is so far from the wall's origin that rounding exceeds a tenth of the wall's tolerance
    /// (1e-7 of its size), and so large that it may touch the wall.
    #[error("particle {index}: {error}")]
    Coordinates {
        /// Index of the particle.
        index: usize,
        /// Error of the query, which states the limit of the coordinates.
        error: QueryError,
    },
    /// The radius of a sphere is negative or not finite.
    #[error("particle {index}: its radius must be a finite length of at least 0 mm, not {value}")]
    Radius {
        /// Index of the particle.
        index: usize,
        /// Given radius (mm).
        value: f64,
    },
    /// Semi-axes or exponents of a superellipsoid are out of range.
    #[error("particle {index}: semi-axes must be finite and above 0 mm, exponents in [0.1, 1.9]")]
    Shape {
        /// Index of the particle.
        index: usize,
    },
}
