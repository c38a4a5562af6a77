//! Mechanism files in TOML: the parts of each link, the joints or a URDF, and the motion.

use crate::{
    Closure, ClosureKind, Joint, JointKind, JointTrajectory, Mechanism, MechanismError, Mimic, urdf,
};
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
    /// Maximum deviation (mm) of the points of all parts from the exact motion of closed loops; default: a
    /// millionth of the size of the loops.
    pub deviation: Option<f64>,
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
    /// Whether this is a ball joint: it turns about x, then y, then z, through `point`.
    #[serde(default)]
    pub ball: bool,
    /// Directions of the two axes of a universal joint, of any length: the first one is fixed to the parent.
    pub universal: Option<[[f64; 3]; 2]>,
    /// Whether this is a rigid connection.
    #[serde(default)]
    pub fixed: bool,
    /// A point of the axis of a revolute joint, or the centre of a ball or universal joint (mm); default: the
    /// origin of the assembly's coordinates. A closing joint is measured at this point.
    #[serde(default)]
    pub point: [f64; 3],
    /// Whether the joint closes a loop: it connects two links that other joints place already.
    #[serde(default)]
    pub closes: bool,
    /// Point of the parent that `point` coincides with, in the coordinates in which the parent is drawn (mm);
    /// default: `point`, for links that are drawn in their places with all joints at 0.
    pub parent_point: Option<[f64; 3]>,
    /// Value from which the search for the value of a dependent joint begins (degrees; mm for prismatic
    /// joints).
    pub start: Option<f64>,
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
    /// Returns an error for unknown names, loops without a joint that closes them, and joints without a
    /// direction.
    pub fn mechanism(&self, urdf: Option<&str>) -> Result<Mechanism, MechanismError> {
        if let Some(deviation) = self.deviation.filter(|d| d.is_nan() || *d <= 0.0) {
            return Err(MechanismError::File(format!(
                "deviation is {deviation}; give a length above 0 mm, or omit it"
            )));
        }
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
        let mut mechanism = Mechanism { links, ..Mechanism::default() };
        self.joints.iter().try_for_each(|joint| joint.add_to(&mut mechanism))?;
        for table in self.joints.iter().filter(|j| j.mimic.is_some() || j.start.is_some()) {
            let k = mechanism.joint(table.name())?;
            let one = mechanism.joints[k].kind.unit().1;
            mechanism.joints[k].start = table.start.map(|x| x * one);
            let Some(other) = &table.mimic else { continue };
            let joint = mechanism.joint(other)?;
            let of_other = mechanism.joints[joint].kind.unit().1;
            let ratio = table.ratio * one / of_other;
            mechanism.joints[k].mimic = Some(Mimic { joint, ratio, offset: table.offset * one });
        }
        mechanism.sorted()
    }

    /// Builds the motion of the mechanism. Joints that the motion does not name stay at 0, unless
    /// [`Mechanism::solve`] computes their values.
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
        let mut driven = Vec::new();
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
            driven.push(k);
        }
        driven.sort_unstable();
        Ok(JointTrajectory { times, values, driven })
    }
}

impl JointTable {
    /// Name of the joint: that of the link if the file does not state another one.
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.link)
    }

    /// Types of the joints that the table stands for, in succession from the parent, with the suffixes of
    /// their names. A ball joint has three.
    fn kinds(&self) -> Result<Vec<(&'static str, JointKind)>, MechanismError> {
        let name = self.name();
        let unit = |v: [f64; 3]| {
            let axis = V3::from(v).try_normalize(f64::MIN_POSITIVE);
            axis.filter(|a| a.iter().all(|x| x.is_finite()))
                .ok_or_else(|| MechanismError::Axis(name.to_owned()))
        };
        let about = |axis: V3| JointKind::Revolute { point: P3::from(self.point), axis };
        let mut kinds = Vec::new();
        if let Some(axis) = self.revolute {
            kinds.push(vec![("", about(unit(axis)?))]);
        }
        if let Some(axis) = self.prismatic {
            kinds.push(vec![("", JointKind::Prismatic { axis: unit(axis)? })]);
        }
        if let Some([first, second]) = self.universal {
            kinds.push(vec![(".1", about(unit(first)?)), (".2", about(unit(second)?))]);
        }
        if self.ball {
            kinds.push(vec![(".x", about(V3::x())), (".y", about(V3::y())), (".z", about(V3::z()))]);
        }
        if self.fixed {
            kinds.push(vec![("", JointKind::Fixed)]);
        }
        match <[_; 1]>::try_from(kinds) {
            Ok([kind]) => Ok(kind),
            Err(_) => Err(MechanismError::File(format!(
                "joint '{name}' needs exactly one of revolute = [x, y, z] and prismatic = [x, y, z] (the \
                 direction of its axis), universal = [[x, y, z], [x, y, z]], ball = true and fixed = true"
            ))),
        }
    }

    /// Adds the joint to a mechanism that has all links of the file. The coupling and the start value are
    /// not set.
    fn add_to(&self, mechanism: &mut Mechanism) -> Result<(), MechanismError> {
        let name = self.name();
        let kinds = self.kinds()?;
        let error = |text: &str| Err(MechanismError::File(format!("joint '{name}' {text}")));
        let has_value =
            matches!(kinds.as_slice(), [(_, JointKind::Revolute { .. } | JointKind::Prismatic { .. })]);
        if !has_value && (self.limits.is_some() || self.mimic.is_some() || self.start.is_some()) {
            return error(
                "has no single value: remove limits, mimic and start, or use revolute and prismatic joints \
                 with links without parts between them",
            );
        }
        if self.closes && self.name.is_none() {
            return error("closes a loop and needs a name of its own; add name = \"…\"");
        }
        let numbers = self.point.iter().chain(self.parent_point.iter().flatten()).chain(&self.start);
        if !numbers.clone().all(|x| x.is_finite()) {
            return error("has a point or start value that is not a finite number");
        }
        let is_taken = |other: &str| other == name;
        if self.closes
            && (mechanism.joints.iter().any(|j| is_taken(&j.name))
                || mechanism.closures.iter().any(|c| is_taken(&c.name)))
        {
            return error("has the name of another joint; give each joint a name of its own");
        }
        let parent = mechanism.link(self.parent.as_deref().unwrap_or(GROUND))?;
        let child = mechanism.link(&self.link)?;
        let point = P3::from(self.point);
        let offset = self.parent_point.map_or(V3::zeros(), |p| P3::from(p) - point);
        let mut origin = Pose::from_parts(offset.into(), Default::default());
        if kinds.len() > 1 || self.closes {
            mechanism.adjacent.push([parent, child]);
        }
        let mut last = parent;
        let is_chain = !self.closes || !(self.ball || self.fixed);
        let count = kinds.len();
        for (i, (suffix, kind)) in kinds.into_iter().enumerate().filter(|_| is_chain) {
            let end = if !self.closes && i + 1 == count {
                child
            } else {
                mechanism.links.push(format!("{name}{suffix} (end)"));
                mechanism.links.len() - 1
            };
            mechanism.joints.push(Joint {
                name: format!("{name}{suffix}"),
                parent: last,
                child: end,
                origin,
                kind,
                limits: self.limits.map(|l| l.map(|x| x * kind.unit().1)),
                mimic: None,
                start: None,
            });
            (last, origin) = (end, Pose::identity());
        }
        if self.closes {
            let kind = if self.ball { ClosureKind::Ball } else { ClosureKind::Fixed };
            let links = [last, child];
            mechanism.closures.push(Closure { name: name.to_owned(), links, origin, point, kind });
        }
        Ok(())
    }
}
