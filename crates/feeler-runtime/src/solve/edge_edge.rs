//! Free-form edges along each other, such as the rims of a plug and its socket: excludes pairs of areas
//! without a common perpendicular, before [`super::free`] searches the others one by one.
//!
//! Along one edge, F(s) is half the squared distance of its point p(s) from the footpoint q(t(s)) on the
//! other edge. Where only one footpoint exists, the common perpendiculars of the edges are the zeros of F′.
//! Along edges that are almost parallel, F′ is small everywhere, but it varies slowly, so that its values and
//! slopes at the ends and in the middle of an area exclude most areas.
//!
//! # Source
//! MATH §8, *Edges along each other*.

use super::curve::{DerivativeSamples, Jet};
use super::patch::{ACCEPT_SINE, squared_goal};
use crate::body::Body;
use crate::body::ids::AreaPair;
use crate::body::samples::{EdgeSegment, Third};
use crate::query::Context;
use feeler_geom::{Curve, CurveDerivs, Pose, Rect};
use feeler_hierarchy::{AreaId, EdgeId, Feature};

/// Minimum number of pairs of areas for which areas are excluded. A larger number solves more pairs; with a
/// smaller one, footpoints cost more than the solves that they save.
const MIN_PAIRS: usize = 16;
/// Largest number of areas of the other edge, from the first to the last partner of an area, among which the
/// footpoint is shown to be unique. With a larger value, the bounds of the curvature cost more than the
/// solves.
const MAX_PARTNERS: usize = 8;
/// Maximum number of Newton steps for a footpoint. Starts are extrapolated along the edge, so that two
/// suffice.
const MAX_STEPS: usize = 6;
/// Distance (mm) of the other edge's point from the footpoint below which Newton's method ends, as a fraction
/// of the distance of both edges. Errors of F′ are of second order in it. A larger value makes F′ less exact;
/// a smaller one takes more steps.
const FOOT_ERROR: f64 = 1e-6;
/// Smallest second derivative of half the squared distance from a point along the other edge, relative to the
/// square of the edge's speed, with which its footpoint counts as unique. A larger value excludes fewer areas
/// near centres of curvature; 0 would admit a second footpoint.
const MIN_CONVEXITY: f64 = 0.25;
/// Part of the third derivative of F that contains no third derivative of an edge, as a multiple of
/// (p′ − q′ t′)·(p″ − q″ t′²). MATH derives it.
const OWN_THIRD: f64 = 3.0;

/// Replaces `open` by the pairs of areas of two free-form edges in `group`, which is sorted, without those
/// that have no common perpendicular.
pub(super) fn open_pairs(ctx: &Context<'_>, group: &[AreaPair], open: &mut Vec<AreaPair>) {
    open.clear();
    let (Feature::Edge(own), Feature::Edge(other)) =
        (ctx.a.area(group[0].0).feature, ctx.b.area(group[0].1).feature)
    else {
        unreachable!("areas of edges");
    };
    if group.len() < MIN_PAIRS || ctx.cull.is_none() {
        open.extend_from_slice(group);
        return;
    }
    let mut along = Along::new(ctx, own, other);
    for partners in group.chunk_by(|p, q| p.0 == q.0) {
        if !along.excludes(partners) {
            open.extend_from_slice(partners);
        }
    }
}

/// Search along an edge of A for areas without a common perpendicular with an edge of B, in the frame of B.
struct Along<'a> {
    ctx: &'a Context<'a>,
    /// Curves of A's and B's edge, each in the frame of its solid.
    edges: [&'a Curve; 2],
    /// Areas of the two edges in ascending order, and their segments.
    areas: [&'a [AreaId]; 2],
    segments: [&'a [EdgeSegment]; 2],
    /// Length (mm) beyond the ends of an area of A's edge within which minima count.
    slack: f64,
    /// Index of A's area after the last one, and the footpoint at their common end.
    last: Option<(usize, Foot)>,
}

/// Footpoint of a point of A's edge on B's edge.
#[derive(Clone, Copy)]
struct Foot {
    /// Parameter of B's edge.
    t: f64,
    /// Derivative of `t` by the parameter of A's edge.
    travel: f64,
    /// Derivatives of F by the parameter of A's edge.
    jet: Jet,
}

impl<'a> Along<'a> {
    fn new(ctx: &'a Context<'a>, own: EdgeId, other: EdgeId) -> Self {
        let (a, b) = (ctx.a, ctx.b);
        let areas = |body: &'a Body, edge| body.areas_of(body.data(Feature::Edge(edge)));
        Self {
            ctx,
            edges: [&a.edge(own).curve, &b.edge(other).curve],
            areas: [areas(a, own), areas(b, other)],
            segments: [a.segments_of(own), b.segments_of(other)],
            slack: a.data(Feature::Edge(own)).deviation + ctx.tol.trim,
            last: None,
        }
    }

    /// Whether the area of A in `partners`, pairs of that area with several areas of B, has no common
    /// perpendicular with any of them.
    fn excludes(&mut self, partners: &[AreaPair]) -> bool {
        let (&(area, first), &(_, last)) = (&partners[0], &partners[partners.len() - 1]);
        let index = |side: usize, area: AreaId| self.areas[side].binary_search(&area);
        let (Ok(k), Ok(from), Ok(to)) = (index(0, area), index(1, first), index(1, last)) else {
            return false;
        };
        if to - from >= MAX_PARTNERS {
            return false;
        }
        let segment = &self.segments[0][k];
        let known =
            self.last.take().filter(|(next, _)| *next == k && segment.is_joined).map(|(_, foot)| foot);
        let rect = |body: &'a Body, area| &body.area(area).rect;
        let of_a = rect(self.ctx.a, area);
        let begin = known.or_else(|| {
            let p = self.edges[0].derivs(of_a.u0);
            let in_b = self.ctx.pose_ba * p.p;
            // The nearest point on the tangents in the middles of B's areas.
            let nearest = (from..=to).map(|j| {
                let EdgeSegment { middle, width, .. } = &self.segments[1][j];
                let on = rect(self.ctx.b, self.areas[1][j]);
                let along = (in_b - middle.p).dot(&middle.d1) / middle.d1.norm_squared();
                let along = along.max(-0.5 * width).min(0.5 * width);
                ((in_b - middle.p - middle.d1 * along).norm(), 0.5 * (on.u0 + on.u1) + along)
            });
            let (_, start) = nearest.min_by(|x, y| x.0.total_cmp(&y.0))?;
            self.foot(&p, start)
        });
        let half = 0.5 * segment.width;
        let next = |from: Option<Foot>, point: &CurveDerivs| {
            from.and_then(|from| self.foot(point, from.t + half * from.travel))
        };
        let middle = next(begin, &segment.middle);
        let end = next(middle, &segment.last);
        let (Some(begin), Some(middle), Some(end)) = (begin, middle, end) else { return false };
        self.last = Some((k + 1, end));
        let feet = [begin, middle, end];
        let Some(third) = self.third_if_unique(&feet, (k, of_a), (from, to)) else { return false };
        // Below this, the searches accept a critical pair.
        let accepted = squared_goal(self.ctx).accept;
        let is_flat =
            |foot: &Foot| foot.jet.d1.abs() <= (ACCEPT_SINE * foot.jet.pull).max(accepted) * foot.jet.speed;
        !feet.iter().any(is_flat)
            && DerivativeSamples::of_jets(feet.map(|foot| Some(foot.jet)), segment, third, self.slack)
                .excludes_minimum(0.0)
    }

    /// Bounds of the third derivatives of both edges, by the parameter of A's, if the footpoint of each point
    /// of A's area with the index `k` is unique among the points of B's areas from `from` to `to`, and the
    /// feet `feet` at both ends and in the middle lie on them or on a neighbour. `None` otherwise, and if B's
    /// edge is not twice continuously differentiable there.
    fn third_if_unique(
        &self,
        feet: &[Foot; 3],
        (k, of_a): (usize, &Rect),
        (from, to): (usize, usize),
    ) -> Option<Third> {
        let (a, b) = (self.ctx.a, self.ctx.b);
        let (areas, segments) = (self.areas[1], self.segments[1]);
        let on = |j: usize| &b.area(areas[j]).rect;
        let is_on = |j: usize, foot: &Foot| on(j).u0 <= foot.t && foot.t <= on(j).u1;
        let (low, high) = (from.saturating_sub(1), (to + 1).min(areas.len() - 1));
        let are_near = feet.iter().all(|foot| (low..=high).any(|j| is_on(j, foot)));
        if !are_near || !segments[low + 1..=high].iter().all(|segment| segment.is_joined) {
            return None;
        }
        let own = self.segments[0][k].third(a, self.areas[0][k]);
        // The third derivative over all areas is compared with the linear function between its outer ends.
        let [first, last] =
            [segments[low].third_ends(b, areas[low])[0], segments[high].third_ends(b, areas[high])[1]];
        let range = [on(low).u0, on(high).u1];
        let linear = |t: f64| first + (last - first) * ((t - range[0]) / (range[1] - range[0]));
        let (mut speed, mut bend, mut length) = (f64::INFINITY, 0.0_f64, 0.0);
        let mut third_bend = 0.0_f64;
        for j in low..=high {
            let segment = &segments[j];
            let of_b = segment.third(b, areas[j]);
            let [begin, end] = *segment.third_ends(b, areas[j]);
            let unit = begin.norm().max(end.norm()) + of_b.bend;
            // Taylor's theorem from the middle of the area.
            let half = 0.5 * segment.width;
            let d2 = segment.middle.d2.norm() + half * unit;
            let d1 = segment.middle.d1.norm();
            (speed, bend) = (speed.min(d1 - half * d2), bend.max(d2));
            length += (d1 + half * d2) * segment.width;
            let off = (begin - linear(on(j).u0)).norm().max((end - linear(on(j).u1)).norm());
            third_bend = third_bend.max(of_b.bend + off);
        }
        let of_area = self.segments[0][k].middle.d1.norm() * of_a.width();
        let distance = feet.iter().map(|foot| foot.jet.pull).fold(0.0, f64::max) + of_area + length;
        let is_unique = speed > 0.0 && speed * speed - distance * bend >= MIN_CONVEXITY * speed * speed;
        let travel = cube(feet.iter().map(|foot| foot.travel.abs()).fold(0.0, f64::max));
        // The exclusion of an area uses the difference from a linear function only.
        let third = Third { spread: f64::INFINITY, bend: own.bend + travel * third_bend };
        (is_unique && third.bend.is_finite()).then_some(third)
    }

    /// Footpoint of a point of A's edge, given with its derivatives in A's frame, by Newton's method from the
    /// parameter `start` of B's edge. `None` if the method does not converge to a minimum of the distance.
    fn foot(&self, point: &CurveDerivs, start: f64) -> Option<Foot> {
        let pose: &Pose = &self.ctx.pose_ba;
        let (p, d1, d2) = (pose * point.p, pose * point.d1, pose * point.d2);
        let mut t = start;
        for _ in 0..MAX_STEPS {
            let q = self.edges[1].derivs(t);
            let from = p - q.p;
            let (slope, curve) = (-from.dot(&q.d1), q.d1.norm_squared() - from.dot(&q.d2));
            if !(curve > 0.0 && slope.is_finite()) {
                return None;
            }
            let step = -slope / curve;
            let (speed, of_b) = (d1.norm(), q.d1.norm());
            if step.abs() * of_b > FOOT_ERROR * from.norm() {
                t += step;
                continue;
            }
            let along = d1.dot(&q.d1);
            let travel = along / curve;
            let pull = from.norm();
            // The curvatures as the lengths of second derivatives, which include changes of speed.
            let (bend_a, bend_b) = (d2.norm() / (speed * speed), q.d2.norm() / (of_b * of_b));
            let sine = (d1.cross(&q.d1).norm() / (speed * of_b)).min(1.0);
            // Length of B's edge per length of A's.
            let ratio = travel.abs() * of_b / speed;
            let here = (d1 - q.d1 * travel).dot(&(d2 - q.d2 * (travel * travel))).abs();
            let crossing = (bend_a * ratio + bend_b * ratio * ratio) * sine * cube(speed);
            let jet = Jet {
                // The rest of the Newton step changes F′ to first order.
                d1: from.dot(&d1) + travel * slope,
                d2: speed * speed + from.dot(&d2) - along * travel,
                sharpness: bend_b * speed * of_b * of_b / curve,
                speed,
                pull,
                own_third: OWN_THIRD * here.max(crossing),
            };
            let is_finite =
                [jet.d1, jet.d2, jet.sharpness, jet.own_third, travel].iter().all(|x| x.is_finite());
            return is_finite.then_some(Foot { t: t + step, travel, jet });
        }
        None
    }
}

fn cube(x: f64) -> f64 {
    x * x * x
}
