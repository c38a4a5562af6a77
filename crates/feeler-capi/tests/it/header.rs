//! `include/feeler.h` is the header that cbindgen generates from the crate.

use std::path::Path;

/// `FEELER_BLESS=1 cargo test -p feeler-capi --test it header::` writes the header.
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
    // The conventions on pointers are at the top of the header.
    let safety = "\n\n # Safety\n Pointers follow the conventions of the [crate].\n";
    let text = String::from_utf8(text).expect("UTF-8").replace(safety, "\n");
    let text = text.replace("[`feeler_last_error`]", "`feeler_last_error`");
    assert!(!text.contains("Safety") && !text.contains("[crate]"), "a function states other conventions");
    let path = folder.join("include/feeler.h");
    if std::env::var_os("FEELER_BLESS").is_some() {
        std::fs::write(&path, text).expect("the folder can be written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "include/feeler.h is out of date: run this test with FEELER_BLESS=1");
}
