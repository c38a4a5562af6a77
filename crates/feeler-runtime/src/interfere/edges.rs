//! Edges of one solid that pass through faces of the other one.
//!
//! # Guarantees
//! As of [`super`]: edges are followed by samples.

use super::probes::{SAMPLES, STEPS, Track};
use super::{Memory, Suspect};
use crate::Body;
use crate::front::motion::Clocks;
use crate::samples::{Grid, GridFoot, Normals};
use crate::solve::{Context, Which};
use crate::trim::outward_normal;
use feeler_geom::obb::PoseMatrix;
use feeler_geom::skeleton::signed_distance_value;
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P2, P3, Pose, V3};
use feeler_hierarchy::Feature;

/// Depth (in tolerances) of a point behind a crossing that is tried.
const DEPTHS: [f64; 2] = [8.0, 200.0];

/// Whether an edge of one solid passes through a face of the other one into its inside.
pub(super) fn edges_through_faces(
    ctx: &Context<'_>,
    own: Which,
    overlaps: &[(u32, u32)],
    (apart, clocks): (&mut Memory, &Clocks<'_>),
    meetings: &mut Vec<u64>,
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
    let other = own.other();
    let (body, facing) = (ctx.body(own), ctx.body(other));
    // An edge against a canonical face as a whole, or against a free-form area: track and target in one number, which is
    // quick to sort.
    meetings.clear();
    let to_own = &PoseMatrix::from(ctx.pose_to_other(other));
    // Pairs of an area of A follow each other, and so do the tracks of a face.
    let mut placed: Option<(u32, Obb)> = None;
    for &(i, j) in overlaps {
        let (mine, theirs) = if own == Which::A { (i, j) } else { (j, i) };
        let feature = facing.area(theirs).feature;
        let target = match feature {
            Feature::Face(f) if facing.data(feature).primitive.is_some() => WHOLE | f,
            _ => theirs,
        };
        // To the tracks, which are more.
        let place = || (theirs, facing.node(facing.leaf_of_area(theirs)).obb.placed(to_own));
        let (_, obb) = *match &mut placed {
            Some(last) if last.0 == theirs => last,
            last => last.insert(place()),
        };
        let slack = ctx.tol.tol + facing.data(feature).deviation;
        let near = body.probes().tracks_of(mine).iter().filter(|ball| {
            if is_off(&obb, &ball.center, ball.radius + slack) {
                return false;
            }
            let track = &body.probes().tracks[ball.track as usize];
            // An edge is on both its faces, but for what it is off them.
            let pair = (body.dense(Feature::Face(track.beside)), facing.dense(feature));
            let pair = if own == Which::A { pair } else { (pair.1, pair.0) };
            apart.spare(ctx, clocks, pair, track.off).is_none()
        });
        meetings.extend(near.map(|ball| (u64::from(ball.track) << 32) | u64::from(target)));
    }
    // As for the pairs of areas.
    meetings.reserve(meetings.len());
    meetings.sort_unstable();
    meetings.dedup();
    meetings.iter().any(|&m| {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let (t, target) = ((m >> 32) as u32, m as u32);
        let track = Moved { body, track: &body.probes().tracks[t as usize], pose: ctx.pose_to_other(own) };
        let mut hit = |p: P3| convicted(&Suspect { inside: other, p: ctx.in_a(other, &p) });
        if target & WHOLE == 0 {
            crosses_area(ctx, facing, target, &track, &mut hit)
        } else {
            crosses_face(ctx, facing, target & !WHOLE, &track, &mut hit)
        }
    })
}

/// Whether an axis of a box tells a ball from it.
fn is_off(obb: &Obb, center: &P3, radius: f64) -> bool {
    let from = center - obb.center;
    let [x, y, z] = [0, 1, 2].map(|k| obb.axes[k].dot(&from).abs() > obb.half[k] + radius);
    // All of them at once: which one tells follows no pattern.
    x | y | z
}

/// Marks a face among areas.
const WHOLE: u32 = 1 << 31;

/// An edge in the frame of the other solid.
struct Moved<'a> {
    body: &'a Body,
    track: &'a Track,
    pose: &'a Pose,
}

impl Moved<'_> {
    fn point(&self, s: f64) -> P3 {
        self.pose * self.track.point(self.body, s)
    }

    /// The sample in the middle.
    fn middle(&self) -> P3 {
        self.pose * self.track.samples[SAMPLES / 2]
    }

    /// Parameters and points of the samples.
    fn samples(&self) -> [(f64, P3); SAMPLES] {
        std::array::from_fn(|i| (STEPS[i], self.pose * self.track.samples[i]))
    }
}

/// Where the signed distance to a canonical face changes sign inside its trims, points a little behind are tried.
fn crosses_face(
    ctx: &Context<'_>,
    body: &Body,
    f: u32,
    track: &Moved<'_>,
    convicted: &mut dyn FnMut(P3) -> bool,
) -> bool {
    let Some(primitive) = body.data(Feature::Face(f)).primitive else { return false };
    let face = body.face(f);
    let value = |p: &P3| signed_distance_value(&primitive, p).unwrap_or(0.0);
    let tol = ctx.tol.tol;
    // The distance changes by no more than the way.
    if value(&track.middle()).abs() > track.track.radius + tol {
        return false;
    }
    let samples = track.samples().map(|(s, p)| (s, value(&p)));
    // Behind the face as a whole, from one end at the face on: the crossing is at the end, too shallow to be tried.
    let behind = samples.iter().fold(f64::NEG_INFINITY, |m, x| m.max(x.1));
    if (-4.0 * DEPTHS[0] * tol..-tol).contains(&behind)
        && let Some((s, deepest)) = samples.into_iter().min_by(|x, y| x.1.total_cmp(&y.1))
        && deepest < 2.0 * behind
    {
        let p = track.point(s);
        let uv = face.surface.invert(&p, None, None);
        if face.trim.classify(uv) == Side::Inside && convicted(p) {
            return true;
        }
    }
    let bounds = Obb::from_aabb(&body.data(Feature::Face(f)).bounds);
    let mut try_between = |outer: (f64, f64), inner: (f64, f64)| {
        // Most crossings are with the surface beyond the face. Up to two intervals between samples have four sagittas.
        let slack = 4.0 * track.track.sagitta + tol;
        if !segment_meets(&bounds, &track.point(outer.0), &track.point(inner.0), slack) {
            return false;
        }
        DEPTHS.map(|d| (d * tol).min(0.9 * -inner.1)).into_iter().any(|depth| {
            let p = track.point(at_depth(&|s| value(&track.point(s)), outer, inner, depth));
            let uv = face.surface.invert(&p, None, None);
            face.trim.classify(uv) == Side::Inside && convicted(p)
        })
    };
    for w in samples.windows(2) {
        let (v, x) = (w[0].1, w[1].1);
        let (outer, inner) = if v < x { (w[1], w[0]) } else { (w[0], w[1]) };
        if (v < -tol) != (x < -tol) && try_between(outer, inner) {
            return true;
        }
    }
    // A dip between samples: about each smallest one, when the parabola through its neighbours goes below zero.
    for i in 0..SAMPLES {
        let (l, r) = (i.saturating_sub(1), (i + 1).min(SAMPLES - 1));
        let (vl, v, vr) = (samples[l].1, samples[i].1, samples[r].1);
        let bend = (vl - v).max(vr - v) + track.track.sagitta;
        if v < -tol || v > vl || v > vr || v > bend {
            continue;
        }
        let (s, lowest) = smallest(&|s| value(&track.point(s)), samples[l].0, samples[r].0);
        let lowest = (s, lowest);
        if lowest.1 < -2.0 * tol && (try_between(samples[l], lowest) || try_between(samples[r], lowest)) {
            return true;
        }
    }
    false
}

/// A parameter between one with a larger and one with a smaller value (with these values) at which a value is below `-depth`
/// (positive) by no more than half of it, or as near to that as 40 steps come.
fn at_depth(value: &dyn Fn(f64) -> f64, outer: (f64, f64), inner: (f64, f64), depth: f64) -> f64 {
    let (mut lo, mut hi) = (outer, inner);
    for k in 0..40 {
        // The secant aims at the middle of what will do; bisection sees to it that the bracket shrinks.
        let part = (lo.1 + 1.25 * depth) / (lo.1 - hi.1);
        let m = if k % 3 == 2 || !(0.0..1.0).contains(&part) { 0.5 } else { part.clamp(0.01, 0.99) };
        let m = lo.0 + m * (hi.0 - lo.0);
        let v = value(m);
        if v > -depth {
            lo = (m, v);
        } else {
            hi = (m, v);
            if v >= -1.5 * depth {
                break;
            }
        }
    }
    hi.0
}

/// Golden-section search: parameter and value of a smallest value in a bracket.
fn smallest(f: &dyn Fn(f64) -> f64, mut lo: f64, mut hi: f64) -> (f64, f64) {
    let golden = 0.618_033_988_749_894_9;
    let (mut x, mut y) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..16 {
        if fx < fy {
            (hi, y, fy) = (y, x, fx);
            x = hi - golden * (hi - lo);
            fx = f(x);
        } else {
            (lo, x, fx) = (x, y, fy);
            y = lo + golden * (hi - lo);
            fy = f(y);
        }
    }
    if fx < fy { (x, fx) } else { (y, fy) }
}

/// Newton for the point where the edge meets a free-form area; points a little behind are tried.
fn crosses_area(
    ctx: &Context<'_>,
    body: &Body,
    area: u32,
    track: &Moved<'_>,
    convicted: &mut dyn FnMut(P3) -> bool,
) -> bool {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return false };
    let face = body.face(f);
    let obb = &body.node(body.leaf_of_area(area)).obb;
    let grid = body.grid_of(area);
    let slack = track.track.sagitta + ctx.tol.tol;
    let samples = track.samples();
    let mut feet: [Option<GridFoot>; SAMPLES] = [None; SAMPLES];
    for (i, w) in samples.windows(2).enumerate() {
        if !segment_meets(obb, &w[0].1, &w[1].1, slack) {
            continue;
        }
        let mut foot = |k: usize| *feet[k].get_or_insert_with(|| grid.foot(&samples[k].1));
        if stays_off((grid, body.normals_of(area)), [foot(i), foot(i + 1)], slack) {
            continue;
        }
        let Some((s, uv)) = meet(body, area, track, w[0], w[1]) else { continue };
        if face.trim.classify(uv) == Side::Outside {
            continue;
        }
        let n = outward_normal(face, uv);
        let along = track.point((s + 1e-4).min(1.0)) - track.point((s - 1e-4).max(0.0));
        // The side on which the edge is behind the surface.
        let sign = if along.dot(&n) > 0.0 { -1.0 } else { 1.0 };
        for step in [1e-3, 1e-2, 0.05] {
            let p = track.point((s + sign * step).clamp(0.0, 1.0));
            if (p - face.surface.point(uv)).dot(&n) < -2.0 * ctx.tol.tol && convicted(p) {
                return true;
            }
        }
    }
    false
}

/// Whether a segment with the given feet of its ends stays on one side of a free-form area, or beside it.
fn stays_off((grid, normals): (&Grid, &Normals), feet: [GridFoot; 2], slack: f64) -> bool {
    if feet.iter().any(|f| !grid.finds_feet(f.offset.norm())) {
        return false;
    }
    let [p, q] = feet.map(|f| f.sides());
    let [(h, e), (l, d)] = feet.map(|f| f.height(&grid.normal(normals, &f), grid.bend));
    p.iter().zip(&q).any(|(a, b)| *a && *b)
        || (h > e + slack && l > d + slack)
        || (h < -e - slack && l < -d - slack)
}

/// Whether a segment meets a box enlarged by `slack`.
fn segment_meets(obb: &Obb, p: &P3, q: &P3, slack: f64) -> bool {
    let (d, e) = (q - p, p - obb.center);
    let (mut lo, mut hi) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        let (c, v) = (obb.axes[k].dot(&e), obb.axes[k].dot(&d));
        let half = obb.half[k] + slack;
        if v.abs() <= f64::MIN_POSITIVE {
            if c.abs() > half {
                return false;
            }
            continue;
        }
        let (s, t) = ((-half - c) / v, (half - c) / v);
        lo = lo.max(s.min(t));
        hi = hi.min(s.max(t));
    }
    lo <= hi
}

/// The meeting point of the edge between two of its samples with a free-form area.
fn meet(
    body: &Body,
    area: u32,
    track: &Moved<'_>,
    (s0, p0): (f64, P3),
    (s1, p1): (f64, P3),
) -> Option<(f64, P2)> {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return None };
    let (surface, rect) = (&body.face(f).surface, &data.rect);
    let mut uv = P2::new(0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1));
    let (mut s, h) = (0.5 * (s0 + s1), s1 - s0);
    let (wu, wv) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
    let scale = (p1 - p0).norm();
    let tangent: V3 = (p1 - p0) / h;
    for _ in 0..16 {
        let d = surface.derivs(uv);
        let r: V3 = d.p - track.point(s);
        if r.norm() <= 1e-9 * scale {
            let inside = (s0 - 1e-9..=s1 + 1e-9).contains(&s)
                && (rect.u0..=rect.u1).contains(&uv.x)
                && (rect.v0..=rect.v1).contains(&uv.y);
            return inside.then_some((s, uv));
        }
        // The chord's direction instead of the tangent: linear convergence, no derivative of the edge.
        let step = nalgebra::Matrix3::from_columns(&[d.du, d.dv, -tangent]).try_inverse()? * r;
        let (u, v) = (uv.x - step.x, uv.y - step.y);
        // Far outside there is no meeting.
        if u < rect.u0 - wu || u > rect.u1 + wu || v < rect.v0 - wv || v > rect.v1 + wv {
            return None;
        }
        uv = P2::new(
            u.clamp(rect.u0 - 0.1 * wu, rect.u1 + 0.1 * wu),
            v.clamp(rect.v0 - 0.1 * wv, rect.v1 + 0.1 * wv),
        );
        s = (s - step.z).clamp(s0 - 0.5 * h, s1 + 0.5 * h);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place just behind a surface is found on straight, flat and steep ways to it, in any direction.
    #[test]
    fn finds_the_depth() {
        let ways: [&dyn Fn(f64) -> f64; 4] = [
            &|s| 1.0 - 3.0 * s,
            &|s| 1e-3 - s * s * s,
            &|s| 40.0 * (0.7 - s) * (0.7 - s) * (0.7 - s),
            &|s| 5.0 * s - 1.0,
        ];
        for (k, value) in ways.iter().enumerate() {
            let (p, q) = ((0.0, value(0.0)), (1.0, value(1.0)));
            let (outer, inner) = if p.1 > q.1 { (p, q) } else { (q, p) };
            for depth in [1e-9, 1e-4, 0.1] {
                let found = value(at_depth(value, outer, inner, depth));
                assert!((-1.5 * depth..=-depth).contains(&found), "{found} for {depth}, way {k}");
            }
        }
    }
}
