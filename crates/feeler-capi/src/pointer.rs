//! Pointers from C: checked for NULL, for nothing else.

use crate::error::Failure;
use std::ffi::{CStr, c_char};
use std::path::Path;

/// What a handle points at.
///
/// # Safety
/// The pointer is NULL or points at a `T` that nobody changes meanwhile.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// What a handle points at, to be changed.
///
/// # Safety
/// The pointer is NULL or points at a `T` that nobody else uses meanwhile.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: by the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// An array of `n`, which may be NULL where `n` is 0.
///
/// # Safety
/// The pointer is NULL or points at `n` values that nobody changes meanwhile.
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

/// Writes a value through a pointer that may point at memory never written before.
///
/// # Safety
/// The pointer is NULL or may be written.
pub(crate) unsafe fn put<T>(pointer: *mut T, name: &str, value: T) -> Result<(), Failure> {
    shared_check(pointer, name)?;
    // SAFETY: by the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Whether [`fill`] can write there.
pub(crate) fn check_room<T>((out, capacity): (*mut T, usize), count: *mut usize) -> Result<(), Failure> {
    if capacity > 0 {
        shared_check(out, "out")?;
    }
    shared_check(count, "count")
}

/// Writes as many values as there is room for, and how many there are in all.
///
/// # Safety
/// `out` is NULL or has room for `capacity` values, `count` is NULL or may be written.
pub(crate) unsafe fn fill<T>(
    values: impl ExactSizeIterator<Item = T>,
    (out, capacity): (*mut T, usize),
    count: *mut usize,
) -> Result<(), Failure> {
    check_room((out, capacity), count)?;
    // SAFETY: by the caller's promise.
    unsafe { put(count, "count", values.len())? };
    for (i, value) in values.take(capacity).enumerate() {
        // SAFETY: i < capacity.
        unsafe { out.add(i).write(value) };
    }
    Ok(())
}

/// A text that ends with a zero.
///
/// # Safety
/// The pointer is NULL or points at such a text.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    shared_check(pointer, name)?;
    // SAFETY: by the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::argument(format!("{name} is not UTF-8")))
}

/// A path in UTF-8.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn path_of<'a>(pointer: *const c_char) -> Result<&'a Path, Failure> {
    // SAFETY: by the caller's promise.
    unsafe { text(pointer, "path") }.map(Path::new)
}

/// A new handle, through `out`.
///
/// # Safety
/// `out` is NULL or may be written.
pub(crate) unsafe fn hand_out<T>(out: *mut *mut T, value: T) -> Result<(), Failure> {
    shared_check(out, "out")?;
    // SAFETY: by the caller's promise.
    unsafe { out.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Takes a handle back and drops it; NULL does nothing.
///
/// # Safety
/// The pointer is NULL or was handed out and not taken back yet.
pub(crate) unsafe fn take_back<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: by the caller's promise.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// Fills a struct whose first member is its size in the caller's version of the header: as much as that has
/// room for.
///
/// # Safety
/// `out` is NULL or points at a struct of the size that its first member tells.
pub(crate) unsafe fn put_sized<T>(out: *mut T, mut value: T, name: &str) -> Result<(), Failure> {
    shared_check(out, name)?;
    // SAFETY: the first member of each such struct is its size.
    let size = unsafe { out.cast::<u32>().read() };
    let room = checked_size(size, name)?.min(size_of::<T>());
    // SAFETY: T begins with a u32; both regions hold `room` bytes.
    unsafe {
        (&raw mut value).cast::<u32>().write(size);
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), out.cast::<u8>(), room);
    }
    Ok(())
}

/// Reads a struct whose first member is its size in the caller's version of the header: what that does not
/// know stays at `default`.
///
/// # Safety
/// `pointer` points at a struct of the size that its first member tells, or is NULL, which means `default`.
/// Any bytes are a valid `T`.
pub(crate) unsafe fn get_sized<T: Copy>(pointer: *const T, default: T, name: &str) -> Result<T, Failure> {
    if pointer.is_null() {
        return Ok(default);
    }
    // SAFETY: the first member of each such struct is its size.
    let size = unsafe { pointer.cast::<u32>().read() };
    let known = checked_size(size, name)?.min(size_of::<T>());
    let mut value = default;
    // SAFETY: both regions hold `known` bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut value).cast::<u8>(), known);
    }
    Ok(value)
}

/// Structs grow; their sizes stay far from what memory never written would tell.
const LARGEST: usize = 4096;

fn checked_size(size: u32, name: &str) -> Result<usize, Failure> {
    let size = size as usize;
    if (size_of::<u32>()..=LARGEST).contains(&size) {
        Ok(size)
    } else {
        Err(Failure::argument(format!("{name}: struct_size is {size}; set it to sizeof of the struct")))
    }
}
