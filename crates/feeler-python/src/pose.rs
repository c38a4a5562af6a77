//! Poses: 4×4 matrices, translations, or translations with quaternions.

use crate::error::query;
use feeler::Pose;
use feeler::pose::{from_matrix, from_values};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyAny;

const WANTED: &str = "a pose is a 4x4 matrix, [x, y, z] or [x, y, z, qx, qy, qz, qw], in mm";

/// A pose; `None` where the solid is modelled.
pub(crate) fn read(pose: Option<&Bound<'_, PyAny>>) -> PyResult<Pose> {
    let Some(pose) = pose else { return Ok(Pose::identity()) };
    if let Ok(matrix) = pose.extract::<PyReadonlyArray2<'_, f64>>() {
        let rows = matrix.as_array();
        if rows.dim() != (4, 4) {
            return Err(query(format!("{WANTED}; got {:?} numbers", rows.dim())));
        }
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| rows[(i, j)]));
        return from_matrix(&rows).map_err(query);
    }
    if let Ok(values) = pose.extract::<PyReadonlyArray1<'_, f64>>() {
        let values: Vec<f64> = values.as_array().iter().copied().collect();
        return of_values(&values);
    }
    if let Ok(rows) = pose.extract::<[[f64; 4]; 4]>() {
        return from_matrix(&rows).map_err(query);
    }
    let values = pose.extract::<Vec<f64>>().map_err(|_| query(WANTED))?;
    of_values(&values)
}

fn of_values(values: &[f64]) -> PyResult<Pose> {
    match *values {
        [x, y, z] => from_values(&[x, y, z, 0.0, 0.0, 0.0, 1.0]),
        [x, y, z, qx, qy, qz, qw] => from_values(&[x, y, z, qx, qy, qz, qw]),
        _ => return Err(query(format!("{WANTED}; got {} numbers", values.len()))),
    }
    .map_err(query)
}

/// A pose as a 4×4 matrix.
pub(crate) fn matrix<'py>(py: Python<'py>, pose: &Pose) -> Bound<'py, PyArray2<f64>> {
    let m = pose.to_homogeneous();
    let rows: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| m[(i, j)]).collect()).collect();
    PyArray2::from_vec2(py, &rows).expect("four rows of four")
}
