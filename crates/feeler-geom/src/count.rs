//! Conversion of counts to indices.

/// Converts a count of stored items to `u32`, the index type of files and hierarchies.
///
/// # Panics
/// Panics if `n` is 2³² or more; no solid of that many items fits into memory.
#[must_use]
#[inline]
pub fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a solid has fewer than 2^32 items of a kind")
}
