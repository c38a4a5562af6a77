//! Runs the entries of a suite.

use super::suite::{PairTask, SolidSource, Suite, Task};
use crate::progress;
use crate::query::find_instance;
use anyhow::Context as _;
use feeler_assembly::regress::{
    Entries, EntryOutcome, EntryResult, PairFacts, measure_pair, reference_seconds,
};
use feeler_assembly::{AssemblyPart, ModelFacts, Progress};
use feeler_hierarchy::Model;
use feeler_import::{self as import, Reading};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Number of times that the queries of a pair are run if times are compared; the fastest run counts. A
/// model is loaded only once. A larger value takes more time; a smaller one is less exact on a busy
/// machine.
const REPETITIONS: usize = 3;

/// Models, or the errors of loading them, by file and options of reading. Each model is loaded once for
/// all entries.
type LoadedModels = BTreeMap<(PathBuf, ReadingKey), Result<Arc<Model>, String>>;

/// Options of reading in a form that can be a key: whether open shells are read, and the bits of the
/// unit.
type ReadingKey = (bool, Option<u64>);

fn key(reading: Reading) -> ReadingKey {
    (reading.open_shells, reading.unit.map(f64::to_bits))
}

/// Computes the results of all entries of a suite. Entries are computed in parallel unless the suite
/// compares times. Returns `None` if `progress` was stopped.
pub(super) fn run_entries(suite: &Suite, progress: &Progress, quiet: bool) -> Option<Entries> {
    progress.set_total(suite.tasks.len());
    let bar = progress::bar(suite.tasks.len(), progress::ENTRIES, !quiet);
    let unit = suite.time.is_some().then(reference_seconds);
    let loaded = if unit.is_some() { LoadedModels::new() } else { load_models(suite, progress) };
    let one = |(name, task): (&String, &Task)| {
        if progress.is_stopped() {
            return None;
        }
        let clock = Instant::now();
        let (found, seconds) = run_entry(task, &loaded, unit.is_some());
        let seconds = seconds.unwrap_or_else(|| clock.elapsed().as_secs_f64());
        bar.inc(1);
        progress.advance(1);
        // Paths in errors are relative to the suite, so that they do not depend on the working directory.
        let folder = format!("{}/", suite.folder.display());
        let failed = |e: anyhow::Error| EntryOutcome::Failed(format!("{e:#}").replace(&folder, ""));
        let found = found.unwrap_or_else(failed);
        Some((name.clone(), EntryResult { found, time: unit.map(|unit| seconds / unit) }))
    };
    let entries = if unit.is_some() {
        suite.tasks.iter().map(one).collect()
    } else {
        suite.tasks.par_iter().map(one).collect()
    };
    bar.finish_and_clear();
    entries
}

/// Loads the files of all entries. Once `progress` is stopped, the remaining files are omitted.
fn load_models(suite: &Suite, progress: &Progress) -> LoadedModels {
    let mut wanted: BTreeMap<(PathBuf, ReadingKey), Reading> = BTreeMap::new();
    for task in suite.tasks.values() {
        match task {
            Task::Model { file, reading, .. } => {
                wanted.insert((file.clone(), key(*reading)), *reading);
            }
            Task::Pair(pair) => {
                wanted.extend([&pair.a, &pair.b].map(|s| ((s.file.clone(), key(s.reading)), s.reading)));
            }
        }
    }
    let one = |((file, key), reading): ((PathBuf, ReadingKey), Reading)| {
        if progress.is_stopped() {
            return None;
        }
        let model = read(&file, reading).map(Arc::new).map_err(|e| format!("{e:#}"));
        Some(((file, key), model))
    };
    wanted.into_par_iter().filter_map(one).collect()
}

fn read(file: &Path, reading: Reading) -> anyhow::Result<Model> {
    Ok(import::load_with(file, reading)?.0)
}

fn model_of(file: &Path, reading: Reading, loaded: &LoadedModels) -> anyhow::Result<Arc<Model>> {
    match loaded.get(&(file.to_path_buf(), key(reading))) {
        Some(Ok(model)) => Ok(model.clone()),
        Some(Err(e)) => Err(anyhow::anyhow!(e.clone())),
        None => read(file, reading).map(Arc::new),
    }
}

/// Computes the result of an entry, and the duration (s) that counts for comparisons of times: that of
/// loading a model, or that of the queries of a pair. The duration is `None` if a pair failed; then the
/// caller measures the whole call. `timed`: whether times are compared, so that queries are repeated.
fn run_entry(task: &Task, loaded: &LoadedModels, timed: bool) -> (anyhow::Result<EntryOutcome>, Option<f64>) {
    match task {
        Task::Model { file, reading, faces } => {
            let clock = Instant::now();
            let model = model_of(file, *reading, loaded);
            let seconds = clock.elapsed().as_secs_f64();
            (model.map(|m| EntryOutcome::Model(ModelFacts::of(&m, *faces))), Some(seconds))
        }
        Task::Pair(task) => match run_pair(task, loaded, timed) {
            Ok((facts, seconds)) => (Ok(EntryOutcome::Pair(facts)), Some(seconds)),
            Err(e) => (Err(e), None),
        },
    }
}

/// Loads a solid and returns it with the hash of its file.
fn solid(
    source: &SolidSource,
    option: &str,
    loaded: &LoadedModels,
) -> anyhow::Result<(AssemblyPart, String)> {
    let model = model_of(&source.file, source.reading, loaded)?;
    let file = || source.file.display().to_string();
    let index = find_instance(&model, option, source.solid.as_deref()).with_context(file)?;
    let part = AssemblyPart::from_instance(&model, index).with_context(file)?;
    Ok((part, format!("{:016x}", model.input_hash)))
}

fn run_pair(task: &PairTask, loaded: &LoadedModels, timed: bool) -> anyhow::Result<(PairFacts, f64)> {
    let (a, hash_a) = solid(&task.a, "solid_a", loaded)?;
    let (b, hash_b) = solid(&task.b, "solid_b", loaded)?;
    let repetitions = if timed { REPETITIONS } else { 1 };
    let (steps, seconds) = measure_pair([&a, &b], &task.poses, &task.options, repetitions)?;
    Ok((PairFacts { inputs: [hash_a, hash_b], size: a.body.size().max(b.body.size()), steps }, seconds))
}
