//! Converts the bytes of a file to UTF-8 text, unpacked if necessary.

mod encoding;
mod wrapping;

pub(crate) use encoding::in_utf8;
pub(crate) use wrapping::unpacked;
pub use wrapping::{MAX_UNPACKED, is_step_name, unpacked_size};
