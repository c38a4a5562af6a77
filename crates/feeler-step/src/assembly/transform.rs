//! Placements and transformation operators as motions.

use feeler_geom::{Frame, P3, Pose, V3};
use nalgebra::{Matrix3, Rotation3, Translation3, UnitQuaternion};

use super::motion::Motion;
use crate::entities::{Entities, Record, Res, bad};
use crate::geometry::Geometry;
use crate::units::Units;

/// Maximum difference of a scale from 1 that counts as rounding by the writer. A larger value ignores
/// real scalings; a smaller one refuses files.
const SCALE_TOL: f64 = 1e-9;

/// Maximum relative difference of a scale from the ratio of two different units that counts as rounding
/// by the writer (0.0393701 for the ratio of millimetre and inch). A larger value ignores real scalings;
/// a smaller one refuses files whose writers round the ratio.
const UNIT_RATIO_TOL: f64 = 1e-6;

/// Returns the motion from the coordinate axes to the placement or operator `id`, which the entity `by`
/// refers to. The units `units` are those of its coordinates.
///
/// An operator maps coordinates in the length unit of `source`, as plain numbers, to coordinates in
/// `units`. Its scale may therefore be the ratio of the two units; see [`is_rigid`].
pub(super) fn placed(entities: &Entities, id: u64, by: u64, units: Units, source: Units) -> Res<Motion> {
    let r = entities.get(id, by)?.flattened();
    let geometry = Geometry::new(entities, units);
    if r.name.starts_with("CARTESIAN_TRANSFORMATION_OPERATOR") {
        return operator(&geometry, &r, source.mm / units.mm);
    }
    Ok(pose_of(&geometry.placement(id, by)?).into())
}

fn pose_of(f: &Frame) -> Pose {
    let matrix = Matrix3::from_columns(&[f.x, f.y, f.z]);
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix));
    Pose::from_parts(Translation3::from(f.origin.coords), rotation)
}

/// Reads a `CARTESIAN_TRANSFORMATION_OPERATOR_3D`: axis 1, axis 2, origin, scale, axis 3. Writers
/// disagree on the number of names before these attributes, so the origin is recognised as the only
/// point. `unit_ratio` is the length unit of the mapped coordinates divided by that of the result.
fn operator(geometry: &Geometry<'_>, r: &Record<'_>, unit_ratio: f64) -> Res<Motion> {
    let is_point = |i: &usize| {
        let entity = r.maybe_reference(*i).and_then(|id| geometry.entities.find(id));
        entity.is_some_and(|e| e.is("CARTESIAN_POINT"))
    };
    let Some(at) = (2..r.n_attrs()).find(is_point) else {
        return bad(r.id, "is a transformation without a local_origin");
    };
    let origin = geometry.point(r.reference(at, "local_origin")?, r.id)?;
    let axis = |i: usize| r.maybe_reference(i).map(|id| geometry.direction(id, r.id)).transpose();
    let (axis_1, axis_2, axis_3) = (axis(at - 2)?, axis(at - 1)?, axis(at + 2)?);
    let scale = if r.has(at + 1) { r.real(at + 1, "scale")? } else { 1.0 };
    if !is_rigid(scale, unit_ratio) {
        let units = if (unit_ratio - 1.0).abs() > SCALE_TOL {
            format!(", and the ratio of the length units is {unit_ratio}")
        } else {
            String::new()
        };
        return bad(
            r.id,
            format!("scales by {scale}{units}; write the scaled geometry into the file instead"),
        );
    }
    motion(r.id, origin, axis_1, axis_2, axis_3)
}

/// Returns whether an operator with this scale keeps all lengths. A scale of 1 does, because coordinates
/// are converted to millimetres first. A scale equal to the ratio of two different length units does,
/// because it only converts numbers from one unit to the other.
fn is_rigid(scale: f64, unit_ratio: f64) -> bool {
    let same_units = (unit_ratio - 1.0).abs() <= SCALE_TOL;
    let is_unit_ratio = !same_units && (scale / unit_ratio - 1.0).abs() <= UNIT_RATIO_TOL;
    (scale - 1.0).abs() <= SCALE_TOL || is_unit_ratio
}

/// Constructs the axes as `base_axis` of ISO 10303-42: z from axis 3; x from axis 1, normal to z; y
/// normal to both, on the side of axis 2. The result may contain a reflection.
fn motion(id: u64, origin: P3, axis_1: Option<V3>, axis_2: Option<V3>, axis_3: Option<V3>) -> Res<Motion> {
    // Without axis 3, z completes axes 1 and 2 to a right-handed system, as writers intend.
    let z = axis_3.or_else(|| Some(axis_1?.cross(&axis_2?))).unwrap_or_else(V3::z);
    let Some(frame) = Frame::from_z(origin, z, axis_1) else {
        return bad(id, "is a transformation without directions");
    };
    if axis_2.is_none_or(|y| y.dot(&frame.y) >= 0.0) {
        return Ok(pose_of(&frame).into());
    }
    // The axes x, -y, z are obtained by a reflection of the first coordinate followed by the frame -x,
    // -y, z.
    let turned = Frame { x: -frame.x, y: -frame.y, ..frame };
    Ok(Motion { pose: pose_of(&turned), mirrored: true })
}
