//! Why triangles are no wall.

use std::path::PathBuf;

/// Why triangles are no wall, or a wall cannot do what is asked. Facets and points have the numbers of the
/// input, from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FacetError {
    /// No triangles at all.
    #[error("there is no facet with an area; a wall needs at least one triangle")]
    Empty,
    /// More than numbers for them.
    #[error("more than 2³¹ points or facets; make several walls of them")]
    TooMany,
    /// A coordinate that is NaN, infinite or beyond 1e100 mm.
    #[error("point {0} is not finite; every coordinate must be a number of mm")]
    NotFinite(usize),
    /// A corner that is not among the points.
    #[error("facet {facet} has corner {corner}, and there are {points} points")]
    Corner {
        /// Of which facet.
        facet: usize,
        /// The corner's number.
        corner: u32,
        /// How many points there are.
        points: usize,
    },
    /// Three different corners on a line.
    #[error("the corners of facet {0} are on one line; repair the mesh, or export it with other tolerances")]
    NoArea(usize),
    /// Two neighbours that look to opposite sides.
    #[error("facets {} and {} look to opposite sides; orient all facets of the mesh alike", .0[0], .0[1])]
    Orientation([usize; 2]),
    /// A facet whose corners have been moved onto one line.
    #[error("the motion of its vertices leaves facet {0} without an area; give velocities that keep it open")]
    Collapsed(usize),
    /// A setting that makes no sense.
    #[error("{0}")]
    Setting(&'static str),
    /// A file that cannot be read, or is none.
    #[error("{}: {problem}", .file.display())]
    Stl {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
    /// A file whose triangles are no wall.
    #[error("{}: {error}", .file.display())]
    InFile {
        /// Which.
        file: PathBuf,
        /// Why.
        error: Box<FacetError>,
    },
}
