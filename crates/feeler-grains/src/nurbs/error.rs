//! Why a net bounds no grain.

use feeler_geom::P3;
use feeler_geom::nurbs::NurbsError;

/// A direction of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along u.
    U,
    /// Along v.
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

/// Why a net bounds no grain, or points give none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GrainError {
    /// The numbers describe no NURBS surface: a weight is zero or negative, knots decrease, counts do not
    /// fit.
    #[error("the net describes no surface: {0}")]
    Net(#[from] NurbsError),
    /// A net has too few points in a direction for its degree.
    #[error(
        "{points} control points along {direction} are too few for degree {degree}; give {least} or more"
    )]
    Few {
        /// Direction.
        direction: Direction,
        /// Points given.
        points: usize,
        /// Degree asked.
        degree: u32,
        /// Fewest points.
        least: usize,
    },
    /// The surface has a border.
    #[error(
        "the surface is open along {direction}: its sides are {gap:.3e} mm apart; wrap the net, repeat its \
         first row as the last one, or let each side be one point"
    )]
    Open {
        /// Direction.
        direction: Direction,
        /// Largest distance (mm) of both sides.
        gap: f64,
    },
    /// The surface meets itself at an angle.
    #[error(
        "the surface meets itself at an angle of {angle:.3e} rad along {direction}; wrap the net, or put the \
         rows beside the seam on one line with it"
    )]
    Crease {
        /// Direction.
        direction: Direction,
        /// Largest angle (rad).
        angle: f64,
    },
    /// A pole is a tip.
    #[error(
        "the pole at the {end} of {direction} is a tip: its tangent planes differ by {angle:.3e} rad; put \
         the control points next to the pole into one plane with it"
    )]
    Tip {
        /// Direction that ends at the pole.
        direction: Direction,
        /// `start` or `end`.
        end: &'static str,
        /// Largest angle (rad).
        angle: f64,
    },
    /// The surface folds or collapses somewhere.
    #[error(
        "the surface has no normal at u = {u}, v = {v}: it folds or collapses there; move its control \
         points apart"
    )]
    Singular {
        /// Parameter u.
        u: f64,
        /// Parameter v.
        v: f64,
    },
    /// The surface encloses nothing.
    #[error("the surface encloses a volume of {volume:.3e} mm³, which no grain has")]
    Volume {
        /// Volume (mm³).
        volume: f64,
    },
    /// The surface runs through itself.
    #[error(
        "at {at} the surface does not part inside from outside: it runs through itself, or the grain is \
         thinner there than {depth:.3e} mm; move its control points apart"
    )]
    Crossing {
        /// A place of the surface.
        at: P3,
        /// How far beside it that was seen (mm).
        depth: f64,
    },
    /// A dimension is not a positive number.
    #[error("{name} is {value}; give a positive number, and for a torus a tube thinner than its ring")]
    Dimension {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Points do not determine a net.
    #[error(
        "{points} points do not determine the {unknowns} control points of the net; give more points all \
         around, or a coarser net"
    )]
    Points {
        /// Points given.
        points: usize,
        /// Control points asked for.
        unknowns: usize,
    },
    /// No embedded shape was found.
    #[error("no grain without self-intersection was found for this roughness; give less than 1")]
    Rough,
}
