//! Length of contacts along lines. The contact consists of those parts of a curve that are on both
//! features; the curve is an edge, or the line or circle in which two faces touch.

use super::region;
use crate::api::contact::{FeatureKind, FeatureRef};
use crate::body::ids::FacePair;
use crate::body::side::Which;
use crate::footpoint::trim::{locate_on_edge, on_face};
use crate::nearest::foot_on_face;
use crate::query::Context;
use feeler_geom::{P3, V3, math};
use feeler_hierarchy::{EdgeId, FaceId};
use std::f64::consts::TAU;

/// Largest difference, in tolerances, between a point's distance from the other feature and the distance
/// of the contact at which the point belongs to the contact. A larger value gives longer lines; with a
/// smaller one, lines fall into pieces.
const MAX_DISTANCE: f64 = 4.0;
/// Number of samples of a line of contact. A larger value is slower; a smaller one misses short parts.
const LINE_SAMPLES: usize = 512;

/// Number of bisections between two samples at an end of a part of a line. A larger value is slower; a
/// smaller one is less exact.
const BISECTIONS: u32 = 50;

/// Line or circle of contact in the frame of A (mm). `dir`, `x` and `y` are unit vectors. `range` are
/// the smallest and the largest signed distance from `origin` along `dir` at which the line can be
/// within the box of A's face.
enum Line {
    Straight { origin: P3, dir: V3, range: [f64; 2] },
    Round { center: P3, x: V3, y: V3, radius: f64 },
}

impl Line {
    /// Line or circle through points of a contact of two faces (frame of A); `None` if the points are on
    /// neither. Faces with closed forms touch along lines and circles only.
    fn through(ctx: &Context<'_>, points: &[P3], faces: FacePair) -> Option<Self> {
        let near = MAX_DISTANCE * ctx.tol.tol;
        let first = points.first()?;
        let far =
            |from: &P3| points.iter().copied().max_by(|p, q| (p - from).norm().total_cmp(&(q - from).norm()));
        let p = far(first)?;
        let q = far(&p)?;
        let dir = (q - p).try_normalize(near)?;
        let off = |r: &P3| (r - p).cross(&dir).norm();
        let aside = points.iter().copied().max_by(|r, s| off(r).total_cmp(&off(s)))?;
        if off(&aside) <= near {
            let bounds = ctx.a.data(feeler_hierarchy::Feature::Face(faces[0])).bounds;
            let along = feeler_geom::Obb::from_aabb(&bounds).corners().map(|c| dir.dot(&(c - p)));
            let range = [
                along.iter().fold(f64::INFINITY, |l: f64, s| l.min(*s)) - near,
                along.iter().fold(f64::NEG_INFINITY, |h: f64, s| h.max(*s)) + near,
            ];
            return Some(Self::Straight { origin: p, dir, range });
        }
        let (u, v) = (q - p, aside - p);
        let normal = u.cross(&v);
        let out = (normal.cross(&u) * v.norm_squared() + v.cross(&normal) * u.norm_squared())
            / (2.0 * normal.norm_squared());
        let (center, radius) = (p + out, out.norm());
        let x = -out / radius;
        let y = normal.normalize().cross(&x);
        let round =
            |r: &P3| ((r - center).norm() - radius).abs().max((r - center).dot(&normal.normalize()).abs());
        points.iter().all(|r| round(r) <= near).then_some(Self::Round { center, x, y, radius })
    }

    /// Point at the distance `s` (mm) from the origin of the line, or at the angle `s` (rad) on the
    /// circle.
    fn point(&self, s: f64) -> P3 {
        match self {
            Self::Straight { origin, dir, .. } => origin + dir * s,
            Self::Round { center, x, y, radius } => {
                let (sin, cos) = math::sin_cos(s);
                center + x * (radius * cos) + y * (radius * sin)
            }
        }
    }
}

/// Fits a line or circle through the points (frame of A). Returns the length (mm) of its part that is on a
/// face of A and at the distance `distance` (mm) from a face of B, and an estimate of the error of the
/// length (mm). `None` if the points are neither on a line nor on a circle.
pub(super) fn common_line(
    ctx: &Context<'_>,
    faces: FacePair,
    points: &[P3],
    distance: f64,
) -> Option<(f64, f64)> {
    let line = Line::through(ctx, points, faces)?;
    let on = |s: f64| {
        let p = line.point(s);
        is_at(ctx, Which::A, faces[0], &p, 0.0) && is_at(ctx, Which::B, faces[1], &p, distance)
    };
    let (range, speed) = match line {
        Line::Straight { range, .. } => (range, 1.0),
        Line::Round { radius, .. } => ([0.0, TAU], radius),
    };
    let parts = parts(range, &on);
    Some((parts.iter().map(|(a, b)| (b - a) * speed).sum(), length_error(ctx, &parts, range)))
}

/// Returns the length (mm) of the part of an edge that is at the distance `distance` (mm) from the feature
/// of the other solid, a face or an edge, and an estimate of the error of the length (mm). The edge is
/// that of A if both features are edges.
pub(super) fn common_stretch(ctx: &Context<'_>, a: &FeatureRef, b: &FeatureRef, distance: f64) -> (f64, f64) {
    let (own, edge, other) =
        if a.kind == FeatureKind::Edge { (Which::A, a.index, b) } else { (Which::B, b.index, a) };
    let edge = ctx.body(own).edge(EdgeId(edge));
    let near = crate::api::tolerance::Tolerances { trim: MAX_DISTANCE * ctx.tol.tol, ..ctx.tol };
    let on = |t: f64| {
        let p = ctx.in_a(own, &edge.curve.point(t));
        let local = if own == Which::A { ctx.pose_ba * p } else { p };
        match other.kind {
            FeatureKind::Face => is_at(ctx, own.other(), FaceId(other.index), &p, distance),
            _ if distance > near.trim => is_beside(ctx, own.other(), EdgeId(other.index), &local, distance),
            _ => {
                locate_on_edge(ctx.body(own.other()), EdgeId(other.index), &local, None, 0.0, &near).is_some()
            }
        }
    };
    let (mut length, mut error) = (0.0, 0.0);
    for span in &edge.spans {
        let range = [span.t0, span.t1];
        let parts = parts(range, &on);
        length += parts.iter().map(|(s, t)| edge.curve.arc_length(*s, *t)).sum::<f64>();
        error += length_error(ctx, &parts, range);
    }
    (length, error)
}

/// Whether the distance of a point (frame of the edge's solid) from an edge is `distance` (mm), up to
/// [`MAX_DISTANCE`].
fn is_beside(ctx: &Context<'_>, which: Which, edge: EdgeId, p: &P3, distance: f64) -> bool {
    let edge = ctx.body(which).edge(edge);
    let feet = edge.spans.iter().map(|s| edge.curve.point(edge.curve.project(p, s.t0, s.t1)));
    let nearest = feet.map(|foot| (foot - p).norm()).fold(f64::INFINITY, f64::min);
    (nearest - distance).abs() <= MAX_DISTANCE * ctx.tol.tol
}

/// Whether the distance of a point (frame of A) from a face is `distance` (mm), up to [`MAX_DISTANCE`],
/// with the nearest point on the surface inside the trims.
fn is_at(ctx: &Context<'_>, which: Which, face: FaceId, p: &P3, distance: f64) -> bool {
    let body = ctx.body(which);
    let p = if which == Which::A { *p } else { ctx.pose_ba * p };
    let uv = foot_on_face(body, face, &p);
    let data = body.face(face);
    let off = (data.surface.point(uv) - p).norm() - distance;
    off.abs() <= MAX_DISTANCE * ctx.tol.tol && on_face(data, uv, 0.0, &ctx.tol)
}

/// Estimate of the error (mm) of the total length of `parts`, which are intervals of a line's or edge's
/// parameter within the range from `low` to `high`. Each end of a part inside the range lies at a trim,
/// and its error is the tolerance of trims.
fn length_error(ctx: &Context<'_>, parts: &[(f64, f64)], [low, high]: [f64; 2]) -> f64 {
    let at_trims = parts.iter().map(|(a, b)| f64::from(u8::from(*a > low)) + f64::from(u8::from(*b < high)));
    at_trims.sum::<f64>() * ctx.tol.trim + ctx.tol.eps
}

/// Returns the intervals of a parameter range in which `on` is `true`, detected at [`LINE_SAMPLES`]
/// samples; their ends are located by bisection.
fn parts([low, high]: [f64; 2], on: &impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let at =
        |i: usize| if i == LINE_SAMPLES { high } else { low + (high - low) * i as f64 / LINE_SAMPLES as f64 };
    let mut out = Vec::new();
    let mut start = on(low).then_some(low);
    for i in 1..=LINE_SAMPLES {
        let (last, next) = (at(i - 1), at(i));
        match (start, on(next)) {
            (None, true) => start = Some(region::border(next, last, BISECTIONS, on)),
            (Some(from), false) => {
                out.push((from, region::border(last, next, BISECTIONS, on)));
                start = None;
            }
            _ => {}
        }
    }
    out.extend(start.map(|from| (from, high)));
    out
}
