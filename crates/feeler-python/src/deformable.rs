//! Deformable bodies in contact: the module `feeler.deformable`. Its interface is documented in
//! `python/feeler/deformable.pyi`.

mod bodies;
mod coupling;
mod exact;
mod handle;
mod simulation;

use crate::arrays::{index_rows, rows as rows_of, vector};
use crate::error::{file, query};
use crate::mesh::{Rows, rows};
use feeler::deformable::{DeformableError, TreeScope};
use feeler::{P3, V3};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Adds the module `deformable` to the extension module.
pub(crate) fn add_module(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(parent.py(), "deformable")?;
    m.add_class::<Mesh>()?;
    m.add_class::<Material>()?;
    m.add_class::<ContactSettings>()?;
    m.add_class::<bodies::DeformableBody>()?;
    m.add_class::<bodies::RigidBody>()?;
    m.add_class::<handle::Simulation>()?;
    m.add_class::<coupling::GrainCoupling>()?;
    parent.add_submodule(&m)
}

/// Converts an error of arguments to a `QueryError`, `FileError` or `SceneError`.
fn failed(e: DeformableError) -> PyErr {
    match &e {
        DeformableError::MeshFile { .. } => file(e),
        DeformableError::UnknownBody(_) => crate::error::SceneError::new_err(e.to_string()),
        _ => query(e),
    }
}

/// Returns a `MemoryError` unless `count` values of `size` bytes fit into memory, because a failed allocation
/// would end the process.
fn check_memory(count: Option<usize>, size: usize) -> PyResult<()> {
    let bytes = count.and_then(|n| n.checked_mul(size));
    match bytes.map(|n| Vec::<u8>::new().try_reserve_exact(n)) {
        Some(Ok(())) => Ok(()),
        _ => Err(PyMemoryError::new_err("the result does not fit into memory")),
    }
}

/// Converts rows of `N` indices to a numpy array.
fn table<'py, const N: usize>(py: Python<'py>, values: &[[u32; N]]) -> Bound<'py, PyArray2<u32>> {
    let flat: Vec<u32> = values.iter().flatten().copied().collect();
    PyArray1::from_vec(py, flat).reshape([values.len(), N]).expect("N indices per row")
}

/// Mesh of tetrahedra and hexahedra.
#[pyclass(module = "feeler.deformable", frozen, eq)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mesh(feeler::deformable::Mesh);

/// Memory (bytes) that must be available for each node of a generated box: a position, a hexahedron and six
/// tetrahedra take 152 bytes, and growing vectors up to twice as much. With a larger value, boxes that fit
/// are refused; with a smaller one, boxes that do not fit end the process.
const BYTES_PER_NODE: usize = 256;

/// Generator of boxes.
type BoxOf = fn(P3, V3, [u32; 3]) -> Result<feeler::deformable::Mesh, DeformableError>;

impl Mesh {
    fn of_box(
        py: Python<'_>,
        corner: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        divisions: [u32; 3],
        generator: BoxOf,
    ) -> PyResult<Self> {
        let (corner, size) = (vector::<3>(corner, "corner")?, vector::<3>(size, "size")?);
        let count = divisions.iter().try_fold(1_u64, |n, &d| n.checked_mul(u64::from(d) + 1));
        if let Some(count) = count.filter(|n| *n <= u64::from(u32::MAX)) {
            check_memory(usize::try_from(count).ok(), BYTES_PER_NODE)?;
        }
        py.detach(|| generator(P3::from(corner), V3::from(size), divisions)).map(Self).map_err(failed)
    }
}

#[pymethods]
impl Mesh {
    #[new]
    #[pyo3(signature = (nodes, tetrahedra = None, hexahedra = None))]
    fn new(
        nodes: &Bound<'_, PyAny>,
        tetrahedra: Option<&Bound<'_, PyAny>>,
        hexahedra: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let nodes = rows_of::<3>(nodes, "nodes", None)?.into_iter().map(P3::from).collect();
        let tetrahedra = tetrahedra.map(|t| index_rows(t, "tetrahedra")).transpose()?.unwrap_or_default();
        let hexahedra = hexahedra.map(|h| index_rows(h, "hexahedra")).transpose()?.unwrap_or_default();
        Ok(Self(feeler::deformable::Mesh { nodes, tetrahedra, hexahedra }))
    }

    #[staticmethod]
    fn box_of_tetrahedra(
        py: Python<'_>,
        corner: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        divisions: [u32; 3],
    ) -> PyResult<Self> {
        Self::of_box(py, corner, size, divisions, feeler::deformable::Mesh::box_of_tetrahedra)
    }

    #[staticmethod]
    fn box_of_hexahedra(
        py: Python<'_>,
        corner: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        divisions: [u32; 3],
    ) -> PyResult<Self> {
        Self::of_box(py, corner, size, divisions, feeler::deformable::Mesh::box_of_hexahedra)
    }

    #[staticmethod]
    fn from_msh(py: Python<'_>, text: &str) -> PyResult<Self> {
        py.detach(|| feeler::deformable::Mesh::from_msh(text)).map(Self).map_err(failed)
    }

    #[staticmethod]
    fn read_msh(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let name = path.display();
        let read = || {
            let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
            feeler::deformable::Mesh::from_msh(&text).map_err(|e| e.to_string())
        };
        py.detach(read).map(Self).map_err(|e| file(format!("{name}: {e}")))
    }

    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> Rows<'py> {
        rows(py, self.0.nodes.iter().map(|p| (*p).into()))
    }

    #[getter]
    fn tetrahedra<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        table(py, &self.0.tetrahedra)
    }

    #[getter]
    fn hexahedra<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        table(py, &self.0.hexahedra)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let state = (this.nodes(py), this.tetrahedra(py), this.hexahedra(py));
        Ok((slf.get_type().into_any(), state.into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self) -> String {
        let mesh = &self.0;
        format!(
            "<Mesh: {} nodes, {} tetrahedra, {} hexahedra>",
            mesh.nodes.len(),
            mesh.tetrahedra.len(),
            mesh.hexahedra.len()
        )
    }
}

/// Isotropic material with the St Venant–Kirchhoff law.
#[pyclass(module = "feeler.deformable", frozen, eq)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Material(feeler::deformable::Material);

#[pymethods]
impl Material {
    #[new]
    fn new(young: f64, poisson: f64, density: f64) -> PyResult<Self> {
        feeler::deformable::Material::new(young, poisson, density).map(Self).map_err(failed)
    }

    #[getter]
    fn young(&self) -> f64 {
        self.0.young()
    }

    #[getter]
    fn poisson(&self) -> f64 {
        self.0.poisson()
    }

    #[getter]
    fn density(&self) -> f64 {
        self.0.density()
    }

    #[getter]
    fn lame(&self) -> (f64, f64) {
        self.0.lame()
    }

    #[getter]
    fn bar_wave_speed(&self) -> f64 {
        self.0.bar_wave_speed()
    }

    #[getter]
    fn pressure_wave_speed(&self) -> f64 {
        self.0.pressure_wave_speed()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (f64, f64, f64)) {
        let this = slf.get();
        (slf.get_type().into_any(), (this.young(), this.poisson(), this.density()))
    }

    fn __repr__(&self) -> String {
        let m = &self.0;
        let (young, poisson, density) = (m.young(), m.poisson(), m.density());
        format!("Material(young={young:?}, poisson={poisson:?}, density={density:?})")
    }
}

/// Name of the features that share a tree.
fn scope_name(scope: TreeScope) -> &'static str {
    match scope {
        TreeScope::Piece => "piece",
        TreeScope::Pair => "pair",
        TreeScope::Scene => "scene",
    }
}

/// Parameters of the contact law and of the contact search.
#[pyclass(module = "feeler.deformable", frozen, eq)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ContactSettings(feeler::deformable::ContactSettings);

#[pymethods]
impl ContactSettings {
    #[new]
    #[pyo3(signature = (
        penalty, margin, *, friction = 0.0, slip_speed = None, edge_contacts = None, activation = None,
        trees = "piece"
    ))]
    fn new(
        penalty: f64,
        margin: f64,
        friction: f64,
        slip_speed: Option<f64>,
        edge_contacts: Option<bool>,
        activation: Option<f64>,
        trees: &str,
    ) -> PyResult<Self> {
        let scopes = [TreeScope::Piece, TreeScope::Pair, TreeScope::Scene];
        let scope = scopes.into_iter().find(|s| scope_name(*s) == trees);
        let unknown = || query(format!("trees is '{trees}'; give 'piece', 'pair' or 'scene'"));
        let scope = scope.ok_or_else(unknown)?;
        let default = feeler::deformable::ContactSettings::new(penalty, margin);
        let settings = feeler::deformable::ContactSettings {
            friction,
            slip_speed: slip_speed.unwrap_or(default.slip_speed),
            edge_contacts: edge_contacts.unwrap_or(default.edge_contacts),
            activation: activation.unwrap_or(default.activation),
            trees: scope,
            ..default
        };
        // The ranges are checked by the constructor of simulations.
        feeler::deformable::Simulation::new(settings).map_err(failed)?;
        Ok(Self(settings))
    }

    #[getter]
    fn penalty(&self) -> f64 {
        self.0.penalty
    }

    #[getter]
    fn margin(&self) -> f64 {
        self.0.margin
    }

    #[getter]
    fn friction(&self) -> f64 {
        self.0.friction
    }

    #[getter]
    fn slip_speed(&self) -> f64 {
        self.0.slip_speed
    }

    #[getter]
    fn edge_contacts(&self) -> bool {
        self.0.edge_contacts
    }

    #[getter]
    fn activation(&self) -> f64 {
        self.0.activation
    }

    #[getter]
    fn trees(&self) -> &'static str {
        scope_name(self.0.trees)
    }

    #[staticmethod]
    fn _from_state(
        penalty: f64,
        margin: f64,
        friction: f64,
        slip_speed: f64,
        edge_contacts: bool,
        activation: f64,
        trees: &str,
    ) -> PyResult<Self> {
        Self::new(penalty, margin, friction, Some(slip_speed), Some(edge_contacts), Some(activation), trees)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (s, trees) = (slf.get().0, slf.get().trees());
        let state = (s.penalty, s.margin, s.friction, s.slip_speed, s.edge_contacts, s.activation, trees);
        Ok((slf.get_type().getattr("_from_state")?, state.into_pyobject(slf.py())?.into_any()))
    }

    fn __repr__(&self) -> String {
        let s = &self.0;
        format!(
            "<ContactSettings: penalty {} N/mm, friction {}, margin {} mm>",
            s.penalty, s.friction, s.margin
        )
    }
}
