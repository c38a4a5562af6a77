//! Models: the contents of a STEP or `.feeler` file.

use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, fill, hand_out, path_of, put, put_sized, shared, take_back, text};
use crate::record::FeelerPose;
use feeler::Model;
use std::ffi::{CString, c_char};

/// Contents of a STEP or `.feeler` file: distinct solids and their instances.
#[derive(Debug)]
pub struct FeelerModel {
    pub(crate) model: Model,
    /// Names of the instances, in the order of `model.instances`.
    names: Vec<CString>,
    /// Paths of the instances in the assembly, in the order of `model.instances`.
    paths: Vec<CString>,
}

/// Placement of a solid in a model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerInstance {
    /// `sizeof(FeelerInstance)`, set by the caller.
    pub struct_size: u32,
    /// Index of the solid, as an argument of `feeler_body_new`.
    pub solid: u32,
    /// Pose that maps the solid's own coordinates to those of the model.
    pub pose: FeelerPose,
}

impl FeelerModel {
    fn new(model: Model) -> Self {
        let string = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        let names = model.instances.iter().map(|i| string(&i.name)).collect();
        let paths = model.instances.iter().map(|i| string(&i.path)).collect();
        Self { model, names, paths }
    }
}

fn file(e: impl std::fmt::Display) -> Failure {
    Failure::new(FeelerResult::File, format!("{e:#}"))
}

/// Reads a `.feeler` file. Free the model with `feeler_model_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_read(path: *const c_char, out: *mut *mut FeelerModel) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { hand_out(out, FeelerModel::new(Model::read(path_of(path)?).map_err(file)?)) })
}

/// Reads the `n` bytes of a `.feeler` file. Free the model with `feeler_model_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_from_bytes(
    bytes: *const u8,
    n: usize,
    out: *mut *mut FeelerModel,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        hand_out(out, FeelerModel::new(Model::from_bytes(array(bytes, n, "bytes")?).map_err(file)?))
    })
}

/// Reads a STEP file and prepares its solids, which takes from a tenth of a second to some minutes. To
/// avoid this the next time, write the model with `feeler_model_write` and read that file with
/// `feeler_model_read`. Solids that cannot be prepared are left out; `feeler_model_left_out_count`
/// returns their number. Free the model with `feeler_model_free`. Available in libraries that are built
/// with the feature `prepare`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[cfg(feature = "prepare")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_prepare_step(
    path: *const c_char,
    out: *mut *mut FeelerModel,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { hand_out(out, FeelerModel::new(feeler::prepare_step(path_of(path)?).map_err(file)?)) })
}

/// Prepares the `n` bytes of a STEP file like `feeler_prepare_step`. `name` is the name of the file that
/// messages state.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[cfg(feature = "prepare")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_prepare_bytes(
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

/// Writes a model to a `.feeler` file. If writing fails, an existing file remains unchanged.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_write(model: *const FeelerModel, path: *const c_char) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { shared(model, "model")?.model.write(path_of(path)?).map(drop).map_err(file) })
}

/// Writes a model to `out`, as the bytes of a `.feeler` file.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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

/// Frees a model. Bodies created from it remain valid.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_free(model: *mut FeelerModel) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(model);
        Ok(())
    });
}

/// Writes the number of distinct solids of a model to `count`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_solid_count(
    model: *const FeelerModel,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(model, "model")?.model.solids.len()) })
}

/// Writes the number of instances (placed solids) of a model to `count`. A solid that is placed twice
/// has two instances.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_instance_count(
    model: *const FeelerModel,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(model, "model")?.model.instances.len()) })
}

/// Writes to `count` the number of solids and components of the input that could not be prepared and are
/// missing from the model. The command `feeler inspect` lists them with the reasons.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_left_out_count(
    model: *const FeelerModel,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(model, "model")?.model.left_out().len()) })
}

/// Writes an instance to `out`, and its name and its path to `name` and `path`. `index` counts from 0.
/// The path joins the names from the root of the assembly by '/'; it is "" if the model has no assembly.
/// `name` and `path` may be NULL; the strings are valid until the model is freed.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_model_instance(
    model: *const FeelerModel,
    index: usize,
    out: *mut FeelerInstance,
    name: *mut *const c_char,
    path: *mut *const c_char,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let FeelerModel { model, names, paths } = shared(model, "model")?;
        let instance = model.instances.get(index).ok_or_else(|| {
            let count = model.instances.len();
            Failure::argument(format!(
                "no instance {index}: the model has {count} instances, numbered from 0"
            ))
        })?;
        let pose = (&instance.pose()).into();
        put_sized(out, FeelerInstance { struct_size: 0, solid: instance.solid, pose }, "out")?;
        if !name.is_null() {
            name.write(names[index].as_ptr());
        }
        if !path.is_null() {
            path.write(paths[index].as_ptr());
        }
        Ok(())
    })
}
