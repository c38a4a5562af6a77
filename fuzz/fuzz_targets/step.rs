//! The reader of STEP text: whatever the bytes, it neither panics nor takes more memory than their number
//! explains.
//!
//! `cargo +nightly fuzz run step -- -max_len=20000 -rss_limit_mb=512`, from the project's root; copies of
//! `data/*.step` in `fuzz/corpus/step` are a good start.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = feeler_step::read_step_bytes("fuzz", bytes);
    // And as the data of a file that is in order otherwise, so that what lies behind the header is met, too.
    let mut file = b"ISO-10303-21;HEADER;FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));ENDSEC;DATA;".to_vec();
    file.extend_from_slice(bytes);
    file.extend_from_slice(b"ENDSEC;END-ISO-10303-21;");
    let _ = feeler_step::read_step_bytes("fuzz", &file);
});
