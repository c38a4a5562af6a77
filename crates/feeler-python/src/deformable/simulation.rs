//! Simulations: bodies, steps, energies and the contact search.

use super::bodies::{DeformableBody, RigidBody};
use super::handle::{Handle, Simulation};
use super::{ContactSettings, failed};
use crate::arrays::{index_list, vector};
use crate::error::{SceneError, query};
use crate::wait::CHECK_INTERVAL;
use feeler::V3;
use feeler::deformable::{self, Body, BodyId, DeformableError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::time::Instant;

/// Converts an error of a step: an invalid step gives a `QueryError`, other errors a `SceneError`.
pub(super) fn failed_step(e: DeformableError) -> PyErr {
    match e {
        DeformableError::Step(_) | DeformableError::UnstableStep { .. } => query(e),
        e => SceneError::new_err(e.to_string()),
    }
}

/// Named tuple that `feeler.deformable` defines.
fn named_tuple<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("feeler.deformable")?.getattr(name)
}

impl Simulation {
    fn add_body(
        slf: &Bound<'_, Self>,
        body: &Bound<'_, PyAny>,
        add: impl FnOnce(&mut deformable::Simulation, Body) -> Result<BodyId, DeformableError>,
    ) -> PyResult<usize> {
        let state = &mut *slf.get().0.write()?;
        let add = |body| add(&mut state.simulation, body).map_err(failed);
        let id = if let Ok(body) = body.cast::<DeformableBody>() {
            body.get().0.add_to(slf, add)
        } else if let Ok(body) = body.cast::<RigidBody>() {
            body.get().0.add_to(slf, add)
        } else {
            let class = body.get_type();
            Err(PyTypeError::new_err(format!("body: expected a DeformableBody or a RigidBody, got {class}")))
        }?;
        state.ids.push(id);
        Ok(id.index())
    }

    /// Steps without the GIL while `is_unfinished` of the time and the number of steps. Signals are handled
    /// between steps. Returns the number of steps.
    fn steps(
        &self,
        py: Python<'_>,
        step: f64,
        is_unfinished: impl Fn(f64, u64) -> bool + Sync,
    ) -> PyResult<u64> {
        let simulation = &mut self.0.write()?.simulation;
        let mut count = 0;
        loop {
            let done = py.detach(|| {
                let start = Instant::now();
                while is_unfinished(simulation.time(), count) {
                    if start.elapsed() >= CHECK_INTERVAL {
                        return Ok(false);
                    }
                    simulation.step(step)?;
                    count += 1;
                }
                Ok(true)
            });
            if done.map_err(failed_step)? {
                return Ok(count);
            }
            py.check_signals()?;
        }
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(settings: &ContactSettings) -> PyResult<Self> {
        deformable::Simulation::new(settings.0).map(Self::of).map_err(failed)
    }

    fn add(slf: &Bound<'_, Self>, body: &Bound<'_, PyAny>) -> PyResult<usize> {
        Self::add_body(slf, body, |simulation, body| simulation.add(body))
    }

    fn add_in_pieces(
        slf: &Bound<'_, Self>,
        body: &Bound<'_, PyAny>,
        pieces: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (_, pieces) = index_list(pieces, "pieces")?;
        Self::add_body(slf, body, |simulation, body| simulation.add_in_pieces(body, &pieces))
    }

    #[getter]
    fn bodies(slf: &Bound<'_, Self>) -> PyResult<Vec<Py<PyAny>>> {
        let py = slf.py();
        let state = slf.get().0.read()?;
        let object = |(&id, body): (&BodyId, &Body)| {
            let simulation = slf.clone().unbind();
            Ok(match body {
                Body::Deformable(_) => {
                    Py::new(py, DeformableBody(Handle::of_simulation(simulation, id)))?.into_any()
                }
                Body::Rigid(_) => Py::new(py, RigidBody(Handle::of_simulation(simulation, id)))?.into_any(),
            })
        };
        state.ids.iter().zip(state.simulation.bodies()).map(object).collect()
    }

    fn set_gravity(&self, gravity: &Bound<'_, PyAny>) -> PyResult<()> {
        let gravity = V3::from(vector::<3>(gravity, "gravity")?);
        self.0.write()?.simulation.set_gravity(gravity).map_err(failed)
    }

    fn stable_step(&self, contacts: u32) -> PyResult<f64> {
        Ok(self.0.read()?.simulation.stable_step(contacts))
    }

    fn step(&self, py: Python<'_>, step: f64) -> PyResult<()> {
        let simulation = &mut self.0.write()?.simulation;
        py.detach(|| simulation.step(step)).map_err(failed_step)
    }

    fn run(&self, py: Python<'_>, steps: u64, step: f64) -> PyResult<()> {
        self.steps(py, step, |_, count| count < steps).map(drop)
    }

    fn run_until(&self, py: Python<'_>, time: f64, step: f64) -> PyResult<u64> {
        if !time.is_finite() {
            return Err(query(format!("the end of the run is {time} s; give a finite time")));
        }
        self.steps(py, step, |now, _| now < time)
    }

    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.0.read()?.simulation.time())
    }

    #[getter]
    fn energies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let e = self.0.read()?.simulation.energies();
        named_tuple(py, "Energies")?.call1((e.kinetic, e.strain, e.contact, e.gravity))
    }

    #[getter]
    fn max_overlap(&self) -> PyResult<f64> {
        Ok(self.0.read()?.simulation.max_overlap())
    }

    #[getter]
    fn search_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let c = self.0.read()?.simulation.search_counts();
        let of_pairs = [c.pair_steps, c.distances, c.trees_built, c.collections, c.feature_tests];
        let of_trees = [c.sorted_features, c.box_updates, c.box_tests];
        let all = of_pairs.into_iter().chain(of_trees).chain([c.signed_distances]);
        named_tuple(py, "SearchCounts")?.call1(PyTuple::new(py, all.collect::<Vec<_>>())?)
    }

    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let class = named_tuple(py, "PairStatus")?;
        let state = self.0.read()?;
        let tuple = |p: deformable::PairStatus| {
            let ([a, b], [c, d]) = (p.bodies, p.pieces);
            class.call1(((a, b), (c, d), p.bound, p.is_active))
        };
        state.simulation.pairs().map(tuple).collect()
    }

    fn exact_distance(&self, pair: usize) -> PyResult<f64> {
        let state = self.0.read()?;
        let unknown = || {
            let count = state.simulation.pairs().count();
            SceneError::new_err(format!(
                "pair {pair} does not exist: the simulation has {count} pairs of pieces"
            ))
        };
        state.simulation.exact_distance(pair).ok_or_else(unknown)
    }

    fn __copy__(&self) -> PyResult<Self> {
        self.copied()
    }

    fn __repr__(&self) -> String {
        self.0.describe(|state| {
            format!("<Simulation: {} bodies, time {} s>", state.ids.len(), state.simulation.time())
        })
    }
}
