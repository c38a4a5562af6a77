//! Arrays that are given: numbers, rows of them, triangles.

use crate::error::query;
use numpy::{PyReadonlyArray2, PyReadonlyArrayDyn};
use pyo3::prelude::*;

/// An array of doubles.
pub(crate) fn numbers<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    if let Ok(array) = values.extract::<PyReadonlyArrayDyn<'py, f64>>() {
        return Ok(array);
    }
    let py = values.py();
    let made = py.import("numpy")?.call_method1("asarray", (values, "float64"))?;
    made.extract::<PyReadonlyArrayDyn<'py, f64>>()
}

/// Rows of `N` numbers; one row stands for `n` equal ones.
pub(crate) fn rows<const N: usize>(
    values: &Bound<'_, PyAny>,
    name: &str,
    n: Option<usize>,
) -> PyResult<Vec<[f64; N]>> {
    let wanted = |got: String| query(format!("{name}: give an array of rows of {N} numbers{got}"));
    let array = numbers(values).map_err(|_| wanted(String::new()))?;
    let array = array.as_array();
    let flat: Vec<f64> = array.iter().copied().collect();
    let shape = array.shape();
    let is_one = shape == [N] || (N == 1 && shape.is_empty());
    let is_many = shape.len() == 2 && shape[1] == N || (N == 1 && shape.len() == 1);
    let all: Vec<[f64; N]> = flat.chunks_exact(N).map(|c| std::array::from_fn(|i| c[i])).collect();
    match n {
        Some(n) if is_one && !(N == 1 && shape == [1] && n != 1) => Ok(vec![all[0]; n]),
        Some(n) if is_many && all.len() == n => Ok(all),
        None if is_many => Ok(all),
        Some(n) => Err(wanted(format!(", {n} of them; its shape is {shape:?}"))),
        None => Err(wanted(format!("; its shape is {shape:?}"))),
    }
}

/// Triangles: rows of three numbers of points.
pub(crate) fn corners(values: &Bound<'_, PyAny>) -> PyResult<Vec<[u32; 3]>> {
    let wanted = || query("triangles: give an array of rows of 3 whole numbers of points, from 0");
    let made = values.py().import("numpy")?.call_method1("asarray", (values,))?;
    let kind: String = made.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "i" | "u") {
        return Err(wanted());
    }
    let made = made.call_method1("astype", ("int64",))?;
    let made: PyReadonlyArray2<'_, i64> = made.extract().map_err(|_| wanted())?;
    let made = made.as_array();
    if made.ncols() != 3 {
        return Err(wanted());
    }
    let number = |k: i64| u32::try_from(k).map_err(|_| wanted());
    made.outer_iter().map(|row| Ok([number(row[0])?, number(row[1])?, number(row[2])?])).collect()
}
