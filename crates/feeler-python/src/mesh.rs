//! Display meshes of bodies.

use crate::arrays::{corners, ids, rows as rows_of};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// Triangle mesh of a body for display.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Mesh(pub(crate) feeler::mesh::Mesh);

/// Two-dimensional numpy array of doubles.
pub(crate) type Rows<'py> = Bound<'py, PyArray2<f64>>;

/// Converts rows of `N` numbers to a two-dimensional numpy array.
pub(crate) fn rows<'py, const N: usize>(
    py: Python<'py>,
    values: impl Iterator<Item = [f64; N]>,
) -> Rows<'py> {
    let flat: Vec<f64> = values.flatten().collect();
    let n = flat.len() / N;
    numpy::PyArrayMethods::reshape(&PyArray1::from_vec(py, flat), [n, N]).expect("N numbers per row")
}

#[pymethods]
impl Mesh {
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> Rows<'py> {
        rows(py, self.0.points.iter().map(|p| (*p).into()))
    }

    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> Rows<'py> {
        rows(py, self.0.normals.iter().map(|n| (*n).into()))
    }

    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        let flat: Vec<u32> = self.0.triangles.iter().flatten().copied().collect();
        let n = self.0.triangles.len();
        numpy::PyArrayMethods::reshape(&PyArray1::from_vec(py, flat), [n, 3])
            .expect("three indices per triangle")
    }

    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.0.faces)
    }

    #[getter]
    fn welded<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.0.welded)
    }

    #[getter]
    fn deviation(&self) -> f64 {
        self.0.deviation
    }

    #[getter]
    fn open_sides(&self) -> usize {
        self.0.open_sides()
    }

    #[staticmethod]
    fn _from_state(
        points: &Bound<'_, PyAny>,
        normals: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        welded: &Bound<'_, PyAny>,
        deviation: f64,
        crossings: usize,
    ) -> PyResult<Self> {
        Ok(Self(feeler::mesh::Mesh {
            points: rows_of::<3>(points, "points", None)?.into_iter().map(Into::into).collect(),
            normals: rows_of::<3>(normals, "normals", None)?.into_iter().map(Into::into).collect(),
            welded: ids(welded)?,
            triangles: corners(triangles)?,
            faces: ids(faces)?,
            deviation,
            crossings,
        }))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let arrays = (this.points(py), this.normals(py), this.triangles(py), this.faces(py), this.welded(py));
        let (points, normals, triangles, faces, welded) = arrays;
        let state = (points, normals, triangles, faces, welded, this.0.deviation, this.0.crossings);
        Ok((slf.get_type().getattr("_from_state")?, state.into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self) -> String {
        format!("<Mesh: {} triangles, deviation {:.2e} mm>", self.0.triangles.len(), self.0.deviation)
    }
}
