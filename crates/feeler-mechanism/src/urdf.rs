//! Reader of URDF files: links, joints, limits and mimic joints. Lengths in metres are converted to mm.
//!
//! Shapes and masses of the file are ignored. Shapes are assigned to links by name.

use crate::{Joint, JointKind, Mechanism, MechanismError, Mimic};
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};

/// Converts metres to mm.
fn millimetres(metres: f64) -> f64 {
    1e3 * metres
}

/// Reads the mechanism of a URDF document.
///
/// # Errors
/// Returns an error if the text is not a valid URDF, if a joint has several degrees of freedom
/// (floating, planar), or if joints form a loop.
pub fn read(text: &str) -> Result<Mechanism, MechanismError> {
    let robot = urdf_rs::read_from_string(text)
        .map_err(|e| MechanismError::File(format!("the text is not a valid URDF: {e}")))?;
    let links: Vec<String> = robot.links.iter().map(|l| l.name.clone()).collect();
    let mut mechanism = Mechanism { links, ..Mechanism::default() };
    let names: Vec<String> = robot.joints.iter().map(|j| j.name.clone()).collect();
    for joint in &robot.joints {
        let (parent, child) = (mechanism.link(&joint.parent.link)?, mechanism.link(&joint.child.link)?);
        let axis = || {
            let axis = V3::from(*joint.axis.xyz);
            axis.try_normalize(f64::MIN_POSITIVE).ok_or_else(|| MechanismError::Axis(joint.name.clone()))
        };
        let revolute = |axis| JointKind::Revolute { point: P3::origin(), axis };
        let limits = [joint.limit.lower, joint.limit.upper];
        let (kind, limits) = match joint.joint_type {
            urdf_rs::JointType::Fixed => (JointKind::Fixed, None),
            urdf_rs::JointType::Continuous => (revolute(axis()?), None),
            urdf_rs::JointType::Revolute => (revolute(axis()?), Some(limits)),
            urdf_rs::JointType::Prismatic => {
                (JointKind::Prismatic { axis: axis()? }, Some(limits.map(millimetres)))
            }
            ref other => {
                return Err(MechanismError::File(format!(
                    "joint '{}' is {other:?}; only fixed, revolute, continuous and prismatic joints are \
                     supported",
                    joint.name
                )));
            }
        };
        let mimic = match &joint.mimic {
            None => None,
            Some(m) => {
                let other = names.iter().position(|n| *n == m.joint).ok_or_else(|| {
                    MechanismError::Unknown { what: "joint", name: m.joint.clone(), known: names.join(", ") }
                })?;
                let unit = |k: &urdf_rs::JointType| match k {
                    urdf_rs::JointType::Prismatic => millimetres(1.0),
                    _ => 1.0,
                };
                let (unit, other_unit) = (unit(&joint.joint_type), unit(&robot.joints[other].joint_type));
                let ratio = m.multiplier.unwrap_or(1.0) * unit / other_unit;
                Some(Mimic { joint: other, ratio, offset: m.offset.unwrap_or(0.0) * unit })
            }
        };
        mechanism.joints.push(Joint {
            name: joint.name.clone(),
            parent,
            child,
            origin: pose(&joint.origin),
            kind,
            limits,
            mimic,
            start: None,
        });
    }
    mechanism.sorted()
}

/// Converts a pose of a URDF (m, rad) to mm. Its rotation is about fixed axes: roll about x, then pitch
/// about y, then yaw about z.
fn pose(origin: &urdf_rs::Pose) -> Pose {
    let [roll, pitch, yaw] = *origin.rpy;
    let about = |axis: V3, angle: f64| UnitQuaternion::from_scaled_axis(axis * angle);
    let rotation = about(V3::z(), yaw) * about(V3::y(), pitch) * about(V3::x(), roll);
    Pose::from_parts(Translation3::from(V3::from(*origin.xyz).map(millimetres)), rotation)
}
