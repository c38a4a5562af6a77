//! An edge against a free-form face: one unknown, all local minima of the signed distance along an area of
//! the edge.
//!
//! # Source
//! MATH §8: signed distance of a curve from a patch, regular at distance 0.
//!
//! # Guarantees
//! The search for minima does not depend on a grid. The edge is divided into intervals. An interval is
//! dropped if the points within reach along the normals of the patch cannot lie in it ([`Slab`]), or if
//! its derivatives at both ends exclude a minimum: along the edge, the second derivative of the signed
//! distance is bounded by the curvatures of the edge and of the parallel surfaces of the patch
//! ([`CurvatureBounds`]). Other intervals are halved until they contain one minimum. For intervals of at
//! most a quarter of the patch, the cubic through the derivatives at both ends decides as well: an edge
//! that runs parallel to a face has small derivatives everywhere, which no bound of curvatures
//! distinguishes from zero.
//!
//! A side of the patch may be one point, a pole. Near it, footpoints turn around the pole while the edge
//! advances by its distance from the pole, and parameters at the ends of an interval exclude nothing in
//! between. Intervals are halved there until the turn is bounded or the interval is a point. Footpoints
//! with parameters behind a pole are rejected, because they do not belong to the surface.

use super::curve::{self, Jet};
use super::leaf::Leaf;
use super::patch::{ACCEPT_SINE, border_margin};
use super::signed::{Foot, MAX_OUTSIDE_LEAF};
use super::{Solved, free};
use crate::api::contact::Stats;
use crate::body::ids::AreaPair;
use crate::body::samples::{CurvatureBounds, Grid, NormalBundle, Pole};
use crate::body::side::Which;
use crate::body::tree::TreeNode;
use crate::query::Context;
use feeler_geom::P3;
use nalgebra::Vector2;

/// Largest radius of an interval of the edge, as a multiple of the patch's [`Grid::radius`], at whose
/// ends footpoints are computed; longer intervals are halved first. The radius is an upper bound of half
/// the interval's length. With a larger value, footpoints may not converge; a smaller one takes more
/// halvings.
const MAX_RADIUS: f64 = 1.0;
/// Radius of an interval of the edge, as a multiple of the patch's [`Grid::radius`], at or below which
/// the interval is not halved any more; the signs of the derivatives at its ends then decide. A larger
/// value misses minima of tiny waves; a smaller one takes more halvings where an edge lies in a face.
const MIN_RADIUS: f64 = 1.0 / 1024.0;
/// Radius, as a multiple of the patch's [`Grid::radius`], at or below which an interval whose ends have
/// no footpoint is not halved any more, because the footpoints of points within reach of the patch are
/// found from farther away. A larger value misses minima near centres of curvature; a smaller one takes
/// more halvings beyond them.
const MIN_RADIUS_WITHOUT_FEET: f64 = 1.0 / 32.0;
/// Number of lengths of an interval of the edge that must fit in the patch's [`Grid::radius`] for the
/// derivatives at its ends to describe those in between. A larger value takes more halvings along parallel
/// edges; a smaller one misses minima between two ends.
const LENGTHS_PER_RADIUS: f64 = 4.0;
/// Longest interval of the edge, in radii of curvature of the patch's parallel surfaces, over which the
/// derivatives at its ends describe those in between. A larger value misses minima between two ends; a
/// smaller one takes more halvings.
const MAX_CURVED_LENGTH: f64 = 0.5;
/// Largest speed of footpoints within an interval of the edge, as a multiple of the larger speed at its ends.
/// A larger value takes more halvings at borders of the patch; a smaller one misses minima whose footpoints
/// enter the patch between two footpoints outside.
const MAX_FOOT_SPEED: f64 = 1.5;
/// Largest distance of an interval's middle from the axis of a pole, as a multiple of the interval's
/// radius, at which the footpoints of the interval may turn around the pole. At larger distances they
/// turn by at most 60°. A larger value takes more halvings; a smaller one loses minima near poles.
const MAX_POLE_DISTANCE: f64 = 2.0;
/// Maximum number of successive halvings of the parameter interval of an edge's area. Only edges longer
/// than 10⁶ times the patch's [`Grid::radius`] need more.
const DEPTH: u32 = 32;

/// Adds the minima of the signed distance of an edge's area from an area of a free-form face. `which` is the
/// body of the edge, `own` the area of the edge, `other` the area of the face.
pub(crate) fn solve(
    ctx: &Context<'_>,
    which: Which,
    (own, other): AreaPair,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let (body, partner) = (ctx.body(which), ctx.body(which.other()));
    let node = &partner.tree()[partner.leaf_of_area(other).index()];
    let edge = Leaf::new(body, own, Some(ctx.pose_to_other(which)));
    let middle = edge.jet(&[0.5]);
    let (mut speed, mut bend) = (middle.first[0].norm(), middle.second[0].norm());
    let mut third_spread = 0.0;
    if !body.is_straight(own) {
        // Taylor's theorem over the unit interval and a margin.
        let third = &body.third_derivatives_of(own)[0];
        third_spread = third.radius;
        let third = third.norm();
        bend += 0.55 * third;
        speed += 0.55 * bend;
    }
    // A test of the middle excludes most pairs.
    let slab = Slab::new(ctx, node);
    if slab.misses(&middle.p, 0.55 * speed) {
        return;
    }
    let bounds = partner.curvature_bounds_of(other);
    let Some(slab) = slab.narrowed(bounds.focal_range()) else { return };
    let slab = Slab { pieces: partner.normal_bundles_of(other), ..slab };
    let grid = partner.grid_of(other);
    let face = partner.area(other).feature;
    let search = Search {
        ctx,
        edge,
        face: Leaf::new(partner, other, None),
        slab,
        bounds,
        grid,
        speed,
        bend,
        third_spread,
        borders: border_margin(ctx, partner.data(face).deviation, &grid.lengths),
    };
    let [border, _] = border_margin(ctx, body.data(body.area(own).feature).deviation, &[speed, speed]);
    let mut found = |x: f64, at: [f64; 2]| {
        let (of_edge, of_face) = ((own, search.edge.uv(&[x])), (other, search.face.uv(&at)));
        let (of_a, of_b) = if which == Which::A { (of_edge, of_face) } else { (of_face, of_edge) };
        free::report(ctx, of_a, of_b, false, out);
    };
    let mut evaluations = 0;
    let (mut l, mut r) = (End::new(-border), End::new(1.0 + border));
    search.halves(&mut l, &mut r, DEPTH, &mut evaluations, &mut found);
    stats.exact_solves += 1;
    stats.effort.evaluations += evaluations;
}

/// Set of the points (in the frame of the face's body) that can have a footpoint in an area of a face at a
/// signed distance in a given range. It is bounded by ranges of coordinates along the axes of the area's box
/// and by [`NormalBundle`]s.
struct Slab<'a> {
    /// Leaf node of the face's area.
    node: &'a TreeNode,
    /// Smallest and largest component of the outward normals of the face's area along each axis of its box.
    normals: [[f64; 2]; 3],
    /// Bundle of the normals of the whole area.
    bundle: NormalBundle,
    /// Bundles of pieces of the area around a pole; empty if the area has no pieces.
    pieces: &'a [NormalBundle],
    /// Largest length (mm) by which a footpoint of the area may lie outside the box of the area.
    slack: f64,
    /// Smallest and largest signed distance (mm) of the set's points from the face.
    reach: [f64; 2],
}

impl<'a> Slab<'a> {
    fn new(ctx: &Context<'_>, node: &'a TreeNode) -> Self {
        // Bounds of the sine and of both sides of the cosine of the cone's half-angle plus the slack.
        let slack = f64::from(node.allowance.angle) + ctx.tol.critical;
        let (sin, [cos, most]) = (node.cap.sin + slack, [node.cap.cos - slack, node.cap.cos]);
        let largest = |along: f64| {
            if along >= cos || cos <= 0.0 {
                return 1.0;
            }
            let cos = if along > 0.0 { most } else { cos };
            (along * cos + (1.0 - along * along).max(0.0).sqrt() * sin).min(1.0)
        };
        let normals = node.obb.axes.map(|axis| {
            let along = axis.dot(&node.cap.axis);
            [-largest(-along), largest(along)]
        });
        let slack = f64::from(node.allowance.length) + 2.0 * ctx.tol.same;
        let reach = [ctx.least - ctx.tol.tol, ctx.d_max + ctx.tol.tol];
        let (obb, axis) = (&node.obb, node.cap.axis);
        let bundle = NormalBundle { center: obb.center, radius: obb.radius() + slack, axis, sin, cos };
        Self { node, normals, bundle, pieces: &[], slack, reach }
    }

    /// Restricts the signed distances of the set to the range from `lo` to `hi` (mm). `None` if the set
    /// then contains no distance.
    fn narrowed(self, [lo, hi]: [f64; 2]) -> Option<Self> {
        let reach = [self.reach[0].max(lo - self.slack), self.reach[1].min(hi + self.slack)];
        (reach[0] <= reach[1]).then_some(Self { reach, ..self })
    }

    /// Whether a ball (in the frame of the face's body) contains no point of this set.
    fn misses(&self, center: &P3, radius: f64) -> bool {
        let obb = &self.node.obb;
        let from = center - obb.center;
        let beside_box = (0..3).any(|k| {
            let x = from.dot(&obb.axes[k]);
            let [lo, hi] = self.normals[k];
            let products = [self.reach[0] * lo, self.reach[0] * hi, self.reach[1] * lo, self.reach[1] * hi];
            let (least, most) =
                products.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), p| (l.min(*p), m.max(*p)));
            let open = obb.half[k] + self.slack + radius;
            x < least - open || x > most + open
        });
        let misses = |bundle: &NormalBundle| bundle.misses(center, radius, self.reach);
        beside_box || misses(&self.bundle) || !self.pieces.is_empty() && self.pieces.iter().all(misses)
    }
}

/// Footpoint of a point of the edge on the face, derivatives of the signed distance by the edge's
/// unit-box parameter, and derivatives of the footpoint's two unit-box parameters by the edge's unit-box
/// parameter.
type FootJet = (Foot, Jet, Vector2<f64>);

/// Result of the search for the footpoint, on the face, of the point of the edge at one unit-box
/// parameter.
#[derive(Clone, Copy)]
struct Sample {
    /// Footpoint with its derivatives; `None` if Newton's method finds no footpoint near the area of the
    /// face.
    foot: Option<FootJet>,
}

/// End of an interval.
struct End {
    /// Unit-box parameter.
    x: f64,
    /// Start of Newton's method for the footpoint; `None` to start from the grid of the patch.
    start: Option<Vector2<f64>>,
    /// Sample at the end, if it has been computed.
    sample: Option<Sample>,
}

impl End {
    fn new(x: f64) -> Self {
        Self { x, start: None, sample: None }
    }

    /// End between two others, whose footpoints determine the start of the search for its footpoint.
    fn between(l: &Self, r: &Self) -> Self {
        let width = r.x - l.x;
        let foot = |end: &Self| end.sample.and_then(|sample| sample.foot);
        // The cubic through the footpoints and their derivatives at both ends.
        let start = foot(l)
            .zip(foot(r))
            .map(|((p, _, of_p), (q, _, of_q))| 0.5 * (p.at + q.at) + 0.125 * width * (of_p - of_q));
        Self { x: l.x + 0.5 * width, start, sample: None }
    }
}

/// Result of the tests of an interval.
enum IntervalResult {
    /// The interval contains no minimum.
    Nothing,
    /// The interval contains one minimum, where the derivative changes its sign.
    One,
    /// The derivative of the distance is zero to rounding at both ends, and presumably in between.
    Flat,
    /// The tests do not decide; the interval is halved unless it is too short.
    Unknown,
}

/// Search for minima along one area of an edge, against one area of a face, in the frame of the face's body.
struct Search<'a> {
    ctx: &'a Context<'a>,
    edge: Leaf<'a>,
    face: Leaf<'a>,
    slab: Slab<'a>,
    /// Bounds of the curvatures of the face's area.
    bounds: &'a CurvatureBounds,
    /// Grid of the face's area.
    grid: &'a Grid,
    /// Upper bound of the length of the edge's first derivative by its unit-box parameter.
    speed: f64,
    /// Upper bound of the length of the edge's second derivative by its unit-box parameter.
    bend: f64,
    /// Radius of a ball that contains the edge's third derivatives by its unit-box parameter over the
    /// edge's area.
    third_spread: f64,
    /// Distance outside the unit box of the face's area, for each of its two parameters, up to which a
    /// footpoint belongs to the area.
    borders: [f64; 2],
}

impl Search<'_> {
    /// Searches the interval from `l` to `r` for minima, and halves it at most `depth` times. Calls
    /// `found` for each minimum with its unit-box parameter on the edge and its unit-box parameters on
    /// the face. The number of computed footpoints is added to `evaluations`.
    fn halves(
        &self,
        l: &mut End,
        r: &mut End,
        depth: u32,
        evaluations: &mut u64,
        found: &mut dyn FnMut(f64, [f64; 2]),
    ) {
        let half = 0.5 * (r.x - l.x);
        let middle = l.x + half;
        let radius = self.speed * half;
        let p = self.edge.point(&[middle]);
        if self.slab.misses(&p, radius) {
            return;
        }
        let size = self.grid.radius;
        if radius <= MAX_RADIUS * size || depth == 0 {
            let mut known = |end: &mut End| {
                *end.sample.get_or_insert_with(|| {
                    *evaluations += 1;
                    self.sample(end.x, end.start)
                })
            };
            let (a, b) = (known(l), known(r));
            let pole = self.pole_within(&p, MAX_POLE_DISTANCE * radius);
            let smallest = match pole {
                Some(_) => self.ctx.tol.trim,
                None if a.foot.is_some() || b.foot.is_some() => MIN_RADIUS * size,
                None => MIN_RADIUS_WITHOUT_FEET * size,
            };
            let is_smallest = depth == 0 || radius <= smallest;
            if let Some(pole) = pole.filter(|_| is_smallest) {
                self.at_pole(middle, pole, found);
                return;
            }
            match self.classify((l.x, &a), (r.x, &b), pole.is_some(), is_smallest) {
                IntervalResult::Nothing => return,
                IntervalResult::One => {
                    if let (Some(a), Some(b)) = (a.foot, b.foot) {
                        self.root((l.x, &a), (r.x, &b), evaluations, found);
                    }
                    return;
                }
                IntervalResult::Flat => {
                    *evaluations += 1;
                    if let Some((foot, ..)) = self.sample(middle, a.foot.map(|near| near.0.at)).foot {
                        self.accept(middle, &foot, found);
                    }
                    return;
                }
                IntervalResult::Unknown if is_smallest => return,
                IntervalResult::Unknown => {}
            }
        }
        let mut m = End::between(l, r);
        self.halves(l, &mut m, depth - 1, evaluations, found);
        self.halves(&mut m, r, depth - 1, evaluations, found);
    }

    /// Returns a pole of the patch around which the footpoints of the points in a ball may turn; `None`
    /// if no such pole exists.
    fn pole_within(&self, center: &P3, radius: f64) -> Option<&Pole> {
        let reach = self.slab.reach[0].abs().max(self.slab.reach[1].abs()) + radius;
        self.grid.poles.iter().find(|pole| {
            let (across, height) = pole.offset(center);
            across.norm() <= radius && height.abs() <= reach
        })
    }

    /// Reports a minimum at the pole `pole` if the face is smooth there and the edge at its unit-box
    /// parameter `x` is perpendicular to the axis of the pole. It is for intervals as short as the
    /// tolerance of trims.
    fn at_pole(&self, x: f64, pole: &Pole, found: &mut dyn FnMut(f64, [f64; 2])) {
        let critical = self.ctx.tol.critical;
        let tangent = self.edge.jet(&[x]).first[0];
        if pole.is_smooth(critical) && tangent.dot(&pole.axis).abs() <= critical * tangent.norm() {
            found(x, pole.params());
        }
    }

    /// Footpoint of the point `p` on the face. Newton's method starts from `start`, if given, then
    /// from the nearest grid point, then on the meridian of a pole in the direction of `p`, until one
    /// start converges. `None` if none converges to a point of the surface.
    fn foot(&self, p: &P3, start: Option<Vector2<f64>>) -> Option<Foot> {
        let poles = &self.grid.poles;
        let of = |start: Vector2<f64>| {
            let foot = Foot::of(&self.face, start, p, self.ctx.tol.eps);
            foot.filter(|foot| !poles.iter().any(|pole| pole.is_behind(&foot.at.into())))
        };
        // Extrapolations from far outside could converge to a footpoint on another branch.
        let is_near = |start: &Vector2<f64>| {
            start.iter().all(|x| (-MAX_OUTSIDE_LEAF..=1.0 + MAX_OUTSIDE_LEAF).contains(x))
        };
        start
            .filter(is_near)
            .and_then(of)
            .or_else(|| of(self.grid.foot(p).params.into()))
            .or_else(|| poles.iter().find_map(|pole| of(pole.start(p).into())))
    }

    /// Footpoint of the edge's point at the unit-box parameter `x`; the search starts from the
    /// unit-box parameters `start` of the face, if given.
    fn sample(&self, x: f64, start: Option<Vector2<f64>>) -> Sample {
        let jet = self.edge.jet(&[x]);
        let foot = self.foot(&jet.p, start);
        let derivatives = |foot: Foot| {
            let d1 = foot.slope(&jet.first[0]);
            let d2 = foot.bend(&jet.first[0], &jet.first[0]) + foot.normal.dot(&jet.second[0]);
            let travel = foot.travel(&jet.first[0]);
            (
                foot,
                Jet { d1, d2, sharpness: 0.0, speed: jet.first[0].norm(), pull: 1.0, own_third: 0.0 },
                travel,
            )
        };
        Sample { foot: foot.map(derivatives) }
    }

    /// Classifies the interval from `x` to `y` by the derivatives of the distance at both ends. With
    /// `is_smallest`, the interval cannot be halved any more and the signs of the derivatives decide. With
    /// `is_at_pole`, footpoints may turn around a pole between the ends, so their positions decide nothing.
    fn classify(
        &self,
        (x, a): (f64, &Sample),
        (y, b): (f64, &Sample),
        is_at_pole: bool,
        is_smallest: bool,
    ) -> IntervalResult {
        let (Some((p, a, of_p)), Some((q, b, of_q))) = (&a.foot, &b.foot) else {
            return IntervalResult::Unknown;
        };
        let width = y - x;
        let length = self.speed * width;
        // Footpoints beyond one border belong to the next area. If the interval is short compared with the
        // patch, the footpoints between the ends are close to the cubic through those at the ends, and so
        // between its control points. Otherwise the speeds at the ends bound their range.
        let is_short_for_patch = length * LENGTHS_PER_RADIUS <= self.grid.radius;
        for k in 0..2 {
            let (u, v) = (p.at[k], q.at[k]);
            let inner = if is_short_for_patch {
                [u + 0.5 * width * of_p[k], v - 0.5 * width * of_q[k]]
            } else {
                let (middle, reach) =
                    (0.5 * (u + v), 0.5 * MAX_FOOT_SPEED * width * of_p[k].abs().max(of_q[k].abs()));
                [middle - reach, middle + reach]
            };
            let [low, high] = [u.min(v).min(inner[0]).min(inner[1]), u.max(v).max(inner[0]).max(inner[1])];
            if !is_at_pole && (high < -self.borders[k] || low > 1.0 + self.borders[k]) {
                return IntervalResult::Nothing;
            }
        }
        // A signed distance changes by at most the length of the path.
        let (lo, hi) = (0.5 * (p.distance + q.distance - length), 0.5 * (p.distance + q.distance + length));
        if lo > self.slab.reach[1] || hi < self.slab.reach[0] {
            return IntervalResult::Nothing;
        }
        let range = [lo.max(self.slab.reach[0]), hi.min(self.slab.reach[1])];
        let [least, most] = self.bounds.at_offsets(range);
        let speed_sq = self.speed * self.speed;
        // Bounds of the second derivative; the tangential part of the edge's velocity is at most its
        // speed.
        let falls = (-least).max(0.0) * speed_sq + self.bend;
        let rises = most.max(0.0) * speed_sq + self.bend;
        let (down, up) = (|s: f64| s / falls, |s: f64| s / rises);
        // Minimum widths that the derivative needs for a minimum in between, and for more than one.
        let needed = match (a.d1 < 0.0, b.d1 < 0.0) {
            (false, false) => down(a.d1) + up(b.d1),
            (true, true) => up(-a.d1) + down(-b.d1),
            (false, true) => down(a.d1) + down(-b.d1),
            (true, false) => up(-a.d1) + up(b.d1),
        };
        let rises_through = a.d1 < 0.0 && b.d1 >= 0.0;
        let is_convex = least >= 0.0 && self.bend <= 0.0;
        if needed > width || is_convex {
            return if rises_through { IntervalResult::One } else { IntervalResult::Nothing };
        }
        if a.d1.abs() <= ACCEPT_SINE * a.speed && b.d1.abs() <= ACCEPT_SINE * b.speed {
            return if rises_through && a.d2 > 0.0 && b.d2 > 0.0 {
                IntervalResult::One
            } else {
                IntervalResult::Flat
            };
        }
        // Over an interval that is short compared with the patch and with its radii of curvature, the
        // derivative is close to the cubic through its values and slopes at both ends.
        let is_short = is_short_for_patch && least.abs().max(most.abs()) * length <= MAX_CURVED_LENGTH;
        if is_short && rises_through && a.d2 > 0.0 && b.d2 > 0.0 {
            return IntervalResult::One;
        }
        if is_short && curve::has_no_root(a, b, width, 0.0, self.third_spread) {
            return IntervalResult::Nothing;
        }
        if is_smallest {
            return if rises_through { IntervalResult::One } else { IntervalResult::Nothing };
        }
        IntervalResult::Unknown
    }

    /// Reports the minimum between `l`, where the derivative of the distance is negative, and `r`, where
    /// it is not.
    fn root(
        &self,
        l: (f64, &FootJet),
        r: (f64, &FootJet),
        evaluations: &mut u64,
        found: &mut dyn FnMut(f64, [f64; 2]),
    ) {
        let count = std::cell::Cell::new(0);
        let (near, _, travel) = l.1;
        let start = |x: f64| near.at + travel * (x - l.0);
        let jet = |x: f64| {
            count.set(count.get() + 1);
            Some(self.sample(x, Some(start(x))).foot?.1)
        };
        let x = curve::root(&jet, (l.0, l.1.1), (r.0, r.1.1));
        *evaluations += count.get() + 1;
        // Newton's method from the footpoint of an end may lead outside the area, for example around a pole.
        let mut foot = self.sample(x, Some(start(x))).foot;
        if !foot.is_some_and(|(foot, ..)| self.contains(&foot)) {
            *evaluations += 1;
            foot = self.sample(x, None).foot;
        }
        if let Some((foot, ..)) = foot {
            self.accept(x, &foot, found);
        }
    }

    /// Whether a footpoint belongs to the area of the face, up to `borders` outside the unit box.
    fn contains(&self, foot: &Foot) -> bool {
        (0..2).all(|k| -self.borders[k] <= foot.at[k] && foot.at[k] <= 1.0 + self.borders[k])
    }

    /// Reports a minimum at the edge's unit-box parameter `x` if its footpoint belongs to the area of the
    /// face.
    fn accept(&self, x: f64, foot: &Foot, found: &mut dyn FnMut(f64, [f64; 2])) {
        if self.contains(foot) {
            found(x, foot.at.into());
        }
    }
}
