//! Whether a direction in the polars of two features of revolution can be that of a critical pair, there and along the
//! valley of small distances that it lies in.
//!
//! The border of a fillet that meets its neighbours smoothly has a polar of nearly one angle to the axis, and a fillet
//! that of a part of its meridian: most critical pairs of whole circles and tori have another one. Along a valley of nearly
//! coaxial circles both footpoints turn about the axes and the angle hardly changes.
//!
//! # Source
//! MATH §2 (polars), §3 (skeletons): with `w = h n` from one circle's point to the other's and axes z, z' at an angle τ, the
//! angle's cosine is `w·z / h`; along the circles `w·z` changes by at most sin τ and `h` by at most what
//! eccentricity and tilt make of the distance from the axis, both a unit of way.

use super::{Near, Shape};
use crate::filter::in_zone;
use crate::solve::{Context, Which};
use feeler_geom::math;
use feeler_geom::skeleton::{Critical, Primitive};
use feeler_geom::{Frame, P3, V3};

/// What estimates of first order are taken times.
const SAFETY: f64 = 2.0;

/// Whether a minimum within the way `reach` (mm) of a critical pair, along the features, can have its direction in both
/// polars. `false` is certain up to what the features are measured to be off their canonical ones.
pub(super) fn may_hold(ctx: &Context<'_>, (a, b): (&Shape, &Shape), c: &Critical, reach: f64) -> bool {
    let Some(spread) = spread(ctx, (a, b), c, reach) else { return true };
    in_zone(ctx, (Which::A, a.feature), &c.n, spread[0])
        && in_zone(ctx, (Which::B, b.feature), &-c.n, spread[1])
}

/// Angles (rad) by which the angles between the direction and the axes of A and B can change within the way `reach`; `None`
/// where nothing bounds them.
fn spread(ctx: &Context<'_>, (a, b): (&Shape, &Shape), c: &Critical, reach: f64) -> Option<[f64; 2]> {
    let off = |of: fn(&Near) -> f64| a.near.as_ref().map_or(0.0, of) + b.near.as_ref().map_or(0.0, of);
    let (deviation, turn) = (off(|n| n.deviation) + ctx.tol.same, off(|n| n.angle));
    match (&a.primitive, &b.primitive) {
        (Primitive::Circle { frame, radius, sigma }, Primitive::Circle { frame: g, radius: r, sigma: s }) => {
            let (from, to) = (c.p_a - c.n * *sigma, c.p_b + c.n * *s);
            let h = (to - from).norm();
            let tilt = frame.z.cross(&g.z).norm();
            let x = g.origin - frame.origin;
            let rates = [
                along(frame, &x, tilt, &(to - frame.origin), g),
                along(g, &-x, tilt, &(from - g.origin), frame),
            ];
            let rate = rates[0].max(rates[1]);
            let stretch = (radius / r).max(r / radius);
            let left = h - reach * rate;
            // In cosines, then as angles: the polars' zones are away from their poles, or this is wide.
            let off = (deviation + turn * (sigma.abs() + s.abs())) / left + turn;
            let change = reach * (rate + SAFETY * stretch * tilt) / left;
            (left > 0.5 * h)
                .then(|| [&frame.z, &g.z].map(|z| SAFETY * off + angle_of(z.dot(&c.n).abs(), change)))
        }
        (Primitive::Circle { frame, .. }, line) => {
            let slack = SAFETY * turn;
            Some([slack + turned(line, frame, &c.p_a, reach)?, slack])
        }
        (line, Primitive::Circle { frame, .. }) => {
            let slack = SAFETY * turn;
            Some([slack, slack + turned(line, frame, &c.p_b, reach)?])
        }
        _ => None,
    }
}

/// Largest change of the distance from the circle of `frame` along another one, whose centre is `x` from this one's, a unit
/// of way; `p` is the place on it.
fn along(frame: &Frame, x: &V3, tilt: f64, p: &V3, other: &Frame) -> f64 {
    let height = p.dot(&frame.z);
    let rho = (p - frame.z * height).norm();
    let off = (x - other.z * x.dot(&other.z)).norm();
    SAFETY * (off + height.abs() * tilt) / rho + tilt
}

/// Largest change of an angle when its cosine, near `cos`, changes by `change`.
fn angle_of(cos: f64, change: f64) -> f64 {
    let most = (cos + change).min(1.0);
    let sin = (1.0 - most * most).sqrt();
    // Near the pole an angle changes by the square root.
    (change / sin).min((2.0 * change).sqrt() * SAFETY)
}

/// Largest change of the angle between the axis of `frame` and the normals of a cone, cylinder or plane within the way
/// `reach` from `p`: they keep their angle to their own axis; `None` for a sphere, whose normals have none.
fn turned(line: &Primitive, frame: &Frame, p: &P3, reach: f64) -> Option<f64> {
    match line {
        Primitive::Line { origin, dir, .. } => {
            let (sin, cos) = (dir.cross(&frame.z).norm(), dir.dot(&frame.z).abs());
            let x = p - origin;
            let rho = (x - dir * x.dot(dir)).norm();
            let by_way = SAFETY * reach * sin / (rho - reach);
            let most = 2.0 * math::atan2(sin, cos);
            Some(if by_way >= 0.0 { by_way.min(most) } else { most })
        }
        Primitive::Plane { .. } => Some(0.0),
        Primitive::Point { .. } | Primitive::Circle { .. } => None,
    }
}
