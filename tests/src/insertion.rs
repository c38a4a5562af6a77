//! Insertion scenarios: two solids and a trajectory in one JSON file, which `feeler sweep` also accepts.

use feeler_cli::trajectory;
use feeler_geom::Pose;
use feeler_hierarchy::Options;
use feeler_runtime::Body;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Contents of the scenario file other than the poses.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Clearance between the parts (mm).
    pub clearance: f64,
    /// STEP file of the fixed solid.
    pub a: String,
    /// STEP file of the moving solid.
    pub b: String,
    /// Names of the phases with their half-open ranges of poses.
    pub phases: Vec<(String, usize, usize)>,
    /// Smallest distance (mm) computed by an independent kernel, by index of the pose.
    #[serde(default)]
    pub reference_min_distance: BTreeMap<usize, f64>,
    /// Implicit dilation (mm) of the moving solid, which is the distance by which its model was eroded.
    #[serde(default)]
    pub dilation: f64,
}

/// A scenario ready for queries.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// Name of the file of the scenario.
    pub name: String,
    /// Phases, reference distances and clearance.
    pub scenario: Scenario,
    /// The fixed solid and its pose.
    pub a: (Arc<Body>, Pose),
    /// The moving solid and its pose before the motion.
    pub b: (Arc<Body>, Pose),
    /// Poses of the moving solid in world coordinates.
    pub poses: Vec<Pose>,
}

impl Insertion {
    /// Loads the scenario of `file` and prepares its solids with the given flatness (rad). Their files
    /// are in the same folder.
    ///
    /// # Errors
    /// If a file cannot be read or prepared, or a phase exceeds the poses.
    pub fn load(file: &Path, flatness: f64) -> Result<Self, String> {
        let named = |e: String| format!("{}: {e}", file.display());
        let text = std::fs::read_to_string(file).map_err(|e| named(e.to_string()))?;
        let scenario: Scenario = serde_json::from_str(&text).map_err(|e| named(e.to_string()))?;
        let steps = trajectory::read(file).map_err(|e| named(format!("{e:#}")))?;
        if scenario.phases.iter().any(|(_, from, to)| from > to || *to > steps.len()) {
            return Err(named("a phase exceeds the poses".to_owned()));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        let body = |name: &str| -> Result<(Arc<Body>, Pose), String> {
            let options = Options { flatness };
            let model = feeler_import::prepare_step_with(&folder.join(name), &options);
            let model = model.map_err(|e| format!("{e:#}"))?;
            let instance =
                model.instances.first().ok_or_else(|| named(format!("{name} contains no solid")))?;
            let body = Body::from_model(&model, instance.solid as usize).map_err(|e| e.to_string())?;
            Ok((Arc::new(body), instance.pose()))
        };
        let (a, b) = (body(&scenario.a)?, body(&scenario.b)?);
        let poses = steps.poses_b().iter().map(|p| p * b.1).collect();
        let name = file.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok(Self { name, scenario, a, b, poses })
    }

    /// Loads all scenarios in a folder: every JSON file, sorted by name.
    ///
    /// # Errors
    /// As for [`Insertion::load`], or if the folder has no scenarios.
    pub fn load_all(folder: &Path, flatness: f64) -> Result<Vec<Self>, String> {
        let named = |e: String| format!("{}: {e}", folder.display());
        let entries = std::fs::read_dir(folder).map_err(|e| named(e.to_string()))?;
        let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "json"));
        files.sort();
        if files.is_empty() {
            return Err(named("the folder contains no scenario (*.json)".to_owned()));
        }
        files.iter().map(|f| Self::load(f, flatness)).collect()
    }

    /// Index range of the poses of a phase.
    ///
    /// # Errors
    /// If no such phase exists.
    pub fn phase(&self, name: &str) -> Result<std::ops::Range<usize>, String> {
        let phase = self.scenario.phases.iter().find(|(phase, ..)| phase == name);
        phase
            .map(|(_, from, to)| *from..*to)
            .ok_or_else(|| format!("{}: there is no phase '{name}'", self.name))
    }

    /// Maximum distance of a query (mm): twice the clearance.
    #[must_use]
    pub fn d_max(&self) -> f64 {
        2.0 * self.scenario.clearance
    }
}
