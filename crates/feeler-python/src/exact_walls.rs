//! Exact walls for particles. Arguments are arrays, results structured arrays.

use crate::arrays::rows;
use crate::error::query;
use crate::exclusive::Exclusive;
use crate::model::Body;
use crate::pose;
use crate::record::{WallContact, array};
use feeler::P3;
use feeler::particles::{ProximityCache, Sphere, SuperellipsoidParticle, WallContacts};
use feeler_c::numbered_wall_contacts;
use numpy::PyArray1;
use pyo3::prelude::*;

/// Wall for particles: an exact solid at a pose.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct ExactWall(pub(crate) Exclusive<State>);

/// Wall with the results of its last query.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) wall: feeler::particles::ExactWall,
    caches: Vec<ProximityCache>,
    out: WallContacts,
}

#[pymethods]
impl ExactWall {
    #[new]
    #[pyo3(signature = (body, pose = None))]
    fn new(body: &Body, pose: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut wall = feeler::particles::ExactWall::new(body.body.clone());
        wall.set_pose(&pose::read(pose)?).map_err(query)?;
        let state = State { wall, caches: Vec::new(), out: WallContacts::new() };
        Ok(Self(Exclusive::new("ExactWall", state)))
    }

    fn set_pose(&self, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.wall.set_pose(&pose::read(Some(pose))?).map_err(query)
    }

    #[pyo3(signature = (centers, radii, reach = 0.0))]
    fn sphere_contacts<'py>(
        &self,
        centers: &Bound<'py, PyAny>,
        radii: &Bound<'py, PyAny>,
        reach: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = &mut *self.0.write()?;
        let py = centers.py();
        let centers = rows::<3>(centers, "centers", None)?;
        let radii = rows::<1>(radii, "radii", Some(centers.len()))?;
        let spheres: Vec<Sphere> = centers
            .iter()
            .zip(&radii)
            .map(|(p, [radius])| Sphere { center: P3::from(*p), radius: *radius })
            .collect();
        let State { wall, caches, out } = this;
        py.detach(|| wall.contacts(&spheres, reach, caches, out)).map_err(query)?;
        records(py, out)
    }

    #[pyo3(signature = (centers, orientations, semi_axes, exponents, reach = 0.0))]
    fn superellipsoid_contacts<'py>(
        &self,
        centers: &Bound<'py, PyAny>,
        orientations: &Bound<'py, PyAny>,
        semi_axes: &Bound<'py, PyAny>,
        exponents: &Bound<'py, PyAny>,
        reach: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = &mut *self.0.write()?;
        let py = centers.py();
        let centers = rows::<3>(centers, "centers", None)?;
        let n = Some(centers.len());
        let turns = rows::<4>(orientations, "orientations", n)?;
        let semi = rows::<3>(semi_axes, "semi_axes", n)?;
        let exponents = rows::<2>(exponents, "exponents", n)?;
        let of = |i: usize| SuperellipsoidParticle::of_numbers(centers[i], turns[i], semi[i], exponents[i]);
        let all: Vec<SuperellipsoidParticle> = (0..centers.len()).map(of).collect();
        let State { wall, caches, out } = this;
        py.detach(|| wall.superellipsoid_contacts(&all, reach, caches, out)).map_err(query)?;
        records(py, out)
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        records(py, &this.out)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let this = &*self.0.read()?;
        Ok(PyArray1::from_slice(py, this.out.offsets()))
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            format!(
                "<ExactWall: {} faces, {} contacts>",
                this.wall.body().hierarchy().faces.len(),
                this.out.contacts().len()
            )
        })
    }
}

/// Records of the contacts of a query.
fn records<'py>(py: Python<'py>, contacts: &WallContacts) -> PyResult<Bound<'py, PyAny>> {
    array(py, numbered_wall_contacts(contacts).map(WallContact).collect())
}
