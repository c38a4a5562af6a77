//! Cubic Bézier pieces in the parameter plane.
//!
//! # Source
//! BREP §4.4.1 (bi-monotone pieces, bisection in v).

use arrayvec::ArrayVec;

use crate::{P2, Rect, V2};

/// Piece of a trimming curve: a cubic Bézier curve in the parameter plane, with the domain on its left
/// when traversed from the first to the last control point (`u` to the right, `v` up).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrimPiece {
    /// Control points (u, v) of the cubic.
    pub control: [P2; 4],
    /// Tag of the piece (usually the index of its edge), which is copied to all parts of the piece.
    pub edge: u32,
    /// Largest measured distance in space (mm) between this piece, mapped to the surface, and its edge.
    pub deviation: f64,
}

#[cfg(feature = "serde")]
crate::record!(TrimPiece { control: [P2; 4], edge: u32, deviation: f64 });

/// Computes `a + t (b - a)`. It is exact for equal ends, so pieces on a line of constant u or v stay on
/// it bit for bit.
fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a + t * (b - a)
}

/// Value at `t` of the cubic with Bernstein coefficients `c`, exact at 0 and 1.
#[expect(clippy::float_cmp, reason = "exactly the end")]
pub(super) fn bernstein3(c: [f64; 4], t: f64) -> f64 {
    if t == 1.0 {
        return c[3];
    }
    let (a, b, d) = (lerp(c[0], c[1], t), lerp(c[1], c[2], t), lerp(c[2], c[3], t));
    lerp(lerp(a, b, t), lerp(b, d, t), t)
}

/// Value and derivative at `t` of the cubic with Bernstein coefficients `c`.
fn bernstein3_d(c: [f64; 4], t: f64) -> (f64, f64) {
    let (a, b, d) = (lerp(c[0], c[1], t), lerp(c[1], c[2], t), lerp(c[2], c[3], t));
    let (a, b) = (lerp(a, b, t), lerp(b, d, t));
    (lerp(a, b, t), 3.0 * (b - a))
}

/// Roots in (0, 1) of the derivative of the cubic with Bernstein coefficients `c`, increasing.
fn extrema(c: [f64; 4]) -> ArrayVec<f64, 2> {
    let (p, q, r) = (c[1] - c[0], c[2] - c[1], c[3] - c[2]);
    // p (1-t)² + 2 q t (1-t) + r t² = a t² + 2 b t + p
    let (a, b) = (p - 2.0 * q + r, q - p);
    let disc = q * q - p * r;
    let mut out = ArrayVec::new();
    if disc < 0.0 || !disc.is_finite() {
        return out;
    }
    // Adding terms of equal sign avoids cancellation; the other root follows from the product of both.
    let s = -(b + disc.sqrt().copysign(b));
    let mut roots = [s / a, p / s];
    if roots[1] < roots[0] {
        roots.swap(0, 1);
    }
    for t in roots {
        // Closer to an end than this, the excursion is of the order of 1e-24 of the piece.
        if 1e-12 < t && t < 1.0 - 1e-12 && out.last().is_none_or(|l| t - l > 1e-12) {
            out.push(t);
        }
    }
    out
}

/// Parameter in [0, 1] where the monotone cubic with Bernstein coefficients `c` takes the value `x`, or
/// the nearer end if `x` is out of range. The method is Newton's in a shrinking bracket, with bisection
/// if a step does not halve the residual. It stops when the parameter or the value is accurate to about
/// one unit in the last place, after at most 80 steps.
pub(super) fn solve_monotone(c: [f64; 4], x: f64) -> f64 {
    let sign = if c[3] >= c[0] { 1.0 } else { -1.0 };
    let f = c.map(|c| sign * (c - x));
    if f[0] >= 0.0 {
        return 0.0;
    }
    if f[3] <= 0.0 {
        return 1.0;
    }
    let (mut a, mut b) = (0.0_f64, 1.0_f64);
    let mut t = -f[0] / (f[3] - f[0]);
    let mut last = f64::INFINITY;
    // Values below this are rounding errors, whose signs would mislead the search.
    let noise = f64::EPSILON * 0.5 * (f[3] - f[0]);
    for _ in 0..80 {
        let (y, dy) = bernstein3_d(f, t);
        if y.abs() <= noise {
            return t;
        }
        if y < 0.0 {
            a = t;
        } else {
            b = t;
        }
        let mut next = t - y / dy;
        if !(a < next && next < b) || y.abs() > 0.5 * last {
            next = 0.5 * (a + b);
        }
        last = y.abs();
        if (next - t).abs() <= f64::EPSILON * 0.5 * t || b - a <= f64::EPSILON * a {
            return next;
        }
        t = next;
    }
    t
}

/// Binomial coefficients of degree 3.
pub(super) const BINOMIAL3: [f64; 4] = [1.0, 3.0, 3.0, 1.0];
/// Binomial coefficients of degree 6.
const BINOMIAL6: [f64; 7] = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];

impl TrimPiece {
    /// Creates a piece with deviation 0.
    #[must_use]
    pub fn new(control: [P2; 4], edge: u32) -> Self {
        Self { control, edge, deviation: 0.0 }
    }

    /// Creates the straight piece from `a` to `b` with constant speed.
    #[must_use]
    pub fn line(a: P2, b: P2, edge: u32) -> Self {
        let at = |t: f64| P2::new(lerp(a.x, b.x, t), lerp(a.y, b.y, t));
        Self::new([a, at(1.0 / 3.0), at(2.0 / 3.0), b], edge)
    }

    /// Returns the vector from start to end if the piece is straight with constant speed, up to
    /// rounding, and `None` otherwise.
    pub(crate) fn straight(&self) -> Option<V2> {
        let [a, b, c, d] = self.control;
        let along = d - a;
        let off = ((b - a) * 3.0 - along).amax().max(((c - d) * 3.0 + along).amax());
        let scale = a.coords.amax().max(d.coords.amax());
        (off <= 16.0 * f64::EPSILON * scale).then_some(along)
    }

    /// Creates the cubic from `p0` to `p1` with the derivatives `d0` and `d1` at its ends, by its
    /// parameter in [0, 1].
    #[must_use]
    pub fn hermite(p0: P2, d0: V2, p1: P2, d1: V2, edge: u32) -> Self {
        Self::new([p0, p0 + d0 / 3.0, p1 - d1 / 3.0, p1], edge)
    }

    /// Bernstein coefficients of degree 6 of the squared distance of the piece's points from `from`.
    /// `dot` is the scalar product that defines the distance.
    #[must_use]
    pub fn squared_distance(&self, from: &P2, dot: impl Fn(V2, V2) -> f64) -> [f64; 7] {
        let r = self.control.map(|c| c - from);
        let mut out = [0.0; 7];
        for i in 0..4 {
            for j in 0..4 {
                out[i + j] += BINOMIAL3[i] * BINOMIAL3[j] * dot(r[i], r[j]) / BINOMIAL6[i + j];
            }
        }
        out
    }

    /// Bernstein coefficients of u as a function of the piece's parameter.
    #[must_use]
    pub fn us(&self) -> [f64; 4] {
        self.control.map(|p| p.x)
    }

    /// Bernstein coefficients of v as a function of the piece's parameter.
    #[must_use]
    pub fn vs(&self) -> [f64; 4] {
        self.control.map(|p| p.y)
    }

    /// Start of the piece: its point (u, v) at parameter 0.
    #[must_use]
    pub fn start(&self) -> P2 {
        self.control[0]
    }

    /// End of the piece: its point (u, v) at parameter 1.
    #[must_use]
    pub fn end(&self) -> P2 {
        self.control[3]
    }

    /// Point at `t` in [0, 1]; exact at the ends.
    #[must_use]
    pub fn eval(&self, t: f64) -> P2 {
        P2::new(bernstein3(self.us(), t), bernstein3(self.vs(), t))
    }

    /// First derivative by the parameter at `t`.
    #[must_use]
    pub fn derivative(&self, t: f64) -> V2 {
        V2::new(bernstein3_d(self.us(), t).1, bernstein3_d(self.vs(), t).1)
    }

    /// Second derivative by the parameter at `t`.
    #[must_use]
    pub fn second_derivative(&self, t: f64) -> V2 {
        let [a, b, c, d] = self.control.map(|p| p.coords);
        (a - b * 2.0 + c).lerp(&(b - c * 2.0 + d), t) * 6.0
    }

    /// Returns the parts before and after `t`, which contain the same point at the cut.
    #[must_use]
    pub fn split(&self, t: f64) -> (Self, Self) {
        let mix = |a: P2, b: P2| P2::new(lerp(a.x, b.x, t), lerp(a.y, b.y, t));
        let [p0, p1, p2, p3] = self.control;
        let (a, b, c) = (mix(p0, p1), mix(p1, p2), mix(p2, p3));
        let (d, e) = (mix(a, b), mix(b, c));
        let m = mix(d, e);
        (Self { control: [p0, a, d, m], ..*self }, Self { control: [m, e, c, p3], ..*self })
    }

    /// Returns the parts between consecutive `cuts` (increasing, in (0, 1)).
    #[must_use]
    pub fn split_at(&self, cuts: &[f64]) -> Vec<Self> {
        let mut out = Vec::with_capacity(cuts.len() + 1);
        self.split_into(cuts, |part| out.push(part));
        out
    }

    /// Passes the parts of [`TrimPiece::split_at`] to a callback one by one.
    fn split_into(&self, cuts: &[f64], mut part: impl FnMut(Self)) {
        let (mut rest, mut t0) = (*self, 0.0);
        for &t in cuts {
            let (a, b) = rest.split((t - t0) / (1.0 - t0));
            part(a);
            (rest, t0) = (b, t);
        }
        part(rest);
    }

    /// Returns the part over `[t0, t1]`, `0 ≤ t0 < t1 ≤ 1`.
    #[must_use]
    pub fn part(&self, t0: f64, t1: f64) -> Self {
        let tail = if t0 > 0.0 { self.split(t0).1 } else { *self };
        if t1 < 1.0 { tail.split((t1 - t0) / (1.0 - t0)).0 } else { tail }
    }

    /// Returns the piece with the opposite direction.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let [a, b, c, d] = self.control;
        Self { control: [d, c, b, a], ..*self }
    }

    /// Returns the piece translated by `d` in the parameter plane.
    #[must_use]
    pub fn translated(&self, d: V2) -> Self {
        self.mapped(|p| p + d)
    }

    /// Returns the piece mapped by an affine map of the parameter plane. A mirroring map swaps left and
    /// right, so the caller must also reverse the piece.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(P2) -> P2) -> Self {
        Self { control: self.control.map(map), ..*self }
    }

    /// Whether the control points and the deviation are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.control.iter().all(|p| p.x.is_finite() && p.y.is_finite()) && self.deviation.is_finite()
    }

    /// Smallest rectangle around the curve (not around its control points), rounded outward.
    #[must_use]
    pub fn bounds(&self) -> Rect {
        let span = |c: [f64; 4]| {
            let (mut lo, mut hi) = (c[0].min(c[3]), c[0].max(c[3]));
            // The curve stays within the range of its control values; a monotone one needs no rounding.
            let big = 4.0 * f64::EPSILON * c.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for t in extrema(c) {
                let x = bernstein3(c, t);
                lo = lo.min(x - big);
                hi = hi.max(x + big);
            }
            (lo, hi)
        };
        let ((u0, u1), (v0, v1)) = (span(self.us()), span(self.vs()));
        Rect { u0, u1, v0, v1 }
    }

    /// Increasing parameters in (0, 1) that cut the piece into parts monotone in u and in v.
    #[must_use]
    pub fn monotone_cuts(&self) -> ArrayVec<f64, 4> {
        let mut cuts: ArrayVec<f64, 4> = extrema(self.us()).into_iter().chain(extrema(self.vs())).collect();
        cuts.sort_by(f64::total_cmp);
        let mut out: ArrayVec<f64, 4> = ArrayVec::new();
        for t in cuts {
            if out.last().is_none_or(|l| t - l > 1e-12) {
                out.push(t);
            }
        }
        out
    }

    /// Returns the parts of the piece between its [`monotone_cuts`](Self::monotone_cuts), each monotone
    /// in u and in v.
    #[must_use]
    pub fn monotone_parts(&self) -> ArrayVec<Self, 5> {
        let mut out = ArrayVec::new();
        self.split_into(&self.monotone_cuts(), |part| out.push(part));
        out
    }

    /// Returns the u of the point of a piece, which must be monotone in v, that has the given v. Returns
    /// the u of the nearer end if `v` is out of range.
    #[must_use]
    pub fn u_at_v(&self, v: f64) -> f64 {
        bernstein3(self.us(), solve_monotone(self.vs(), v))
    }

    /// Returns the v of the point of a piece, which must be monotone in u, that has the given u. Returns
    /// the v of the nearer end if `u` is out of range.
    #[must_use]
    pub fn v_at_u(&self, u: f64) -> f64 {
        bernstein3(self.vs(), solve_monotone(self.us(), u))
    }

    /// Number of equal parameter steps, at most 4096, with which no chord deviates from its arc by more than
    /// `tol`, a distance in the parameter plane.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 1..=4096")]
    pub fn chord_steps(&self, tol: f64) -> usize {
        let [a, b, c, d] = self.control.map(|p| p.coords);
        // |B''| ≤ 6 max second difference; a chord over h deviates by at most h² |B''| / 8.
        let bend = (a - b * 2.0 + c).norm().max((b - c * 2.0 + d).norm());
        let n = (0.75 * bend / tol).sqrt().ceil();
        if n.is_finite() { n.clamp(1.0, 4096.0) as usize } else { 4096 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    fn random(rng: &mut SmallRng) -> TrimPiece {
        TrimPiece::new([(); 4].map(|()| P2::new(rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0))), 7)
    }

    #[test]
    fn parts_trace_the_same_curve() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..500 {
            let p = random(&mut rng);
            let (t0, t1) = (rng.random_range(0.0..0.5), rng.random_range(0.5..1.0));
            let q = p.part(t0, t1);
            let s: f64 = rng.random_range(0.0..1.0);
            assert!((q.eval(s) - p.eval(t0 + s * (t1 - t0))).norm() < 1e-14);
            assert!((p.reversed().eval(s) - p.eval(1.0 - s)).norm() < 1e-14);
            let h = 1e-6;
            let fd = (p.eval(s + h) - p.eval(s - h)) / (2.0 * h);
            assert!((fd - p.derivative(s)).norm() < 1e-8);
            let fd = (p.derivative(s + h) - p.derivative(s - h)) / (2.0 * h);
            assert!((fd - p.second_derivative(s)).norm() < 1e-7);
        }
    }

    #[test]
    fn hermite_and_line_hit_their_data() {
        let (a, b) = (P2::new(1.0, 2.0), P2::new(-3.0, 5.0));
        let h = TrimPiece::hermite(a, V2::new(1.0, -1.0), b, V2::new(0.5, 4.0), 0);
        assert!((h.derivative(0.0) - V2::new(1.0, -1.0)).norm() < 1e-14);
        assert!((h.derivative(1.0) - V2::new(0.5, 4.0)).norm() < 1e-14);
        let l = TrimPiece::line(a, b, 0);
        assert!((l.eval(0.3) - (a + (b - a) * 0.3)).norm() < 1e-15);
        assert_eq!(l.chord_steps(1e-9), 1);
    }

    #[test]
    fn bounds_are_exact_and_contain_the_curve() {
        let mut rng = SmallRng::seed_from_u64(2);
        for _ in 0..500 {
            let p = random(&mut rng);
            let b = p.bounds();
            let mut tight = Rect { u0: f64::MAX, u1: f64::MIN, v0: f64::MAX, v1: f64::MIN };
            for i in 0..=2000 {
                let q = p.eval(f64::from(i) / 2000.0);
                assert!(b.u0 <= q.x && q.x <= b.u1 && b.v0 <= q.y && q.y <= b.v1);
                tight.u0 = tight.u0.min(q.x);
                tight.v1 = tight.v1.max(q.y);
            }
            assert!(tight.u0 - b.u0 < 1e-5 && b.v1 - tight.v1 < 1e-5);
        }
    }

    #[test]
    fn monotone_parts_are_monotone_and_invertible() {
        let mut rng = SmallRng::seed_from_u64(3);
        for k in 0..1000 {
            let mut p = random(&mut rng);
            if k % 3 == 0 {
                p.control[1] = p.control[0]; // a zero derivative at the start
            }
            if k % 5 == 0 {
                p.control[2].x = p.control[1].x;
                p.control[3].x = p.control[1].x;
            }
            for q in p.monotone_parts() {
                let (su, sv) = ((q.end().x - q.start().x).signum(), (q.end().y - q.start().y).signum());
                let mut last = q.start();
                for i in 1..=50 {
                    let t = f64::from(i) / 50.0;
                    let c = q.eval(t);
                    assert!((c.x - last.x) * su >= -1e-14 && (c.y - last.y) * sv >= -1e-14);
                    let back = q.eval(solve_monotone(q.vs(), c.y));
                    assert!((back.y - c.y).abs() < 4e-15);
                    last = c;
                }
            }
        }
    }

    #[test]
    fn chords_stay_within_the_tolerance() {
        let mut rng = SmallRng::seed_from_u64(4);
        for _ in 0..100 {
            let p = random(&mut rng);
            let n = p.chord_steps(1e-3);
            for i in 0..n {
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let (t0, t1) = (i as f64 / n as f64, (i + 1) as f64 / n as f64);
                let (a, b) = (p.eval(t0), p.eval(t1));
                for k in 1..10 {
                    let s = f64::from(k) / 10.0;
                    let m = p.eval(lerp(t0, t1, s));
                    assert!((a + (b - a) * s - m).norm() <= 1e-3);
                }
            }
        }
    }
}
