//! Pairs of bodies.

use crate::error::query;
use crate::model::Body;
use crate::record::{Contact, array};
use crate::{options, pose};
use feeler::Status;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Two bodies and what their queries reuse.
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct ContactPair(feeler::ContactPair);

/// How two solids stood in a query.
#[pyclass(module = "feeler", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct Verdict {
    status: &'static str,
    distance: Option<f64>,
    witness: Option<[f64; 3]>,
    inside_a: Option<f64>,
    inside_b: Option<f64>,
    undecided_places: usize,
    tolerance: f64,
}

impl Verdict {
    /// A verdict with the smallest distance (mm) of a minimum and the tolerance (mm).
    pub(crate) fn new(verdict: &feeler::Verdict, distance: Option<f64>, tolerance: f64) -> Self {
        Self {
            status: word(verdict.status),
            distance,
            witness: verdict.witness.map(|w| w.point.into()),
            inside_a: verdict.witness.map(|w| w.inside_a),
            inside_b: verdict.witness.map(|w| w.inside_b),
            undecided_places: verdict.undecided.len(),
            tolerance,
        }
    }
}

/// The word for a status.
pub(crate) fn word(status: Status) -> &'static str {
    match status {
        Status::Separated => "separated",
        Status::Touching => "touching",
        Status::Interfering => "interfering",
        Status::Undecided => "undecided",
    }
}

#[pymethods]
impl ContactPair {
    #[new]
    fn new(a: &Body, b: &Body) -> Self {
        Self(feeler::ContactPair::new(a.body.clone(), b.body.clone()))
    }

    #[pyo3(signature = (pose_a = None, pose_b = None, d_max = 1.0, **keywords))]
    fn query<'py>(
        &mut self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
        d_max: f64,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let options = options::read(d_max, keywords)?;
        let pair = &mut self.0;
        py.detach(|| pair.query(&pose_a, &pose_b, &options).map(drop)).map_err(query)?;
        self.contacts(py)
    }

    #[pyo3(signature = (pose_a = None, pose_b = None, **keywords))]
    fn separating_translation(
        &self,
        py: Python<'_>,
        pose_a: Option<&Bound<'_, PyAny>>,
        pose_b: Option<&Bound<'_, PyAny>>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<[f64; 3]>> {
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let options = options::read(0.0, keywords)?;
        let pair = &self.0;
        let way = py.detach(|| pair.separating_translation(&pose_a, &pose_b, &options)).map_err(query)?;
        Ok(way.map(Into::into))
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.0.contacts().iter().map(|l| Contact(l.into())).collect())
    }

    #[getter]
    fn status(&self) -> Option<&'static str> {
        self.0.status().map(word)
    }

    #[getter]
    fn distance(&self) -> Option<f64> {
        self.0.min_distance()
    }

    #[getter]
    fn verdict(&self) -> Option<Verdict> {
        let (distance, tolerance) = (self.0.min_distance(), self.0.tolerances().tol);
        self.0.verdict().map(|verdict| Verdict::new(verdict, distance, tolerance))
    }

    fn decide(&mut self, py: Python<'_>) -> Option<Verdict> {
        let pair = &mut self.0;
        py.detach(|| {
            pair.decide();
        });
        self.verdict()
    }

    fn forget(&mut self) {
        self.0.forget();
    }

    fn __repr__(&self) -> String {
        let name = |b: &feeler::Body| b.hierarchy().info.name.clone();
        let status = self.status().unwrap_or("not asked yet");
        format!("<ContactPair '{}', '{}': {status}>", name(self.0.body_a()), name(self.0.body_b()))
    }
}

#[pymethods]
impl Verdict {
    fn __repr__(&self) -> String {
        match (self.distance, self.inside_a, self.inside_b) {
            (_, Some(a), Some(b)) => format!("<Verdict: {}, at least {} mm deep>", self.status, a + b),
            (Some(d), ..) => format!("<Verdict: {}, {d} mm>", self.status),
            _ => format!("<Verdict: {}>", self.status),
        }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let shown = py.import("feeler._show")?.getattr("verdict_html")?;
        let of = PyDict::new(py);
        of.set_item("status", self.status)?;
        of.set_item("distance", self.distance)?;
        of.set_item("witness", self.witness)?;
        of.set_item("inside A", self.inside_a)?;
        of.set_item("inside B", self.inside_b)?;
        of.set_item("undecided places", self.undecided_places)?;
        of.set_item("tolerance", self.tolerance)?;
        shown.call1((of,))?.extract()
    }
}
