//! Why something is no grain.

use feeler_convex::ShapeError;

/// What is wrong with an input, and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GrainError {
    /// A semi-axis that is not above 0 mm and finite.
    #[error("semi-axis {axis} is {value} mm: semi-axes must be above 0 mm and finite")]
    SemiAxis {
        /// Which: +x, +y, +z, -x, -y, -z.
        axis: &'static str,
        /// Its value.
        value: f64,
    },
    /// An exponent beyond what contacts are tried for.
    #[error("exponent ε{index} is {value}: exponents of grains must be in [0.1, 1.9]")]
    Exponent {
        /// 1 around z, 2 along z.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A layer of a thickness that is negative or not finite.
    #[error("a layer of {0} mm: it must be 0 mm or more, and finite")]
    Layer(f64),
    /// A pose that is not finite.
    #[error("the pose of a grain is not finite")]
    Pose,
    /// A shape that is none.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An erosion that is negative or not finite.
    #[error("an erosion of {0} mm: it must be 0 mm or more, and finite")]
    Depth(f64),
    /// An erosion beyond the radius of curvature that is known to be everywhere.
    #[error(
        "an erosion of {asked} mm: of this grain only radii of curvature of {proven} mm and more are \
        certain; erode by less, or not at all where an exponent is above 1"
    )]
    Erosion {
        /// What was asked (mm).
        asked: f64,
        /// The largest that is known to be right (mm).
        proven: f64,
    },
    /// A polyhedron that is not closed, or has no volume.
    #[error("the polyhedron {0}")]
    Polyhedron(&'static str),
    /// A distribution with numbers that make none.
    #[error("{0}")]
    Distribution(String),
    /// Points that no shape can be fitted to.
    #[error("the points {0}")]
    Points(&'static str),
}

/// All semi-axes above 0.
pub(crate) fn semi_axes(shape: &feeler_convex::PolySuperellipsoid) -> Result<(), GrainError> {
    let (plus, minus) = (shape.positive(), shape.negative());
    let all = [plus.x, plus.y, plus.z, minus.x, minus.y, minus.z];
    for (value, axis) in all.into_iter().zip(["+x", "+y", "+z", "-x", "-y", "-z"]) {
        if !(value > 0.0 && value.is_finite()) {
            return Err(GrainError::SemiAxis { axis, value });
        }
    }
    Ok(())
}
