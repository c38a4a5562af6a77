//! How B moves as A sees it, with bounds of how that changes.
//!
//! Of a screw motion the field of velocities stays as it is, in the frame of either solid. Where several
//! joints move at once it changes no faster than the brackets of their fields, which is bounded for as long
//! as the piece lasts.

use super::path::Path;
use crate::body::Body;
use feeler_geom::{P3, Pose, Twist};

/// The motion of B in the frame of A from a moment on.
#[derive(Clone, Debug)]
pub(crate) struct Moving {
    pub pose_ab: Pose,
    /// Velocities of points of B, in the frame of A and in that of B.
    pub in_a: Twist,
    pub in_b: Twist,
    /// Largest change per time of velocities at points of A, and of B, in their own frames.
    pub change_a: f64,
    pub change_b: f64,
    /// Largest speed of a point of B, its largest acceleration in the frame of A, and the largest rate of
    /// rotation.
    pub speed: f64,
    pub acceleration: f64,
    pub rotation: f64,
    /// For how long this holds.
    pub lasts: f64,
}

impl Moving {
    /// At a time, up to `end`.
    pub(crate) fn at(
        (a, path_a): (&Body, &Path),
        (b, path_b): (&Body, &Path),
        (time, end): (f64, f64),
    ) -> Self {
        let (of_a, of_b) = (path_a.state(time), path_b.state(time));
        let to_a = of_a.pose.inverse();
        let pose_ab = of_a.pose.inv_mul(&of_b.pose);
        let lasts = (of_a.until.min(of_b.until).min(end) - time).max(0.0);
        // What moves both alike is no motion.
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

    /// How fast two points that are nearest to each other come nearer, B's at `p` (in A's frame), `n` being
    /// the direction from A to B.
    pub(crate) fn closing(&self, p: &P3, n: &feeler_geom::V3) -> f64 {
        -n.dot(&self.in_a.at(p))
    }
}

/// Largest speeds of each twist within `reach` (mm) of the origin for a time: the ones before it move it.
fn speeds(twists: &[Twist], reach: f64, time: f64) -> Vec<f64> {
    let mut reach = reach;
    let speed = |t: &Twist| {
        let fastest = t.v.norm() + t.w.norm() * reach;
        // What a rotation about the origin does to the distance from it is nothing.
        reach += t.v.norm() * time;
        fastest
    };
    twists.iter().map(speed).collect()
}

/// Largest change of the sum of all fields, given their speeds: each is carried along by those before it.
fn change(twists: &[Twist], speeds: &[f64]) -> f64 {
    let pairs = (0..twists.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    pairs.map(|(i, j)| twists[i].w.norm() * speeds[j] + twists[j].w.norm() * speeds[i]).sum()
}
