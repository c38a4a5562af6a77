//! The loader: whatever the bytes, it neither panics nor takes more memory than the file's size explains, and
//! what it accepts can be made ready for queries.
//!
//! `cargo +nightly fuzz run load -- -max_len=200000 -rss_limit_mb=256`, from the project's root; `.feeler`
//! files made by `feeler preprocess data -o fuzz/corpus/load` are a good start.
#![no_main]

use feeler_hierarchy::file::{FORMAT_VERSION, decode, with_version};
use libfuzzer_sys::fuzz_target;

/// Length of a file's header, and where it holds the length of the rest.
const HEADER: usize = 64;
const LENGTH: std::ops::Range<usize> = 16..24;

fuzz_target!(|bytes: &[u8]| {
    // As it is: lengths and checksum are met first.
    let _ = decode(bytes);
    // And with a fitting length and checksum, so that what lies behind them is met, too.
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
