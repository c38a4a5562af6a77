//! Owners of bodies: objects in Python, and simulations.

use super::failed;
use crate::error::SceneError;
use crate::exclusive::Exclusive;
use feeler::deformable::{self, Body, BodyId, DeformableError};
use feeler::{P3, Pose, V3};
use pyo3::prelude::*;

/// Bodies in contact, which move by explicit central differences.
#[pyclass(module = "feeler.deformable", frozen)]
#[derive(Debug)]
pub(crate) struct Simulation(pub(super) Exclusive<State>);

/// Simulation with the ids of its bodies.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) simulation: deformable::Simulation,
    pub(super) ids: Vec<BodyId>,
}

impl Simulation {
    /// Creates the object of a simulation without bodies.
    pub(super) fn of(simulation: deformable::Simulation) -> Self {
        Self(Exclusive::new("Simulation", State { simulation, ids: Vec::new() }))
    }

    /// Copies the simulation with its bodies.
    pub(super) fn copied(&self) -> PyResult<Self> {
        Ok(Self(Exclusive::new("Simulation", self.0.read()?.clone())))
    }
}

/// Kind of bodies.
pub(super) trait Kind: Clone + Into<Body> {
    /// Name of the class in Python.
    const CLASS: &'static str;

    /// Body of this kind with an id.
    fn of(simulation: &deformable::Simulation, id: BodyId) -> Option<&Self>;

    /// Changes the body with an id.
    fn change(
        simulation: &mut deformable::Simulation,
        id: BodyId,
        change: impl FnOnce(&mut Self) -> Result<(), DeformableError>,
    ) -> Result<(), DeformableError>;
}

impl Kind for deformable::DeformableBody {
    const CLASS: &'static str = "DeformableBody";

    fn of(simulation: &deformable::Simulation, id: BodyId) -> Option<&Self> {
        simulation.deformable(id)
    }

    fn change(
        simulation: &mut deformable::Simulation,
        id: BodyId,
        change: impl FnOnce(&mut Self) -> Result<(), DeformableError>,
    ) -> Result<(), DeformableError> {
        simulation.change_deformable(id, change)
    }
}

impl Kind for deformable::RigidBody {
    const CLASS: &'static str = "RigidBody";

    fn of(simulation: &deformable::Simulation, id: BodyId) -> Option<&Self> {
        simulation.rigid(id)
    }

    fn change(
        simulation: &mut deformable::Simulation,
        id: BodyId,
        change: impl FnOnce(&mut Self) -> Result<(), DeformableError>,
    ) -> Result<(), DeformableError> {
        simulation.change_rigid(id, change)
    }
}

/// Owner of a body.
#[derive(Debug)]
enum Owner<T> {
    /// The object in Python owns the body, which is not part of a simulation.
    Object(Box<T>),
    /// A simulation owns the body.
    Simulation(Py<Simulation>, BodyId),
}

/// Body of an object in Python, wherever it is stored.
#[derive(Debug)]
pub(super) struct Handle<T>(Exclusive<Owner<T>>);

impl<T: Kind> Handle<T> {
    pub(super) fn new(body: T) -> Self {
        Self(Exclusive::new(T::CLASS, Owner::Object(Box::new(body))))
    }

    /// Handle of a body of a simulation.
    pub(super) fn of_simulation(simulation: Py<Simulation>, id: BodyId) -> Self {
        Self(Exclusive::new(T::CLASS, Owner::Simulation(simulation, id)))
    }

    pub(super) fn read<R>(&self, of: impl FnOnce(&T) -> R) -> PyResult<R> {
        match &*self.0.read()? {
            Owner::Object(body) => Ok(of(body)),
            Owner::Simulation(simulation, id) => {
                let state = simulation.get().0.read()?;
                let body = T::of(&state.simulation, *id);
                Ok(of(body.ok_or_else(|| failed(DeformableError::UnknownBody(id.index())))?))
            }
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut T) -> Result<(), DeformableError>) -> PyResult<()> {
        match &mut *self.0.write()? {
            Owner::Object(body) => change(body),
            Owner::Simulation(simulation, id) => {
                T::change(&mut simulation.get().0.write()?.simulation, *id, change)
            }
        }
        .map_err(failed)
    }

    /// Index of the body in its simulation.
    pub(super) fn index(&self) -> PyResult<Option<usize>> {
        match &*self.0.read()? {
            Owner::Object(_) => Ok(None),
            Owner::Simulation(_, id) => Ok(Some(id.index())),
        }
    }

    /// Moves the body to a simulation; `add` adds it.
    pub(super) fn add_to(
        &self,
        simulation: &Bound<'_, Simulation>,
        add: impl FnOnce(Body) -> PyResult<BodyId>,
    ) -> PyResult<BodyId> {
        let mut owner = self.0.write()?;
        let Owner::Object(body) = &*owner else {
            return Err(SceneError::new_err("the body is already in a simulation; create another one"));
        };
        let id = add((**body).clone().into())?;
        *owner = Owner::Simulation(simulation.clone().unbind(), id);
        Ok(id)
    }

    pub(super) fn describe(&self, text: impl FnOnce(&T) -> String) -> String {
        self.read(text).unwrap_or_else(|_| format!("<{}: in use by another thread>", T::CLASS))
    }
}

impl Handle<deformable::RigidBody> {
    /// Prescribes the pose at the end of the next step: the position of the centre and the rotation, with the
    /// velocities there. The forces of a simulation remain valid.
    pub(super) fn move_to(&self, pose: &Pose, velocity: V3, angular_velocity: V3) -> PyResult<()> {
        let center = P3::from(pose.translation.vector);
        match &mut *self.0.write()? {
            Owner::Object(body) => body.move_to(center, pose.rotation, velocity, angular_velocity),
            Owner::Simulation(simulation, id) => {
                let simulation = &mut simulation.get().0.write()?.simulation;
                simulation.move_rigid(*id, center, pose.rotation, velocity, angular_velocity)
            }
        }
        .map_err(failed)
    }
}
