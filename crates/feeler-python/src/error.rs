//! Errors as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(feeler, FeelerError, PyException, "What feeler refuses, with what to do.");
create_exception!(feeler, FileError, FeelerError, "A file that cannot be read, prepared or written.");
create_exception!(feeler, BodyError, FeelerError, "A solid that cannot be queried.");
create_exception!(
    feeler,
    QueryError,
    FeelerError,
    "Options, poses or curves that are not valid, or coordinates that are rounded too much."
);
create_exception!(
    feeler,
    SceneError,
    FeelerError,
    "A body or a curve that is not in the scene, or may not be as asked."
);
create_exception!(feeler, MeshError, FeelerError, "A solid that could not be meshed.");

/// For `map_err`.
pub(crate) fn file(e: impl Display) -> PyErr {
    FileError::new_err(format!("{e:#}"))
}

/// For `map_err`.
pub(crate) fn query(e: impl Display) -> PyErr {
    QueryError::new_err(e.to_string())
}

/// For `map_err`.
pub(crate) fn scene(e: feeler::SceneError) -> PyErr {
    use feeler::SceneError as E;
    match &e {
        E::Query { .. } | E::Options(_) | E::DMax(_) | E::Dilation(_) => query(e),
        E::Body(_) | E::Empty(_) => BodyError::new_err(e.to_string()),
        _ => SceneError::new_err(e.to_string()),
    }
}
