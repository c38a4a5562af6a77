//! Errors of invalid grains and inputs.

use feeler_convex::ConvexShapeError;

/// Error of an input: what is wrong and what would be valid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GrainError {
    /// A semi-axis that is not above 0 mm and finite.
    #[error("semi-axis {axis} is {value} mm: semi-axes must be above 0 mm and finite")]
    SemiAxis {
        /// Side of the semi-axis: +x, +y, +z, -x, -y or -z.
        axis: &'static str,
        /// Given value.
        value: f64,
    },
    /// An exponent outside the range for which contacts are tested.
    #[error("exponent ε{index} is {value}: exponents of grains must be in [0.1, 1.9]")]
    Exponent {
        /// Number of the exponent: 1 for ε₁ (around z), 2 for ε₂ (along z).
        index: usize,
        /// Given value.
        value: f64,
    },
    /// The thickness (mm) of a layer is negative or not finite.
    #[error("layer thickness is {0} mm: it must be finite and at least 0 mm")]
    LayerThickness(f64),
    /// A pose has a number that is not finite.
    #[error("the pose of a grain is not finite")]
    Pose,
    /// The parameters of a poly-superellipsoid are not valid.
    #[error(transparent)]
    Shape(#[from] ConvexShapeError),
    /// The depth (mm) of an erosion is negative or not finite.
    #[error("depth of the erosion is {0} mm: it must be finite and at least 0 mm")]
    ErosionDepth(f64),
    /// The depth of an erosion exceeds the proven lower bound of the radius of curvature.
    #[error(
        "depth of the erosion is {requested} mm, but the radii of curvature of this grain are only proven to \
        be at least {proven} mm; erode by at most that, or not at all if an exponent is above 1"
    )]
    Erosion {
        /// Requested depth (mm).
        requested: f64,
        /// Largest depth (mm) of which the result is proven to be correct.
        proven: f64,
    },
    /// A polyhedron is not closed or has no volume, as the text states.
    #[error("the polyhedron {0}")]
    Polyhedron(&'static str),
    /// A distribution has invalid parameters, as the text states.
    #[error("{0}")]
    Distribution(String),
    /// No shape can be fitted to the points, as the text states.
    #[error("the points {0}")]
    Points(&'static str),
}

/// Checks that all semi-axes are positive and finite.
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
