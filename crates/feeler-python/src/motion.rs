//! Motions of two bodies: paths, the time of first contact or penetration, and sweeps.

use crate::arrays::{numbers, offsets, vector};
use crate::clearance::error;
use crate::error::query;
use crate::model::Body;
use crate::pair::word;
use crate::pose::{self, matrix, read_many};
use crate::record::{Contact, PoseVerdict, array};
use crate::source::Fields;
use crate::{options, wait};
use feeler::assembly::{
    AssemblyPart, ContactMotion, JointMotion, MotionResult, PairMotion, Sweep, SweepStep, Trajectory,
};
use feeler::pose::to_values;
use feeler::{
    Passage, PassageOptions, PassageOutcome, PathPiece, PenetrationOptions, PenetrationOutcome,
    PenetrationPassage, Pose, V3,
};
use feeler_geom::Twist;
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Motion of a body over time.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Path {
    path: feeler::Path,
    source: PathSource,
}

/// Arguments from which a path was made, for pickling.
#[derive(Debug)]
enum PathSource {
    Still(Pose),
    Screw(PathPiece),
    Through(Vec<f64>, Vec<Pose>),
}

/// Reads a vector of doubles of any length.
fn list(values: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<f64>> {
    let array = numbers(values)?;
    let array = array.as_array();
    if array.ndim() != 1 {
        return Err(PyValueError::new_err(format!("{name}: expected shape (n,), got {:?}", array.shape())));
    }
    Ok(array.iter().copied().collect())
}

/// Converts poses to an array of shape (n, 7).
fn pose_values<'py>(py: Python<'py>, poses: &[Pose]) -> PyResult<Bound<'py, PyAny>> {
    let flat: Vec<f64> = poses.iter().flat_map(to_values).collect();
    PyArray1::from_vec(py, flat).call_method1("reshape", ((poses.len(), 7),))
}

#[pymethods]
impl Path {
    #[staticmethod]
    #[pyo3(signature = (pose = None))]
    fn still(pose: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let pose = pose::read(pose)?;
        Ok(Self { path: feeler::Path::still(pose), source: PathSource::Still(pose) })
    }

    #[staticmethod]
    #[pyo3(signature = (pose, velocity, angular_velocity, duration = 1.0))]
    fn screw(
        pose: Option<&Bound<'_, PyAny>>,
        velocity: &Bound<'_, PyAny>,
        angular_velocity: &Bound<'_, PyAny>,
        duration: f64,
    ) -> PyResult<Self> {
        let pose = pose::read(pose)?;
        let v = V3::from(vector(velocity, "velocity")?);
        let w = V3::from(vector(angular_velocity, "angular_velocity")?);
        // A twist has the velocity of the point at the world's origin.
        let center = pose.translation.vector;
        let twist = Twist { v: v - w.cross(&center), w };
        let path = feeler::Path::screw(pose, twist, duration).map_err(query)?;
        let piece = PathPiece { pose, twists: vec![Twist { v, w }], duration };
        Ok(Self { path, source: PathSource::Screw(piece) })
    }

    #[staticmethod]
    fn through(times: &Bound<'_, PyAny>, poses: &Bound<'_, PyAny>) -> PyResult<Self> {
        let times = list(times, "times")?;
        let poses: Vec<Pose> = read_many(Some(poses), None)?.iter().map(|[pose, _]| *pose).collect();
        let path = feeler::Path::through(&times, &poses).map_err(query)?;
        Ok(Self { path, source: PathSource::Through(times, poses) })
    }

    #[getter]
    fn duration(&self) -> f64 {
        self.path.duration()
    }

    fn pose<'py>(&self, py: Python<'py>, time: f64) -> Bound<'py, PyAny> {
        matrix(py, &self.path.pose(time)).into_any()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let class = slf.get_type();
        Ok(match &slf.get().source {
            PathSource::Still(pose) => {
                let pose = PyArray1::from_slice(py, &to_values(pose));
                (class.getattr("still")?, (pose,).into_pyobject(py)?.into_any())
            }
            PathSource::Screw(PathPiece { pose, twists, duration }) => {
                let pose = PyArray1::from_slice(py, &to_values(pose));
                let [v, w] = [twists[0].v, twists[0].w].map(|x| PyArray1::from_slice(py, x.as_slice()));
                (class.getattr("screw")?, (pose, v, w, *duration).into_pyobject(py)?.into_any())
            }
            PathSource::Through(times, poses) => {
                let times = PyArray1::from_slice(py, times);
                let poses = pose_values(py, poses)?;
                (class.getattr("through")?, (times, poses).into_pyobject(py)?.into_any())
            }
        })
    }

    fn __repr__(&self) -> String {
        format!("<Path: {} pieces, duration {}>", self.path.num_pieces(), self.path.duration())
    }
}

/// Reads a path given as an object or as the pose of a body at rest; `None` stands for the identity.
fn read_path(path: Option<&Bound<'_, PyAny>>) -> PyResult<feeler::Path> {
    if let Some(path) = path.and_then(|p| p.cast::<Path>().ok()) {
        return Ok(path.get().path.clone());
    }
    Ok(feeler::Path::still(pose::read(path)?))
}

/// Computes the first time at which the distance of two moving bodies falls to `distance`.
#[pyfunction]
#[pyo3(signature = (a, b, path_a, path_b, distance, max_queries, d_max, **keywords))]
#[expect(clippy::too_many_arguments, reason = "keywords of the function in Python")]
pub(crate) fn time_of_contact<'py>(
    py: Python<'py>,
    a: &Body,
    b: &Body,
    path_a: Option<&Bound<'py, PyAny>>,
    path_b: Option<&Bound<'py, PyAny>>,
    distance: f64,
    max_queries: Option<u32>,
    d_max: f64,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (path_a, path_b) = (read_path(path_a)?, read_path(path_b)?);
    let default = PassageOptions::default();
    let max_queries = max_queries.unwrap_or(default.max_queries);
    let options = PassageOptions { distance, query: options::read(d_max, keywords)?, max_queries };
    let mut pair = feeler::ContactPair::new(a.body.clone(), b.body.clone());
    let passage = wait::run(py, None, None, move |_| {
        feeler::time_of_contact(&mut pair, &path_a, &path_b, &options).map_err(query)
    })?;
    passage_object(py, &passage)
}

/// Computes the first time at which two moving bodies penetrate each other; contact is allowed.
#[pyfunction]
#[pyo3(signature = (a, b, path_a, path_b, depth, max_queries, d_max, **keywords))]
#[expect(clippy::too_many_arguments, reason = "keywords of the function in Python")]
pub(crate) fn first_penetration<'py>(
    py: Python<'py>,
    a: &Body,
    b: &Body,
    path_a: Option<&Bound<'py, PyAny>>,
    path_b: Option<&Bound<'py, PyAny>>,
    depth: f64,
    max_queries: Option<u32>,
    d_max: f64,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (path_a, path_b) = (read_path(path_a)?, read_path(path_b)?);
    let default = PenetrationOptions::default();
    let max_queries = max_queries.unwrap_or(default.max_queries);
    let options = PenetrationOptions { depth, query: options::read(d_max, keywords)?, max_queries };
    let mut pair = feeler::ContactPair::new(a.body.clone(), b.body.clone());
    let motion = wait::run(py, None, None, move |_| {
        ContactMotion::search_with(&mut pair, &path_a, &path_b, &options).map_err(query)
    })?;
    contact_motion_object(py, &motion)
}

/// Poses of a body that a joint moves, shape (steps + 1, 7).
#[pyfunction]
#[pyo3(signature = (point, direction, angles, lengths, steps))]
pub(crate) fn joint_poses<'py>(
    py: Python<'py>,
    point: &Bound<'py, PyAny>,
    direction: &Bound<'py, PyAny>,
    angles: [f64; 2],
    lengths: [f64; 2],
    steps: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let joint = JointMotion {
        point: vector(point, "point")?.into(),
        direction: vector(direction, "direction")?.into(),
        angles: angles.map(f64::to_degrees),
        lengths,
    };
    if steps == 0 {
        return Err(PyValueError::new_err("steps is 0; give at least one step"));
    }
    pose_values(py, Trajectory::of_joint(&joint, steps).map_err(error)?.poses_b())
}

/// Part of an assembly that consists of a body in its own coordinates.
fn part(body: &Body, name: &str) -> AssemblyPart {
    AssemblyPart {
        name: name.to_owned(),
        path: name.to_owned(),
        model: 0,
        solid: 0,
        body: body.body.clone(),
        pose: Pose::identity(),
    }
}

/// Queries two bodies at successive poses.
#[pyfunction]
#[pyo3(signature = (a, b, poses_a, poses_b, d_max, dt, proof, allow_touching, progress, **keywords))]
#[expect(clippy::too_many_arguments, reason = "keywords of the function in Python")]
pub(crate) fn sweep<'py>(
    py: Python<'py>,
    a: &Body,
    b: &Body,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    d_max: f64,
    dt: Option<f64>,
    proof: bool,
    allow_touching: bool,
    progress: Option<&Bound<'py, PyAny>>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options::read(d_max, keywords)?;
    if !options.detect_interference || options.verdict_unless_pressed {
        let text = "a sweep computes the verdict of every step; omit detect_interference and \
                    verdict_unless_pressed";
        return Err(PyTypeError::new_err(text));
    }
    if let Some(dt) = dt.filter(|dt| !(dt.is_finite() && *dt > 0.0)) {
        return Err(query(format!("dt is {dt}; give the duration of a step in seconds, above 0")));
    }
    let poses = read_many(poses_a, poses_b)?;
    let (of_a, of_b) = poses.into_iter().map(|[a, b]| (a, b)).unzip();
    let trajectory = Trajectory::new(of_a, of_b, dt).map_err(error)?;
    let parts = [part(a, "A"), part(b, "B")];
    let (steps, motion) = wait::run(py, progress, None, move |progress| {
        let [a, b] = &parts;
        progress.set_total(trajectory.len());
        let mut sweep = Sweep::new(a, b, &trajectory, options).map_err(error)?;
        let mut steps = Vec::with_capacity(trajectory.len());
        for step in sweep.by_ref() {
            if progress.is_stopped() {
                return Err(wait::stopped());
            }
            steps.push(step.map_err(error)?);
            progress.advance(1);
        }
        let motion = match (proof, allow_touching) {
            (false, _) => None,
            (true, false) => Some(PairMotion::Passage(sweep.passage().map_err(error)?)),
            (true, true) => Some(PairMotion::InContact(sweep.contact_motion().map_err(error)?)),
        };
        Ok((steps, motion))
    })?;
    let mut starts = vec![0];
    starts.extend(steps.iter().scan(0, |end, step| {
        *end += step.contacts.len();
        Some(*end)
    }));
    let contacts = steps.iter().flat_map(|s| &s.contacts).map(|c| Contact(c.into())).collect();
    let numbers = |of: &dyn Fn(&SweepStep) -> f64| PyArray1::from_iter(py, steps.iter().map(of));
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let times = PyArray1::from_iter(py, (0..steps.len()).map(|i| i as f64 * dt.unwrap_or(1.0)));
    let verdicts = steps.iter().filter_map(|s| {
        let min_distance = s.min_distance.unwrap_or(f64::INFINITY);
        s.verdict.as_ref().map(|verdict| PoseVerdict::new(verdict, min_distance))
    });
    Fields::new(py)
        .set("times", times)?
        .set("verdicts", array(py, verdicts.collect())?)?
        .set("offsets", offsets(py, starts))?
        .set("contacts", array(py, contacts)?)?
        .set("tolerances", numbers(&|s| s.tolerance))?
        .set("decided_at", numbers(&|s| s.decided_at.unwrap_or(f64::NAN)))?
        .set("seconds", numbers(&|s| s.duration.as_secs_f64()))?
        .set("motion", motion.map(|m| motion_object(py, &m)).transpose()?)?
        .build("SweepReport")
}

/// Converts the result of a proof between poses.
pub(crate) fn motion_object<'py>(py: Python<'py>, motion: &PairMotion) -> PyResult<Bound<'py, PyAny>> {
    match motion {
        PairMotion::Passage(passage) => passage_object(py, passage),
        PairMotion::InContact(motion) => contact_motion_object(py, motion),
    }
}

/// Converts a contact to a record of an array.
fn contact_object<'py>(py: Python<'py>, contact: &feeler::Contact) -> PyResult<Bound<'py, PyAny>> {
    PyArray1::from_vec(py, vec![Contact(contact.into())]).get_item(0)
}

fn passage_object<'py>(py: Python<'py>, passage: &Passage) -> PyResult<Bound<'py, PyAny>> {
    let (result, contact, free_until) = match &passage.outcome {
        PassageOutcome::Free => ("free", None, None),
        PassageOutcome::Contact(contact) => ("contact", Some(contact), None),
        PassageOutcome::InContact => ("in-contact", None, None),
        PassageOutcome::Undecided(time) => ("undecided", None, Some(*time)),
    };
    Fields::new(py)
        .set("result", result)?
        .set("time", contact.map(|c| c.time))?
        .set("contact", contact.map(|c| contact_object(py, &c.minimum)).transpose()?)?
        .set("closing_speed", contact.map(|c| c.closing))?
        .set("grazing", contact.is_some_and(|c| c.grazing))?
        .set("free_until", free_until)?
        .set("start", passage.start.map(word))?
        .set("left", passage.left)?
        .set("min_distance", passage.smallest.map(|s| s.0))?
        .set("min_time", passage.smallest.map(|s| s.1))?
        .set("query_count", passage.queries)?
        .build("Passage")
}

fn contact_motion_object<'py>(py: Python<'py>, motion: &ContactMotion) -> PyResult<Bound<'py, PyAny>> {
    let result = match motion.result() {
        MotionResult::Free => "free",
        MotionResult::Contact => "contact",
        MotionResult::Penetration => "penetration",
        MotionResult::Undecided => "undecided",
    };
    let PenetrationPassage { outcome, limit, smallest, queries, .. } = &motion.penetration;
    let (deep, free_until) = match outcome {
        PenetrationOutcome::Free => (None, None),
        PenetrationOutcome::Penetration(deep) => (Some(deep), None),
        PenetrationOutcome::Undecided(time) => (None, Some(*time)),
    };
    let contact = deep.and_then(|d| d.contact.as_ref());
    Fields::new(py)
        .set("result", result)?
        .set("time", deep.map(|d| d.time))?
        .set("contact", contact.map(|c| contact_object(py, c)).transpose()?)?
        .set("depth", deep.map(|d| d.depth))?
        .set("depth_time", deep.map(|d| d.deepest))?
        .set("max_depth", *limit)?
        .set("contact_time", motion.contact_time())?
        .set("free_until", free_until)?
        .set("min_distance", smallest.map(|s| s.0))?
        .set("min_time", smallest.map(|s| s.1))?
        .set("query_count", *queries + motion.passage.map_or(0, |p| p.queries))?
        .build("ContactMotion")
}
