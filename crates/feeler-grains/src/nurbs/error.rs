//! Errors of nets and of points to fit.

use feeler_geom::P3;
use feeler_geom::nurbs::NurbsError;

/// Direction in the parameter plane of a surface, or in its control net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Direction of u: from row to row of a net.
    U,
    /// Direction of v: along each row of a net.
    V,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::U => "u",
            Self::V => "v",
        })
    }
}

/// Reason why a control net does not bound a grain, or why the points of a fit do not determine the
/// control net.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NurbsGrainError {
    /// The net does not describe a NURBS surface: a weight is not positive, knots decrease, or counts do
    /// not match.
    #[error("the net does not describe a surface: {0}")]
    Net(#[from] NurbsError),
    /// A net has too few points along a direction for its degree.
    #[error("{points} control points along {direction} are too few for degree {degree}; give at least {min}")]
    TooFewPoints {
        /// Direction with too few points.
        direction: Direction,
        /// Number of points.
        points: usize,
        /// Degree along the direction.
        degree: u32,
        /// Smallest valid number of points.
        min: usize,
    },
    /// The surface has a boundary.
    #[error(
        "the surface is open along {direction}: its sides are {gap:.3e} mm apart; close it by wrapping \
         (Along::Wrapped), repeat its first row as the last one, or let each side be one point"
    )]
    Open {
        /// Direction along which the surface is open.
        direction: Direction,
        /// Largest distance between the two sides that should coincide (mm).
        gap: f64,
    },
    /// The surface has a crease at its seam or between two patches.
    #[error(
        "the surface has a crease of {angle:.3e} rad along {direction}, at its seam or between patches; \
         close it by wrapping (Along::Wrapped), or put the rows next to the crease on one line with the row \
         at it"
    )]
    Crease {
        /// Direction across the crease.
        direction: Direction,
        /// Largest angle between the tangent planes on both sides of the crease (rad).
        angle: f64,
    },
    /// The surface has no common tangent plane at a pole, which is a tip.
    #[error(
        "the pole at the {end} of the parameter {direction} is a tip: its tangent planes differ by \
         {angle:.3e} rad; put the control points next to the pole into one plane with it"
    )]
    Tip {
        /// Direction that ends at the pole.
        direction: Direction,
        /// End of the direction at which the pole is: `start` or `end`.
        end: &'static str,
        /// Largest angle (rad) between the limits of the tangent plane as the pole is approached along
        /// different lines.
        angle: f64,
    },
    /// The surface has no normal at a point, because it folds or collapses there.
    #[error(
        "the surface has no normal at u = {u}, v = {v}: it folds or collapses there; move its control \
         points apart"
    )]
    Singular {
        /// Parameter u of the point without a normal.
        u: f64,
        /// Parameter v of the point without a normal.
        v: f64,
    },
    /// The volume that the surface encloses is 0 up to rounding.
    #[error(
        "the surface encloses a volume of {volume:.3e} mm³, which is 0 up to rounding; \
         give a closed surface with an inside"
    )]
    Volume {
        /// Enclosed volume (mm³).
        volume: f64,
    },
    /// The surface does not separate inside from outside: it intersects itself, or the grain or a gap in
    /// it is thinner than `depth`.
    #[error(
        "the surface does not separate inside from outside at {at}: it intersects itself, or the grain or a \
         gap in it is thinner than {depth:.3e} mm; move the control points apart"
    )]
    Crossing {
        /// Point of the surface (mm) next to which a winding number is wrong.
        at: P3,
        /// Distance (mm) from the surface, inwards and outwards along its normal, of the two points next
        /// to `at` whose winding numbers the test computed. The test fails, too, if the grain or a gap
        /// in it is thinner than this distance.
        depth: f64,
    },
    /// A dimension is not a valid positive number.
    #[error(
        "{name} is {value}; give a finite positive number, and for a torus a tube radius below the \
         ring radius"
    )]
    Dimension {
        /// Name of the dimension.
        name: &'static str,
        /// Value of the dimension.
        value: f64,
    },
    /// The points of a fit are too few, or too unevenly spread, to determine the control net.
    #[error(
        "{points} points do not determine the {unknowns} unknowns of the net; give more points all around \
         the grain, or a coarser net"
    )]
    Points {
        /// Number of points.
        points: usize,
        /// Number of unknown control points of the net and unknown vectors at its poles.
        unknowns: usize,
    },
    /// The roughness is out of range, or no star-shaped grain was found for the roughness.
    #[error("no star-shaped grain was found for this roughness; give a smaller one from 0 to 1")]
    Roughness,
}
