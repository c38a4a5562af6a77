//! Conversion of arguments that are arrays. Errors state the expected and the given shape and dtype.

use numpy::{
    PyArray1, PyArrayDescrMethods as _, PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods as _,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns a `ValueError` for the argument `name`, which states the expected `shape` and `dtype` and
/// those of `values`.
fn wrong(values: &Bound<'_, PyAny>, name: &str, shape: &str, dtype: &str) -> PyErr {
    let given = match as_array(values) {
        Ok(array) => {
            let shape: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
            let comma = if shape.len() == 1 { "," } else { "" };
            format!("shape ({}{comma}) and dtype {}", shape.join(", "), array.dtype())
        }
        // The argument is nested sequences of different lengths.
        Err(_) => format!("{} that is not an array", values.get_type()),
    };
    PyValueError::new_err(format!("{name}: expected shape {shape} and dtype {dtype}, got {given}"))
}

fn as_array<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let made = values.py().import("numpy")?.call_method1("asarray", (values,))?;
    Ok(made.cast_into::<PyUntypedArray>()?)
}

/// Converts an array to doubles; `None` unless its elements are real numbers.
fn real<'py>(values: &Bound<'py, PyAny>) -> Option<PyReadonlyArrayDyn<'py, f64>> {
    if let Ok(array) = values.extract::<PyReadonlyArrayDyn<'py, f64>>() {
        return Some(array);
    }
    let array = as_array(values).ok()?;
    if !matches!(array.dtype().kind(), b'f' | b'i' | b'u') {
        return None;
    }
    let made = array.call_method1("astype", ("float64",)).ok()?;
    Some(made.cast_into::<PyArrayDyn<f64>>().ok()?.readonly())
}

/// Reads an array of doubles of any shape.
pub(crate) fn numbers<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    real(values).ok_or_else(|| wrong(values, "array", "(...)", "float64"))
}

/// Reads an array of doubles whose shape satisfies `is_valid`. Errors state the condition as `shape`,
/// and the argument as `name`.
pub(crate) fn shaped<'py>(
    values: &Bound<'py, PyAny>,
    name: &str,
    shape: &str,
    is_valid: impl Fn(&[usize]) -> bool,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    real(values).filter(|a| is_valid(a.shape())).ok_or_else(|| wrong(values, name, shape, "float64"))
}

/// Reads a vector of `N` numbers. Errors state the argument as `name`.
pub(crate) fn vector<const N: usize>(values: &Bound<'_, PyAny>, name: &str) -> PyResult<[f64; N]> {
    let array = shaped(values, name, &format!("({N},)"), |shape| shape == [N])?;
    let array = array.as_array();
    Ok(std::array::from_fn(|i| array[[i]]))
}

/// Reads rows of `N` numbers. If `n` states the number of rows, a single row stands for `n` equal rows.
/// Errors state the argument as `name`.
pub(crate) fn rows<const N: usize>(
    values: &Bound<'_, PyAny>,
    name: &str,
    n: Option<usize>,
) -> PyResult<Vec<[f64; N]>> {
    let expected = || match (n, N) {
        (None, 1) => "(n,)".to_owned(),
        (None, _) => format!("(n, {N})"),
        (Some(n), 1) => format!("({n},) or ()"),
        (Some(n), _) => format!("({n}, {N}) or ({N},)"),
    };
    let refused = || wrong(values, name, &expected(), "float64");
    let array = real(values).ok_or_else(refused)?;
    let array = array.as_array();
    let shape = array.shape();
    let is_row = shape == [N] || (N == 1 && shape.is_empty());
    let is_table = shape.len() == 2 && shape[1] == N || (N == 1 && shape.len() == 1);
    let flat: Vec<f64> = array.iter().copied().collect();
    let all: Vec<[f64; N]> = flat.chunks_exact(N).map(|c| std::array::from_fn(|i| c[i])).collect();
    match n {
        Some(n) if is_row && !(N == 1 && shape == [1] && n != 1) => Ok(vec![all[0]; n]),
        Some(n) if is_table && all.len() == n => Ok(all),
        None if is_table => Ok(all),
        _ => Err(refused()),
    }
}

/// Reads an array of integers. Returns its shape and its elements; `None` unless all elements are
/// integers from 0 to 2³² - 1.
fn indices(values: &Bound<'_, PyAny>) -> Option<(Vec<usize>, Vec<u32>)> {
    let array = as_array(values).ok()?;
    let is_empty = array.shape().contains(&0);
    if !(matches!(array.dtype().kind(), b'i' | b'u') || is_empty) {
        return None;
    }
    let made = array.call_method1("astype", ("int64",)).ok()?.cast_into::<PyArrayDyn<i64>>().ok()?;
    let made = made.readonly();
    let made = made.as_array();
    let flat = made.iter().map(|k| u32::try_from(*k).ok()).collect::<Option<_>>()?;
    Some((made.shape().to_vec(), flat))
}

/// Reads a list of ids of bodies or curves.
pub(crate) fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    match indices(values) {
        Some((shape, ids)) if shape.len() == 1 => Ok(ids),
        _ => Err(wrong(values, "ids", "(n,)", "uint32")),
    }
}

/// Reads triangles, which are rows of three indices of points.
pub(crate) fn corners(values: &Bound<'_, PyAny>) -> PyResult<Vec<[u32; 3]>> {
    index_rows(values, "triangles")
}

/// Reads rows of `N` indices. Errors state the argument as `name`.
pub(crate) fn index_rows<const N: usize>(values: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<[u32; N]>> {
    match indices(values) {
        Some((shape, flat)) if shape.len() == 2 && shape[1] == N => {
            Ok(flat.chunks_exact(N).map(|c| std::array::from_fn(|i| c[i])).collect())
        }
        _ => Err(wrong(values, name, &format!("(n, {N})"), "uint32")),
    }
}

/// Reads one index or a list of indices; `true` for a list. Errors state the argument as `name`.
pub(crate) fn index_list(values: &Bound<'_, PyAny>, name: &str) -> PyResult<(bool, Vec<u32>)> {
    match indices(values) {
        Some((shape, flat)) if shape.len() <= 1 => Ok((shape.len() == 1, flat)),
        _ => Err(wrong(values, name, "() or (n,)", "uint32")),
    }
}

/// Reads the labels of a voxel image, which is an array of three axes. Returns its shape, and the labels with
/// the first index running fastest.
pub(crate) fn labels(values: &Bound<'_, PyAny>) -> PyResult<([usize; 3], Vec<u32>)> {
    let refused = || wrong(values, "labels", "(nx, ny, nz)", "int64");
    let array = as_array(values)?;
    let shape: [usize; 3] = array.shape().try_into().map_err(|_| refused())?;
    if !matches!(array.dtype().kind(), b'i' | b'u') {
        return Err(refused());
    }
    let made = array.call_method1("astype", ("int64",))?.cast_into::<PyArrayDyn<i64>>()?.readonly();
    let made = made.as_array();
    let mut out = Vec::with_capacity(made.len());
    for k in made.t() {
        out.push(u32::try_from(*k).map_err(|_| {
            PyValueError::new_err(format!("labels: {k} is not a label; labels are 0 to 4294967295"))
        })?);
    }
    Ok((shape, out))
}

/// Converts offsets into an array of records to an array of indices.
pub(crate) fn offsets(py: Python<'_>, offsets: Vec<usize>) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_iter(py, offsets.into_iter().map(|k| i64::try_from(k).unwrap_or(i64::MAX)))
}
