//! Clearance of assemblies, as values.

use crate::error::{FileError, file, query};
use crate::pair::word;
use crate::pose::{self, matrix};
use crate::record::{Contact, array};
use crate::source::{Fields, Source};
use crate::wait;
use feeler::assembly::{
    Assembly, AssemblyError, AssemblyPart, Baseline, Clearance, ClearanceOptions, ClearancePair,
    ClearanceReport, Finding, FitKind, Rules as AssemblyRules, ToleranceChoice,
};
use feeler::{P3, Pose};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::Arc;

/// Rules of a clearance check.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Rules {
    rules: Arc<AssemblyRules>,
    text: String,
}

impl Rules {
    fn parse(text: String, name: &str) -> PyResult<Self> {
        let rules = AssemblyRules::from_toml(&text).map_err(|e| match name {
            "" => FileError::new_err(e.to_string()),
            name => FileError::new_err(format!("{name}: {e}")),
        })?;
        Ok(Self { rules: Arc::new(rules), text })
    }

    /// Reads rules given as an object or as the path of a file; `None` stands for no rules.
    fn from_argument(rules: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<AssemblyRules>> {
        match rules {
            None => Ok(Arc::default()),
            Some(rules) => match rules.cast::<Self>() {
                Ok(rules) => Ok(rules.get().rules.clone()),
                Err(_) => Ok(Self::read(rules.extract()?)?.rules),
            },
        }
    }
}

#[pymethods]
impl Rules {
    #[new]
    fn new(text: String) -> PyResult<Self> {
        Self::parse(text, "")
    }

    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .map_err(|e| FileError::new_err(format!("{name}: the rules cannot be read: {e}")))?;
        Self::parse(text, &name)
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().text.clone(),))
    }

    fn __repr__(&self) -> String {
        format!("<Rules: {}>", self.rules.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", "))
    }
}

/// Parts, names of what was left out, and report of a check.
type Checked = (Vec<AssemblyPart>, Vec<String>, ClearanceReport);

/// Checks which parts of assemblies touch, interfere or come too close.
#[pyfunction]
#[pyo3(signature = (
    inputs, poses, rules, d_max, tolerance, volume, max_contacts, baseline, threads, progress
))]
#[expect(clippy::too_many_arguments, reason = "keywords of the function in Python")]
pub(crate) fn clearance<'py>(
    py: Python<'py>,
    inputs: Vec<Source>,
    poses: Option<Vec<Option<Bound<'py, PyAny>>>>,
    rules: Option<&Bound<'py, PyAny>>,
    d_max: Option<f64>,
    tolerance: Option<f64>,
    volume: bool,
    max_contacts: usize,
    baseline: Option<PathBuf>,
    threads: Option<u16>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let poses = read_poses(poses, inputs.len())?;
    let rules = Rules::from_argument(rules)?;
    if let Some(bad) = [d_max, tolerance].into_iter().flatten().find(|x| !(x.is_finite() && *x > 0.0)) {
        return Err(query(format!("{bad} is not a valid d_max or tolerance; give a length above 0 mm")));
    }
    let known =
        baseline.map(|path| feeler_cli::clearance::baseline::read(&path).map_err(file)).transpose()?;
    let tolerance = tolerance.map(ToleranceChoice::Length);
    let options = ClearanceOptions { d_max, tolerance, max_contacts, volume };
    options.reach(&rules).map_err(query)?;
    let (parts, left_out, report) = wait::run(py, progress, threads, move |progress| -> PyResult<Checked> {
        let (mut assembly, mut left_out) = (Assembly::default(), Vec::new());
        for (input, pose) in inputs.iter().zip(&poses) {
            if progress.is_stopped() {
                return Err(wait::stopped());
            }
            let name = if inputs.len() > 1 { input.stem() } else { String::new() };
            input.with(|model| {
                left_out.extend(model.left_out().into_iter().map(|x| format!("{}: {x}", input.name())));
                assembly.add(model, &name, pose).map_err(|e| file(format!("{}: {e}", input.name())))
            })?;
        }
        let parts = assembly.into_parts();
        let check = Clearance::new(&parts, &rules, &options).map_err(error)?;
        let measurements = check.measure_with(progress).ok_or_else(wait::stopped)?;
        let mut report = check.report(measurements);
        report.apply_baseline(&known.unwrap_or_default(), &parts);
        Ok((parts, left_out, report))
    })?;
    let of_parts: Vec<_> = parts.iter().map(|part| part_object(py, part)).collect::<PyResult<_>>()?;
    let pairs: Vec<_> = report.pairs.iter().map(|p| pair_object(py, p, &parts)).collect::<PyResult<_>>()?;
    Fields::new(py)
        .set("parts", PyTuple::new(py, of_parts)?)?
        .set("pairs", PyTuple::new(py, pairs)?)?
        .set("pair_count", report.counts.total)?
        .set("ignored_count", report.counts.ignored)?
        .set("near_count", report.counts.near)?
        .set("d_max", report.d_max)?
        .set("unmatched_rules", PyTuple::new(py, &report.unmatched_rules)?)?
        .set("fixed_count", report.fixed)?
        .set("left_out", PyTuple::new(py, left_out)?)?
        .build("ClearanceReport")
}

/// Writes findings, each with the paths of its parts, as a baseline file.
#[pyfunction]
pub(crate) fn write_baseline(path: PathBuf, findings: Vec<(String, String, String)>) -> PyResult<()> {
    let mut baseline = Baseline::default();
    for (a, b, name) in &findings {
        let finding = FINDINGS.iter().find(|(_, n)| n == name).map(|(f, _)| *f);
        let finding = finding.ok_or_else(|| PyValueError::new_err(format!("unknown finding '{name}'")))?;
        baseline.insert(a, b, finding);
    }
    let bytes = feeler_cli::clearance::baseline::to_bytes(&baseline).map_err(file)?;
    feeler_hierarchy::whole::write_whole(&path, &bytes).map_err(|e| file(format!("{}: {e}", path.display())))
}

/// Findings and their names, by decreasing severity.
const FINDINGS: [(Finding, &str); 7] = [
    (Finding::Interferes, "interferes"),
    (Finding::Undecided, "undecided"),
    (Finding::Failed, "failed"),
    (Finding::WithinAccuracy, "within-accuracy"),
    (Finding::TooClose, "too-close"),
    (Finding::Touches, "touches"),
    (Finding::DoesNotTouch, "does-not-touch"),
];

/// Converts an error of an assembly to a `QueryError` or, if it is about a file, to a `FileError`.
pub(crate) fn error(e: AssemblyError) -> PyErr {
    match e {
        AssemblyError::Body(e) => crate::error::BodyError::new_err(e.to_string()),
        AssemblyError::Scene(e) => crate::error::scene(e),
        AssemblyError::Stopped => wait::stopped(),
        e => query(e),
    }
}

/// Reads one pose for each of `count` inputs; identities if no poses are given.
fn read_poses(poses: Option<Vec<Option<Bound<'_, PyAny>>>>, count: usize) -> PyResult<Vec<Pose>> {
    let Some(poses) = poses else { return Ok(vec![Pose::identity(); count]) };
    if poses.len() != count {
        let n = poses.len();
        return Err(PyValueError::new_err(format!(
            "poses: {n} poses for {count} inputs; give one pose for each input, None for those that stay"
        )));
    }
    poses.iter().map(|pose| pose::read(pose.as_ref())).collect()
}

fn part_object<'py>(py: Python<'py>, part: &AssemblyPart) -> PyResult<Bound<'py, PyAny>> {
    Fields::new(py)
        .set("name", &part.name)?
        .set("path", &part.path)?
        .set("model", part.model)?
        .set("solid", part.solid)?
        .set("pose", matrix(py, &part.pose))?
        .build("Part")
}

fn pair_object<'py>(
    py: Python<'py>,
    pair: &ClearancePair,
    parts: &[AssemblyPart],
) -> PyResult<Bound<'py, PyAny>> {
    let point = |p: P3| PyArray1::from_slice(py, p.coords.as_slice());
    let [a, b] = pair.parts;
    let m = pair.measurement.as_ref();
    let valid = m.filter(|m| m.error.is_none());
    let nearest = valid.and_then(|m| m.nearest.as_ref());
    let fit = valid.and_then(|m| m.fit).map(|fit| {
        let kind = match fit.kind {
            FitKind::Thread => "thread",
            FitKind::Press => "press",
            FitKind::Running => "running",
        };
        let [hole, shaft] = fit.diameters.unwrap_or([f64::NAN; 2]);
        Fields::new(py)
            .set("kind", kind)?
            .set("hole_in", fit.hole_in)?
            .set("hole_diameter", fit.diameters.map(|_| hole))?
            .set("shaft_diameter", fit.diameters.map(|_| shaft))?
            .build("Fit")
    });
    let contacts = valid.map_or(vec![], |m| m.contacts.iter().map(|c| Contact(c.into())).collect());
    let overlap = valid.and_then(|m| m.overlap.as_ref());
    let finding = pair.finding.and_then(|f| FINDINGS.iter().find(|(other, _)| *other == f));
    Fields::new(py)
        .set("part_a", a)?
        .set("part_b", b)?
        .set("path_a", &parts[a].path)?
        .set("path_b", &parts[b].path)?
        .set("status", pair.status().map(word))?
        .set("finding", finding.map(|(_, name)| name))?
        .set("is_known", pair.is_known)?
        .set("rule", &pair.rule)?
        .set("min", pair.min)?
        .set("distance", nearest.map(|n| n.distance))?
        .set("point_a", nearest.map(|n| point(n.points[0])))?
        .set("point_b", nearest.map(|n| point(n.points[1])))?
        .set("depth", if valid.is_some() { pair.depth() } else { 0.0 })?
        .set("witness", valid.and_then(|m| m.witness).map(|w| point(w.point)))?
        .set("accuracy", valid.map_or(0.0, |m| m.accuracy))?
        .set("tolerance", valid.map(|m| m.tolerance))?
        .set("decided_at", valid.and_then(|m| m.decided_at))?
        .set("fit", fit.transpose()?)?
        .set("overlap_volume", overlap.map(|o| o.volume))?
        .set("overlap_error", overlap.map(|o| o.error))?
        .set("contact_count", valid.map_or(0, |m| m.contact_count))?
        .set("contacts", array(py, contacts)?)?
        .set("error", m.and_then(|m| m.error.as_ref()).map(ToString::to_string))?
        .build("ClearancePair")
}
