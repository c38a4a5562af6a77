//! Links and joints, and how they move.
//!
//! A [`Mechanism`] is a tree: each link but the roots hangs on a parent by one joint. Values of its joints
//! over time ([`Motion`]) give each link a [`Path`], in which all joints on the way to the ground move
//! together: no sampling, so that what is proven of the paths is proven of the mechanism.
//!
//! Lengths in millimetres, angles in radians; files ([`mod@file`], [`urdf`]) have units of their own.

pub mod file;
pub mod urdf;

use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::{Path, PathPiece};

/// Links and joints.
#[derive(Clone, Debug, Default)]
pub struct Mechanism {
    /// Names of the links.
    pub links: Vec<String>,
    /// The joints, each after the one that moves its parent.
    pub joints: Vec<Joint>,
}

/// How a joint moves its child.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Not at all.
    Fixed,
    /// It turns about an axis through a point; its value is an angle (rad).
    Turn {
        /// A point of the axis, in the child's frame.
        point: P3,
        /// Unit direction, in the child's frame.
        axis: V3,
    },
    /// It slides along a direction; its value is a length (mm).
    Slide {
        /// Unit direction, in the child's frame.
        axis: V3,
    },
}

/// A joint between two links.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Positions of the links among those of the mechanism.
    pub parent: usize,
    /// The link that it moves.
    pub child: usize,
    /// From the child's frame to the parent's at value 0.
    pub origin: Pose,
    /// How it moves.
    pub kind: JointKind,
    /// Smallest and largest value, where it has limits.
    pub limits: Option<[f64; 2]>,
    /// Position of the joint that it follows, as a gear does: its value is `ratio` times that of the other
    /// one and `offset`.
    pub follows: Option<Follows>,
}

/// How the value of one joint follows another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Follows {
    /// Position of the other joint.
    pub joint: usize,
    /// Its factor.
    pub ratio: f64,
    /// What is added.
    pub offset: f64,
}

/// Values of joints over time, linear between times.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Times (s), increasing; motions begin with the first one.
    pub times: Vec<f64>,
    /// For each time a value for each joint of the mechanism.
    pub values: Vec<Vec<f64>>,
}

/// Why a mechanism, or its motion, is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// The file is not what it should be.
    #[error("{0}")]
    File(String),
    /// A name that nothing has.
    #[error("there is no {what} '{name}'; there are: {known}")]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// As it is written.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A link with two parents, or a circle of joints.
    #[error(
        "joint '{0}' closes a loop: each link hangs on one joint; describe gears and couplings by `follows`"
    )]
    Loop(String),
    /// A joint with no direction.
    #[error("the axis of joint '{0}' has no direction; give three numbers that are not all 0")]
    Axis(String),
    /// A joint that follows itself.
    #[error("joint '{0}' follows itself")]
    Follows(String),
    /// A value beyond the limits.
    #[error("joint '{joint}' goes to {value}, beyond its limits {least} to {most} ({unit})")]
    Limit {
        /// Its name.
        joint: String,
        /// The value, in `unit`.
        value: f64,
        /// The smallest one.
        least: f64,
        /// The largest one.
        most: f64,
        /// deg or mm.
        unit: &'static str,
    },
    /// Times and values that do not fit.
    #[error("{0}")]
    Motion(String),
}

impl JointKind {
    /// Velocity for a value that grows by 1 in a unit of time, in the child's frame.
    #[must_use]
    pub fn twist(&self) -> Twist {
        match self {
            Self::Fixed => Twist::default(),
            Self::Turn { point, axis } => Twist::rotation(point, *axis),
            Self::Slide { axis } => Twist::translation(*axis),
        }
    }

    /// The unit in which people give its values, and how much of ours one of it is.
    #[must_use]
    pub fn unit(&self) -> (&'static str, f64) {
        match self {
            Self::Turn { .. } => ("deg", std::f64::consts::PI / 180.0),
            Self::Fixed | Self::Slide { .. } => ("mm", 1.0),
        }
    }
}

impl Mechanism {
    /// Position of a link.
    ///
    /// # Errors
    /// [`MechanismError::Unknown`].
    pub fn link(&self, name: &str) -> Result<usize, MechanismError> {
        position("link", name, self.links.iter().map(String::as_str))
    }

    /// Position of a joint.
    ///
    /// # Errors
    /// [`MechanismError::Unknown`].
    pub fn joint(&self, name: &str) -> Result<usize, MechanismError> {
        position("joint", name, self.joints.iter().map(|j| j.name.as_str()))
    }

    /// Puts the joints in order, parents before children.
    ///
    /// # Errors
    /// [`MechanismError::Loop`] and [`MechanismError::Follows`].
    pub fn sorted(mut self) -> Result<Self, MechanismError> {
        let mut order: Vec<usize> = Vec::new();
        let mut rest: Vec<usize> = (0..self.joints.len()).collect();
        let children: Vec<usize> = self.joints.iter().map(|j| j.child).collect();
        if let Some(k) = (0..children.len()).find(|&k| children[..k].contains(&children[k])) {
            return Err(MechanismError::Loop(self.joints[k].name.clone()));
        }
        while !rest.is_empty() {
            // Those whose parents hang on no joint that is still to come.
            let waiting: Vec<usize> = rest.iter().map(|&k| self.joints[k].child).collect();
            let (now, later): (Vec<usize>, Vec<usize>) =
                rest.iter().partition(|&&k| !waiting.contains(&self.joints[k].parent));
            if now.is_empty() {
                return Err(MechanismError::Loop(self.joints[later[0]].name.clone()));
            }
            order.extend(now);
            rest = later;
        }
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        let mut joints: Vec<Joint> = order.iter().map(|&k| self.joints[k].clone()).collect();
        for joint in &mut joints {
            if let Some(f) = &mut joint.follows {
                f.joint = place[f.joint];
            }
        }
        self.joints = joints;
        for joint in &self.joints {
            let mut at = joint.follows;
            for _ in 0..=self.joints.len() {
                at = at.and_then(|f| self.joints[f.joint].follows);
            }
            if at.is_some() {
                return Err(MechanismError::Follows(joint.name.clone()));
            }
        }
        Ok(self)
    }

    /// Values of all joints from those of the ones that follow none; others are left out.
    #[must_use]
    pub fn all_values(&self, values: &[f64]) -> Vec<f64> {
        let value = |mut k: usize| {
            let (mut ratio, mut offset) = (1.0, 0.0);
            while let Some(f) = self.joints[k].follows {
                offset += ratio * f.offset;
                ratio *= f.ratio;
                k = f.joint;
            }
            ratio * values[k] + offset
        };
        (0..self.joints.len()).map(value).collect()
    }

    /// Whether all values are within limits.
    ///
    /// # Errors
    /// [`MechanismError::Limit`] with the first one that is not.
    pub fn check(&self, values: &[f64]) -> Result<(), MechanismError> {
        for (joint, value) in self.joints.iter().zip(values) {
            let Some([least, most]) = joint.limits else { continue };
            let (unit, one) = joint.kind.unit();
            // Limits are written with few digits.
            let slack = 1e-6 * (most - least).abs();
            if !(least - slack..=most + slack).contains(value) {
                let [value, least, most] = [*value, least, most].map(|x| x / one);
                return Err(MechanismError::Limit { joint: joint.name.clone(), value, least, most, unit });
            }
        }
        Ok(())
    }

    /// Where all links are, given the values of all joints.
    #[must_use]
    pub fn poses(&self, values: &[f64]) -> Vec<Pose> {
        let mut poses = vec![Pose::identity(); self.links.len()];
        for (joint, value) in self.joints.iter().zip(values) {
            poses[joint.child] = poses[joint.parent] * joint.origin * joint.kind.twist().times(*value).exp();
        }
        poses
    }

    /// The path of each link.
    ///
    /// # Errors
    /// [`MechanismError::Limit`] where a joint leaves its limits, [`MechanismError::Motion`] for times that
    /// do not increase.
    pub fn paths(&self, motion: &Motion) -> Result<Vec<Path>, MechanismError> {
        let values: Vec<Vec<f64>> = motion.values.iter().map(|v| self.all_values(v)).collect();
        values.iter().try_for_each(|v| self.check(v))?;
        let Some(first) = values.first() else {
            return Err(MechanismError::Motion("a motion needs values at one time at least".into()));
        };
        let steps: Vec<(f64, &Vec<f64>, &Vec<f64>)> = motion
            .times
            .windows(2)
            .zip(values.windows(2))
            .map(|(t, v)| (t[1] - t[0], &v[0], &v[1]))
            .collect();
        let at_start: Vec<Vec<Pose>> = steps.iter().map(|(_, v, _)| self.poses(v)).collect();
        (0..self.links.len())
            .map(|link| {
                let chain = self.chain(link);
                let pieces = steps.iter().zip(&at_start).map(|((duration, from, to), poses)| {
                    let twist = |&k: &usize| {
                        let joint = &self.joints[k];
                        let rate = (to[k] - from[k]) / duration;
                        let frame = poses[joint.child];
                        (rate != 0.0).then(|| joint.kind.twist().times(rate).moved(&frame))
                    };
                    let twists = chain.iter().filter_map(twist).collect();
                    PathPiece { pose: poses[link], twists, duration: *duration }
                });
                let pieces: Vec<PathPiece> = pieces.collect();
                if pieces.is_empty() {
                    return Ok(Path::still(self.poses(first)[link]));
                }
                Path::of_pieces(pieces).map_err(|e| MechanismError::Motion(format!("the motion: {e}")))
            })
            .collect()
    }

    /// The joints between the ground and a link, in this order.
    #[must_use]
    pub fn chain(&self, link: usize) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut at = link;
        while let Some(k) = self.joints.iter().position(|j| j.child == at) {
            chain.push(k);
            at = self.joints[k].parent;
        }
        chain.reverse();
        chain
    }

    /// For each link the one that stands for all that fixed joints hold together.
    #[must_use]
    pub fn rigid_groups(&self) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..self.links.len()).collect();
        for joint in self.joints.iter().filter(|j| j.kind == JointKind::Fixed) {
            groups[joint.child] = groups[joint.parent];
        }
        groups
    }

    /// Whether two links are one body, or joined by a joint.
    #[must_use]
    pub fn are_neighbours(&self, a: usize, b: usize) -> bool {
        let groups = self.rigid_groups();
        let (a, b) = (groups[a], groups[b]);
        a == b
            || self.joints.iter().any(|j| {
                let ends = [groups[j.parent], groups[j.child]];
                ends == [a, b] || ends == [b, a]
            })
    }
}

fn position<'a>(
    what: &'static str,
    name: &str,
    mut names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, MechanismError> {
    let known = names.clone();
    names.position(|n| n == name).ok_or_else(|| MechanismError::Unknown {
        what,
        name: name.to_owned(),
        known: known.collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
mod tests;
