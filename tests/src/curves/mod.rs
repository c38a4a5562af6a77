//! Brute-force search for all local minima of the distance between two chains of Bézier pieces, or of one
//! chain with itself. It is the reference for feeler-curves and shares no code with it.
//!
//! The search minimises f(s, t) = ½ |A(s) - B(t)|² over the rectangle of both parameters. Free ends are
//! the border of the rectangle, corners are kinks of f. For every s of a grid all minima in t are found
//! exactly: the derivative of f in t is a polynomial in Bernstein form, whose roots are isolated by
//! Descartes' rule. If f falls and rises again along a branch of such minima, there is a minimum of both
//! parameters. The search is repeated with the roles of the chains swapped, and the results are merged.
//! For a curve with itself all pairs of parameters are searched, except the diagonal.
//!
//! # What the grid guarantees
//! Between neighbouring grid lines a branch is resolved if both ends descend to each other's basin, the
//! change of the slope along it agrees with the second derivatives (to a third of the change), and the
//! cubic through slopes and second derivatives keeps its sign by a tenth of its change, or increases
//! throughout. All other intervals are halved up to `MAX_HALVINGS` times. So the search can lose only a
//! minimum with its saddle (or the whole branch of both) shorter than a grid step in *both* directions,
//! without a trace at either neighbour. Over a step of h (mm) the slopes along the branch deviate from
//! the cubic by at most h² max|g‴|, so such a minimum is lower than its neighbourhood by at most h³
//! max|g‴|. The comparison uses a grid of 200 steps for each piece, and one of 1600 steps if the results
//! differ.
//!
//! [`Minimum::margin`] measures how strict a minimum is.

#![expect(clippy::float_cmp, reason = "parameters of joints are integers, signs are ±1")]

pub mod cases;
pub mod compare;

use feeler_geom::math;
use nalgebra::Vector3;

type V3 = Vector3<f64>;

/// Maximum number of halvings of a grid step.
const MAX_HALVINGS: u32 = 18;

/// Maximum number of lines beyond the grid in one search; a search that needs more is
/// [`Found::is_exhausted`].
const MAX_EXTRA_LINES: usize = 30_000;

/// Maximum angle (rad) between the directions at a joint that is not a corner, as defined by `Curve`.
const CORNER_ANGLE: f64 = 1e-6;

/// A chain of Bézier pieces.
#[derive(Clone, Debug)]
pub struct Chain {
    pieces: Vec<Piece>,
    is_closed: bool,
    /// Kind of each joint, in order; those of an open chain include both ends.
    kinds: Vec<Kind>,
    /// Largest distance (mm) of control points from the first one.
    size: f64,
}

/// Kind of the curve point at a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A smooth point.
    Smooth,
    /// A joint with a change of direction.
    Corner,
    /// A free end.
    End,
}

/// A piece, with the Bernstein coefficients of the derivative of its squared distance from a point `p`:
/// `own - (p - first control point) · lift`.
#[derive(Clone, Debug)]
struct Piece {
    control: Vec<V3>,
    own: Vec<f64>,
    lift: Vec<V3>,
}

/// Position and derivatives of a chain at a parameter.
#[derive(Clone, Copy, Debug)]
struct Jet {
    p: V3,
    d: V3,
    dd: V3,
}

/// A local minimum of the distance.
#[derive(Clone, Copy, Debug)]
pub struct Minimum {
    /// Parameters of the two points on their chains.
    pub u: [f64; 2],
    /// The two points.
    pub points: [V3; 2],
    /// Distance (mm) between the two points.
    pub distance: f64,
    /// Kinds of the two points.
    pub kinds: [Kind; 2],
    /// Strictness of the minimum, without unit: the smallest eigenvalue of the second derivatives of ½ d²
    /// with respect to length; at ends and corners also the smallest cosine between the chord and the
    /// outgoing directions.
    pub margin: f64,
    /// Whether f is larger at all samples of a ring around the minimum.
    pub is_seen: bool,
}

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// All minima, without duplicates.
    pub minima: Vec<Minimum>,
    /// Whether the distance is constant along some branch of minima in t.
    pub is_level: bool,
    /// Whether the search exceeded `MAX_EXTRA_LINES`, so that minima may be missing.
    pub is_exhausted: bool,
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

impl Piece {
    fn new(control: Vec<V3>) -> Self {
        let n = control.len() - 1;
        let mut own = vec![0.0; 2 * n];
        let mut lift = vec![V3::zeros(); 2 * n];
        for i in 0..n {
            let h = (control[i + 1] - control[i]) * n as f64;
            for j in 0..=n {
                let weight = binomial(n - 1, i) * binomial(n, j) / binomial(2 * n - 1, i + j);
                own[i + j] += weight * h.dot(&(control[j] - control[0]));
                lift[i + j] += weight * h;
            }
        }
        Self { control, own, lift }
    }

    fn jet(&self, x: f64) -> Jet {
        let n = self.control.len() - 1;
        let mut c = self.control.clone();
        let (mut d, mut dd) = (V3::zeros(), V3::zeros());
        for left in (1..=n).rev() {
            if left == 2 {
                dd = (c[2] - c[1] * 2.0 + c[0]) * (n * (n - 1)) as f64;
            }
            if left == 1 {
                d = (c[1] - c[0]) * n as f64;
            }
            for i in 0..left {
                c[i] = c[i] * (1.0 - x) + c[i + 1] * x;
            }
        }
        Jet { p: c[0], d, dd }
    }
}

impl Chain {
    /// A chain of control points in the order of `Curve::new`.
    #[must_use]
    pub fn new(degree: usize, points: &[V3], is_closed: bool) -> Self {
        let n = (points.len() - usize::from(!is_closed)) / degree;
        let piece = |k: usize| (0..=degree).map(|j| points[(k * degree + j) % points.len()]).collect();
        let pieces: Vec<Piece> = (0..n).map(|k| Piece::new(piece(k))).collect();
        let kind = |k: usize| {
            if !is_closed && (k == 0 || k == n) {
                return Kind::End;
            }
            let (before, after) = (&pieces[(k + n - 1) % n].control, &pieces[k % n].control);
            let distinct = |d: &V3| d.norm() > 0.0;
            let end = before[degree];
            let into = before.iter().rev().map(|p| end - p).find(distinct).unwrap_or_default();
            let out = after.iter().map(|p| p - after[0]).find(distinct).unwrap_or_default();
            if into.angle(&out) > CORNER_ANGLE { Kind::Corner } else { Kind::Smooth }
        };
        let kinds = (0..n + usize::from(!is_closed)).map(kind).collect();
        let size = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
        Self { pieces, is_closed, kinds, size }
    }

    /// Number of pieces, which is the length of the parameter range.
    #[must_use]
    pub fn n(&self) -> usize {
        self.pieces.len()
    }

    /// Largest distance (mm) of control points from the first one.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Returns the point at the parameter `u`.
    #[must_use]
    pub fn point(&self, u: f64) -> V3 {
        let (k, x) = self.place(u);
        self.pieces[k].jet(x).p
    }

    fn place(&self, u: f64) -> (usize, f64) {
        let u = self.wrapped(u);
        let k = (u.max(0.0) as usize).min(self.n() - 1);
        (k, u - k as f64)
    }

    fn wrapped(&self, u: f64) -> f64 {
        let n = self.n() as f64;
        if self.is_closed { u.rem_euclid(n) } else { u.clamp(0.0, n) }
    }

    /// Returns `u`, shifted into the range of a closed chain, and moved to a joint that is within
    /// rounding of it.
    fn snapped(&self, u: f64) -> f64 {
        let u = self.wrapped(u);
        if (u - u.round()).abs() <= 4.0 * f64::EPSILON * self.n() as f64 {
            self.wrapped(u.round())
        } else {
            u
        }
    }

    /// Returns the index of the joint exactly at the parameter `u`, if there is one.
    fn joint(&self, u: f64) -> Option<usize> {
        let k = u.round();
        (u == k).then(|| if self.is_closed { k as usize % self.n() } else { k as usize })
    }

    /// Returns the kind of the point at the parameter `u`.
    #[must_use]
    pub fn kind(&self, u: f64) -> Kind {
        self.joint(u).map_or(Kind::Smooth, |k| self.kinds[k])
    }

    /// Returns the distance between two parameters, along the shorter arc of a closed chain.
    #[must_use]
    pub fn apart(&self, s: f64, t: f64) -> f64 {
        let apart = (s - t).abs();
        if self.is_closed { apart.min(self.n() as f64 - apart) } else { apart }
    }

    /// Whether the derivative nearly vanishes at the parameter `u`, so that the chain has no direction
    /// there (a cusp).
    #[must_use]
    pub fn is_still(&self, u: f64) -> bool {
        self.sides(u).iter().flatten().any(|jet| jet.d.norm() < 1e-6 * self.size)
    }

    /// Position and derivatives before and after the parameter `u`; `None` beyond a free end.
    fn sides(&self, u: f64) -> [Option<Jet>; 2] {
        let Some(k) = self.joint(u) else {
            let (k, x) = self.place(u);
            let jet = self.pieces[k].jet(x);
            return [Some(jet), Some(jet)];
        };
        let n = self.n();
        let before = if k > 0 { Some(k - 1) } else { self.is_closed.then(|| n - 1) };
        let after = if k < n { Some(k) } else { None };
        [before.map(|k| self.pieces[k].jet(1.0)), after.map(|k| self.pieces[k].jet(0.0))]
    }
}

/// Signs of the first and the last nonzero Bernstein coefficient, and the number of sign changes of the
/// coefficients.
fn signs(c: &[f64]) -> (f64, f64, usize) {
    let (mut first, mut last, mut changes) = (0.0, 0.0, 0);
    for &c in c {
        if c != 0.0 {
            let sign = c.signum();
            if first == 0.0 {
                first = sign;
            } else if sign != last {
                changes += 1;
            }
            last = sign;
        }
    }
    (first, last, changes)
}

/// Maximum number of Bernstein coefficients: the number for the derivative of a squared distance from a
/// quintic.
const MAX_COEFFICIENTS: usize = 10;

/// Appends all sign changes of a polynomial in Bernstein form over [lo, hi], in order.
fn sign_changes(c: &[f64], lo: f64, hi: f64, depth: u32, out: &mut Vec<f64>) {
    let (first, last, changes) = signs(c);
    if changes == 0 {
        return;
    }
    if changes == 1 {
        out.push(lo + (hi - lo) * root(c, first));
        return;
    }
    let middle = 0.5 * (lo + hi);
    if depth == 0 {
        if first != last {
            out.push(middle);
        }
        return;
    }
    let n = c.len();
    let (mut l, mut r) = ([0.0; MAX_COEFFICIENTS], [0.0; MAX_COEFFICIENTS]);
    r[..n].copy_from_slice(c);
    for (k, l) in l.iter_mut().enumerate().take(n) {
        *l = r[0];
        for i in 0..n - 1 - k {
            r[i] = 0.5 * (r[i] + r[i + 1]);
        }
    }
    // The last value of level k is at n - 1 - k, which gives the right half.
    let (l, r) = (&l[..n], &r[..n]);
    sign_changes(l, lo, middle, depth - 1, out);
    if signs(l).1 * signs(r).0 < 0.0 {
        out.push(middle);
    }
    sign_changes(r, middle, hi, depth - 1, out);
}

/// The only root of a polynomial in (0, 1), by bracketed Newton steps. `first` is the sign of the
/// polynomial before the root.
fn root(c: &[f64], first: f64) -> f64 {
    let n = c.len();
    let value = |x: f64| {
        let mut w = [0.0; MAX_COEFFICIENTS];
        w[..n].copy_from_slice(c);
        let mut slope = 0.0;
        for left in (1..n).rev() {
            if left == 1 {
                slope = (w[1] - w[0]) * (n - 1) as f64;
            }
            for i in 0..left {
                w[i] = w[i] * (1.0 - x) + w[i + 1] * x;
            }
        }
        (w[0], slope)
    };
    let (mut lo, mut hi) = (0.0, 1.0);
    let mut x = 0.5;
    for k in 0..120 {
        let (v, slope) = value(x);
        if v == 0.0 {
            return x;
        }
        if v * first > 0.0 {
            lo = x
        } else {
            hi = x
        }
        let newton = x - v / slope;
        let next = if lo < newton && newton < hi && k % 8 != 7 { newton } else { 0.5 * (lo + hi) };
        if (next - x).abs() <= 1e-16 || hi - lo <= 1e-16 {
            return next;
        }
        x = next;
    }
    x
}

/// Alternating minima and maxima of the distance from a point along a chain, as parameters.
#[derive(Clone, Debug, Default)]
struct Profile {
    minima: Vec<f64>,
    maxima: Vec<f64>,
    is_closed: bool,
}

impl Profile {
    fn of(p: &V3, b: &Chain) -> Self {
        let mut out = Self { is_closed: b.is_closed, ..Self::default() };
        let mut roots = Vec::new();
        let mut ends = Vec::with_capacity(b.n());
        let mut at = |t: f64, falls: f64| if falls < 0.0 { out.minima.push(t) } else { out.maxima.push(t) };
        let mut c = [0.0; MAX_COEFFICIENTS];
        // Sign of the derivative at the end of the section processed until now. The distance counts as
        // falling before a free end.
        let mut last = if b.is_closed { 0.0 } else { -1.0 };
        for (k, piece) in b.pieces.iter().enumerate() {
            let n = piece.own.len();
            let from = p - piece.control[0];
            for ((c, own), lift) in c.iter_mut().zip(&piece.own).zip(&piece.lift) {
                *c = own - from.dot(lift);
            }
            let (first, end, _) = signs(&c[..n]);
            ends.push((first, end));
            if last * first < 0.0 {
                at(k as f64, last);
            }
            roots.clear();
            sign_changes(&c[..n], 0.0, 1.0, 48, &mut roots);
            let mut sign = first;
            for x in &roots {
                at(k as f64 + x, sign);
                sign = -sign;
            }
            if end != 0.0 {
                last = end;
            }
        }
        if b.is_closed {
            let first = ends.iter().map(|e| e.0).find(|s| *s != 0.0).unwrap_or(0.0);
            if last * first < 0.0 {
                // The joint at the start is the first in the list.
                if last < 0.0 { out.minima.insert(0, 0.0) } else { out.maxima.insert(0, 0.0) }
            }
        } else if last < 0.0 {
            at(b.n() as f64, last);
        }
        out
    }

    /// Index of the minimum to which a descent from the parameter `t` converges.
    fn basin(&self, t: f64) -> Option<usize> {
        let before = self.maxima.iter().filter(|m| **m < t).count();
        let n = self.minima.len();
        if !self.is_closed {
            return (n == self.maxima.len() + 1).then_some(before);
        }
        if n == 0 || n != self.maxima.len() {
            return None;
        }
        let starts_with_minimum = self.minima[0] < self.maxima[0];
        Some(if starts_with_minimum { before % n } else { (before + n - 1) % n })
    }
}

/// Point of a branch of minima in t, at one s.
#[derive(Clone, Copy, Debug)]
struct State {
    t: f64,
    q: V3,
    /// First and second derivative of f along the branch.
    slope: f64,
    bend: f64,
    is_joint: bool,
    /// Whether the point is on the diagonal of a curve with itself.
    is_trivial: bool,
}

/// All branches of minima in t at one s.
#[derive(Clone, Debug)]
struct Line {
    x: f64,
    a: Jet,
    profile: Profile,
    states: Vec<State>,
}

enum Between {
    Nothing,
    Minimum,
    Level,
    Unclear,
}

struct Search<'a> {
    a: &'a Chain,
    b: &'a Chain,
    is_itself: bool,
    size: f64,
    budget: usize,
    out: Found,
}

impl Search<'_> {
    fn line(&self, piece: usize, x: f64) -> Line {
        let a = self.a.pieces[piece].jet(x);
        let profile = Profile::of(&a.p, self.b);
        let s = piece as f64 + x;
        let state = |&t: &f64| {
            let (k, y) = self.b.place(t);
            let b = self.b.pieces[k].jet(y);
            let w = a.p - b.p;
            let is_joint = self.b.joint(t).is_some();
            let own = a.d.norm_squared() + w.dot(&a.dd);
            let mixed = a.d.dot(&b.d);
            let bend = if is_joint { own } else { own - mixed * mixed / (b.d.norm_squared() - w.dot(&b.dd)) };
            let is_trivial =
                self.is_itself && self.a.apart(self.a.wrapped(s), t) < 1e-7 && w.norm() < 1e-6 * self.size;
            State { t, q: b.p, slope: w.dot(&a.d), bend, is_joint, is_trivial }
        };
        let states = profile.minima.iter().map(state).collect();
        Line { x, a, profile, states }
    }

    /// Classifies a branch between two adjacent lines.
    fn between(&self, l: &Line, r: &Line, from: &State, to: &State) -> Between {
        let h = r.x - l.x;
        let scale = self.size * l.a.d.norm().max(r.a.d.norm());
        let c = [from.slope, from.slope + h / 3.0 * from.bend, to.slope - h / 3.0 * to.bend, to.slope];
        let hi = c.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lo = c.iter().copied().fold(f64::INFINITY, f64::min);
        if hi.max(-lo) <= 1e-14 * scale {
            return Between::Level;
        }
        let is_smooth = from.is_joint == to.is_joint
            && (!from.is_joint || from.t == to.t)
            && (to.slope - from.slope - 0.5 * h * (from.bend + to.bend)).abs() <= 0.3 * (hi - lo);
        if !is_smooth {
            return Between::Unclear;
        }
        let sure = 0.1 * (hi - lo);
        if lo > sure || hi < -sure {
            return Between::Nothing;
        }
        let rises = from.bend > 0.0 && to.bend > 0.0 && c[2] > c[1];
        if rises && from.slope < 0.0 && 0.0 < to.slope {
            return Between::Minimum;
        }
        let falls = from.bend < 0.0 && to.bend < 0.0 && c[2] < c[1];
        if falls && from.slope > 0.0 && 0.0 > to.slope {
            return Between::Nothing;
        }
        Between::Unclear
    }

    fn interval(&mut self, piece: usize, l: &Line, r: &Line, halvings: u32) {
        let mut is_clear = true;
        let mut is_linked = vec![false; r.states.len()];
        let mut minima = Vec::new();
        for (i, from) in l.states.iter().enumerate() {
            if from.is_trivial {
                continue;
            }
            let j = r.profile.basin(from.t).filter(|&j| l.profile.basin(r.states[j].t) == Some(i));
            let Some(j) = j else {
                is_clear = false;
                continue;
            };
            let to = &r.states[j];
            is_linked[j] = true;
            if to.is_trivial {
                is_clear = false;
                continue;
            }
            match self.between(l, r, from, to) {
                Between::Nothing => {}
                Between::Level => self.out.is_level = true,
                Between::Minimum => minima.push((*from, *to)),
                Between::Unclear => is_clear = false,
            }
        }
        is_clear &= r.states.iter().zip(&is_linked).all(|(s, linked)| *linked || s.is_trivial);
        if is_clear {
            for (from, to) in minima {
                self.solve(piece, l, r, &from, &to);
            }
            return;
        }
        if halvings > 0 && self.budget > 0 {
            self.budget -= 1;
            let m = self.line(piece, 0.5 * (l.x + r.x));
            self.interval(piece, l, &m, halvings - 1);
            self.interval(piece, &m, r, halvings - 1);
            return;
        }
        self.out.is_exhausted |= self.budget == 0;
        // At the last halving every branch that falls and rises again is solved.
        for from in l.states.iter().filter(|s| !s.is_trivial && s.slope <= 0.0) {
            let to = r.profile.basin(from.t).map(|j| r.states[j]);
            if let Some(to) = to.filter(|to| !to.is_trivial && to.slope >= 0.0) {
                self.solve(piece, l, r, from, &to);
            }
        }
        for to in r.states.iter().filter(|s| !s.is_trivial && s.slope >= 0.0) {
            let from = l.profile.basin(to.t).map(|i| l.states[i]);
            if let Some(from) = from.filter(|from| !from.is_trivial && from.slope <= 0.0) {
                self.solve(piece, l, r, &from, to);
            }
        }
    }

    /// Solves for the minimum on a branch along which f falls and rises between two lines.
    fn solve(&mut self, piece: usize, l: &Line, r: &Line, from: &State, to: &State) {
        let (mut lo, mut hi) = (l.x, r.x);
        let (mut x, mut state) = if -from.slope < to.slope { (l.x, *from) } else { (r.x, *to) };
        for _ in 0..80 {
            let newton = x - state.slope / state.bend;
            let next = if state.bend > 0.0 && lo < newton && newton < hi { newton } else { 0.5 * (lo + hi) };
            let moved = (next - x).abs();
            x = next;
            let line = self.line(piece, x);
            let Some(j) = line.profile.basin(state.t) else { break };
            state = line.states[j];
            if state.slope < 0.0 {
                lo = x;
            } else {
                hi = x;
            }
            if moved < 1e-13 {
                break;
            }
        }
        if !state.is_trivial {
            self.keep(piece as f64 + x, state.t, false);
        }
    }

    /// Refines the candidate `(s, t)` and stores it if it is a minimum.
    fn keep(&mut self, s: f64, t: f64, is_joint: bool) {
        let s_at = if is_joint { Some(s) } else { None };
        let t_at = self.b.joint(t).map(|_| t);
        let (s, t) = polished(self.a, self.b, s, t, s_at.is_some(), t_at.is_some());
        let (s, t) = (self.a.snapped(s), self.b.snapped(t));
        // At the end of a branch f may fall and rise without a minimum: it continues to fall to another
        // branch.
        if slope(self.a, self.b, s, t) <= 1e-9 {
            self.out.minima.push(minimum(self.a, self.b, s, t));
        }
    }

    fn run(&mut self, steps: usize) {
        let n = self.a.n();
        let mut ends: Vec<[Line; 2]> = Vec::with_capacity(n);
        for piece in 0..n {
            let first = self.line(piece, 0.0);
            let mut l = first.clone();
            for k in 1..=steps {
                let r = self.line(piece, k as f64 / steps as f64);
                self.interval(piece, &l, &r, MAX_HALVINGS);
                l = r;
            }
            ends.push([first, l]);
        }
        // A joint, corner or end is a candidate if f falls towards it and rises after it.
        for k in 0..=n {
            let before = if k > 0 { Some(k - 1) } else { self.a.is_closed.then(|| n - 1) };
            let after = if k < n { Some(k) } else { None };
            if k == n && self.a.is_closed {
                break;
            }
            let states = after.map_or_else(|| &ends[n - 1][1].states, |i| &ends[i][0].states).clone();
            for state in states.iter().filter(|s| !s.is_trivial) {
                let slope_in = |line: &Line| (line.a.p - state.q).dot(&line.a.d);
                let falls = before.is_none_or(|i| slope_in(&ends[i][1]) <= 0.0);
                let rises = after.is_none_or(|i| slope_in(&ends[i][0]) >= 0.0);
                if falls && rises {
                    self.keep(k as f64, state.t, true);
                }
            }
        }
    }
}

/// Newton's method from a point close to a minimum; `keep_s` and `keep_t` fix parameters at joints.
fn polished(a: &Chain, b: &Chain, s: f64, t: f64, keep_s: bool, keep_t: bool) -> (f64, f64) {
    let ((i, mut x), (j, mut y)) = (a.place(s), b.place(t));
    let (x0, y0) = (x, y);
    for _ in 0..8 {
        let (p, q) = (a.pieces[i].jet(x), b.pieces[j].jet(y));
        let w = p.p - q.p;
        let (fs, ft) = (w.dot(&p.d), -w.dot(&q.d));
        let (ss, tt) = (p.d.norm_squared() + w.dot(&p.dd), q.d.norm_squared() - w.dot(&q.dd));
        let st = -p.d.dot(&q.d);
        let (dx, dy) = match (keep_s, keep_t) {
            (true, true) => return (s, t),
            (true, false) => (0.0, -ft / tt),
            (false, true) => (-fs / ss, 0.0),
            (false, false) => {
                let det = ss * tt - st * st;
                ((st * ft - tt * fs) / det, (st * fs - ss * ft) / det)
            }
        };
        if !(dx.is_finite() && dy.is_finite()) {
            return (s, t);
        }
        (x, y) = (x + dx, y + dy);
        if dx.abs().max(dy.abs()) < 1e-16 {
            break;
        }
    }
    if (x - x0).abs().max((y - y0).abs()) > 1e-6 {
        return (s, t);
    }
    (
        if keep_s { s } else { i as f64 + x.clamp(0.0, 1.0) },
        if keep_t { t } else { j as f64 + y.clamp(0.0, 1.0) },
    )
}

/// Creates the record of the minimum at the parameters `s` and `t` of two chains.
#[must_use]
pub fn minimum(a: &Chain, b: &Chain, s: f64, t: f64) -> Minimum {
    let (p, q) = (a.point(s), b.point(t));
    let is_seen = is_seen(a, b, s, t);
    Minimum {
        u: [s, t],
        points: [p, q],
        distance: (p - q).norm(),
        kinds: [a.kind(s), b.kind(t)],
        margin: margin(a, b, s, t),
        is_seen,
    }
}

/// Largest change of the distance per length in smooth directions, or largest decrease in the outgoing
/// directions of kinks. The effect of rounding of the points is subtracted.
#[must_use]
pub fn slope(a: &Chain, b: &Chain, s: f64, t: f64) -> f64 {
    let (p, q) = (a.point(s), b.point(t));
    let w = p - q;
    let (d, size) = (w.norm(), p.norm().max(q.norm()).max(a.size).max(b.size));
    if d <= 1e-12 * size {
        return 0.0;
    }
    let mut largest = 0.0_f64;
    for (chain, u, w) in [(a, s, w), (b, t, -w)] {
        let is_kink = chain.kind(u) != Kind::Smooth;
        for (jet, sign) in chain.sides(u).iter().zip([-1.0, 1.0]) {
            if let Some(jet) = jet {
                let slope = sign * jet.d.dot(&w) / (jet.d.norm() * d);
                let slope = if is_kink { -slope } else { slope.abs() };
                largest = largest.max(slope - 1e-14 * size / d);
            }
        }
    }
    largest
}

/// Computes [`Minimum::margin`]; negative if the point is not a minimum.
fn margin(a: &Chain, b: &Chain, s: f64, t: f64) -> f64 {
    let (on_a, on_b) = (a.sides(s), b.sides(t));
    let (kind_a, kind_b) = (a.kind(s), b.kind(t));
    let mut smallest = f64::INFINITY;
    let w = a.point(s) - b.point(t);
    let (d, touches) = (w.norm(), w.norm() < 1e-12 * a.size.max(b.size));
    // f must increase in the outgoing directions of kinks.
    let out_of = |sides: &[Option<Jet>; 2], w: &V3| -> f64 {
        let mut smallest = f64::INFINITY;
        for (jet, sign) in sides.iter().zip([-1.0, 1.0]) {
            if let Some(jet) = jet {
                smallest = smallest.min(sign * jet.d.dot(w) / (jet.d.norm() * d));
            }
        }
        smallest
    };
    if !touches {
        if kind_a != Kind::Smooth {
            smallest = smallest.min(out_of(&on_a, &w));
        }
        if kind_b != Kind::Smooth {
            smallest = smallest.min(out_of(&on_b, &-w));
        }
    }
    for p in on_a.iter().flatten() {
        for q in on_b.iter().flatten() {
            let (sp, sq) = (p.d.norm(), q.d.norm());
            let aa = 1.0 + w.dot(&p.dd) / (sp * sp);
            let bb = 1.0 - w.dot(&q.dd) / (sq * sq);
            let ab = p.d.dot(&q.d) / (sp * sq);
            let both = aa * bb - ab * ab;
            let greater = 0.5 * (aa + bb) + (0.25 * (aa - bb) * (aa - bb) + ab * ab).sqrt();
            let eigen = both / greater;
            smallest = smallest.min(match (kind_a, kind_b) {
                _ if touches => eigen,
                (Kind::Smooth, Kind::Smooth) => eigen,
                (Kind::Smooth, _) => aa,
                (_, Kind::Smooth) => bb,
                _ => f64::INFINITY,
            });
        }
    }
    if smallest.is_nan() { 0.0 } else { smallest }
}

/// Whether f is larger at all samples of one of several rings around a point than at the point.
fn is_seen(a: &Chain, b: &Chain, s: f64, t: f64) -> bool {
    let speed = |c: &Chain, u: f64| c.sides(u).iter().flatten().map(|j| j.d.norm()).fold(0.0, f64::max);
    let (va, vb) = (speed(a, s), speed(b, t));
    if va == 0.0 || vb == 0.0 {
        return false;
    }
    let size = a.size.max(b.size);
    let distance = (a.point(s) - b.point(t)).norm();
    let clamped = |c: &Chain, u: f64| if c.is_closed { c.wrapped(u) } else { u.clamp(0.0, c.n() as f64) };
    [1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6].iter().any(|r| {
        (0..96).all(|k| {
            let (sin, cos) = math::sin_cos(std::f64::consts::TAU * f64::from(k) / 96.0);
            let (u, v) = (clamped(a, s + r * size * cos / va), clamped(b, t + r * size * sin / vb));
            // Samples beyond the border of the parameter rectangle are skipped.
            let moved = (a.apart(u, s) * va).max(b.apart(v, t) * vb);
            moved < 1e-3 * r * size || (a.point(u) - b.point(v)).norm() > distance
        })
    })
}

/// All local minima of the distance between two chains, with `steps` grid lines for each piece of either
/// chain.
#[must_use]
pub fn minima(a: &Chain, b: &Chain, steps: usize) -> Found {
    let mut out = scan(a, b, steps, false);
    let back = scan(b, a, steps, false);
    out.is_level |= back.is_level;
    out.is_exhausted |= back.is_exhausted;
    let swapped = |m: &Minimum| Minimum {
        u: [m.u[1], m.u[0]],
        points: [m.points[1], m.points[0]],
        kinds: [m.kinds[1], m.kinds[0]],
        ..*m
    };
    out.minima.extend(back.minima.iter().map(swapped));
    merge(a, b, false, &mut out);
    out
}

/// All local minima of the distance of a chain from itself, except the diagonal, with the smaller
/// parameter first; `steps` as in [`minima`].
#[must_use]
pub fn minima_itself(a: &Chain, steps: usize) -> Found {
    let mut out = scan(a, a, steps, true);
    for m in &mut out.minima {
        if m.u[1] < m.u[0] {
            m.u.reverse();
            m.points.reverse();
            m.kinds.reverse();
        }
    }
    out.minima.retain(|m| a.apart(m.u[0], m.u[1]) > 1e-6);
    merge(a, a, true, &mut out);
    out
}

fn scan(a: &Chain, b: &Chain, steps: usize, is_itself: bool) -> Found {
    let size = a.size.max(b.size).max((a.point(0.0) - b.point(0.0)).norm());
    let mut search = Search { a, b, is_itself, size, budget: MAX_EXTRA_LINES, out: Found::default() };
    search.run(steps);
    search.out
}

/// Whether two pairs of parameters are the same minimum within `tolerance`.
#[must_use]
pub fn is_same(a: &Chain, b: &Chain, p: [f64; 2], q: [f64; 2], tolerance: f64) -> bool {
    let is_near = |c: &Chain, u: f64, v: f64| {
        c.apart(u, v) < 1e-2 * c.n() as f64 && (c.point(u) - c.point(v)).norm() <= tolerance
    };
    is_near(a, p[0], q[0]) && is_near(b, p[1], q[1])
}

fn merge(a: &Chain, b: &Chain, is_itself: bool, found: &mut Found) {
    let size = a.size.max(b.size);
    let mut kept: Vec<Minimum> = Vec::new();
    // Kinks come first, because a smooth duplicate beside a kink may just have reached it; then the
    // stricter minima.
    let rank = |m: &Minimum| m.kinds.iter().filter(|k| **k == Kind::Smooth).count();
    found.minima.sort_by(|p, q| rank(p).cmp(&rank(q)).then(q.margin.total_cmp(&p.margin)));
    for m in &found.minima {
        let turned = [m.u[1], m.u[0]];
        let is_known = |k: &Minimum| {
            is_same(a, b, k.u, m.u, 1e-7 * size) || is_itself && is_same(a, b, k.u, turned, 1e-7 * size)
        };
        if !kept.iter().any(is_known) {
            kept.push(*m);
        }
    }
    kept.sort_by(|p, q| p.u[0].total_cmp(&q.u[0]).then(p.u[1].total_cmp(&q.u[1])));
    found.minima = kept;
}
