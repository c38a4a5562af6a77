//! Deformable curves with a radius, and scenes of them.

use crate::arrays::{ids as read_ids, rows as rows_of, shaped};
use crate::error::{query, scene as failed_solids};
use crate::mesh::{Rows, rows};
use crate::model::Body;
use crate::pair::word;
use crate::pose;
use crate::record::{CurveBend, CurveContact, TightBend, array};
use feeler::curves::{CurveError, CurveId, CurveOptions, CurveSceneError};
use feeler::{BodyId, P3, QueryOptions, V3};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Deformable curve with a radius (a tube).
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct Curve {
    curve: feeler::curves::Curve,
    deviation: Option<f64>,
    control: Vec<P3>,
}

/// Scene of deformable curves and moving solids.
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct CurveScene {
    scene: feeler::curves::CurveScene,
    control: Vec<P3>,
}

fn invalid_curve(e: CurveError) -> PyErr {
    query(e)
}

fn failed(e: CurveSceneError) -> PyErr {
    match e {
        CurveSceneError::Solids(e) => failed_solids(e),
        CurveSceneError::Curve { .. } | CurveSceneError::Options(_) => query(e),
        e => crate::error::SceneError::new_err(e.to_string()),
    }
}

/// Reads rows of three numbers. Errors state the argument as `name`.
fn triples<T: From<[f64; 3]>>(values: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    Ok(rows_of::<3>(values, name, None)?.into_iter().map(T::from).collect())
}

/// Writes the control points for an update of `curve` to `control`. They are `points` or, if there are
/// derivatives, those of cubic pieces through the nodes `points`.
fn moved(
    curve: &feeler::curves::Curve,
    points: &Bound<'_, PyAny>,
    derivatives: Option<&Bound<'_, PyAny>>,
    control: &mut Vec<P3>,
) -> PyResult<()> {
    let points = triples::<P3>(points, "points")?;
    let Some(derivatives) = derivatives else {
        *control = points;
        return Ok(());
    };
    let (degree, closed) = (curve.degree(), curve.is_closed());
    if degree != 3 {
        return Err(query(format!(
            "the curve has degree {degree}: nodes and derivatives move curves of degree 3 only"
        )));
    }
    let (n, nodes) = (points.len(), curve.n_pieces() + usize::from(!closed));
    if n != nodes {
        return Err(query(format!("the curve has {nodes} nodes, got {n} points and derivatives")));
    }
    let derivatives = triples::<V3>(derivatives, "derivatives")?;
    feeler::curves::Curve::hermite_points(&points, &derivatives, closed, control).map_err(invalid_curve)
}

#[pymethods]
impl Curve {
    #[new]
    #[pyo3(signature = (points, radius, degree = 3, closed = false))]
    fn new(points: &Bound<'_, PyAny>, radius: f64, degree: usize, closed: bool) -> PyResult<Self> {
        let points = triples::<P3>(points, "points")?;
        feeler::curves::Curve::new(degree, &points, radius, closed).map(Self::from).map_err(invalid_curve)
    }

    #[staticmethod]
    #[pyo3(signature = (points, derivatives, radius, closed = false))]
    fn hermite(
        points: &Bound<'_, PyAny>,
        derivatives: &Bound<'_, PyAny>,
        radius: f64,
        closed: bool,
    ) -> PyResult<Self> {
        let (points, derivatives) =
            (triples::<P3>(points, "points")?, triples::<V3>(derivatives, "derivatives")?);
        let made = feeler::curves::Curve::hermite(&points, &derivatives, radius, closed);
        made.map(Self::from).map_err(invalid_curve)
    }

    #[staticmethod]
    #[pyo3(signature = (measured, tolerance, radius, closed = false))]
    fn fit(
        py: Python<'_>,
        measured: &Bound<'_, PyAny>,
        tolerance: f64,
        radius: f64,
        closed: bool,
    ) -> PyResult<Self> {
        let measured = triples::<P3>(measured, "measured")?;
        let fitted = py.detach(|| feeler::curves::Curve::fit(&measured, tolerance, radius, closed));
        let fitted = fitted.map_err(invalid_curve)?;
        Ok(Self { deviation: Some(fitted.deviation), ..Self::from(fitted.curve) })
    }

    #[pyo3(signature = (points, derivatives = None))]
    fn update(&mut self, points: &Bound<'_, PyAny>, derivatives: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        moved(&self.curve, points, derivatives, &mut self.control)?;
        self.curve.update(&self.control).map_err(invalid_curve)
    }

    #[getter]
    fn deviation(&self) -> Option<f64> {
        self.deviation
    }

    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> Rows<'py> {
        rows(py, self.curve.points().iter().map(|p| (*p).into()))
    }

    #[getter]
    fn radius(&self) -> f64 {
        self.curve.radius()
    }

    #[setter]
    fn set_radius(&mut self, radius: f64) -> PyResult<()> {
        self.curve.set_radius(radius).map_err(invalid_curve)
    }

    #[getter]
    fn degree(&self) -> usize {
        self.curve.degree()
    }

    #[getter]
    fn is_closed(&self) -> bool {
        self.curve.is_closed()
    }

    #[getter]
    fn size(&self) -> f64 {
        self.curve.size()
    }

    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> Rows<'py> {
        let (min, max) = self.curve.bounds();
        rows(py, [min.into(), max.into()].into_iter())
    }

    fn point<'py>(&self, u: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.at(u, |u| self.curve.point(u).into())
    }

    fn derivative<'py>(&self, u: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.at(u, |u| self.curve.derivatives(u)[0].into())
    }

    fn tight_bends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut bends = Vec::new();
        self.curve.tight_bends(&mut bends);
        array(py, bends.iter().map(|b| CurveBend((CurveId(0), b).into())).collect())
    }

    fn __len__(&self) -> usize {
        self.curve.n_pieces()
    }

    fn __repr__(&self) -> String {
        let c = &self.curve;
        let closed = if c.is_closed() { "closed, " } else { "" };
        format!("<Curve: {} pieces of degree {}, {closed}radius {} mm>", c.n_pieces(), c.degree(), c.radius())
    }
}

impl From<feeler::curves::Curve> for Curve {
    fn from(curve: feeler::curves::Curve) -> Self {
        Self { curve, deviation: None, control: Vec::new() }
    }
}

impl Curve {
    /// Evaluates the vector `of` at the parameter `u`, or at each parameter of the array `u`.
    fn at<'py>(&self, u: &Bound<'py, PyAny>, of: impl Fn(f64) -> [f64; 3]) -> PyResult<Bound<'py, PyAny>> {
        let py = u.py();
        let values = shaped(u, "u", "() or (...)", |_| true)?;
        let values = values.as_array();
        if let Some(u) = values.iter().find(|u| !u.is_finite()) {
            let n = self.curve.n_pieces();
            return Err(query(format!(
                "u is {u}: give finite parameters from 0 to {n}, the number of pieces"
            )));
        }
        let flat: Vec<f64> = values.iter().flat_map(|u| of(*u)).collect();
        let shape: Vec<usize> = values.shape().iter().copied().chain([3]).collect();
        Ok(PyArray1::from_vec(py, flat).reshape(shape)?.into_any())
    }
}

#[pymethods]
impl CurveScene {
    #[new]
    #[pyo3(signature = (
        d_max = 1.0, *, level_slope = None, level_length = None, max_samples = None,
        detect_interference = false
    ))]
    fn new(
        d_max: f64,
        level_slope: Option<f64>,
        level_length: Option<f64>,
        max_samples: Option<usize>,
        detect_interference: bool,
    ) -> PyResult<Self> {
        let default = CurveOptions::default();
        let options = CurveOptions {
            d_max,
            level_slope: level_slope.unwrap_or(default.level_slope),
            level_length,
            max_samples: max_samples.unwrap_or(default.max_samples),
        };
        let solids = feeler::Scene::new(QueryOptions::default()).map_err(failed_solids)?;
        let mut scene = feeler::curves::CurveScene::new(solids, options).map_err(failed)?;
        scene.detect_interference(detect_interference);
        Ok(Self { scene, control: Vec::new() })
    }

    fn add_curve(&mut self, curve: &Curve) -> u32 {
        self.scene.add(curve.curve.clone()).0
    }

    #[pyo3(signature = (id, points, derivatives = None))]
    fn update_curve(
        &mut self,
        id: u32,
        points: &Bound<'_, PyAny>,
        derivatives: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let curve = self.scene.curve(CurveId(id)).map_err(failed)?;
        let made = moved(curve, points, derivatives, &mut self.control);
        // The exception keeps its class; its message gets the id of the curve.
        made.map_err(|e| {
            let (py, message) = (points.py(), format!("curve {id}: {}", e.value(points.py())));
            PyErr::from_type(e.get_type(py), message)
        })?;
        self.scene.update_curve(CurveId(id), &self.control).map_err(failed)
    }

    #[pyo3(signature = (ids, points, derivatives = None))]
    fn update_curves(
        &mut self,
        ids: &Bound<'_, PyAny>,
        points: Vec<Bound<'_, PyAny>>,
        derivatives: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let ids = read_ids(ids)?;
        let n = ids.len();
        let given = derivatives.as_ref().map_or(n, Vec::len);
        if points.len() != n || given != n {
            return Err(PyValueError::new_err(format!(
                "expected {n} arrays of points and derivatives for {n} curves, got {} and {given}",
                points.len()
            )));
        }
        for (k, id) in ids.into_iter().enumerate() {
            self.update_curve(id, &points[k], derivatives.as_ref().map(|d| &d[k]))?;
        }
        Ok(())
    }

    fn remove_curve(&mut self, id: u32) -> PyResult<()> {
        self.scene.remove(CurveId(id)).map(drop).map_err(failed)
    }

    fn curve(&self, id: u32) -> PyResult<Curve> {
        self.scene.curve(CurveId(id)).cloned().map(Curve::from).map_err(failed)
    }

    #[pyo3(signature = (body, pose = None))]
    fn add_body(&mut self, body: &Body, pose: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let id = self.scene.solids_mut().add(body.body.clone(), pose::read(pose)?);
        id.map(|id| id.0).map_err(failed_solids)
    }

    fn set_pose(&mut self, id: u32, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        self.scene.solids_mut().set_pose(BodyId(id), pose::read(Some(pose))?).map_err(failed_solids)
    }

    fn remove_body(&mut self, id: u32) -> PyResult<()> {
        self.scene.solids_mut().remove(BodyId(id)).map_err(failed_solids)
    }

    fn update(&mut self, py: Python<'_>) -> PyResult<()> {
        let scene = &mut self.scene;
        py.detach(|| scene.update()).map_err(failed)
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.scene.contacts().iter().map(|c| CurveContact(c.into())).collect())
    }

    #[getter]
    fn tight_bends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.scene.tight_bends().iter().map(|(c, b)| TightBend((*c, b).into())).collect())
    }

    fn status(&self, curve: u32, body: u32) -> PyResult<Option<&'static str>> {
        Ok(self.scene.status(CurveId(curve), BodyId(body)).map_err(failed)?.map(word))
    }

    fn interferes(&self, curve: u32, body: u32) -> PyResult<Option<bool>> {
        self.scene.interferes(CurveId(curve), BodyId(body)).map_err(failed)
    }

    fn curves_interfere(&self, a: u32, b: u32) -> PyResult<bool> {
        self.scene.curves_interfere(CurveId(a), CurveId(b)).map_err(failed)
    }

    #[getter]
    fn curves(&self) -> Vec<u32> {
        self.scene.curves().map(|(id, _)| id.0).collect()
    }

    #[getter]
    fn bodies(&self) -> Vec<u32> {
        self.scene.solids().bodies().map(|id| id.0).collect()
    }

    fn __repr__(&self) -> String {
        let (curves, bodies) = (self.scene.curves().len(), self.scene.solids().bodies().len());
        format!("<CurveScene: {curves} curves, {bodies} bodies, {} contacts>", self.scene.contacts().len())
    }
}
