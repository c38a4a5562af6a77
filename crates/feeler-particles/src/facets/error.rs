//! Errors of walls of triangles.

use std::path::PathBuf;

/// Reason why triangles are not a valid wall, or why a setting of a wall is refused. Facets and points have
/// the numbers of the input, from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FacetError {
    /// There are no triangles with an area.
    #[error("there is no facet with an area; a wall needs at least one triangle")]
    Empty,
    /// More points or facets than can be numbered.
    #[error("more than 2³¹ points or facets; make several walls of them")]
    TooMany,
    /// A coordinate of the point with this number is NaN, infinite or beyond 1e100 mm.
    #[error("point {0} is not finite; every coordinate must be a number of mm")]
    NotFinite(usize),
    /// The number of a corner of a facet is not that of a point.
    #[error("facet {facet} has corner {corner}, and there are {points} points")]
    Corner {
        /// Number of the facet.
        facet: usize,
        /// Number given for the corner.
        corner: u32,
        /// Number of points that there are.
        points: usize,
    },
    /// The three different corners of the facet with this number lie on a line.
    #[error("the corners of facet {0} are on one line; repair the mesh, or export it with other tolerances")]
    NoArea(usize),
    /// The two facets with these numbers share an edge, but have opposite orientations.
    #[error("facets {} and {} look to opposite sides; orient all facets of the mesh alike", .0[0], .0[1])]
    Orientation([usize; 2]),
    /// The motion has moved the corners of the facet with this number onto one line.
    #[error("the motion of its vertices leaves facet {0} without an area; give velocities that keep it open")]
    Collapsed(usize),
    /// A setting of the wall is out of range, as the text states.
    #[error("{0}")]
    Setting(&'static str),
    /// An STL file cannot be read.
    #[error("{}: {problem}", .file.display())]
    Stl {
        /// Path of the file.
        file: PathBuf,
        /// Reason why the file cannot be read.
        problem: String,
    },
    /// The triangles of a file are not a valid wall.
    #[error("{}: {error}", .file.display())]
    InFile {
        /// Path of the file.
        file: PathBuf,
        /// Reason why the triangles are not a valid wall.
        error: Box<FacetError>,
    },
}
