//! Grains, and the forces of grains and walls on particles that an external program integrates.

use crate::arrays::rows;
use crate::error::query;
use crate::exclusive::Exclusive;
use crate::mesh::{Rows, rows as array_of};
use crate::model::Body;
use crate::pose;
use crate::wall_forces::{Law, WallSet as _, move_wall};
use feeler::grains::mass::poly_superellipsoid;
use feeler::nalgebra::{Quaternion, UnitQuaternion};
use feeler::particles::{Particle, ParticleId, Simulation, SimulationSettings};
use feeler::{P3, Pose, V3};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Grain: a superellipsoid or poly-superellipsoid.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Grain(feeler::grains::convex::Grain);

/// Positive and negative semi-axes and exponents of a grain.
type GrainState = ([f64; 3], [f64; 3], [f64; 2]);

#[pymethods]
impl Grain {
    #[staticmethod]
    #[pyo3(signature = (semi_axes, exponents = [1.0, 1.0]))]
    fn superellipsoid(semi_axes: [f64; 3], exponents: [f64; 2]) -> PyResult<Self> {
        feeler::grains::convex::Grain::superellipsoid(V3::from(semi_axes), exponents).map(Self).map_err(query)
    }

    #[staticmethod]
    #[pyo3(signature = (positive, negative, exponents = [1.0, 1.0]))]
    fn poly(positive: [f64; 3], negative: [f64; 3], exponents: [f64; 2]) -> PyResult<Self> {
        let made = feeler::grains::convex::Grain::new(V3::from(positive), V3::from(negative), exponents);
        made.map(Self).map_err(query)
    }

    #[getter]
    fn positive(&self) -> [f64; 3] {
        self.0.shape().positive().into()
    }

    #[getter]
    fn negative(&self) -> [f64; 3] {
        self.0.shape().negative().into()
    }

    #[getter]
    fn exponents(&self) -> [f64; 2] {
        self.0.shape().exponents()
    }

    #[getter]
    fn radius(&self) -> f64 {
        self.0.radius()
    }

    #[getter]
    fn volume(&self) -> PyResult<f64> {
        Ok(poly_superellipsoid(self.0.shape()).map_err(query)?.volume)
    }

    #[getter]
    fn center(&self) -> PyResult<[f64; 3]> {
        Ok(poly_superellipsoid(self.0.shape()).map_err(query)?.centroid.into())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, GrainState)> {
        let this = slf.get();
        let state = (this.positive(), this.negative(), this.exponents());
        Ok((slf.get_type().getattr("poly")?, state))
    }

    fn __repr__(&self) -> String {
        format!("<Grain: {:?}, {:?}, {:?}>", self.positive(), self.negative(), self.exponents())
    }
}

/// Particles and walls with their contact laws. An external program integrates the particles, or the
/// simulation does.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct GrainForces(pub(crate) Exclusive<State>);

/// Simulation and its particles.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) simulation: Simulation,
    particles: Vec<Particle>,
}

impl State {
    fn particle(&self, grain: usize) -> PyResult<&Particle> {
        let none = || query(format!("there is no grain {grain}, only {} of them", self.particles.len()));
        self.particles.get(grain).ok_or_else(none)
    }
}

#[pymethods]
impl GrainForces {
    #[new]
    #[pyo3(signature = (between = None, gravity = [0.0; 3]))]
    fn new(between: Option<&Law>, gravity: [f64; 3]) -> PyResult<Self> {
        if !gravity.iter().all(|g| g.is_finite()) {
            return Err(query("gravity: give three finite numbers in mm/s²"));
        }
        let settings = SimulationSettings { gravity: V3::from(gravity), between: between.map(|law| law.0) };
        let simulation = Simulation::new(settings).map_err(query)?;
        Ok(Self(Exclusive::new("GrainForces", State { simulation, particles: Vec::new() })))
    }

    fn add_grain(&self, grain: &Bound<'_, PyAny>, density: f64) -> PyResult<usize> {
        let this = &mut *self.0.write()?;
        let particle = if let Ok(grain) = grain.cast::<Grain>() {
            Particle::grain(&grain.get().0, density)
        } else if let Ok(body) = grain.cast::<Body>() {
            Particle::solid(&body.get().body, density)
        } else if let Ok(radius) = grain.extract::<f64>() {
            Particle::sphere(radius, density)
        } else {
            return Err(query("a grain is a Grain, a Body, or the radius of a ball in mm"));
        };
        let particle = particle.map_err(query)?;
        let id = this
            .simulation
            .add(particle.clone(), &Pose::identity(), V3::zeros(), V3::zeros())
            .map_err(query)?;
        this.particles.push(particle);
        Ok(id.index())
    }

    fn mass(&self, grain: usize) -> PyResult<f64> {
        let this = &*self.0.read()?;
        Ok(this.particle(grain)?.mass())
    }

    fn moments(&self, grain: usize) -> PyResult<[f64; 3]> {
        let this = &*self.0.read()?;
        Ok(this.particle(grain)?.moments().into())
    }

    fn axes<'py>(&self, py: Python<'py>, grain: usize) -> PyResult<Rows<'py>> {
        let this = &*self.0.read()?;
        Ok(pose::matrix(py, this.particle(grain)?.axes()))
    }

    #[getter]
    fn grains(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.particles.len())
    }

    #[pyo3(signature = (wall, law, pose = None))]
    fn add(&self, wall: &Bound<'_, PyAny>, law: &Law, pose: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
        let this = &mut *self.0.write()?;
        this.simulation.add_wall_at(wall, law, pose)
    }

    fn add_plane(&self, point: [f64; 3], normal: [f64; 3], law: &Law) -> PyResult<usize> {
        let this = &mut *self.0.write()?;
        this.simulation.add_plane_at(point, normal, law)
    }

    fn __len__(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.simulation.wall_count())
    }

    fn set_pose(&self, wall: usize, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.simulation.set_wall_pose(wall, pose)
    }

    fn pose<'py>(&self, py: Python<'py>, wall: usize) -> PyResult<Rows<'py>> {
        let this = &mut *self.0.write()?;
        Ok(pose::matrix(py, this.simulation.wall_at(wall)?.pose()))
    }

    #[pyo3(signature = (wall, velocity = [0.0; 3], spin = [0.0; 3], center = None))]
    fn set_motion(
        &self,
        wall: usize,
        velocity: [f64; 3],
        spin: [f64; 3],
        center: Option<[f64; 3]>,
    ) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        move_wall(this.simulation.wall_at(wall)?, velocity, spin, center)
    }

    fn advance(&self, time: f64) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.simulation.advance_walls(time).map_err(query)
    }

    fn set_motions(
        &self,
        grains: &Bound<'_, PyAny>,
        centers: &Bound<'_, PyAny>,
        rotations: &Bound<'_, PyAny>,
        velocities: &Bound<'_, PyAny>,
        momenta: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let wanted = || query("grains: give one number of a grain for each row");
        let numbers = grains.py().import("numpy")?.call_method1("asarray", (grains, "int64"))?;
        let numbers: PyReadonlyArray1<'_, i64> = numbers.extract().map_err(|_| wanted())?;
        let numbers: Vec<i64> = numbers.as_array().iter().copied().collect();
        let n = Some(numbers.len());
        let (centers, rotations) = (rows::<3>(centers, "centers", n)?, rows::<4>(rotations, "rotations", n)?);
        let velocities = rows::<3>(velocities, "velocities", n)?;
        let momenta = rows::<3>(momenta, "momenta", n)?;
        let all = numbers.iter().zip(centers).zip(rotations).zip(velocities).zip(momenta);
        for ((((number, center), [x, y, z, w]), velocity), momentum) in all {
            let grain = usize::try_from(*number).unwrap_or(usize::MAX);
            this.particle(grain)?;
            let zero = || {
                query(format!("rotations: the quaternion (x, y, z, w) of grain {grain} is 0 or not finite"))
            };
            let rotation = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-6).ok_or_else(zero)?;
            this.simulation
                .set_motion(
                    ParticleId::new(grain),
                    P3::from(center),
                    rotation,
                    V3::from(velocity),
                    V3::from(momentum),
                )
                .map_err(query)?;
        }
        Ok(())
    }

    fn motions<'py>(&self, py: Python<'py>) -> PyResult<(Rows<'py>, Rows<'py>, Rows<'py>, Rows<'py>)> {
        let this = &*self.0.read()?;
        let all = || this.simulation.particle_ids().filter_map(|k| this.simulation.motion(k));
        let values = |q: UnitQuaternion<f64>| [q.i, q.j, q.k, q.w];
        Ok((
            array_of(py, all().map(|m| m.center.into()).collect::<Vec<_>>().into_iter()),
            array_of(py, all().map(|m| values(m.rotation())).collect::<Vec<_>>().into_iter()),
            array_of(py, all().map(|m| m.velocity.into()).collect::<Vec<_>>().into_iter()),
            array_of(py, all().map(|m| m.momentum.into()).collect::<Vec<_>>().into_iter()),
        ))
    }

    fn forces<'py>(&self, py: Python<'py>, time: f64) -> PyResult<(Rows<'py>, Rows<'py>)> {
        let this = &mut *self.0.write()?;
        let simulation = &mut this.simulation;
        let loads = py.detach(|| simulation.contact_loads(time)).map_err(query)?;
        let forces = array_of(py, loads.iter().map(|l| l.force.into()));
        Ok((forces, array_of(py, loads.iter().map(|l| l.moment.into()))))
    }

    #[pyo3(signature = (time, steps = 1))]
    fn step(&self, py: Python<'_>, time: f64, steps: u64) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let simulation = &mut this.simulation;
        py.detach(|| (0..steps).try_for_each(|_| simulation.step(time))).map_err(query)
    }

    fn remove(&self, grain: usize) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.particle(grain)?;
        this.simulation.remove(ParticleId::new(grain));
        Ok(())
    }

    fn force(&self, wall: usize) -> PyResult<[f64; 3]> {
        let this = &*self.0.read()?;
        Ok(this.simulation.load_at(wall)?.force.into())
    }

    fn torque(&self, wall: usize) -> PyResult<[f64; 3]> {
        let this = &*self.0.read()?;
        Ok(this.simulation.load_at(wall)?.moment.into())
    }

    #[getter]
    fn contacts(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.simulation.contact_count())
    }

    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let this = &*self.0.read()?;
        Ok(PyBytes::new(py, &this.simulation.save()))
    }

    fn restore(&self, state: &[u8]) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.simulation.restore(state).map_err(query)
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            format!(
                "<GrainForces: {} grains, {} walls, {} contacts>",
                this.particles.len(),
                this.simulation.wall_count(),
                this.simulation.contact_count()
            )
        })
    }
}
