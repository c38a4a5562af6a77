//! Deformable and rigid bodies.

use super::handle::Handle;
use super::{Material, Mesh, check_memory, exact, failed, table};
use crate::arrays::{index_list, index_rows, rows as rows_of, shaped, vector};
use crate::error::query;
use crate::mesh::{Rows, rows};
use crate::model::Body;
use crate::pose;
use feeler::deformable::{self, DeformableError};
use feeler::nalgebra::Matrix3;
use feeler::{P3, V3};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods as _};
use pyo3::prelude::*;

/// Converts vectors to an array of shape (n, 3).
fn vectors<'py, T: Copy + Into<[f64; 3]>>(py: Python<'py>, values: &[T]) -> Rows<'py> {
    rows(py, values.iter().map(|v| (*v).into()))
}

/// Fails with the first node of `nodes` that does not exist or whose value is not finite.
fn check_nodes<const N: usize>(
    count: usize,
    nodes: &[u32],
    values: &[[f64; N]],
) -> Result<(), DeformableError> {
    let unknown = nodes.iter().find(|&&n| n as usize >= count);
    if let Some(&node) = unknown {
        return Err(DeformableError::UnknownNode { node: node as usize, count });
    }
    let not_finite = nodes.iter().zip(values).find(|(_, v)| !v.iter().all(|c| c.is_finite()));
    not_finite.map_or(Ok(()), |(&n, _)| Err(DeformableError::NotFinite { node: n as usize }))
}

/// Body of finite elements.
#[pyclass(module = "feeler.deformable", frozen)]
#[derive(Debug)]
pub(crate) struct DeformableBody(pub(super) Handle<deformable::DeformableBody>);

impl DeformableBody {
    /// Calls `apply` for each node with its value. If a node or a value is not valid, no node is changed.
    fn for_nodes<const N: usize>(
        &self,
        nodes: &Bound<'_, PyAny>,
        (values, name): (&Bound<'_, PyAny>, &str),
        apply: impl Fn(&mut deformable::DeformableBody, usize, [f64; N]) -> Result<(), DeformableError>,
    ) -> PyResult<()> {
        let (is_list, nodes) = index_list(nodes, "nodes")?;
        let values = if is_list || N == 1 {
            rows_of::<N>(values, name, Some(nodes.len()))?
        } else {
            vec![vector::<N>(values, name)?]
        };
        self.0.change(|body| {
            check_nodes(body.reference().len(), &nodes, &values)?;
            nodes.iter().zip(&values).try_for_each(|(&node, &value)| apply(body, node as usize, value))
        })
    }
}

#[pymethods]
impl DeformableBody {
    #[new]
    fn new(py: Python<'_>, mesh: &Mesh, material: &Material, skin: f64) -> PyResult<Self> {
        let body = py.detach(|| deformable::DeformableBody::new(&mesh.0, material.0, skin));
        Ok(Self(Handle::new(body.map_err(failed)?)))
    }

    #[getter]
    fn index(&self) -> PyResult<Option<usize>> {
        self.0.index()
    }

    #[getter]
    fn material(&self) -> PyResult<Material> {
        self.0.read(|b| Material(b.material()))
    }

    #[getter]
    fn skin(&self) -> PyResult<f64> {
        self.0.read(deformable::DeformableBody::skin)
    }

    #[getter]
    fn reference<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.0.read(|b| vectors(py, b.reference()))
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.0.read(|b| vectors(py, b.positions()))
    }

    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.0.read(|b| vectors(py, b.velocities()))
    }

    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.0.read(|b| vectors(py, b.forces()))
    }

    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| PyArray1::from_slice(py, b.masses()))
    }

    #[getter]
    fn facets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.0.read(|b| table(py, b.facets()))
    }

    #[getter]
    fn mass(&self) -> PyResult<f64> {
        self.0.read(deformable::DeformableBody::mass)
    }

    #[getter]
    fn center_of_mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.center_of_mass()))
    }

    #[getter]
    fn momentum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.momentum()))
    }

    #[getter]
    fn angular_momentum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.angular_momentum()))
    }

    #[getter]
    fn kinetic_energy(&self) -> PyResult<f64> {
        self.0.read(deformable::DeformableBody::kinetic_energy)
    }

    #[getter]
    fn strain_energy(&self) -> PyResult<f64> {
        self.0.read(deformable::DeformableBody::strain_energy)
    }

    #[getter]
    fn max_eigenvalue(&self) -> PyResult<f64> {
        self.0.read(deformable::DeformableBody::max_eigenvalue)
    }

    fn set_velocity(&self, nodes: &Bound<'_, PyAny>, velocity: &Bound<'_, PyAny>) -> PyResult<()> {
        self.for_nodes::<3>(nodes, (velocity, "velocity"), |b, node, v| b.set_velocity(node, V3::from(v)))
    }

    fn set_uniform_velocity(&self, velocity: &Bound<'_, PyAny>) -> PyResult<()> {
        let velocity = V3::from(vector::<3>(velocity, "velocity")?);
        self.0.change(|b| b.set_uniform_velocity(velocity))
    }

    fn set_position(&self, nodes: &Bound<'_, PyAny>, position: &Bound<'_, PyAny>) -> PyResult<()> {
        self.for_nodes::<3>(nodes, (position, "position"), |b, node, x| b.set_position(node, P3::from(x)))
    }

    fn set_damping(&self, damping: f64) -> PyResult<()> {
        self.0.change(|b| b.set_damping(damping))
    }

    fn prescribe_velocity(
        &self,
        nodes: &Bound<'_, PyAny>,
        axis: usize,
        velocity: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.for_nodes::<1>(nodes, (velocity, "velocity"), |b, node, [v]| b.prescribe_velocity(node, axis, v))
    }

    fn prescribe_displacement(
        &self,
        nodes: &Bound<'_, PyAny>,
        axis: usize,
        displacement: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.for_nodes::<1>(nodes, (displacement, "displacement"), |b, node, [u]| {
            b.prescribe_displacement(node, axis, u)
        })
    }

    fn release(&self, nodes: &Bound<'_, PyAny>, axis: usize) -> PyResult<()> {
        let (_, nodes) = index_list(nodes, "nodes")?;
        self.0.change(|b| {
            check_nodes::<1>(b.reference().len(), &nodes, &[])?;
            nodes.iter().try_for_each(|&node| b.release(node as usize, axis))
        })
    }

    fn reaction<'py>(&self, nodes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = nodes.py();
        let (is_list, nodes) = index_list(nodes, "nodes")?;
        let found = self.0.read(|b| {
            check_nodes::<1>(b.reference().len(), &nodes, &[])?;
            Ok(nodes.iter().filter_map(|&n| b.reaction(n as usize)).collect::<Vec<V3>>())
        })?;
        let found = found.map_err(failed)?;
        Ok(match (is_list, found.as_slice()) {
            (false, [one]) => array_of(py, *one).into_any(),
            (_, all) => vectors(py, all).into_any(),
        })
    }

    fn stresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let all = self.0.read(deformable::DeformableBody::stresses)?;
        // The matrices are symmetric, so the order of rows and columns does not matter.
        let flat: Vec<f64> = all.iter().flat_map(|s| s.iter().copied()).collect();
        PyArray1::from_vec(py, flat).reshape(vec![all.len(), 3, 3])
    }

    fn stiffness_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = 3 * self.0.read(|b| b.reference().len())?;
        // The matrix and the array exist at the same time.
        check_memory(n.checked_mul(n), 2 * size_of::<f64>())?;
        let matrix = self.0.read(deformable::DeformableBody::stiffness_matrix)?;
        PyArray1::from_slice(py, matrix.as_slice()).reshape([n, n])
    }

    fn __repr__(&self) -> String {
        self.0.describe(|b| {
            format!(
                "<DeformableBody: {} nodes, {} facets, skin {} mm>",
                b.reference().len(),
                b.facets().len(),
                b.skin()
            )
        })
    }
}

/// Converts a point or vector to an array of shape (3,).
fn array_of(py: Python<'_>, value: impl Into<[f64; 3]>) -> Bound<'_, PyArray1<f64>> {
    let value: [f64; 3] = value.into();
    PyArray1::from_slice(py, &value)
}

/// Rigid body with triangles, a sphere, or a body of exact shape.
#[pyclass(module = "feeler.deformable", frozen)]
#[derive(Debug)]
pub(crate) struct RigidBody(pub(super) Handle<deformable::RigidBody>);

/// Reads a velocity and an angular velocity; `None` stands for 0.
fn velocities(
    velocity: &Bound<'_, PyAny>,
    angular_velocity: Option<&Bound<'_, PyAny>>,
) -> PyResult<(V3, V3)> {
    let angular = angular_velocity.map(|w| vector::<3>(w, "angular_velocity")).transpose()?;
    Ok((V3::from(vector::<3>(velocity, "velocity")?), V3::from(angular.unwrap_or_default())))
}

#[pymethods]
impl RigidBody {
    #[new]
    fn new(nodes: &Bound<'_, PyAny>, facets: &Bound<'_, PyAny>, skin: f64) -> PyResult<Self> {
        let nodes = rows_of::<3>(nodes, "nodes", None)?.into_iter().map(P3::from).collect();
        let body = deformable::RigidBody::new(nodes, index_rows(facets, "facets")?, skin);
        Ok(Self(Handle::new(body.map_err(failed)?)))
    }

    #[staticmethod]
    fn sphere(center: &Bound<'_, PyAny>, radius: f64) -> PyResult<Self> {
        let center = P3::from(vector::<3>(center, "center")?);
        // The error of the skin would not name the radius.
        if !(radius.is_finite() && radius > 0.0) {
            return Err(query(format!("the radius is {radius} mm; give a finite value above 0")));
        }
        Ok(Self(Handle::new(deformable::RigidBody::sphere(center, radius).map_err(failed)?)))
    }

    #[staticmethod]
    #[pyo3(signature = (body, pose = None, *, probe_spacing = None))]
    fn solid(
        py: Python<'_>,
        body: &Body,
        pose: Option<&Bound<'_, PyAny>>,
        probe_spacing: Option<f64>,
    ) -> PyResult<Self> {
        let pose = pose::read(pose)?;
        Ok(Self(Handle::new(py.detach(|| exact::solid(body, &pose, probe_spacing))?)))
    }

    #[staticmethod]
    #[pyo3(signature = (body, density, pose = None, *, probe_spacing = None))]
    fn free_solid(
        py: Python<'_>,
        body: &Body,
        density: f64,
        pose: Option<&Bound<'_, PyAny>>,
        probe_spacing: Option<f64>,
    ) -> PyResult<Self> {
        let pose = pose::read(pose)?;
        Ok(Self(Handle::new(py.detach(|| exact::free_solid(body, density, &pose, probe_spacing))?)))
    }

    #[staticmethod]
    #[pyo3(signature = (centers, radii, pose = None))]
    fn balls(
        centers: &Bound<'_, PyAny>,
        radii: &Bound<'_, PyAny>,
        pose: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let centers = rows_of::<3>(centers, "centers", None)?;
        let radii = rows_of::<1>(radii, "radii", Some(centers.len()))?;
        Ok(Self(Handle::new(exact::balls(&centers, &radii, &pose::read(pose)?)?)))
    }

    #[staticmethod]
    #[pyo3(signature = (pose = None))]
    fn half_space(pose: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(Self(Handle::new(exact::half_space(&pose::read(pose)?)?)))
    }

    #[getter]
    fn index(&self) -> PyResult<Option<usize>> {
        self.0.index()
    }

    fn set_free(&self, density: f64) -> PyResult<()> {
        self.0.change(|b| b.set_free(density))
    }

    fn set_free_with_inertia(
        &self,
        mass: f64,
        center: &Bound<'_, PyAny>,
        tensor: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let center = P3::from(vector::<3>(center, "center")?);
        let tensor = shaped(tensor, "tensor", "(3, 3)", |shape| shape == [3, 3])?;
        let tensor = tensor.as_array();
        let tensor = Matrix3::from_fn(|i, j| tensor[[i, j]]);
        self.0.change(|b| b.set_free_with_inertia(mass, center, tensor))
    }

    #[pyo3(signature = (velocity, angular_velocity = None))]
    fn prescribe(
        &self,
        velocity: &Bound<'_, PyAny>,
        angular_velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (velocity, angular) = velocities(velocity, angular_velocity)?;
        self.0.change(|b| b.prescribe(velocity, angular))
    }

    #[pyo3(signature = (pose, velocity, angular_velocity = None))]
    fn move_to(
        &self,
        pose: &Bound<'_, PyAny>,
        velocity: &Bound<'_, PyAny>,
        angular_velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (velocity, angular) = velocities(velocity, angular_velocity)?;
        self.0.move_to(&pose::read(Some(pose))?, velocity, angular)
    }

    #[pyo3(signature = (velocity, angular_velocity = None))]
    fn set_velocity(
        &self,
        velocity: &Bound<'_, PyAny>,
        angular_velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (velocity, angular) = velocities(velocity, angular_velocity)?;
        self.0.change(|b| b.set_velocity(velocity, angular))
    }

    #[getter]
    fn center<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.center()))
    }

    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let matrix = self.0.read(|b| b.rotation().to_rotation_matrix())?;
        Ok(rows(py, (0..3).map(|i| [matrix[(i, 0)], matrix[(i, 1)], matrix[(i, 2)]])))
    }

    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.velocity()))
    }

    #[getter]
    fn angular_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.angular_velocity()))
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.0.read(|b| vectors(py, b.positions()))
    }

    #[getter]
    fn facets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.0.read(|b| table(py, b.facets()))
    }

    #[getter]
    fn skin(&self) -> PyResult<f64> {
        self.0.read(deformable::RigidBody::skin)
    }

    #[getter]
    fn mass(&self) -> PyResult<Option<f64>> {
        self.0.read(deformable::RigidBody::mass)
    }

    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.force()))
    }

    #[getter]
    fn torque<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.torque()))
    }

    #[getter]
    fn momentum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.momentum()))
    }

    #[getter]
    fn angular_momentum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.read(|b| array_of(py, b.angular_momentum()))
    }

    #[getter]
    fn kinetic_energy(&self) -> PyResult<f64> {
        self.0.read(deformable::RigidBody::kinetic_energy)
    }

    fn __repr__(&self) -> String {
        self.0.describe(|b| match (b.positions().len(), b.facets().len()) {
            (0, _) => {
                let [x, y, z]: [f64; 3] = b.center().into();
                format!("<RigidBody: exact shape, centre ({x}, {y}, {z}) mm>")
            }
            (_, 0) => format!("<RigidBody: sphere, radius {} mm>", b.skin()),
            (nodes, n) => format!("<RigidBody: {nodes} nodes, {n} facets, skin {} mm>", b.skin()),
        })
    }
}
