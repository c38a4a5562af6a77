//! Flat structs of the C interface: poses, query options, contacts, features.

use crate::error::{Failure, FeelerResult};
use crate::pointer::get_sized;
use feeler::pose::{PoseError, from_values, to_values};
use feeler::{Contact, ContactKind, FeatureKind, FeatureRef, Pose, QueryOptions, Status};

/// Rigid motion that maps a solid's own coordinates to world coordinates: first the rotation, then the
/// translation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerPose {
    /// Translation (mm).
    pub translation: [f64; 3],
    /// Unit quaternion x, y, z, w. A quaternion with a norm within 1e-3 of 1 is normalised; any other is
    /// an error.
    pub rotation: [f64; 4],
}

impl FeelerPose {
    /// Converts the record to a pose of the Rust library.
    ///
    /// # Errors
    /// The pose is not finite, or its quaternion is not a unit quaternion.
    pub fn read(&self) -> Result<Pose, PoseError> {
        let ([x, y, z], [qx, qy, qz, qw]) = (self.translation, self.rotation);
        from_values(&[x, y, z, qx, qy, qz, qw])
    }
}

impl From<&Pose> for FeelerPose {
    fn from(pose: &Pose) -> Self {
        let [x, y, z, qx, qy, qz, qw] = to_values(pose);
        Self { translation: [x, y, z], rotation: [qx, qy, qz, qw] }
    }
}

/// Options of a query. Initialise them with `FEELER_QUERY_OPTIONS_INIT` or `feeler_query_options_init`,
/// then change members.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerQueryOptions {
    /// `sizeof(FeelerQueryOptions)`, set by the caller.
    pub struct_size: u32,
    /// Not 0: distribute the work of one query among threads. The results are bitwise the same. Default
    /// 0.
    pub parallel: u8,
    /// Not 0 (default): compute the verdict in every query. 0: skip it; `feeler_contact_pair_decide`
    /// computes it on demand.
    pub detect_interference: u8,
    /// Not 0: skip the verdict if a contact has a negative gap, because such a contact explains the
    /// interference. Without effect if `penetration` is 0. Default 0.
    pub verdict_unless_pressed: u8,
    /// Not 0: prove that no minimum with a spline is missing, or count the pairs of areas without proof
    /// (`undecided_pairs` of `FeelerVerdict`). Default 0.
    pub certified: u8,
    /// Not 0: of each conformal set, report only the outermost samples, which suffice to carry loads.
    /// Default 0.
    pub load_bearing: u8,
    /// Reserved, ignored.
    pub reserved: [u8; 7],
    /// Largest distance (mm) of reported contacts, at least 0; infinity for all contacts. Default 1. In
    /// a scene it limits the gap and must be finite.
    pub d_max: f64,
    /// Angle (rad) for quasi-minima, from 0 (default: none are reported) to π/4. The cones of directions
    /// of edges and vertices (polars) are dilated by it. A quasi-minimum may become a minimum if a solid
    /// rotates by this angle.
    pub quasi_angle: f64,
    /// Implicit dilation of A (mm), subtracted from `gap`; it does not affect `distance`. Default 0; may
    /// be negative.
    pub dilation_a: f64,
    /// Implicit dilation of B (mm), like `dilation_a`.
    pub dilation_b: f64,
    /// Lengths (mm) below this count as zero; 0 (default): 1e-7 of the diagonal of the larger solid's
    /// bounding box.
    pub tolerance: f64,
    /// Depth (mm) down to which contacts at negative distances are reported, at least 0 and less than
    /// half the sum of both bodies' `min_thickness` (`FeelerBodyInfo`). Default 0.
    pub penetration: f64,
    /// Largest spacing (mm) of the samples of a conformal set; 0 (default): a quarter of the extent of
    /// the set.
    pub conformal_spacing: f64,
}

/// Face, edge or vertex of a solid, with the parameters of a footpoint on it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeelerFeatureRef {
    /// 0: face, 1: edge, 2: vertex.
    pub kind: u32,
    /// Index of the feature among the solid's features of this kind.
    pub index: u32,
    /// Number of the feature's entity in the STEP file; 0 if no entity exists.
    pub source: u64,
    /// Parameters of the footpoint on the surface or curve of the feature: u and v on a face, t and 0 on
    /// an edge, zeros at a vertex.
    pub uv: [f64; 2],
}

/// Kind of a contact: of a minimum of the distance, or of a constraint of a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeelerContactKind {
    /// Isolated local minimum of the distance.
    #[default]
    Strict = 0,
    /// Quasi-minimum: not a local minimum, but may become one by a small rotation (the option `quasi_angle`
    /// of a query, or the rotation of a step).
    Quasi = 1,
    /// Sample of a conformal set, that is of a connected set of equal minima.
    Conformal = 2,
    /// Sample of the gap between two nearly conformal features, at fixed parameters of one of them. Only
    /// trackers report it.
    Sample = 3,
    /// Quasi-minimum with a footpoint on the extension of a face beyond a concave edge. Only trackers
    /// report it.
    Extended = 4,
}

/// Local minimum of the distance between two solids, or another constraint of a step that a tracker
/// reports, in mm and world coordinates. The contacts of a tracker are at the poses of the last update.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeelerContact {
    /// Signed distance from `point_a` to `point_b` along `normal`; negative where the solids penetrate
    /// each other.
    pub distance: f64,
    /// `distance` minus the dilations of A and of B.
    pub gap: f64,
    /// Footpoint on A, world coordinates.
    pub point_a: [f64; 3],
    /// Footpoint on B, world coordinates.
    pub point_b: [f64; 3],
    /// Footpoint on A in A's own coordinates.
    pub local_a: [f64; 3],
    /// Footpoint on B in B's own coordinates.
    pub local_b: [f64; 3],
    /// Unit normal at `point_a`, outward from A and towards B: `point_b - point_a = distance * normal` for
    /// a minimum. It stays outward from A if the distance is negative. A contact pushes B in this direction.
    pub normal: [f64; 3],
    /// `normal` in A's own coordinates.
    pub local_normal: [f64; 3],
    /// First derivative of `gap` with respect to a twist of B at A's origin, in A's frame: three
    /// components for the translation (mm), then three for the rotation (rad).
    pub gap_rate: [f64; 6],
    /// Smallest and largest normal curvature of A at the footpoint (1/mm), positive where A is convex;
    /// infinite across an edge and at a vertex.
    pub curvature_a: [f64; 2],
    /// Smallest and largest normal curvature of B at the footpoint (1/mm), positive where B is convex.
    pub curvature_b: [f64; 2],
    /// Identity of the contact in its pair of bodies; constant from query to query while the footpoints
    /// stay on their features. A new contact of a tracker has a larger id than all earlier ones. A double
    /// represents it exactly.
    pub id: u64,
    /// Number of consecutive queries, or updates of the tracker, before this one that found the same
    /// contact; 0 for a new contact.
    pub age: u32,
    /// Kind of the minimum, or reason why a tracker reports the contact.
    pub kind: FeelerContactKind,
    /// 1: the solver stopped before its error was as small as rounding (footpoints are accurate to 1e-6
    /// of the larger solid's diagonal) or, with the option `certified`, the contact's pair of areas may
    /// have more minima. Else 0.
    pub undecided: u8,
    /// 1 if a step can close the gap, because `gap` is at most the `displacement` of the step's bound,
    /// which is 0 for a query; 0 otherwise. A solver needs only active contacts.
    pub is_active: u8,
    /// 1 for a footpoint, on A and on B, that is fixed on its feature: one of each sample; 0 for one that
    /// slides.
    pub is_fixed: [u8; 2],
    /// Reserved, 0.
    pub reserved: [u8; 4],
    /// Feature of A at the footpoint.
    pub feature_a: FeelerFeatureRef,
    /// Feature of B at the footpoint.
    pub feature_b: FeelerFeatureRef,
}

/// Relation of two solids in a query.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerStatus {
    /// The solids have no common point.
    Separated = 0,
    /// The smallest distance of the solids is below the `tolerance` of the query options, and their
    /// interiors do not intersect deeper than this tolerance.
    Touching = 1,
    /// The interiors of the solids intersect.
    Interfering = 2,
    /// The computing budget of the query was exhausted before interference was found or excluded.
    Undecided = 3,
    /// No verdict was computed, for example because the bodies are not near each other.
    Unknown = 4,
}

impl FeelerStatus {
    pub(crate) fn of(status: Option<Status>) -> Self {
        match status {
            Some(Status::Separated) => Self::Separated,
            Some(Status::Touching) => Self::Touching,
            Some(Status::Interfering) => Self::Interfering,
            Some(Status::Undecided) => Self::Undecided,
            None => Self::Unknown,
        }
    }
}

impl From<&FeatureRef> for FeelerFeatureRef {
    fn from(f: &FeatureRef) -> Self {
        Self { kind: feature_kind(f.kind), index: f.index, source: f.source, uv: f.uv }
    }
}

pub(crate) fn feature_kind(kind: FeatureKind) -> u32 {
    match kind {
        FeatureKind::Face => 0,
        FeatureKind::Edge => 1,
        FeatureKind::Vertex => 2,
    }
}

impl From<&Contact> for FeelerContact {
    fn from(c: &Contact) -> Self {
        Self {
            distance: c.distance,
            gap: c.gap,
            point_a: c.point_a.into(),
            point_b: c.point_b.into(),
            local_a: c.local_a.into(),
            local_b: c.local_b.into(),
            normal: c.normal.into(),
            local_normal: c.local_normal.into(),
            gap_rate: c.gap_rate,
            curvature_a: c.curvature_a,
            curvature_b: c.curvature_b,
            id: c.id,
            age: c.age,
            kind: match c.kind {
                ContactKind::Strict => FeelerContactKind::Strict,
                ContactKind::Quasi => FeelerContactKind::Quasi,
                ContactKind::Conformal => FeelerContactKind::Conformal,
                ContactKind::Sample => FeelerContactKind::Sample,
                ContactKind::Extended => FeelerContactKind::Extended,
            },
            undecided: c.undecided.into(),
            is_active: c.is_active.into(),
            is_fixed: c.is_fixed.map(u8::from),
            reserved: [0; 4],
            feature_a: (&c.feature_a).into(),
            feature_b: (&c.feature_b).into(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "less than 4096 bytes")]
const OPTIONS_SIZE: u32 = size_of::<FeelerQueryOptions>() as u32;

impl FeelerQueryOptions {
    pub(crate) fn new() -> Self {
        let d = QueryOptions::default();
        Self {
            struct_size: OPTIONS_SIZE,
            parallel: d.parallel.into(),
            detect_interference: d.detect_interference.into(),
            verdict_unless_pressed: d.verdict_unless_pressed.into(),
            certified: d.certified.into(),
            load_bearing: d.load_bearing.into(),
            reserved: [0; 7],
            d_max: d.d_max,
            quasi_angle: d.quasi_angle,
            dilation_a: d.dilation_a,
            dilation_b: d.dilation_b,
            tolerance: 0.0,
            penetration: d.penetration,
            conformal_spacing: 0.0,
        }
    }

    #[allow(clippy::needless_update, reason = "the runtime's feature diagnostics adds a member")]
    fn read(&self) -> QueryOptions {
        // The query rejects other invalid values.
        let given = |x: f64| (x != 0.0).then_some(x);
        QueryOptions {
            d_max: self.d_max,
            quasi_angle: self.quasi_angle,
            dilation_a: self.dilation_a,
            dilation_b: self.dilation_b,
            parallel: self.parallel != 0,
            detect_interference: self.detect_interference != 0,
            verdict_unless_pressed: self.verdict_unless_pressed != 0,
            tolerance: given(self.tolerance),
            penetration: self.penetration,
            certified: self.certified != 0,
            load_bearing: self.load_bearing != 0,
            conformal_spacing: given(self.conformal_spacing),
            ..QueryOptions::default()
        }
    }
}

/// Writes the default options, including `struct_size`, to `options`. NULL does nothing.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_query_options_init(options: *mut FeelerQueryOptions) {
    if !options.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { options.write(FeelerQueryOptions::new()) };
    }
}

/// Reads options; NULL stands for the defaults.
///
/// # Safety
/// The conditions of [`get_sized`] apply.
pub(crate) unsafe fn options(pointer: *const FeelerQueryOptions) -> Result<QueryOptions, Failure> {
    // SAFETY: by the caller's promise; any bytes are valid numbers.
    Ok(unsafe { get_sized(pointer, FeelerQueryOptions::new(), "options") }?.read())
}

/// Reads a pose; NULL stands for the identity.
///
/// # Safety
/// `pointer` is NULL or points to a pose.
pub(crate) unsafe fn pose(pointer: *const FeelerPose, name: &str) -> Result<Pose, Failure> {
    // SAFETY: by the caller's promise.
    match unsafe { pointer.as_ref() } {
        None => Ok(Pose::identity()),
        Some(pose) => pose.read().map_err(|e| Failure::new(FeelerResult::Query, format!("{name}: {e}"))),
    }
}
