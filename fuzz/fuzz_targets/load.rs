//! Fuzz target of the loader: for any bytes it must neither panic nor allocate much more memory than the
//! file's size, and models that it accepts must be convertible to bodies.
//!
//! `cargo +nightly fuzz run load -- -max_len=200000 -rss_limit_mb=256`, from the project's root; `.feeler`
//! files made by `feeler preprocess data -o fuzz/corpus/load` are a good initial corpus.
#![no_main]

use feeler_hierarchy::file::{FORMAT_VERSION, decode, with_version};
use libfuzzer_sys::fuzz_target;

/// Length of a file's header.
const HEADER: usize = 64;
/// Position of the payload's length in the header.
const LENGTH: std::ops::Range<usize> = 16..24;

fuzz_target!(|bytes: &[u8]| {
    // Unchanged bytes test the checks of length and checksum.
    let _ = decode(bytes);
    // Valid length and checksum reach the code behind these checks.
    if bytes.len() < HEADER {
        return;
    }
    let mut sealed = bytes.to_vec();
    sealed[..8].copy_from_slice(b"FEELER\r\n");
    sealed[12..16].copy_from_slice(&[8, 0, 1, 0]);
    sealed[LENGTH].copy_from_slice(&((bytes.len() - HEADER) as u64).to_le_bytes());
    if let Ok(model) = decode(&with_version(&sealed, FORMAT_VERSION)) {
        for solid in model.solids {
            let _ = feeler_runtime::Body::new(solid);
        }
    }
});
