//! Reads points, directions and placements in millimetres; curves and surfaces are in submodules.

mod curves;
mod offset;
mod pcurves;
mod profile;
mod splines;
mod surfaces;
mod swept;

use std::collections::HashMap;

use feeler_geom::bezier::BezierSurface;
use feeler_geom::{Frame, P3, V3};

use crate::entities::{Entities, Record, Res, bad};
use crate::units::Units;

use curves::ReadCurve;
pub(crate) use surfaces::{Near, NearEdge, ReadSurface};

/// Maximum coordinate (mm): a thousand kilometres. Larger coordinates are assumed to be errors of the
/// file or its unit. A larger value loses digits; with a smaller one large plants are refused.
pub(crate) const MAX_COORDINATE_MM: f64 = 1e9;

/// Maximum nesting depth of geometry (an offset of a trimmed extrusion of a composite curve …). A larger
/// value may overflow the stack.
const MAX_DEPTH: u32 = 24;

/// Remark about inexact or irregular geometry.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) entity: u64,
    /// Entity id of the face or edge that was being read.
    pub(crate) part: Option<u64>,
    pub(crate) message: String,
}

/// Reader for the geometry of one representation.
#[derive(Debug)]
pub(crate) struct Geometry<'a> {
    pub(crate) entities: &'a Entities,
    pub(crate) units: Units,
    /// Remarks about inexact or irregular geometry, in the order of reading.
    pub(crate) notes: Vec<Note>,
    /// Entity id of the face or edge that is being read.
    pub(crate) part: Option<u64>,
    depth: u32,
    /// Cache of the computed offset surfaces of splines with their deviations (mm), by the entity id of
    /// the offset surface, because many faces and edges refer to one offset surface.
    offsets: HashMap<u64, (BezierSurface, f64)>,
}

impl<'a> Geometry<'a> {
    pub(crate) fn new(entities: &'a Entities, units: Units) -> Self {
        Self { entities, units, notes: Vec::new(), part: None, depth: 0, offsets: HashMap::new() }
    }

    pub(crate) fn note(&mut self, id: u64, message: impl Into<String>) {
        self.notes.push(Note { entity: id, part: self.part, message: message.into() });
    }

    /// Runs `read` one level deeper, so that entities that refer to each other cyclically cause an error
    /// and not an endless recursion.
    fn deeper<T>(&mut self, id: u64, read: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.depth >= MAX_DEPTH {
            return bad(id, "is geometry that is nested too deeply or defined by itself");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Returns attribute `i` of `r` as a length (mm); `what` is its name in error messages.
    pub(crate) fn length(&self, r: &Record<'_>, i: usize, what: &str) -> Res<f64> {
        let x = r.real(i, what)? * self.units.mm;
        if x.abs() <= MAX_COORDINATE_MM {
            Ok(x)
        } else {
            bad(r.id, format!("{}: {what} is {x:e} mm; check the file's length unit", r.name))
        }
    }

    /// Returns attribute `i` of `r` as a length (mm) that must be positive.
    pub(crate) fn positive_length(&self, r: &Record<'_>, i: usize, what: &str) -> Res<f64> {
        let x = self.length(r, i, what)?;
        if x > 0.0 { Ok(x) } else { bad(r.id, format!("{}: {what} is {x}; it must be positive", r.name)) }
    }

    /// Reads a `CARTESIAN_POINT` (mm).
    pub(crate) fn point(&self, id: u64, by: u64) -> Res<P3> {
        let r = self.entities.get(id, by)?.flattened();
        if r.name != "CARTESIAN_POINT" {
            return bad(
                id,
                format!("is a {}; a CARTESIAN_POINT is needed here (referenced by #{by})", r.label()),
            );
        }
        let c = r.reals(1, "coordinates")?;
        let p = match c[..] {
            [x, y, z] => P3::new(x, y, z) * self.units.mm,
            [x, y] => P3::new(x, y, 0.0) * self.units.mm,
            _ => {
                return bad(
                    id,
                    format!("is a CARTESIAN_POINT with {} coordinates; it must have 2 or 3", c.len()),
                );
            }
        };
        // NaN fails this test as well.
        if p.iter().all(|x| x.abs() <= MAX_COORDINATE_MM) {
            Ok(p)
        } else {
            bad(id, format!("has coordinates beyond {MAX_COORDINATE_MM:e} mm; check the file's length unit"))
        }
    }

    /// Reads a `DIRECTION`, scaled to a safe magnitude but not normalised.
    pub(crate) fn direction(&self, id: u64, by: u64) -> Res<V3> {
        let r = self.entities.get(id, by)?.flattened();
        if r.name != "DIRECTION" {
            return bad(id, format!("is a {}; a DIRECTION is needed here (referenced by #{by})", r.label()));
        }
        let c = r.reals(1, "direction_ratios")?;
        let v = match c[..] {
            [x, y, z] => V3::new(x, y, z),
            [x, y] => V3::new(x, y, 0.0),
            _ => return bad(id, format!("is a DIRECTION with {} components; it must have 2 or 3", c.len())),
        };
        let scale = v.amax();
        if scale > 0.0 { Ok(v / scale) } else { bad(id, "is a DIRECTION of length zero") }
    }

    /// Reads an `AXIS2_PLACEMENT_3D` or `AXIS1_PLACEMENT`.
    pub(crate) fn placement(&self, id: u64, by: u64) -> Res<Frame> {
        let r = self.entities.get(id, by)?.flattened();
        if !matches!(r.name, "AXIS2_PLACEMENT_3D" | "AXIS1_PLACEMENT") {
            return bad(
                id,
                format!("is a {}; an AXIS2_PLACEMENT_3D is needed here (referenced by #{by})", r.label()),
            );
        }
        let origin = self.point(r.reference(1, "location")?, id)?;
        let z = r.maybe_reference(2).map_or(Ok(V3::z()), |a| self.direction(a, id))?;
        let x = r.maybe_reference(3).map(|a| self.direction(a, id)).transpose()?;
        match Frame::from_z(origin, z, x) {
            Some(frame) => Ok(frame),
            None => bad(id, "is a placement whose axes are not valid directions"),
        }
    }

    /// Reads a `VECTOR`: its direction, not normalised, and its magnitude (mm).
    pub(crate) fn vector(&self, id: u64, by: u64) -> Res<(V3, f64)> {
        let r = self.entities.get(id, by)?.flattened();
        if r.name == "DIRECTION" {
            return Ok((self.direction(id, by)?, self.units.mm));
        }
        if r.name != "VECTOR" {
            return bad(id, format!("is a {}; a VECTOR is needed here (referenced by #{by})", r.label()));
        }
        let direction = self.direction(r.reference(1, "orientation")?, id)?;
        Ok((direction, self.length(&r, 2, "magnitude")?))
    }
}
