//! Pointers from C. They are checked for NULL only.

use crate::error::Failure;
use std::ffi::{CStr, c_char};
use std::path::Path;

/// Shared reference to the target of a handle. A NULL handle is an error that states `name`.
///
/// # Safety
/// The pointer is NULL or points to a `T` that is not modified concurrently.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// Exclusive reference to the target of a handle. A NULL handle is an error that states `name`.
///
/// # Safety
/// The pointer is NULL or points to a `T` that is not used concurrently.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: by the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// Array of `n` values; the pointer may be NULL if `n` is 0.
///
/// # Safety
/// The pointer is NULL or points to `n` values that are not modified concurrently.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, n: usize, name: &str) -> Result<&'a [T], Failure> {
    if n == 0 {
        return Ok(&[]);
    }
    shared_check(pointer, name)?;
    // SAFETY: by the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, n) })
}

fn shared_check<T>(pointer: *const T, name: &str) -> Result<(), Failure> {
    if pointer.is_null() { Err(Failure::argument(format!("{name} is NULL"))) } else { Ok(()) }
}

/// Writes a value through a pointer, which may point to uninitialised memory. A NULL pointer is an error
/// that states `name`.
///
/// # Safety
/// The pointer is NULL or writable.
pub(crate) unsafe fn put<T>(pointer: *mut T, name: &str, value: T) -> Result<(), Failure> {
    shared_check(pointer, name)?;
    // SAFETY: by the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Checks the outputs of [`fill`]: returns an error if `count` is NULL, or if `out` is NULL although
/// `capacity` is above 0.
pub(crate) fn check_output<T>((out, capacity): (*mut T, usize), count: *mut usize) -> Result<(), Failure> {
    if capacity > 0 {
        shared_check(out, "out")?;
    }
    shared_check(count, "count")
}

/// Writes the values to `out`, but at most `capacity` of them, and the number of all values to `count`.
///
/// # Safety
/// `out` is NULL or has space for `capacity` values; `count` is NULL or writable.
pub(crate) unsafe fn fill<T>(
    values: impl ExactSizeIterator<Item = T>,
    (out, capacity): (*mut T, usize),
    count: *mut usize,
) -> Result<(), Failure> {
    check_output((out, capacity), count)?;
    // SAFETY: by the caller's promise.
    unsafe { put(count, "count", values.len())? };
    for (i, value) in values.take(capacity).enumerate() {
        // SAFETY: i < capacity.
        unsafe { out.add(i).write(value) };
    }
    Ok(())
}

/// Reads a null-terminated UTF-8 string. A NULL pointer and invalid UTF-8 are errors that state `name`.
///
/// # Safety
/// The pointer is NULL or points to a null-terminated string.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    shared_check(pointer, name)?;
    // SAFETY: by the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::argument(format!("{name} is not UTF-8")))
}

/// Reads a path in UTF-8.
///
/// # Safety
/// The conditions of [`text`] apply.
pub(crate) unsafe fn path_of<'a>(pointer: *const c_char) -> Result<&'a Path, Failure> {
    // SAFETY: by the caller's promise.
    unsafe { text(pointer, "path") }.map(Path::new)
}

/// Moves a value to the heap and writes its handle to `out`.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn hand_out<T>(out: *mut *mut T, value: T) -> Result<(), Failure> {
    shared_check(out, "out")?;
    // SAFETY: by the caller's promise.
    unsafe { out.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Drops the target of a handle; NULL does nothing.
///
/// # Safety
/// The pointer is NULL or comes from [`hand_out`] and was not dropped before.
pub(crate) unsafe fn take_back<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: by the caller's promise.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// Writes a struct whose first member is its size in the caller's version of the header, truncated to that
/// size.
///
/// # Safety
/// `out` is NULL or points to a struct of the size given by its first member.
pub(crate) unsafe fn put_sized<T>(out: *mut T, mut value: T, name: &str) -> Result<(), Failure> {
    shared_check(out, name)?;
    // SAFETY: the first member of each such struct is its size.
    let size = unsafe { out.cast::<u32>().read() };
    let copied = checked_size(size, name)?.min(size_of::<T>());
    // SAFETY: T begins with a u32; both regions hold `copied` bytes.
    unsafe {
        (&raw mut value).cast::<u32>().write(size);
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), out.cast::<u8>(), copied);
    }
    Ok(())
}

/// Reads a struct whose first member is its size in the caller's version of the header. Members beyond that
/// size have the values of `default`.
///
/// # Safety
/// `pointer` is NULL, which stands for `default`, or points to a struct of the size given by its first
/// member. Any bytes are a valid `T`.
pub(crate) unsafe fn get_sized<T: Copy>(pointer: *const T, default: T, name: &str) -> Result<T, Failure> {
    if pointer.is_null() {
        return Ok(default);
    }
    // SAFETY: the first member of each such struct is its size.
    let size = unsafe { pointer.cast::<u32>().read() };
    let copied = checked_size(size, name)?.min(size_of::<T>());
    let mut value = default;
    // SAFETY: both regions hold `copied` bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut value).cast::<u8>(), copied);
    }
    Ok(value)
}

/// Largest accepted `struct_size` (bytes). It is far above the sizes of present structs; a size in
/// uninitialised memory usually exceeds it. A larger value detects fewer uninitialised sizes; a smaller
/// one limits the growth of structs.
const MAX_STRUCT_SIZE: usize = 4096;

fn checked_size(size: u32, name: &str) -> Result<usize, Failure> {
    let size = size as usize;
    if (size_of::<u32>()..=MAX_STRUCT_SIZE).contains(&size) {
        Ok(size)
    } else {
        Err(Failure::argument(format!("{name}: struct_size is {size}: set it to sizeof(*{name})")))
    }
}
