//! Errors of queries.

/// Invalid input of [`ContactPair::query`](crate::ContactPair::query) and other queries: an option, a
/// pose or a point. Names of options are fields of [`QueryOptions`](crate::QueryOptions). The message of
/// each variant states the rejected value and the valid values.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// The pose of A contains a number that is NaN or infinite.
    #[error("the pose of A is not finite; give finite millimetres and a unit quaternion")]
    PoseA,
    /// The pose of B contains a number that is NaN or infinite.
    #[error("the pose of B is not finite; give finite millimetres and a unit quaternion")]
    PoseB,
    /// The relative pose overflows, although both poses are finite.
    #[error("the difference between the poses of A and B overflows; move the solids closer together")]
    PosesTooFarApart,
    /// Rounding of the coordinates (2⁻⁵² of their magnitude) exceeds a tenth of the tolerance of the
    /// query.
    ///
    /// The coordinates are those of each solid in the frame of the other one, so an offset that both poses
    /// share does not count. Pairs that are farther apart than a finite `d_max` are accepted anyway,
    /// because their result is certain. For queries of points, the coordinates are those of the point in
    /// the frame of the solid.
    #[error(
        "the coordinates reach {coordinates:.3e} mm, and a tolerance of {tolerance:.3e} mm allows at most \
         {limit:.3e} mm; move the solids closer together and closer to their own origins, or give a larger \
         tolerance"
    )]
    CoordinatesTooLarge {
        /// Bound of the coordinates (mm), by which rounding grows: the distance between the origins of
        /// both solids plus the largest distance of a corner of either solid's box from its own origin.
        /// For a motion, the length of the path is added. For the query of a point, it is the distance
        /// of the point or of the farthest corner of the box from the solid's origin, whichever is
        /// larger.
        coordinates: f64,
        /// Largest value of `coordinates` that the tolerance allows (mm).
        limit: f64,
        /// Tolerance of the query before rounding is added to it (mm).
        tolerance: f64,
    },
    /// A coordinate of the queried point is NaN or infinite.
    #[error("the point is not finite; give finite millimetres")]
    Point,
    /// The direction of a ray contains NaN or an infinite number, or its length is 0.
    #[error("the direction of the ray has no length or is not finite; give a finite vector that is not zero")]
    Direction,
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
    /// The distance that counts as contact
    /// ([`PassageOptions::distance`](crate::PassageOptions::distance)) is NaN, infinite or negative.
    #[error("the distance to stop at is {0}; give a finite distance of 0 mm or more, 0 for contact")]
    StopDistance(f64),
    /// A component of a [`StepBound`](crate::StepBound) is NaN, infinite or negative.
    #[error(
        "the bound of the step is {rotation} rad and {displacement} mm; both must be finite and at least 0"
    )]
    StepBound {
        /// Rotation component of the rejected bound (rad).
        rotation: f64,
        /// Displacement component of the rejected bound (mm).
        displacement: f64,
    },
    /// An option of a tracker is NaN, infinite or negative.
    #[error("the option {name} of the tracker is {value}; it must be finite and at least 0")]
    TrackerOption {
        /// Name of the field of [`TrackerOptions`](crate::TrackerOptions).
        name: &'static str,
        /// Rejected value of that field, in its own unit.
        value: f64,
    },
    /// `conformal_spacing` is NaN, infinite, 0 or negative.
    #[error("the conformal spacing is {0}; give a finite length above 0 mm or omit it for the default")]
    ConformalSpacing(f64),
    /// The chord error of crossing curves is NaN, infinite, 0 or negative.
    #[error("the chord error is {0}; give a finite length above 0 mm")]
    ChordError(f64),
    /// `tolerance` is NaN, infinite, 0 or negative.
    #[error("the tolerance is {0}; give a finite length above 0 mm or omit it for 1e-7 of the size")]
    Tolerance(f64),
    /// `penetration` is NaN, infinite or negative.
    #[error("the penetration is {0}; give a finite depth of 0 mm or more, 0 for none")]
    Penetration(f64),
    /// `penetration` is at least half the sum of both minimum thicknesses, so that the far sides of thin
    /// walls would count as pressed, too.
    #[error(
        "the penetration of {penetration} mm is too large for minimum thicknesses of {min_thickness_a} mm \
         (A) and {min_thickness_b} mm (B); give less than half their sum"
    )]
    PenetrationTooLarge {
        /// Rejected value of `penetration` (mm).
        penetration: f64,
        /// [`Body::min_thickness`](crate::Body::min_thickness) of A (mm).
        min_thickness_a: f64,
        /// [`Body::min_thickness`](crate::Body::min_thickness) of B (mm).
        min_thickness_b: f64,
    },
    /// `tolerance` is at least a tenth of the minimum thickness of a solid.
    #[error(
        "the tolerance of {tolerance} mm is too large for minimum thicknesses of {min_thickness_a} mm \
         (A) and {min_thickness_b} mm (B); give less than a tenth of the smaller one"
    )]
    ToleranceTooLarge {
        /// Rejected value of `tolerance` (mm).
        tolerance: f64,
        /// [`Body::min_thickness`](crate::Body::min_thickness) of A (mm).
        min_thickness_a: f64,
        /// [`Body::min_thickness`](crate::Body::min_thickness) of B (mm).
        min_thickness_b: f64,
    },
}

/// Error of one item of a query of many items: a point, a ray or a pose.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{item} {index}: {error}")]
pub struct BatchError {
    /// Kind of the items: `point`, `ray` or `pose`.
    pub item: &'static str,
    /// Index of the first item with an error.
    pub index: usize,
    /// Error of that item.
    pub error: QueryError,
}
