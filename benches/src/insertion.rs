//! The insertion scenarios: two solids and a trajectory.

use crate::{Fallible, first_body, prepare_with};
use feeler_geom::Pose;
use feeler_runtime::Body;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A trajectory file.
#[derive(Clone, Debug, Deserialize)]
pub struct Trajectory {
    /// Play between the parts (mm).
    pub clearance: f64,
    /// File of the fixed solid.
    pub a: String,
    /// File of the moving solid.
    pub b: String,
    /// Names of the phases with their half-open ranges of poses.
    pub phases: Vec<(String, usize, usize)>,
    /// Smallest distance (mm) from an independent kernel, by index of the pose.
    #[serde(default)]
    pub reference_min_distance: BTreeMap<usize, f64>,
    /// Poses of the moving solid: translation, quaternion x, y, z, w.
    pub poses_b: Vec<[f64; 7]>,
}

/// A scenario ready for queries.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// Phases, reference distances, clearance.
    pub trajectory: Trajectory,
    /// The fixed solid and its place.
    pub a: (Arc<Body>, Pose),
    /// The moving solid, before it is moved.
    pub b: (Arc<Body>, Pose),
    /// Poses of the moving solid in world coordinates.
    pub poses: Vec<Pose>,
}

impl Insertion {
    /// Loads `NAME.json` in `folder`, and prepares its solids.
    ///
    /// # Errors
    /// A file that cannot be read, or a range beyond the poses.
    pub fn load(folder: &Path, name: &str, flatness: f64) -> Fallible<Self> {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).map_err(|e| e.to_string())?;
        let trajectory: Trajectory = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        if trajectory.phases.iter().any(|(_, from, to)| from > to || *to > trajectory.poses_b.len()) {
            return Err("a phase goes beyond the poses".into());
        }
        let body = |file: &str| first_body(&prepare_with(&folder.join(file), flatness)?);
        let (a, b) = (body(&trajectory.a)?, body(&trajectory.b)?);
        let pose = |p: &[f64; 7]| {
            Pose::from_parts(
                nalgebra::Translation3::new(p[0], p[1], p[2]),
                nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(p[6], p[3], p[4], p[5])),
            ) * b.1
        };
        let poses = trajectory.poses_b.iter().map(pose).collect();
        Ok(Self { trajectory, a, b, poses })
    }
}
