//! Writes the package that a web page loads: modules, and in the folder `classic` a script for pages
//! that cannot load modules, such as pages opened from disk.
//!
//! ```text
//! cargo build --release -p feeler-wasm --target wasm32-unknown-unknown
//! cargo run -p feeler-wasm --example package -- target/wasm32-unknown-unknown/release/feeler_wasm.wasm OUT
//! ```

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [wasm, out] = args.as_slice() else {
        return Err("arguments: the .wasm file and the output folder".into());
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(wasm).web(true)?.omit_default_module_path(false);
    bindgen.typescript(true).out_name("feeler").generate(out)?;
    let mut classic = wasm_bindgen_cli_support::Bindgen::new();
    classic.input_path(wasm).no_modules(true)?.typescript(false).out_name("feeler");
    classic.generate(std::path::Path::new(out).join("classic"))?;
    Ok(())
}
