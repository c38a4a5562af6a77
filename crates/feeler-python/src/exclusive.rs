//! Values that one thread may use at a time.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// Value of an object that one thread may change at a time. An object that another thread uses gives an error
/// instead of waiting, because waiting threads would hide that they take turns.
#[derive(Debug)]
pub(crate) struct Exclusive<T> {
    value: RwLock<T>,
    /// Name of the class in Python, for errors.
    class: &'static str,
}

impl<T> Exclusive<T> {
    pub(crate) fn new(class: &'static str, value: T) -> Self {
        Self { value: RwLock::new(value), class }
    }

    /// Shared access to the value.
    ///
    /// # Errors
    /// A `RuntimeError` if another thread changes the value.
    pub(crate) fn read(&self) -> PyResult<RwLockReadGuard<'_, T>> {
        match self.value.try_read() {
            Ok(value) => Ok(value),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(self.in_use()),
        }
    }

    /// Exclusive access to the value.
    ///
    /// # Errors
    /// A `RuntimeError` if another thread uses the value.
    pub(crate) fn write(&self) -> PyResult<RwLockWriteGuard<'_, T>> {
        match self.value.try_write() {
            Ok(value) => Ok(value),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(self.in_use()),
        }
    }

    fn in_use(&self) -> PyErr {
        let class = self.class;
        PyRuntimeError::new_err(format!(
            "this {class} is in use by another thread; give each thread a {class} of its own (they can share \
             bodies), or use it under a lock"
        ))
    }

    /// Text for `__repr__`, of the value if it is not in use.
    pub(crate) fn describe(&self, text: impl FnOnce(&T) -> String) -> String {
        match self.read() {
            Ok(value) => text(&value),
            Err(_) => format!("<{}: in use by another thread>", self.class),
        }
    }
}
