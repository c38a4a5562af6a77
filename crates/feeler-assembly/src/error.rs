//! Errors of the functions of this crate.

use feeler_mechanism::MechanismError;
use feeler_runtime::{BodyError, PathError, QueryError, SceneError};

/// Error of a measurement, of its rules or of its motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// A solid of a model cannot be queried.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The parts cannot form a scene, for example because a pose is not finite.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// An option of a query is not valid.
    #[error(transparent)]
    Options(#[from] QueryError),
    /// A query is not possible.
    #[error("{subject}: {error}")]
    Query {
        /// Name of the step or of the pair of parts whose query is not possible.
        subject: String,
        /// Reason why the query is not possible.
        error: QueryError,
    },
    /// The poses of a trajectory cannot be joined to a path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The joints or their motion are not valid.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The text of the rules is not valid.
    #[error("{0}")]
    Rules(String),
    /// A pattern of names is not valid.
    #[error("'{pattern}' is not a valid pattern: {reason}")]
    Pattern {
        /// The invalid pattern.
        pattern: String,
        /// Reason why the pattern is invalid.
        reason: String,
    },
    /// A length of the rules is not above 0.
    #[error("{subject} is {value}; give a length above 0 mm")]
    Length {
        /// Key of the length in the rules, preceded by the name of its rule if it belongs to one.
        subject: String,
        /// Given length (mm).
        value: f64,
    },
    /// A rule has a minimum beyond the largest distance that is measured.
    #[error("d_max is {d_max} mm, but a rule has the minimum {min} mm; give a d_max of at least {min} mm")]
    DMaxBelowMinimum {
        /// Largest distance (mm) that is measured, as stated by the options or the rules.
        d_max: f64,
        /// Largest minimum of the rules (mm).
        min: f64,
    },
    /// The numbers of poses of two solids differ, or a trajectory has no poses.
    #[error("the trajectory has {a} poses of A and {b} of B; give one of each for each step")]
    Poses {
        /// Number of poses of A.
        a: usize,
        /// Number of poses of B.
        b: usize,
    },
    /// The axis of a joint has no direction.
    #[error("the direction of the joint's axis is 0; give three numbers that are not all 0")]
    JointAxis,
    /// A joint turns by more than 90 degrees in a step: by this number of degrees.
    #[error(
        "the joint turns by {0} degrees in each step; more steps are needed, so that it turns by at most 90"
    )]
    JointStep(f64),
    /// No two parts move relative to each other.
    #[error(
        "no two parts move relative to each other; `neighbours = true` also checks links that share a joint"
    )]
    NoMovingPairs,
    /// No part of the assembly matches a pattern of a link.
    #[error("link '{link}': no part is called '{pattern}'; the parts are {names}")]
    NoPart {
        /// Name of the link.
        link: String,
        /// Pattern that matches no part.
        pattern: String,
        /// Names of the assembly's parts, at most the first 40.
        names: String,
    },
    /// A part belongs to two links.
    #[error("part '{part}' is in two links, '{first}' and '{second}'; name it in one of them")]
    PartInTwoLinks {
        /// Name of the part.
        part: String,
        /// Name of the first link.
        first: String,
        /// Name of the second link.
        second: String,
    },
    /// No joint has limits, so that its values on a grid are not defined.
    #[error("a grid needs joints with limits; add `limits` to the joints")]
    NoLimits,
    /// A grid is not possible for a mechanism with a closed loop. The value is the name of a closing joint.
    #[error(
        "joint '{0}' closes a loop, whose joints are not free to take all values of a grid; check a motion \
         instead of a grid"
    )]
    GridOfLoops(String),
    /// A grid has too many poses.
    #[error("{values} values of each of {joints} joints give more than {max} poses; give fewer values")]
    GridSize {
        /// Number of values of each joint of the grid.
        values: u32,
        /// Number of joints with limits, whose values vary on the grid.
        joints: usize,
        /// Maximum number of poses.
        max: usize,
    },
    /// All poses of a grid exceed the limits of a joint that follows another one.
    #[error("at every point of the grid, a joint that mimics another one exceeds its limits")]
    EmptyGrid,
    /// The computation was stopped by [`Progress::stop`](crate::Progress::stop).
    #[error("the caller stopped the computation (Progress::stop) before it was finished")]
    Stopped,
}
