//! How a plug is driven in insertions by forces: the same for every engine.

use feeler_geom::{Pose, V3};
use feeler_runtime::Path as MotionPath;
use feeler_tests::insertion::Insertion;
use nalgebra::UnitQuaternion;

/// Of a pose of the scenario (s).
const POSE_TIME: f64 = 1.0 / 60.0;
/// Within which the plug follows its target (s).
pub const RESPONSE: f64 = 0.02;
/// How far along its path (mm) a plug may be from its target where it counts as seated, or out.
pub const SEATED: f64 = 0.05;
/// kg/m³.
pub const STEEL: f64 = 7_850.0;
/// Acceleration (mm/s²) of solids that are let go: not along the axis of any of them.
#[must_use]
pub fn tilted_gravity() -> V3 {
    9_810.0 * V3::new(0.3, -0.1, -1.0).normalize()
}

/// The path of a target: that of a scenario, beside its place and tilted by parts of the clearance.
#[derive(Debug)]
pub struct Target {
    path: MotionPath,
    /// Phases, and when they end (s).
    phases: Vec<(String, f64)>,
    beside: V3,
    rotation: UnitQuaternion<f64>,
    /// Angle (rad) by which it is tilted.
    pub tilt: f64,
    /// Length (mm) of the plug.
    pub length: f64,
    /// When the plug is in its place (s).
    pub seat: f64,
    /// When the path ends (s). The plug follows behind: a while is to be left to it.
    pub last: f64,
}

impl Target {
    /// Displaced by so many clearances, and tilted by twice as many over the length of the plug.
    ///
    /// # Errors
    /// Poses that make no path.
    #[expect(clippy::cast_precision_loss, reason = "hundreds of poses")]
    pub fn new(insertion: &Insertion, part: f64) -> Result<Self, String> {
        let times: Vec<f64> = (0..insertion.poses.len()).map(|i| i as f64 * POSE_TIME).collect();
        let path = MotionPath::through(&times, &insertion.poses).map_err(|e| e.to_string())?;
        let clearance = insertion.scenario.clearance;
        let bounds = insertion.b.0.bounds();
        let length = bounds.max.z - bounds.min.z;
        let tilt = 2.0 * part * clearance / length;
        let phase = insertion.scenario.phases.iter().find(|p| p.0.contains("place"));
        let ends = insertion.scenario.phases.iter().map(|(n, _, to)| (n.clone(), *to as f64 * POSE_TIME));
        Ok(Self {
            path,
            phases: ends.collect(),
            beside: V3::new(0.8, 0.6, 0.0) * (part * clearance),
            rotation: UnitQuaternion::from_scaled_axis(V3::new(0.6, -0.8, 0.0) * tilt),
            tilt,
            length,
            seat: times[phase.map_or(239, |p| p.2 - 1)],
            last: times[times.len() - 1],
        })
    }

    /// Its phase; after the last one that.
    #[must_use]
    pub fn phase(&self, time: f64) -> &str {
        let phase = self.phases.iter().find(|p| time <= p.1).or(self.phases.last());
        phase.map_or("", |p| &p.0)
    }

    /// Where it is.
    #[must_use]
    pub fn pose(&self, time: f64) -> Pose {
        let mut target = self.path.pose(time.min(self.last));
        target.translation.vector += self.beside;
        target.rotation = self.rotation * target.rotation;
        target
    }

    /// Its velocity (mm/s) over a step that ends at a time.
    #[must_use]
    pub fn velocity(&self, time: f64, step: f64) -> V3 {
        (self.pose(time).translation.vector - self.pose(time - step).translation.vector) / step
    }
}

/// The pose in the middle of the phase in which the plug is in its place.
#[must_use]
pub fn place(insertion: &Insertion) -> Pose {
    let phase = insertion.scenario.phases.iter().find(|p| p.0.contains("place"));
    insertion.poses[phase.map_or(200, |p| (p.1 + p.2) / 2)]
}

/// Where the pin of 19.9 mm is let go over its blind bore of 20 mm: its lower end is in the bore.
#[must_use]
pub fn above_bore() -> Pose {
    Pose::translation(0.0, 0.0, 30.0)
}
