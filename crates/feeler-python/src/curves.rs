//! Deformable curves with a radius, and scenes of them.

use crate::arrays::{ids as read_ids, rows as rows_of, shaped};
use crate::error::{query, scene as failed_solids};
use crate::exclusive::Exclusive;
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
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Curve(Exclusive<CurveState>);

/// Curve with the deviation of its fit, and a buffer for control points.
#[derive(Debug)]
struct CurveState {
    curve: feeler::curves::Curve,
    deviation: Option<f64>,
    control: Vec<P3>,
}

/// Scene of deformable curves and moving solids.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct CurveScene(Exclusive<SceneState>);

/// Scene with a buffer for control points.
#[derive(Debug)]
struct SceneState {
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
        Ok(Self::of(fitted.curve, Some(fitted.deviation)))
    }

    #[pyo3(signature = (points, derivatives = None))]
    fn update(&self, points: &Bound<'_, PyAny>, derivatives: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        moved(&this.curve, points, derivatives, &mut this.control)?;
        this.curve.update(&this.control).map_err(invalid_curve)
    }

    #[getter]
    fn deviation(&self) -> PyResult<Option<f64>> {
        let this = &*self.0.read()?;
        Ok(this.deviation)
    }

    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let this = &*self.0.read()?;
        Ok(rows(py, this.curve.points().iter().map(|p| (*p).into())))
    }

    #[getter]
    fn radius(&self) -> PyResult<f64> {
        let this = &*self.0.read()?;
        Ok(this.curve.radius())
    }

    #[setter]
    fn set_radius(&self, radius: f64) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.curve.set_radius(radius).map_err(invalid_curve)
    }

    #[getter]
    fn degree(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.curve.degree())
    }

    #[getter]
    fn is_closed(&self) -> PyResult<bool> {
        let this = &*self.0.read()?;
        Ok(this.curve.is_closed())
    }

    #[getter]
    fn size(&self) -> PyResult<f64> {
        let this = &*self.0.read()?;
        Ok(this.curve.size())
    }

    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let this = &*self.0.read()?;
        let (min, max) = this.curve.bounds();
        Ok(rows(py, [min.into(), max.into()].into_iter()))
    }

    fn point<'py>(&self, u: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        evaluate(u, this.curve.n_pieces(), |u| this.curve.point(u).into())
    }

    fn derivative<'py>(&self, u: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        evaluate(u, this.curve.n_pieces(), |u| this.curve.derivatives(u)[0].into())
    }

    fn tight_bends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        let mut bends = Vec::new();
        this.curve.tight_bends(&mut bends);
        array(py, bends.iter().map(|b| CurveBend((CurveId(0), b).into())).collect())
    }

    #[staticmethod]
    fn _from_state(
        points: &Bound<'_, PyAny>,
        radius: f64,
        degree: usize,
        closed: bool,
        deviation: Option<f64>,
    ) -> PyResult<Self> {
        let points = triples::<P3>(points, "points")?;
        let curve = feeler::curves::Curve::new(degree, &points, radius, closed).map_err(invalid_curve)?;
        Ok(Self::of(curve, deviation))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = &*slf.get().0.read()?;
        let (curve, points) = (&this.curve, this.curve.points().iter().map(|p| (*p).into()));
        let state = (rows(py, points), curve.radius(), curve.degree(), curve.is_closed(), this.deviation);
        Ok((slf.get_type().getattr("_from_state")?, state.into_pyobject(py)?.into_any()))
    }

    fn __len__(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.curve.n_pieces())
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            let c = &this.curve;
            let closed = if c.is_closed() { "closed, " } else { "" };
            format!(
                "<Curve: {} pieces of degree {}, {closed}radius {} mm>",
                c.n_pieces(),
                c.degree(),
                c.radius()
            )
        })
    }
}

impl From<feeler::curves::Curve> for Curve {
    fn from(curve: feeler::curves::Curve) -> Self {
        Self::of(curve, None)
    }
}

impl Curve {
    fn of(curve: feeler::curves::Curve, deviation: Option<f64>) -> Self {
        Self(Exclusive::new("Curve", CurveState { curve, deviation, control: Vec::new() }))
    }
}

/// Evaluates the vector `of` of a curve of `n` pieces at the parameter `u`, or at each parameter of the array
/// `u`.
fn evaluate<'py>(
    u: &Bound<'py, PyAny>,
    n: usize,
    of: impl Fn(f64) -> [f64; 3],
) -> PyResult<Bound<'py, PyAny>> {
    let py = u.py();
    let values = shaped(u, "u", "() or (...)", |_| true)?;
    let values = values.as_array();
    if let Some(u) = values.iter().find(|u| !u.is_finite()) {
        return Err(query(format!("u is {u}: give finite parameters from 0 to {n}, the number of pieces")));
    }
    let flat: Vec<f64> = values.iter().flat_map(|u| of(*u)).collect();
    let shape: Vec<usize> = values.shape().iter().copied().chain([3]).collect();
    Ok(PyArray1::from_vec(py, flat).reshape(shape)?.into_any())
}

impl SceneState {
    /// Moves a curve, as `CurveScene.update_curve` in Python.
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
        Ok(Self(Exclusive::new("CurveScene", SceneState { scene, control: Vec::new() })))
    }

    fn add_curve(&self, curve: &Curve) -> PyResult<u32> {
        let this = &mut *self.0.write()?;
        Ok(this.scene.add(curve.0.read()?.curve.clone()).0)
    }

    #[pyo3(signature = (id, points, derivatives = None))]
    fn update_curve(
        &self,
        id: u32,
        points: &Bound<'_, PyAny>,
        derivatives: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.0.write()?.update_curve(id, points, derivatives)
    }

    #[pyo3(signature = (ids, points, derivatives = None))]
    fn update_curves(
        &self,
        ids: &Bound<'_, PyAny>,
        points: Vec<Bound<'_, PyAny>>,
        derivatives: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let this = &mut *self.0.write()?;
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
            this.update_curve(id, &points[k], derivatives.as_ref().map(|d| &d[k]))?;
        }
        Ok(())
    }

    fn remove_curve(&self, id: u32) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.scene.remove(CurveId(id)).map(drop).map_err(failed)
    }

    fn curve(&self, id: u32) -> PyResult<Curve> {
        let this = &*self.0.read()?;
        this.scene.curve(CurveId(id)).cloned().map(Curve::from).map_err(failed)
    }

    #[pyo3(signature = (body, pose = None))]
    fn add_body(&self, body: &Body, pose: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let this = &mut *self.0.write()?;
        let id = this.scene.solids_mut().add(body.body.clone(), pose::read(pose)?);
        id.map(|id| id.0).map_err(failed_solids)
    }

    fn set_pose(&self, id: u32, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.scene.solids_mut().set_pose(BodyId(id), pose::read(Some(pose))?).map_err(failed_solids)
    }

    fn remove_body(&self, id: u32) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.scene.solids_mut().remove(BodyId(id)).map_err(failed_solids)
    }

    fn update(&self, py: Python<'_>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let scene = &mut this.scene;
        py.detach(|| scene.update()).map_err(failed)
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, this.scene.contacts().iter().map(|c| CurveContact(c.into())).collect())
    }

    #[getter]
    fn tight_bends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, this.scene.tight_bends().iter().map(|(c, b)| TightBend((*c, b).into())).collect())
    }

    fn status(&self, curve: u32, body: u32) -> PyResult<Option<&'static str>> {
        let this = &*self.0.read()?;
        Ok(this.scene.status(CurveId(curve), BodyId(body)).map_err(failed)?.map(word))
    }

    fn interferes(&self, curve: u32, body: u32) -> PyResult<Option<bool>> {
        let this = &*self.0.read()?;
        this.scene.interferes(CurveId(curve), BodyId(body)).map_err(failed)
    }

    fn curves_interfere(&self, a: u32, b: u32) -> PyResult<bool> {
        let this = &*self.0.read()?;
        this.scene.curves_interfere(CurveId(a), CurveId(b)).map_err(failed)
    }

    #[getter]
    fn curves(&self) -> PyResult<Vec<u32>> {
        let this = &*self.0.read()?;
        Ok(this.scene.curves().map(|(id, _)| id.0).collect())
    }

    #[getter]
    fn bodies(&self) -> PyResult<Vec<u32>> {
        let this = &*self.0.read()?;
        Ok(this.scene.solids().bodies().map(|id| id.0).collect())
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            let (curves, bodies) = (this.scene.curves().len(), this.scene.solids().bodies().len());
            format!(
                "<CurveScene: {curves} curves, {bodies} bodies, {} contacts>",
                this.scene.contacts().len()
            )
        })
    }
}
