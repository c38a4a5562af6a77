//! Trackers: contacts of two bodies over the steps of a simulator.

use crate::arrays::vector;
use crate::error::query;
use crate::exclusive::Exclusive;
use crate::model::Body;
use crate::pair::Verdict;
use crate::pose;
use crate::record::{Contact, array};
use feeler::{GapPrediction, StepBound, TrackedStatus, TrackerCounts, TrackerOptions};
use feeler_c::gap_hessian;
use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Contacts of two bodies, A and B, over the steps of a simulator.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct ContactTracker(Exclusive<State>);

/// Tracker with the scratch data of its predictions.
#[derive(Debug)]
struct State {
    tracker: feeler::ContactTracker,
    prediction: GapPrediction,
}

pub(crate) fn bound_of([rotation, displacement]: [f64; 2]) -> StepBound {
    StepBound { rotation, displacement }
}

/// Converts a bound to the named tuple `feeler.StepBound`.
fn tuple_of(py: Python<'_>, bound: StepBound) -> PyResult<Bound<'_, PyAny>> {
    static STEP_BOUND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = STEP_BOUND
        .get_or_try_init(py, || PyResult::Ok(py.import("feeler._types")?.getattr("StepBound")?.unbind()))?;
    class.bind(py).call1((bound.rotation, bound.displacement))
}

/// Options of a tracker from keyword arguments. `max_step` is a pair of a rotation (rad) and a
/// displacement (mm); `None` stands for the default.
pub(crate) fn options_of(
    reach: f64,
    max_depth: f64,
    max_step: Option<&Bound<'_, PyAny>>,
    gap_error: f64,
    max_contacts: Option<usize>,
    dilations: [f64; 2],
) -> PyResult<TrackerOptions> {
    let max_contacts = max_contacts.unwrap_or(usize::MAX);
    let max_step = match max_step {
        Some(values) => bound_of(vector(values, "max_step")?),
        None => TrackerOptions::default().max_step,
    };
    Ok(TrackerOptions { reach, max_depth, max_step, gap_error, max_contacts, dilations })
}

pub(crate) fn counts_dict(py: Python<'_>, c: TrackerCounts) -> PyResult<Bound<'_, PyDict>> {
    let counts = PyDict::new(py);
    counts.set_item("updates", c.updates)?;
    counts.set_item("jumps", c.jumps)?;
    counts.set_item("decisions", c.decisions)?;
    counts.set_item("uncovered", c.uncovered)?;
    counts.set_item("dropped", c.dropped)?;
    counts.set_item("limited", c.limited)?;
    Ok(counts)
}

impl ContactTracker {
    fn of(tracker: feeler::ContactTracker) -> Self {
        let state = State { tracker, prediction: GapPrediction::default() };
        Self(Exclusive::new("ContactTracker", state))
    }
}

impl State {
    /// Status of the last update; `None` before the first one.
    fn status(&self) -> Option<&'static str> {
        self.tracker.bound()?;
        Some(match self.tracker.status() {
            TrackedStatus::Separated => "separated",
            TrackedStatus::Touching => "touching",
            TrackedStatus::Pressed(_) => "pressed",
            TrackedStatus::Deep(_) => "deep",
            TrackedStatus::Interfering => "interfering",
        })
    }
}

#[pymethods]
impl ContactTracker {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (a, b, reach = 0.05, max_depth = f64::INFINITY, max_step = None,
        gap_error = 1e-3, max_contacts = None, dilation_a = 0.0, dilation_b = 0.0))]
    fn new(
        a: &Body,
        b: &Body,
        reach: f64,
        max_depth: f64,
        max_step: Option<&Bound<'_, PyAny>>,
        gap_error: f64,
        max_contacts: Option<usize>,
        dilation_a: f64,
        dilation_b: f64,
    ) -> PyResult<Self> {
        let dilations = [dilation_a, dilation_b];
        let options = options_of(reach, max_depth, max_step, gap_error, max_contacts, dilations)?;
        options.check().map_err(query)?;
        let tracker = feeler::ContactTracker::new(a.body.clone(), b.body.clone(), options);
        Ok(Self::of(tracker))
    }

    fn update<'py>(
        &self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
        rotation: f64,
        displacement: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let this = &mut *self.0.write()?;
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let bound = bound_of([rotation, displacement]);
        let tracker = &mut this.tracker;
        let updated = py.detach(|| tracker.update(&pose_a, &pose_b, bound)).map_err(query)?;
        let report = PyDict::new(py);
        report.set_item("jumped", updated.jumped)?;
        report.set_item("decided", updated.decided)?;
        report.set_item("dropped", updated.dropped)?;
        report.set_item("limited", updated.limited)?;
        Ok(report)
    }

    fn expected_bound<'py>(
        &self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
        forced: f64,
        max_displacement: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let bound = this.tracker.expected_bound(&pose_a, &pose_b, forced, max_displacement);
        tuple_of(py, bound.map_err(query)?)
    }

    fn covers(&self, pose_a: Option<&Bound<'_, PyAny>>, pose_b: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let this = &*self.0.read()?;
        this.tracker.covers(&pose::read(pose_a)?, &pose::read(pose_b)?).map_err(query)
    }

    fn motion_to<'py>(
        &self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = &*self.0.read()?;
        let motion = this.tracker.motion_to(&pose::read(pose_a)?, &pose::read(pose_b)?).map_err(query)?;
        motion.map(|motion| tuple_of(py, motion)).transpose()
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        let record = |c: &feeler::Contact| Contact(c.into());
        array(py, this.tracker.contacts().iter().map(record).collect())
    }

    fn gap_hessians<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        let contacts = this.tracker.contacts();
        let values = contacts.iter().flat_map(|c| gap_hessian(&this.tracker, c)).collect::<Vec<f64>>();
        Ok(PyArray1::from_vec(py, values).reshape([contacts.len(), 6, 6])?.into_any())
    }

    #[pyo3(signature = (one_step_ago, two_steps_ago = None, is_free = true))]
    fn predicted_gaps<'py>(
        &self,
        py: Python<'py>,
        one_step_ago: Option<&Bound<'py, PyAny>>,
        two_steps_ago: Option<&Bound<'py, PyAny>>,
        is_free: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let this = &mut *self.0.write()?;
        let known = |value: Option<&Bound<'py, PyAny>>| value.map(|v| pose::read(Some(v))).transpose();
        let before = [known(one_step_ago)?, known(two_steps_ago)?];
        let gaps = this.prediction.gaps(&this.tracker, before.each_ref().map(Option::as_ref), is_free);
        Ok(PyArray1::from_slice(py, gaps))
    }

    #[getter]
    fn bound<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = &*self.0.read()?;
        this.tracker.bound().map(|bound| tuple_of(py, bound)).transpose()
    }

    #[getter]
    fn status(&self) -> PyResult<Option<&'static str>> {
        let this = &*self.0.read()?;
        Ok(this.status())
    }

    #[getter]
    fn depth(&self) -> PyResult<f64> {
        let this = &*self.0.read()?;
        Ok(match this.tracker.status() {
            TrackedStatus::Pressed(depth) | TrackedStatus::Deep(depth) if this.tracker.bound().is_some() => {
                depth
            }
            _ => 0.0,
        })
    }

    fn verdict(&self, py: Python<'_>) -> PyResult<Option<Verdict>> {
        let this = &mut *self.0.write()?;
        let tracker = &mut this.tracker;
        let min_distance = tracker.min_distance();
        let tolerance = tracker.tolerances().tol;
        let verdict = py.detach(|| tracker.verdict().cloned());
        Ok(verdict.map(|verdict| Verdict::new(&verdict, min_distance, tolerance)))
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let this = &*self.0.read()?;
        counts_dict(py, this.tracker.counts())
    }

    fn clear(&self) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.tracker.clear();
        Ok(())
    }

    fn __copy__(&self) -> PyResult<Self> {
        let this = &*self.0.read()?;
        Ok(Self::of(this.tracker.clone()))
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            let name = |b: &feeler::Body| b.hierarchy().info.name.clone();
            let [a, b] = this.tracker.bodies().map(|b| name(b));
            let status = this.status().unwrap_or("no update yet");
            format!("<ContactTracker '{a}', '{b}': {status}, {} contacts>", this.tracker.contacts().len())
        })
    }
}
