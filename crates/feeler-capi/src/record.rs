//! Flat structs: poses, options, contacts, verdicts.

use crate::error::{Failure, FeelerResult};
use crate::pointer::get_sized;
use feeler::pose::{PoseError, from_values, to_values};
use feeler::{Contact, ContactKind, FeatureKind, FeatureRef, Pose, QueryOptions, Status};

/// A rigid motion: takes coordinates of a solid to those of the world.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerPose {
    /// mm.
    pub translation: [f64; 3],
    /// Quaternion x, y, z, w; of norm 1 up to 1e-3, it is normalised.
    pub rotation: [f64; 4],
}

impl FeelerPose {
    /// As queries read it.
    ///
    /// # Errors
    /// [`PoseError`].
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

/// What a query is asked for. Fill it with `FEELER_OPTIONS_INIT` or `feeler_options_init`, then change what
/// is to be other than the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerOptions {
    /// `sizeof(FeelerOptions)`.
    pub struct_size: u32,
    /// Not 0: share the work out among threads. The same bits.
    pub parallel: u8,
    /// When the verdict is computed. 0: never. 1 (default): in every query. 2: only if no contact has a
    /// negative gap (with `penetration` above 0), because such a contact explains the interference;
    /// `feeler_pair_decide` computes the verdict on demand.
    pub decide: u8,
    /// Not 0: prove that no minimum of splines is missing.
    pub certified: u8,
    /// Not read.
    pub reserved: u8,
    /// Largest distance (mm) of interest; default 1.
    pub d_max: f64,
    /// Angle (rad) by which polars of edges and vertices are dilated, 0 for no quasi-minima.
    pub quasi_angle: f64,
    /// Implicit dilation of A (mm): only the gap knows of it.
    pub dilation_a: f64,
    /// Implicit dilation of B (mm).
    pub dilation_b: f64,
    /// Lengths (mm) below this are zero; 0: 1e-7 of the size.
    pub tolerance: f64,
    /// Largest depth (mm) of contacts at negative distances.
    pub penetration: f64,
    /// Largest spacing (mm) of samples of conformal sets; 0: a quarter of a set's extent.
    pub conformal_spacing: f64,
}

/// A place on a solid.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeelerFeature {
    /// 0 a face, 1 an edge, 2 a vertex.
    pub kind: u32,
    /// Number among the features of this kind.
    pub index: u32,
    /// Entity number in the STEP file; 0: none.
    pub source: u64,
    /// Parameters there.
    pub uv: [f64; 2],
}

/// A local minimal distance, in world coordinates and millimetres.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeelerContact {
    /// Signed distance, negative where the footpoints are pressed into the other solid.
    pub distance: f64,
    /// `distance` less both dilations.
    pub gap: f64,
    /// Footpoint on A.
    pub point_a: [f64; 3],
    /// Footpoint on B.
    pub point_b: [f64; 3],
    /// Footpoint on A in A's own coordinates.
    pub local_a: [f64; 3],
    /// Footpoint on B in B's own coordinates.
    pub local_b: [f64; 3],
    /// Unit vector, `point_b - point_a = distance * normal`: outward of A.
    pub normal: [f64; 3],
    /// Smallest and largest normal curvature (1/mm) of A, positive where it bulges, infinite across edges.
    pub curvature_a: [f64; 2],
    /// The same of B.
    pub curvature_b: [f64; 2],
    /// Stays the same from query to query while the minimum stays on its features; fits a double.
    pub id: u64,
    /// Queries in a row that have found it before.
    pub age: u32,
    /// 0 strict, 1 quasi, 2 a sample of a conformal set.
    pub kind: u8,
    /// Not 0: the solver stopped above round-off, or in a certified query completeness is not proven.
    pub undecided: u8,
    /// 0.
    pub reserved: [u8; 2],
    /// Where the footpoint is on A.
    pub feature_a: FeelerFeature,
    /// Where the footpoint is on B.
    pub feature_b: FeelerFeature,
}

/// How two solids stand to one another.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerStatus {
    /// They are apart.
    Separated = 0,
    /// The smallest distance is below the tolerance.
    Touching = 1,
    /// The interiors meet.
    Interfering = 2,
    /// The work allowed for one query ran out.
    Undecided = 3,
    /// Not asked, or not near.
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

impl From<&FeatureRef> for FeelerFeature {
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
    fn from(l: &Contact) -> Self {
        Self {
            distance: l.distance,
            gap: l.gap,
            point_a: l.point_a.into(),
            point_b: l.point_b.into(),
            local_a: l.local_a.into(),
            local_b: l.local_b.into(),
            normal: l.normal.into(),
            curvature_a: l.curvature_a,
            curvature_b: l.curvature_b,
            id: l.id,
            age: l.age,
            kind: match l.kind {
                ContactKind::Strict => 0,
                ContactKind::Quasi => 1,
                ContactKind::Conformal => 2,
            },
            undecided: l.undecided.into(),
            reserved: [0; 2],
            feature_a: (&l.feature_a).into(),
            feature_b: (&l.feature_b).into(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "some ten numbers")]
const OPTIONS_SIZE: u32 = size_of::<FeelerOptions>() as u32;

impl FeelerOptions {
    pub(crate) fn new() -> Self {
        let d = QueryOptions::default();
        Self {
            struct_size: OPTIONS_SIZE,
            parallel: d.parallel.into(),
            decide: d.detect_interference.into(),
            certified: d.certified.into(),
            reserved: 0,
            d_max: d.d_max,
            quasi_angle: d.quasi_angle,
            dilation_a: d.dilation_a,
            dilation_b: d.dilation_b,
            tolerance: 0.0,
            penetration: d.penetration,
            conformal_spacing: 0.0,
        }
    }

    #[allow(clippy::needless_update, reason = "there is one more with the runtime's feature diagnostics")]
    fn read(&self) -> QueryOptions {
        // What is neither 0 nor a length is refused by the query.
        let given = |x: f64| (x != 0.0).then_some(x);
        QueryOptions {
            d_max: self.d_max,
            quasi_angle: self.quasi_angle,
            dilation_a: self.dilation_a,
            dilation_b: self.dilation_b,
            parallel: self.parallel != 0,
            detect_interference: self.decide != 0,
            verdict_unless_pressed: self.decide == 2,
            tolerance: given(self.tolerance),
            penetration: self.penetration,
            certified: self.certified != 0,
            conformal_spacing: given(self.conformal_spacing),
            ..QueryOptions::default()
        }
    }
}

/// Sets the defaults and the size.
///
/// # Safety
/// `options` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_options_init(options: *mut FeelerOptions) {
    if !options.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { options.write(FeelerOptions::new()) };
    }
}

/// Options from C; NULL means the defaults.
///
/// # Safety
/// As [`get_sized`].
pub(crate) unsafe fn options(pointer: *const FeelerOptions) -> Result<QueryOptions, Failure> {
    // SAFETY: by the caller's promise; any bytes are numbers.
    Ok(unsafe { get_sized(pointer, FeelerOptions::new(), "options") }?.read())
}

/// A pose from C; NULL means where the solid is modelled.
///
/// # Safety
/// `pointer` is NULL or points at a pose.
pub(crate) unsafe fn pose(pointer: *const FeelerPose, name: &str) -> Result<Pose, Failure> {
    // SAFETY: by the caller's promise.
    match unsafe { pointer.as_ref() } {
        None => Ok(Pose::identity()),
        Some(pose) => pose.read().map_err(|e| Failure::new(FeelerResult::Query, format!("{name}: {e}"))),
    }
}
