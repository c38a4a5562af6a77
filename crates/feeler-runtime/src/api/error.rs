//! Why a query has no answer.

/// Why [`ContactPair::query`](crate::ContactPair::query) has no answer: each variant says what was given and
/// what to give instead.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// The pose of A has a number that is NaN or infinite.
    #[error("the pose of A is not finite; give finite millimetres and a unit quaternion")]
    PoseA,
    /// The pose of B has a number that is NaN or infinite.
    #[error("the pose of B is not finite; give finite millimetres and a unit quaternion")]
    PoseB,
    /// Both poses are finite, but their difference overflows.
    #[error("the difference between the poses of A and B overflows; move the solids closer together")]
    PosesTooFarApart,
    /// Rounding of the coordinates, 2⁻⁵² of them, exceeds a tenth of the tolerance. The coordinates are those
    /// of each solid in the frame of the other one: an offset that both poses share does not count. Solids
    /// that are farther apart than a finite `d_max` are not refused. Of a point, the coordinates are those in
    /// the frame of the solid.
    #[error(
        "the coordinates reach {coordinates:.3e} mm, and a tolerance of {tolerance:.3e} mm allows at most \
         {limit:.3e} mm; move the solids closer together and closer to their own origins, or give a larger \
         tolerance"
    )]
    CoordinatesTooLarge {
        /// Distance of the origins of both solids plus the distance of the farther corner of their boxes from
        /// its own origin (mm). In a motion, the length of the path is added.
        coordinates: f64,
        /// Largest value that the tolerance allows (mm).
        limit: f64,
        /// Tolerance of the query before rounding is added to it (mm).
        tolerance: f64,
    },
    /// A coordinate of a point is NaN or infinite.
    #[error("the point is not finite; give finite millimetres")]
    Point,
    /// `d_max` is NaN or negative.
    #[error("d_max is {0}; give a distance of 0 mm or more, or infinity for all minima")]
    DMax(f64),
    /// `quasi_angle` is NaN or outside [0, π/4].
    #[error("quasi_angle is {0}; give an angle from 0 to pi/4 (0.785) rad, 0 for no quasi-minima")]
    QuasiAngle(f64),
    /// `dilation_a` is NaN or infinite.
    #[error("the dilation of A is {0}; give a finite thickness in mm, 0 for none")]
    DilationA(f64),
    /// `dilation_b` is NaN or infinite.
    #[error("the dilation of B is {0}; give a finite thickness in mm, 0 for none")]
    DilationB(f64),
    /// The distance that a motion is asked for is NaN, infinite or negative.
    #[error("the distance to look for is {0}; give a finite one of 0 mm or more, 0 for contact")]
    Limit(f64),
    /// A bound of a step is NaN, infinite or negative.
    #[error(
        "the bound of the step is {rotation} rad and {displacement} mm; give finite numbers of 0 or more"
    )]
    StepBound {
        /// Rotation (rad).
        rotation: f64,
        /// Displacement (mm).
        displacement: f64,
    },
    /// An option of a tracker is NaN or negative.
    #[error("the option {name} of the tracker is {value}; give a finite number of 0 or more")]
    TrackerOption {
        /// Name of the option.
        name: &'static str,
        /// Value of the option.
        value: f64,
    },
    /// `conformal_spacing` is NaN, infinite, 0 or negative.
    #[error("the conformal spacing is {0}; give a finite length above 0 mm, or none for the default")]
    ConformalSpacing(f64),
    /// The chord error of crossing curves is NaN, infinite, 0 or negative.
    #[error("the chord error is {0}; give a finite length above 0 mm")]
    Chord(f64),
    /// `tolerance` is NaN, infinite, 0 or negative.
    #[error("the tolerance is {0}; give a finite length above 0 mm, or none for 1e-7 of the size")]
    Tolerance(f64),
    /// `penetration` is NaN, infinite or negative.
    #[error("the penetration is {0}; give a finite depth of 0 mm or more, 0 for none")]
    Penetration(f64),
    /// `penetration` is so large that the far sides of thin walls would count as pressed, too.
    #[error(
        "the penetration of {penetration} mm is too large for walls of {wall_a} mm in A and {wall_b} mm in \
            B; give less than half \
         their sum"
    )]
    Walls {
        /// What was asked for.
        penetration: f64,
        /// [`Body::min_thickness`](crate::Body::min_thickness) of A (mm).
        wall_a: f64,
        /// That of B.
        wall_b: f64,
    },
    /// `tolerance` is so large that thin walls are hardly more than it.
    #[error(
        "the tolerance of {tolerance} mm is too large for walls of {wall_a} mm in A and {wall_b} mm in B; \
            give less than a tenth of \
         the thinner one"
    )]
    Coarse {
        /// What was asked for.
        tolerance: f64,
        /// [`Body::min_thickness`](crate::Body::min_thickness) of A (mm).
        wall_a: f64,
        /// That of B.
        wall_b: f64,
    },
}
