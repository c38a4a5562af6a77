//! Models and bodies.

use crate::arrays::{corners, offsets, rows as rows_of};
use crate::error::{BodyError, MeshError, file, query};
use crate::mesh::{Mesh, Rows, rows};
use crate::pose::{self, matrix};
use crate::record::{NearestPoint, RayIntersection, array};
use crate::wait;
use feeler::{P3, V3};
use feeler_hierarchy::{Options, Origin};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// Contents of a STEP or `.feeler` file: distinct solids and their instances.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Model(pub(crate) feeler::Model);

/// Placed solid of a model.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Instance {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    path: String,
    #[pyo3(get)]
    solid: u32,
    pose: feeler::Pose,
}

#[pymethods]
impl Instance {
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        matrix(py, &self.pose)
    }

    #[staticmethod]
    fn _from_state(name: String, path: String, solid: u32, pose: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { name, path, solid, pose: pose::read(Some(pose))? })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let pose = PyArray1::from_slice(py, &feeler::pose::to_values(&this.pose));
        let state = (&this.name, &this.path, this.solid, pose);
        Ok((slf.get_type().getattr("_from_state")?, state.into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self) -> String {
        let name = if self.path.is_empty() { &self.name } else { &self.path };
        format!("<Instance '{name}' of solid {}>", self.solid)
    }
}

/// Reads a STEP file and prepares its solids.
#[pyfunction]
pub(crate) fn prepare_step(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
    wait::run(py, None, None, move |_| feeler::prepare_step(&path).map(Model).map_err(file))
}

/// Prepares the solids of a STEP file, given as bytes. `name` is the name of the file in messages.
#[pyfunction]
#[pyo3(signature = (data, name = "bytes"))]
pub(crate) fn prepare_bytes(py: Python<'_>, data: &[u8], name: &str) -> PyResult<Model> {
    let (data, name) = (data.to_owned(), name.to_owned());
    wait::run(py, None, None, move |_| feeler::prepare_bytes(&name, &data).map(Model).map_err(file))
}

/// Prepares the solids that closed surfaces of triangles bound.
#[pyfunction]
#[pyo3(signature = (points, triangles, name = "mesh", *, open_shells = false))]
pub(crate) fn prepare_mesh(
    py: Python<'_>,
    points: &Bound<'_, PyAny>,
    triangles: &Bound<'_, PyAny>,
    name: &str,
    open_shells: bool,
) -> PyResult<Model> {
    let points = points_of(points)?;
    let triangles = corners(triangles)?;
    let mesh = feeler::MeshOptions { open_shells, rounding: 0.0 };
    let name = name.to_owned();
    wait::run(py, None, None, move |_| {
        feeler::prepare_mesh(&name, &points, &triangles, mesh).map(Model).map_err(file)
    })
}

#[pymethods]
impl Model {
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| feeler::Model::read(&path)).map(Self).map_err(file)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        py.detach(|| feeler::Model::from_bytes(data)).map(Self).map_err(file)
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        py.detach(|| self.0.write(&path)).map_err(file)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(file)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }

    #[getter]
    fn solids(&self) -> Vec<String> {
        self.0.solids.iter().map(|s| s.info.name.clone()).collect()
    }

    #[getter]
    fn instances(&self) -> Vec<Instance> {
        let one = |i: &feeler::Instance| Instance {
            name: i.name.clone(),
            path: i.path.clone(),
            solid: i.solid,
            pose: i.pose(),
        };
        self.0.instances.iter().map(one).collect()
    }

    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.0.remarks.iter().map(ToString::to_string).collect()
    }

    #[getter]
    fn left_out(&self) -> Vec<String> {
        self.0.left_out()
    }

    #[getter]
    fn input(&self) -> &str {
        &self.0.input
    }

    #[pyo3(signature = (solid = 0))]
    fn body(&self, py: Python<'_>, solid: isize) -> PyResult<Body> {
        Body::new(py, self, solid)
    }

    fn __len__(&self) -> usize {
        self.0.solids.len()
    }

    fn __repr__(&self) -> String {
        let m = &self.0;
        format!("<Model '{}': {} solids, {} instances>", m.input, m.solids.len(), m.instances.len())
    }
}

impl Model {
    /// Index of a solid of the model, given by a number of Python: negative numbers count from the last
    /// solid, as in Python lists. An error if no solid has this number.
    pub(crate) fn index(&self, solid: isize) -> PyResult<usize> {
        let n = self.0.solids.len();
        let index = if solid < 0 { n.checked_add_signed(solid) } else { usize::try_from(solid).ok() };
        index.filter(|i| *i < n).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "the model has {n} distinct solids, numbered from 0; solid {solid} does not exist"
            ))
        })
    }
}

/// Prepared solid or open surface, for pairs, trackers and scenes.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) body: Arc<feeler::Body>,
}

#[pymethods]
impl Body {
    #[new]
    #[pyo3(signature = (model, solid = 0))]
    pub(crate) fn new(py: Python<'_>, model: &Model, solid: isize) -> PyResult<Self> {
        let solid = model.index(solid)?;
        let body = py.detach(|| feeler::Body::from_model(&model.0, solid));
        let body = body.map_err(|e| BodyError::new_err(format!("{}: {e}", model.0.input)))?;
        Ok(Self { body: Arc::new(body) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.body.hierarchy().info.name
    }

    #[getter]
    fn volume(&self) -> f64 {
        self.body.hierarchy().info.volume
    }

    #[getter]
    fn area(&self) -> f64 {
        self.body.hierarchy().info.area
    }

    #[getter]
    fn min_thickness(&self) -> f64 {
        self.body.min_thickness()
    }

    #[getter]
    fn size(&self) -> f64 {
        self.body.size()
    }

    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> Rows<'py> {
        let info = &self.body.hierarchy().info;
        rows(py, [info.bbox_min, info.bbox_max].into_iter())
    }

    #[getter]
    fn centroid<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.body.hierarchy().info.inertia.map(|i| PyArray1::from_slice(py, &i.centroid))
    }

    #[getter]
    fn inertia<'py>(&self, py: Python<'py>) -> Option<Rows<'py>> {
        self.body.hierarchy().info.inertia.map(|i| rows(py, i.tensor.into_iter()))
    }

    fn signed_distance<'py>(&self, points: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let py = points.py();
        let points = points_of(points)?;
        let found = py.detach(|| self.body.signed_distances(&points)).map_err(query)?;
        Ok(PyArray1::from_vec(py, found))
    }

    fn contains<'py>(&self, points: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let py = points.py();
        let points = points_of(points)?;
        let found = py.detach(|| self.body.contains_points(&points)).map_err(query)?;
        Ok(PyArray1::from_vec(py, found))
    }

    fn nearest<'py>(&self, points: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = points.py();
        let points = points_of(points)?;
        let found = py.detach(|| {
            let found = self.body.nearest_points(&points)?;
            Ok(found.iter().map(NearestPoint::from).collect())
        });
        array(py, found.map_err(|e: feeler::BatchError| query(e))?)
    }

    fn ray_intersections<'py>(
        &self,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)> {
        let py = origins.py();
        let origins: Vec<P3> = rows_of::<3>(origins, "origins", None)?.into_iter().map(P3::from).collect();
        let directions = rows_of::<3>(directions, "directions", Some(origins.len()))?;
        let rays: Vec<(P3, V3)> = origins.into_iter().zip(directions.into_iter().map(V3::from)).collect();
        let found = py.detach(|| {
            let found = self.body.ray_intersections(&rays)?;
            Ok((found.offsets, found.intersections.iter().map(RayIntersection::from).collect()))
        });
        let (starts, records) = found.map_err(|e: feeler::BatchError| query(e))?;
        Ok((offsets(py, starts), array(py, records)?))
    }

    #[staticmethod]
    fn _from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Self::new(py, &Model::from_bytes(py, data)?, 0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let hierarchy = slf.get().body.hierarchy().clone();
        let bytes = py.detach(|| model_of(hierarchy).to_bytes()).map_err(file)?;
        Ok((slf.get_type().getattr("_from_bytes")?, (PyBytes::new(py, &bytes),)))
    }

    fn mesh(&self, py: Python<'_>, chord: f64) -> PyResult<Mesh> {
        py.detach(|| self.display_mesh(chord)).map(Mesh)
    }

    fn __repr__(&self) -> String {
        let h = self.body.hierarchy();
        format!("<Body '{}': {} supermaximal faces, {} mm>", h.info.name, h.faces.len(), self.body.size())
    }
}

impl Body {
    /// Triangle mesh within `chord` (mm) of the solid.
    pub(crate) fn display_mesh(&self, chord: f64) -> PyResult<feeler::mesh::Mesh> {
        feeler::mesh::mesh(self.body.hierarchy(), chord).map_err(|e| MeshError::new_err(e.to_string()))
    }
}

/// Model of one solid, for pickling.
fn model_of(hierarchy: feeler::Hierarchy) -> feeler::Model {
    feeler::Model {
        input: hierarchy.info.name.clone(),
        input_hash: 0,
        options: Options { flatness: feeler_import::DEFAULT_FLATNESS },
        solids: vec![hierarchy],
        instances: vec![],
        components: vec![],
        remarks: vec![],
        origin: Origin::default(),
    }
}

/// Reads an array of points, shape (n, 3).
fn points_of(points: &Bound<'_, PyAny>) -> PyResult<Vec<P3>> {
    Ok(rows_of::<3>(points, "points", None)?.into_iter().map(P3::from).collect())
}
