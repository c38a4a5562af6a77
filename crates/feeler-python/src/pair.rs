//! Pairs of bodies: queries and verdicts.

use crate::error::query;
use crate::model::Body;
use crate::record::{Contact, array};
use crate::{options, pose};
use feeler::Status;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Two bodies, A and B, with the results of earlier queries that the next query reuses.
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct ContactPair(feeler::ContactPair);

/// Verdict of a query: the relation of two solids, with its proof.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Verdict {
    status: &'static str,
    min_distance: Option<f64>,
    witness: Option<[f64; 3]>,
    inside_a: Option<f64>,
    inside_b: Option<f64>,
    undecided_count: usize,
    tolerance: f64,
}

impl Verdict {
    /// Creates a verdict for Python. `min_distance` (mm) is the smallest distance of a contact, if there
    /// is one, and `tolerance` (mm) that of the query.
    pub(crate) fn new(verdict: &feeler::Verdict, min_distance: Option<f64>, tolerance: f64) -> Self {
        Self {
            status: word(verdict.status),
            min_distance,
            witness: verdict.witness.map(|w| w.point.into()),
            inside_a: verdict.witness.map(|w| w.inside_a),
            inside_b: verdict.witness.map(|w| w.inside_b),
            undecided_count: verdict.undecided.len(),
            tolerance,
        }
    }
}

/// Name of the status of a verdict in Python.
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
    fn separating_translation<'py>(
        &self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let options = options::read(0.0, keywords)?;
        let pair = &self.0;
        let found = py.detach(|| pair.separating_translation(&pose_a, &pose_b, &options)).map_err(query)?;
        Ok(found.map(|translation| PyArray1::from_slice(py, translation.as_slice())))
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.0.contacts().iter().map(|c| Contact(c.into())).collect())
    }

    #[getter]
    fn status(&self) -> Option<&'static str> {
        self.0.status().map(word)
    }

    #[getter]
    fn min_distance(&self) -> Option<f64> {
        self.0.min_distance()
    }

    #[getter]
    fn verdict(&self) -> Option<Verdict> {
        let (min_distance, tolerance) = (self.0.min_distance(), self.0.tolerances().tol);
        self.0.verdict().map(|verdict| Verdict::new(verdict, min_distance, tolerance))
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
        let status = self.status().unwrap_or("no verdict");
        format!("<ContactPair '{}', '{}': {status}>", name(self.0.body_a()), name(self.0.body_b()))
    }
}

#[pymethods]
impl Verdict {
    #[getter]
    fn status(&self) -> &'static str {
        self.status
    }

    #[getter]
    fn min_distance(&self) -> Option<f64> {
        self.min_distance
    }

    #[getter]
    fn witness<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.witness.map(|point| PyArray1::from_slice(py, &point))
    }

    #[getter]
    fn inside_a(&self) -> Option<f64> {
        self.inside_a
    }

    #[getter]
    fn inside_b(&self) -> Option<f64> {
        self.inside_b
    }

    #[getter]
    fn undecided_count(&self) -> usize {
        self.undecided_count
    }

    #[getter]
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn __repr__(&self) -> String {
        match (self.min_distance, self.inside_a, self.inside_b) {
            (_, Some(a), Some(b)) => format!("<Verdict: {}, at least {} mm deep>", self.status, a + b),
            (Some(d), ..) => format!("<Verdict: {}, {d} mm>", self.status),
            _ => format!("<Verdict: {}>", self.status),
        }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let shown = py.import("feeler._show")?.getattr("verdict_html")?;
        let of = PyDict::new(py);
        of.set_item("status", self.status)?;
        of.set_item("min_distance", self.min_distance)?;
        of.set_item("witness", self.witness)?;
        of.set_item("inside_a", self.inside_a)?;
        of.set_item("inside_b", self.inside_b)?;
        of.set_item("undecided_count", self.undecided_count)?;
        of.set_item("tolerance", self.tolerance)?;
        shown.call1((of,))?.extract()
    }
}
