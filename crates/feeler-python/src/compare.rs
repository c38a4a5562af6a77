//! Differences between versions of models, and between results and recorded ones.

use crate::error::{file, query};
use crate::source::{Fields, Source};
use crate::wait;
use feeler::assembly::regress::EntryComparison;
use feeler::assembly::{ComparisonTolerances, Difference, ModelComparison, compare_models};
use feeler_cli::regress::{Compared, Regression};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;

/// Compares two versions of a model.
#[pyfunction]
#[pyo3(signature = (old, new, length, relative, angle))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    old: Source,
    new: Source,
    length: f64,
    relative: f64,
    angle: f64,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(bad) = [length, relative, angle].into_iter().find(|x| !(x.is_finite() && *x >= 0.0)) {
        return Err(query(format!("{bad} is not a valid tolerance; give a number of at least 0")));
    }
    let tolerances = ComparisonTolerances { length, relative, angle };
    let found: ModelComparison = wait::run(py, None, None, move |progress| {
        old.with(|old| {
            if progress.is_stopped() {
                return Err(wait::stopped());
            }
            new.with(|new| Ok(compare_models(old, new, &tolerances)))
        })
    })?;
    let parts = found.parts;
    Fields::new(py)
        .set("same_count", parts.same)?
        .set("added_count", parts.added)?
        .set("removed_count", parts.removed)?
        .set("renamed_count", parts.renamed)?
        .set("moved_count", parts.moved)?
        .set("changed_count", parts.changed)?
        .set("differences", differences(py, &found.differences)?)?
        .build("ModelComparison")
}

/// Compares the entries of a suite with golden results, or records them with `bless`.
#[pyfunction]
#[pyo3(signature = (suite, only, bless, threads, progress))]
pub(crate) fn regress<'py>(
    py: Python<'py>,
    suite: PathBuf,
    only: Vec<String>,
    bless: bool,
    threads: Option<u16>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (compared, golden, recorded) = wait::run(py, progress, threads, move |progress| {
        let regression = Regression::open(&suite, &only, bless).map_err(file)?;
        let found = regression.measure(progress, true).ok_or_else(wait::stopped)?;
        let golden = regression.golden().display().to_string();
        let compared: Compared = regression.compare(&found);
        let recorded = if bless { Some(regression.record(found).map_err(file)?) } else { None };
        Ok((compared, golden, recorded))
    })?;
    let entry = |entry: &EntryComparison| {
        Fields::new(py)
            .set("name", &entry.name)?
            .set("differences", differences(py, &entry.differences)?)?
            .set("more_count", entry.more)?
            .set("other_input", entry.other_input)?
            .build("EntryComparison")
    };
    let entries: Vec<_> = compared.entries.iter().map(entry).collect::<PyResult<_>>()?;
    Fields::new(py)
        .set("entries", PyTuple::new(py, entries)?)?
        .set("stale", PyTuple::new(py, &compared.stale)?)?
        .set("without_golden_count", compared.without_golden)?
        .set("other_program", compared.other_program)?
        .set("golden", golden)?
        .set("recorded_count", recorded)?
        .set("seconds", compared.duration.as_secs_f64())?
        .build("RegressReport")
}

fn differences<'py>(py: Python<'py>, all: &[Difference]) -> PyResult<Bound<'py, PyTuple>> {
    let one = |d: &Difference| {
        Fields::new(py)
            .set("kind", d.kind.name())?
            .set("subject", &d.subject)?
            .set("what", &d.what)?
            .build("Difference")
    };
    PyTuple::new(py, all.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}
