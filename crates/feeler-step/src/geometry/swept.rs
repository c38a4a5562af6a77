//! Extrusions and surfaces of revolution: canonical where they are, exact Bézier patches otherwise.
//!
//! # Source
//! ISO 10303-42 (parametrisations); BREP §2.1 (canonical where it can be).

use std::f64::consts::TAU;

use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};

use super::Geometry;
use super::curves::ReadCurve;
use super::surfaces::{Near, ReadSurface};
use crate::entities::{Record, Res, bad};

/// Directions are parallel (and points on an axis) within this: a file's 12 to 15 digits leave 1e-12 or so.
const PARALLEL: f64 = 1e-10;
/// Lengths agree within this (mm).
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
        let profile = self.curve(profile_id, r.id)?;
        let axis = self.placement(r.reference(2, "axis_position")?, r.id)?;
        // On which side of the axis the profile is: a bounded one says so itself.
        let middle = match self.entities.get(profile_id, r.id)?.name {
            "TRIMMED_CURVE" => self.bounded(profile_id, r.id).ok().map(|s| {
                let (t0, t1) = s.range();
                s.derivs(0.5 * (t0 + t1)).p
            }),
            _ => None,
        };
        match revolution(&profile, middle, &axis.origin, &axis.z, near) {
            Some(Turned::Canonical(read)) => Ok(read),
            Some(Turned::Range(t0, t1)) => {
                let axis = (&axis.origin, &axis.z);
                let part = self.part_turned(&profile, (t0, t1), axis, middle, (r.id, near));
                let (t0, t1, either_way) = part.map_or((t0, t1, false), |p| (p.t0, p.t1, p.is_guess));
                let spline = BezierSpline::of_curve(&profile.curve, t0, t1);
                let grid = BezierSurface::revolution(&spline, axis.0, axis.1, 0.0, TAU);
                let read = ReadSurface::with_normal(Surface::Bezier(grid), profile.forward);
                Ok(ReadSurface { either_way, ..read })
            }
            None => bad(r.id, "is a surface of revolution whose profile lies on the axis"),
        }
    }
}

/// `λ(u) + v dir`, normal `λ' × dir`; `None` when it has no area.
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
        // Along the extrusion onto the plane of the conic.
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

/// A profile turned about an axis.
enum Turned {
    Canonical(ReadSurface),
    /// Free-form: the range of the profile within reach of the face.
    Range(f64, f64),
}

/// The profile turned about the axis. `None` when it has no area.
fn revolution(
    profile: &ReadCurve,
    middle: Option<P3>,
    origin: &P3,
    axis: &V3,
    near: Near<'_>,
) -> Option<Turned> {
    let canonical = match &profile.curve {
        Curve::Line { origin: p, dir } => revolved_line(p, dir, origin, axis, near)?,
        Curve::Circle { frame, radius } => revolved_circle(frame, *radius, origin, axis),
        _ => None,
    };
    if let Some(surface) = canonical {
        let (m, tangent) = profile_point(&profile.curve, middle, origin, axis)?;
        let own = natural_direction(&surface, &m);
        // The file's normal is (axis × (λ - o)) × λ'.
        let file = axis.cross(&(m - origin)).cross(&tangent);
        let same = (file.dot(&own) > 0.0) == profile.forward;
        return Some(Turned::Canonical(ReadSurface::with_normal(surface, same)));
    }
    // Every point of the surface is as far from a point of the axis as the profile's point it came from.
    let reach = near.points.iter().map(|p| (p - origin).norm()).fold(0.0, f64::max) + near.margin;
    let (t0, t1) = match &profile.curve {
        Curve::Line { origin: p, dir } => {
            let t = (origin - p).dot(dir);
            let w = reach.max(1e-3) * 1.01;
            (t - w, t + w)
        }
        curve => finite_range(curve, |frame| reach + (frame.origin - origin).norm()),
    };
    Some(Turned::Range(t0, t1))
}

/// A line turned about an axis in one plane with it: cylinder, plane or cone. Outer `None`: no area; inner
/// `None`: the line is askew.
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
    // The line meets the axis when the radial offset is along the line's own radial direction.
    let across_unit = across / across.norm();
    let miss = radial - across_unit * radial.dot(&across_unit);
    if miss.norm() > COINCIDENT {
        return Some(None);
    }
    let apex = p - dir * (radial.dot(&across_unit) / across.norm());
    let height = near.points.iter().map(|q| (q - apex).dot(axis)).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let z = if height.is_none_or(|h| h >= 0.0) { *axis } else { -axis };
    let frame = Frame::from_z(apex, z, Some(across))?;
    Some(Some(Surface::Cone { frame, half_angle: math::atan2(across.norm(), cos.abs()) }))
}

/// A circle turned about an axis in its plane: torus, or sphere when its centre is on the axis.
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

/// A point of a line or circle off the axis, and the tangent there.
fn profile_point(curve: &Curve, middle: Option<P3>, origin: &P3, axis: &V3) -> Option<(P3, V3)> {
    let radial = |p: &P3| (p - origin) - axis * (p - origin).dot(axis);
    match curve {
        Curve::Line { origin: p, dir } => {
            let m = middle.unwrap_or(*p);
            Some(if radial(&m).norm() > COINCIDENT { (m, *dir) } else { (m + dir, *dir) })
        }
        Curve::Circle { frame, radius } => {
            let away = radial(&frame.origin);
            let away = if away.norm() > COINCIDENT { away / away.norm() } else { axis.cross(&frame.z) };
            let m = middle.filter(|m| radial(m).norm() > COINCIDENT).unwrap_or(frame.origin + away * *radius);
            Some((m, frame.z.cross(&(m - frame.origin))))
        }
        _ => None,
    }
}

/// Direction of the natural normal of a canonical surface at a point on it, up to a positive factor and, for
/// the cone, up to less than a quarter turn.
fn natural_direction(surface: &Surface, p: &P3) -> V3 {
    let radial = |f: &Frame| {
        let q = f.local(p);
        f.vector(q.x, q.y, 0.0)
    };
    match surface {
        Surface::Plane { frame } => frame.z,
        Surface::Cylinder { frame, .. } | Surface::Cone { frame, .. } => radial(frame),
        Surface::Sphere { frame, .. } => p - frame.origin,
        Surface::Torus { frame, major, .. } => {
            let out = radial(frame);
            p - (frame.origin + out * (major / out.norm()))
        }
        Surface::Bezier(_) => V3::zeros(),
    }
}

/// All of a profile. A parabola or hyperbola is cut where its local `|y|` passes `reach` of its frame.
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
