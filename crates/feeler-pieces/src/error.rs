//! Errors of decompositions.

use feeler_convex::ConvexShapeError;

/// Reason why a solid, a grain or a mesh cannot be decomposed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PiecesError {
    /// The requested convexity is not finite and positive.
    #[error("the convexity is {0} mm; give a finite length above 0")]
    Convexity(f64),
    /// The maximum number of pieces is zero.
    #[error("at most 0 pieces are allowed; give a maximum of at least 1")]
    NoPieces,
    /// A hierarchy has no faces.
    #[error("the solid has no faces; prepare it again from its STEP file")]
    NoFaces,
    /// A mesh has no triangles.
    #[error("the mesh has no triangles; give at least four that bound a solid")]
    EmptyMesh,
    /// An edge of a mesh is not used exactly once in each direction.
    #[error(
        "the mesh is open or not oriented: the edge from point {from} to point {to} of triangle {triangle} \
         has {count} neighbours in the opposite direction (exactly 1 is needed); close holes, remove \
         duplicate triangles, and orient all triangles counter-clockwise from outside"
    )]
    OpenMesh {
        /// Index of the triangle.
        triangle: usize,
        /// Index of the point at which the edge starts.
        from: u32,
        /// Index of the point at which the edge ends.
        to: u32,
        /// Number of triangles with the same edge in the opposite direction.
        count: usize,
    },
    /// A triangle refers to a point that does not exist.
    #[error("triangle {triangle} refers to point {point}, but the mesh has {count} points")]
    UnknownPoint {
        /// Index of the triangle.
        triangle: usize,
        /// Index of the point.
        point: u32,
        /// Number of points.
        count: usize,
    },
    /// A coordinate of a mesh is NaN or infinite.
    #[error("point {0} of the mesh has a coordinate that is not finite; correct or remove it")]
    NotFinite(usize),
    /// The surface would be divided into too many cells.
    #[error(
        "a convexity of {convexity} mm needs more than {limit} cells of the surface; give a larger one \
         (the solid's size is {size} mm)"
    )]
    TooManyCells {
        /// Convexity that was requested (mm).
        convexity: f64,
        /// Maximum number of cells.
        limit: usize,
        /// Diagonal of the solid's box (mm).
        size: f64,
    },
    /// A hull cannot be created.
    #[error("a hull cannot be created: {0}")]
    Hull(#[from] ConvexShapeError),
}
