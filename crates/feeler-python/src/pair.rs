//! Pairs of bodies: queries and verdicts, at single poses and at many.

use crate::arrays::offsets;
use crate::error::query;
use crate::exclusive::Exclusive;
use crate::model::Body;
use crate::pose::{Poses, combine, read_many};
use crate::record::{Contact, PoseVerdict, array};
use crate::source::Fields;
use crate::{options, pose};
use feeler::nalgebra::Matrix6;
use feeler::{OverlapMethod, Status};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Two bodies, A and B, with the results of earlier queries that the next query reuses.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct ContactPair(Exclusive<feeler::ContactPair>);

/// Contacts at many poses, computed chunk by chunk in parallel.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct ContactIterator(Exclusive<Remaining>);

/// Remaining poses of an iterator, and the contacts that are already computed.
#[derive(Debug)]
struct Remaining {
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

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = &mut *self.0.write()?;
        if this.found.len() == 0 && this.next < this.poses.len() {
            let first = this.next;
            let end = this.poses.len().min(first.saturating_add(this.chunk));
            let (pair, poses, options) = (&this.pair, &this.poses[first..end], &this.options);
            let found = py.detach(|| pair.query_poses(poses, options, records_of)).map_err(|e| {
                let index = first + e.index;
                query(feeler::BatchError { index, ..e })
            })?;
            (this.found, this.next) = (found.into_iter(), end);
        }
        this.found.next().map(|records| array(py, records)).transpose()
    }

    fn __length_hint__(&self) -> PyResult<usize> {
        let this = self.0.read()?;
        Ok(this.found.len() + this.poses.len() - this.next)
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
    pairs: Vec<Bound<'py, ContactPair>>,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    d_max: f64,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options::read(d_max, keywords)?;
    let read = |poses, name| Poses::read(poses, name, Some(pairs.len()));
    let poses = combine(&read(poses_a, "poses_a")?, &read(poses_b, "poses_b")?, pairs.len())?;
    let pairs: Vec<_> = pairs.iter().map(|pair| pair.get().0.read()).collect::<PyResult<_>>()?;
    let of_pairs: Vec<(&feeler::ContactPair, &[[feeler::Pose; 2]])> =
        pairs.iter().zip(&poses).map(|(pair, poses)| (&**pair, poses.as_slice())).collect();
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

/// Status, smallest distance, witness with its distances from both boundaries, number of undecided locations,
/// and tolerance of a verdict.
type VerdictState = (String, Option<f64>, Option<([f64; 3], f64, f64)>, usize, f64);

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
        Self(Exclusive::new("ContactPair", feeler::ContactPair::new(a.body.clone(), b.body.clone())))
    }

    #[pyo3(signature = (pose_a = None, pose_b = None, d_max = 1.0, **keywords))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
        d_max: f64,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = &mut *self.0.write()?;
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let options = options::read(d_max, keywords)?;
        let pair = this;
        py.detach(|| pair.query(&pose_a, &pose_b, &options).map(drop)).map_err(query)?;
        array(py, records_of(pair))
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
        let this = &*self.0.read()?;
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        let pair = this;
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
        let this = &*self.0.read()?;
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        let pair = this;
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
        let this = &*self.0.read()?;
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        let pair = this;
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
        let this = &*self.0.read()?;
        let (poses, options) = (read_many(poses_a, poses_b)?, options::read(d_max, keywords)?);
        if chunk == 0 {
            return Err(PyValueError::new_err("chunk: expected at least 1, got 0"));
        }
        let pair = feeler::ContactPair::new(this.body_a().clone(), this.body_b().clone());
        let remaining = Remaining { pair, poses, options, chunk, next: 0, found: Vec::new().into_iter() };
        Ok(ContactIterator(Exclusive::new("iterator of contacts", remaining)))
    }

    fn gap_gradients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        let all: Vec<f64> = this.gap_gradients().into_iter().flatten().collect();
        PyArray1::from_vec(py, all).call_method1("reshape", ((-1, 6),))
    }

    fn gap_hessians<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        let of_contact = |hessian: Option<Matrix6<f64>>| hessian.unwrap_or(Matrix6::repeat(f64::NAN));
        let all: Vec<Matrix6<f64>> = this.gap_hessians().into_iter().map(of_contact).collect();
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
        let this = &*self.0.read()?;
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let options = options::read(0.0, keywords)?;
        let pair = this;
        let found = py.detach(|| pair.separating_translation(&pose_a, &pose_b, &options)).map_err(query)?;
        Ok(found.map(|translation| PyArray1::from_slice(py, translation.as_slice())))
    }

    #[pyo3(signature = (pose_a = None, pose_b = None, **keywords))]
    fn overlap<'py>(
        &self,
        py: Python<'py>,
        pose_a: Option<&Bound<'py, PyAny>>,
        pose_b: Option<&Bound<'py, PyAny>>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = &*self.0.read()?;
        let (pose_a, pose_b) = (pose::read(pose_a)?, pose::read(pose_b)?);
        let options = options::read(0.0, keywords)?;
        let pair = this;
        let found = py.detach(|| pair.overlap(&pose_a, &pose_b, &options)).map_err(query)?;
        let point = |p: feeler::P3| PyArray1::from_slice(py, p.coords.as_slice());
        let method = |m| match m {
            OverlapMethod::Faces => "faces",
            OverlapMethod::Displaced => "displaced",
            OverlapMethod::Lines => "lines",
        };
        let build = |o: feeler::Overlap| {
            Fields::new(py)
                .set("volume", o.volume)?
                .set("error", o.error)?
                .set("method", method(o.method))?
                .set("centroid", point(o.centroid))?
                .set("bbox_min", point(o.min))?
                .set("bbox_max", point(o.max))?
                .build("Overlap")
        };
        found.map(build).transpose()
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, this.contacts().iter().map(|c| Contact(c.into())).collect())
    }

    #[getter]
    fn status(&self) -> PyResult<Option<&'static str>> {
        let this = &*self.0.read()?;
        Ok(this.status().map(word))
    }

    #[getter]
    fn min_distance(&self) -> PyResult<Option<f64>> {
        let this = &*self.0.read()?;
        Ok(this.min_distance())
    }

    #[getter]
    fn verdict(&self) -> PyResult<Option<Verdict>> {
        let this = &*self.0.read()?;
        let (min_distance, tolerance) = (this.min_distance(), this.tolerances().tol);
        Ok(this.verdict().map(|verdict| Verdict::new(verdict, min_distance, tolerance)))
    }

    fn decide(&self, py: Python<'_>) -> PyResult<Option<Verdict>> {
        let pair = &mut *self.0.write()?;
        let (min_distance, tolerance) = (pair.min_distance(), pair.tolerances().tol);
        let verdict = py.detach(|| pair.decide().cloned());
        Ok(verdict.map(|verdict| Verdict::new(&verdict, min_distance, tolerance)))
    }

    fn forget(&self) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.forget();
        Ok(())
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            let name = |b: &feeler::Body| b.hierarchy().info.name.clone();
            let status = this.status().map_or("no verdict", word);
            format!("<ContactPair '{}', '{}': {status}>", name(this.body_a()), name(this.body_b()))
        })
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
    fn depth(&self) -> Option<f64> {
        let witness = self.inside_a? + self.inside_b?;
        Some(self.min_distance.map_or(witness, |d| witness.max(-d)))
    }

    #[getter]
    fn undecided_count(&self) -> usize {
        self.undecided_count
    }

    #[getter]
    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    #[staticmethod]
    fn _from_state(state: VerdictState) -> PyResult<Self> {
        let (status, min_distance, witness, undecided_count, tolerance) = state;
        let all = [Status::Separated, Status::Touching, Status::Interfering, Status::Undecided].map(word);
        let status = all.into_iter().find(|name| *name == status);
        let status = status.ok_or_else(|| PyValueError::new_err("not the state of a verdict"))?;
        Ok(Self {
            status,
            min_distance,
            witness: witness.map(|w| w.0),
            inside_a: witness.map(|w| w.1),
            inside_b: witness.map(|w| w.2),
            undecided_count,
            tolerance,
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (VerdictState,))> {
        let this = slf.get();
        let witness = this.witness.zip(this.inside_a).zip(this.inside_b).map(|((w, a), b)| (w, a, b));
        let status = this.status.to_owned();
        let state = (status, this.min_distance, witness, this.undecided_count, this.tolerance);
        Ok((slf.get_type().getattr("_from_state")?, (state,)))
    }

    fn __repr__(&self) -> String {
        match (self.min_distance, self.depth()) {
            (_, Some(depth)) => format!("<Verdict: {}, at least {depth} mm deep>", self.status),
            (Some(d), None) => format!("<Verdict: {}, {d} mm>", self.status),
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
