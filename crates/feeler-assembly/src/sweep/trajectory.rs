//! Trajectories: poses of two solids, step by step.

use crate::error::AssemblyError;
use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::Path;

/// Largest rotation (degrees) of a joint in one step. With a larger value, the screw motion between two poses
/// could turn the other way; a smaller one demands more steps.
const MAX_DEGREES_PER_STEP: f64 = 90.0;

/// Trajectory of two solids A and B: a motion of each from the pose in its model, for each step.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    a: Vec<Pose>,
    b: Vec<Pose>,
    dt: Option<f64>,
}

/// Motion of a joint: simultaneous rotation about an axis and translation along it, both at constant
/// speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointMotion {
    /// A point of the axis (mm, world).
    pub point: P3,
    /// Direction of the axis, of any length above 0.
    pub direction: V3,
    /// Angles (degrees) of the rotation at the start and at the end of the motion.
    pub angles: [f64; 2],
    /// Distances (mm) along the axis at the start and at the end of the motion.
    pub lengths: [f64; 2],
}

impl JointMotion {
    /// A joint about the z axis that does not move.
    #[must_use]
    pub fn about_z() -> Self {
        Self { point: P3::origin(), direction: V3::z(), angles: [0.0; 2], lengths: [0.0; 2] }
    }
}

impl Trajectory {
    /// Creates a trajectory from a motion of A and one of B for each step, and from the duration `dt`
    /// (s) of a step, if it is known.
    ///
    /// # Errors
    /// There are no poses, or the numbers of poses differ.
    pub fn new(a: Vec<Pose>, b: Vec<Pose>, dt: Option<f64>) -> Result<Self, AssemblyError> {
        if a.len() != b.len() || b.is_empty() {
            return Err(AssemblyError::Poses { a: a.len(), b: b.len() });
        }
        Ok(Self { a, b, dt })
    }

    /// Creates a trajectory that moves B by a joint in `steps` equal steps, and does not move A. It
    /// includes both ends, so it has one pose more than steps.
    ///
    /// # Errors
    /// The axis has no direction, or the joint turns by more than 90 degrees in a step.
    pub fn of_joint(joint: &JointMotion, steps: u32) -> Result<Self, AssemblyError> {
        let JointMotion { point, direction, angles, lengths } = *joint;
        let direction = direction.try_normalize(f64::MIN_POSITIVE).ok_or(AssemblyError::JointAxis)?;
        let per_step = (angles[1] - angles[0]).abs() / f64::from(steps);
        if per_step.is_nan() || per_step > MAX_DEGREES_PER_STEP {
            return Err(AssemblyError::JointStep(per_step));
        }
        let pose = |i: u32| {
            let part = f64::from(i) / f64::from(steps);
            let at = |[from, to]: [f64; 2]| from + part * (to - from);
            let twist = Twist::rotation(&point, direction * at(angles).to_radians())
                + Twist::translation(direction * at(lengths));
            twist.exp()
        };
        let b: Vec<Pose> = (0..=steps).map(pose).collect();
        Self::new(vec![Pose::identity(); b.len()], b, None)
    }

    /// Number of poses of each solid, which is the number of queries of a sweep.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a trajectory has at least one step")]
    pub fn len(&self) -> usize {
        self.b.len()
    }

    /// Motions of A and B from their poses in their models, at a step counted from 0; `None` beyond the
    /// last step.
    #[must_use]
    pub fn poses(&self, step: usize) -> Option<[Pose; 2]> {
        Some([*self.a.get(step)?, *self.b.get(step)?])
    }

    /// Motions of A from the pose in its model, step by step.
    #[must_use]
    pub fn poses_a(&self) -> &[Pose] {
        &self.a
    }

    /// Motions of B from the pose in its model, step by step.
    #[must_use]
    pub fn poses_b(&self) -> &[Pose] {
        &self.b
    }

    /// Duration (s) of a step; `None` if it is not known.
    #[must_use]
    pub fn dt(&self) -> Option<f64> {
        self.dt
    }

    /// Paths of A and B through all their motions, which are joined by screw motions. Times are in
    /// seconds if the duration of a step is known, otherwise in steps.
    ///
    /// # Errors
    /// The coordinates overflow.
    pub fn paths(&self) -> Result<[Path; 2], AssemblyError> {
        let dt = self.dt.unwrap_or(1.0);
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let times: Vec<f64> = (0..self.b.len()).map(|i| i as f64 * dt).collect();
        Ok([Path::through(&times, &self.a)?, Path::through(&times, &self.b)?])
    }
}
