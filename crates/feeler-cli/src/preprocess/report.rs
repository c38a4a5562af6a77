//! Results of the inputs, as members of the JSON document that docs/INTERFACE.md specifies under
//! "preprocess".

use super::gate;
use super::groups::{Group, Severities, groups_of};
use feeler_hierarchy::Model;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Result of one input.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) path: String,
    pub(super) ok: bool,
    /// Whether the output was up to date, so that nothing was prepared.
    pub(super) unchanged: bool,
    pub(super) output: Option<String>,
    /// Hash of the bytes of the input file; `None` if the file could not be read.
    pub(super) input_hash: Option<String>,
    pub(super) options: ReportOptions,
    pub(super) solids: usize,
    pub(super) instances: usize,
    pub(super) faces: u64,
    /// Total area of all instances (mm²); `None` if nothing was prepared.
    pub(super) area: Option<f64>,
    /// Total volume of all instances (mm³); `None` if nothing was prepared.
    pub(super) volume: Option<f64>,
    pub(super) bytes: u64,
    pub(super) warnings: Vec<String>,
    pub(super) severities: Severities,
    pub(super) warning_groups: Vec<Group>,
    pub(super) error: Option<String>,
    pub(super) wall_s: f64,
}

/// Options with which the input was read and prepared.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct ReportOptions {
    pub(super) flatness: f64,
    pub(super) open_shells: bool,
    /// Unit of the coordinates (mm), if `--unit` states it; `None` for the unit in the file.
    pub(super) unit: Option<f64>,
}

impl Report {
    /// Stores the results for a prepared model, whose `.feeler` file has `bytes` bytes.
    pub(super) fn prepared(&mut self, model: &Model, bytes: u64) {
        let left_out = model.left_out();
        self.ok = left_out.is_empty();
        self.error = (!self.ok).then(|| format!("{}: {}", self.path, left_out.join("; ")));
        self.solids = model.solids.len();
        self.instances = model.instances.len();
        self.faces = model.solids.iter().map(|s| u64::from(s.info.source_counts[0])).sum();
        let placed = || model.instances.iter().map(|i| &model.solids[i.solid as usize].info);
        self.area = Some(placed().map(|s| s.area).sum());
        self.volume = Some(placed().map(|s| s.volume).sum());
        self.bytes = bytes;
        self.warnings = model.remarks.iter().map(ToString::to_string).collect();
        self.severities = Severities::of(&model.remarks);
        self.warning_groups = groups_of(&model.remarks);
    }

    /// Stores the error of an input from which nothing was prepared.
    pub(super) fn failed(&mut self, error: String) {
        self.severities.error = 1;
        self.error = Some(error);
    }

    /// Result in one word: `unchanged`, `ok`, `partly` or `failed`.
    pub(super) fn result(&self) -> &'static str {
        match (self.ok, self.unchanged, &self.output) {
            (true, true, _) => "unchanged",
            (true, false, _) => "ok",
            (false, _, Some(_)) => "partly",
            (false, _, None) => "failed",
        }
    }

    /// Whether the input has remarks or an error.
    pub(super) fn has_remarks(&self) -> bool {
        self.error.is_some() || !self.warning_groups.is_empty()
    }
}

/// Totals of a run.
pub(super) struct Summary {
    pub(super) inputs: usize,
    pub(super) prepared: usize,
    pub(super) unchanged: usize,
    pub(super) failed: usize,
    pub(super) severities: Severities,
    wall: Duration,
    peak_memory: Option<u64>,
}

impl Summary {
    pub(super) fn new(reports: &[Report], wall: Duration) -> Self {
        let count = |f: fn(&Report) -> bool| reports.iter().filter(|r| f(r)).count();
        let mut severities = Severities::default();
        reports.iter().for_each(|r| severities += r.severities);
        Self {
            inputs: reports.len(),
            prepared: count(|r| r.ok && !r.unchanged),
            unchanged: count(|r| r.ok && r.unchanged),
            failed: count(|r| !r.ok),
            severities,
            wall,
            peak_memory: gate::peak_memory(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts in a report")]
    fn rate(&self) -> f64 {
        self.inputs as f64 / self.wall.as_secs_f64().max(1e-9)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "inputs": self.inputs,
            "prepared": self.prepared,
            "unchanged": self.unchanged,
            "failed": self.failed,
            "severities": self.severities,
            "wall_s": self.wall.as_secs_f64(),
            "inputs_per_s": self.rate(),
            "peak_memory_bytes": self.peak_memory,
        })
    }

    pub(super) fn text(&self) -> String {
        let memory = self
            .peak_memory
            .map_or_else(String::new, |b| format!("; peak memory {} MiB", b.div_ceil(1 << 20)));
        format!(
            "{} inputs: {} prepared, {} unchanged, {} failed; {:.1} s, {:.1} inputs/s{memory}",
            self.inputs,
            self.prepared,
            self.unchanged,
            self.failed,
            self.wall.as_secs_f64(),
            self.rate()
        )
    }
}
