//! Fuzz target of the STEP reader: for any bytes it must neither panic nor allocate much more memory than
//! their number.
//!
//! `cargo +nightly fuzz run step -- -max_len=20000 -rss_limit_mb=512`, from the project's root; copies of
//! `data/*.step` in `fuzz/corpus/step` are a good initial corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = feeler_step::read_step_bytes("fuzz", bytes);
    // Valid header and end reach the code behind the header.
    let mut file = b"ISO-10303-21;HEADER;FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));ENDSEC;DATA;".to_vec();
    file.extend_from_slice(bytes);
    file.extend_from_slice(b"ENDSEC;END-ISO-10303-21;");
    let _ = feeler_step::read_step_bytes("fuzz", &file);
});
