//! Display meshes of bodies.

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

    fn __repr__(&self) -> String {
        format!("<Mesh: {} triangles, deviation {:.2e} mm>", self.0.triangles.len(), self.0.deviation)
    }
}
