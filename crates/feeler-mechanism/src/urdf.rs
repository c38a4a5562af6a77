//! Reader of URDF files: links, joints, limits and mimic joints. Lengths in metres are converted to mm.
//! It is the only user of `roxmltree`.
//!
//! Shapes and masses of the file are ignored. Shapes are assigned to links by name.

use crate::{Joint, JointKind, Mechanism, MechanismError, Mimic};
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};
use roxmltree::{Document, Node};

/// Converts metres to mm.
fn millimetres(metres: f64) -> f64 {
    1e3 * metres
}

/// Reads the mechanism of a URDF document.
///
/// # Errors
/// Returns an error if the text is not a valid URDF, if a joint has several degrees of freedom
/// (floating, planar), or if joints form a loop. The message names the line.
pub fn read(text: &str) -> Result<Mechanism, MechanismError> {
    let document = Document::parse(text)
        .map_err(|e| MechanismError::File(format!("the text is not a valid URDF: {e}")))?;
    let robot = document.root_element();
    if robot.tag_name().name() != "robot" {
        return Err(fault(robot, "the root element of a URDF is <robot>"));
    }
    let is_macro = |node: &Node<'_, '_>| node.tag_name().namespace().is_some_and(|n| n.contains("xacro"));
    if let Some(node) = robot.descendants().find(is_macro) {
        return Err(fault(node, "the text contains xacro macros: expand them first with the program xacro"));
    }
    let named = |tag: &'static str| robot.children().filter(move |node| node.has_tag_name(tag));
    let links = named("link").map(|link| attribute(link, "name").map(String::from));
    let mut mechanism = Mechanism { links: links.collect::<Result<_, _>>()?, ..Mechanism::default() };
    let joints = named("joint").map(UrdfJoint::read).collect::<Result<Vec<_>, _>>()?;
    for joint in &joints {
        let (parent, child) = (mechanism.link(joint.parent)?, mechanism.link(joint.child)?);
        mechanism.joints.push(Joint {
            name: joint.name.into(),
            parent,
            child,
            origin: joint.origin,
            kind: joint.kind,
            limits: joint.limits,
            mimic: joint.mimic(&joints)?,
            start: None,
        });
    }
    mechanism.sorted()
}

/// A joint of a URDF, with the element that defines it.
struct UrdfJoint<'a> {
    node: Node<'a, 'a>,
    name: &'a str,
    parent: &'a str,
    child: &'a str,
    origin: Pose,
    kind: JointKind,
    /// Limits (rad or mm) of revolute and prismatic joints.
    limits: Option<[f64; 2]>,
    /// Length (mm) or angle (rad) of a unit of the joint's values in the file.
    unit: f64,
}

impl<'a> UrdfJoint<'a> {
    fn read(node: Node<'a, 'a>) -> Result<Self, MechanismError> {
        let name = attribute(node, "name")?;
        let end = |tag| attribute(child(node, tag)?, "link");
        let axis = || {
            let axis = match element(node, "axis") {
                None => V3::x(),
                Some(axis) => V3::from(numbers(axis, "xyz")?.unwrap_or([1.0, 0.0, 0.0])),
            };
            axis.try_normalize(f64::MIN_POSITIVE).ok_or_else(|| MechanismError::Axis(name.into()))
        };
        let limits = || -> Result<[f64; 2], MechanismError> {
            let limit = child(node, "limit").map_err(|_| {
                let remedy = "use the type continuous if it turns without limits";
                fault(node, &format!("joint '{name}' has no <limit>; {remedy}"))
            })?;
            let of = |name| Ok::<_, MechanismError>(numbers::<1>(limit, name)?.map_or(0.0, |[x]| x));
            Ok([of("lower")?, of("upper")?])
        };
        let revolute = |axis| JointKind::Revolute { point: P3::origin(), axis };
        let (kind, limits, unit) = match attribute(node, "type")? {
            "fixed" => (JointKind::Fixed, None, 1.0),
            "continuous" => (revolute(axis()?), None, 1.0),
            "revolute" => (revolute(axis()?), Some(limits()?), 1.0),
            "prismatic" => {
                let limits = limits()?.map(millimetres);
                (JointKind::Prismatic { axis: axis()? }, Some(limits), millimetres(1.0))
            }
            other => {
                let text = format!(
                    "joint '{name}' is {other}; only fixed, revolute, continuous and prismatic joints are \
                     supported"
                );
                return Err(fault(node, &text));
            }
        };
        let origin = element(node, "origin").map_or(Ok(Pose::identity()), pose)?;
        Ok(Self { node, name, parent: end("parent")?, child: end("child")?, origin, kind, limits, unit })
    }

    /// Returns the joint that this joint follows, with the ratio and the offset of their values.
    fn mimic(&self, joints: &[Self]) -> Result<Option<Mimic>, MechanismError> {
        let Some(mimic) = element(self.node, "mimic") else { return Ok(None) };
        let followed = attribute(mimic, "joint")?;
        let joint = joints.iter().position(|j| j.name == followed).ok_or_else(|| {
            let known = joints.iter().map(|j| j.name).collect::<Vec<_>>().join(", ");
            MechanismError::Unknown { what: "joint", name: followed.into(), known }
        })?;
        let [multiplier] = numbers(mimic, "multiplier")?.unwrap_or([1.0]);
        let [offset] = numbers(mimic, "offset")?.unwrap_or([0.0]);
        let ratio = multiplier * self.unit / joints[joint].unit;
        Ok(Some(Mimic { joint, ratio, offset: offset * self.unit }))
    }
}

/// Converts an element `origin` (m, rad) to a pose in mm. Its rotation is about fixed axes: roll about x,
/// then pitch about y, then yaw about z.
fn pose(origin: Node<'_, '_>) -> Result<Pose, MechanismError> {
    let shift = V3::from(numbers(origin, "xyz")?.unwrap_or_default());
    let [roll, pitch, yaw] = numbers(origin, "rpy")?.unwrap_or_default();
    let about = |axis: V3, angle: f64| UnitQuaternion::from_scaled_axis(axis * angle);
    let rotation = about(V3::z(), yaw) * about(V3::y(), pitch) * about(V3::x(), roll);
    Ok(Pose::from_parts(Translation3::from(shift.map(millimetres)), rotation))
}

/// First child of an element with this tag; `None` without one.
fn element<'a>(node: Node<'a, 'a>, tag: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.has_tag_name(tag))
}

/// Like [`element`]; an error without such a child.
fn child<'a>(node: Node<'a, 'a>, tag: &str) -> Result<Node<'a, 'a>, MechanismError> {
    element(node, tag).ok_or_else(|| fault(node, &format!("<{}> has no <{tag}>", node.tag_name().name())))
}

/// Value of an attribute; an error without one.
fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, MechanismError> {
    let missing = || fault(node, &format!("<{}> has no attribute '{name}'", node.tag_name().name()));
    node.attribute(name).ok_or_else(missing)
}

/// Finite numbers of an attribute; `None` without the attribute.
fn numbers<const N: usize>(node: Node<'_, '_>, name: &str) -> Result<Option<[f64; N]>, MechanismError> {
    let Some(text) = node.attribute(name) else { return Ok(None) };
    let parsed = text.split_ascii_whitespace().map(|word| word.parse().ok().filter(|x: &f64| x.is_finite()));
    let values = parsed.collect::<Option<Vec<f64>>>().and_then(|all| all.try_into().ok());
    values.map(Some).ok_or_else(|| {
        let what = if N == 1 { "is not a number".into() } else { format!("is not {N} numbers") };
        fault(node, &format!("{name}=\"{text}\" of <{}> {what}", node.tag_name().name()))
    })
}

/// Error at an element, with its line.
fn fault(node: Node<'_, '_>, text: &str) -> MechanismError {
    let line = node.document().text_pos_at(node.range().start).row;
    MechanismError::File(format!("line {line}: {text}"))
}
