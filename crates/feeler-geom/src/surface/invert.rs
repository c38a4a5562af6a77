//! Parameters of the surface point nearest to a given point.
//!
//! # Source
//! Canonical surfaces have closed forms of the nearest point. For grids: Piegl & Tiller, *The NURBS
//! Book*, §6.1 (point inversion), with the full Hessian and a global search.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{Rect, Surface};
use crate::{Frame, P2, P3, V3, math};

/// Maximum number of steps from the tip of a spindle torus to a latitude whose normal has the sign of a
/// sheet. They double, so that a larger number has no effect; with a smaller one, normals at tips of tori
/// that are nearly horn tori have the sign of the other sheet.
const MAX_TIP_STEPS: usize = 60;

pub(super) fn invert(surface: &Surface, p: &P3, hint: Option<P2>, within: Option<&Rect>) -> P2 {
    match surface {
        Surface::Plane { frame } => {
            let q = frame.local(p);
            P2::new(q.x, q.y)
        }
        Surface::Cylinder { frame, .. } => {
            let (q, u, _) = polar(frame, p, hint);
            P2::new(u, q.z)
        }
        Surface::Cone { frame, half_angle } => {
            let (q, u, rho) = polar(frame, p, hint);
            let (s, c) = math::sin_cos(*half_angle);
            P2::new(u, (c * (rho * s + q.z * c)).max(0.0))
        }
        Surface::Sphere { frame, .. } => {
            let (q, u, rho) = polar(frame, p, hint);
            let v = if rho == 0.0 && q.z == 0.0 {
                hint.map_or(0.0, |h| h.y)
            } else {
                math::atan2(q.z, rho).clamp(-FRAC_PI_2, FRAC_PI_2)
            };
            P2::new(u, v)
        }
        Surface::Torus { frame, major, minor } => invert_torus(frame, *major, *minor, p, hint, within),
        Surface::Bezier(grid) => grid.invert(p, hint, within),
    }
}

/// Returns the coordinates of `p` in the frame, its longitude in [0, 2π) and its distance from the z
/// axis. On the axis (up to rounding) the longitude is that of the hint, or 0.
fn polar(frame: &Frame, p: &P3, hint: Option<P2>) -> (V3, f64, f64) {
    let q = frame.local(p);
    let rho = math::hypot(q.x, q.y);
    let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + frame.origin.coords.amax());
    if rho <= rounding {
        (q, math::turn(hint.map_or(0.0, |h| h.x)), 0.0)
    } else {
        (q, math::turn(math::atan2(q.y, q.x)), rho)
    }
}

fn invert_torus(
    frame: &Frame,
    major: f64,
    minor: f64,
    p: &P3,
    hint: Option<P2>,
    within: Option<&Rect>,
) -> P2 {
    let (q, u, rho) = polar(frame, p, hint);
    let latitude = |x: f64| {
        if x == 0.0 && q.z == 0.0 {
            hint.map_or(0.0, |h| math::turn(h.y))
        } else {
            math::turn(math::atan2(q.z, x))
        }
    };
    let near = P2::new(u, latitude(rho - major));
    if super::has_hole(major, minor) {
        return near;
    }
    if major >= minor {
        // A horn torus has the outer sheet only, from tip to tip.
        return P2::new(u, if near.y > PI { near.y - TAU } else { near.y });
    }
    // On a spindle torus the circle of the tube at the opposite longitude crosses the axis and may be
    // nearer. Each sheet has its own rectangle without a period: latitudes start at −π on the outer
    // sheet and at 0 on the inner one.
    let on_sheet = |uv: P2| {
        let is_outer = major + minor * math::cos(uv.y) > 0.0;
        P2::new(uv.x, if is_outer && uv.y > PI { uv.y - TAU } else { uv.y })
    };
    let (near, far) = (on_sheet(near), on_sheet(P2::new(math::turn(u + PI), latitude(-rho - major))));
    let circle_distance = |x: f64| (math::hypot(x, q.z) - minor).abs();
    let (distance_near, distance_far) = (circle_distance(rho - major), circle_distance(-rho - major));
    if let Some(rect) = within {
        // A rectangle on one sheet selects that sheet; points beyond it are nearest to a tip.
        let tip = math::acos(-major / minor);
        let [outer_tip, inner_tip] = tip_latitudes(major, minor, tip);
        let mid = math::unwrap_near(0.5 * (rect.v0 + rect.v1), 0.0, TAU);
        let half = 0.5 * (rect.v1 - rect.v0) - 1e-9;
        if mid.abs() + half <= tip {
            return P2::new(near.x, math::unwrap_near(near.y, 0.0, TAU).clamp(-outer_tip, outer_tip));
        }
        if mid.abs() - half >= tip {
            return P2::new(far.x, math::turn(far.y).clamp(inner_tip, TAU - inner_tip));
        }
        let in_range = |uv: &P2| math::wrap(uv.y, rect.v0 - 1e-9, TAU) <= rect.v1 + 1e-9;
        match (in_range(&near), in_range(&far)) {
            (true, false) => return near,
            (false, true) => return far,
            _ => {}
        }
    }
    if distance_far < distance_near { far } else { near }
}

/// Latitudes (rad) of the upper tip of a spindle torus on its outer sheet and on its inner one, beside the
/// exact latitude `tip`. They differ by rounding: [`Surface::normal`] at the first has the sign of the outer
/// sheet, at the second that of the inner one. The same holds at the lower tip, at the latitudes -v and
/// 2π - v.
fn tip_latitudes(major: f64, minor: f64, tip: f64) -> [f64; 2] {
    [1.0, -1.0].map(|sign| {
        let steps = std::iter::successors(Some(0.0), |step| Some(f64::max(2.0 * step, f64::EPSILON)));
        let beside = steps.map(|step| (tip - sign * step).min(PI)).take(MAX_TIP_STEPS);
        let is_on_sheet =
            |v: &f64| [*v, TAU - v].iter().all(|v| sign * (major + minor * math::cos(*v)) > 0.0);
        beside.into_iter().find(is_on_sheet).unwrap_or(tip)
    })
}
