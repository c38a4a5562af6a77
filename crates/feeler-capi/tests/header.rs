//! The header is the one that the code makes.

use std::path::Path;

/// `FEELER_BLESS=1 cargo test -p feeler-capi --test header` writes it anew.
#[test]
fn header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    let made = cbindgen::Builder::new()
        .with_src(folder.join("src/lib.rs"))
        .with_config(config)
        .generate()
        .expect("the crate has a C interface");
    let mut text = Vec::new();
    made.write(&mut text);
    // What Rust calls safety stands in the words before it.
    let text = String::from_utf8(text).expect("UTF-8").replace(" * # Safety\n", " * The pointers:\n");
    let path = folder.join("include/feeler.h");
    if std::env::var_os("FEELER_BLESS").is_some() {
        std::fs::write(&path, text).expect("the folder can be written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "include/feeler.h is out of date: run this test with FEELER_BLESS=1");
}
