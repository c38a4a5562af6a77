//! Minima of the distance between two parts of curves, and between a vertex and a part. Each minimum is
//! found at least once.
//!
//! The function to minimise is f(x, y) = ½ |w|², w = a(x) - b(y), over [0, 1]². A pair of parts is
//! rejected if the sign of a derivative proves that it has no minimum, and solved by Newton's method if
//! f is convex. If f is convex in one of the parameters only, its *valley* is followed: the minima in
//! that parameter, as a curve over the other one. All other pairs are bisected.
//!
//! # Source
//! BREP §3.5, (3.15), for the derivatives of f; Algorithm 13 for dynamic bisection.
//! # Deviations
//! - Signs of Bernstein coefficients replace cones (a combination of what Proposition 2 tests).
//! - Parts where f is nowhere convex are rejected, because saddles and maxima are not minima (BREP
//!   (3.15) keeps them).
//! - Convexity instead of flatness ends the bisection.
//! - Valleys are followed: where tubes lie side by side, f is nearly singular along a line, and
//!   bisection would not end.

use std::cell::Cell;

use feeler_geom::V3;

use crate::along::{self, END_TOLERANCE, Found, LevelThreshold, Slope};
use crate::part::{Part, are_apart, is_apart, turn_too_little};
use crate::piece::{At, Piece, Range, at, curvature, gradient, mixed, widened};
use crate::tree::Between;

/// Maximum number of bisections of a pair of parts; after that it counts as undecided. With a larger
/// value, undecided pairs are slower; with a smaller one, more pairs are undecided.
const MAX_BISECTIONS: u32 = 80;

/// Length of a Newton step (parameter) whose square is below rounding. With a smaller value, one more
/// step is made.
const NEGLIGIBLE_STEP: f64 = 1e-8;

/// Width (parameter) to which the interval around the point where a valley leaves a part is narrowed.
/// With a larger value, more minima are found twice (they are merged later); a smaller one takes more
/// iterations.
const CROSSING_WIDTH: f64 = 1e-9;

/// Maximum number of Newton steps before a pair is bisected instead. A smaller value leads to more
/// bisection.
const MAX_NEWTON_STEPS: usize = 12;

/// Parameters on both curves of a pair; for a curve and a solid, the first is that of the curve.
pub(crate) type ParamPair = [f64; 2];

/// Stretch of constant distance between two pairs of parameters, along one of the two curves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub ends: [ParamPair; 2],
    /// Change of the distance with length (mm per mm) at both ends, in the direction out of the stretch;
    /// positive if the distance increases there.
    pub outward: [f64; 2],
    /// Index of the curve along which the stretch runs: 0 or 1.
    pub along: usize,
    /// Index, among the areas of the solid's hierarchy, of the area of a free-form face opposite to the
    /// stretch; unused otherwise.
    pub area: u32,
}

/// Results found so far, with the cost of the search: strict minima, and stretches of constant distance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solutions {
    pub minima: Vec<ParamPair>,
    pub stretches: Vec<Stretch>,
    /// Number of visited pairs of tree nodes.
    pub n_nodes: usize,
    /// Number of examined pairs of parts, and (`n_undecided`) of those bisected to the end without a
    /// result.
    pub n_parts: usize,
    pub n_undecided: usize,
}

impl Solutions {
    pub(crate) fn clear(&mut self) {
        self.minima.clear();
        self.stretches.clear();
        self.n_nodes = 0;
        self.n_parts = 0;
        self.n_undecided = 0;
    }
}

/// Limits shared by all solves of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum distance between the curves (mm) of the minima that are searched for.
    pub reach: f64,
    pub level: LevelThreshold,
    /// Minimum length of a part that may be bisected (mm).
    pub min_length: f64,
}

/// Adds the minima between two parts of leaves, of two curves or of one curve, to `out`; `between` is
/// the turning between the leaves.
pub(crate) fn solve_parts<const N: usize, const M: usize>(
    a: &Part<N>,
    b: &Part<M>,
    between: Between,
    limits: &Limits,
    out: &mut Solutions,
) {
    solve(a, b, between, limits, MAX_BISECTIONS, out);
}

/// Adds the minima between a part and itself to `out`: those between its halves, and recursively those
/// of each half with itself. `around` is an upper bound of the turning (rad) of the rest of a closed
/// curve, infinite for an open one.
pub(crate) fn solve_itself<const N: usize>(a: &Part<N>, around: f64, limits: &Limits, out: &mut Solutions) {
    solve_self(a, Between { onward: 0.0, around }, limits, MAX_BISECTIONS / 2, out);
}

fn solve_self<const N: usize>(
    a: &Part<N>,
    between: Between,
    limits: &Limits,
    halvings: u32,
    out: &mut Solutions,
) {
    if a.turning() < std::f64::consts::PI {
        return;
    }
    if halvings == 0 || a.length() <= limits.min_length {
        // Only a part with a cusp reaches this depth. The cusp is reported as a tight bend instead.
        return;
    }
    let [l, r] = a.halves(true);
    let (inner_l, inner_r) = Part::facing(&l, &r);
    solve(&inner_l, &inner_r, between, limits, MAX_BISECTIONS, out);
    solve_self(&l, between, limits, halvings - 1, out);
    solve_self(&r, between, limits, halvings - 1, out);
}

fn solve<const N: usize, const M: usize>(
    a: &Part<N>,
    b: &Part<M>,
    between: Between,
    limits: &Limits,
    halvings: u32,
    out: &mut Solutions,
) {
    out.n_parts += 1;
    if are_apart(&a.control, &b.control, limits.reach) || turn_too_little(a, b, &between) {
        return;
    }
    if gradient(&a.control, &b.control).has_sign() || gradient(&b.control, &a.control).has_sign() {
        return;
    }
    let second = SecondDerivatives::of(a, b);
    if second.is_nowhere_convex() {
        return;
    }
    if second.is_convex() {
        match newton(a, b, limits) {
            Newton::Minimum(params) => {
                out.minima.push(params);
                return;
            }
            Newton::None => return,
            Newton::Level | Newton::Failed => {}
        }
    }
    let is_done = if second.prefers_along_first() {
        valley(a, b, &second.bb, &second.ab, limits, &mut |found| out.take(found, false))
            || valley(b, a, &second.aa, &second.ab, limits, &mut |found| out.take(found, true))
    } else {
        valley(b, a, &second.aa, &second.ab, limits, &mut |found| out.take(found, true))
            || valley(a, b, &second.bb, &second.ab, limits, &mut |found| out.take(found, false))
    };
    if is_done {
        return;
    }
    let (length_a, length_b) = (a.length(), b.length());
    if halvings == 0 || length_a.max(length_b) <= limits.min_length {
        out.n_undecided += 1;
        return;
    }
    if length_a >= length_b {
        for half in a.halves(between.can_reject()) {
            solve(&half, b, between, limits, halvings - 1, out);
        }
    } else {
        for half in b.halves(between.can_reject()) {
            solve(a, &half, between, limits, halvings - 1, out);
        }
    }
}

/// Ranges, over a pair of parts, of the second derivatives of f(x, y), half the squared distance: by x
/// twice, by y twice and by both.
struct SecondDerivatives {
    aa: Range,
    bb: Range,
    ab: Range,
}

/// Slack of the test that half the squared distance is nowhere convex: rounding error of the bounds of
/// its second derivatives, as a fraction of the sum of these. With a larger value, fewer saddles are
/// rejected; with a smaller one, stretches of constant distance, whose matrices are singular, are taken
/// for saddles.
const SINGULAR_ROUNDING: f64 = 1e-12;

impl SecondDerivatives {
    fn of<const N: usize, const M: usize>(a: &Part<N>, b: &Part<M>) -> Self {
        let (a, b) = (&a.control, &b.control);
        Self { aa: curvature(a, b), bb: curvature(b, a), ab: mixed(a, b) }
    }

    fn is_nowhere_convex(&self) -> bool {
        let slack = SINGULAR_ROUNDING * (self.aa.magnitude() + self.bb.magnitude() + self.ab.magnitude());
        let (aa, bb) = (self.aa.hi + slack, self.bb.hi + slack);
        let ab = (self.ab.min_magnitude() - slack).max(0.0);
        aa < 0.0 || bb < 0.0 || aa * bb < ab * ab
    }

    fn is_convex(&self) -> bool {
        let ab = self.ab.magnitude();
        self.aa.lo > 0.0 && self.bb.lo > 0.0 && self.aa.lo * self.bb.lo > ab * ab
    }

    /// Whether half the squared distance is more evenly convex in the second parameter (its smallest
    /// second derivative there is the larger fraction of its largest one), so that the valley is followed
    /// along the first parameter.
    fn prefers_along_first(&self) -> bool {
        self.bb.lo * self.aa.hi.abs() >= self.aa.lo * self.bb.hi.abs()
    }
}

/// Derivatives of f(x, y), half the squared distance of two pieces, at a pair of parameters: `a` and `b`
/// are the points on both pieces with their derivatives, and `w` is the first point minus the second
/// one.
struct Jet {
    a: At,
    b: At,
    w: V3,
    /// First derivatives of f by x (`fa`) and by y (`fb`).
    fa: f64,
    fb: f64,
    /// Second derivatives of f by x, by y, and by both.
    aa: f64,
    bb: f64,
    ab: f64,
}

fn jet<const N: usize, const M: usize>(a: &Piece<N>, b: &Piece<M>, x: f64, y: f64) -> Jet {
    jet_of(at(a, x), at(b, y))
}

fn jet_of(a: At, b: At) -> Jet {
    let w = a.p - b.p;
    Jet {
        fa: w.dot(&a.d),
        fb: -w.dot(&b.d),
        aa: a.d.norm_squared() + w.dot(&a.dd),
        bb: b.d.norm_squared() - w.dot(&b.dd),
        ab: -a.d.dot(&b.d),
        w,
        a,
        b,
    }
}

impl Jet {
    /// Smallest second derivative of the distance with respect to length along the curves (1/mm).
    fn min_second_derivative(&self) -> f64 {
        let (sa, sb) = (self.a.d.norm_squared(), self.b.d.norm_squared());
        let (aa, bb) = (self.aa / sa, self.bb / sb);
        let ab_sq = self.ab * self.ab / (sa * sb);
        // The smaller eigenvalue is computed from the determinant, which avoids cancellation.
        let (half, off) = (0.5 * (aa + bb), 0.25 * (aa - bb) * (aa - bb) + ab_sq);
        (aa * bb - ab_sq) / (half + off.sqrt()) / self.w.norm()
    }
}

enum Newton {
    Minimum(ParamPair),
    /// The smallest value over the parts is at an end of one of them, and the distance still decreases
    /// beyond that end, so the parts contain no minimum.
    None,
    /// The minimum lies in a valley along which the distance is nearly constant.
    Level,
    Failed,
}

/// Finds the minimum of half the squared distance of two parts, over which it must be convex, by Newton's
/// method confined to the unit square of their parameters.
fn newton<const N: usize, const M: usize>(a: &Part<N>, b: &Part<M>, limits: &Limits) -> Newton {
    let (mut x, mut y) = (0.5, 0.5);
    for _ in 0..MAX_NEWTON_STEPS {
        let j = jet(&a.control, &b.control, x, y);
        let det = j.aa * j.bb - j.ab * j.ab;
        if !(j.aa > 0.0 && det > 0.0) {
            return Newton::Failed;
        }
        let step = [(j.ab * j.fb - j.bb * j.fa) / det, (j.ab * j.fa - j.aa * j.fb) / det];
        let (to_x, to_y) = (x + step[0], y + step[1]);
        let inside = |t: f64| (-END_TOLERANCE..=1.0 + END_TOLERANCE).contains(&t);
        if step[0].abs().max(step[1].abs()) < 1e-9 && inside(to_x) && inside(to_y) {
            // This step is the last one: it squares the error.
            if j.min_second_derivative() * limits.level.length < limits.level.slope {
                return Newton::Level;
            }
            return Newton::Minimum([a.at(to_x), b.at(to_y)]);
        }
        let (nx, ny) = model_minimum(&j, x, y, to_x, to_y);
        if (nx - x).abs().max((ny - y).abs()) < 1e-13 {
            return Newton::None;
        }
        (x, y) = (nx, ny);
    }
    Newton::Failed
}

/// Returns the minimum over the unit square of the quadratic model of half the squared distance at (x,
/// y), which `j` defines and whose minimum over the whole plane is (`to_x`, `to_y`).
fn model_minimum(j: &Jet, x: f64, y: f64, to_x: f64, to_y: f64) -> (f64, f64) {
    let inside = |t: f64| (0.0..=1.0).contains(&t);
    if inside(to_x) && inside(to_y) {
        return (to_x, to_y);
    }
    let value = |nx: f64, ny: f64| {
        let (dx, dy) = (nx - x, ny - y);
        j.fa * dx + j.fb * dy + 0.5 * (j.aa * dx * dx + j.bb * dy * dy) + j.ab * dx * dy
    };
    // The model has one minimum on each side of the square; the smallest of the four is taken.
    let on_x = |nx: f64| (nx, (y - (j.fb + j.ab * (nx - x)) / j.bb).clamp(0.0, 1.0));
    let on_y = |ny: f64| ((x - (j.fa + j.ab * (ny - y)) / j.aa).clamp(0.0, 1.0), ny);
    let mut best = on_x(0.0);
    for place in [on_x(1.0), on_y(0.0), on_y(1.0)] {
        if value(place.0, place.1) < value(best.0, best.1) {
            best = place;
        }
    }
    best
}

/// Minimum or level stretch along a valley. The first parameter of each pair is that of the curve along
/// which the valley runs, the second one that of the other curve.
enum ValleyResult {
    Minimum(ParamPair),
    Level { ends: [ParamPair; 2], outward: [f64; 2] },
}

/// Follows the valley of half the squared distance along the part `p`: the points at which it is minimal
/// in the parameter of `q`. Passes the minima and level stretches on the valley to `take`. Half the
/// squared distance must be convex in the parameter of `q`. `qq` is the range of the second derivative in
/// that parameter, `pq` that of the mixed derivative. Returns false if the pair must be bisected first.
fn valley<const N: usize, const M: usize>(
    p: &Part<N>,
    q: &Part<M>,
    qq: &Range,
    pq: &Range,
    limits: &Limits,
    take: &mut impl FnMut(ValleyResult),
) -> bool {
    if qq.lo <= 0.0 {
        return false;
    }
    let (from, to, beyond) = match valley_range(&p.control, &q.control, qq, pq) {
        ValleyLocation::Within([from, to], beyond) => (from, to, beyond),
        ValleyLocation::None => return true,
        ValleyLocation::Unknown => return false,
    };
    // Last point of the valley (x, y) and its slope dy/dx, from which the next point is extrapolated.
    let last = Cell::new([0.5, 0.5, 0.0]);
    let across = |x: f64| {
        let [last_x, last_y, direction] = last.get();
        // f is convex in y between these bounds; the bracket keeps Newton's method inside them.
        let (mut lo, mut hi) = (-beyond, 1.0 + beyond);
        let mut y = (last_y + direction * (x - last_x)).clamp(lo, hi);
        let (a, mut b) = (at(&p.control, x), at(&q.control, y));
        for _ in 0..60 {
            let w = a.p - b.p;
            let slope = -w.dot(&b.d);
            let step = -slope / (b.d.norm_squared() - w.dot(&b.dd));
            if step.abs() < NEGLIGIBLE_STEP {
                break;
            }
            if slope < 0.0 {
                lo = y;
            } else {
                hi = y;
            }
            y = if lo <= y + step && y + step <= hi { y + step } else { 0.5 * (lo + hi) };
            b = at(&q.control, y);
        }
        let mut j = jet_of(a, b);
        // A last step changes the derivative to first order; the square of the step is below rounding.
        let step = if j.bb == 0.0 { 0.0 } else { -j.fb / j.bb };
        let step = step.clamp(-NEGLIGIBLE_STEP, NEGLIGIBLE_STEP);
        j.fa += j.ab * step;
        last.set([x, y + step, -j.ab / j.bb]);
        (j, y + step)
    };
    let mut slope = |x: f64| {
        let (j, _) = across(x);
        let speed = j.a.d.norm();
        let change = (j.aa * j.bb - j.ab * j.ab) / j.bb;
        Slope { p: x, value: j.fa, change, speed, scale: speed * j.w.norm() }
    };
    let mut found = |found: Found| match found {
        Found::Minimum(x) => {
            let (_, y) = across(x);
            // Beyond the end tolerance the next piece may have another shape, so the minimum is left to
            // it.
            if (-END_TOLERANCE..=1.0 + END_TOLERANCE).contains(&y) {
                take(ValleyResult::Minimum([p.at(x), q.at(y)]));
            }
        }
        Found::Level(from, to) => take(ValleyResult::Level {
            ends: [from.p, to.p].map(|x| [p.at(x), q.at(across(x).1)]),
            outward: [-from.value / from.scale, to.value / to.scale],
        }),
    };
    if to - from > END_TOLERANCE {
        along::minima(&mut slope, [from, to], &limits.level, &mut found);
    } else {
        let s = slope(0.5 * (from + to));
        if s.value.abs() <= END_TOLERANCE * s.change {
            found(Found::Minimum(s.p - s.value / s.change));
        }
    }
    true
}

/// Location of a valley in the unit square: x is the parameter along the valley, y the one in which half
/// the squared distance is convex.
enum ValleyLocation {
    /// The interval of x that contains the valley, and the maximum distance of y beyond the unit
    /// interval.
    Within([f64; 2], f64),
    /// The valley does not pass through the unit square.
    None,
    /// The location cannot be determined without bisection.
    Unknown,
}

/// Distance (parameter) beyond the unit interval of y within which valleys along its end are followed. A
/// larger value finds more minima twice (they are merged later); a smaller one causes needless
/// bisection.
const VALLEY_MARGIN: f64 = 0.25;

/// Determines the interval of the parameter x of `p` over which the valley, the points at which half the
/// squared distance is minimal in the parameter y of `q`, lies within the unit interval of y. `qq` is the
/// range of the second derivative by y, `pq` that of the mixed derivative.
fn valley_range<const N: usize, const M: usize>(
    p: &Piece<N>,
    q: &Piece<M>,
    qq: &Range,
    pq: &Range,
) -> ValleyLocation {
    // Derivative of f in y at both ends of y. It grows with y, and its zero is the valley.
    let ends = [at(q, 0.0), at(q, 1.0)];
    let across = |x: f64, end: usize| {
        let (p, q) = (at(p, x), &ends[end]);
        ((q.p - p.p).dot(&q.d), -p.d.dot(&q.d))
    };
    let slack = END_TOLERANCE * qq.hi;
    let is_below = |x: f64| across(x, 0).0 > slack;
    let is_above = |x: f64| across(x, 1).0 < -slack;
    if pq.has_sign() {
        // The valley rises in y if the mixed derivative is negative.
        let rises = pq.hi < 0.0;
        let (is_before, is_after) = (
            |x: f64| if rises { is_below(x) } else { is_above(x) },
            |x: f64| if rises { is_above(x) } else { is_below(x) },
        );
        if is_after(0.0) || is_before(1.0) {
            return ValleyLocation::None;
        }
        let (enters, leaves) = if rises { (0, 1) } else { (1, 0) };
        let from = if is_before(0.0) { crossing(&|x| across(x, enters), rises)[0] } else { 0.0 };
        let to = if is_after(1.0) { crossing(&|x| across(x, leaves), rises)[1] } else { 1.0 };
        return if from <= to {
            ValleyLocation::Within([from, to], 10.0 * END_TOLERANCE)
        } else {
            ValleyLocation::None
        };
    }
    let drift = 0.5 * pq.magnitude();
    if across(0.5, 0).0 > drift || across(0.5, 1).0 < -drift {
        return ValleyLocation::None;
    }
    // A valley along an end of y needs no bisection if f is also convex slightly beyond that end.
    let wide = widened(q, VALLEY_MARGIN);
    if curvature(&wide, p).lo <= 0.0 {
        return ValleyLocation::Unknown;
    }
    let drift = 0.5 * mixed(p, &wide).magnitude() / (1.0 + 2.0 * VALLEY_MARGIN);
    if jet(p, q, 0.5, -VALLEY_MARGIN).fb <= -drift && drift <= jet(p, q, 0.5, 1.0 + VALLEY_MARGIN).fb {
        ValleyLocation::Within([0.0, 1.0], VALLEY_MARGIN)
    } else {
        ValleyLocation::Unknown
    }
}

/// Returns a narrow interval around the zero in [0, 1] of a monotonic function. `f` returns its value
/// and derivative; `falls` is set if it decreases. The interval is so narrow that few minima inside it
/// are found twice.
fn crossing(f: &impl Fn(f64) -> (f64, f64), falls: bool) -> [f64; 2] {
    let (mut lo, mut hi) = (0.0, 1.0);
    let mut x: f64 = 0.5;
    // 60 bisections exhaust the bits of a double.
    for _ in 0..60 {
        let (value, slope) = f(x);
        if (value > 0.0) == falls {
            lo = x;
        } else {
            hi = x;
        }
        if hi - lo < CROSSING_WIDTH {
            break;
        }
        // A Newton step extended slightly, so that the bracket closes from both sides.
        let newton = x - value / slope;
        let over = newton + (newton - x).signum() * 0.25 * CROSSING_WIDTH;
        x = if lo < over && over < hi { over } else { 0.5 * (lo + hi) };
    }
    [lo, hi]
}

/// Passes the minima and level stretches of the distance between a point and a part to `out`, as
/// parameters of the part's curve. `n_parts` counts the examined parts.
pub(crate) fn solve_point<const M: usize>(
    point: &V3,
    b: &Part<M>,
    limits: &Limits,
    out: &mut impl FnMut(OnCurve),
    n_parts: &mut usize,
) {
    *n_parts += 1;
    if is_apart(point, &b.control, limits.reach) || gradient(&b.control, &[*point]).has_sign() {
        return;
    }
    let mut slope = |y: f64| {
        let at = at(&b.control, y);
        let w = at.p - point;
        let speed = at.d.norm();
        let (value, change) = (w.dot(&at.d), speed * speed + w.dot(&at.dd));
        Slope { p: y, value, change, speed, scale: speed * w.norm() }
    };
    let mut found = |found: Found| match found {
        Found::Minimum(y) => out(OnCurve::Minimum(b.at(y))),
        Found::Level(from, to) => out(OnCurve::Level {
            ends: [from.p, to.p].map(|y| b.at(y)),
            outward: [-from.value / from.scale, to.value / to.scale],
        }),
    };
    along::minima(&mut slope, [0.0, 1.0], &limits.level, &mut found);
}

/// Minimum or level stretch of the distance between a point and a curve, by parameters of the curve;
/// `outward` has the meaning of [`Stretch::outward`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnCurve {
    Minimum(f64),
    Level { ends: [f64; 2], outward: [f64; 2] },
}

impl Solutions {
    /// Stores the result of a valley, with its parameters in the order of the two curves; `swapped` is
    /// set if the valley runs along the second curve.
    fn take(&mut self, found: ValleyResult, swapped: bool) {
        let order = |[p, q]: ParamPair| if swapped { [q, p] } else { [p, q] };
        match found {
            ValleyResult::Minimum(params) => self.minima.push(order(params)),
            ValleyResult::Level { ends, outward } => {
                let along = usize::from(swapped);
                self.stretches.push(Stretch { ends: ends.map(order), outward, along, area: 0 });
            }
        }
    }
}
