//! Pairs of bodies: queries and verdicts, at single poses and at many.

use crate::arrays::offsets;
use crate::error::query;
use crate::model::Body;
use crate::pose::{Poses, combine, read_many};
use crate::record::{Contact, PoseVerdict, array};
use crate::{options, pose};
use feeler::Status;
use feeler::nalgebra::Matrix6;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Two bodies, A and B, with the results of earlier queries that the next query reuses.
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct ContactPair(feeler::ContactPair);

/// Contacts at many poses, computed chunk by chunk in parallel.
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct ContactIterator {
    pair: feeler::ContactPair,
    poses: Vec<[feeler::Pose; 2]>,
    options: feeler::QueryOptions,
    chunk: usize,
    /// Index of the first pose of the next chunk.
    next: usize,
    /// Contacts of the remaining poses of the current chunk.
    found: std::vec::IntoIter<Vec<Contact>>,
}

#[pymethods]
impl ContactIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.found.len() == 0 && self.next < self.poses.len() {
            let first = self.next;
            let end = self.poses.len().min(first.saturating_add(self.chunk));
            let (pair, poses, options) = (&self.pair, &self.poses[first..end], &self.options);
            let found = py.detach(|| pair.query_poses(poses, options, records_of)).map_err(|e| {
                let index = first + e.index;
                query(feeler::BatchError { index, ..e })
            })?;
            (self.found, self.next) = (found.into_iter(), end);
        }
        self.found.next().map(|records| array(py, records)).transpose()
    }

    fn __length_hint__(&self) -> usize {
        self.found.len() + self.poses.len() - self.next
    }
}

/// Records of the contacts of the last query of a pair.
fn records_of(pair: &mut feeler::ContactPair) -> Vec<Contact> {
    pair.contacts().iter().map(|c| Contact(c.into())).collect()
}

/// Smallest signed distances of many pairs at many poses.
#[pyfunction]
#[pyo3(signature = (pairs, poses_a = None, poses_b = None, d_max = 1.0, **keywords))]
pub(crate) fn distances<'py>(
    py: Python<'py>,
    pairs: Vec<PyRef<'py, ContactPair>>,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    d_max: f64,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options::read(d_max, keywords)?;
    let read = |poses, name| Poses::read(poses, name, Some(pairs.len()));
    let poses = combine(&read(poses_a, "poses_a")?, &read(poses_b, "poses_b")?, pairs.len())?;
    let of_pairs: Vec<(&feeler::ContactPair, &[[feeler::Pose; 2]])> =
        pairs.iter().zip(&poses).map(|(pair, poses)| (&pair.0, poses.as_slice())).collect();
    let found = py.detach(|| feeler::ContactPair::distances_of_pairs(&of_pairs, &options));
    let found = found.map_err(|(pair, e)| query(format!("pair {pair}, {e}")))?;
    let count = poses.first().map_or(0, Vec::len);
    PyArray1::from_vec(py, found.concat()).call_method1("reshape", ((pairs.len(), count),))
}

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

    #[pyo3(signature = (poses_a = None, poses_b = None, d_max = 1.0, **keywords))]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        poses_a: Option<&Bound<'py, PyAny>>,
        poses_b: Option<&Bound<'py, PyAny>>,
        d_max: f64,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        let pair = &self.0;
        let found = py.detach(|| pair.distances(&poses, &options)).map_err(query)?;
        Ok(PyArray1::from_vec(py, found))
    }

    #[pyo3(signature = (poses_a = None, poses_b = None, d_max = 0.0, **keywords))]
    fn verdicts<'py>(
        &self,
        py: Python<'py>,
        poses_a: Option<&Bound<'py, PyAny>>,
        poses_b: Option<&Bound<'py, PyAny>>,
        d_max: f64,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        let pair = &self.0;
        let found = py.detach(|| pair.query_poses(&poses, &options, PoseVerdict::of)).map_err(query)?;
        array(py, found)
    }

    #[pyo3(signature = (poses_a = None, poses_b = None, d_max = 1.0, **keywords))]
    fn contacts_at<'py>(
        &self,
        py: Python<'py>,
        poses_a: Option<&Bound<'py, PyAny>>,
        poses_b: Option<&Bound<'py, PyAny>>,
        d_max: f64,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)> {
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        let pair = &self.0;
        let found = py.detach(|| pair.query_poses(&poses, &options, records_of)).map_err(query)?;
        let mut starts = vec![0];
        starts.extend(found.iter().scan(0, |end, records| {
            *end += records.len();
            Some(*end)
        }));
        Ok((offsets(py, starts), array(py, found.concat())?))
    }

    #[pyo3(signature = (poses_a = None, poses_b = None, d_max = 1.0, *, chunk = 1024, **keywords))]
    fn iter_contacts(
        &self,
        poses_a: Option<&Bound<'_, PyAny>>,
        poses_b: Option<&Bound<'_, PyAny>>,
        d_max: f64,
        chunk: usize,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<ContactIterator> {
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        if chunk == 0 {
            return Err(PyValueError::new_err("chunk: expected at least 1, got 0"));
        }
        let pair = feeler::ContactPair::new(self.0.body_a().clone(), self.0.body_b().clone());
        Ok(ContactIterator { pair, poses, options, chunk, next: 0, found: Vec::new().into_iter() })
    }

    fn gap_gradients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all: Vec<f64> = self.0.gap_gradients().into_iter().flatten().collect();
        PyArray1::from_vec(py, all).call_method1("reshape", ((-1, 6),))
    }

    fn gap_hessians<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let of_contact = |hessian: Option<Matrix6<f64>>| hessian.unwrap_or(Matrix6::repeat(f64::NAN));
        let all: Vec<Matrix6<f64>> = self.0.gap_hessians().into_iter().map(of_contact).collect();
        // Symmetric matrices: the order of rows and columns is irrelevant.
        let values: Vec<f64> = all.iter().flat_map(|h| h.iter().copied()).collect();
        PyArray1::from_vec(py, values).call_method1("reshape", ((-1, 6, 6),))
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
