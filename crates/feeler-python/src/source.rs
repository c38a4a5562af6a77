//! Models that are given as files or as objects, and fields of results that are defined in Python.

use crate::error::file;
use crate::model::Model;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Model, or the file that contains it.
#[derive(Debug)]
pub(crate) enum Source {
    /// STEP, STL or .feeler file.
    File(PathBuf),
    /// Model that was read before.
    Model(Py<Model>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(model) = value.cast::<Model>() {
            return Ok(Self::Model(model.to_owned().unbind()));
        }
        value.extract().map(Self::File).map_err(|_| {
            let given = value.get_type();
            PyTypeError::new_err(format!(
                "expected the path of a STEP or .feeler file, or a Model, not {given}"
            ))
        })
    }
}

impl Source {
    /// Calls `with` with the model, which is read first if it is given as a file. The GIL is not needed.
    pub(crate) fn with<T>(&self, with: impl FnOnce(&feeler::Model) -> PyResult<T>) -> PyResult<T> {
        match self {
            Self::File(path) => with(&feeler_import::load(path).map_err(file)?.0),
            Self::Model(model) => with(&model.get().0),
        }
    }

    /// Path of the file, or name of the input of the model.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Model(model) => model.get().0.input.clone(),
        }
    }

    /// Name of the file or of the input of the model, without folder and ending.
    pub(crate) fn stem(&self) -> String {
        let name = self.name();
        std::path::Path::new(&name).file_stem().map_or(name.clone(), |s| s.to_string_lossy().into_owned())
    }
}

/// Values of the fields of a class in `feeler._results`.
#[derive(Debug)]
pub(crate) struct Fields<'py>(Bound<'py, PyDict>);

impl<'py> Fields<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    /// Sets the value of a field.
    pub(crate) fn set(self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Self> {
        self.0.set_item(name, value)?;
        Ok(self)
    }

    /// Creates an object of the class with this name.
    pub(crate) fn build(self, class: &str) -> PyResult<Bound<'py, PyAny>> {
        let class = self.0.py().import("feeler._results")?.getattr(class)?;
        class.call((), Some(&self.0))
    }
}
