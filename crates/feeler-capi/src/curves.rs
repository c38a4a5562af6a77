//! Deformable curves with a radius among solids: springs, cables, hoses.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, exclusive, fill, get_sized, hand_out, put, shared, take_back};
use crate::record::{FeelerPose, FeelerStatus, pose};
use feeler::curves::{
    Curve, CurveContact, CurveError, CurveId, CurveOptions, CurveScene, CurveSceneError, Feature, Place,
    TightBend,
};
use feeler::{BodyId, P3, QueryOptions, Scene, SceneError, V3};

/// Curves that deform among solids that move.
#[derive(Debug)]
pub struct FeelerCurveScene {
    scene: CurveScene,
    /// What is read of arrays, and control points made of it.
    points: Vec<P3>,
    derivatives: Vec<V3>,
    control: Vec<P3>,
    /// A step has panicked: what is reused cannot be trusted.
    broken: bool,
}

/// What a scene of curves looks for. Fill it with `FEELER_CURVE_OPTIONS_INIT` or
/// `feeler_curve_options_init`, then change what is to be other than the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerCurveOptions {
    /// `sizeof(FeelerCurveOptions)`.
    pub struct_size: u32,
    /// Most samples of a stretch of equal distance, at least 2; default 16.
    pub max_samples: u32,
    /// Largest gap (mm) of minima that are told; default 1.
    pub d_max: f64,
    /// Stretches on which the distance changes by less than this with length (mm per mm) are sets of equal
    /// distance, told by samples; default 1e-6. Larger values make tubes that lie side by side one contact
    /// sooner.
    pub level_slope: f64,
    /// Length (mm) from which on a level stretch is a set and not a minimum; negative, the default: the
    /// larger of the sum of the radii and a hundredth of the smaller curve's size.
    pub level_length: f64,
}

/// A local minimum of the distance between a curve and another one, itself or a solid, in world coordinates
/// and millimetres. The curve is A.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerCurveContact {
    /// 0 two curves, 1 a curve and itself, 2 a curve and a solid.
    pub kind: u32,
    /// Id of the curve; of two the smaller one.
    pub curve: u32,
    /// Id of the other curve, or of the body.
    pub other: u32,
    /// Which solid of the body; 0 of curves.
    pub part: u32,
    /// Parameters on both curves, from 0 to the number of pieces; of a curve and itself the smaller one comes
    /// first. The second one is NaN for a solid.
    pub u: [f64; 2],
    /// The point of the curve (its tube's is a radius away along the normal).
    pub point_a: [f64; 3],
    /// The point of the other curve (its tube's is a radius away against the normal), or of the solid.
    pub point_b: [f64; 3],
    /// Unit vector, `point_b - point_a = distance * normal`. Where curves cross it is orthogonal to both, its
    /// sign without meaning.
    pub normal: [f64; 3],
    /// Distance of the points; negative where the curve is inside the solid.
    pub distance: f64,
    /// Distance of the tubes, or of the tube and the solid; negative where they overlap.
    pub gap: f64,
    /// What of the curves it lies on: 0 inside a piece, 1 a corner, 2 a free end. The second one is 0 for a
    /// solid.
    pub place: [u32; 2],
    /// For a solid: 0 a face, 1 an edge, 2 a vertex; else `UINT32_MAX`.
    pub feature_kind: u32,
    /// Number among the features of this kind; else `UINT32_MAX`.
    pub feature: u32,
    /// The same number for all samples of one stretch of equal distance of this curve and this other;
    /// `UINT32_MAX` for what is no sample.
    pub set: u32,
    /// 0.
    pub reserved: u32,
    /// Stays the same from step to step while the minimum moves on.
    pub id: u64,
}

/// A stretch on which a curve is bent more than its radius allows: its tube overlaps itself there, though
/// its distance from itself has no minimum.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerTightBend {
    /// Id of the curve.
    pub curve: u32,
    /// 0.
    pub reserved: u32,
    /// The parameters between which the curvature is too large.
    pub range: [f64; 2],
    /// Where it was found to be largest.
    pub u: f64,
    /// How large it is there (1/mm); infinite at a cusp.
    pub curvature: f64,
}

const NONE: u32 = u32::MAX;

fn place(place: Place) -> u32 {
    match place {
        Place::Inside => 0,
        Place::Corner => 1,
        Place::End => 2,
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
                feature: NONE,
                set: m.set.unwrap_or(NONE),
                reserved: 0,
                id: m.id,
            },
            CurveContact::Solid { curve, body, part, minimum: m } => {
                let (feature_kind, feature) = match m.feature {
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
                    // From the curve to the solid, as from A to B elsewhere.
                    normal: (-m.normal).into(),
                    distance: m.distance,
                    gap: m.gap,
                    place: [place(m.place), 0],
                    feature_kind,
                    feature,
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

#[expect(clippy::cast_possible_truncation, reason = "some ten numbers")]
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
            // What is no number is refused by the scene.
            level_length: if self.level_length < 0.0 { None } else { Some(self.level_length) },
            max_samples: self.max_samples as usize,
        }
    }
}

fn made_no_sense(e: CurveError) -> Failure {
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

/// Coordinates of `n` points, three a point.
///
/// # Safety
/// `values` is NULL or points at `3 n` numbers that nobody changes meanwhile.
unsafe fn triples<'a>(
    values: *const f64,
    n: usize,
    name: &str,
) -> Result<impl Iterator<Item = [f64; 3]> + use<'a>, Failure> {
    let count = n.checked_mul(3).filter(|n| *n <= isize::MAX as usize / size_of::<f64>());
    let count = count.ok_or_else(|| Failure::argument(format!("{name}: {n} points are too many")))?;
    // SAFETY: by the caller's promise.
    let values: &'a [f64] = unsafe { array(values, count, name) }?;
    Ok(values.chunks_exact(3).map(|p| [p[0], p[1], p[2]]))
}

impl FeelerCurveScene {
    /// # Safety
    /// As [`triples`].
    unsafe fn read_points(&mut self, values: *const f64, n: usize, name: &str) -> Result<(), Failure> {
        self.points.clear();
        // SAFETY: by the caller's promise.
        self.points.extend(unsafe { triples(values, n, name) }?.map(P3::from));
        Ok(())
    }

    /// Control points of cubics through points with derivatives.
    ///
    /// # Safety
    /// As [`triples`], for both.
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
            .map_err(made_no_sense)
    }
}

/// Runs something on a scene that no panic has broken.
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
                "the scene is broken by an earlier panic; free it",
            ));
        }
        let done = body(scene);
        scene.broken = false;
        done
    })
}

/// Sets the defaults and the size.
///
/// # Safety
/// `options` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_options_init(options: *mut FeelerCurveOptions) {
    if !options.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { options.write(FeelerCurveOptions::new()) };
    }
}

/// A scene without curves and bodies. NULL options mean the defaults.
///
/// # Safety
/// `options` is NULL or has the size that its `struct_size` tells; `out` may be written. Free the scene by
/// `feeler_curve_scene_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_new(
    options: *const FeelerCurveOptions,
    out: *mut *mut FeelerCurveScene,
) -> FeelerResult {
    // SAFETY: by the caller's promise; any bytes are numbers.
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

/// Frees a scene; NULL does nothing.
///
/// # Safety
/// `scene` is NULL or a scene that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_free(scene: *mut FeelerCurveScene) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(scene);
        Ok(())
    });
}

/// Adds a curve of Bézier pieces of one degree, 1 to 5, that meet end to end, from `n_points` control points
/// (x, y, z of each): end points of neighbours are given once, so k pieces have `k * degree + 1` points, or
/// `k * degree` when the last piece ends where the first one starts (`closed`). Its tube has the radius (mm),
/// 0 or more. An id is never given again.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `points` points at `3 * n_points` numbers; `id` may be
/// written.
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
        let curve = Curve::new(degree as usize, &s.points, radius, closed).map_err(made_no_sense)?;
        // SAFETY: by the caller's promise.
        unsafe { added(s, curve, id) }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Adds a curve of cubics through `n` nodes with given derivatives with respect to the parameter, which grows
/// by 1 from each node to the next one: what rods and cables of a simulator have. Without directions of your
/// own take half the step from the node before to the node after.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `points` and `derivatives` point at `3 * n` numbers each;
/// `id` may be written.
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
        let curve = Curve::new(3, &s.control, radius, closed).map_err(made_no_sense)?;
        // SAFETY: by the caller's promise.
        unsafe { added(s, curve, id) }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Adds a curve of cubics near `n` measured points, four or more in their order along it: of as few pieces as
/// bring all of them within `tolerance` (mm), or of as many as the points allow. `deviation`, which may be
/// NULL, tells the largest distance of a point from the curve; look at it. The control points are told by
/// `feeler_curve_scene_control_points`.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `measured` points at `3 * n` numbers; `id` may be written,
/// and so may `deviation` unless it is NULL.
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
        let fitted = Curve::fit(&s.points, tolerance, radius, closed).map_err(made_no_sense)?;
        // SAFETY: by the caller's promise.
        unsafe {
            added(s, fitted.curve, id)?;
            if deviation.is_null() { Ok(()) } else { put(deviation, "deviation", fitted.deviation) }
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// # Safety
/// `id` is NULL or may be written.
unsafe fn added(s: &mut FeelerCurveScene, curve: Curve, id: *mut u32) -> Result<(), Failure> {
    if id.is_null() {
        return Err(Failure::argument("id is NULL"));
    }
    // SAFETY: by the caller's promise.
    unsafe { put(id, "id", s.scene.add(curve).0) }
}

/// Moves a curve: as many control points as it was made with. Where they are refused it stays as it was.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `points` points at `3 * n_points` numbers.
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

/// Moves a curve of cubics by as many nodes and derivatives as it has (`feeler_curve_scene_add_hermite`).
///
/// # Safety
/// `scene` is a scene that no other thread uses; `points` and `derivatives` point at `3 * n` numbers each.
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
            let text = format!("curve {id} is of degree {degree}: nodes and derivatives move cubics only");
            return Err(Failure::new(FeelerResult::Query, text));
        }
        if n != nodes {
            let text = format!("curve {id} has {nodes} nodes: give as many points and derivatives, not {n}");
            return Err(Failure::new(FeelerResult::Query, text));
        }
        // SAFETY: by the caller's promise.
        unsafe { s.read_nodes(points, derivatives, n, closed) }?;
        s.scene.update_curve(CurveId(id), &s.control).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, update) }
}

/// Takes a curve away.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_remove_curve(
    scene: *mut FeelerCurveScene,
    id: u32,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |s| s.scene.remove(CurveId(id)).map(drop).map_err(failed)) }
}

/// The control points of a curve, x, y, z of each: up to `capacity` points to `out`, how many there are to
/// `count`.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `out` has room for `3 * capacity` numbers; `count` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_control_points(
    scene: *const FeelerCurveScene,
    id: u32,
    out: *mut f64,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise; three numbers have the layout of three numbers.
    enter(|| unsafe {
        let curve = shared(scene, "scene")?.scene.curve(CurveId(id)).map_err(failed)?;
        fill(curve.points().iter().map(|p| <[f64; 3]>::from(*p)), (out.cast(), capacity), count)
    })
}

/// The points of a curve at `n` parameters, x, y, z of each. Parameters go from 0 to the number of pieces.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `u` points at `n` numbers, `out` has room for `3 * n`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_points_at(
    scene: *const FeelerCurveScene,
    id: u32,
    u: *const f64,
    n: usize,
    out: *mut f64,
) -> FeelerResult {
    // SAFETY: by the caller's promise; three numbers have the layout of three numbers.
    enter(|| unsafe {
        let curve = shared(scene, "scene")?.scene.curve(CurveId(id)).map_err(failed)?;
        let u = array(u, n, "u")?;
        if let Some(i) = u.iter().position(|u| !u.is_finite()) {
            let text = format!("u[{i}] is {}: give a parameter from 0 to {}", u[i], curve.n_pieces());
            return Err(Failure::new(FeelerResult::Query, text));
        }
        let mut count = 0;
        fill(u.iter().map(|u| <[f64; 3]>::from(curve.point(*u))), (out.cast(), n), &raw mut count)
    })
}

/// Adds a solid. Its id is never given again; ids of bodies and of curves are counted apart. The pose may be
/// NULL: where the solid is modelled.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `body` is a body; `place` is NULL or a pose; `id` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_add_body(
    scene: *mut FeelerCurveScene,
    body: *const FeelerBody,
    place: *const FeelerPose,
    id: *mut u32,
) -> FeelerResult {
    let add = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        unsafe {
            let (body, place) = (shared(body, "body")?.0.clone(), pose(place, "pose")?);
            if id.is_null() {
                return Err(Failure::argument("id is NULL"));
            }
            put(id, "id", s.scene.solids_mut().add(body, place).map_err(failed_solids)?.0)
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, add) }
}

/// Places a body for the next step; NULL: where the solid is modelled.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `place` is NULL or a pose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_set_pose(
    scene: *mut FeelerCurveScene,
    id: u32,
    place: *const FeelerPose,
) -> FeelerResult {
    let set = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let place = unsafe { pose(place, "pose") }?;
        s.scene.solids_mut().set_pose(BodyId(id), place).map_err(failed_solids)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, set) }
}

/// Takes a body away.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_remove_body(
    scene: *mut FeelerCurveScene,
    id: u32,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |s| s.scene.solids_mut().remove(BodyId(id)).map_err(failed_solids)) }
}

/// Whether steps decide of near curves and bodies if they interfere (`feeler_curve_scene_status`); not at
/// first.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_detect_interference(
    scene: *mut FeelerCurveScene,
    on: bool,
) -> FeelerResult {
    let set = |s: &mut FeelerCurveScene| -> Result<(), Failure> {
        s.scene.detect_interference(on);
        Ok(())
    };
    // SAFETY: by the caller's promise.
    unsafe { with(scene, set) }
}

/// Finds all minima between curves, of curves with themselves, and between curves and bodies, as they are
/// now. What bodies do among themselves is for a `FeelerScene`.
///
/// # Safety
/// `scene` is a scene that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_update(scene: *mut FeelerCurveScene) -> FeelerResult {
    // SAFETY: by the caller's promise.
    unsafe { with(scene, |s| s.scene.update().map_err(failed)) }
}

/// All minima of the last step, by pairs and by parameters: up to `capacity` of them to `out`, how many there
/// are to `count`.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `out` has room for `capacity` contacts; `count` may be
/// written.
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

/// All stretches on which curves were bent more than their radius allows in the last step, by curves and
/// parameters.
///
/// # Safety
/// As `feeler_curve_scene_contacts`.
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

/// How a curve and a body stood in the last step: separated, interfering, touching, when the tube is as near
/// as rounding allows to tell, or undecided, when the work allowed for it ran out. Unknown where steps do not
/// decide it (`feeler_curve_scene_detect_interference`), and of what was added since.
///
/// # Safety
/// `scene` is a scene that no other thread uses; `out` may be written.
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

/// Whether the tubes of two curves, or of a curve and itself, overlapped in the last step. Bends that are too
/// tight do not count (`feeler_curve_scene_tight_bends`).
///
/// # Safety
/// `scene` is a scene that no other thread uses; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_curve_scene_curves_interfere(
    scene: *const FeelerCurveScene,
    a: u32,
    b: u32,
    out: *mut bool,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let interfere =
            shared(scene, "scene")?.scene.curves_interfere(CurveId(a), CurveId(b)).map_err(failed)?;
        put(out, "out", interfere)
    })
}
