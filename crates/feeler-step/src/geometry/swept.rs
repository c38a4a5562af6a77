//! Reads extrusions and surfaces of revolution: as canonical surfaces if possible, otherwise as exact
//! Bézier patches.
//!
//! # Source
//! ISO 10303-42 (parametrisations); BREP §2.1 (canonical surfaces).

use std::f64::consts::TAU;

use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};

use super::Geometry;
use super::curves::ReadCurve;
use super::surfaces::{Near, ReadSurface};
use crate::entities::{Record, Res, bad};

/// Maximum sine of the angle between directions that count as parallel. The 12 to 15 digits of a file
/// leave errors of 1e-12 or so. A larger value changes shapes; with a smaller one canonical surfaces
/// become splines.
const PARALLEL: f64 = 1e-10;
/// Maximum difference (mm) of lengths that count as equal. A larger value changes shapes; with a smaller
/// one canonical surfaces become splines.
const COINCIDENT: f64 = 1e-8;

impl Geometry<'_> {
    pub(super) fn extrusion(&mut self, r: &Record<'_>, near: Near<'_>) -> Res<ReadSurface> {
        let profile = self.curve(r.reference(1, "swept_curve")?, r.id)?;
        let (direction, _) = self.vector(r.reference(2, "extrusion_axis")?, r.id)?;
        let dir = direction / direction.norm();
        match extrusion(&profile, &dir, near) {
            Some(read) => Ok(read),
            None => bad(r.id, "is an extrusion of a curve along itself"),
        }
    }

    pub(super) fn revolution(&mut self, r: &Record<'_>, near: Near<'_>) -> Res<ReadSurface> {
        let profile_id = r.reference(1, "swept_curve")?;
        let mut profile = self.curve(profile_id, r.id)?;
        let axis = self.placement(r.reference(2, "axis_position")?, r.id)?;
        let (origin, z) = (&axis.origin, &axis.z);
        if let Curve::Bezier(spline) = &mut profile.curve
            && let Some(moved) = put_ends_on_axis(spline, origin, z)
        {
            self.note(
                profile_id,
                format!(
                    "is a profile that ends {} beside its axis of revolution; its end was moved to the axis",
                    feeler_brep::shown_length(moved)
                ),
            );
        }
        // A bounded profile determines the side of the axis on which it lies.
        let trim = match self.entities.get(profile_id, r.id)?.name {
            "TRIMMED_CURVE" => self.bounded(profile_id, r.id).ok(),
            _ => None,
        };
        let canonical = match &profile.curve {
            Curve::Line { origin: p, dir } => match revolved_line(p, dir, origin, z, near) {
                Some(canonical) => canonical,
                None => return bad(r.id, "is a surface of revolution whose profile lies on the axis"),
            },
            Curve::Circle { frame, radius } => revolved_circle(frame, *radius, origin, z),
            _ => None,
        };
        let range = turned_range(&profile.curve, origin, near);
        let part = self.part_turned(&profile, range, (origin, z), trim.as_ref(), (r.id, near))?;
        let either_way = part.is_some_and(|p| p.is_guess);
        let at = part.map(|p| 0.5 * (p.t0 + p.t1));
        let canonical = canonical.filter(|surface| {
            // Only an edge distinguishes the inner sheet of a spindle torus from the outer one.
            let is_inner = |p: P3| match surface {
                Surface::Torus { frame, major, .. } => (p - frame.origin).dot(&frame.x) * major < 0.0,
                _ => false,
            };
            !(near.edges.is_empty() && at.is_some_and(|t| is_inner(profile.curve.point(t))))
        });
        if let Some(surface) = canonical {
            let Some((m, tangent)) = profile_point(&profile.curve, at, origin, z) else {
                return bad(r.id, "is a surface of revolution whose profile lies on the axis");
            };
            let own = surface.normal(surface.invert(&m, None, None));
            // The normal of the surface in the file is (axis × (λ - o)) × λ'.
            let file = z.cross(&(m - origin)).cross(&tangent);
            let same = (file.dot(&own) > 0.0) == profile.forward;
            return Ok(ReadSurface { either_way, ..ReadSurface::with_normal(surface, same) });
        }
        let (t0, t1) = part.map_or(range, |p| (p.t0, p.t1));
        let spline = BezierSpline::of_curve(&profile.curve, t0, t1);
        let grid = BezierSurface::revolution(&spline, origin, z, 0.0, TAU);
        let read = ReadSurface::with_normal(Surface::Bezier(grid), profile.forward);
        Ok(ReadSurface { either_way, ..read })
    }
}

/// Maximum distance of an end of a spline from the axis of revolution at which the end is moved onto the
/// axis, relative to the size of the spline. With a larger value fine bores are closed; with a smaller one
/// profiles that end on the axis up to the rounding of their writer leave a hole there, or cross the axis.
const ON_AXIS: f64 = 1e-6;

/// Minimum displacement of an end onto the axis that is reported, relative to the size of the spline. A
/// larger value hides changes of the shape; a smaller one reports rounding.
const REPORTED_MOVE: f64 = 1e-9;

/// Moves the ends of a profile onto the axis of revolution (`origin`, direction `axis`) if they are within
/// [`ON_AXIS`] of it. Such a profile ends on the axis, but its coordinates are rounded. Returns the largest
/// displacement (mm) if it exceeds [`REPORTED_MOVE`].
fn put_ends_on_axis(spline: &mut BezierSpline, origin: &P3, axis: &V3) -> Option<f64> {
    if spline.periodic {
        return None;
    }
    let points = spline.points();
    let size = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
    let mut moved = 0.0_f64;
    for k in [0, points.len() - 1] {
        let p = points[k];
        let foot = origin + axis * (p - origin).dot(axis);
        let off = (p - foot).norm();
        if off <= ON_AXIS * size {
            spline.control[k] = homogeneous(&foot, spline.control[k].w);
            moved = moved.max(off);
        }
    }
    (moved > REPORTED_MOVE * size).then_some(moved)
}

/// Converts the surface `λ(u) + v dir` with normal `λ' × dir`; `None` if it has no area.
fn extrusion(profile: &ReadCurve, dir: &V3, near: Near<'_>) -> Option<ReadSurface> {
    match &profile.curve {
        Curve::Line { origin, dir: along } => {
            let normal = along.cross(dir);
            if normal.norm() <= PARALLEL {
                return None;
            }
            let frame = Frame::from_z(*origin, normal, Some(*along))?;
            return Some(ReadSurface::with_normal(Surface::Plane { frame }, profile.forward));
        }
        Curve::Circle { frame, radius } if frame.z.cross(dir).norm() <= PARALLEL => {
            // λ' × z points away from the axis.
            let same = profile.forward == (frame.z.dot(dir) > 0.0);
            return Some(ReadSurface::with_normal(
                Surface::Cylinder { frame: *frame, radius: *radius },
                same,
            ));
        }
        _ => {}
    }

    let (t0, t1) = finite_range(&profile.curve, |frame| {
        // Points of the face are projected along the extrusion direction onto the plane of the conic.
        let slope = frame.z.dot(dir);
        near.points
            .iter()
            .map(|p| {
                let q = if slope.abs() > 1e-3 {
                    p - dir * (frame.z.dot(&(p - frame.origin)) / slope)
                } else {
                    *p
                };
                frame.local(&q).y.abs() + near.margin
            })
            .fold(0.0, f64::max)
    });
    let spline = BezierSpline::of_curve(&profile.curve, t0, t1);
    let (lo, hi) = range(spline.points().iter().map(|p| p.coords.dot(dir)));
    let (face_lo, face_hi) = range(near.points.iter().map(|p| p.coords.dot(dir)));
    let size = (face_hi - face_lo).max(hi - lo).max(1e-3);
    let margin = near.margin + 0.01 * size;
    let (v0, v1) =
        if face_lo <= face_hi { (face_lo - hi - margin, face_hi - lo + margin) } else { (-size, size) };
    let grid = BezierSurface::extrusion(&spline, dir, v0, v1);
    Some(ReadSurface::with_normal(Surface::Bezier(grid), profile.forward))
}

/// Returns the parameter range of a profile that contains the points from which a face is revolved.
fn turned_range(profile: &Curve, origin: &P3, near: Near<'_>) -> (f64, f64) {
    // A point of the surface has the same distance from any point of the axis as the profile point that
    // generates it.
    let reach = near.points.iter().map(|p| (p - origin).norm()).fold(0.0, f64::max) + near.margin;
    match profile {
        Curve::Line { origin: p, dir } => {
            let t = (origin - p).dot(dir);
            let w = reach.max(1e-3) * 1.01;
            (t - w, t + w)
        }
        curve => finite_range(curve, |frame| reach + (frame.origin - origin).norm()),
    }
}

/// Returns the surface of a line revolved about an axis in the same plane: a cylinder, plane or cone.
/// The outer `None` means that the surface has no area, the inner one that the line is skew to the axis.
#[expect(clippy::option_option, reason = "two different ways of not being canonical")]
fn revolved_line(p: &P3, dir: &V3, origin: &P3, axis: &V3, near: Near<'_>) -> Option<Option<Surface>> {
    let offset = p - origin;
    let height = offset.dot(axis);
    let radial = offset - axis * height;
    let cos = dir.dot(axis);
    let across = dir - axis * cos;
    if across.norm() <= PARALLEL {
        let radius = radial.norm();
        if radius <= COINCIDENT {
            return None;
        }
        let frame = Frame::from_z(origin + axis * height, *axis, Some(radial))?;
        return Some(Some(Surface::Cylinder { frame, radius }));
    }
    if cos.abs() <= PARALLEL {
        let frame = Frame::from_z(origin + axis * height, *axis, Some(across))?;
        return Some(Some(Surface::Plane { frame }));
    }
    // The line intersects the axis if its radial offset is parallel to the radial component of its
    // direction.
    let across_unit = across / across.norm();
    let miss = radial - across_unit * radial.dot(&across_unit);
    if miss.norm() > COINCIDENT {
        return Some(None);
    }
    let apex = p - dir * (radial.dot(&across_unit) / across.norm());
    let z = if near.is_below(&apex, axis) { -axis } else { *axis };
    let frame = Frame::from_z(apex, z, Some(across))?;
    Some(Some(Surface::Cone { frame, half_angle: math::atan2(across.norm(), cos.abs()) }))
}

/// Returns the surface of a circle revolved about an axis in its plane: a torus, or a sphere if the
/// centre is on the axis. `None` if the axis is not in the plane of the circle.
fn revolved_circle(circle: &Frame, radius: f64, origin: &P3, axis: &V3) -> Option<Surface> {
    let offset = circle.origin - origin;
    let height = offset.dot(axis);
    let radial = offset - axis * height;
    if circle.z.dot(axis).abs() > PARALLEL || circle.z.dot(&radial).abs() > COINCIDENT {
        return None;
    }
    let major = radial.norm();
    let centre = origin + axis * height;
    if major > COINCIDENT {
        let frame = Frame::from_z(centre, *axis, Some(radial))?;
        return Some(Surface::Torus { frame, major, minor: radius });
    }
    let frame = Frame::from_z(centre, *axis, Some(axis.cross(&circle.z)))?;
    Some(Surface::Sphere { frame, radius })
}

/// Returns a point of a line or circle that is not on the axis, and the tangent there. `at` is the
/// parameter to use, if the face is on one part of a profile that crosses the axis.
fn profile_point(curve: &Curve, at: Option<f64>, origin: &P3, axis: &V3) -> Option<(P3, V3)> {
    if let Some(t) = at {
        let d = curve.derivs(t);
        return Some((d.p, d.d1));
    }
    let radial = |p: &P3| (p - origin) - axis * (p - origin).dot(axis);
    match curve {
        Curve::Line { origin: p, dir } => {
            Some(if radial(p).norm() > COINCIDENT { (*p, *dir) } else { (p + dir, *dir) })
        }
        Curve::Circle { frame, radius } => {
            let away = radial(&frame.origin).try_normalize(COINCIDENT)?;
            let m = frame.origin + away * *radius;
            Some((m, frame.z.cross(&(m - frame.origin))))
        }
        _ => None,
    }
}

/// Returns the parameter range of a whole profile. A parabola or hyperbola is cut where its local `|y|`
/// exceeds `reach` (mm) of its frame.
fn finite_range(curve: &Curve, reach: impl Fn(&Frame) -> f64) -> (f64, f64) {
    match curve {
        Curve::Parabola { frame, focal } => {
            let t = (reach(frame) / (2.0 * focal)).max(1e-3) * 1.05;
            (-t, t)
        }
        Curve::Hyperbola { frame, semi_imag, .. } => {
            let t = math::asinh(reach(frame) / semi_imag).max(1e-3) * 1.05;
            (-t, t)
        }
        Curve::Bezier(spline) => spline.range(),
        Curve::Line { .. } => (-1.0, 1.0),
        Curve::Circle { .. } | Curve::Ellipse { .. } => (0.0, TAU),
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spline from a point `off` beside the z axis to a point at the distance 1 from it.
    fn profile(off: f64) -> BezierSpline {
        let points = [P3::new(off, 0.0, 1.0), P3::new(0.9, 0.0, 0.8), P3::new(1.0, 0.0, 0.0)];
        BezierSpline {
            degree: 2,
            breaks: vec![0.0, 1.0],
            control: points.iter().map(|p| homogeneous(p, 1.0)).collect(),
            periodic: false,
        }
    }

    /// Ends are moved within a millionth of the size of the profile; a bore that is wider stays open.
    #[test]
    fn ends_beside_the_axis_are_moved_and_fine_bores_stay_open() {
        let size = 2.0_f64.sqrt();
        for (share, is_moved, is_reported) in
            [(1e-12, true, false), (1e-8, true, true), (0.9e-6, true, true), (2e-6, false, false)]
        {
            let mut spline = profile(share * size);
            let moved = put_ends_on_axis(&mut spline, &P3::origin(), &V3::z());
            assert_eq!(spline.points()[0].x == 0.0, is_moved, "{share}");
            assert_eq!(moved.is_some(), is_reported, "{share}: {moved:?}");
            assert!(moved.is_none_or(|m| (m - share * size).abs() < 1e-12), "{share}: {moved:?}");
        }
    }
}
