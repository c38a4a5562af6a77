//! Mechanisms of links and joints, and their checks.

use crate::arrays::numbers;
use crate::clearance::error;
use crate::error::{FileError, file, query};
use crate::model::Body;
use crate::motion::motion_object;
use crate::pose::{self, matrix};
use crate::source::{Fields, Source};
use crate::wait;
use feeler::assembly::{
    Assembly, MechanismCheck, MechanismOptions, MechanismReport, MovingPart, PairMotion, StepDistance,
    ToleranceChoice, assign_links,
};
use feeler::{P3, Pose, Status};
use feeler_mechanism::file::{self as mechanism_file, MechanismFile};
use feeler_mechanism::{Joint, JointKind, JointTrajectory, Mechanism as Links, MechanismError, urdf};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Links, joints and parts of a mechanism, and the motion and options of its file.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Mechanism {
    links: Arc<Links>,
    parts: Arc<Vec<MovingPart>>,
    file: Option<MechanismFile>,
    /// Texts of the mechanism file and of the URDF, for pickling.
    texts: [Option<String>; 2],
}

/// Name, link, body and pose of a part, for pickling.
type PartState<'py> = (String, usize, Py<Body>, Bound<'py, PyAny>);

fn read_text(path: &Path) -> PyResult<String> {
    std::fs::read_to_string(path)
        .map_err(|e| FileError::new_err(format!("{}: cannot be read: {e}", path.display())))
}

/// Reads the mechanism of the texts of a mechanism file and of a URDF, of which one may be missing.
fn parse([toml, urdf]: &[Option<String>; 2]) -> Result<(Links, Option<MechanismFile>), MechanismError> {
    match (toml, urdf) {
        (Some(toml), urdf) => {
            let file = mechanism_file::read(toml)?;
            Ok((file.mechanism(urdf.as_deref())?, Some(file)))
        }
        (None, urdf) => Ok((urdf::read(urdf.as_deref().unwrap_or_default())?, None)),
    }
}

/// Loads the parts of all links that a mechanism file names; paths are relative to `folder`.
fn load_parts(file: &MechanismFile, links: &Links, folder: &Path) -> PyResult<Vec<MovingPart>> {
    let load = |path: PathBuf| {
        Source::File(path.clone()).with(|model| {
            Assembly::from_model(model).map_err(|e| self::file(format!("{}: {e}", path.display())))
        })
    };
    if let Some(assembly) = &file.assembly {
        let named = file.links.iter().map(|(link, names)| (link.as_str(), names.all()));
        return assign_links(load(folder.join(assembly))?.into_parts(), links, named).map_err(error);
    }
    let mut parts = Vec::new();
    for (link, names) in &file.links {
        let k = links.link(link).map_err(query)?;
        for name in names.all() {
            let solids = load(folder.join(name))?.into_parts();
            let is_only = solids.len() == 1 && names.all().len() == 1;
            parts.extend(solids.into_iter().map(|part| {
                let part = MovingPart::new(part, k);
                let name = if is_only { link.clone() } else { format!("{link}/{}", part.name) };
                MovingPart { name, ..part }
            }));
        }
    }
    Ok(parts)
}

impl Mechanism {
    fn from_texts(texts: [Option<String>; 2], name: &str, folder: Option<&Path>) -> PyResult<Self> {
        let (links, file) = parse(&texts).map_err(|e| match name {
            "" => FileError::new_err(e.to_string()),
            name => FileError::new_err(format!("{name}: {e}")),
        })?;
        let parts = match (&file, folder) {
            (Some(file), Some(folder)) => load_parts(file, &links, folder)?,
            _ => vec![],
        };
        Ok(Self { links: Arc::new(links), parts: Arc::new(parts), file, texts })
    }

    /// Reads the text of a mechanism file, the URDF that it names, and the parts.
    fn from_toml_text(py: Python<'_>, text: String, name: &str, folder: &Path) -> PyResult<Self> {
        let file = mechanism_file::read(&text).map_err(|e| FileError::new_err(format!("{name}: {e}")))?;
        let urdf = file.urdf.as_ref().map(|urdf| read_text(&folder.join(urdf))).transpose()?;
        let (name, folder) = (name.to_owned(), folder.to_owned());
        wait::run(py, None, None, move |_| Self::from_texts([Some(text), urdf], &name, Some(&folder)))
    }

    /// Values of all joints (rad, mm), shape (n, joints) as rows, of a dictionary of joints or an array.
    /// Joints that a dictionary omits are at 0. The second value is whether the values are those of one
    /// moment, and the third one has the indices of the joints whose values are given.
    fn values(&self, values: &Bound<'_, PyAny>) -> PyResult<(Vec<Vec<f64>>, bool, Vec<usize>)> {
        let count = self.links.joints.len();
        let Ok(by_name) = values.cast::<PyDict>() else {
            let array = numbers(values)?;
            let array = array.as_array();
            let flat: Vec<f64> = array.iter().copied().collect();
            let is_one = match array.shape() {
                [k] if *k == count => true,
                [_, k] if *k == count => false,
                shape => {
                    return Err(PyValueError::new_err(format!(
                        "values: expected shape ({count},) or (n, {count}), one value for each joint, or a \
                         dict of joints; got shape {shape:?}"
                    )));
                }
            };
            let rows = match count {
                0 => vec![vec![]; array.shape()[0]],
                _ => flat.chunks_exact(count).map(<[f64]>::to_vec).collect(),
            };
            let free = (0..count).filter(|k| self.links.joints[*k].mimic.is_none()).collect();
            return Ok((rows, is_one, free));
        };
        let mut columns = Vec::new();
        for (name, value) in by_name {
            let name: String = name.extract()?;
            let k = self.links.joint(&name).map_err(query)?;
            if let Some(mimic) = self.links.joints[k].mimic {
                let other = &self.links.joints[mimic.joint].name;
                return Err(query(format!(
                    "joint '{name}' follows joint '{other}'; give the value of that one"
                )));
            }
            let array = numbers(&value)?;
            let array = array.as_array();
            if array.ndim() > 1 {
                let shape = array.shape();
                return Err(PyValueError::new_err(format!(
                    "joint '{name}': expected shape () or (n,), got {shape:?}"
                )));
            }
            columns.push((k, name, array.ndim() == 0, array.iter().copied().collect::<Vec<f64>>()));
        }
        let lists: Vec<_> = columns.iter().filter(|(_, _, is_scalar, _)| !is_scalar).collect();
        let n = lists.first().map_or(1, |(_, _, _, list)| list.len());
        if let Some((_, name, _, list)) = lists.iter().find(|(_, _, _, list)| list.len() != n) {
            return Err(PyValueError::new_err(format!(
                "joint '{name}' has {} values and joint '{}' has {n}; give equal numbers of values",
                list.len(),
                lists[0].1
            )));
        }
        let mut rows = vec![vec![0.0; count]; n];
        for (k, _, _, list) in &columns {
            for (i, row) in rows.iter_mut().enumerate() {
                row[*k] = list[if list.len() == 1 { 0 } else { i }];
            }
        }
        let mut driven: Vec<usize> = columns.iter().map(|(k, ..)| *k).collect();
        driven.sort_unstable();
        Ok((rows, lists.is_empty(), driven))
    }

    /// Motion of the joints: that of the arguments, or else that of the file.
    fn motion_of(
        &self,
        times: Option<&Bound<'_, PyAny>>,
        values: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<JointTrajectory> {
        let (times, values) = match (times, values, &self.file) {
            (Some(times), Some(values), _) => (times, values),
            (None, None, Some(file)) => return file.motion(&self.links).map_err(query),
            (None, None, None) => {
                return Err(query("the mechanism has no motion; give times and values of its joints"));
            }
            _ => return Err(PyTypeError::new_err("times and values belong together; give both or neither")),
        };
        let array = numbers(times)?;
        let times: Vec<f64> = array.as_array().iter().copied().collect();
        let is_increasing = times.windows(2).all(|w| w[1] > w[0]) && times.iter().all(|t| t.is_finite());
        if times.len() < 2 || !is_increasing {
            return Err(query("times: give at least two finite times that increase"));
        }
        let (mut rows, is_one, driven) = self.values(values)?;
        if is_one {
            rows = vec![rows[0].clone(); times.len()];
        }
        if rows.len() != times.len() {
            let (n, m) = (rows.len(), times.len());
            return Err(PyValueError::new_err(format!(
                "values: {n} values of each joint for {m} times; give one value for each time"
            )));
        }
        Ok(JointTrajectory { times, values: rows, driven })
    }

    /// Indices of both links of each pair of names.
    fn link_pairs(&self, pairs: &[[String; 2]]) -> PyResult<Vec<[usize; 2]>> {
        let link = |name: &String| self.links.link(name).map_err(query);
        pairs.iter().map(|[a, b]| Ok([link(a)?, link(b)?])).collect()
    }
}

#[pymethods]
impl Mechanism {
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let (text, name) = (read_text(&path)?, path.display().to_string());
        let is_urdf = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf"));
        if is_urdf || text.trim_start().starts_with('<') {
            return Self::from_texts([None, Some(text)], &name, None);
        }
        Self::from_toml_text(py, text, &name, path.parent().unwrap_or(Path::new("")))
    }

    #[staticmethod]
    #[pyo3(signature = (text, folder = PathBuf::new()))]
    fn from_toml(py: Python<'_>, text: String, folder: PathBuf) -> PyResult<Self> {
        Self::from_toml_text(py, text, "mechanism", &folder)
    }

    #[staticmethod]
    fn from_urdf(text: String) -> PyResult<Self> {
        Self::from_texts([None, Some(text)], "", None)
    }

    #[staticmethod]
    fn _from_state(toml: Option<String>, urdf: Option<String>, parts: Vec<PartState<'_>>) -> PyResult<Self> {
        let mechanism = Self::from_texts([toml, urdf], "", None)?;
        let part = |(name, link, body, pose): PartState<'_>| {
            let pose = pose::read(Some(&pose))?;
            Ok(MovingPart { name, link, body: body.get().body.clone(), pose })
        };
        let parts = parts.into_iter().map(part).collect::<PyResult<_>>()?;
        Ok(Self { parts: Arc::new(parts), ..mechanism })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = slf.get();
        let part = |p: &MovingPart| {
            let pose = PyArray1::from_slice(py, &feeler::pose::to_values(&p.pose)).into_any();
            Ok((p.name.clone(), p.link, Py::new(py, Body { body: p.body.clone() })?, pose))
        };
        let parts: Vec<PartState<'py>> = this.parts.iter().map(part).collect::<PyResult<_>>()?;
        let [toml, urdf] = &this.texts;
        let state = (toml, urdf, parts).into_pyobject(py)?.into_any();
        Ok((slf.get_type().getattr("_from_state")?, state))
    }

    fn with_parts(&self, py: Python<'_>, parts: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut all = Vec::new();
        let mut sources = Vec::new();
        for (link, given) in parts {
            let link: String = link.extract()?;
            let k = self.links.link(&link).map_err(query)?;
            let several = match given.extract::<Vec<Bound<'_, PyAny>>>() {
                Ok(several) if given.cast::<pyo3::types::PyString>().is_err() => several,
                _ => vec![given],
            };
            for (i, given) in several.iter().enumerate() {
                let name = if several.len() > 1 { format!("{link}/{i}") } else { link.clone() };
                match given.cast::<Body>() {
                    Ok(body) => {
                        let body = body.get().body.clone();
                        all.push(MovingPart { name, link: k, body, pose: Pose::identity() });
                    }
                    Err(_) => sources.push((name, k, given.extract::<Source>()?)),
                }
            }
        }
        let loaded = wait::run(py, None, None, move |_| {
            let mut loaded = Vec::new();
            for (name, k, source) in sources {
                source.with(|model| {
                    let solids = Assembly::from_model(model).map_err(error)?.into_parts();
                    let is_only = solids.len() == 1;
                    loaded.extend(solids.into_iter().map(|solid| {
                        let part = MovingPart::new(solid, k);
                        let name = if is_only { name.clone() } else { format!("{name}/{}", part.name) };
                        MovingPart { name, ..part }
                    }));
                    Ok(())
                })?;
            }
            Ok(loaded)
        })?;
        all.extend(loaded);
        all.sort_by_key(|part| part.link);
        let (links, file, texts) = (self.links.clone(), self.file.clone(), self.texts.clone());
        Ok(Self { links, parts: Arc::new(all), file, texts })
    }

    #[getter]
    fn links(&self) -> Vec<String> {
        self.links.links.clone()
    }

    #[getter]
    fn joints<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let name = |k: usize| &self.links.links[k];
        let one = |joint: &Joint| {
            let (kind, axis, point) = match joint.kind {
                JointKind::Fixed => ("fixed", None, None),
                JointKind::Revolute { point, axis } => ("revolute", Some(axis), Some(point)),
                JointKind::Prismatic { axis } => ("prismatic", Some(axis), None),
            };
            let mimic = joint.mimic.map(|m| (&self.links.joints[m.joint].name, m.ratio, m.offset));
            Fields::new(py)
                .set("name", &joint.name)?
                .set("kind", kind)?
                .set("parent", name(joint.parent))?
                .set("child", name(joint.child))?
                .set("origin", matrix(py, &joint.origin))?
                .set("axis", axis.map(|a| PyArray1::from_slice(py, a.as_slice())))?
                .set("point", point.map(|p| PyArray1::from_slice(py, p.coords.as_slice())))?
                .set("limits", joint.limits.map(|l| PyArray1::from_slice(py, &l)))?
                .set("mimic", mimic)?
                .build("Joint")
        };
        self.links.joints.iter().map(one).collect()
    }

    #[getter]
    fn parts(&self) -> Vec<(String, String)> {
        let one = |part: &MovingPart| (part.name.clone(), self.links.links[part.link].clone());
        self.parts.iter().map(one).collect()
    }

    #[getter]
    fn motion<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyDict>)>> {
        let Some(file) = self.file.as_ref().filter(|file| file.motion.is_some()) else { return Ok(None) };
        let motion = file.motion(&self.links).map_err(query)?;
        let by_name = PyDict::new(py);
        for k in &motion.driven {
            let column = PyArray1::from_iter(py, motion.values.iter().map(|row| row[*k]));
            by_name.set_item(&self.links.joints[*k].name, column)?;
        }
        Ok(Some((PyArray1::from_slice(py, &motion.times).into_any(), by_name)))
    }

    fn link_poses<'py>(&self, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = values.py();
        if let Some(closure) = self.links.closures.first() {
            return Err(query(format!(
                "joint '{}' closes a loop, so that the values of other joints follow; use check(), whose \
                 report has the poses of all links",
                closure.name
            )));
        }
        let (rows, is_one, _) = self.values(values)?;
        let mut all = Vec::with_capacity(rows.len());
        for row in &rows {
            let values = self.links.all_values(row);
            self.links.check(&values).map_err(query)?;
            all.push(self.links.poses(&values));
        }
        let table = pose_table(py, &all, self.links.links.len())?;
        if is_one { table.get_item(0) } else { Ok(table) }
    }

    #[pyo3(signature = (
        times = None, values = None, *, steps = 100, grid = None, d_max = 10.0, distance = 0.0, proof = true,
        allow_touching = None, tolerance = None, deviation = None, ignore = None, neighbours = None,
        threads = None, progress = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of the method in Python")]
    fn check<'py>(
        &self,
        py: Python<'py>,
        times: Option<&Bound<'py, PyAny>>,
        values: Option<&Bound<'py, PyAny>>,
        steps: u32,
        grid: Option<u32>,
        d_max: f64,
        distance: f64,
        proof: bool,
        allow_touching: Option<bool>,
        tolerance: Option<f64>,
        deviation: Option<f64>,
        ignore: Option<Vec<[String; 2]>>,
        neighbours: Option<bool>,
        threads: Option<u16>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.parts.is_empty() {
            return Err(query("the mechanism has no parts; give the bodies of its links by with_parts()"));
        }
        if !(d_max.is_finite() && d_max >= 0.0 && distance.is_finite() && distance >= 0.0) {
            return Err(query(format!(
                "d_max is {d_max} and distance is {distance}; give lengths of at least 0 mm"
            )));
        }
        if grid.is_some() && (times.is_some() || values.is_some()) {
            return Err(PyTypeError::new_err("grid and times exclude each other; give one of them"));
        }
        let motion = match grid {
            Some(_) => None,
            None => Some(self.motion_of(times, values)?),
        };
        let file = self.file.as_ref();
        let ignored = match (&ignore, file) {
            (Some(pairs), _) => self.link_pairs(pairs)?,
            (None, Some(file)) => self.link_pairs(&file.ignore)?,
            (None, None) => vec![],
        };
        let neighbours = neighbours.unwrap_or(file.is_some_and(|f| f.neighbours));
        let allow_touching = allow_touching.unwrap_or(file.is_some_and(|f| f.allow_touching));
        let deviation = deviation.or(file.and_then(|f| f.deviation));
        if let Some(bad) = tolerance.filter(|x| !(x.is_finite() && *x > 0.0)) {
            return Err(query(format!("the tolerance is {bad}; give a length above 0 mm")));
        }
        let tolerance = tolerance.map_or(ToleranceChoice::Default, ToleranceChoice::Length);
        let options = MechanismOptions { d_max, distance, proof, allow_touching, deviation, tolerance };
        let (links, parts) = (self.links.clone(), self.parts.clone());
        let report = wait::run(py, progress, threads, move |progress| {
            let check = MechanismCheck::new(&links, &parts, &ignored, neighbours).map_err(error)?;
            let check = check.with_progress(progress);
            match (&motion, grid) {
                (Some(motion), _) => check.along(motion, steps, &options),
                (None, values) => check.over_grid(values.unwrap_or_default(), &options),
            }
            .map_err(error)
        })?;
        self.report_object(py, &report)
    }

    fn __repr__(&self) -> String {
        let (links, joints) = (self.links.links.len(), self.links.joints.len());
        format!("<Mechanism: {links} links, {joints} joints, {} parts>", self.parts.len())
    }
}

/// Converts the poses of all links at several moments to an array of shape (n, links, 4, 4).
fn pose_table<'py>(py: Python<'py>, moments: &[Vec<Pose>], links: usize) -> PyResult<Bound<'py, PyAny>> {
    let rows = moments.iter().flatten().flat_map(|pose| {
        let m = pose.to_homogeneous();
        (0..16).map(move |k| m[(k / 4, k % 4)])
    });
    PyArray1::from_iter(py, rows).call_method1("reshape", ((moments.len(), links, 4, 4),))
}

impl Mechanism {
    fn report_object<'py>(&self, py: Python<'py>, report: &MechanismReport) -> PyResult<Bound<'py, PyAny>> {
        let times = PyArray1::from_iter(py, report.moments.iter().map(|m| m.time));
        let poses: Vec<Vec<Pose>> = report.moments.iter().map(|m| m.links.clone()).collect();
        let margins = report.margins();
        let pairs = report.pairs.iter().map(|pair| {
            let points = |k: usize| {
                let row =
                    move |s: &StepDistance| s.points.map_or([f64::NAN; 3], |p: [P3; 2]| p[k].into()).to_vec();
                PyArray2::from_vec2(py, &pair.steps.iter().map(row).collect::<Vec<_>>()).map_err(query)
            };
            let [a, b] = pair.parts.map(|i| &self.parts[i].name);
            let distances = pair.steps.iter().map(|s| s.distance.unwrap_or(f64::INFINITY));
            let (smallest, deepest) = (pair.smallest(), pair.deepest());
            let depths = pair.steps.iter().map(|s| s.depth.unwrap_or(0.0));
            let undecided = pair.steps.iter().map(|s| s.status == Status::Undecided);
            Fields::new(py)
                .set("part_a", a)?
                .set("part_b", b)?
                .set("distances", PyArray1::from_iter(py, distances))?
                .set("interferes", PyArray1::from_iter(py, pair.steps.iter().map(StepDistance::interferes)))?
                .set("undecided", PyArray1::from_iter(py, undecided))?
                .set("points_a", points(0)?)?
                .set("points_b", points(1)?)?
                .set("min_distance", smallest.map(|s| s.0))?
                .set("min_index", smallest.map(|s| s.1))?
                .set("depths", PyArray1::from_iter(py, depths))?
                .set("max_depth", deepest.map(|d| d.0))?
                .set("max_depth_index", deepest.map(|d| d.1))?
                .set("is_proven_free", pair.is_proven_free())?
                .set("is_proven_allowed", pair.is_proven_allowed())?
                .set("motion", pair.motion.as_ref().map(|m: &PairMotion| motion_object(py, m)).transpose()?)?
                .build("MechanismPair")
        });
        let pairs: Vec<_> = pairs.collect::<PyResult<_>>()?;
        let linkage = report.linkage.as_ref().map(|linkage| {
            let loops = &linkage.loops;
            let dependent: Vec<_> = loops.dependent.iter().map(|k| &self.links.joints[*k].name).collect();
            Fields::new(py)
                .set("dependent", PyTuple::new(py, dependent)?)?
                .set("values", PyArray2::from_vec2(py, &linkage.values).map_err(query)?)?
                .set("branches", PyArray2::from_vec2(py, &loops.branches).map_err(query)?)?
                .set("branch", loops.branch)?
                .set("size", loops.size)?
                .set("piece_count", loops.pieces)?
                .set("closure_error", loops.closure_error)?
                .set("deviation", loops.deviation)?
                .build("Linkage")
        });
        let joints = self.links.joints.iter().map(|joint| &joint.name);
        Fields::new(py)
            .set("links", PyTuple::new(py, &self.links.links)?)?
            .set("joints", PyTuple::new(py, joints)?)?
            .set("times", times)?
            .set("link_poses", pose_table(py, &poses, self.links.links.len())?)?
            .set("pairs", PyTuple::new(py, pairs)?)?
            .set(
                "margins",
                margin_array(py, margins.iter().map(|m| m.map_or(f64::INFINITY, |m| m.distance))),
            )?
            .set("margin_pairs", margin_pairs(py, &margins))?
            .set("linkage", linkage.transpose()?)?
            .build("MechanismReport")
    }
}

fn margin_array<'py>(py: Python<'py>, values: impl Iterator<Item = f64>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, values.collect())
}

/// Index of the nearest pair at each moment; -1 if no pair is within `d_max`.
fn margin_pairs<'py>(
    py: Python<'py>,
    margins: &[Option<feeler::assembly::Margin>],
) -> Bound<'py, PyArray1<i64>> {
    let index =
        |m: &Option<feeler::assembly::Margin>| m.and_then(|m| i64::try_from(m.pair).ok()).unwrap_or(-1);
    PyArray1::from_iter(py, margins.iter().map(index))
}
