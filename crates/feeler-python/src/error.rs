//! Exceptions of the Python module.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(feeler, FeelerError, PyException, "Base class of the errors of feeler.");
create_exception!(
    feeler,
    FileError,
    FeelerError,
    "A file, or data given as bytes, cannot be read, prepared or written."
);
create_exception!(
    feeler,
    BodyError,
    FeelerError,
    "A solid does not exist, or its data is not valid for queries."
);
create_exception!(
    feeler,
    QueryError,
    FeelerError,
    "Invalid values of options, poses or curves, or coordinates with too much rounding."
);
create_exception!(
    feeler,
    SceneError,
    FeelerError,
    "A body or a curve is not in the scene, or the scene does not accept the operation."
);
create_exception!(feeler, MeshError, FeelerError, "A face of a solid cannot be triangulated.");

/// Converts an error to a `FileError`.
pub(crate) fn file(e: impl Display) -> PyErr {
    FileError::new_err(format!("{e:#}"))
}

/// Converts an error to a `QueryError`.
pub(crate) fn query(e: impl Display) -> PyErr {
    QueryError::new_err(e.to_string())
}

/// Converts an error of a scene to a `QueryError`, `BodyError` or `SceneError`.
pub(crate) fn scene(e: feeler::SceneError) -> PyErr {
    use feeler::SceneError as E;
    match &e {
        E::Query { .. } | E::Options(_) | E::DMax(_) | E::Dilation(_) => query(e),
        E::Body(_) | E::Empty(_) => BodyError::new_err(e.to_string()),
        _ => SceneError::new_err(e.to_string()),
    }
}
