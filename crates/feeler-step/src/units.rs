//! Units of lengths and angles of a representation.

use crate::entities::{Entities, Record, Res, bad};

/// Units of one representation context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    /// Length unit in millimetres.
    pub(crate) mm: f64,
    /// Plane-angle unit in radians.
    pub(crate) rad: f64,
    /// Stated uncertainty (mm); 0 if the file states none.
    pub(crate) uncertainty: f64,
    /// Whether the context names a length unit.
    pub(crate) has_length: bool,
}

impl Default for Units {
    fn default() -> Self {
        Self { mm: 1.0, rad: 1.0, uncertainty: 0.0, has_length: false }
    }
}

impl Units {
    /// Units of a representation without units of its own: the unit that the user gave for the file, or
    /// else millimetres.
    pub(crate) fn of_file(entities: &Entities) -> Self {
        let default = Self::default();
        match entities.unit() {
            Some(mm) => Self { mm, has_length: true, ..default },
            None => default,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// A length unit, in millimetres.
    Length(f64),
    /// An angle unit, in radians.
    Angle(f64),
    Other,
}

/// Units of the representation context `id`; `by` is the representation that refers to it.
pub(crate) fn units_of_context(entities: &Entities, id: u64, by: u64) -> Res<Units> {
    let context = entities.get(id, by)?;
    let mut units = Units::default();
    let mut has_angle = false;
    if let Some(assigned) = context.own("GLOBAL_UNIT_ASSIGNED_CONTEXT", 2) {
        for unit_id in assigned.references(0, "units")? {
            match unit(entities, unit_id, id, 0)? {
                Unit::Length(mm) if !units.has_length => {
                    units.mm = mm;
                    units.has_length = true;
                }
                Unit::Angle(rad) if !has_angle => {
                    units.rad = rad;
                    has_angle = true;
                }
                _ => {}
            }
        }
    }
    if let Some(assigned) = context.own("GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT", 2) {
        for measure_id in assigned.references(0, "uncertainty")? {
            // Unreadable uncertainties are skipped because the uncertainty is only a hint.
            let Ok(measure) = entities.get(measure_id, id) else { continue };
            let measure = measure_part(measure);
            let (Ok(value), Ok(unit_id)) = (measure.real(0, "value"), measure.reference(1, "unit")) else {
                continue;
            };
            if let Ok(Unit::Length(mm)) = unit(entities, unit_id, measure_id, 0) {
                units.uncertainty = units.uncertainty.max((value * mm).abs());
            }
        }
    }
    // The user's unit applies to the uncertainty as well.
    if let Some(mm) = entities.unit() {
        units.uncertainty *= mm / units.mm;
        (units.mm, units.has_length) = (mm, true);
    }
    Ok(units)
}

fn unit(entities: &Entities, id: u64, by: u64, depth: u32) -> Res<Unit> {
    if depth > 16 {
        return bad(id, "is a unit defined by itself");
    }
    let record = entities.get(id, by)?;
    if let Some(si) = record.own("SI_UNIT", 1) {
        return si_unit(&si);
    }
    if let Some(conversion) = record.own("CONVERSION_BASED_UNIT", 1) {
        let factor_id = conversion.reference(1, "conversion_factor")?;
        let factor = measure_part(entities.get(factor_id, id)?);
        let value = factor.real(0, "value_component")?;
        if !(value.is_finite() && value > 0.0) {
            return bad(
                factor_id,
                format!("has the conversion factor {value} of a unit, which must be positive"),
            );
        }
        return Ok(match unit(entities, factor.reference(1, "unit_component")?, factor_id, depth + 1)? {
            Unit::Length(mm) => Unit::Length(value * mm),
            Unit::Angle(rad) => Unit::Angle(value * rad),
            Unit::Other => Unit::Other,
        });
    }
    if record.is("LENGTH_UNIT") || record.is("PLANE_ANGLE_UNIT") {
        return bad(id, "is a length or angle unit without a size (neither SI nor conversion based)");
    }
    Ok(Unit::Other)
}

/// Returns the part of a measure that contains its value and unit. The measure may be a complex instance
/// that is also a representation item.
fn measure_part(measure: Record<'_>) -> Record<'_> {
    measure.own("MEASURE_WITH_UNIT", 0).unwrap_or(measure)
}

fn si_unit(si: &Record<'_>) -> Res<Unit> {
    let factor = match si.enumeration(0).as_deref() {
        None => 1.0,
        Some("EXA") => 1e18,
        Some("PETA") => 1e15,
        Some("TERA") => 1e12,
        Some("GIGA") => 1e9,
        Some("MEGA") => 1e6,
        Some("KILO") => 1e3,
        Some("HECTO") => 1e2,
        Some("DECA") => 1e1,
        Some("DECI") => 1e-1,
        Some("CENTI") => 1e-2,
        Some("MILLI") => 1e-3,
        Some("MICRO") => 1e-6,
        Some("NANO") => 1e-9,
        Some("PICO") => 1e-12,
        Some("FEMTO") => 1e-15,
        Some("ATTO") => 1e-18,
        Some(other) => return bad(si.id, format!("has the unknown SI prefix {other}")),
    };
    Ok(match si.enumeration(1).as_deref() {
        // 1e-3 * 1000 is not exactly 1, so millimetres are a separate case.
        Some("METRE") if si.enumeration(0).as_deref() == Some("MILLI") => Unit::Length(1.0),
        Some("METRE") => Unit::Length(factor * 1000.0),
        Some("RADIAN") => Unit::Angle(factor),
        _ => Unit::Other,
    })
}
