//! Models: what a STEP or `.feeler` file holds.

use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, fill, hand_out, path_of, put, put_sized, shared, take_back, text};
use crate::record::FeelerPose;
use feeler::Model;
use std::ffi::{CString, c_char};

/// What a file holds: solids, and where they stand.
#[derive(Debug)]
pub struct FeelerModel {
    pub(crate) model: Model,
    /// Of instances: their paths in the assembly, or names.
    names: Vec<CString>,
}

/// A solid in its place.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerInstance {
    /// `sizeof(FeelerInstance)`, set by the caller.
    pub struct_size: u32,
    /// Number of the solid.
    pub solid: u32,
    /// Takes its coordinates to the model's.
    pub pose: FeelerPose,
}

impl FeelerModel {
    fn new(model: Model) -> Self {
        let name = |i: &feeler::Instance| {
            let name = if i.path.is_empty() { &i.name } else { &i.path };
            CString::new(name.replace('\0', " ")).unwrap_or_default()
        };
        Self { names: model.instances.iter().map(name).collect(), model }
    }
}

fn file(e: impl std::fmt::Display) -> Failure {
    Failure::new(FeelerResult::File, format!("{e:#}"))
}

/// Reads a `.feeler` file.
///
/// # Safety
/// `path` is a text that ends with a zero; `out` may be written. Free the model by `feeler_model_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_read(path: *const c_char, out: *mut *mut FeelerModel) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { hand_out(out, FeelerModel::new(Model::read(path_of(path)?).map_err(file)?)) })
}

/// Reads the bytes of a `.feeler` file.
///
/// # Safety
/// `bytes` points at `n` bytes; `out` may be written. Free the model by `feeler_model_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_read_bytes(
    bytes: *const u8,
    n: usize,
    out: *mut *mut FeelerModel,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        hand_out(out, FeelerModel::new(Model::from_bytes(array(bytes, n, "bytes")?).map_err(file)?))
    })
}

/// Reads a STEP file and prepares its solids, which takes a tenth of a second to some minutes: write the
/// model to a file and read that the next time. Solids that cannot be prepared are left out: see
/// `feeler_model_left_out`. Only in libraries that are built with the feature `prepare`.
///
/// # Safety
/// `path` is a text that ends with a zero; `out` may be written. Free the model by `feeler_model_free`.
#[cfg(feature = "prepare")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_prepare_step(
    path: *const c_char,
    out: *mut *mut FeelerModel,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { hand_out(out, FeelerModel::new(feeler::prepare_step(path_of(path)?).map_err(file)?)) })
}

/// As `feeler_model_prepare_step`, on the bytes of a file; `name` is what errors call it.
///
/// # Safety
/// `bytes` points at `n` bytes, `name` at a text that ends with a zero; `out` may be written. Free the model
/// by `feeler_model_free`.
#[cfg(feature = "prepare")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_prepare_bytes(
    bytes: *const u8,
    n: usize,
    name: *const c_char,
    out: *mut *mut FeelerModel,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let model = feeler::prepare_bytes(text(name, "name")?, array(bytes, n, "bytes")?).map_err(file)?;
        hand_out(out, FeelerModel::new(model))
    })
}

/// Writes a `.feeler` file, whole or not at all.
///
/// # Safety
/// `model` is a model; `path` a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_write(model: *const FeelerModel, path: *const c_char) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { shared(model, "model")?.model.write(path_of(path)?).map(drop).map_err(file) })
}

/// The bytes of a `.feeler` file: up to `capacity` of them to `out`, how many there are to `count`. Ask with
/// a capacity of 0 first.
///
/// # Safety
/// `model` is a model; `out` has room for `capacity` bytes; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_to_bytes(
    model: *const FeelerModel,
    out: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let bytes = shared(model, "model")?.model.to_bytes().map_err(file)?;
        fill(bytes.into_iter(), (out, capacity), count)
    })
}

/// Frees a model; NULL does nothing. Its bodies stay.
///
/// # Safety
/// `model` is NULL or a model that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_free(model: *mut FeelerModel) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(model);
        Ok(())
    });
}

/// How many distinct solids there are.
///
/// # Safety
/// `model` is a model; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_solids(model: *const FeelerModel, count: *mut usize) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(model, "model")?.model.solids.len()) })
}

/// How many places they stand in.
///
/// # Safety
/// `model` is a model; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_instances(
    model: *const FeelerModel,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(model, "model")?.model.instances.len()) })
}

/// How many solids and components of the input could not be prepared. The program's `inspect` names them.
///
/// # Safety
/// `model` is a model; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_left_out(model: *const FeelerModel, count: *mut usize) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(model, "model")?.model.left_out().len()) })
}

/// A solid in its place, and its path in the assembly or, without one, its name; `name` may be NULL. The
/// name lives as long as the model.
///
/// # Safety
/// `model` is a model; `out` has the size that its `struct_size` tells; `name` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_instance(
    model: *const FeelerModel,
    index: usize,
    out: *mut FeelerInstance,
    name: *mut *const c_char,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let FeelerModel { model, names } = shared(model, "model")?;
        let instance = model.instances.get(index).ok_or_else(|| {
            let count = model.instances.len();
            Failure::argument(format!("the model has {count} instances, numbered from 0: no {index}"))
        })?;
        let pose = (&instance.pose()).into();
        put_sized(out, FeelerInstance { struct_size: 0, solid: instance.solid, pose }, "out")?;
        if !name.is_null() {
            name.write(names[index].as_ptr());
        }
        Ok(())
    })
}
