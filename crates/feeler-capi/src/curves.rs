//! Deformable curves with a radius among solids: springs, cables and hoses.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, exclusive, fill, get_sized, hand_out, put, shared, take_back};
use crate::record::{FeelerPose, FeelerStatus, pose as read_pose};
use feeler::curves::{
    Curve, CurveContact, CurveError, CurveId, CurveLocation, CurveOptions, CurveScene, CurveSceneError,
    Feature, TightBend,
};
use feeler::{BodyId, P3, QueryOptions, Scene, SceneError, V3};

/// Scene of deformable curves with a radius (tubes) and moving solids.
#[derive(Debug)]
pub struct FeelerCurveScene {
    scene: CurveScene,
    /// Buffers, reused between calls: points read from the caller's arrays, derivatives at nodes, and
    /// control points computed from both.
    points: Vec<P3>,
    derivatives: Vec<V3>,
    control: Vec<P3>,
    /// Whether a call has panicked, so that the cached results are unreliable. Calls that change the
    /// scene then return [`FeelerResult::Panic`].
    broken: bool,
}

/// Options of a scene of curves. Initialise them with `FEELER_CURVE_OPTIONS_INIT` or
/// `feeler_curve_options_init`, then change members.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerCurveOptions {
    /// `sizeof(FeelerCurveOptions)`, set by the caller.
    pub struct_size: u32,
    /// Maximum number of contacts (samples) that represent a stretch of equal distance, at least 2;
    /// default 16.
    pub max_samples: u32,
    /// Largest gap (mm) of reported contacts; default 1.
    pub d_max: f64,
    /// Largest change of the distance per length along the curve (mm per mm) at which the distance
    /// counts as equal; default 1e-6. A stretch of equal distance is reported as a set of samples. With
    /// larger values, tubes that lie side by side become one contact sooner.
    pub level_slope: f64,
    /// Smallest length (mm) of a stretch of equal distance that is reported as a set of samples; a
    /// shorter one is reported as one minimum. Negative (default): the sum of both radii, or a hundredth
    /// of the diagonal of the smaller curve's bounding box, whichever is larger.
    pub level_length: f64,
}

/// Local minimum of the distance between a curve and another curve, itself or a solid, in mm and world
/// coordinates. A is the curve.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerCurveContact {
    /// 0: two curves, 1: a curve with itself, 2: a curve and a solid.
    pub kind: u32,
    /// Id of curve A; between two curves the smaller id.
    pub curve: u32,
    /// Id of curve B (equal to `curve` for a curve with itself), or of the body.
    pub other: u32,
    /// Index of the solid in its body; 0 for curves.
    pub part: u32,
    /// Parameters of `point_a` on curve A and of `point_b` on curve B, from 0 to the number of pieces;
    /// for a curve with itself in ascending order. The second one is NaN for a solid.
    pub u: [f64; 2],
    /// Point on the centre line of curve A. The nearest point of A's tube is one radius away along
    /// `normal`.
    pub point_a: [f64; 3],
    /// Point on the centre line of curve B (the nearest point of B's tube is one radius away against
    /// `normal`), or on the solid.
    pub point_b: [f64; 3],
    /// Unit vector from A to B: `point_b - point_a = distance * normal`. Where two curves cross, it is
    /// orthogonal to both curves and its sign is arbitrary.
    pub normal: [f64; 3],
    /// Signed distance from `point_a` to `point_b`; negative where the curve is inside the solid.
    pub distance: f64,
    /// Distance of the two tubes, or of the tube from the solid: `distance` minus the radii. Negative
    /// where they overlap.
    pub gap: f64,
    /// Location of `point_a` on curve A and of `point_b` on curve B: 0 inside a piece, 1 at a joint
    /// where the direction changes, 2 at a free end. The second one is 0 for a solid.
    pub place: [u32; 2],
    /// Type of the feature of the solid at `point_b`: 0: face, 1: edge, 2: vertex. `UINT32_MAX` unless
    /// `kind` is 2.
    pub feature_kind: u32,
    /// Index of the feature among the solid's features of this kind. `UINT32_MAX` unless `kind` is 2.
    pub feature_index: u32,
    /// Index of the set of samples of equal distance, among the sets of `curve` and `other` in this
    /// update. `UINT32_MAX` for a contact that is not a sample.
    pub set: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Identity of the minimum in its scene; constant from update to update while the minimum moves
    /// continuously.
    pub id: u64,
}

/// Stretch of a curve where the curvature exceeds the reciprocal of the tube's radius. The tube overlaps
/// itself there although no contact of the curve with itself is reported.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerTightBend {
    /// Id of the curve that contains the stretch.
    pub curve: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Parameters of the curve at the ends of the stretch.
    pub range: [f64; 2],
    /// Parameter of the largest curvature found on the stretch.
    pub u: f64,
    /// Curvature at `u` (1/mm); infinite at a cusp.
    pub curvature: f64,
}

const NONE: u32 = u32::MAX;

fn place(place: CurveLocation) -> u32 {
    match place {
        CurveLocation::Inside => 0,
        CurveLocation::Corner => 1,
        CurveLocation::End => 2,
    }
}

impl From<&CurveContact> for FeelerCurveContact {
    fn from(c: &CurveContact) -> Self {
        match c {
            CurveContact::Curves { a, b, minimum: m } => Self {
                kind: u32::from(a == b),
                curve: a.0,
                other: b.0,
                part: 0,
                u: m.u,
                point_a: m.points[0].into(),
                point_b: m.points[1].into(),
                normal: m.normal.into(),
                distance: m.distance,
                gap: m.gap,
                place: m.places.map(place),
                feature_kind: NONE,
                feature_index: NONE,
                set: m.set.unwrap_or(NONE),
                reserved: 0,
                id: m.id,
            },
            CurveContact::Solid { curve, body, part, minimum: m } => {
                let (feature_kind, feature_index) = match m.feature {
                    Feature::Face(f) => (0, f.0),
                    Feature::Edge(e) => (1, e.0),
                    Feature::Vertex(v) => (2, v.0),
                };
                Self {
                    kind: 2,
                    curve: curve.0,
                    other: body.0,
                    part: *part,
                    u: [m.u, f64::NAN],
                    point_a: m.point.into(),
                    point_b: m.foot.into(),
                    // From A, the curve, to B, the solid.
                    normal: (-m.normal).into(),
                    distance: m.distance,
                    gap: m.gap,
                    place: [place(m.place), 0],
                    feature_kind,
                    feature_index,
                    set: m.set.unwrap_or(NONE),
                    reserved: 0,
                    id: m.id,
                }
            }
        }
    }
}

impl From<(CurveId, &TightBend)> for FeelerTightBend {
    fn from((curve, bend): (CurveId, &TightBend)) -> Self {
        Self { curve: curve.0, reserved: 0, range: bend.range, u: bend.u, curvature: bend.curvature }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "less than 4096 bytes")]
const OPTIONS_SIZE: u32 = size_of::<FeelerCurveOptions>() as u32;

impl FeelerCurveOptions {
    fn new() -> Self {
        let d = CurveOptions::default();
        Self {
            struct_size: OPTIONS_SIZE,
            max_samples: u32::try_from(d.max_samples).unwrap_or(u32::MAX),
            d_max: d.d_max,
            level_slope: d.level_slope,
            level_length: -1.0,
        }
    }

    fn read(&self) -> CurveOptions {
        CurveOptions {
            d_max: self.d_max,
            level_slope: self.level_slope,
            // The scene rejects NaN.
            level_length: if self.level_length < 0.0 { None } else { Some(self.level_length) },
            max_samples: self.max_samples as usize,
        }
    }
}

fn invalid_curve(e: CurveError) -> Failure {
    Failure::new(FeelerResult::Query, e)
}

fn failed(e: CurveSceneError) -> Failure {
    let result = match e {
        CurveSceneError::Curve { .. } | CurveSceneError::Options(_) => FeelerResult::Query,
        CurveSceneError::Solids(e) => return failed_solids(e),
        _ => FeelerResult::Scene,
    };
    Failure::new(result, e)
}

fn failed_solids(e: SceneError) -> Failure {
    let result = match e {
        SceneError::Body(_) | SceneError::Empty(_) => FeelerResult::Body,
        _ => FeelerResult::Scene,
    };
    Failure::new(result, e)
}

/// Returns the coordinates of `n` points from the array `values`, which has three numbers for each. A
/// NULL array is an error that states `name`, unless `n` is 0.
///
/// # Safety
/// `values` is NULL or points to `3 n` numbers that are not modified concurrently.
unsafe fn triples<'a>(
    values: *const f64,
    n: usize,
    name: &str,
) -> Result<impl Iterator<Item = [f64; 3]> + use<'a>, Failure> {
    let count = n.checked_mul(3).filter(|n| *n <= isize::MAX as usize / size_of::<f64>());
    let count =
        count.ok_or_else(|| Failure::argument(format!("{name}: {n} points exceed the address space")))?;
    // SAFETY: by the caller's promise.
    let values: &'a [f64] = unsafe { array(values, count, name) }?;
    Ok(values.chunks_exact(3).map(|p| [p[0], p[1], p[2]]))
}

impl FeelerCurveScene {
    /// Reads `n` points into `self.points`.
    ///
    /// # Safety
    /// The conditions of [`triples`] apply to `values`.
    unsafe fn read_points(&mut self, values: *const f64, n: usize, name: &str) -> Result<(), Failure> {
        self.points.clear();
        // SAFETY: by the caller's promise.
        self.points.extend(unsafe { triples(values, n, name) }?.map(P3::from));
        Ok(())
    }

    /// Writes to `self.control` the control points of cubic pieces through `n` points with derivatives.
    ///
    /// # Safety
    /// The conditions of [`triples`] apply to both arrays.
    unsafe fn read_nodes(
        &mut self,
        points: *const f64,
        derivatives: *const f64,
        n: usize,
        closed: bool,
    ) -> Result<(), Failure> {
        self.derivatives.clear();
        // SAFETY: by the caller's promise.
        unsafe {
            self.read_points(points, n, "points")?;
            self.derivatives.extend(triples(derivatives, n, "derivatives")?.map(V3::from));
        }
        Curve::hermite_points(&self.points, &self.derivatives, closed, &mut self.control)
            .map_err(invalid_curve)
    }
}

/// Calls `body` with the scene and returns its result. If an earlier call of this scene has panicked,
/// `body` is not called and the result is [`FeelerResult::Panic`].
///
/// # Safety
/// `scene` is NULL or a scene that no other thread uses.
unsafe fn with(
    scene: *mut FeelerCurveScene,
    body: impl FnOnce(&mut FeelerCurveScene) -> Result<(), Failure>,
) -> FeelerResult {
    enter(|| {
        // SAFETY: by the caller's promise.
        let scene = unsafe { exclusive(scene, "scene") }?;
        if std::mem::replace(&mut scene.broken, true) {
            return Err(Failure::new(
                FeelerResult::Panic,
                "an earlier call of this scene has panicked: free the scene",
            ));
        }
        let done = body(scene);
        scene.broken = false;
        done
    })
}

/// Writes the default options, including `struct_size`, to `options`. NULL does nothing.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_options_init(options: *mut FeelerCurveOptions) {
    if !options.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { options.write(FeelerCurveOptions::new()) };
    }
}

/// Creates an empty scene of curves and bodies. `options` may be NULL for the defaults. Free the scene
/// with `feeler_curve_scene_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_new(
    options: *const FeelerCurveOptions,
    out: *mut *mut FeelerCurveScene,
) -> FeelerResult {
    // SAFETY: by the caller's promise; any bytes are valid numbers.
    enter(|| unsafe {
        let options = get_sized(options, FeelerCurveOptions::new(), "options")?.read();
        let solids = Scene::new(QueryOptions::default()).map_err(failed_solids)?;
        let scene = FeelerCurveScene {
            scene: CurveScene::new(solids, options).map_err(failed)?,
            points: Vec::new(),
            derivatives: Vec::new(),
            control: Vec::new(),
            broken: false,
        };
        hand_out(out, scene)
    })
}

/// Frees a scene.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_free(scene: *mut FeelerCurveScene) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(scene);
        Ok(())
    });
}

/// Adds a curve of connected Bézier pieces of one degree, 1 to 5, and writes its id to `id`. `points`
/// has `3 * n_points` numbers: x, y, z (mm) of each control point. An end point that two pieces share is
/// listed once, so that k pieces have `k * degree + 1` points, or `k * degree` if the curve is `closed`
/// and the last piece ends at the first point. `radius` (mm) is the radius of the tube, at least 0. Ids
/// of curves are never reused.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_add_curve(
    scene: *mut FeelerCurveScene,
    degree: u32,
    points: *const f64,
    n_points: usize,
    radius: f64,
    closed: bool,
    id: *mut u32,
) -> FeelerResult {
    let add = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe { s.read_points(points, n_points, "points") }?;
        let curve = Curve::new(degree as usize, &s.points, radius, closed).map_err(invalid_curve)?;
        // SAFETY: by the caller's promise.
        unsafe { added(s, curve, id) }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Adds a curve of cubic pieces through `n` nodes with given derivatives, such as those of a simulated
/// rod or cable, and writes its id to `id`. `points` (mm) and `derivatives` (mm) have `3 * n` numbers
/// each. Derivatives are with respect to the parameter, which increases by 1 from node to node. If they
/// are not known, use half the vector from the previous to the next node. `radius` (mm) and `closed` are
/// as for `feeler_curve_scene_add_curve`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_add_hermite(
    scene: *mut FeelerCurveScene,
    points: *const f64,
    derivatives: *const f64,
    n: usize,
    radius: f64,
    closed: bool,
    id: *mut u32,
) -> FeelerResult {
    let add = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe { s.read_nodes(points, derivatives, n, closed) }?;
        let curve = Curve::new(3, &s.control, radius, closed).map_err(invalid_curve)?;
        // SAFETY: by the caller's promise.
        unsafe { added(s, curve, id) }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Fits a curve of cubic pieces to `n` measured points, at least four, in their order along the curve,
/// adds it, and writes its id to `id`. `measured` has `3 * n` numbers (mm). The number of pieces is the
/// first of 1, 2, 4, … that brings all points within `tolerance` (mm) of the curve; it is limited to
/// `n / 2` and to 256. `deviation` (may be NULL) receives the largest distance (mm) of a point from the
/// curve, which exceeds `tolerance` if the limit is reached. `radius` (mm) and `closed` are as for
/// `feeler_curve_scene_add_curve`. `feeler_curve_scene_control_points` returns the control points.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_fit_curve(
    scene: *mut FeelerCurveScene,
    measured: *const f64,
    n: usize,
    tolerance: f64,
    radius: f64,
    closed: bool,
    id: *mut u32,
    deviation: *mut f64,
) -> FeelerResult {
    let add = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe { s.read_points(measured, n, "measured") }?;
        let fitted = Curve::fit(&s.points, tolerance, radius, closed).map_err(invalid_curve)?;
        // SAFETY: by the caller's promise.
        unsafe {
            added(s, fitted.curve, id)?;
            if deviation.is_null() { Ok(()) } else { put(deviation, "deviation", fitted.deviation) }
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Adds a curve to a scene and writes its id to `id`. If `id` is NULL, adds nothing and returns an
/// error.
///
/// # Safety
/// `id` is NULL or writable.
unsafe fn added(s: &mut FeelerCurveScene, curve: Curve, id: *mut u32) -> Result<(), Failure> {
    if id.is_null() {
        return Err(Failure::argument("id is NULL"));
    }
    // SAFETY: by the caller's promise.
    unsafe { put(id, "id", s.scene.add(curve).0) }
}

/// Replaces the control points of a curve. `points` has `3 * n_points` numbers (mm); `n_points` is the
/// number of control points of the curve. If the points are invalid, the curve does not change.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_update_curve(
    scene: *mut FeelerCurveScene,
    id: u32,
    points: *const f64,
    n_points: usize,
) -> FeelerResult {
    let update = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe { s.read_points(points, n_points, "points") }?;
        s.scene.update_curve(CurveId(id), &s.points).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, update) }
}

/// Replaces the nodes of a curve of cubic pieces. `points` and `derivatives` have `3 * n` numbers each,
/// as for `feeler_curve_scene_add_hermite`; `n` is the number of nodes of the curve.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_update_hermite(
    scene: *mut FeelerCurveScene,
    id: u32,
    points: *const f64,
    derivatives: *const f64,
    n: usize,
) -> FeelerResult {
    let update = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        let curve = s.scene.curve(CurveId(id)).map_err(failed)?;
        let (degree, closed) = (curve.degree(), curve.is_closed());
        let nodes = curve.n_pieces() + usize::from(!closed);
        if degree != 3 {
            let text =
                format!("curve {id} has degree {degree}: nodes and derivatives move curves of degree 3 only");
            return Err(Failure::new(FeelerResult::Query, text));
        }
        if n != nodes {
            let text = format!("curve {id} has {nodes} nodes, got {n} points and derivatives");
            return Err(Failure::new(FeelerResult::Query, text));
        }
        // SAFETY: by the caller's promise.
        unsafe { s.read_nodes(points, derivatives, n, closed) }?;
        s.scene.update_curve(CurveId(id), &s.control).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, update) }
}

/// Removes a curve. Its id becomes invalid.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_remove_curve(
    scene: *mut FeelerCurveScene,
    id: u32,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |s| s.scene.remove(CurveId(id)).map(drop).map_err(failed)) }
}

/// Writes the control points of a curve to `out`: x, y, z (mm) of each point. `capacity` and `count` are
/// numbers of points, not of coordinates, so that `out` has space for `3 * capacity` numbers.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_control_points(
    scene: *const FeelerCurveScene,
    id: u32,
    out: *mut f64,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise; three numbers have the layout of an array of three.
    enter(|| unsafe {
        let curve = shared(scene, "scene")?.scene.curve(CurveId(id)).map_err(failed)?;
        fill(curve.points().iter().map(|p| <[f64; 3]>::from(*p)), (out.cast(), capacity), count)
    })
}

/// Writes the points of a curve at the `n` parameters `u` to `out`: x, y, z (mm) of each point.
/// Parameters range from 0 to the number of pieces. `out` has space for `3 * n` numbers.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_points_at(
    scene: *const FeelerCurveScene,
    id: u32,
    u: *const f64,
    n: usize,
    out: *mut f64,
) -> FeelerResult {
    // SAFETY: by the caller's promise; three numbers have the layout of an array of three.
    enter(|| unsafe {
        let curve = shared(scene, "scene")?.scene.curve(CurveId(id)).map_err(failed)?;
        let u = array(u, n, "u")?;
        if let Some(i) = u.iter().position(|u| !u.is_finite()) {
            let text = format!("u[{i}] is {}: give a finite parameter from 0 to {}", u[i], curve.n_pieces());
            return Err(Failure::new(FeelerResult::Query, text));
        }
        let mut count = 0;
        fill(u.iter().map(|u| <[f64; 3]>::from(curve.point(*u))), (out.cast(), n), &raw mut count)
    })
}

/// Adds a body, whose coordinates `pose` maps to the world (NULL: identity), and writes its id to `id`.
/// Ids of bodies are never reused and are independent of those of curves.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_add_body(
    scene: *mut FeelerCurveScene,
    body: *const FeelerBody,
    pose: *const FeelerPose,
    id: *mut u32,
) -> FeelerResult {
    let add = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe {
            let (body, pose) = (shared(body, "body")?.0.clone(), read_pose(pose, "pose")?);
            if id.is_null() {
                return Err(Failure::argument("id is NULL"));
            }
            put(id, "id", s.scene.solids_mut().add(body, pose).map_err(failed_solids)?.0)
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Sets the pose of a body for the next update.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_set_pose(
    scene: *mut FeelerCurveScene,
    id: u32,
    pose: *const FeelerPose,
) -> FeelerResult {
    let set = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let pose = unsafe { read_pose(pose, "pose") }?;
        s.scene.solids_mut().set_pose(BodyId(id), pose).map_err(failed_solids)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, set) }
}

/// Removes a body. Its id becomes invalid.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_remove_body(
    scene: *mut FeelerCurveScene,
    id: u32,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |s| s.scene.solids_mut().remove(BodyId(id)).map_err(failed_solids)) }
}

/// Sets whether updates also decide if near curves and bodies interfere, for
/// `feeler_curve_scene_status`. Disabled by default.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_detect_interference(
    scene: *mut FeelerCurveScene,
    detects: bool,
) -> FeelerResult {
    let set = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        s.scene.detect_interference(detects);
        Ok(())
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, set) }
}

/// Computes all contacts between curves, of curves with themselves, and between curves and bodies whose
/// gap is at most `d_max`, for the current control points and poses. For contacts between bodies, use a
/// `FeelerScene`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_update(scene: *mut FeelerCurveScene) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |s| s.scene.update().map_err(failed)) }
}

/// Writes the contacts of the last update to `out`, sorted by pair of curve and other object, then by
/// parameters.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_contacts(
    scene: *const FeelerCurveScene,
    out: *mut FeelerCurveContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let contacts = shared(scene, "scene")?.scene.contacts();
        fill(contacts.iter().map(FeelerCurveContact::from), (out, capacity), count)
    })
}

/// Writes to `out` the stretches where curves were bent more tightly than the radius of their tube
/// allows in the last update, sorted by id of the curve, then by parameter.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_tight_bends(
    scene: *const FeelerCurveScene,
    out: *mut FeelerTightBend,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let bends = shared(scene, "scene")?.scene.tight_bends();
        fill(bends.iter().map(|(curve, bend)| (*curve, bend).into()), (out, capacity), count)
    })
}

/// Writes the relation of the tube of a curve to a body in the last update to `out`: separated,
/// interfering, touching (the gap is zero within rounding), or undecided (neither bounds nor contacts
/// decide). `FEELER_STATUS_UNKNOWN` if interference is not detected
/// (`feeler_curve_scene_detect_interference`), or if the curve or the body was added after the last
/// update.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_status(
    scene: *const FeelerCurveScene,
    curve: u32,
    body: u32,
    out: *mut FeelerStatus,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let status = shared(scene, "scene")?.scene.status(CurveId(curve), BodyId(body)).map_err(failed)?;
        put(out, "out", FeelerStatus::of(status))
    })
}

/// Writes to `interfere` whether the tubes of two curves overlapped in the last update. If `a` equals
/// `b`, the tube of the curve is tested for overlap with itself. Tight bends do not count
/// (`feeler_curve_scene_tight_bends`).
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_curves_interfere(
    scene: *const FeelerCurveScene,
    a: u32,
    b: u32,
    interfere: *mut bool,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let scene = &shared(scene, "scene")?.scene;
        put(interfere, "interfere", scene.curves_interfere(CurveId(a), CurveId(b)).map_err(failed)?)
    })
}
