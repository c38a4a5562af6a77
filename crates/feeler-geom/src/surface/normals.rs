//! Cones around the normals of surfaces over parameter rectangles.
//!
//! # Source
//! BREP §3.3: on the unit sphere of directions, the normals of a canonical surface fill an arc of a
//! great circle (cylinder), an arc of a latitude (cone), or a rectangle of two meridians and two
//! latitudes (sphere, torus). Normals of Bézier patches are bounded by the control vectors of the scaled
//! normal patch (§3.3.3).
//!
//! # Deviations
//! Rectangles that extend over a pole of the sphere of directions (a torus at its top circle) are split
//! there.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{Rect, Surface};
use crate::curve::{half_space, sinusoid_range};
use crate::frame::unit;
use crate::{Frame, P3, RevolutionCone, V3, math};

/// Angle (rad) by which every cone is enlarged for the rounding of angles. A larger value loosens cones;
/// with a smaller one normals could lie outside.
const ANGLE_SLACK: f64 = 1e-12;

/// Unit natural normal at the point of a canonical surface that is nearest to `p`. `None` if `p` is on
/// the axis of revolution, or if the surface is a spindle torus or a free form.
pub(super) fn beside(surface: &Surface, p: &P3) -> Option<V3> {
    // The closure returns the radial and axial components of the normal in the half-plane of `p`, from
    // the distance of `p` to the axis and its height.
    let in_half_plane = |frame: &Frame, components: &dyn Fn(f64, f64) -> Option<(f64, f64)>| {
        let q = frame.local(p);
        let rho = (q.x * q.x + q.y * q.y).sqrt();
        let rounding = 8.0 * f64::EPSILON * (p.coords.amax() + frame.origin.coords.amax());
        let (across, along) = if rho > rounding { components(rho, q.z)? } else { return None };
        Some(frame.vector(q.x / rho * across, q.y / rho * across, along))
    };
    let unit = |x: f64, y: f64| {
        let length = (x * x + y * y).sqrt();
        (length > 0.0).then(|| (x / length, y / length))
    };
    match surface {
        Surface::Plane { frame } => Some(frame.z),
        Surface::Cylinder { frame, .. } => in_half_plane(frame, &|_, _| Some((1.0, 0.0))),
        Surface::Cone { frame, half_angle } => in_half_plane(frame, &|_, _| {
            let (sin, cos) = math::sin_cos(*half_angle);
            Some((cos, -sin))
        }),
        Surface::Sphere { frame, .. } => in_half_plane(frame, &unit),
        Surface::Torus { frame, major, minor } if major >= minor => {
            in_half_plane(frame, &|rho, z| unit(rho - major, z))
        }
        Surface::Torus { .. } | Surface::Bezier(_) => None,
    }
}

pub(super) fn normal_cone(surface: &Surface, rect: &Rect) -> Option<RevolutionCone> {
    match surface {
        Surface::Plane { frame } => Some(RevolutionCone::of_direction(frame.z)),
        Surface::Cylinder { .. } => half_space(&normal_generators(surface, rect)?),
        Surface::Cone { frame, half_angle } => {
            rectangle_cone(frame, rect.u0, rect.u1, -half_angle, -half_angle)
        }
        Surface::Sphere { frame, .. } => rectangle_cone(frame, rect.u0, rect.u1, rect.v0, rect.v1),
        Surface::Torus { frame, major, minor } => {
            let cone = rectangle_cone(frame, rect.u0, rect.u1, rect.v0, rect.v1)?;
            match sheet(*major, *minor, rect)? {
                Sheet::Outer => Some(cone),
                Sheet::Inner => Some(RevolutionCone { axis: -cone.axis, ..cone }),
            }
        }
        Surface::Bezier(_) => half_space(&normal_generators(surface, rect)?),
    }
}

pub(super) fn normal_generators(surface: &Surface, rect: &Rect) -> Option<Vec<V3>> {
    let generators = match surface {
        Surface::Plane { frame } => vec![frame.z],
        Surface::Cylinder { frame, .. } => {
            if !(0.0..PI - ANGLE_SLACK).contains(&rect.width()) {
                return None;
            }
            [rect.u0, rect.u1].map(|u| direction(frame, u, 0.0)).to_vec()
        }
        Surface::Cone { frame, half_angle } => {
            rectangle_generators(frame, rect.u0, rect.u1, -half_angle, -half_angle)?
        }
        Surface::Sphere { frame, .. } => rectangle_generators(frame, rect.u0, rect.u1, rect.v0, rect.v1)?,
        Surface::Torus { frame, major, minor } => {
            let mut g = rectangle_generators(frame, rect.u0, rect.u1, rect.v0, rect.v1)?;
            if sheet(*major, *minor, rect)? == Sheet::Inner {
                g.iter_mut().for_each(|d| *d = -*d);
            }
            g
        }
        Surface::Bezier(grid) => grid.normal_vectors(rect)?,
    };
    // In most cases the mean proves that the directions fit a half-space, at a fraction of the cost of
    // the smallest cap.
    let mean: V3 = generators.iter().sum();
    let is_within = |g: &V3| g.dot(&mean) > 1e-6 * g.norm() * mean.norm();
    (generators.iter().all(is_within) || half_space(&generators).is_some()).then_some(generators)
}

/// Sheet of a spindle torus: outside or inside its self-intersection.
#[derive(PartialEq)]
enum Sheet {
    Outer,
    Inner,
}

/// Returns the sheet of a torus that contains the surface over `rect`; always the outer one if the torus
/// does not intersect itself. Returns `None` if the rectangle extends over a point of the axis where the
/// sheets join.
fn sheet(major: f64, minor: f64, rect: &Rect) -> Option<Sheet> {
    if major >= minor {
        return Some(Sheet::Outer);
    }
    // The tolerance covers rounding, because faces of one sheet end at the tips.
    let tol = 1e-9 * minor;
    let (lo, hi) = sinusoid_range(minor, 0.0, rect.v0, rect.v1);
    if major + lo >= -tol {
        Some(Sheet::Outer)
    } else if major + hi <= tol {
        Some(Sheet::Inner)
    } else {
        None
    }
}

/// Unit direction at longitude `u` and latitude `v` (rad) with respect to the frame.
fn direction(frame: &Frame, u: f64, v: f64) -> V3 {
    let (su, cu) = math::sin_cos(u);
    let (sv, cv) = math::sin_cos(v);
    frame.vector(cv * cu, cv * su, sv)
}

/// Computes a small cone around the directions with longitudes in `[u0, u1]` and latitudes in `[v0, v1]`
/// (rad). Returns `None` if its half-angle would not be below π/2. The axis is on the middle meridian,
/// at a latitude estimated from samples. The half-angle is that of the farthest direction, which is at
/// an end or the middle longitude, where the cosine is a sinusoid of the latitude.
fn rectangle_cone(frame: &Frame, u0: f64, u1: f64, v0: f64, v1: f64) -> Option<RevolutionCone> {
    let half = 0.5 * (u1 - u0).min(TAU);
    let um = 0.5 * (u0 + u1);
    let vm = 0.5 * (v0 + v1);
    let trial: Vec<V3> =
        [u0, um, u1].iter().flat_map(|u| [v0, vm, v1].map(|v| direction(frame, *u, v))).collect();
    let e = direction(frame, um, 0.0);
    let best = RevolutionCone::around(&trial).axis;
    let in_plane = unit(e * best.dot(&e) + frame.z * best.dot(&frame.z))?;
    let (ca, sa) = (in_plane.dot(&e), in_plane.dot(&frame.z));
    // The cosine is monotone up to π, so the farthest longitude bounds all others, even beyond a quarter
    // turn.
    let cos_half = math::cos(half.min(PI));
    let mut cos_min = 1.0_f64;
    for cu in [1.0, cos_half] {
        cos_min = cos_min.min(sinusoid_range(ca * cu, sa, v0, v1).0);
    }
    // Cosines do not resolve small angles.
    let angle = if cos_min > 0.999 { tiny_angle(ca, sa, half, v0, v1) } else { math::acos(cos_min) };
    let half_angle = angle + ANGLE_SLACK;
    (half_angle < FRAC_PI_2).then_some(RevolutionCone { axis: in_plane, half_angle })
}

/// Angle (rad) from the axis of a cone, at latitude `a = atan2(sa, ca)` on the middle meridian, to the
/// farthest of the directions with latitudes in `[v0, v1]` and longitudes within `half` of the middle.
/// It is accurate for small angles, because it is computed from chords: a direction n at longitude `x`
/// from the middle has `|n - axis|² = 4 sin²((v - a)/2) + 4 cos v cos a sin²(x/2)`.
fn tiny_angle(ca: f64, sa: f64, half: f64, v0: f64, v1: f64) -> f64 {
    let a = math::atan2(sa, ca);
    let s = math::sin(0.5 * half);
    let k = 4.0 * ca * s * s;
    let chord_sq = |v: f64, k: f64| {
        let m = 2.0 * math::sin(0.5 * (v - a));
        m * m + k * math::cos(v)
    };
    // On the middle meridian the farthest directions are the ends; on the outer meridians the maximum of
    // the sinusoid −2 cos(v − a) + k cos v is another candidate.
    let mut farthest = chord_sq(v0, 0.0).max(chord_sq(v1, 0.0)).max(chord_sq(v0, k)).max(chord_sq(v1, k));
    let top = math::wrap(math::atan2(-2.0 * sa, k - 2.0 * ca), v0, TAU);
    if top <= v1 {
        farthest = farthest.max(chord_sq(top, k));
    }
    2.0 * math::asin(0.5 * farthest.sqrt())
}

/// Returns vectors whose conical hull contains the directions with longitudes in `[u0, u1]` and
/// latitudes in `[v0, v1]` (rad). They are the corners of this rectangle of directions. If a latitude
/// bulges outwards beyond the plane through its ends, the intersections of its tangent plane with the
/// end meridians replace its corners. Returns `None` if the longitudes span half a turn or more.
fn rectangle_generators(frame: &Frame, u0: f64, u1: f64, v0: f64, v1: f64) -> Option<Vec<V3>> {
    if !(0.0..PI - ANGLE_SLACK).contains(&(u1 - u0)) {
        return None;
    }
    let mut out = Vec::with_capacity(8);
    // Split the rectangle at poles: beyond a pole the longitude changes by half a turn and the latitude
    // decreases again.
    let mut from = v0;
    loop {
        // Index k of the strip [−π/2, π/2] + k π that contains `from`; the next strip if `from` is
        // within rounding of its end.
        let k = ((from + FRAC_PI_2 + ANGLE_SLACK) / PI).floor();
        let end = k * PI + FRAC_PI_2;
        let to = v1.min(end);
        // In odd strips the latitude is π k − v and the longitude is increased by π.
        let sign = if math::wrap(k, 0.0, 2.0) > 0.5 { -1.0 } else { 1.0 };
        let (a, b) = ((from - k * PI) * sign, (to - k * PI) * sign);
        let turn = if sign < 0.0 { PI } else { 0.0 };
        strip(frame, u0 + turn, u1 + turn, a.min(b), a.max(b), &mut out);
        if v1 <= end + ANGLE_SLACK || out.len() > 16 {
            break;
        }
        from = end;
    }
    Some(out)
}

/// Appends the generators of [`rectangle_generators`] to `out`, for latitudes from `south` to `north`
/// within [−π/2, π/2].
fn strip(frame: &Frame, u0: f64, u1: f64, south: f64, north: f64, out: &mut Vec<V3>) {
    let cos_half = math::cos(0.5 * (u1 - u0));
    // Intersection of meridian `u` with the tangent plane at the middle of latitude `v`: the tangent of
    // its latitude is tan v · cos half.
    let tangent = |u: f64, v: f64| {
        let (su, cu) = math::sin_cos(u);
        let (sv, cv) = math::sin_cos(v);
        frame.vector(cv * cu, cv * su, sv * cos_half)
    };
    for u in [u0, u1] {
        out.push(if south > 0.0 { tangent(u, south) } else { direction(frame, u, south) });
        out.push(if north < 0.0 { tangent(u, north) } else { direction(frame, u, north) });
    }
}
