//! The C library of feeler. The header `include/feeler.h` is generated from this crate.
//!
//! Functions return a [`FeelerResult`]; [`feeler_last_error`] returns the message of a failed call.
//! Panics are caught and returned as [`FeelerResult::Panic`]. Lengths are in mm, angles in rad.
//!
//! # Safety
//!
//! The callers of all functions must ensure that:
//!
//! - A handle (a pointer to an opaque type such as [`FeelerBody`]) was returned by this library and has
//!   not been freed. Models, bodies and meshes may be used by several threads at the same time, all
//!   other handles by one thread at a time. Functions that free a handle accept NULL.
//! - Every other pointer is valid for reads or writes of its type. An array has the stated number of
//!   elements; it may be NULL if that number is 0. `out` of a function with `capacity` and `count` has
//!   space for `capacity` elements.
//! - A struct with a member `struct_size` occupies as many bytes as that member says.
//! - A string is null-terminated.
//!
//! NULL is rejected where it is not allowed; invalid pointers cannot be detected.
#![allow(unsafe_code, reason = "pointers come from C")]

mod body;
mod clearance;
mod curves;
mod error;
mod exact_walls;
mod mesh;
mod model;
mod pair;
mod pointer;
mod record;
mod scene;
mod scene_tracking;
mod tracker;

pub use body::*;
pub use clearance::*;
pub use curves::*;
pub use error::{FeelerResult, feeler_last_error};
pub use exact_walls::*;
pub use mesh::*;
pub use model::*;
pub use pair::*;
pub use record::*;
pub use scene::*;
pub use scene_tracking::*;
pub use tracker::*;

use std::ffi::{c_char, c_int};

/// Version of the binary interface (ABI). It increases when the layout of a struct or the meaning of a
/// function changes.
pub const FEELER_ABI_VERSION: c_int = 1;

/// Returns the `FEELER_ABI_VERSION` that the library was built with. A program that was compiled with
/// another value of this constant must be compiled again.
#[unsafe(no_mangle)]
pub extern "C" fn feeler_abi_version() -> c_int {
    FEELER_ABI_VERSION
}

/// Returns the version of the library, for example "0.1.0". The string is static: it is never NULL and
/// must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn feeler_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
