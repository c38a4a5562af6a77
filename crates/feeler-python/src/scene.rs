//! Scenes of many bodies.

use crate::arrays::{ids as read_ids, shaped, vector};
use crate::error::{query, scene as failed};
use crate::exclusive::Exclusive;
use crate::model::{Body, Model};
use crate::pair::word;
use crate::record::{Contact, Event, SceneContact, TrackedPair, array};
use crate::tracker::{bound_of, counts_dict, options_of};
use crate::{options, pose};
use feeler::{BodyId, BodyOptions, PairOptions};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// Scene: many bodies, which may move, and the contacts of near pairs of them.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Scene(Exclusive<feeler::Scene>);

type Part<'py> = (PyRef<'py, Body>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (d_max = 1.0, **keywords))]
    fn new(d_max: f64, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let scene = feeler::Scene::new(options::read(d_max, keywords)?).map_err(failed)?;
        Ok(Self(Exclusive::new("Scene", scene)))
    }

    #[pyo3(signature = (body, pose = None))]
    fn add(&self, body: &Body, pose: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let this = &mut *self.0.write()?;
        this.add(body.body.clone(), pose::read(pose)?).map(|id| id.0).map_err(failed)
    }

    #[pyo3(signature = (parts, pose = None))]
    fn add_compound(&self, parts: Vec<Part<'_>>, pose: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let this = &mut *self.0.write()?;
        let parts = parts.iter().map(|(b, p)| Ok((b.body.clone(), pose::read(p.as_ref())?)));
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        this.add_compound(parts, pose::read(pose)?).map(|id| id.0).map_err(failed)
    }

    fn add_model(&self, model: &Model) -> PyResult<Vec<u32>> {
        let this = &mut *self.0.write()?;
        Ok(this.add_model(&model.0).map_err(failed)?.into_iter().map(|id| id.0).collect())
    }

    fn remove(&self, id: u32) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.remove(BodyId(id)).map_err(failed)
    }

    fn set_pose(&self, id: u32, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.set_pose(BodyId(id), pose::read(Some(pose))?).map_err(failed)
    }

    fn set_poses(&self, ids: &Bound<'_, PyAny>, poses: &Bound<'_, PyAny>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let ids = read_ids(ids)?;
        let rows = shaped(poses, "poses", &format!("({}, 7)", ids.len()), |shape| shape == [ids.len(), 7])?;
        let rows = rows.as_array();
        for (i, id) in ids.iter().enumerate() {
            let pose = feeler::pose::from_values(&std::array::from_fn(|k| rows[[i, k]]));
            let pose = pose.map_err(|e| query(format!("pose of body {id}: {e}")))?;
            this.set_pose(BodyId(*id), pose).map_err(failed)?;
        }
        Ok(())
    }

    fn pose<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let this = &*self.0.read()?;
        Ok(pose::matrix(py, this.pose(BodyId(id)).map_err(failed)?))
    }

    #[pyo3(signature = (id, d_max = None, dilation = 0.0, fixed = false))]
    fn set_body_options(&self, id: u32, d_max: Option<f64>, dilation: f64, fixed: bool) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.set_body_options(BodyId(id), BodyOptions { d_max, dilation, fixed }).map_err(failed)
    }

    #[pyo3(signature = (a, b, d_max = None, dilation = None, ignored = false))]
    fn set_pair_options(
        &self,
        a: u32,
        b: u32,
        d_max: Option<f64>,
        dilation: Option<&Bound<'_, PyAny>>,
        ignored: bool,
    ) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let dilation = dilation.map(|values| vector(values, "dilation")).transpose()?;
        let options = PairOptions { d_max, dilation, ignored };
        this.set_pair_options(BodyId(a), BodyId(b), options).map_err(failed)
    }

    fn update(&self, py: Python<'_>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let scene = this;
        py.detach(|| scene.update()).map_err(failed)
    }

    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, this.contacts().iter().map(|c| SceneContact(c.into())).collect())
    }

    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, this.events().iter().map(|e| Event(e.into())).collect())
    }

    fn status(&self, a: u32, b: u32) -> PyResult<Option<&'static str>> {
        let this = &*self.0.read()?;
        Ok(this.status(BodyId(a), BodyId(b)).map_err(failed)?.map(word))
    }

    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (ids, bounds, *, reach = 0.05, max_depth = f64::INFINITY, max_step = None,
        gap_error = 1e-3, max_contacts = None, dilation_a = 0.0, dilation_b = 0.0))]
    fn track(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        bounds: &Bound<'_, PyAny>,
        reach: f64,
        max_depth: f64,
        max_step: Option<&Bound<'_, PyAny>>,
        gap_error: f64,
        max_contacts: Option<usize>,
        dilation_a: f64,
        dilation_b: f64,
    ) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        let dilations = [dilation_a, dilation_b];
        let options = options_of(reach, max_depth, max_step, gap_error, max_contacts, dilations)?;
        let ids = read_ids(ids)?;
        let rows = shaped(bounds, "bounds", &format!("({}, 2)", ids.len()), |shape| shape == [ids.len(), 2])?;
        let rows = rows.as_array();
        let mut of_body = BTreeMap::new();
        for (i, id) in ids.iter().enumerate() {
            this.pose(BodyId(*id)).map_err(failed)?;
            of_body.insert(BodyId(*id), bound_of([rows[[i, 0]], rows[[i, 1]]]));
        }
        let bound = |id| of_body.get(&id).copied().unwrap_or_default();
        let scene = this;
        py.detach(|| scene.track(&options, bound)).map_err(failed)
    }

    #[getter]
    fn tracked_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, feeler_c::tracked_pairs(this).into_iter().map(TrackedPair).collect())
    }

    #[getter]
    fn tracked_contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*self.0.read()?;
        array(py, feeler_c::tracked_contacts(this).into_iter().map(Contact).collect())
    }

    fn covers(&self) -> PyResult<bool> {
        let this = &*self.0.read()?;
        this.covers().map_err(failed)
    }

    #[getter]
    fn tracker_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let this = &*self.0.read()?;
        counts_dict(py, this.tracker_counts())
    }

    #[getter]
    fn bodies(&self) -> PyResult<Vec<u32>> {
        let this = &*self.0.read()?;
        Ok(this.bodies().map(|id| id.0).collect())
    }

    fn __len__(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.bodies().len())
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            format!("<Scene: {} bodies, {} contacts>", this.bodies().len(), this.contacts().len())
        })
    }
}
