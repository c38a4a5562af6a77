//! Motion of B in the frame of A, with bounds of the change of its velocity.
//!
//! The velocity field of a screw motion is constant in the frame of either solid. If several joints move
//! simultaneously, the field changes at most as fast as the Lie brackets of the joints' fields, which are
//! bounded for the duration of a piece of the path.

use super::path::Path;
use crate::body::Body;
use feeler_geom::{P3, Pose, Twist};

/// Motion of B in the frame of A at one time, with bounds for a duration after it. The unit of time is
/// that of the paths.
#[derive(Clone, Debug)]
pub(crate) struct Moving {
    /// Pose of B in the frame of A at this time.
    pub pose_ab: Pose,
    /// Velocity field of B relative to A, in the frame of A.
    pub in_a: Twist,
    /// Velocity field of B relative to A, in the frame of B.
    pub in_b: Twist,
    /// Upper bound of the rate of change (mm per squared unit of time) of the velocity field `in_a` at
    /// points of A.
    pub change_a: f64,
    /// Upper bound of the rate of change (mm per squared unit of time) of the velocity field `in_b` at
    /// points of B.
    pub change_b: f64,
    /// Upper bound of the speed (mm per unit of time) of points of B relative to A.
    pub speed: f64,
    /// Upper bound of the acceleration (mm per squared unit of time) of points of B in the frame of A.
    pub acceleration: f64,
    /// Upper bound of the angular velocity (rad per unit of time) of B relative to A.
    pub rotation: f64,
    /// Duration, from this time on, for which the bounds are valid.
    pub lasts: f64,
}

impl Moving {
    /// Motion at the time `time`, with bounds that are valid until the current piece of a path ends, but
    /// at most until the time `end`.
    pub(crate) fn at(
        (a, path_a): (&Body, &Path),
        (b, path_b): (&Body, &Path),
        (time, end): (f64, f64),
    ) -> Self {
        let (of_a, of_b) = (path_a.state(time), path_b.state(time));
        let to_a = of_a.pose.inverse();
        let pose_ab = of_a.pose.inv_mul(&of_b.pose);
        let lasts = (of_a.until.min(of_b.until).min(end) - time).max(0.0);
        // Joints that move both solids cause no relative motion.
        let shared = of_a.twists.iter().zip(&of_b.twists).take_while(|(x, y)| x == y).count();
        let back = of_a.twists[shared..].iter().rev().map(|t| -*t);
        let twists: Vec<Twist> =
            back.chain(of_b.twists[shared..].iter().copied()).map(|t| t.moved(&to_a)).collect();
        let to_b = pose_ab.inverse();
        let backwards: Vec<Twist> = twists.iter().rev().map(|t| t.moved(&to_b)).collect();
        let sum = |twists: &[Twist]| twists.iter().fold(Twist::default(), |sum, t| sum + *t);
        let (in_a, in_b) = (sum(&twists), sum(&backwards));
        let rotation = twists.iter().map(|t| t.w.norm()).sum::<f64>();
        let (speeds_a, speeds_b) = (speeds(&twists, a.reach(), lasts), speeds(&backwards, b.reach(), lasts));
        let speed = speeds_b.iter().sum::<f64>();
        let (change_a, change_b) = (change(&twists, &speeds_a), change(&backwards, &speeds_b));
        let acceleration = change_b + rotation * speed;
        Self { pose_ab, in_a, in_b, change_a, change_b, speed, acceleration, rotation, lasts }
    }

    /// Speed (mm per unit of time) at which the distance of a critical pair decreases. `p` is the
    /// footpoint on B, `n` the unit direction from A to B, both in A's frame.
    pub(crate) fn closing(&self, p: &P3, n: &feeler_geom::V3) -> f64 {
        -n.dot(&self.in_a.at(p))
    }
}

/// Upper bounds of the speed (mm per unit of time) that each twist gives to points that are at first up to
/// `reach` (mm) from the origin. The translations of the preceding twists increase this distance during
/// the time `time`.
fn speeds(twists: &[Twist], reach: f64, time: f64) -> Vec<f64> {
    let mut reach = reach;
    let speed = |t: &Twist| {
        let fastest = t.v.norm() + t.w.norm() * reach;
        // A rotation about the origin does not change the distance from it.
        reach += t.v.norm() * time;
        fastest
    };
    twists.iter().map(speed).collect()
}

/// Upper bound of the rate of change of the sum of the fields of all twists, given their speeds. Each
/// field is moved by the preceding ones.
fn change(twists: &[Twist], speeds: &[f64]) -> f64 {
    let pairs = (0..twists.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    pairs.map(|(i, j)| twists[i].w.norm() * speeds[j] + twists[j].w.norm() * speeds[i]).sum()
}

/// Shortest time in which a motion with the given initial speed and maximum acceleration (at least 0)
/// covers a length above 0; infinite if it never does.
pub(crate) fn travel_time(length: f64, speed: f64, acceleration: f64) -> f64 {
    let root = (speed * speed + 2.0 * acceleration * length).sqrt();
    let sum = speed + root;
    if length == f64::INFINITY || sum <= 0.0 { f64::INFINITY } else { 2.0 * length / sum }
}
