//! Pouring of grains, as values.

use crate::error::file;
use crate::source::Fields;
use crate::wait;
use feeler::assembly::Progress;
use feeler::pour::{PourRun, PourScene, PourSummary};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Scene of a simulation, checked and ready to run.
#[pyclass(name = "PourScene", module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Scene {
    scene: PourScene,
    /// Text of the scene and the folder of its files, for pickling.
    text: String,
    folder: PathBuf,
}

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (text, folder = PathBuf::new()))]
    fn new(py: Python<'_>, text: String, folder: PathBuf) -> PyResult<Self> {
        wait::run(py, None, None, move |_| {
            let scene = PourScene::parse(&text, &folder).map_err(file)?;
            Ok(Self { scene, text, folder })
        })
    }

    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        wait::run(py, None, None, move |_| {
            let name = path.display();
            let text =
                std::fs::read_to_string(&path).map_err(|e| file(format!("{name}: cannot be read: {e}")))?;
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let scene = PourScene::parse(&text, &folder).map_err(|e| file(format!("{name}: {e}")))?;
            Ok(Self { scene, text, folder })
        })
    }

    #[getter]
    fn notes(&self) -> &[String] {
        self.scene.notes()
    }

    #[getter]
    fn outflow_names(&self) -> Vec<&str> {
        self.scene.outflow_names().collect()
    }

    #[getter]
    fn time_step(&self) -> f64 {
        self.scene.times().step
    }

    #[getter]
    fn row_count(&self) -> u64 {
        self.scene.times().rows
    }

    #[getter]
    fn duration(&self) -> f64 {
        let times = self.scene.times();
        times.time_of_row(times.rows)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String, PathBuf)) {
        let this = slf.get();
        (slf.get_type().into_any(), (this.text.clone(), this.folder.clone()))
    }

    fn __repr__(&self) -> String {
        format!("<PourScene: {} s in {} rows>", self.duration(), self.row_count())
    }
}

/// Runs of this process: their folders and progress.
static RUNS: Mutex<Vec<(PathBuf, Arc<Progress>)>> = Mutex::new(Vec::new());

/// Time between two checks whether an interrupted run has ended. With a larger value, the next run starts
/// later; with a smaller one, waiting takes more processor time.
const ENDED_INTERVAL: Duration = Duration::from_millis(5);

/// Entry of a run in [`RUNS`], which is removed when the run ends.
struct Registered(Arc<Progress>);

impl Registered {
    /// Adds a run to [`RUNS`]. If an interrupted run still writes its last row to the folder, the function
    /// waits until it ends.
    fn new(folder: &Path, progress: &Arc<Progress>) -> Self {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        loop {
            let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
            let is_ending = runs.iter().any(|(other, run)| *other == folder && run.is_stopped());
            if !is_ending || progress.is_stopped() {
                runs.push((folder, progress.clone()));
                return Self(progress.clone());
            }
            drop(runs);
            std::thread::sleep(ENDED_INTERVAL);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|(_, run)| !Arc::ptr_eq(run, &self.0));
    }
}

/// Runs a scene until its end. If `progress` is stopped, the current row is finished and a checkpoint is
/// written, from which the next run continues.
fn simulate(scene: &PourScene, folder: &Path, fresh: bool, progress: &Arc<Progress>) -> PyResult<Results> {
    let _registered = Registered::new(folder, progress);
    let mut run = PourRun::open(scene, folder, fresh).map_err(file)?;
    progress.set_total(usize::try_from(scene.times().rows).unwrap_or(usize::MAX));
    progress.advance(usize::try_from(run.row()).unwrap_or(usize::MAX));
    while !run.is_finished() {
        if progress.is_stopped() {
            run.save().map_err(file)?;
            return Err(wait::stopped());
        }
        run.advance().map_err(file)?;
        progress.advance(1);
    }
    let series = run.series().map_err(file)?;
    let flow = series.mass_flow(scene);
    let columns = series.names().iter().map(|name| (name.clone(), series.column(name).to_vec())).collect();
    Ok((run.summary(), columns, flow))
}

/// Results of a run: its summary, the names and values of the columns of its series, and its mass flow.
type Results = (PourSummary, Vec<(String, Vec<f64>)>, Vec<f64>);

/// Simulates a scene, and writes rows, frames and checkpoints to a folder.
#[pyfunction]
#[pyo3(signature = (scene, folder, fresh, threads, progress))]
pub(crate) fn pour<'py>(
    py: Python<'py>,
    scene: Py<Scene>,
    folder: PathBuf,
    fresh: bool,
    threads: Option<u16>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (of_scene, of_run) = (scene.clone_ref(py), folder.clone());
    let (summary, columns, flow) = wait::run(py, progress, threads, move |progress| {
        simulate(&of_scene.get().scene, &of_run, fresh, progress)
    })?;
    let series = PyDict::new(py);
    for (name, values) in columns {
        series.set_item(name, PyArray1::from_vec(py, values))?;
    }
    let outflow = |o: &feeler::pour::Outflow| {
        Fields::new(py).set("name", &o.name)?.set("count", o.count)?.set("mass", o.mass)?.build("Outflow")
    };
    let outflows: Vec<_> = summary.outflows.iter().map(outflow).collect::<PyResult<_>>()?;
    Fields::new(py)
        .set("folder", folder)?
        .set("time", summary.time)?
        .set("particle_count", summary.count)?
        .set("mass", summary.mass)?
        .set("kinetic_energy", summary.kinetic_energy)?
        .set("potential_energy", summary.potential_energy)?
        .set("outflows", PyTuple::new(py, outflows)?)?
        .set("blocked_sources", PyTuple::new(py, &summary.blocked_sources)?)?
        .set("series", series)?
        .set("mass_flow", PyArray1::from_vec(py, flow))?
        .set("notes", PyTuple::new(py, scene.get().scene.notes())?)?
        .build("PourReport")
}
