//! Mechanisms of links and joints, and their motion.
//!
//! A [`Mechanism`] is a tree: one joint connects each link, except the roots, to its parent. The values
//! of the joints over time ([`JointTrajectory`]) determine a [`Path`] for each link, in which all joints
//! between the link and the root of the tree move together. Paths are not sampled, so a proof for the
//! paths is a proof for the mechanism.
//!
//! A [`Closure`] connects two links of the tree once more and thereby closes a loop. The joints on loops
//! that have no values in the motion are then *dependent*: [`Mechanism::solve`] computes their values.
//!
//! Lengths are in mm and angles in rad; files ([`mod@file`], [`urdf`]) have their own units.

pub mod file;
pub mod loops;
pub mod urdf;

use feeler_geom::{P3, Pose, Twist, V3};
use feeler_runtime::{Path, PathPiece};

/// Mechanism: a tree of links and joints, and the closures of its loops.
#[derive(Clone, Debug, Default)]
pub struct Mechanism {
    /// Names of the links; links are numbered in this order.
    pub links: Vec<String>,
    /// Joints, each after the joint that moves its parent.
    pub joints: Vec<Joint>,
    /// Closures of loops; empty for a mechanism without loops.
    pub closures: Vec<Closure>,
    /// Further pairs of neighbouring links: those that several joints in succession connect, such as the
    /// three revolute joints of a ball joint.
    pub adjacent: Vec<[usize; 2]>,
}

/// Connection of two links of the tree that closes a loop. A closing joint that has a value, such as a
/// revolute joint, is a joint of the tree whose child is a link without parts, and a closure of kind
/// [`ClosureKind::Fixed`] between that link and the link that the joint moves.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Name of the closing joint, for messages.
    pub name: String,
    /// Indices of the parent and the child link.
    pub links: [usize; 2],
    /// Pose of the child's frame in the parent's frame in which a fixed closure is closed. For a ball joint
    /// it takes the ball's centre from the child's frame to the parent's frame.
    pub origin: Pose,
    /// Point at which the closure is measured, in the child's frame (mm): the centre of a ball joint.
    pub point: P3,
    /// Relative motion that the closure prevents.
    pub kind: ClosureKind,
}

/// Relative motion of two links that a [`Closure`] prevents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosureKind {
    /// All motion: six equations.
    Fixed,
    /// Translation of the centre of a ball joint: three equations.
    Ball,
}

/// Type of a joint: the relative motion that it allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Rigid connection without a value.
    Fixed,
    /// Rotation about an axis through a point; the value is an angle (rad).
    Revolute {
        /// Point of the axis, in the child's frame (mm).
        point: P3,
        /// Unit direction of the axis, in the child's frame.
        axis: V3,
    },
    /// Translation along a direction; the value is a length (mm).
    Prismatic {
        /// Unit direction of the axis, in the child's frame.
        axis: V3,
    },
}

/// Joint that connects a link to its parent link.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name of the joint, which messages and motions refer to.
    pub name: String,
    /// Index of the parent link.
    pub parent: usize,
    /// Index of the link that the joint moves.
    pub child: usize,
    /// Pose of the child's frame in the parent's frame at value 0.
    pub origin: Pose,
    /// Type of the joint.
    pub kind: JointKind,
    /// Smallest and largest value (rad; mm for prismatic joints); `None` if the joint has no limits.
    pub limits: Option<[f64; 2]>,
    /// Coupling to another joint, such as by gears; the joint then has no values of its own.
    pub mimic: Option<Mimic>,
    /// Value from which the search for the value of a dependent joint begins at the start of a motion (rad;
    /// mm for prismatic joints); `None` for 0 and for joints that are not dependent.
    pub start: Option<f64>,
}

/// Coupling of a joint to another one: its value is `ratio` times that of the other joint, plus
/// `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mimic {
    /// Index of the joint that determines the value.
    pub joint: usize,
    /// Factor: rad or mm of this joint per rad or mm of the other joint.
    pub ratio: f64,
    /// Value of this joint if the other joint is at 0 (rad; mm for prismatic joints).
    pub offset: f64,
}

/// Values of the joints over time, interpolated linearly between the given times.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTrajectory {
    /// Times (s), increasing. The motion begins at the first of them.
    pub times: Vec<f64>,
    /// For each time, the values of all joints of the mechanism (rad; mm for prismatic joints), in the
    /// order of the joints.
    pub values: Vec<Vec<f64>>,
    /// Indices of the joints whose values are given. The values of other joints matter only if the joints
    /// are not dependent, see [`Mechanism::solve`].
    pub driven: Vec<usize>,
}

/// Error of a mechanism or of its motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// The text of a mechanism file or of a URDF is not valid, as the text states.
    #[error("{0}")]
    File(String),
    /// The name of a link or joint does not exist.
    #[error("unknown {what} '{name}'; the existing names are: {known}")]
    Unknown {
        /// Kind of the named object: link or joint.
        what: &'static str,
        /// Unknown name, as given.
        name: String,
        /// Names that exist, as a list for the message.
        known: String,
    },
    /// A link has two parents, or joints form a loop.
    #[error(
        "joint '{0}' closes a loop: each link must be moved by one joint; set `closes = true` for the joint \
         that closes the loop of a linkage, and describe gears and couplings by `mimic`"
    )]
    Loop(String),
    /// The axis of the joint with this name has no direction.
    #[error("the axis of joint '{0}' has no direction; give three numbers that are not all 0")]
    Axis(String),
    /// The joint with this name follows itself, directly or through other joints.
    #[error("joint '{0}' mimics itself; name another joint, or omit `mimic`")]
    MimicsItself(String),
    /// A value exceeds the limits of its joint.
    #[error("joint '{joint}' reaches {value} {unit}, beyond its limits from {least} to {most} {unit}")]
    Limit {
        /// Name of the joint.
        joint: String,
        /// Value, in `unit`.
        value: f64,
        /// Smallest value that the limits allow, in `unit`.
        least: f64,
        /// Largest value that the limits allow, in `unit`.
        most: f64,
        /// Unit: deg or mm.
        unit: &'static str,
    },
    /// Times and values of a motion are not valid, as the text states.
    #[error("{0}")]
    Motion(String),
    /// A loop does not close.
    #[error(
        "the loop of joint '{joint}' does not close {at}: the joint's two sides are {distance:.9} mm and \
         {angle:.9} deg apart; {remedy}"
    )]
    Open {
        /// Name of the closing joint with the largest error.
        joint: String,
        /// Moment, as text for the message.
        at: String,
        /// Distance (mm) between the joint's two sides in the best position that was found.
        distance: f64,
        /// Angle (deg) between the joint's two sides; 0 for a ball joint.
        angle: f64,
        /// Possible remedies, as text for the message.
        remedy: String,
    },
    /// The dependent joints are not determined by the driven ones at a moment of the motion: the linkage is
    /// at a dead point (or at the limit of its reach).
    #[error(
        "the linkage reaches a dead point {at}, where the driven joints are at {driven} and the dependent \
         joints at {dependent}: there the driven joints cannot move the linkage, or move it in two ways; \
         end the motion before this point, or drive another joint"
    )]
    DeadPoint {
        /// Moment, as text for the message.
        at: String,
        /// Time (s) since the start of the motion; 0 on the way to its start.
        time: f64,
        /// Values of the driven joints on loops, as text for the message.
        driven: String,
        /// Values of the dependent joints, as text for the message.
        dependent: String,
    },
    /// Too few joints on loops have values.
    #[error(
        "the loops still move freely if the joints with values are held: {missing} more must have values in \
         [motion]; candidates are {joints}"
    )]
    UnderDriven {
        /// Number of joints that need values in addition.
        missing: usize,
        /// Names of the dependent joints that move, as text for the message.
        joints: String,
    },
    /// Too many joints on loops have values.
    #[error(
        "too many joints of the loops have values: remove those of {excess} of {joints} from [motion], so \
         that they are computed; if the loops do not move at all then, give axes that are parallel equal \
         directions"
    )]
    OverDriven {
        /// Number of joints whose values must be removed.
        excess: usize,
        /// Names of the driven joints on the loops, as text for the message.
        joints: String,
    },
}

impl JointKind {
    /// Velocity of the child link relative to its parent, in the child's frame, at a rate of the joint's
    /// value of 1 (rad or mm) per unit of time; 0 for a fixed joint.
    #[must_use]
    pub fn twist(&self) -> Twist {
        match self {
            Self::Fixed => Twist::default(),
            Self::Revolute { point, axis } => Twist::rotation(point, *axis),
            Self::Prismatic { axis } => Twist::translation(*axis),
        }
    }

    /// Unit of the joint's values in files and messages (deg or mm), and the length of that unit in rad
    /// or mm.
    #[must_use]
    pub fn unit(&self) -> (&'static str, f64) {
        match self {
            Self::Revolute { .. } => ("deg", std::f64::consts::PI / 180.0),
            Self::Fixed | Self::Prismatic { .. } => ("mm", 1.0),
        }
    }
}

impl Mechanism {
    /// Returns the index of a link.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unknown`] if no link has the name.
    pub fn link(&self, name: &str) -> Result<usize, MechanismError> {
        position("link", name, self.links.iter().map(String::as_str))
    }

    /// Returns the index of a joint.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unknown`] if no joint has the name.
    pub fn joint(&self, name: &str) -> Result<usize, MechanismError> {
        position("joint", name, self.joints.iter().map(|j| j.name.as_str()))
    }

    /// Sorts the joints, so that each comes after the joint that moves its parent.
    ///
    /// # Errors
    /// Returns [`MechanismError::Loop`] if the joints do not form a tree, and
    /// [`MechanismError::MimicsItself`] if a joint mimics itself.
    pub fn sorted(mut self) -> Result<Self, MechanismError> {
        let mut order: Vec<usize> = Vec::new();
        let mut rest: Vec<usize> = (0..self.joints.len()).collect();
        let children: Vec<usize> = self.joints.iter().map(|j| j.child).collect();
        if let Some(k) = (0..children.len()).find(|&k| children[..k].contains(&children[k])) {
            return Err(MechanismError::Loop(self.joints[k].name.clone()));
        }
        while !rest.is_empty() {
            // Joints are ready if no remaining joint moves their parent.
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
            if let Some(f) = &mut joint.mimic {
                f.joint = place[f.joint];
            }
        }
        self.joints = joints;
        for joint in &self.joints {
            let mut at = joint.mimic;
            for _ in 0..=self.joints.len() {
                at = at.and_then(|f| self.joints[f.joint].mimic);
            }
            if at.is_some() {
                return Err(MechanismError::MimicsItself(joint.name.clone()));
            }
        }
        Ok(self)
    }

    /// Computes the values of all joints (rad, mm), those of coupled joints from the joints that they
    /// mimic. `values` has one entry for each joint; the entries of coupled joints are ignored.
    #[must_use]
    pub fn all_values(&self, values: &[f64]) -> Vec<f64> {
        let value = |mut k: usize| {
            let (mut ratio, mut offset) = (1.0, 0.0);
            while let Some(f) = self.joints[k].mimic {
                offset += ratio * f.offset;
                ratio *= f.ratio;
                k = f.joint;
            }
            ratio * values[k] + offset
        };
        (0..self.joints.len()).map(value).collect()
    }

    /// Checks that the values of all joints (rad, mm) are within the limits of the joints, up to a
    /// millionth of the range.
    ///
    /// # Errors
    /// Returns [`MechanismError::Limit`] for the first value that exceeds the limits.
    pub fn check(&self, values: &[f64]) -> Result<(), MechanismError> {
        for (joint, value) in self.joints.iter().zip(values) {
            let Some([least, most]) = joint.limits else { continue };
            let (unit, one) = joint.kind.unit();
            // Limits in files have few digits.
            let slack = 1e-6 * (most - least).abs();
            if !(least - slack..=most + slack).contains(value) {
                let [value, least, most] = [*value, least, most].map(|x| x / one);
                return Err(MechanismError::Limit { joint: joint.name.clone(), value, least, most, unit });
            }
        }
        Ok(())
    }

    /// Returns the poses of all links (world) for the values of all joints (rad, mm), those of coupled
    /// joints included. The pose of a root is the identity.
    #[must_use]
    pub fn poses(&self, values: &[f64]) -> Vec<Pose> {
        let mut poses = vec![Pose::identity(); self.links.len()];
        for (joint, value) in self.joints.iter().zip(values) {
            poses[joint.child] = poses[joint.parent] * joint.origin * joint.kind.twist().times(*value).exp();
        }
        poses
    }

    /// Computes the path of each link (world) as the joints move as `motion` states, in the order of the
    /// links. Values of coupled joints in `motion` are ignored. For a mechanism with loops, `motion` must be
    /// one of [`Mechanism::solve`], which closes them.
    ///
    /// # Errors
    /// Returns [`MechanismError::Limit`] if a joint exceeds its limits, [`MechanismError::Motion`] if the
    /// motion has no values or its times do not increase, and [`MechanismError::Open`] if a loop is not
    /// closed at one of the times.
    pub fn paths(&self, motion: &JointTrajectory) -> Result<Vec<Path>, MechanismError> {
        let values: Vec<Vec<f64>> = motion.values.iter().map(|v| self.all_values(v)).collect();
        values.iter().try_for_each(|v| self.check(v))?;
        self.check_closed(&motion.times, &values)?;
        let Some(first) = values.first() else {
            return Err(MechanismError::Motion("a motion needs values for at least one time".into()));
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

    /// Indices of the joints that connect a link to the root of its tree, from the root to the link;
    /// empty for a root.
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

    /// Returns, for each link, the index of the link that represents its group of rigidly connected
    /// links: the one nearest to the root, or for groups that a fixed closure connects the one of the
    /// closure's parent.
    #[must_use]
    pub fn rigid_groups(&self) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..self.links.len()).collect();
        for joint in self.joints.iter().filter(|j| j.kind == JointKind::Fixed) {
            groups[joint.child] = groups[joint.parent];
        }
        for closure in self.closures.iter().filter(|c| c.kind == ClosureKind::Fixed) {
            let [kept, replaced] = closure.links.map(|link| groups[link]);
            groups.iter_mut().filter(|g| **g == replaced).for_each(|g| *g = kept);
        }
        groups
    }

    /// Whether two links are rigidly connected, or a joint or closure connects links that are rigidly
    /// connected to them.
    #[must_use]
    pub fn are_neighbours(&self, a: usize, b: usize) -> bool {
        let groups = self.rigid_groups();
        let (a, b) = (groups[a], groups[b]);
        let of_joints = self.joints.iter().map(|j| [j.parent, j.child]);
        let of_closures = self.closures.iter().map(|c| c.links);
        let mut connected = of_joints.chain(of_closures).chain(self.adjacent.iter().copied());
        let is_pair = |ends: [usize; 2]| {
            let ends = ends.map(|link| groups[link]);
            ends == [a, b] || ends == [b, a]
        };
        a == b || connected.any(is_pair)
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
