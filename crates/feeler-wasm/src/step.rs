//! Import of STEP files in the page.

use crate::record::object;
use crate::{Model, thrown};
use feeler::{ImportStage, Severity};
use js_sys::{Array, Function};
use std::sync::Once;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log_error(text: &str);
}

/// Writes the message of a panic to the console, because a panic ends the module without a message.
fn report_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|info| log_error(&info.to_string()))));
}

#[wasm_bindgen]
impl Model {
    /// Imports and prepares a STEP file, which may be compressed (gzip or ZIP), like `feeler preprocess`
    /// with its default options. `name` is the name of the file in messages and in the model. Parts in
    /// other files are skipped. Feature `step`.
    ///
    /// `on_progress` is called at the beginning of each stage with an object that has `stage` ("reading"
    /// or "preparing") and, if a solid is prepared, its `index`, the `count` of distinct solids and the
    /// `name` of the solid. An exception that it throws is ignored.
    #[wasm_bindgen(js_name = fromStep)]
    pub fn from_step(bytes: &[u8], name: &str, on_progress: Option<Function>) -> Result<Model, JsError> {
        report_panics();
        let prepared = feeler::prepare_bytes_with_progress(name, bytes, |stage| {
            if let Some(report) = &on_progress {
                // An exception in the report does not stop the import.
                let _ = report.call1(&JsValue::UNDEFINED, &stage_record(stage));
            }
        });
        prepared.map(Self).map_err(thrown)
    }

    /// Returns the bytes of the `.feeler` file of the model.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Result<Vec<u8>, JsError> {
        self.0.to_bytes().map_err(thrown)
    }

    /// Remarks of the import on repaired, approximated and skipped content, as the program prints them:
    /// an array of texts that begin with `error: `, `warning: ` or `note: `.
    #[wasm_bindgen(getter)]
    pub fn remarks(&self) -> Array {
        let one = |r: &feeler::Remark| -> JsValue { format!("{}: {r}", severity_name(r.severity)).into() };
        self.0.remarks.iter().map(one).collect()
    }
}

/// Name of a severity in the program's messages.
fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Converts a stage of an import.
fn stage_record(stage: ImportStage<'_>) -> JsValue {
    match stage {
        ImportStage::Preparing { index, count, name } => object(&[
            ("stage", "preparing".into()),
            ("index", index.into()),
            ("count", count.into()),
            ("name", name.into()),
        ]),
        _ => object(&[("stage", "reading".into())]),
    }
}
