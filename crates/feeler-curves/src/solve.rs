//! Minima of the distance between two parts, between a vertex and a part, each found at least once.
//!
//! f(x, y) = ½ |w|², w = a(x) - b(y), over [0, 1]². A pair of parts is left out where a sign shows that it
//! has no minimum, solved where f is convex, followed along its valley where f is convex in one of the
//! parameters, and halved otherwise.
//!
//! # Source
//! The derivatives of f as BREP §3.5, (3.15); dynamic halves as Algorithm 13.
//! # Deviations
//! - Signs of Bernstein coefficients instead of cones (a combination of what Proposition 2 tests).
//! - Parts are left out where f is nowhere convex: saddles and maxima are no minima (BREP (3.15) keeps them).
//! - Convexity instead of flatness says when to stop halving.
//! - Valleys: where tubes lie side by side, f is all but singular along a line, and no halving ends.

use std::cell::Cell;

use feeler_geom::V3;

use crate::along::{self, BEYOND, Found, Level, Slope};
use crate::part::{Part, are_apart, is_apart, turn_too_little};
use crate::piece::{At, Piece, Range, at, curvature, gradient, mixed, widened};
use crate::tree::Between;

/// Halvings of a pair of parts; after that it is counted as undecided.
const HALVINGS: u32 = 80;

/// A step of Newton's method whose square is less than rounding.
const SMALL: f64 = 1e-8;

/// Length of the interval around the place where a valley leaves a part.
const CROSSING: f64 = 1e-9;

/// Steps of Newton's method before a pair is halved instead.
const STEPS: usize = 12;

/// Where a minimum is: parameters on both curves.
pub(crate) type Places = [f64; 2];

/// Two places between which the distance is level, along one parameter of the two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub ends: [Places; 2],
    /// Change of the distance with length at the ends, going out of the stretch.
    pub outward: [f64; 2],
    /// 0 when it goes along the first curve, 1 along the second.
    pub along: usize,
    /// What of the other side it is opposite to: an area of a solid; 0 for curves.
    pub of: u32,
}

/// What solves give, and what they cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solutions {
    pub minima: Vec<Places>,
    pub stretches: Vec<Stretch>,
    /// Pairs of nodes that were visited.
    pub n_nodes: usize,
    /// Pairs of parts that were looked at, and those that were halved to the end without an answer.
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

/// What all solves of a query share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Largest distance of the curves (mm).
    pub reach: f64,
    pub level: Level,
    /// Smallest length of a part (mm).
    pub least: f64,
}

/// Minima of two parts of leaves.
pub(crate) fn solve_parts<const N: usize, const M: usize>(
    a: &Part<N>,
    b: &Part<M>,
    between: Between,
    limits: &Limits,
    out: &mut Solutions,
) {
    solve(a, b, between, limits, HALVINGS, out);
}

/// Minima of one part with itself: those of its halves with one another, and of each with itself. `around`:
/// upper bound of the turning of the rest of a closed curve.
pub(crate) fn solve_itself<const N: usize>(a: &Part<N>, around: f64, limits: &Limits, out: &mut Solutions) {
    itself(a, Between { onward: 0.0, around }, limits, HALVINGS / 2, out);
}

fn itself<const N: usize>(
    a: &Part<N>,
    between: Between,
    limits: &Limits,
    halvings: u32,
    out: &mut Solutions,
) {
    if a.turning() < std::f64::consts::PI {
        return;
    }
    if halvings == 0 || a.length() <= limits.least {
        // All but a cusp: told as a curvature that is too large for the radius.
        return;
    }
    let [l, r] = a.halves(true);
    let (inner_l, inner_r) = Part::facing(&l, &r);
    solve(&inner_l, &inner_r, between, limits, HALVINGS, out);
    itself(&l, between, limits, halvings - 1, out);
    itself(&r, between, limits, halvings - 1, out);
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
    let second = Second::of(a, b);
    if second.is_nowhere_convex() {
        return;
    }
    if second.is_convex() {
        match newton(a, b, limits) {
            Newton::Minimum(places) => {
                out.minima.push(places);
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
    if halvings == 0 || length_a.max(length_b) <= limits.least {
        out.n_undecided += 1;
        return;
    }
    if length_a >= length_b {
        for half in a.halves(between.matters()) {
            solve(&half, b, between, limits, halvings - 1, out);
        }
    } else {
        for half in b.halves(between.matters()) {
            solve(a, &half, between, limits, halvings - 1, out);
        }
    }
}

/// Ranges of the second derivatives of f over a pair of parts.
struct Second {
    aa: Range,
    bb: Range,
    ab: Range,
}

/// Part of a second derivative that rounding may take from a matrix that is singular.
const ROUNDING: f64 = 1e-12;

impl Second {
    fn of<const N: usize, const M: usize>(a: &Part<N>, b: &Part<M>) -> Self {
        let (a, b) = (&a.control, &b.control);
        Self { aa: curvature(a, b), bb: curvature(b, a), ab: mixed(a, b) }
    }

    fn is_nowhere_convex(&self) -> bool {
        let slack = ROUNDING * (self.aa.magnitude() + self.bb.magnitude() + self.ab.magnitude());
        let (aa, bb) = (self.aa.hi + slack, self.bb.hi + slack);
        let ab = (self.ab.least_magnitude() - slack).max(0.0);
        aa < 0.0 || bb < 0.0 || aa * bb < ab * ab
    }

    fn is_convex(&self) -> bool {
        let ab = self.ab.magnitude();
        self.aa.lo > 0.0 && self.bb.lo > 0.0 && self.aa.lo * self.bb.lo > ab * ab
    }

    /// Whether f is more evenly convex in the second parameter, so that its valley goes along the first one.
    fn prefers_along_first(&self) -> bool {
        self.bb.lo * self.aa.hi.abs() >= self.aa.lo * self.bb.hi.abs()
    }
}

/// f and its derivatives at a place of two parts.
struct Jet {
    a: At,
    b: At,
    w: V3,
    /// First derivatives.
    fa: f64,
    fb: f64,
    /// Second derivatives.
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
    /// Smallest second derivative of the distance with respect to length along the curves.
    fn least_bend(&self) -> f64 {
        let (sa, sb) = (self.a.d.norm_squared(), self.b.d.norm_squared());
        let (aa, bb) = (self.aa / sa, self.bb / sb);
        let ab_sq = self.ab * self.ab / (sa * sb);
        // Of the two eigenvalues the smaller one from the determinant, which keeps its digits.
        let (half, off) = (0.5 * (aa + bb), 0.25 * (aa - bb) * (aa - bb) + ab_sq);
        (aa * bb - ab_sq) / (half + off.sqrt()) / self.w.norm()
    }
}

enum Newton {
    Minimum(Places),
    /// The constrained minimum lies on the border and falls on beyond it.
    None,
    /// A minimum in a valley that is all but level.
    Level,
    Failed,
}

/// The minimum of f, convex over the two parts, by Newton's method kept within them.
fn newton<const N: usize, const M: usize>(a: &Part<N>, b: &Part<M>, limits: &Limits) -> Newton {
    let (mut x, mut y) = (0.5, 0.5);
    for _ in 0..STEPS {
        let j = jet(&a.control, &b.control, x, y);
        let det = j.aa * j.bb - j.ab * j.ab;
        if !(j.aa > 0.0 && det > 0.0) {
            return Newton::Failed;
        }
        let step = [(j.ab * j.fb - j.bb * j.fa) / det, (j.ab * j.fa - j.aa * j.fb) / det];
        let (to_x, to_y) = (x + step[0], y + step[1]);
        let inside = |t: f64| (-BEYOND..=1.0 + BEYOND).contains(&t);
        if step[0].abs().max(step[1].abs()) < 1e-9 && inside(to_x) && inside(to_y) {
            // The last step squares the error.
            if j.least_bend() * limits.level.length < limits.level.slope {
                return Newton::Level;
            }
            return Newton::Minimum([a.at(to_x), b.at(to_y)]);
        }
        let (nx, ny) = confined(&j, x, y, to_x, to_y);
        if (nx - x).abs().max((ny - y).abs()) < 1e-13 {
            return Newton::None;
        }
        (x, y) = (nx, ny);
    }
    Newton::Failed
}

/// The least place of the quadratic model of f in the unit square.
fn confined(j: &Jet, x: f64, y: f64, to_x: f64, to_y: f64) -> (f64, f64) {
    let inside = |t: f64| (0.0..=1.0).contains(&t);
    if inside(to_x) && inside(to_y) {
        return (to_x, to_y);
    }
    let value = |nx: f64, ny: f64| {
        let (dx, dy) = (nx - x, ny - y);
        j.fa * dx + j.fb * dy + 0.5 * (j.aa * dx * dx + j.bb * dy * dy) + j.ab * dx * dy
    };
    // On each side of the square the model is least at one place; of those the least one.
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

/// What a valley gives: parameters of the curve that it goes along, and of the other one.
enum InValley {
    Minimum(Places),
    Level { ends: [Places; 2], outward: [f64; 2] },
}

/// Follows the places of P where f is least in the parameter of Q, in which it is convex (`qq` has a positive
/// sign); false when nothing can be told without halving.
fn valley<const N: usize, const M: usize>(
    p: &Part<N>,
    q: &Part<M>,
    qq: &Range,
    pq: &Range,
    limits: &Limits,
    take: &mut impl FnMut(InValley),
) -> bool {
    if qq.lo <= 0.0 {
        return false;
    }
    let (from, to, beyond) = match valley_range(&p.control, &q.control, qq, pq) {
        Valley::Within([from, to], beyond) => (from, to, beyond),
        Valley::None => return true,
        Valley::Unknown => return false,
    };
    // The last place of the valley and its direction: where the next one is looked for.
    let last = Cell::new([0.5, 0.5, 0.0]);
    let across = |x: f64| {
        let [last_x, last_y, direction] = last.get();
        // f is convex in y between these: a bracket keeps Newton's method from leaving them.
        let (mut lo, mut hi) = (-beyond, 1.0 + beyond);
        let mut y = (last_y + direction * (x - last_x)).clamp(lo, hi);
        let (a, mut b) = (at(&p.control, x), at(&q.control, y));
        for _ in 0..60 {
            let w = a.p - b.p;
            let slope = -w.dot(&b.d);
            let step = -slope / (b.d.norm_squared() - w.dot(&b.dd));
            if step.abs() < SMALL {
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
        // What a last step changes to first order: its square is rounding.
        let step = if j.bb == 0.0 { 0.0 } else { -j.fb / j.bb };
        let step = step.clamp(-SMALL, SMALL);
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
            // Further beyond, the curve may go on in another way: that is the next part's.
            if (-BEYOND..=1.0 + BEYOND).contains(&y) {
                take(InValley::Minimum([p.at(x), q.at(y)]));
            }
        }
        Found::Level(from, to) => take(InValley::Level {
            ends: [from.p, to.p].map(|x| [p.at(x), q.at(across(x).1)]),
            outward: [-from.value / from.scale, to.value / to.scale],
        }),
    };
    if to - from > BEYOND {
        along::minima(&mut slope, [from, to], &limits.level, &mut found);
    } else {
        let s = slope(0.5 * (from + to));
        if s.value.abs() <= BEYOND * s.change {
            found(Found::Minimum(s.p - s.value / s.change));
        }
    }
    true
}

/// Where the valley is.
enum Valley {
    /// Over this part of the unit interval of x; y is in the unit interval, or beyond it by at most so much.
    Within([f64; 2], f64),
    /// Nowhere in the unit square.
    None,
    /// That cannot be told.
    Unknown,
}

/// How far beyond the unit interval valleys are followed that go along its end.
const WIDE: f64 = 0.25;

/// The part of the unit interval of x whose valley is within the unit interval of y.
fn valley_range<const N: usize, const M: usize>(
    p: &Piece<N>,
    q: &Piece<M>,
    qq: &Range,
    pq: &Range,
) -> Valley {
    // The slope across, which grows with y: its zero is the valley.
    let ends = [at(q, 0.0), at(q, 1.0)];
    let across = |x: f64, end: usize| {
        let (p, q) = (at(p, x), &ends[end]);
        ((q.p - p.p).dot(&q.d), -p.d.dot(&q.d))
    };
    let slack = BEYOND * qq.hi;
    let is_below = |x: f64| across(x, 0).0 > slack;
    let is_above = |x: f64| across(x, 1).0 < -slack;
    if pq.has_sign() {
        // The valley rises where the mixed derivative is negative.
        let rises = pq.hi < 0.0;
        let (is_before, is_after) = (
            |x: f64| if rises { is_below(x) } else { is_above(x) },
            |x: f64| if rises { is_above(x) } else { is_below(x) },
        );
        if is_after(0.0) || is_before(1.0) {
            return Valley::None;
        }
        let (enters, leaves) = if rises { (0, 1) } else { (1, 0) };
        let from = if is_before(0.0) { crossing(&|x| across(x, enters), rises)[0] } else { 0.0 };
        let to = if is_after(1.0) { crossing(&|x| across(x, leaves), rises)[1] } else { 1.0 };
        return if from <= to { Valley::Within([from, to], 10.0 * BEYOND) } else { Valley::None };
    }
    let drift = 0.5 * pq.magnitude();
    if across(0.5, 0).0 > drift || across(0.5, 1).0 < -drift {
        return Valley::None;
    }
    // Valleys along an end of y need no halving when f is convex a little beyond it, too.
    let wide = widened(q, WIDE);
    if curvature(&wide, p).lo <= 0.0 {
        return Valley::Unknown;
    }
    let drift = 0.5 * mixed(p, &wide).magnitude() / (1.0 + 2.0 * WIDE);
    if jet(p, q, 0.5, -WIDE).fb <= -drift && drift <= jet(p, q, 0.5, 1.0 + WIDE).fb {
        Valley::Within([0.0, 1.0], WIDE)
    } else {
        Valley::Unknown
    }
}

/// An interval of [0, 1] around the zero of a function that falls or rises there, given with its derivative:
/// so short that what is found in it twice, as it belongs to the neighbour, costs little.
fn crossing(f: &impl Fn(f64) -> (f64, f64), falls: bool) -> [f64; 2] {
    let (mut lo, mut hi) = (0.0, 1.0);
    let mut x: f64 = 0.5;
    // 60 bisections would use up the bits.
    for _ in 0..60 {
        let (value, slope) = f(x);
        if (value > 0.0) == falls {
            lo = x;
        } else {
            hi = x;
        }
        if hi - lo < CROSSING {
            break;
        }
        // Newton's step and a little more, so that the bracket closes from both sides.
        let newton = x - value / slope;
        let over = newton + (newton - x).signum() * 0.25 * CROSSING;
        x = if lo < over && over < hi { over } else { 0.5 * (lo + hi) };
    }
    [lo, hi]
}

/// Minima of the distance from a point to a part, as parameters of its curve.
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

/// What is found along one curve.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnCurve {
    Minimum(f64),
    Level { ends: [f64; 2], outward: [f64; 2] },
}

impl Solutions {
    /// Takes what a valley gives; `swapped` when it goes along the second curve.
    fn take(&mut self, found: InValley, swapped: bool) {
        let order = |[p, q]: Places| if swapped { [q, p] } else { [p, q] };
        match found {
            InValley::Minimum(places) => self.minima.push(order(places)),
            InValley::Level { ends, outward } => {
                let along = usize::from(swapped);
                self.stretches.push(Stretch { ends: ends.map(order), outward, along, of: 0 });
            }
        }
    }
}
