//! Conversion of poses: 4×4 matrices, translations, or translations with quaternions.

use crate::arrays::shaped;
use crate::error::query;
use feeler::Pose;
use feeler::pose::{from_matrix, from_values};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyAny;

const SHAPES: &str = "(4, 4), (3,) or (7,)";

/// Reads a pose; `None` stands for the identity.
pub(crate) fn read(pose: Option<&Bound<'_, PyAny>>) -> PyResult<Pose> {
    let Some(pose) = pose else { return Ok(Pose::identity()) };
    let array = shaped(pose, "pose", SHAPES, |shape| matches!(shape, [4, 4] | [3 | 7]))?;
    let array = array.as_array();
    match array.shape() {
        [4, 4] => {
            let rows = std::array::from_fn(|i| std::array::from_fn(|j| array[[i, j]]));
            from_matrix(&rows)
        }
        [3] => from_values(&[array[[0]], array[[1]], array[[2]], 0.0, 0.0, 0.0, 1.0]),
        _ => from_values(&std::array::from_fn(|i| array[[i]])),
    }
    .map_err(query)
}

/// Converts a pose to a 4×4 matrix.
pub(crate) fn matrix<'py>(py: Python<'py>, pose: &Pose) -> Bound<'py, PyArray2<f64>> {
    let m = pose.to_homogeneous();
    let rows: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| m[(i, j)]).collect()).collect();
    PyArray2::from_vec2(py, &rows).expect("four rows of four")
}
