//! The entries of a suite, done.

use super::reference;
use super::results::{Entry, Found, PairFound, Results, Step};
use super::suite::{PairTask, SolidOf, Suite, Task};
use crate::query::find_instance;
use crate::{pose, verdict};
use anyhow::Context as _;
use feeler_compare::{Minimum, ModelFacts};
use feeler_geom::Pose;
use feeler_hierarchy::Model;
use feeler_import::{self as import, Reading};
use feeler_runtime::{Body, Contact, ContactPair};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// How often a pair is done for its time, the fastest of which counts; a model is prepared once.
const TIMES: usize = 3;

/// A file as it is needed: once for all entries.
type Loaded = BTreeMap<(PathBuf, Key), Result<Arc<Model>, String>>;

/// A way of reading, to sort by.
type Key = (bool, Option<u64>);

fn key(reading: Reading) -> Key {
    (reading.open_shells, reading.unit.map(f64::to_bits))
}

/// Results of all entries. In parallel, unless times are taken.
pub(super) fn all(suite: &Suite, quiet: bool) -> Results {
    let bar = progress(suite.tasks.len(), quiet);
    let unit = suite.time.is_some().then(reference::seconds);
    let loaded = if unit.is_some() { Loaded::new() } else { load_all(suite) };
    let one = |(name, task): (&String, &Task)| {
        let clock = Instant::now();
        let (found, seconds) = entry(task, &loaded, unit.is_some());
        let seconds = seconds.unwrap_or_else(|| clock.elapsed().as_secs_f64());
        bar.inc(1);
        // Paths begin where the suite is, wherever that is.
        let folder = format!("{}/", suite.folder.display());
        let failed = |e: anyhow::Error| Found::Failed(format!("{e:#}").replace(&folder, ""));
        let found = found.unwrap_or_else(failed);
        (name.clone(), Entry { found, time: unit.map(|unit| seconds / unit) })
    };
    let entries = if unit.is_some() {
        suite.tasks.iter().map(one).collect()
    } else {
        suite.tasks.par_iter().map(one).collect()
    };
    bar.finish_and_clear();
    Results::new(entries)
}

fn progress(n: usize, quiet: bool) -> ProgressBar {
    let hidden = quiet || !std::io::stderr().is_terminal();
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(n as u64), target);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} entries, {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Every file that entries need, each once.
fn load_all(suite: &Suite) -> Loaded {
    let mut wanted: BTreeMap<(PathBuf, Key), Reading> = BTreeMap::new();
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
    let one = |((file, key), reading): ((PathBuf, Key), Reading)| {
        let model = read(&file, reading).map(Arc::new).map_err(|e| format!("{e:#}"));
        ((file, key), model)
    };
    wanted.into_par_iter().map(one).collect()
}

fn read(file: &Path, reading: Reading) -> anyhow::Result<Model> {
    Ok(import::load_with(file, reading)?.0)
}

fn model_of(file: &Path, reading: Reading, loaded: &Loaded) -> anyhow::Result<Arc<Model>> {
    match loaded.get(&(file.to_path_buf(), key(reading))) {
        Some(Ok(model)) => Ok(model.clone()),
        Some(Err(e)) => Err(anyhow::anyhow!(e.clone())),
        None => read(file, reading).map(Arc::new),
    }
}

/// What an entry gives, and the seconds that count where not all of its time does.
fn entry(task: &Task, loaded: &Loaded, timed: bool) -> (anyhow::Result<Found>, Option<f64>) {
    match task {
        Task::Model { file, reading, faces } => {
            let clock = Instant::now();
            let model = model_of(file, *reading, loaded);
            let seconds = clock.elapsed().as_secs_f64();
            (model.map(|m| Found::Model(ModelFacts::of(&m, *faces))), Some(seconds))
        }
        Task::Pair(task) => match pair(task, loaded, timed) {
            Ok((found, seconds)) => (Ok(Found::Pair(found)), Some(seconds)),
            Err(e) => (Err(e), None),
        },
    }
}

/// A solid with the pose that its file gives it, and the hash of the file.
fn solid(of: &SolidOf, option: &str, loaded: &Loaded) -> anyhow::Result<(Arc<Body>, Pose, String)> {
    let model = model_of(&of.file, of.reading, loaded)?;
    let file = || of.file.display().to_string();
    let index = find_instance(&model, option, of.solid.as_deref()).with_context(file)?;
    let instance = &model.instances[index];
    let body = Body::new(model.solids[instance.solid as usize].clone()).with_context(file)?;
    Ok((Arc::new(body), instance.pose(), format!("{:016x}", model.input_hash)))
}

fn pair(task: &PairTask, loaded: &Loaded, timed: bool) -> anyhow::Result<(PairFound, f64)> {
    let (a, own_a, hash_a) = solid(&task.a, "solid_a", loaded)?;
    let (b, own_b, hash_b) = solid(&task.b, "solid_b", loaded)?;
    let size = a.size().max(b.size());
    let (mut steps, mut best) = (Vec::new(), f64::INFINITY);
    for _ in 0..if timed { TIMES } else { 1 } {
        let mut pair = ContactPair::new(a.clone(), b.clone());
        steps.clear();
        let mut seconds = 0.0;
        for (k, (pose_a, pose_b)) in task.poses.iter().enumerate() {
            let step_number = || format!("step {k}");
            let poses = pose::composed(&pair, [(*pose_a, own_a), (*pose_b, own_b)], &task.options);
            let [pose_a, pose_b] = poses.with_context(step_number)?;
            let clock = Instant::now();
            pair.query(&pose_a, &pose_b, &task.options).with_context(step_number)?;
            seconds += clock.elapsed().as_secs_f64();
            steps.push(step(&pair));
        }
        best = best.min(seconds);
    }
    Ok((PairFound { inputs: [hash_a, hash_b], size, steps }, best))
}

fn step(pair: &ContactPair) -> Step {
    let minimum = |l: &Contact| Minimum {
        distance: l.distance,
        a: l.local_a.into(),
        b: l.local_b.into(),
        kind: crate::query::contact_kind_name(l.kind).to_owned(),
    };
    let witness = pair.verdict().and_then(|v| v.witness.as_ref());
    Step {
        status: verdict::status_name(pair.status()).to_owned(),
        depth: witness.map(|w| w.inside_a.min(w.inside_b)),
        minima: pair.contacts().iter().map(minimum).collect(),
    }
}
