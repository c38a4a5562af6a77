//! Grains and particles of `GrainForces` among deformable bodies.

use super::failed;
use super::handle::Simulation;
use super::simulation::failed_step;
use crate::error::{SceneError, query};
use crate::exclusive::Exclusive;
use crate::grains::GrainForces;
use crate::wait::CHECK_INTERVAL;
use feeler::particles::{CouplingError, DeformableCoupling, ParticleId};
use pyo3::prelude::*;
use std::time::Instant;

/// Grains that touch the bodies of a simulation, and steps that advance both.
#[pyclass(module = "feeler.deformable", frozen)]
#[derive(Debug)]
pub(crate) struct GrainCoupling {
    grains: Py<GrainForces>,
    simulation: Py<Simulation>,
    coupling: Exclusive<DeformableCoupling>,
}

fn failed_coupling(e: CouplingError) -> PyErr {
    match e {
        CouplingError::Particles(e) => query(e),
        CouplingError::Deformable(e) => failed_step(e),
        CouplingError::Particle(particle) => SceneError::new_err(format!(
            "grain {}: it does not exist, was removed, is coupled already, or is not coupled",
            particle.index()
        )),
        e => query(e),
    }
}

#[pymethods]
impl GrainCoupling {
    #[new]
    fn new(grains: Py<GrainForces>, simulation: Py<Simulation>) -> Self {
        let coupling = Exclusive::new("GrainCoupling", DeformableCoupling::new());
        Self { grains, simulation, coupling }
    }

    fn add(&self, grain: usize) -> PyResult<usize> {
        let (grains, state) = (self.grains.get().0.read()?, &mut *self.simulation.get().0.write()?);
        let mut coupling = self.coupling.write()?;
        let added = coupling.add(&grains.simulation, ParticleId::new(grain), &mut state.simulation);
        let id = added.map_err(|e| match e {
            CouplingError::Deformable(e) => failed(e),
            e => failed_coupling(e),
        })?;
        state.ids.push(id);
        Ok(id.index())
    }

    fn remove(&self, grain: usize) -> PyResult<usize> {
        let state = &mut *self.simulation.get().0.write()?;
        let removed = self.coupling.write()?.remove(ParticleId::new(grain), &mut state.simulation);
        Ok(removed.map_err(failed_coupling)?.index())
    }

    #[pyo3(signature = (step, steps = 1))]
    fn step(&self, py: Python<'_>, step: f64, steps: u64) -> PyResult<()> {
        let (mut grains, mut state) = (self.grains.get().0.write()?, self.simulation.get().0.write()?);
        let coupling = &mut *self.coupling.write()?;
        let (particles, deformables) = (&mut grains.simulation, &mut state.simulation);
        let mut count = 0;
        while count < steps {
            let done: Result<(), CouplingError> = py.detach(|| {
                let start = Instant::now();
                while count < steps && start.elapsed() < CHECK_INTERVAL {
                    coupling.step(particles, deformables, step)?;
                    count += 1;
                }
                Ok(())
            });
            done.map_err(failed_coupling)?;
            py.check_signals()?;
        }
        Ok(())
    }

    fn body(&self, grain: usize) -> PyResult<Option<usize>> {
        Ok(self.coupling.read()?.body(ParticleId::new(grain)).map(|id| id.index()))
    }

    fn load(&self, grain: usize) -> PyResult<([f64; 3], [f64; 3])> {
        let coupling = self.coupling.read()?;
        let particle = ParticleId::new(grain);
        let load =
            coupling.load(particle).ok_or_else(|| failed_coupling(CouplingError::Particle(particle)))?;
        Ok((load.force.into(), load.moment.into()))
    }

    fn __repr__(&self) -> String {
        "<GrainCoupling>".to_owned()
    }
}
