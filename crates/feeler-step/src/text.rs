//! From the bytes of a file to text that the parser reads: unpacked, in UTF-8, in the order of the standard.

mod encoding;
mod syntax;
mod wrapping;

pub(crate) use encoding::in_utf8;
pub(crate) use syntax::tidied;
pub(crate) use wrapping::unpacked;
pub use wrapping::{MAX_UNPACKED, is_step_name, unpacked_size};
