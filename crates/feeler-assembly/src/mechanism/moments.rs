//! Poses of all links at which a mechanism is measured.

use crate::error::AssemblyError;
use feeler_geom::Pose;
use feeler_mechanism::{JointTrajectory, Mechanism};
use feeler_runtime::Path;

/// Maximum number of poses of a grid. With a larger value, mistyped grids run for hours; a smaller one
/// excludes useful grids.
const MAX_GRID_POSES: usize = 1_000_000;

/// Poses of all links at one time of a motion, or at one point of a grid.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Time (s) since the start of the motion; for a grid the number of the combination of joint values,
    /// counted from 0, with omitted combinations included.
    pub time: f64,
    /// Poses of all links (world).
    pub links: Vec<Pose>,
}

/// Returns `steps` times (s since the start, at least two) that are evenly spaced over a motion, both ends
/// included.
pub(super) fn times(motion: &JointTrajectory, steps: u32) -> Vec<f64> {
    let steps = steps.max(2);
    let duration = motion.times.last().unwrap_or(&0.0) - motion.times.first().unwrap_or(&0.0);
    (0..steps).map(|i| duration * f64::from(i) / f64::from(steps - 1)).collect()
}

/// Returns the poses of all links at the given times. `paths` has the path of each link.
pub(super) fn over_time(times: &[f64], paths: &[Path]) -> Vec<Moment> {
    let at = |time: &f64| Moment { time: *time, links: paths.iter().map(|p| p.pose(*time)).collect() };
    times.iter().map(at).collect()
}

/// Poses of all links at all combinations of `values` evenly spaced values of each joint that has limits
/// and does not follow another joint. Combinations at which a joint that follows another one exceeds its
/// limits are omitted.
pub(super) fn over_grid(mechanism: &Mechanism, values: u32) -> Result<Vec<Moment>, AssemblyError> {
    if let Some(closure) = mechanism.closures.first() {
        return Err(AssemblyError::GridOfLoops(closure.name.clone()));
    }
    let values = values.max(2);
    let free: Vec<(usize, [f64; 2])> = mechanism
        .joints
        .iter()
        .enumerate()
        .filter_map(|(k, j)| j.limits.filter(|_| j.mimic.is_none()).map(|l| (k, l)))
        .collect();
    if free.is_empty() {
        return Err(AssemblyError::NoLimits);
    }
    let count = u32::try_from(free.len()).ok().and_then(|n| (values as usize).checked_pow(n));
    let count = count.filter(|n| *n <= MAX_GRID_POSES).ok_or(AssemblyError::GridSize {
        values,
        joints: free.len(),
        max: MAX_GRID_POSES,
    })?;
    let mut moments = Vec::new();
    for i in 0..count {
        let mut joints = vec![0.0; mechanism.joints.len()];
        let mut rest = i;
        for (k, [min, max]) in &free {
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let part = (rest % values as usize) as f64 / f64::from(values - 1);
            joints[*k] = min + part * (max - min);
            rest /= values as usize;
        }
        let joints = mechanism.all_values(&joints);
        if mechanism.check(&joints).is_ok() {
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            moments.push(Moment { time: i as f64, links: mechanism.poses(&joints) });
        }
    }
    if moments.is_empty() { Err(AssemblyError::EmptyGrid) } else { Ok(moments) }
}
