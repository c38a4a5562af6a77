//! Forces that drive a plug in insertions; shared by all engines.

use feeler_geom::{Pose, V3};
use feeler_runtime::Path as MotionPath;
use feeler_tests::insertion::Insertion;
use nalgebra::UnitQuaternion;

/// Time (s) between two poses of a scenario.
const POSE_INTERVAL: f64 = 1.0 / 60.0;
/// Response time (s) of the spring and damper that pull the plug to its target.
pub const RESPONSE_TIME: f64 = 0.02;
/// Maximum distance (mm) along its path between a plug and its target at which the plug counts as seated,
/// or as removed.
pub const MAX_SEATED_DISTANCE: f64 = 0.05;
/// Density (kg/m³) of steel.
pub const STEEL_DENSITY: f64 = 7_850.0;
/// Gravity (mm/s²) for solids that are released; not parallel to the axis of any of them.
#[must_use]
pub fn tilted_gravity() -> V3 {
    9_810.0 * V3::new(0.3, -0.1, -1.0).normalize()
}

/// Path of a target: the path of a scenario, displaced and tilted by multiples of the clearance.
#[derive(Debug)]
pub struct Target {
    path: MotionPath,
    /// Names of the phases with their end times (s).
    phases: Vec<(String, f64)>,
    displacement: V3,
    rotation: UnitQuaternion<f64>,
    /// Tilt (rad) of the target relative to the path of the scenario.
    pub tilt: f64,
    /// Length (mm) of the plug along its z axis.
    pub length: f64,
    /// Time (s) at which the target reaches the seated pose.
    pub seat_time: f64,
    /// End (s) of the path. The plug lags behind it, so a run must last some response times longer.
    pub end_time: f64,
}

impl Target {
    /// Displaces the path of a scenario by `part` clearances, and tilts it by twice that displacement
    /// over the length of the plug.
    ///
    /// # Errors
    /// The poses do not form a valid path.
    #[expect(clippy::cast_precision_loss, reason = "hundreds of poses")]
    pub fn new(insertion: &Insertion, part: f64) -> Result<Self, String> {
        let times: Vec<f64> = (0..insertion.poses.len()).map(|i| i as f64 * POSE_INTERVAL).collect();
        let path = MotionPath::through(&times, &insertion.poses).map_err(|e| e.to_string())?;
        let clearance = insertion.scenario.clearance;
        let bounds = insertion.b.0.bounds();
        let length = bounds.max.z - bounds.min.z;
        let tilt = 2.0 * part * clearance / length;
        let phase = insertion.scenario.phases.iter().find(|p| p.0.contains("place"));
        let ends = insertion.scenario.phases.iter().map(|(n, _, to)| (n.clone(), *to as f64 * POSE_INTERVAL));
        Ok(Self {
            path,
            phases: ends.collect(),
            displacement: V3::new(0.8, 0.6, 0.0) * (part * clearance),
            rotation: UnitQuaternion::from_scaled_axis(V3::new(0.6, -0.8, 0.0) * tilt),
            tilt,
            length,
            seat_time: times[phase.map_or(239, |p| p.2 - 1)],
            end_time: times[times.len() - 1],
        })
    }

    /// Name of the phase at a time (s); after the end, the name of the last phase.
    #[must_use]
    pub fn phase(&self, time: f64) -> &str {
        let phase = self.phases.iter().find(|p| time <= p.1).or(self.phases.last());
        phase.map_or("", |p| &p.0)
    }

    /// Pose of the target at a time (s).
    #[must_use]
    pub fn pose(&self, time: f64) -> Pose {
        let mut target = self.path.pose(time.min(self.end_time));
        target.translation.vector += self.displacement;
        target.rotation = self.rotation * target.rotation;
        target
    }

    /// Mean velocity (mm/s) of the target over a step of `step` seconds that ends at `time` (s).
    #[must_use]
    pub fn velocity(&self, time: f64, step: f64) -> V3 {
        (self.pose(time).translation.vector - self.pose(time - step).translation.vector) / step
    }
}

/// Pose in the middle of the phase in which the plug is seated.
#[must_use]
pub fn seated_pose(insertion: &Insertion) -> Pose {
    let phase = insertion.scenario.phases.iter().find(|p| p.0.contains("place"));
    insertion.poses[phase.map_or(200, |p| (p.1 + p.2) / 2)]
}

/// Pose at which the pin of 19.9 mm is released over its blind bore of 20 mm: its lower end is in the
/// bore.
#[must_use]
pub fn above_bore() -> Pose {
    Pose::translation(0.0, 0.0, 30.0)
}
