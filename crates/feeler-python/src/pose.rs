//! Conversion of poses: 4×4 matrices, translations, or translations with quaternions, single or in arrays.

use crate::arrays::shaped;
use crate::error::query;
use feeler::Pose;
use feeler::pose::{from_matrix, from_values};
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
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

/// Poses of one body in a query of many poses.
#[derive(Clone, Debug)]
pub(crate) enum Poses {
    /// One pose for all.
    One(Pose),
    /// A list of poses, the same for all pairs.
    Shared(Vec<Pose>),
    /// A list of poses for each pair.
    OfPairs(Vec<Vec<Pose>>),
}

impl Poses {
    /// Reads one pose or a list of poses; `None` stands for the identity. If `pairs` is given, an array with
    /// one list of poses for each of that many pairs is accepted, too. Errors state the argument as `name`.
    pub(crate) fn read(poses: Option<&Bound<'_, PyAny>>, name: &str, pairs: Option<usize>) -> PyResult<Self> {
        let Some(poses) = poses else { return Ok(Self::One(Pose::identity())) };
        let is_table = |shape: &[usize]| matches!(shape, [_, 3 | 7] | [_, 4, 4]);
        let is_of_pairs = |shape: &[usize]| {
            matches!(shape, [m, _, 3 | 7] | [m, _, 4, 4] if pairs == Some(*m)) && !is_table(shape)
        };
        let more = pairs.map_or(String::new(), |m| format!(", ({m}, n, 7), ({m}, n, 3), ({m}, n, 4, 4)"));
        let expected = format!("(n, 7), (n, 3), (n, 4, 4){more}, {SHAPES}");
        let is_one = |shape: &[usize]| matches!(shape, [4, 4] | [3 | 7]);
        let is_valid = |shape: &[usize]| is_one(shape) || is_table(shape) || is_of_pairs(shape);
        let array = shaped(poses, name, &expected, is_valid)?;
        let array = array.as_array();
        let shape = array.shape();
        let width = if shape.ends_with(&[4, 4]) { 16 } else { shape[shape.len() - 1] };
        let flat: Vec<f64> = array.iter().copied().collect();
        let at = |i: usize| {
            if is_one(shape) {
                name.to_owned()
            } else if is_of_pairs(shape) {
                format!("{name}[{}, {}]", i / shape[1], i % shape[1])
            } else {
                format!("{name}[{i}]")
            }
        };
        let all = flat.chunks_exact(width).enumerate().map(|(i, row)| {
            let pose = match row {
                [x, y, z] => from_values(&[*x, *y, *z, 0.0, 0.0, 0.0, 1.0]),
                _ if width == 7 => from_values(&std::array::from_fn(|k| row[k])),
                _ => from_matrix(&std::array::from_fn(|j| std::array::from_fn(|k| row[4 * j + k]))),
            };
            pose.map_err(|e| query(format!("{}: {e}", at(i))))
        });
        let all: Vec<Pose> = all.collect::<PyResult<_>>()?;
        Ok(if is_one(shape) {
            Self::One(all[0])
        } else if is_of_pairs(shape) {
            let n = shape[1];
            Self::OfPairs((0..shape[0]).map(|i| all[i * n..(i + 1) * n].to_vec()).collect())
        } else {
            Self::Shared(all)
        })
    }

    /// Number of poses of each pair; `None` for a single pose.
    fn count(&self) -> Option<usize> {
        match self {
            Self::One(_) => None,
            Self::Shared(poses) => Some(poses.len()),
            Self::OfPairs(of_pairs) => Some(of_pairs.first().map_or(0, Vec::len)),
        }
    }

    /// Pose with an index of the pair with an index.
    fn get(&self, pair: usize, index: usize) -> Pose {
        match self {
            Self::One(pose) => *pose,
            Self::Shared(poses) => poses[index],
            Self::OfPairs(of_pairs) => of_pairs[pair][index],
        }
    }
}

/// Poses of A and B for each of `pairs` pairs. A single pose stands for all; two single poses are one pose of
/// each pair.
pub(crate) fn combine(a: &Poses, b: &Poses, pairs: usize) -> PyResult<Vec<Vec<[Pose; 2]>>> {
    let n = match (a.count(), b.count()) {
        (Some(n), Some(m)) if n != m => {
            let message = format!("poses_a and poses_b: expected equal numbers of poses, got {n} and {m}");
            return Err(PyValueError::new_err(message));
        }
        (Some(n), _) | (None, Some(n)) => n,
        (None, None) => 1,
    };
    Ok((0..pairs).map(|i| (0..n).map(|k| [a.get(i, k), b.get(i, k)]).collect()).collect())
}

/// Reads the poses of A and B of a query of many poses of one pair.
pub(crate) fn read_many(
    poses_a: Option<&Bound<'_, PyAny>>,
    poses_b: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<[Pose; 2]>> {
    let (a, b) = (Poses::read(poses_a, "poses_a", None)?, Poses::read(poses_b, "poses_b", None)?);
    Ok(combine(&a, &b, 1)?.swap_remove(0))
}

/// Converts a pose to a 4×4 matrix.
pub(crate) fn matrix<'py>(py: Python<'py>, pose: &Pose) -> Bound<'py, PyArray2<f64>> {
    let m = pose.to_homogeneous();
    let rows: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| m[(i, j)]).collect()).collect();
    PyArray2::from_vec2(py, &rows).expect("four rows of four")
}
