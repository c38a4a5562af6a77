//! Counts as indices.

/// A count of stored things as the index type of files and hierarchies.
///
/// # Panics
/// With 2³² things or more: no solid of so many fits into memory.
#[must_use]
#[inline]
pub fn index(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 of anything")
}
