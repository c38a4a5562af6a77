//! The C library of feeler: `include/feeler.h` is made from this crate.
//!
//! Every function returns a [`FeelerResult`]; what went wrong is told by [`feeler_last_error`]. Nothing
//! panics across the border: every entry catches. Handles are opaque and freed by their own functions; NULL
//! is refused, not followed. Lengths are millimetres, angles radians.
//!
//! A model and a body are read only and may be used by any number of threads at once. A pair, a tracker, a
//! scene and a mesh belong to one thread at a time. A body keeps what it needs: its model may be freed first,
//! and so may bodies that a pair, a tracker or a scene have taken.
#![allow(unsafe_code, reason = "pointers come from C")]

mod body;
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

/// Layout of all structs and meaning of all functions; it grows when either changes.
pub const FEELER_ABI_VERSION: c_int = 1;

/// The layout that the library was built with. A program that includes another `FEELER_ABI_VERSION` must be
/// built again.
#[unsafe(no_mangle)]
pub extern "C" fn feeler_abi_version() -> c_int {
    FEELER_ABI_VERSION
}

/// Version of the library, as "0.1.0". Never NULL, never freed.
#[unsafe(no_mangle)]
pub extern "C" fn feeler_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
