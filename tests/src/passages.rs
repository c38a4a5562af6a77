//! Random motions of pairs of solids, with a reference for the first contact by sampling and bisection.
//!
//! The reference uses neither directions nor motion bounds. It queries the distance at a thousand times
//! and bisects the interval before the first time at which the distance is at most the limit. Its poses
//! are computed independently, as successive rotations of the joints about their axes.

use crate::Part;
use crate::cases::Case;
use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::{
    ContactPair, Passage, PassageOptions, PassageOutcome, Path, PathPiece, QueryOptions, Status,
    time_of_contact,
};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// A joint with constant speed: a rotation about a line, a translation along it, or both.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    /// A point of the line, in world coordinates at the start.
    pub point: P3,
    /// Unit direction of the line.
    pub axis: V3,
    /// Angular speed (rad per unit of time).
    pub turn: f64,
    /// Speed along the line (mm per unit of time).
    pub shift: f64,
}

impl Joint {
    /// Motion of the joint from the start to a time.
    pub(crate) fn pose(&self, time: f64) -> Pose {
        let turned = UnitQuaternion::from_scaled_axis(self.axis * (self.turn * time));
        let back = self.point.coords - turned * self.point.coords;
        Pose::from_parts(Translation3::from(back + self.axis * (self.shift * time)), turned)
    }

    /// Velocity field of the joint in world coordinates at the start, per unit of time.
    #[must_use]
    pub fn twist(&self) -> Twist {
        Twist::rotation(&self.point, self.axis * self.turn) + Twist::translation(self.axis * self.shift)
    }
}

/// A motion of both solids during a unit of time.
#[derive(Clone, Debug)]
pub struct Motion {
    /// Poses of A and B in the world at the start.
    pub start: [Pose; 2],
    /// Joints of A and of B, starting at the ground.
    pub joints: [Vec<Joint>; 2],
    /// Distance (mm) at which the solids count as in contact.
    pub limit: f64,
    /// Maximum distance of a query (mm).
    pub d_max: f64,
}

impl Motion {
    /// Motion number `seed`: one joint, several joints of B, or joints of both solids.
    #[must_use]
    pub fn new(case: &Case, parts: [&Part; 2], seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut unit = || loop {
            let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        };
        let units: Vec<V3> = (0..12).map(|_| unit()).collect();
        let mut r = |from: f64, to: f64| rng.random_range(from..to);
        let shift = Translation3::from(units[0] * r(0.0, case.dt));
        let turn = UnitQuaternion::from_scaled_axis(units[1] * r(0.0, case.dr));
        let pose = Pose::from_parts(shift * case.base.translation, case.base.rotation * turn);
        let pose_b = pose * parts[1].pose;
        let size = parts[1].body.size();
        // A quarter of the motions have axes parallel to the world axes, as in machines.
        let aligned = r(0.0, 1.0) < 0.25;
        let mut joint = |i: usize| {
            let axis = if aligned { V3::ith(i % 3, 1.0) } else { units[2 + i] };
            let point = pose_b * P3::from(units[6 + i] * (0.5 * size * r(0.0, 1.0)));
            Joint {
                point: if aligned && r(0.0, 1.0) < 0.5 { P3::origin() } else { point },
                axis,
                turn: r(-1.0, 1.0) * (2.0 * case.dr).min(3.0),
                shift: r(-1.0, 1.0) * 3.0 * case.dt,
            }
        };
        let kind = seed % 4;
        let joints = match kind {
            0 | 1 => [vec![], vec![joint(0)]],
            2 => [vec![], vec![joint(0), joint(1), joint(2)]],
            _ => [vec![joint(0)], vec![joint(1), joint(2)]],
        };
        let limit = if r(0.0, 1.0) < 0.3 { 0.0 } else { case.d_max * r(0.0, 0.4) };
        Self { start: [parts[0].pose, pose_b], joints, limit, d_max: case.d_max }
    }

    /// Poses of A and B at a time from 0 to 1, by the formulas of the joints.
    #[must_use]
    pub fn poses(&self, time: f64) -> [Pose; 2] {
        [0, 1].map(|k| {
            self.joints[k].iter().fold(Pose::identity(), |before, j| before * j.pose(time)) * self.start[k]
        })
    }

    /// Returns the motion as paths of the runtime.
    ///
    /// # Errors
    /// If a path is invalid.
    pub fn paths(&self) -> Result<[Path; 2], String> {
        let path = |k: usize| {
            let twists = self.joints[k].iter().map(Joint::twist).collect();
            let piece = PathPiece { pose: self.start[k], twists, duration: 1.0 };
            Path::of_pieces(vec![piece]).map_err(|e| e.to_string())
        };
        Ok([path(0)?, path(1)?])
    }
}

/// Result of the comparison of one motion.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Result of the runtime.
    pub passage: Passage,
    /// Time of the first contact by sampling; `None` if no sample is in contact.
    pub sampled: Option<f64>,
    /// Description of a fault, if any.
    pub fault: Option<String>,
}

/// Maximum number of times at which the reference samples a motion.
const MAX_SAMPLES: u32 = 1000;

/// Computes the first contact of a motion and compares it with that of the reference.
///
/// # Errors
/// If a query fails.
pub fn check(motion: &Motion, parts: [&Part; 2], samples: u32) -> Result<Checked, String> {
    let samples = samples.min(MAX_SAMPLES);
    let pair = || ContactPair::new(parts[0].body.clone(), parts[1].body.clone());
    let [path_a, path_b] = motion.paths()?;
    let options = PassageOptions {
        distance: motion.limit,
        query: QueryOptions { d_max: motion.d_max, ..QueryOptions::default() },
        ..PassageOptions::default()
    };
    let passage = time_of_contact(&mut pair(), &path_a, &path_b, &options).map_err(|e| e.to_string())?;
    let mut other = pair();
    let mut distance = |time: f64| -> Result<f64, String> {
        let [a, b] = motion.poses(time);
        let query = QueryOptions::within(motion.limit + motion.d_max);
        other.query(&a, &b, &query).map_err(|e| e.to_string())?;
        Ok(match other.status() {
            Some(Status::Interfering) => f64::NEG_INFINITY,
            _ => other.min_distance().unwrap_or(f64::INFINITY),
        })
    };
    let start = distance(0.0)?;
    if matches!(passage.start, Some(Status::Interfering)) != (start == f64::NEG_INFINITY) {
        return Ok(Checked {
            passage,
            sampled: None,
            fault: Some(format!("the start is {:?}, but the distance is {start} mm", passage.start)),
        });
    }
    let from = match (passage.outcome, passage.left) {
        (PassageOutcome::InContact, _) => return Ok(Checked { passage, sampled: None, fault: None }),
        (_, left) => left.unwrap_or(0.0),
    };
    let mut before = from;
    let mut sampled = None;
    for i in 0..=samples {
        let time = from + (1.0 - from) * f64::from(i) / f64::from(samples);
        if i > 0 && distance(time)? <= motion.limit {
            let mut hit = time;
            while hit - before > 1e-13 {
                let middle = 0.5 * (before + hit);
                if middle <= before || middle >= hit {
                    break;
                }
                if distance(middle)? <= motion.limit {
                    hit = middle;
                } else {
                    before = middle;
                }
            }
            sampled = Some(hit);
            break;
        }
        before = time;
    }
    let fault = match (passage.outcome, sampled) {
        (PassageOutcome::Free, None) | (PassageOutcome::InContact, _) => None,
        (PassageOutcome::Free, Some(t)) => Some(format!("reported free, but there is contact at {t}")),
        (PassageOutcome::Undecided(_), None) => None,
        (PassageOutcome::Undecided(to), Some(t)) => {
            (t < to - 1e-9).then(|| format!("reported free until {to}, but there is contact at {t}"))
        }
        (PassageOutcome::Contact(c), hit) => {
            // The time of grazing contact is as uncertain as the square root of the rounding.
            let late = hit.filter(|t| *t < c.time - 1e-9);
            let at = distance(c.time)?;
            let excess = at - motion.limit;
            let reached = excess.abs() <= 1e-9 * parts[1].body.size()
                || (c.grazing && excess.abs() < 1e-6 * 100.0)
                || (motion.limit == 0.0 && at == f64::NEG_INFINITY);
            match late {
                Some(t) if !c.grazing || c.time - t > 1e-4 => {
                    Some(format!("reported contact at {}, but there is contact at {t}", c.time))
                }
                _ if !reached => Some(format!(
                    "reported contact at {}, where the distance is {at} mm, not {} mm",
                    c.time, motion.limit
                )),
                _ => None,
            }
        }
    };
    Ok(Checked { passage, sampled, fault })
}
