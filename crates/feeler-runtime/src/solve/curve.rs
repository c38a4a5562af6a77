//! A canonical feature against a free-form edge: one unknown, all local minima over the parameter interval
//! of an area of the edge.
//!
//! # Source
//! MATH §8.
//!
//! # Guarantees
//! Minima are roots of the objective's derivative by the edge's parameter. The interval is halved once in
//! any case. A piece of it is dropped if it is short compared with its distance from the points at which
//! the objective has no derivatives, and if the cubic through the derivative's values and slopes at its
//! ends stays away from zero by several times its own bend and by the largest change that the third
//! derivative of the curve allows within the area. Other pieces are halved until the signs of the first
//! two derivatives at the ends, and that change, allow at most one root, or until [`MAX_HALVINGS`] is
//! reached: two roots within a 512th of an area can be missed. Roots are bisected with Newton steps to
//! round-off.
//!
//! If the first two derivatives are at most 1e-9 of their largest possible values at all samples of an area,
//! as along an edge that is parallel to a plane, the middle of the area is reported instead of roots. The
//! distance varies by at most 1e-9 of the area's length there, and the ends are minima of vertices.

use super::patch::ACCEPT_SINE;
use super::reduced::Reduced;
use super::{FreePoint, ReducedPair, Solved, candidate_of};
use crate::body::Body;
use crate::body::samples::{CURVE_STEPS, EdgeSegment, MIDDLE, Third};
use crate::query::Context;
use feeler_geom::CurveDerivs;
use feeler_geom::{Curve, P2, V3};
use feeler_hierarchy::{AreaId, EdgeId, Feature};
use std::cell::Cell;

/// Maximum number of successive halvings of an interval between two samples in which the derivative of
/// the objective may have two roots. A larger number takes more work on such intervals; a smaller one
/// misses roots that are close together.
const MAX_HALVINGS: u32 = 6;
/// Total number of halvings, in one area, of intervals that are long compared with the distance from the
/// nearest point at which the objective has no derivatives. An edge that passes by the axis of a circle
/// takes some of them at each passage; an edge along the axis would take any number. A smaller number
/// misses minima near axes.
const SHARP_HALVINGS: u32 = 64;

/// Derivatives of the objective by the edge's parameter at three points of one area of a free-form edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DerivativeSamples {
    /// Derivatives at the beginning, in the middle and at the end of the area; `None` for a point on the
    /// focal set of the primitive.
    jets: [Option<Jet>; 3],
    /// Length of the area's parameter interval.
    width: f64,
    /// Distance beyond the ends of the area's interval, in the parameter, within which minima count.
    margin: f64,
    /// Bounds of the differences of the edge's third derivative from a constant (`spread`) and from a
    /// linear function (`bend`) over the area.
    third: Third,
}

impl DerivativeSamples {
    /// Computes the samples of a segment. `first` are the derivatives at its beginning, `third` the bounds of
    /// the edge's third derivative. `slack` (mm) is the length beyond the ends within which minima count,
    /// because the trim test may accept them; it is limited to a twentieth of the interval of the parameter.
    /// The neighbouring area or the vertex beyond the end may yield the same minimum.
    fn new(objective: &Reduced, first: Option<Jet>, segment: &EdgeSegment, third: Third, slack: f64) -> Self {
        let jets = [first, Jet::of(objective, &segment.middle), Jet::of(objective, &segment.last)];
        Self::of_jets(jets, segment, third, slack)
    }

    /// Samples with the derivatives `jets` at the beginning, in the middle and at the end of a segment;
    /// `third` and `slack` as for an objective in space.
    pub(super) fn of_jets(jets: [Option<Jet>; 3], segment: &EdgeSegment, third: Third, slack: f64) -> Self {
        let EdgeSegment { width, middle, .. } = segment;
        let speed = middle.d1.norm();
        let margin = if speed > 0.0 { (slack / speed).min(0.05 * width) } else { 0.0 };
        Self { jets, width: *width, margin, third }
    }

    /// Whether the samples exclude a minimum, in the area extended by `margin`, of any function whose
    /// gradient differs from that of the objective by at most `off` (mm for half a squared distance,
    /// without unit for a distance). `false` does not mean that a minimum exists.
    pub(crate) fn excludes_minimum(&self, off: f64) -> bool {
        let [Some(first), Some(middle), Some(last)] = &self.jets else { return false };
        let half = 0.5 * self.width;
        let reaches = |end: &Jet| beyond(end, middle, half / to_f64(MIDDLE), self.margin, off);
        half > 0.0
            && has_no_root(first, middle, half, off, self.third.bend)
            && has_no_root(middle, last, half, off, self.third.bend)
            && !reaches(first)
            && !reaches(last)
    }
}

/// Calls `visit` for areas of a free-form edge, given in ascending order, with the derivatives of the
/// objective along each. Areas for which `skips` returns `true` are omitted. `slack` (mm) is the length
/// beyond the ends of an area within which minima count.
#[inline]
pub(crate) fn each_segment(
    body: &Body,
    objective: &Reduced,
    (edge, areas): (EdgeId, &[AreaId]),
    slack: f64,
    skips: &impl Fn(&EdgeSegment) -> bool,
    visit: &mut impl FnMut(AreaId, &EdgeSegment, &DerivativeSamples),
) {
    let (all, segments) = (body.areas_of(body.data(Feature::Edge(edge))), body.segments_of(edge));
    let mut k = 0;
    // Index in the edge of the area after the last visited one, and the objective at their common end.
    let mut last_end = None;
    for &area in areas {
        while all[k] != area {
            k += 1;
        }
        let segment = &segments[k];
        if skips(segment) {
            continue;
        }
        let first = last_end
            .filter(|(index, _)| *index == k && segment.is_joined)
            .map_or_else(|| Jet::of(objective, &body.curve_samples_of(area)[0]), |(_, jet)| jet);
        let derivatives = DerivativeSamples::new(objective, first, segment, segment.third(body, area), slack);
        last_end = Some((k + 1, derivatives.jets[2]));
        visit(area, segment, &derivatives);
    }
}

/// Adds all minima over the area `area` of the free-form edge `edge`; `derivatives` are those of this area.
pub(crate) fn solve(
    ctx: &Context<'_>,
    pair: &ReducedPair<'_>,
    derivatives: &DerivativeSamples,
    (edge, area): (EdgeId, AreaId),
    out: &mut Solved,
) {
    let body = ctx.body(pair.free);
    let curve = &body.edge(edge).curve;
    let rect = &body.area(area).rect;
    let samples = body.curve_samples_of(area);
    let f = |t: f64| Jet::of(pair.objective, &curve.derivs(t));
    let known = |i: usize| match i {
        0 => derivatives.jets[0],
        MIDDLE => derivatives.jets[1],
        CURVE_STEPS => derivatives.jets[2],
        _ => Jet::of(pair.objective, &samples[i]),
    };
    let DerivativeSamples { margin, third, .. } = *derivatives;
    minima(&f, (rect.u0, rect.u1), &known, (margin, third), &mut |t| {
        report(ctx, pair, edge, t, out);
    });
}

/// Adds a minimum at the parameter `t` of the free-form edge `edge`, unless its distance is out of range.
pub(crate) fn report(ctx: &Context<'_>, pair: &ReducedPair<'_>, edge: EdgeId, t: f64, out: &mut Solved) {
    let curve = &ctx.body(pair.free).edge(edge).curve;
    let p = curve.point(t);
    let Some(q) = pair.objective.probe(&p) else { return };
    let mut add = |n: V3| {
        let point = FreePoint { feature: Feature::Edge(edge), uv: P2::new(t, 0.0), p, foot: q.foot, n };
        out.candidates.push(candidate_of(ctx, pair, &point, false));
    };
    if !pair.objective.squared {
        if ctx.least <= q.f && q.f <= ctx.d_max {
            add(q.grad);
        }
        return;
    }
    let d = q.grad.norm();
    if d > ctx.reach() {
        return;
    }
    if d > ctx.tol.tol {
        let n = q.grad / d;
        add(n);
        // If the edges are pressed, the distance is negative along the opposite direction. A vertex and an
        // edge are contacts only down to the tolerances.
        let is_vertex = matches!(pair.canonical, Feature::Vertex(_));
        if d <= if is_vertex { -ctx.tol.min_distance() } else { -ctx.least } {
            add(-n);
        }
        return;
    }
    if matches!(pair.canonical, Feature::Vertex(_)) {
        // If this direction is not in both polars, the filter searches for one that is.
        add(q.grad.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(V3::x));
        return;
    }
    // Touching edges have a common perpendicular, whose sign the polars decide.
    let mut is_parallel = true;
    for n in common_perpendiculars(ctx, pair, &q.foot, curve.tangent(t)) {
        is_parallel = false;
        add(n);
    }
    if is_parallel {
        // Parallel tangents have any perpendicular direction: the filter searches for one in both polars.
        add(q.grad.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(V3::x));
    }
}

/// Returns the two opposite unit vectors that are perpendicular to `tangent`, the tangent of the free edge,
/// and to the tangent of the canonical edge at its footpoint `foot`. All vectors and points are in the frame
/// of the free edge's solid. Empty if the tangents are parallel or the canonical feature is not an edge.
fn common_perpendiculars(
    ctx: &Context<'_>,
    pair: &ReducedPair<'_>,
    foot: &feeler_geom::P3,
    tangent: Option<V3>,
) -> impl Iterator<Item = V3> {
    let (free, other) = (pair.free, pair.free.other());
    let across = match pair.canonical {
        Feature::Edge(e) => {
            let curve = &ctx.body(other).edge(e).curve;
            // The tangent of the canonical curve is computed in its own frame and transformed to the frame
            // of the free-form edge.
            let p = ctx.pose_to_other(free) * foot;
            let t = match curve {
                Curve::Line { dir, .. } => Some(*dir),
                Curve::Circle { frame, .. } => Some(frame.z.cross(&(p - frame.origin))),
                _ => None,
            };
            t.map(|t| ctx.pose_to_other(other) * t)
        }
        _ => None,
    };
    let n = across.zip(tangent).and_then(|(s, t)| {
        let s = s.try_normalize(f64::MIN_POSITIVE)?;
        s.cross(&t).try_normalize(1e-6)
    });
    n.into_iter().flat_map(|n| [n, -n])
}

/// First and second derivative of the objective by the parameter of a curve, with data that bound their
/// changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet {
    pub d1: f64,
    pub d2: f64,
    /// Inverse of the approximate change of the parameter up to the nearest point without derivatives; see
    /// [`Probe::sharpness`](super::reduced::Probe::sharpness).
    pub sharpness: f64,
    /// Length of the curve's first derivative (mm per unit of the parameter).
    pub speed: f64,
    /// Length of the objective's gradient in space (mm for half a squared distance, without unit for a
    /// distance).
    pub pull: f64,
    /// Estimate of the largest part of the objective's third derivative by the parameter that is due to
    /// the third derivative of the objective in space, not to the bending of the curve.
    pub own_third: f64,
}

impl Jet {
    /// Estimate of the largest difference of the objective's third derivative by the parameter from a
    /// constant or a linear function over a step. `of_curve` is the same difference for the third
    /// derivative of the curve.
    fn third(&self, of_curve: f64) -> f64 {
        self.pull * of_curve + self.own_third
    }

    /// Whether the objective is constant up to [`ACCEPT_SINE`] of the length at the point and, to first
    /// order, over a step of the length `step` (in the parameter), as along an edge that is parallel to a
    /// plane.
    fn is_flat(&self, step: f64) -> bool {
        self.d1.abs().max(self.d2.abs() * step) <= ACCEPT_SINE * self.pull * self.speed
    }

    /// Computes the derivatives of the objective at a point of a curve; `None` on the focal set of the
    /// primitive, where the objective has no derivatives.
    pub(crate) fn of(objective: &Reduced, c: &CurveDerivs) -> Option<Self> {
        let q = objective.probed(&c.p)?;
        let d2 = q.bending.along(&c.d1) + q.grad.dot(&c.d2);
        let speed = c.d1.norm();
        let (pull, sharpness) = (q.grad.norm(), q.sharpness * speed);
        // The second derivative of half a squared distance is 1, that of a distance its sharpness.
        let second = if objective.squared { speed } else { sharpness };
        let own_third = OWN_THIRD * sharpness * speed * second;
        Some(Self { d1: q.grad.dot(&c.d1), d2, sharpness, speed, pull, own_third })
    }
}

/// Calls `report` with the parameters of all local minima strictly inside `(t0 - margin, t1 + margin)`.
/// `f` returns the derivatives of the objective at any parameter of the curve. `known` returns them at a
/// sample: sample i is the end of the i-th of [`CURVE_STEPS`] equal steps from `t0` to `t1`. The results
/// of `f` and `known` are `None` on the focal set. `third` bounds the curve's third derivative.
fn minima(
    f: &dyn Fn(f64) -> Option<Jet>,
    (t0, t1): (f64, f64),
    known: &dyn Fn(usize) -> Option<Jet>,
    (margin, third): (f64, Third),
    report: &mut dyn FnMut(f64),
) {
    let sharp_halvings = &Cell::new(SHARP_HALVINGS);
    let f = &Along { f, third, sharp_halvings };
    // Beyond the ends, only the spread of the third derivative is known.
    let beyond_ends = &Along { third: Third { bend: third.spread, ..third }, ..*f };
    let h = (t1 - t0) / to_f64(CURVE_STEPS);
    if !(h > 0.0 && h.is_finite()) {
        return;
    }
    // The objective has no derivative on the focal set, but it has one beside it.
    let beside = |t: f64| (f.f)(t + 1e-7 * h).or_else(|| (f.f)(t - 1e-7 * h));
    let sample = |i: usize| {
        let t = if i == CURVE_STEPS { t1 } else { t0 + to_f64(i) * h };
        (t, known(i).or_else(|| beside(t)))
    };
    let outside = |t: f64| (t, (f.f)(t).or_else(|| beside(t)));
    let reaches = |end: &Sample, next: &Sample| match (end.1, next.1) {
        (Some(end), Some(next)) => beyond(&end, &next, h, margin, 0.0),
        _ => margin > 0.0,
    };
    let [first, middle, last] = [0, MIDDLE, CURVE_STEPS].map(sample);
    let is_flat = |s: &Sample| s.1.is_some_and(|jet| jet.is_flat(h));
    if is_flat(&first) && is_flat(&middle) && is_flat(&last) && (1..CURVE_STEPS).all(|i| is_flat(&sample(i)))
    {
        report(middle.0);
        return;
    }
    if reaches(&first, &middle) {
        between(beyond_ends, outside(t0 - margin), first, report);
    }
    steps(f, &sample, (0, first), (MIDDLE, middle), report);
    steps(f, &sample, (MIDDLE, middle), (CURVE_STEPS, last), report);
    if reaches(&last, &middle) {
        between(beyond_ends, last, outside(t1 + margin), report);
    }
}

/// Whether the derivative of the objective can have a root beyond one end of an interval by at most
/// `margin` (in the parameter). `end` and `next` are the derivatives at that end and at another sample,
/// `h` is the spacing of samples in the parameter. The gradient of the function may differ by `off` from
/// that of the objective.
fn beyond(end: &Jet, next: &Jet, h: f64, margin: f64, off: f64) -> bool {
    // There is a root only if the derivative is small at the end.
    let is_small = || end.d1.abs() <= off * end.speed + 4.0 * margin * (end.d2.abs() + next.d2.abs());
    margin > 0.0 && (margin > 1e-3 * h || is_small())
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn to_f64(n: usize) -> f64 {
    n as f64
}

/// A parameter of the curve, and the derivatives of the objective there.
type Sample = (f64, Option<Jet>);

/// Objective along an area of a curve, as a function that computes its derivatives, with the data that
/// limit the search for its minima.
struct Along<'a> {
    /// Returns the derivatives of the objective at a parameter of the curve; `None` on the focal set of
    /// the primitive.
    f: &'a dyn Fn(f64) -> Option<Jet>,
    third: Third,
    /// Number of halvings of long intervals that remain of [`SHARP_HALVINGS`].
    sharp_halvings: &'a Cell<u32>,
}

/// Reports the minima between two samples, given with their indices. The range of samples is halved until a
/// root is excluded or two adjacent samples are left, between which [`piece`] searches.
fn steps(
    f: &Along<'_>,
    sample: &dyn Fn(usize) -> Sample,
    (i, l): (usize, Sample),
    (j, r): (usize, Sample),
    report: &mut dyn FnMut(f64),
) {
    if let (Some(a), Some(b)) = (l.1, r.1)
        && has_no_root(&a, &b, r.0 - l.0, 0.0, f.third.bend)
    {
        return;
    }
    if j == i + 1 {
        between(f, l, r, report);
        return;
    }
    let k = usize::midpoint(i, j);
    let middle = sample(k);
    steps(f, sample, (i, l), (k, middle), report);
    steps(f, sample, (k, middle), (j, r), report);
}

/// Returns whether the derivative has no root over a step of the length `step` (in the parameter) by its
/// values and slopes at the ends `a` and `b`. Its gradient may differ by `off` from that of the objective;
/// `third` bounds the third derivative of the curve.
///
/// The cubic through values and slopes differs from its chord by at most 4/27 of the sum of the
/// differences between the slopes at the ends and the chord's. The test allows [`SLOPE_SLACK`] of this
/// sum, or the change due to the third derivative of the curve, whose linear part the cubic contains. The
/// result is false over steps in which the objective may be sharp: near the thin tube of a torus, the
/// derivative leaves a constant value and comes back to it.
pub(super) fn has_no_root(a: &Jet, b: &Jet, step: f64, off: f64, third: f64) -> bool {
    let min_slope = (a.d1.abs() - off * a.speed).min(b.d1.abs() - off * b.speed);
    let is_smooth = a.sharpness.max(b.sharpness) * step <= MAX_SMOOTH_STEP;
    if !is_smooth || (a.d1 > 0.0) != (b.d1 > 0.0) || min_slope <= 0.0 {
        return false;
    }
    let chord = (b.d1 - a.d1) / step;
    let bend = step * ((a.d2 - chord).abs() + (b.d2 - chord).abs());
    let change = THIRD_CHANGE * step * step * a.third(third).max(b.third(third));
    min_slope > (SLOPE_SLACK * bend).max(change)
}

/// Largest difference between a derivative and its chord, as a multiple of the sum of the differences
/// between the slopes at the ends and the chord's: five times that of a cubic. A larger value takes more
/// halvings; a smaller one misses roots of a free edge.
const SLOPE_SLACK: f64 = 0.75;
/// Largest difference between a derivative and the cubic through its values and slopes at both ends of a
/// unit step, as a multiple of the difference of its second derivative from a linear function: 1/16 by
/// Peano's kernel, plus a quarter of that for the cubic's own difference from its chord. A larger value
/// takes more halvings; a smaller one misses roots of a winding edge.
const THIRD_CHANGE: f64 = 0.08;
/// Third derivative of an objective about a circle or a tube, as a multiple of the second derivative
/// times the sharpness: approximately the mean over all directions. A larger value takes more halvings; a
/// smaller one misses minima close to each other near a circle.
const OWN_THIRD: f64 = 0.25;
/// Longest step of the parameter over which the derivatives at the ends describe those in between, as a
/// multiple of the change of the parameter up to the nearest point without derivatives. A larger value
/// misses roots; a smaller one takes more halvings.
const MAX_SMOOTH_STEP: f64 = 0.5;

fn between(f: &Along<'_>, l: Sample, r: Sample, report: &mut dyn FnMut(f64)) {
    if let (Some(a), Some(b)) = (l.1, r.1) {
        piece(f, (l.0, a), (r.0, b), MAX_HALVINGS, report);
    }
}

fn piece(f: &Along<'_>, l: (f64, Jet), r: (f64, Jet), depth: u32, report: &mut dyn FnMut(f64)) {
    let (a, b) = (l.1, r.1);
    let down_up = a.d1 < 0.0 && b.d1 >= 0.0;
    let same = (a.d1 < 0.0) == (b.d1 < 0.0);
    let width = r.0 - l.0;
    let third = |of_curve| a.third(of_curve).max(b.third(of_curve));
    // A pair of roots can be missed if the derivative comes back towards zero from both ends, if its slope
    // opposes the sign change, or if the curve bends otherwise in between.
    let suspicious = if same {
        let turns = if a.d1 < 0.0 { a.d2 > 0.0 && b.d2 < 0.0 } else { a.d2 < 0.0 && b.d2 > 0.0 };
        turns || THIRD_CHANGE * width * width * third(f.third.bend) >= a.d1.abs().min(b.d1.abs())
    } else {
        let s = if down_up { 1.0 } else { -1.0 };
        0.5 * width * third(f.third.spread) >= (s * a.d2).min(s * b.d2)
    };
    // Beside the axis of a circle, the derivative can have any value between two equal ones.
    let is_sharp = a.sharpness.max(b.sharpness) * width > MAX_SMOOTH_STEP && f.sharp_halvings.get() > 0;
    if is_sharp {
        f.sharp_halvings.set(f.sharp_halvings.get() - 1);
    }
    if (suspicious && depth > 0) || is_sharp {
        let depth = if is_sharp { depth } else { depth - 1 };
        let t = 0.5 * (l.0 + r.0);
        let mid = (f.f)(t).or_else(|| (f.f)(t + 1e-7 * width));
        if let Some(m) = mid {
            piece(f, l, (t, m), depth, report);
            piece(f, (t, m), r, depth, report);
            return;
        }
    }
    if down_up {
        report(root(f.f, l, r));
    }
}

/// Returns the parameter between `l`, where the derivative is negative, and `r`, where it is not, at which it
/// changes sign. Newton steps that leave the bracket are replaced by bisections.
pub(super) fn root(f: &dyn Fn(f64) -> Option<Jet>, l: (f64, Jet), r: (f64, Jet)) -> f64 {
    if r.1.d1 == 0.0 {
        return r.0;
    }
    let (mut lo, mut hi) = (l.0, r.0);
    let width = r.0 - l.0;
    let mut t = l.0 + width * zero_of_cubic(&l.1, &r.1, width).clamp(0.02, 0.98);
    let mut last = 0.0;
    // Bisection alone ends within 60 steps for any bracket of doubles; Newton steps get the same number.
    for _ in 0..120 {
        let Some(j) = f(t) else { return t };
        if j.d1 < 0.0 {
            lo = t;
        } else if j.d1 > 0.0 {
            hi = t;
        } else {
            return t;
        }
        let newton = t - j.d1 / j.d2;
        let is_newton = j.d2 > 0.0 && lo < newton && newton < hi;
        let next = if is_newton { newton } else { 0.5 * (lo + hi) };
        let step = (next - t).abs();
        if step <= f64::EPSILON * t.abs().max(1e-3 * width) || next <= lo || next >= hi {
            return next;
        }
        // After a step that is this much shorter than the previous one, the error is shorter by the square
        // of their ratio.
        let ratio = if last > 0.0 { step / last } else { 1.0 };
        let is_short = ratio <= 1e-2 && step <= 1e-8 * width;
        if is_newton && is_short && step * ratio * ratio <= 0.1 * f64::EPSILON * t.abs().max(1e-3 * width) {
            return next;
        }
        last = if is_newton { step } else { 0.0 };
        t = next;
    }
    t
}

/// Approximate zero, as a fraction of the interval from 0 to 1, of the cubic through the values `d1` of `a`
/// (negative) and `b` (positive) with the slopes `d2`, over an interval of the length `width`.
fn zero_of_cubic(a: &Jet, b: &Jet, width: f64) -> f64 {
    let (rise, m, n) = (b.d1 - a.d1, a.d2 * width, b.d2 * width);
    let (square, cube) = (3.0 * rise - 2.0 * m - n, m + n - 2.0 * rise);
    // Start at the zero of the chord.
    let mut x = -a.d1 / rise;
    for _ in 0..4 {
        let value = a.d1 + x * (m + x * (square + x * cube));
        let slope = m + x * (2.0 * square + 3.0 * x * cube);
        // The step is skipped if the slope is not positive or not a number.
        if slope > 0.0 {
            x = (x - value / slope).clamp(0.0, 1.0);
        }
    }
    x
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small counts")]
mod tests {
    use super::*;
    use feeler_geom::skeleton::Primitive;
    use feeler_geom::{Frame, P3, math};
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Third derivatives that do not vary.
    const NONE: Third = Third { spread: 0.0, bend: 0.0 };

    /// A minimum on an end, or beyond it by less than the margin, is found once.
    #[test]
    fn finds_minima_in_the_margin() {
        for (x, expected) in
            [(0.0, 1), (-0.5e-6, 1), (-2e-6, 0), (1.0, 1), (1.0 + 0.5e-6, 1), (1.0 + 2e-6, 0)]
        {
            let f = |t: f64| {
                Some(Jet {
                    d1: math::sin(t - x),
                    d2: math::cos(t - x),
                    sharpness: 0.0,
                    speed: 1.0,
                    pull: 0.0,
                    own_third: 0.0,
                })
            };
            let known = |i: usize| f(i as f64 / CURVE_STEPS as f64);
            let mut found = Vec::new();
            minima(&f, (0.0, 1.0), &known, (1e-6, NONE), &mut |t| found.push(t));
            assert_eq!(found.len(), expected, "{x}: {found:?}");
        }
    }

    /// An area over which the objective is constant to rounding yields its middle after a few evaluations,
    /// and a slope above rounding no minimum.
    #[test]
    fn constant_objectives_yield_the_middle() {
        for (slope, expected) in [(0.0, 1), (1e-16, 1), (-3e-17, 1), (1e-6, 0)] {
            let calls = Cell::new(0);
            let f = |t: f64| {
                calls.set(calls.get() + 1);
                // Rounding has any sign.
                let d1 = slope * if slope < 1e-9 { math::sin(1e3 * t) } else { 1.0 };
                Some(Jet { d1, d2: 0.0, sharpness: 0.0, speed: 1.0, pull: 1.0, own_third: 0.0 })
            };
            let known = |i: usize| f(i as f64 / CURVE_STEPS as f64);
            let mut found = Vec::new();
            // The third derivative of a curve in a plane does not change its distance from the plane.
            minima(&f, (0.0, 1.0), &known, (1e-6, Third { spread: 1.0, bend: 1.0 }), &mut |t| found.push(t));
            assert_eq!(found.len(), expected, "{slope}: {found:?}");
            assert!(found.iter().all(|t| (t - 0.5).abs() < 1e-12), "{found:?}");
            assert!(expected == 0 || calls.get() <= 12, "{}", calls.get());
        }
    }

    /// Roots at the end of a piece and at the first guess, and all others, take a few evaluations.
    #[test]
    fn roots_take_few_evaluations() {
        let mut rng = SmallRng::seed_from_u64(10);
        let (mut total, mut most) = (0, 0);
        for k in 0..2000 {
            let [zero, a, b] = [0.0, 0.5, -0.5].map(|x: f64| rng.random_range(x.min(0.0)..x.max(0.0) + 1.0));
            let zero = [1.0, 0.3, 0.5, zero][k % 4];
            // The function rises through zero, linearly in every third case.
            let (a, b) = if k % 3 == 0 { (0.0, 0.0) } else { (a, b) };
            let calls = Cell::new(0);
            let f = |t: f64| {
                calls.set(calls.get() + 1);
                let y = t - zero;
                let (d1, d2) =
                    (y * (1.0 + y * y * (a + 0.5 + b * y)), 1.0 + y * y * (3.0 * (a + 0.5) + 4.0 * b * y));
                Some(Jet { d1, d2, sharpness: 0.0, speed: 1.0, pull: 0.0, own_third: 0.0 })
            };
            let [l, r] = [0.0, 1.0].map(|t| (t, f(t).expect("it has a value")));
            if !(l.1.d1 < 0.0 && r.1.d1 >= 0.0) {
                continue;
            }
            calls.set(0);
            let found = root(&f, l, r);
            assert!((found - zero).abs() <= 4.0 * f64::EPSILON, "{found} instead of {zero}");
            total += calls.get();
            most = most.max(calls.get());
        }
        assert!(most <= 12 && total <= 2000 * 4, "{most} at most, {total} in all");
    }

    #[test]
    fn finds_all_minima_of_a_wave() {
        // f = cos(9 t): minima at (2k + 1) π / 9.
        let f = |t: f64| {
            Some(Jet {
                d1: -9.0 * math::sin(9.0 * t),
                d2: -81.0 * math::cos(9.0 * t),
                sharpness: 0.0,
                speed: 1.0,
                pull: 0.0,
                own_third: 0.0,
            })
        };
        let mut found = Vec::new();
        let known = |i: usize| f(3.0 * i as f64 / CURVE_STEPS as f64);
        minima(&f, (0.0, 3.0), &known, (0.0, NONE), &mut |t| found.push(t));
        let pi = std::f64::consts::PI;
        let expected: Vec<f64> = (0..4).map(|k| (2.0 * f64::from(k) + 1.0) * pi / 9.0).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
    }

    /// Straight edges beside tori, cylinders and cones, inside and outside: all minima of dense samples
    /// are found.
    #[test]
    fn finds_minima_beside_thin_tubes() {
        let mut rng = SmallRng::seed_from_u64(9);
        let (mut found, mut plain) = (0, 0);
        for k in 0..20_000 {
            let mut random = |scale: f64| V3::from_fn(|_, _| scale * rng.random_range(-1.0..1.0));
            let (origin, direction) = (P3::from(random(9.0)), random(1.0));
            let frame = Frame::identity();
            let sigma = if k % 2 == 0 { 0.2 } else { -0.2 };
            let primitive = match k % 5 {
                0..3 => Primitive::Circle { frame, radius: 6.0, sigma },
                3 => Primitive::Line { origin: frame.origin, dir: frame.z, sigma, slope: 0.0 },
                _ => Primitive::Line { origin: frame.origin, dir: frame.z, sigma, slope: 0.3 * sigma },
            };
            let Some(direction) = direction.try_normalize(1e-3) else { continue };
            let objective = Reduced::new(&primitive);
            let f = |t: f64| {
                let q = objective.probe(&(origin + direction * t))?;
                let d2 = q.bending.along(&direction);
                Some(Jet {
                    d1: q.grad.dot(&direction),
                    d2,
                    sharpness: q.sharpness,
                    speed: 1.0,
                    pull: 1.0,
                    own_third: q.sharpness * q.sharpness,
                })
            };
            let (t0, t1) = (-9.0, 9.0);
            let known = |i: usize| f(t0 + (t1 - t0) * i as f64 / CURVE_STEPS as f64);
            let mut minima_found = Vec::new();
            minima(&f, (t0, t1), &known, (0.0, NONE), &mut |t| minima_found.push(t));
            // A short piece that excludes a minimum rises or falls as a whole.
            let start = rng.random_range(-9.0..8.0);
            let ends = [start, start + 0.25, start + 0.5];
            let derivatives = DerivativeSamples { jets: ends.map(&f), width: 0.5, margin: 0.0, third: NONE };
            if derivatives.excludes_minimum(0.0) {
                plain += 1;
                let rises = |k: u32| f(start + 0.5 * f64::from(k) / 100.0).is_none_or(|jet| jet.d1 > 0.0);
                assert!(
                    (1..=100).all(|k| rises(k) == rises(0)),
                    "{start} of {primitive:?} along {origin} {direction}"
                );
            }
            // Minima that are an eighth of the leaf apart are guaranteed by the steps.
            let fine: Vec<(f64, f64)> = (0..=2000)
                .filter_map(|i| {
                    let t = t0 + (t1 - t0) * f64::from(i) / 2000.0;
                    f(t).map(|j| (t, j.d1))
                })
                .collect();
            for w in fine.windows(2).filter(|w| w[0].1 < 0.0 && w[1].1 >= 0.0 && w[1].1 - w[0].1 < 0.5) {
                let at = w[0].0;
                let wide = (t1 - t0) / 8.0;
                let others = fine.windows(2).filter(|v| {
                    let away = (v[0].0 - at).abs();
                    (v[0].1 < 0.0) != (v[1].1 < 0.0) && 0.0 < away && away < 2.0 * wide
                });
                if others.count() > 0 {
                    continue;
                }
                found += 1;
                assert!(
                    minima_found.iter().any(|t| (t - at).abs() < 0.02),
                    "{at} of {primitive:?} along {origin} {direction}: {minima_found:?}"
                );
            }
        }
        assert!(found > 3000 && plain > 500, "{found} {plain}");
    }

    /// Straight edges that pass by the axis of a small circle: the distance from it has two minima closer
    /// to each other than the steps, with equal signs of the derivative around them.
    #[test]
    fn finds_both_minima_beside_an_axis() {
        let mut rng = SmallRng::seed_from_u64(14);
        let (mut found, mut pairs) = (0, 0);
        for _ in 0..2_000 {
            let mut random = |scale: f64| V3::from_fn(|_, _| scale * rng.random_range(-1.0..1.0));
            let radius = 0.05 + 0.25 * random(1.0).x.abs();
            let circle = Primitive::Circle { frame: Frame::identity(), radius, sigma: 0.0 };
            let objective = Reduced::new(&circle);
            let Some(direction) = random(1.0).try_normalize(1e-3) else { continue };
            let origin = P3::from(random(0.5 * radius)) - direction * random(5.0).x;
            let f = |t: f64| {
                Jet::of(
                    &objective,
                    &CurveDerivs { p: origin + direction * t, d1: direction, d2: V3::zeros() },
                )
            };
            let (t0, t1) = (-9.0, 9.0);
            let known = |i: usize| f(t0 + (t1 - t0) * i as f64 / CURVE_STEPS as f64);
            let mut minima_found = Vec::new();
            minima(&f, (t0, t1), &known, (0.0, NONE), &mut |t| minima_found.push(t));
            let steps = 20_000;
            let fine: Vec<(f64, f64)> = (0..=steps)
                .filter_map(|i| {
                    let t = t0 + (t1 - t0) * f64::from(i) / f64::from(steps);
                    f(t).map(|jet| (t, jet.d1))
                })
                .collect();
            let expected: Vec<f64> =
                fine.windows(2).filter(|w| w[0].1 < 0.0 && w[1].1 >= 0.0).map(|w| w[0].0).collect();
            pairs += usize::from(expected.len() > 1);
            for at in expected {
                found += 1;
                assert!(
                    minima_found.iter().any(|t| (t - at).abs() < 2e-3),
                    "{at} beside a circle of {radius} along {origin} {direction}: {minima_found:?}"
                );
            }
        }
        assert!(found > 1_500 && pairs > 200, "{found} {pairs}");
    }

    /// An ellipse and a circle of about its curvature through two of its points that are closer to each
    /// other than the steps, in any plane through them and displaced by some micrometres: there is a
    /// minimum next to each point.
    #[test]
    fn finds_both_minima_beside_an_osculating_circle() {
        let mut rng = SmallRng::seed_from_u64(15);
        let (mut found, mut pairs) = (0, 0);
        for case in 0..2_000 {
            let mut random = |scale: f64| scale * rng.random_range(-1.0..1.0);
            let semi = [1.0 + 0.5 * random(1.0), 0.6 + 0.3 * random(1.0)];
            let ellipse = Curve::Ellipse { frame: Frame::identity(), semi_x: semi[0], semi_y: semi[1] };
            let first = 0.9 + 0.2 * random(1.0);
            let second = first + 0.055 + 0.035 * random(1.0);
            let [p, q] = [first, second].map(|t| ellipse.point(t));
            let at = ellipse.derivs(0.5 * (first + second));
            let tangent = at.d1.normalize();
            let bend = (at.d2 - tangent * tangent.dot(&at.d2)) / at.d1.norm_squared();
            let radius = (1.0 + random(0.2)) / bend.norm();
            // The plane is turned about the chord.
            let chord = q - p;
            let along = chord.normalize();
            let inwards = (bend - along * along.dot(&bend)).normalize();
            let (sin, cos) = math::sin_cos(random(0.5));
            let inwards = inwards * cos + along.cross(&inwards) * sin;
            let height = (radius * radius - 0.25 * chord.norm_squared()).sqrt();
            let moved = V3::new(random(5e-6), random(5e-6), random(5e-6));
            let center = nalgebra::center(&p, &q) + inwards * height + moved;
            let frame = Frame::from_z(center, along.cross(&inwards), None).expect("a frame");
            let objective = Reduced::new(&Primitive::Circle { frame, radius, sigma: 0.0 });
            let f = |t: f64| Jet::of(&objective, &ellipse.derivs(t));
            let (t0, t1) = (0.5, 1.3);
            let known = |i: usize| f(t0 + (t1 - t0) * i as f64 / CURVE_STEPS as f64);
            let mut minima_found = Vec::new();
            minima(&f, (t0, t1), &known, (0.0, Third { spread: 1.0, bend: 1.0 }), &mut |t| {
                minima_found.push(t)
            });
            let fine: Vec<(f64, f64)> = (0..=4_000)
                .filter_map(|i| {
                    let t = t0 + (t1 - t0) * f64::from(i) / 4_000.0;
                    f(t).map(|jet| (t, jet.d1))
                })
                .collect();
            let expected: Vec<f64> =
                fine.windows(2).filter(|w| w[0].1 < 0.0 && w[1].1 >= 0.0).map(|w| w[0].0).collect();
            pairs += usize::from(expected.len() > 1);
            for at in expected {
                found += 1;
                assert!(minima_found.iter().any(|t| (t - at).abs() < 4e-4), "{case}: {at}, {minima_found:?}");
            }
        }
        assert!(found > 2_500 && pairs > 1_000, "{found} {pairs}");
    }

    /// Arcs beside a waving line: if they exclude a minimum of the distance to the line, with the
    /// deviation of the wave, dense samples of the distance to the wave have none.
    #[test]
    fn minima_are_excluded_beside_waving_lines() {
        let mut rng = SmallRng::seed_from_u64(13);
        let (d_max, width) = (0.6, 0.3);
        let line = Primitive::Line { origin: P3::origin(), dir: V3::x(), sigma: 0.0, slope: 0.0 };
        let objective = Reduced::new(&line);
        let (mut plain, mut minima) = (0, 0);
        for _ in 0..4000 {
            let mut random = |lo: f64, hi: f64| rng.random_range(lo..hi);
            let (height, frequency, phase) = (random(0.0, 2e-3), random(1.0, 20.0), random(0.0, 6.3));
            let (angle, deviation) = (height * frequency, height);
            let wave = |s: f64| V3::new(s, 0.0, height * math::sin(frequency * s + phase));
            // Directions from almost perpendicular to almost parallel to the line.
            let tilt = random(-0.02, 0.02) * if random(0.0, 1.0) < 0.3 { 30.0 } else { 1.0 };
            let (p, first) = (V3::new(0.0, random(-0.3, 0.3), random(0.05, 0.5)), V3::new(1.0, tilt, -tilt));
            let second = V3::new(0.0, random(-0.3, 0.3), random(-0.3, 0.3));
            let arc = |t: f64| CurveDerivs {
                p: P3::from(p + first * t + second * (0.5 * t * t)),
                d1: first + second * t,
                d2: second,
            };
            let jets = [0.0, 0.5 * width, width].map(|t| Jet::of(&objective, &arc(t)));
            let derivatives = DerivativeSamples { jets, width, margin: 1e-5, third: NONE };
            let excludes_minimum = derivatives.excludes_minimum(2.0 * (angle * d_max + deviation));
            plain += usize::from(excludes_minimum);
            // The distance to the wave, from its foot by Newton.
            let distance = |t: f64| {
                let p = arc(t).p;
                let mut s = p.x;
                for _ in 0..8 {
                    let (sin, cos) = math::sin_cos(frequency * s + phase);
                    let tangent = V3::new(1.0, 0.0, height * frequency * cos);
                    let bend = V3::new(0.0, 0.0, -height * frequency * frequency * sin);
                    let from = wave(s) - p.coords;
                    s -= from.dot(&tangent) / (tangent.norm_squared() + from.dot(&bend));
                }
                (wave(s) - p.coords).norm()
            };
            let along: Vec<f64> = (0..=200).map(|i| distance(width * f64::from(i) / 200.0)).collect();
            let found = along.windows(3).filter(|w| w[1] < w[0] && w[1] < w[2] && w[1] < d_max).count();
            minima += found;
            assert!(
                !excludes_minimum || found == 0,
                "{found} minima beside {height} {frequency} {phase}: {p} {first} {second}"
            );
        }
        assert!(plain > 500 && minima > 100, "{plain} plain, {minima} minima");
    }
}
