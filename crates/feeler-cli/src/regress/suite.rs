//! Suites of models and pairs, read from files that docs/INTERFACE.md describes under "regress".

use crate::{folder, pose, trajectory};
use anyhow::{Context as _, bail, ensure};
use feeler_assembly::ComparisonTolerances;
use feeler_assembly::regress::TimeLimit;
use feeler_geom::Pose;
use feeler_import::Reading;
use globset::Glob;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Content of a suite file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    golden: Option<PathBuf>,
    #[serde(default)]
    tolerance: ToleranceTable,
    time: Option<TimeTable>,
    #[serde(default)]
    model: Vec<ModelEntry>,
    #[serde(default)]
    pair: Vec<PairEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToleranceTable {
    length: Option<f64>,
    relative: Option<f64>,
    angle: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeTable {
    ratio: f64,
    at_least_ms: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    name: Option<String>,
    file: String,
    #[serde(default)]
    open_shells: bool,
    unit: Option<f64>,
    #[serde(default = "yes")]
    faces: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairEntry {
    name: Option<String>,
    a: PathBuf,
    b: PathBuf,
    solid_a: Option<String>,
    solid_b: Option<String>,
    d_max: f64,
    pose_a: Option<String>,
    pose_b: Option<String>,
    poses_b: Option<Vec<String>>,
    trajectory: Option<PathBuf>,
    tolerance: Option<f64>,
    penetration: Option<f64>,
    quasi_angle: Option<f64>,
    #[serde(default)]
    open_shells: bool,
    unit: Option<f64>,
}

fn yes() -> bool {
    true
}

/// Solid of an entry: a file, and which solid of the file.
#[derive(Clone, Debug)]
pub(super) struct SolidSource {
    pub(super) file: PathBuf,
    /// Index, name or path of the solid; `None` selects the only solid of the file.
    pub(super) solid: Option<String>,
    pub(super) reading: Reading,
}

/// Result that an entry of a suite computes.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Facts of a model, such as volumes; with `faces`, also those of each face.
    Model { file: PathBuf, reading: Reading, faces: bool },
    /// Verdicts and minima of two solids at one or several poses.
    Pair(Box<PairTask>),
}

/// Two solids at one or several poses of A and B.
#[derive(Clone, Debug)]
pub(super) struct PairTask {
    pub(super) a: SolidSource,
    pub(super) b: SolidSource,
    pub(super) options: feeler_runtime::QueryOptions,
    pub(super) poses: Vec<(Pose, Pose)>,
}

/// Suite: entries to compute, and tolerances for their comparison.
#[derive(Debug)]
pub(super) struct Suite {
    /// Folder of the suite file, to which paths in the suite are relative.
    pub(super) folder: PathBuf,
    /// Path of the golden results, if the suite file states it.
    pub(super) golden: Option<PathBuf>,
    pub(super) tolerances: ComparisonTolerances,
    pub(super) time: Option<TimeLimit>,
    /// Tasks by names of entries.
    pub(super) tasks: BTreeMap<String, Task>,
}

impl Suite {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file);
        let text = text.with_context(|| format!("{}: the suite cannot be read", file.display()))?;
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        Self::parse(&text, folder).with_context(|| file.display().to_string())
    }

    fn parse(text: &str, folder: PathBuf) -> anyhow::Result<Self> {
        let written: SuiteFile = toml::from_str(text)?;
        let mut out = Self {
            golden: written.golden.clone(),
            tolerances: tolerances(&written.tolerance)?,
            time: written.time.as_ref().map(time_limit).transpose()?,
            tasks: BTreeMap::new(),
            folder,
        };
        for model in &written.model {
            out.add_models(model)?;
        }
        for pair in &written.pair {
            let name = pair.name.clone().unwrap_or_else(|| {
                let name = |p: &Path| p.with_extension("").display().to_string();
                format!("{} / {}", name(&pair.a), name(&pair.b))
            });
            let task = out.pair(pair).with_context(|| format!("pair '{name}'"))?;
            out.add(&name, Task::Pair(Box::new(task)))?;
        }
        ensure!(!out.tasks.is_empty(), "the suite has no entries; add [[model]] or [[pair]]");
        Ok(out)
    }

    fn add(&mut self, name: &str, task: Task) -> anyhow::Result<()> {
        let taken = self.tasks.insert(name.to_owned(), task).is_some();
        ensure!(!taken, "two entries are called '{name}'; give each entry a name of its own");
        Ok(())
    }

    /// Adds an entry for each file that the pattern of `model` matches, named by the path of the file.
    /// If `model` states a path instead of a pattern, there is one entry, which may have its own name
    /// and fails if the file does not exist.
    fn add_models(&mut self, model: &ModelEntry) -> anyhow::Result<()> {
        let reading = reading(model.open_shells, model.unit)?;
        let task = |file: PathBuf| Task::Model { file, reading, faces: model.faces };
        if !model.file.contains(['*', '?', '[', '{']) {
            let name = model.name.as_deref().unwrap_or(&model.file);
            return self.add(name, task(self.folder.join(&model.file)));
        }
        ensure!(
            model.name.is_none(),
            "'{}': the files of a pattern cannot have one name; remove `name`",
            model.file
        );
        let files = files_like(&self.folder, &model.file)?;
        ensure!(!files.is_empty(), "'{}': no file matches this pattern", model.file);
        for name in files {
            let file = self.folder.join(&name);
            self.add(&name, task(file))?;
        }
        Ok(())
    }

    fn pair(&self, pair: &PairEntry) -> anyhow::Result<PairTask> {
        let options = feeler_runtime::QueryOptions {
            d_max: pair.d_max,
            quasi_angle: pair.quasi_angle.unwrap_or(0.0),
            tolerance: pair.tolerance,
            penetration: pair.penetration.unwrap_or(0.0),
            ..feeler_runtime::QueryOptions::default()
        };
        options.check()?;
        let reading = reading(pair.open_shells, pair.unit)?;
        let solid = |file: &Path, solid: &Option<String>| SolidSource {
            file: self.folder.join(file),
            solid: solid.clone(),
            reading,
        };
        let one = |text: &Option<String>| {
            text.as_deref().map_or(Ok(Pose::identity()), |text| pose::parse_in(&self.folder, text))
        };
        let a = one(&pair.pose_a)?;
        let poses = match (&pair.pose_b, &pair.poses_b, &pair.trajectory) {
            (text, None, None) => vec![(a, one(text)?)],
            (None, Some(texts), None) => {
                ensure!(!texts.is_empty(), "poses_b is empty; give at least one pose");
                texts
                    .iter()
                    .map(|t| Ok((a, pose::parse_in(&self.folder, t)?)))
                    .collect::<anyhow::Result<_>>()?
            }
            (None, None, Some(file)) => {
                ensure!(pair.pose_a.is_none(), "the trajectory contains the poses of A; remove pose_a");
                let file = self.folder.join(file);
                let steps = trajectory::read(&file).with_context(|| file.display().to_string())?;
                steps.poses_a().iter().copied().zip(steps.poses_b().iter().copied()).collect()
            }
            _ => bail!("give only one of pose_b, poses_b and trajectory"),
        };
        Ok(PairTask { a: solid(&pair.a, &pair.solid_a), b: solid(&pair.b, &pair.solid_b), options, poses })
    }

    /// Keeps only the entries whose names match one of the patterns of `only`; if there are no patterns,
    /// keeps all entries.
    pub(super) fn keep(&mut self, only: &[String]) -> anyhow::Result<()> {
        if only.is_empty() {
            return Ok(());
        }
        let glob = |p: &String| Glob::new(p).map(|g| g.compile_matcher()).with_context(|| p.clone());
        let globs = only.iter().map(glob).collect::<anyhow::Result<Vec<_>>>()?;
        self.tasks.retain(|name, _| globs.iter().any(|g| g.is_match(name)));
        ensure!(!self.tasks.is_empty(), "no entry of the suite matches {}", only.join(" or "));
        Ok(())
    }
}

/// Sorted paths of the files below a folder that match a pattern, relative to the folder, with `/` as
/// the separator.
fn files_like(below: &Path, pattern: &str) -> anyhow::Result<Vec<String>> {
    let glob = globset::GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.with_context(|| pattern.to_owned())?.compile_matcher();
    // Only the folder before the first component with a wildcard is searched.
    let is_fixed = |p: &&std::ffi::OsStr| !p.to_string_lossy().contains(['*', '?', '[', '{']);
    let fixed: PathBuf = Path::new(pattern).iter().take_while(is_fixed).collect();
    let start = below.join(&fixed);
    let start = if start.as_os_str().is_empty() { PathBuf::from(".") } else { start };
    let mut found = Vec::new();
    for (path, relative) in folder::files(&start, &|_| true) {
        let relative = relative.map_err(anyhow::Error::msg).with_context(|| path.display().to_string())?;
        let name = folder::with_slashes(&fixed.join(relative));
        if glob.is_match(&name) {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

fn tolerances(written: &ToleranceTable) -> anyhow::Result<ComparisonTolerances> {
    let default = ComparisonTolerances::default();
    let one = |name, x: Option<f64>, default: f64| {
        let x = x.unwrap_or(default);
        ensure!(x.is_finite() && x >= 0.0, "tolerance.{name} is {x}; give 0 or more");
        Ok(x)
    };
    Ok(ComparisonTolerances {
        length: one("length", written.length, default.length)?,
        relative: one("relative", written.relative, default.relative)?,
        angle: one("angle", written.angle, default.angle)?,
    })
}

fn reading(open_shells: bool, unit: Option<f64>) -> anyhow::Result<Reading> {
    ensure!(
        unit.is_none_or(|mm| mm.is_finite() && mm > 0.0),
        "unit is {}; give the number of millimetres in one unit, such as 25.4",
        unit.unwrap_or_default()
    );
    Ok(Reading { open_shells, unit, ..Reading::default() })
}

fn time_limit(written: &TimeTable) -> anyhow::Result<TimeLimit> {
    let TimeTable { ratio, at_least_ms } = *written;
    ensure!(ratio.is_finite() && ratio > 1.0, "time.ratio is {ratio}; give a ratio above 1, such as 1.5");
    let at_least_ms = at_least_ms.unwrap_or(10.0);
    ensure!(at_least_ms >= 0.0, "time.at_least_ms is {at_least_ms}; give 0 or more");
    Ok(TimeLimit { ratio, at_least_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        format!("{:#}", Suite::parse(text, PathBuf::new()).unwrap_err())
    }

    #[test]
    fn entries_have_names() {
        let text = "[[model]]\nfile = 'a.step'\n[[pair]]\na = 'a.step'\nb = 'b.step'\nd_max = 1\n\
            [[pair]]\nname = 'x'\na = 'a.step'\nb = 'b.step'\nd_max = 1\nposes_b = ['0,0,1', '0,0,2']\n";
        let suite = Suite::parse(text, PathBuf::new()).unwrap();
        assert_eq!(suite.tasks.keys().collect::<Vec<_>>(), ["a / b", "a.step", "x"]);
        let Task::Pair(pair) = &suite.tasks["x"] else { panic!("a pair") };
        assert_eq!(pair.poses.len(), 2);
    }

    #[test]
    fn errors_name_the_mistake() {
        assert!(refused("").contains("has no entries"));
        assert!(refused("[[model]]\nfile = 'a'\n[[model]]\nfile = 'a'").contains("two entries"));
        assert!(refused("[[model]]\nfiel = 'a'").contains("fiel"));
        let pair = "[[pair]]\na = 'a'\nb = 'b'\n";
        assert!(refused(&format!("{pair}d_max = -1")).contains("pair 'a / b'"));
        assert!(refused(&format!("{pair}d_max = 1\npose_b = '1,2'")).contains("pose '1,2'"));
        let both = format!("{pair}d_max = 1\npose_b = '1,2,3'\ntrajectory = 't.json'");
        assert!(refused(&both).contains("only one of"));
        assert!(refused("[time]\nratio = 0.5\n[[model]]\nfile = 'a'").contains("time.ratio"));
        assert!(refused("[tolerance]\nlength = nan\n[[model]]\nfile = 'a'").contains("tolerance.length"));
    }
}
