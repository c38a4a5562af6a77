//! Mechanism files in TOML: the parts of each link, the joints or a URDF, and the motion.

use crate::{Joint, JointKind, JointTrajectory, Mechanism, MechanismError, Mimic, urdf};
use feeler_geom::{P3, Pose, V3};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One name or several names.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Names {
    /// One name, written as a text.
    One(String),
    /// Several names, written as an array.
    Several(Vec<String>),
}

impl Names {
    /// Returns all names; the list has one entry for [`Names::One`].
    #[must_use]
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// Content of a mechanism file; the format is described in docs/INTERFACE.md, "Mechanisms".
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanismFile {
    /// Path of a URDF with the joints, relative to this file.
    pub urdf: Option<String>,
    /// Path of an assembly with all parts, relative to this file; `links` then name parts of that
    /// assembly.
    pub assembly: Option<String>,
    /// For each link, the files of its parts, or patterns of names or paths of parts of the assembly.
    pub links: BTreeMap<String, Names>,
    /// Joints, unless a URDF defines them.
    #[serde(default, rename = "joint")]
    pub joints: Vec<JointTable>,
    /// Under the key `times`, the times (s) of the motion; under the name of each joint that moves, the
    /// joint's values at these times (degrees; mm for prismatic joints).
    pub motion: Option<BTreeMap<String, Vec<f64>>>,
    /// Pairs of links that are not checked, in addition to neighbours.
    #[serde(default)]
    pub ignore: Vec<[String; 2]>,
    /// Whether links that share a joint are checked against each other, too.
    #[serde(default)]
    pub neighbours: bool,
    /// Whether parts may touch, so that only penetration is reported.
    #[serde(default)]
    pub allow_touching: bool,
}

/// Joint in a file, in the coordinates of the assembly.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointTable {
    /// Name of the joint; default: the name of the link that it moves.
    pub name: Option<String>,
    /// Link that the joint moves.
    pub link: String,
    /// Parent link; default: the ground.
    pub parent: Option<String>,
    /// Direction of the axis of a revolute joint, of any length; `None` for another joint.
    pub revolute: Option<[f64; 3]>,
    /// Direction of the translation of a prismatic joint, of any length; `None` for another joint.
    pub prismatic: Option<[f64; 3]>,
    /// A point of the axis of a revolute joint (mm); default: the origin of the assembly's coordinates.
    #[serde(default)]
    pub point: [f64; 3],
    /// Smallest and largest value of the joint (degrees; mm for prismatic joints); `None` if it has no
    /// limits.
    pub limits: Option<[f64; 2]>,
    /// Name of the joint that determines the value of this one by `ratio` and `offset`; `None` for a
    /// joint with values of its own.
    pub mimic: Option<String>,
    /// Factor of the coupling to the joint `mimic`: degrees or mm of this joint per degree or mm of the
    /// other joint.
    #[serde(default = "one")]
    pub ratio: f64,
    /// Value of this joint if the joint `mimic` is at 0 (degrees; mm for prismatic joints).
    #[serde(default)]
    pub offset: f64,
}

fn one() -> f64 {
    1.0
}

/// Name of the link that no joint moves, the default parent of joints.
const GROUND: &str = "ground";

/// Parses the text of a mechanism file.
///
/// # Errors
/// Returns [`MechanismError::File`] with the position of the error in the text and the expected content.
pub fn read(text: &str) -> Result<MechanismFile, MechanismError> {
    toml::from_str(text).map_err(|e| MechanismError::File(format!("the file is not a valid mechanism: {e}")))
}

impl MechanismFile {
    /// Builds the mechanism; `urdf` is the text of the URDF that the file names.
    ///
    /// # Errors
    /// Returns an error for unknown names, loops, and joints without a direction.
    pub fn mechanism(&self, urdf: Option<&str>) -> Result<Mechanism, MechanismError> {
        let mechanism = match urdf {
            Some(text) => {
                if let Some(joint) = self.joints.first() {
                    return Err(MechanismError::File(format!(
                        "joint of link '{}': the URDF already defines the joints; remove `urdf` or [[joint]]",
                        joint.link
                    )));
                }
                urdf::read(text)?
            }
            None => self.mechanism_of_joints()?,
        };
        self.links.keys().try_for_each(|name| mechanism.link(name).map(|_| ()))?;
        Ok(mechanism)
    }

    fn mechanism_of_joints(&self) -> Result<Mechanism, MechanismError> {
        let mut links: Vec<String> = self.links.keys().cloned().collect();
        if !links.iter().any(|l| l == GROUND) {
            links.push(GROUND.to_owned());
        }
        let mut mechanism = Mechanism { links, joints: vec![] };
        let name_of = |j: &JointTable| j.name.clone().unwrap_or_else(|| j.link.clone());
        let names: Vec<String> = self.joints.iter().map(name_of).collect();
        for (joint, name) in self.joints.iter().zip(&names) {
            let unit = |v: [f64; 3]| {
                let axis = V3::from(v).try_normalize(f64::MIN_POSITIVE);
                axis.filter(|a| a.iter().all(|x| x.is_finite()))
                    .ok_or_else(|| MechanismError::Axis(name.clone()))
            };
            let kind = match (joint.revolute, joint.prismatic) {
                (Some(axis), None) => JointKind::Revolute { point: P3::from(joint.point), axis: unit(axis)? },
                (None, Some(axis)) => JointKind::Prismatic { axis: unit(axis)? },
                _ => {
                    return Err(MechanismError::File(format!(
                        "joint '{name}' needs either revolute = [x, y, z] or prismatic = [x, y, z]: the \
                         direction of its axis"
                    )));
                }
            };
            let one = kind.unit().1;
            mechanism.joints.push(Joint {
                name: name.clone(),
                parent: mechanism.link(joint.parent.as_deref().unwrap_or(GROUND))?,
                child: mechanism.link(&joint.link)?,
                origin: Pose::identity(),
                kind,
                limits: joint.limits.map(|l| l.map(|x| x * one)),
                mimic: None,
            });
        }
        for (k, joint) in self.joints.iter().enumerate() {
            let Some(other) = &joint.mimic else { continue };
            let other = mechanism.joint(other)?;
            let [one, of_other] = [k, other].map(|k| mechanism.joints[k].kind.unit().1);
            mechanism.joints[k].mimic =
                Some(Mimic { joint: other, ratio: joint.ratio * one / of_other, offset: joint.offset * one });
        }
        mechanism.sorted()
    }

    /// Builds the motion of the mechanism. Joints that the motion does not name stay at 0.
    ///
    /// # Errors
    /// Returns an error if the file has no motion, for unknown names, and if the numbers of values and
    /// times differ.
    pub fn motion(&self, mechanism: &Mechanism) -> Result<JointTrajectory, MechanismError> {
        let error = |text: String| MechanismError::Motion(text);
        let Some(motion) = &self.motion else {
            return Err(error(
                "the file has no motion; add [motion] with times = [0, 1] and values of joints".into(),
            ));
        };
        let times =
            motion.get("times").cloned().ok_or_else(|| error("[motion] needs times = [0, 1, …]".into()))?;
        if times.len() < 2 || times.windows(2).any(|w| w[1] <= w[0]) {
            return Err(error("[motion] needs at least two times that increase".into()));
        }
        let mut values = vec![vec![0.0; mechanism.joints.len()]; times.len()];
        for (name, list) in motion.iter().filter(|(name, _)| *name != "times") {
            let k = mechanism.joint(name)?;
            if mechanism.joints[k].mimic.is_some() {
                return Err(error(format!(
                    "joint '{name}' mimics another joint; remove its values from [motion]"
                )));
            }
            if list.len() != times.len() {
                let (n, m) = (list.len(), times.len());
                return Err(error(format!(
                    "joint '{name}' has {n} values for {m} times; give one value for each time"
                )));
            }
            let one = mechanism.joints[k].kind.unit().1;
            values.iter_mut().zip(list).for_each(|(row, value)| row[k] = value * one);
        }
        Ok(JointTrajectory { times, values })
    }
}
